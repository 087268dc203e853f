// SPDX-License-Identifier: Apache-2.0
// See files.h. Invariant: a file under its final name in the checkpoint store is complete, and was
// synced before it got the name.
#include "rocksdb_backend/files.h"

#include "runtime/base/assert.h"
#include "runtime/base/disk.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { BLOCK_BYTES = 1 << 20, STAGE_BYTES_MAX = 64 };

#define DB_MARK ".db."

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

char *weir_state_name_prefix(const char *stage, struct weir_key_group_range key_groups,
                             const char *attempt)
{
    struct weir_buffer name = {0};
    weir_buffer_printf(&name, "state.");
    bool is_whole = strlen(stage) <= STAGE_BYTES_MAX;
    for (size_t i = 0; stage[i] != '\0' && i < STAGE_BYTES_MAX; i++) {
        weir_buffer_append_char(&name, is_plain(stage[i]) ? stage[i] : '_');
        is_whole = is_whole && is_plain(stage[i]);
    }
    if (!is_whole) { // two stages may look alike now
        weir_buffer_printf(&name, "-%016" PRIx64, (uint64_t)XXH3_64bits(stage, strlen(stage)));
    }
    weir_buffer_printf(&name, ".%u-%u.%s", (unsigned)key_groups.first, (unsigned)key_groups.count,
                       attempt);
    char *text = weir_strdup(weir_buffer_text(&name));
    weir_buffer_deinit(&name);
    return text;
}

char *weir_state_name_of_log(const char *prefix, int64_t number)
{
    struct weir_buffer name = {0};
    weir_buffer_printf(&name, "%s.%020" PRId64 ".log", prefix, number);
    char *text = weir_strdup(weir_buffer_text(&name));
    weir_buffer_deinit(&name);
    return text;
}

char *weir_state_name_of_db(const char *prefix, int64_t number, const char *local_name)
{
    struct weir_buffer name = {0};
    weir_buffer_printf(&name, "%s.%020" PRId64 DB_MARK "%s", prefix, number, local_name);
    char *text = weir_strdup(weir_buffer_text(&name));
    weir_buffer_deinit(&name);
    return text;
}

const char *weir_state_name_local(const char *name)
{
    const char *mark = strstr(name, DB_MARK); // there are no dots within the parts before it
    return mark != NULL ? mark + strlen(DB_MARK) : NULL;
}

bool weir_state_name_is_ours(const char *name)
{
    return strncmp(name, "state.", strlen("state.")) == 0;
}

bool weir_state_name_is_table(const char *name)
{
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".sst") == 0;
}

enum weir_status weir_file_error(struct weir_error *error, enum weir_error_action action,
                                 const char *what, const char *folder, const char *name)
{
    // A full disk is no fault of what is on it: it may have room at the next try.
    bool is_full = errno == ENOSPC || errno == EDQUOT;
    return weir_error_set(error, WEIR_DOMAIN_STORE, is_full ? WEIR_ACTION_RECOVER : action,
                          "state: cannot %s %s%s%s: %s", what, folder, *name != '\0' ? "/" : "",
                          name, strerror(errno));
}

static void join(char *path, const char *folder, const char *name)
{
    int size = snprintf(path, WEIR_STATE_PATH_BYTES_MAX, "%s/%s", folder, name);
    WEIR_ASSERT(size > 0 && size < WEIR_STATE_PATH_BYTES_MAX);
}

// Reads the file block by block; -1: errno says why.
static int for_each_block(int file, bool (*take)(void *context, const char *data, size_t bytes),
                          void *context)
{
    char *block = weir_alloc(BLOCK_BYTES);
    ssize_t got;
    do {
        got = read(file, block, BLOCK_BYTES);
        if (got > 0 && !take(context, block, (size_t)got)) {
            got = -1;
            break;
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    int saved = errno;
    free(block);
    errno = saved;
    return got < 0 ? -1 : 0;
}

struct digest {
    XXH3_state_t *state;
    uint64_t size_bytes;
};

static bool take_digest(void *context, const char *data, size_t bytes)
{
    struct digest *digest = context;
    XXH3_64bits_update(digest->state, data, bytes);
    digest->size_bytes += bytes;
    return true;
}

// False: errno says why.
static bool digest_file(const char *path, uint64_t *size_bytes, uint64_t *xxh3)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    struct digest digest = {.state = XXH3_createState()};
    XXH3_64bits_reset(digest.state);
    int result = for_each_block(file, take_digest, &digest);
    int saved = errno;
    *size_bytes = digest.size_bytes;
    *xxh3 = XXH3_64bits_digest(digest.state);
    XXH3_freeState(digest.state);
    close(file);
    errno = saved;
    return result == 0;
}

enum weir_status weir_file_digest(const char *folder, const char *name, uint64_t *size_bytes,
                                  uint64_t *xxh3, struct weir_error *error)
{
    char path[WEIR_STATE_PATH_BYTES_MAX];
    join(path, folder, name);
    if (!digest_file(path, size_bytes, xxh3)) {
        return weir_file_error(error, WEIR_ACTION_RECOVER, "read", folder, name);
    }
    return WEIR_OK;
}

enum weir_status weir_file_verify(const char *folder, const struct weir_state_file *file,
                                  struct weir_error *error)
{
    char path[WEIR_STATE_PATH_BYTES_MAX];
    join(path, folder, file->name);
    struct stat info;
    if (stat(path, &info) != 0) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: %s, a file of the checkpoint with %" PRIu64
                              " bytes and checksum %016" PRIx64
                              ", cannot be found: %s" WEIR_STATE_REPAIR_HINT,
                              path, file->size_bytes, file->xxh3, strerror(errno));
    }
    if ((uint64_t)info.st_size != file->size_bytes) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: %s is damaged: expected %" PRIu64
                              " bytes, found %" PRIu64 WEIR_STATE_REPAIR_HINT,
                              path, file->size_bytes, (uint64_t)info.st_size);
    }
    uint64_t size_bytes;
    uint64_t xxh3;
    if (!digest_file(path, &size_bytes, &xxh3)) {
        return weir_file_error(error, WEIR_ACTION_REFUSE, "read", folder, file->name);
    }
    if (xxh3 != file->xxh3 || size_bytes != file->size_bytes) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: %s is damaged: expected checksum %016" PRIx64
                              ", found %016" PRIx64 WEIR_STATE_REPAIR_HINT,
                              path, file->xxh3, xxh3);
    }
    return WEIR_OK;
}

static bool take_copy(void *context, const char *data, size_t bytes)
{
    return weir_disk_write(*(int *)context, data, bytes);
}

// False: errno says why.
static bool copy_file(const char *from, const char *to, bool is_synced)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    bool is_good = source >= 0 && target >= 0 && for_each_block(source, take_copy, &target) == 0 &&
                   (!is_synced || fsync(target) == 0);
    int saved = errno;
    if (source >= 0) {
        close(source);
    }
    if (target >= 0) {
        close(target);
    }
    errno = saved;
    return is_good;
}

static bool sync_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool is_good = fsync(file) == 0;
    int saved = errno;
    close(file);
    errno = saved;
    return is_good;
}

static bool link_file(const char *from, const char *to)
{
    if (link(from, to) == 0) {
        return true;
    }
    // Left behind by a try that failed.
    return errno == EEXIST && unlink(to) == 0 && link(from, to) == 0;
}

static bool cannot_link(int error_number)
{
    return error_number == EXDEV || error_number == EPERM || error_number == EMLINK ||
           error_number == ENOTSUP;
}

enum weir_status weir_file_link(const char *from_folder, const char *from_name,
                                const char *to_folder, const char *to_name, bool is_copied,
                                struct weir_error *error)
{
    char from[WEIR_STATE_PATH_BYTES_MAX];
    char to[WEIR_STATE_PATH_BYTES_MAX];
    join(from, from_folder, from_name);
    join(to, to_folder, to_name);
    if (!is_copied) {
        if (link_file(from, to)) {
            return WEIR_OK;
        }
        if (!cannot_link(errno)) {
            return weir_file_error(error, WEIR_ACTION_REFUSE, "link", to_folder, to_name);
        }
    }
    if (!copy_file(from, to, false)) {
        return weir_file_error(error, WEIR_ACTION_REFUSE, "copy to", to_folder, to_name);
    }
    return WEIR_OK;
}

enum weir_status weir_file_publish(const char *from_folder, const char *from_name,
                                   const char *to_folder, const char *to_name,
                                   struct weir_error *error)
{
    char from[WEIR_STATE_PATH_BYTES_MAX];
    char to[WEIR_STATE_PATH_BYTES_MAX];
    char temporary[WEIR_STATE_PATH_BYTES_MAX];
    join(from, from_folder, from_name);
    join(to, to_folder, to_name);
    if (weir_failpoint("state.publish")) {
        errno = EIO;
        return weir_file_error(error, WEIR_ACTION_RECOVER, "publish", to_folder, to_name);
    }
    if (!sync_file(from)) {
        return weir_file_error(error, WEIR_ACTION_RECOVER, "sync", from_folder, from_name);
    }
    if (link_file(from, to)) {
        return WEIR_OK;
    }
    if (!cannot_link(errno)) {
        return weir_file_error(error, WEIR_ACTION_RECOVER, "link", to_folder, to_name);
    }
    int size = snprintf(temporary, sizeof temporary, "%s.tmp", to);
    WEIR_ASSERT(size < WEIR_STATE_PATH_BYTES_MAX);
    if (!copy_file(from, temporary, true) || rename(temporary, to) != 0) {
        enum weir_status status =
            weir_file_error(error, WEIR_ACTION_RECOVER, "copy to", to_folder, to_name);
        unlink(temporary);
        return status;
    }
    return WEIR_OK;
}

void weir_file_remove(const char *folder, const char *name)
{
    char path[WEIR_STATE_PATH_BYTES_MAX];
    join(path, folder, name);
    if (unlink(path) != 0 && errno != ENOENT) {
        weir_log(WEIR_LOG_WARN, "state: cannot remove %s: %s", path, strerror(errno));
    }
}

enum weir_status weir_folder_sync(const char *path, struct weir_error *error)
{
    return weir_disk_sync_folder(path)
               ? WEIR_OK
               : weir_file_error(error, WEIR_ACTION_RECOVER, "sync", path, "");
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    if (remove(path) != 0 && errno != ENOENT) {
        weir_log(WEIR_LOG_WARN, "state: cannot remove %s: %s", path, strerror(errno));
    }
    return 0;
}

void weir_folder_remove(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) {
        weir_log(WEIR_LOG_WARN, "state: cannot remove %s: %s", path, strerror(errno));
    }
}

enum weir_status weir_folder_remake(const char *path, struct weir_error *error)
{
    weir_folder_remove(path);
    if (mkdir(path, 0750) != 0) {
        return weir_file_error(error, WEIR_ACTION_REFUSE, "make the folder", path, "");
    }
    return WEIR_OK;
}

enum weir_status weir_folder_make_all(const char *path, struct weir_error *error)
{
    char part[WEIR_STATE_PATH_BYTES_MAX];
    snprintf(part, sizeof part, "%s", path);
    return weir_disk_make_folders(part)
               ? WEIR_OK
               : weir_file_error(error, WEIR_ACTION_REFUSE, "make the folder", part, "");
}

enum weir_status weir_folder_each(const char *path,
                                  enum weir_status (*visit)(void *context, const char *name,
                                                            struct weir_error *error),
                                  void *context, struct weir_error *error)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return weir_file_error(error, WEIR_ACTION_RECOVER, "list", path, "");
    }
    enum weir_status status = WEIR_OK;
    for (struct dirent *found = readdir(folder); found != NULL && status == WEIR_OK;
         found = readdir(folder)) {
        struct stat info;
        if (fstatat(dirfd(folder), found->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode)) {
            status = visit(context, found->d_name, error);
        }
    }
    closedir(folder);
    return status;
}
