// SPDX-License-Identifier: Apache-2.0
// See store.h. Names: manifest-<number, 20 digits>-<attempt>.json and owner; what ends in .tmp is a
// write that a crash cut short and is removed by the next owner.
//
// Invariants
// 1. A file under its final name is complete and durable.
// 2. Nothing is written under a name that another attempt could use (the attempt is in the name).
#include "runtime/store.h"

#include "runtime/base/disk.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { PATH_BYTES_MAX = 4096, FILE_BYTES_MAX = 256 << 20 };

struct weir_store {
    char path[PATH_BYTES_MAX - 256];
};

static enum weir_status io_error(struct weir_error *error, enum weir_error_action action,
                                 const char *what, const char *path)
{
    // A full disk may have room at the next try.
    bool is_full = errno == ENOSPC || errno == EDQUOT;
    return weir_error_set(error, WEIR_DOMAIN_STORE, is_full ? WEIR_ACTION_RECOVER : action,
                          "checkpoint store: cannot %s %s: %s", what, path, strerror(errno));
}

enum weir_status weir_store_open_read_only(const char *dir, const char *job_id, int32_t instance_id,
                                           struct weir_store **store, struct weir_error *error)
{
    struct weir_store *opened = weir_alloc_zero(sizeof *opened);
    int size =
        snprintf(opened->path, sizeof opened->path, "%s/%s/%" PRId32, dir, job_id, instance_id);
    if (size < 0 || (size_t)size >= sizeof opened->path) {
        free(opened);
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "checkpoint store: the path %s/%s is too long", dir, job_id);
    }
    *store = opened;
    return WEIR_OK;
}

enum weir_status weir_store_open(const char *dir, const char *job_id, int32_t instance_id,
                                 struct weir_store **store, struct weir_error *error)
{
    if (weir_store_open_read_only(dir, job_id, instance_id, store, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    char part[PATH_BYTES_MAX];
    snprintf(part, sizeof part, "%s", (*store)->path);
    if (weir_disk_make_folders(part)) {
        return WEIR_OK;
    }
    io_error(error, WEIR_ACTION_REFUSE, "make the folder", part);
    weir_store_close(*store);
    *store = NULL;
    return WEIR_ERROR;
}

void weir_store_close(struct weir_store *store)
{
    free(store);
}

const char *weir_store_path(const struct weir_store *store)
{
    return store->path;
}

static void manifest_path(const struct weir_store *store, int64_t number,
                          const struct weir_attempt *attempt, char *path)
{
    snprintf(path, PATH_BYTES_MAX, "%s/manifest-%020" PRId64 "-%s.json", store->path, number,
             attempt->text);
}

static bool parse_name(const char *name, struct weir_store_entry *entry)
{
    int end = 0;
    char attempt[2 * WEIR_ATTEMPT_BYTES + 1];
    static_assert(2 * WEIR_ATTEMPT_BYTES == 16, "the width in the format below");
    if (sscanf(name, "manifest-%20" SCNd64 "-%16[0-9a-f].json%n", &entry->number, attempt, &end) !=
            2 ||
        end == 0 || name[end] != '\0') {
        return false;
    }
    strcpy(entry->attempt.text, attempt);
    return true;
}

static int compare_entries(const void *left, const void *right)
{
    const struct weir_store_entry *a = left;
    const struct weir_store_entry *b = right;
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->modified_ms < b->modified_ms ? -1 : a->modified_ms > b->modified_ms;
}

enum weir_status weir_store_list(struct weir_store *store, struct weir_arena *arena,
                                 struct weir_store_entry **entries, uint32_t *entry_count,
                                 struct weir_error *error)
{
    *entries = NULL;
    *entry_count = 0;
    DIR *folder = opendir(store->path);
    if (folder == NULL) {
        return errno == ENOENT ? WEIR_OK : io_error(error, WEIR_ACTION_REFUSE, "list", store->path);
    }
    for (struct dirent *found = readdir(folder); found != NULL; found = readdir(folder)) {
        struct weir_store_entry entry;
        struct stat info;
        if (!parse_name(found->d_name, &entry) ||
            fstatat(dirfd(folder), found->d_name, &info, 0) != 0) {
            continue;
        }
        entry.modified_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
        *entries = weir_arena_realloc(arena, *entries, *entry_count * sizeof **entries,
                                      (*entry_count + 1) * sizeof **entries);
        (*entries)[(*entry_count)++] = entry;
    }
    closedir(folder);
    if (*entry_count > 0) {
        qsort(*entries, *entry_count, sizeof **entries, compare_entries);
    }
    return WEIR_OK;
}

enum weir_status weir_store_read_manifest(struct weir_store *store, int64_t number,
                                          const struct weir_attempt *attempt,
                                          struct weir_arena *arena, struct weir_manifest *manifest,
                                          bool *is_missing, struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    manifest_path(store, number, attempt, path);
    struct weir_buffer bytes = {0};
    enum weir_status status;
    *is_missing = false;
    if (!weir_disk_read(path, FILE_BYTES_MAX, &bytes)) {
        *is_missing = errno == ENOENT;
        status = io_error(error, WEIR_ACTION_REFUSE, "read", path);
    } else {
        struct weir_view view = {.data = bytes.data, .size_bytes = bytes.size_bytes};
        status = weir_manifest_decode(path, view, arena, manifest, error);
    }
    if (status == WEIR_OK &&
        (manifest->number != number || !weir_attempt_equal(&manifest->attempt, attempt))) {
        status =
            weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                           "%s holds checkpoint %" PRId64 " of attempt %s: the file was renamed",
                           path, manifest->number, manifest->attempt.text);
    }
    weir_buffer_deinit(&bytes);
    return status;
}

enum weir_status weir_store_verify_file(struct weir_store *store,
                                        const struct weir_state_file *file,
                                        struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", store->path, file->name);
    struct weir_buffer bytes = {0};
    enum weir_status status = WEIR_OK;
    if (!weir_disk_read(path, FILE_BYTES_MAX, &bytes)) {
        status = io_error(error, WEIR_ACTION_REFUSE, "read", path);
    } else if (bytes.size_bytes != file->size_bytes) {
        status = weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                                "%s is damaged: %zu bytes, expected %" PRIu64, path,
                                bytes.size_bytes, file->size_bytes);
    } else {
        uint64_t found = XXH3_64bits(bytes.data, bytes.size_bytes);
        if (found != file->xxh3) {
            status = weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                                    "%s is damaged: its checksum is %016" PRIx64
                                    ", expected %016" PRIx64,
                                    path, found, file->xxh3);
        }
    }
    weir_buffer_deinit(&bytes);
    return status;
}

// Temporary file, fsync, rename, fsync of the folder. With an owner: no rename once the store is
// somebody else's, however long the process slept before it.
static enum weir_status write_durably(struct weir_store *store, const char *path,
                                      const char *temporary, struct weir_view bytes,
                                      const struct weir_attempt *owner, struct weir_error *error)
{
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (file < 0) {
        return io_error(error, WEIR_ACTION_RECOVER, "create", temporary);
    }
    bool is_written = !weir_failpoint("store.write") &&
                      weir_disk_write(file, bytes.data, bytes.size_bytes) && fsync(file) == 0;
    int saved = errno;
    close(file);
    errno = saved;
    if (!is_written) {
        enum weir_status status = io_error(error, WEIR_ACTION_RECOVER, "write", temporary);
        unlink(temporary);
        return status;
    }
    weir_failpoint("store.written");
    if (owner != NULL && weir_store_check_owner(store, owner, error) != WEIR_OK) {
        unlink(temporary);
        return WEIR_ERROR;
    }
    if (rename(temporary, path) != 0) {
        return io_error(error, WEIR_ACTION_RECOVER, "rename", temporary);
    }
    weir_failpoint("store.renamed");
    return weir_disk_sync_folder(store->path)
               ? WEIR_OK
               : io_error(error, WEIR_ACTION_RECOVER, "sync the folder", store->path);
}

static enum weir_status write_manifest(struct weir_store *store, const struct weir_attempt *owner,
                                       const struct weir_manifest *manifest,
                                       struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    char temporary[PATH_BYTES_MAX + 8];
    manifest_path(store, manifest->number, &manifest->attempt, path);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    struct weir_buffer bytes = {0};
    weir_manifest_encode(manifest, &bytes);
    struct weir_view view = {.data = bytes.data, .size_bytes = bytes.size_bytes};
    enum weir_status status = write_durably(store, path, temporary, view, owner, error);
    weir_buffer_deinit(&bytes);
    return status;
}

enum weir_status weir_store_write_manifest(struct weir_store *store,
                                           const struct weir_manifest *manifest,
                                           struct weir_error *error)
{
    return write_manifest(store, NULL, manifest, error);
}

enum weir_status weir_store_write_manifest_as(struct weir_store *store,
                                              const struct weir_attempt *owner,
                                              const struct weir_manifest *manifest,
                                              struct weir_error *error)
{
    if (weir_store_check_owner(store, owner, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return write_manifest(store, owner, manifest, error);
}

enum weir_status weir_store_set_owner(struct weir_store *store, const struct weir_attempt *owner,
                                      struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    char temporary[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/owner", store->path);
    // A name of its own: two that take over at once must not write into one file.
    snprintf(temporary, sizeof temporary, "%s/owner-%s.tmp", store->path, owner->text);
    return write_durably(store, path, temporary, weir_view_of(owner->text), NULL, error);
}

enum weir_status weir_store_check_owner(struct weir_store *store, const struct weir_attempt *owner,
                                        struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/owner", store->path);
    struct weir_buffer bytes = {0};
    enum weir_status status = WEIR_OK;
    if (!weir_disk_read(path, FILE_BYTES_MAX, &bytes)) {
        status = io_error(error, WEIR_ACTION_RECOVER, "read", path);
    } else if (strcmp(weir_buffer_text(&bytes), owner->text) != 0) {
        status = weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_FENCED,
                                "checkpoint store %s was taken over by attempt %s", store->path,
                                weir_buffer_text(&bytes));
    }
    weir_buffer_deinit(&bytes);
    return status;
}

struct weir_attempt weir_store_owner(struct weir_store *store)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/owner", store->path);
    struct weir_buffer bytes = {0};
    struct weir_attempt owner = {.text = ""};
    if (weir_disk_read(path, FILE_BYTES_MAX, &bytes) && bytes.size_bytes == sizeof owner.text - 1) {
        memcpy(owner.text, bytes.data, bytes.size_bytes);
    }
    weir_buffer_deinit(&bytes);
    return owner;
}

void weir_store_delete_manifest(struct weir_store *store, const struct weir_store_entry *entry)
{
    char path[PATH_BYTES_MAX];
    manifest_path(store, entry->number, &entry->attempt, path);
    if (unlink(path) != 0 && errno != ENOENT) {
        weir_log(WEIR_LOG_WARN, "checkpoint store: cannot delete %s: %s", path, strerror(errno));
    }
}

void weir_store_delete_temporaries(struct weir_store *store)
{
    DIR *folder = opendir(store->path);
    if (folder == NULL) {
        return;
    }
    for (struct dirent *found = readdir(folder); found != NULL; found = readdir(folder)) {
        size_t size = strlen(found->d_name);
        if (size > 4 && strcmp(found->d_name + size - 4, ".tmp") == 0) {
            unlinkat(dirfd(folder), found->d_name, 0);
        }
    }
    closedir(folder);
}

// How many different numbers there are from that of entry `idx` up to `number`.
static uint32_t count_numbers(const struct weir_store_entry *entries, uint32_t entry_count,
                              uint32_t idx, int64_t number)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < entry_count; i++) {
        bool is_counted = entries[i].number >= entries[idx].number && entries[i].number <= number;
        for (uint32_t j = 0; j < i && is_counted; j++) {
            is_counted = entries[j].number != entries[i].number;
        }
        count += is_counted ? 1 : 0;
    }
    return count;
}

void weir_retention_select(const struct weir_store_entry *entries, uint32_t entry_count,
                           int64_t number, const struct weir_attempt *attempt, uint32_t retained,
                           int64_t now_ms, int64_t young_ms, bool at_start, bool *is_deleted)
{
    for (uint32_t i = 0; i < entry_count; i++) {
        const struct weir_store_entry *entry = &entries[i];
        bool is_committed_one =
            entry->number == number && weir_attempt_equal(&entry->attempt, attempt);
        if (entry->number >= number) {
            is_deleted[i] = at_start && !is_committed_one;
        } else {
            // Numbers can have been passed over: what counts is what is there.
            is_deleted[i] = now_ms - entry->modified_ms >= young_ms &&
                            count_numbers(entries, entry_count, i, number) > retained;
        }
    }
}
