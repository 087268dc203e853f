// SPDX-License-Identifier: Apache-2.0
// See savepoint.h. Files are copied, not linked: a second name for the same bytes would be damaged
// together with them.
#include "runtime/savepoint.h"

#include "runtime/base/disk.h"
#include "runtime/base/failpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { PATH_BYTES_MAX = 4096, BLOCK_BYTES = 1 << 20, MANIFEST_BYTES_MAX = 256 << 20 };

static const char MANIFEST_NAME[] = "savepoint.json";
static const char SCHEME[] = "file://";

static const char *folder_of(const char *path)
{
    return strncmp(path, SCHEME, strlen(SCHEME)) == 0 ? path + strlen(SCHEME) : path;
}

// errno says why. A full disk can have room again: that is tried again, as every write of a start.
static enum weir_status io_error(struct weir_error *error, const char *what, const char *folder,
                                 const char *name)
{
    bool is_full = errno == ENOSPC || errno == EDQUOT;
    return weir_error_set(error, WEIR_DOMAIN_STORE,
                          is_full ? WEIR_ACTION_RECOVER : WEIR_ACTION_REFUSE,
                          "savepoint: cannot %s %s%s%s: %s", what, folder,
                          name[0] != '\0' ? "/" : "", name, strerror(errno));
}

enum weir_status weir_savepoint_prepare(const char *path, struct weir_error *error)
{
    const char *folder = folder_of(path);
    if (folder[0] != '/' || strlen(folder) > PATH_BYTES_MAX - 256) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "savepoint: \"%s\" is no absolute path of a folder on weir's side",
                              path);
    }
    char part[PATH_BYTES_MAX];
    snprintf(part, sizeof part, "%s", folder);
    if (!weir_disk_make_folders(part)) {
        return io_error(error, "make the folder", part, "");
    }
    DIR *found = opendir(folder);
    if (found == NULL) {
        return io_error(error, "list", folder, "");
    }
    const char *in_the_way = NULL;
    char name[NAME_MAX + 1];
    for (struct dirent *entry = readdir(found); entry != NULL; entry = readdir(found)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(name, sizeof name, "%s", entry->d_name);
            in_the_way = name;
        }
    }
    closedir(found);
    if (in_the_way != NULL) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "savepoint: %s is not empty (\"%s\" is there): name a folder that is "
                              "empty or does not exist",
                              folder, in_the_way);
    }
    if (access(folder, W_OK) != 0) {
        return io_error(error, "write to", folder, "");
    }
    return WEIR_OK;
}

struct transfer {
    const char *from_folder;
    const char *to_folder; // NULL: only read
    const atomic_bool *is_cancelled;
};

// Reads the whole file, writes it where that is asked for, and compares it with what the manifest
// says.
static enum weir_status pass_through(const struct transfer *transfer,
                                     const struct weir_state_file *file, int from, int to,
                                     struct weir_error *error)
{
    XXH3_state_t *digest = XXH3_createState();
    XXH3_64bits_reset(digest);
    char *block = weir_alloc(BLOCK_BYTES);
    uint64_t size_bytes = 0;
    bool is_cancelled = false;
    bool is_written = true;
    ssize_t got = 1;
    while (got > 0 && is_written && !is_cancelled) {
        got = read(from, block, BLOCK_BYTES);
        if (got < 0 && errno == EINTR) {
            got = 1;
            continue;
        }
        if (got > 0) {
            XXH3_64bits_update(digest, block, (size_t)got);
            size_bytes += (uint64_t)got;
            is_written = to < 0 || weir_disk_write(to, block, (size_t)got);
        }
        is_cancelled = transfer->is_cancelled != NULL && atomic_load(transfer->is_cancelled);
    }
    is_written = is_written && (to < 0 || is_cancelled || fsync(to) == 0);
    int saved = errno;
    uint64_t xxh3 = XXH3_64bits_digest(digest);
    XXH3_freeState(digest);
    free(block);
    errno = saved;
    if (is_cancelled) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "savepoint: given up, the job is ending");
    }
    if (!is_written) {
        return io_error(error, "write", transfer->to_folder, file->name);
    }
    if (got < 0) {
        return io_error(error, "read", transfer->from_folder, file->name);
    }
    if (size_bytes != file->size_bytes || xxh3 != file->xxh3) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "%s/%s is damaged: expected %" PRIu64 " bytes with checksum "
                              "%016" PRIx64 ", found %" PRIu64 " with %016" PRIx64,
                              transfer->from_folder, file->name, file->size_bytes, file->xxh3,
                              size_bytes, xxh3);
    }
    return WEIR_OK;
}

// Is the file whole and durable where it is to go? A savepoint comes back to the store that it was
// taken of: what a committed checkpoint lists there is not replaced.
static bool is_there(const struct weir_state_file *file, const char *folder, const char *path)
{
    const struct transfer only_read = {.from_folder = folder};
    struct weir_error ignored;
    int there = open(path, O_RDONLY | O_CLOEXEC);
    if (there < 0) {
        return false;
    }
    bool is_whole =
        pass_through(&only_read, file, there, -1, &ignored) == WEIR_OK && fsync(there) == 0;
    close(there);
    return is_whole;
}

static enum weir_status transfer_file(const struct transfer *transfer,
                                      const struct weir_state_file *file, struct weir_error *error)
{
    if (strchr(file->name, '/') != NULL) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "savepoint: \"%s\" is no name of a file of state", file->name);
    }
    char path[PATH_BYTES_MAX];
    char target[PATH_BYTES_MAX];
    char temporary[PATH_BYTES_MAX + 8];
    snprintf(path, sizeof path, "%s/%s", transfer->from_folder, file->name);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        return io_error(error, "read", transfer->from_folder, file->name);
    }
    if (transfer->to_folder == NULL) {
        enum weir_status status = pass_through(transfer, file, from, -1, error);
        close(from);
        return status;
    }
    snprintf(target, sizeof target, "%s/%s", transfer->to_folder, file->name);
    snprintf(temporary, sizeof temporary, "%s.tmp", target);
    if (is_there(file, transfer->to_folder, target)) {
        close(from);
        return WEIR_OK;
    }
    int to = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (to < 0) {
        enum weir_status status = io_error(error, "create", transfer->to_folder, file->name);
        close(from);
        return status;
    }
    enum weir_status status = pass_through(transfer, file, from, to, error);
    close(from);
    close(to);
    if (status == WEIR_OK && rename(temporary, target) != 0) {
        status = io_error(error, "rename", transfer->to_folder, file->name);
    }
    if (status != WEIR_OK) {
        unlink(temporary);
    }
    return status;
}

static enum weir_status transfer_all(const struct transfer *transfer,
                                     const struct weir_manifest *manifest, struct weir_error *error)
{
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        for (uint32_t j = 0; j < manifest->states[i].file_count; j++) {
            if (transfer_file(transfer, &manifest->states[i].files[j], error) != WEIR_OK) {
                return WEIR_ERROR;
            }
        }
    }
    return WEIR_OK;
}

static enum weir_status sync_folder(const char *folder, struct weir_error *error)
{
    return weir_disk_sync_folder(folder) ? WEIR_OK : io_error(error, "sync", folder, "");
}

static enum weir_status write_manifest(const char *folder, const struct weir_manifest *manifest,
                                       struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    char temporary[PATH_BYTES_MAX + 8];
    snprintf(path, sizeof path, "%s/%s", folder, MANIFEST_NAME);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    struct weir_buffer bytes = {0};
    weir_manifest_encode(manifest, &bytes);
    enum weir_status status = WEIR_OK;
    if (!weir_disk_write_file(temporary, bytes.data, bytes.size_bytes) ||
        rename(temporary, path) != 0) {
        status = io_error(error, "write", folder, MANIFEST_NAME);
    }
    weir_buffer_deinit(&bytes);
    return status;
}

// What a copy that came to nothing has left.
static void remove_files(const char *folder, const struct weir_manifest *manifest)
{
    char path[PATH_BYTES_MAX];
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        for (uint32_t j = 0; j < manifest->states[i].file_count; j++) {
            snprintf(path, sizeof path, "%s/%s", folder, manifest->states[i].files[j].name);
            unlink(path);
        }
    }
    snprintf(path, sizeof path, "%s/%s", folder, MANIFEST_NAME);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s.tmp", folder, MANIFEST_NAME);
    unlink(path);
}

enum weir_status weir_savepoint_write(const char *path, const char *store_folder,
                                      const struct weir_manifest *manifest,
                                      const atomic_bool *is_cancelled, struct weir_error *error)
{
    const char *folder = folder_of(path);
    struct transfer transfer = {
        .from_folder = store_folder, .to_folder = folder, .is_cancelled = is_cancelled};
    enum weir_status status = transfer_all(&transfer, manifest, error);
    if (status == WEIR_OK) {
        status = sync_folder(folder, error);
    }
    weir_failpoint("savepoint.copied");
    if (status == WEIR_OK) {
        status = write_manifest(folder, manifest, error);
    }
    if (status == WEIR_OK) {
        status = sync_folder(folder, error);
    }
    if (status != WEIR_OK) {
        remove_files(folder, manifest);
    }
    return status;
}

enum weir_status weir_savepoint_read(const char *path, struct weir_arena *arena,
                                     struct weir_manifest *manifest, struct weir_error *error)
{
    const char *folder = folder_of(path);
    char name[PATH_BYTES_MAX];
    snprintf(name, sizeof name, "%s/%s", folder, MANIFEST_NAME);
    struct weir_buffer bytes = {0};
    enum weir_status status;
    if (weir_disk_read(name, MANIFEST_BYTES_MAX, &bytes)) {
        struct weir_view view = {.data = bytes.data, .size_bytes = bytes.size_bytes};
        status = weir_manifest_decode(name, view, arena, manifest, error);
    } else if (errno == ENOENT && access(folder, F_OK) == 0) {
        status = weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                                "savepoint: %s holds no %s: it is no savepoint, or one whose "
                                "copying was never finished",
                                folder, MANIFEST_NAME);
    } else {
        status = io_error(error, "read", folder, MANIFEST_NAME);
    }
    weir_buffer_deinit(&bytes);
    return status;
}

enum weir_status weir_savepoint_verify(const char *path, const struct weir_manifest *manifest,
                                       struct weir_error *error)
{
    struct transfer transfer = {.from_folder = folder_of(path)};
    return transfer_all(&transfer, manifest, error);
}

enum weir_status weir_savepoint_import(const char *path, const struct weir_manifest *manifest,
                                       const char *store_folder, struct weir_error *error)
{
    struct transfer transfer = {.from_folder = folder_of(path), .to_folder = store_folder};
    enum weir_status status = transfer_all(&transfer, manifest, error);
    return status == WEIR_OK ? sync_folder(store_folder, error) : status;
}
