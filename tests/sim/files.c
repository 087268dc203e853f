// SPDX-License-Identifier: Apache-2.0
// The calls to the system that have to do with files: those below /sim/ go to the simulated disk.
// Every call is a point at which the process can be killed; syncing takes its time.
#include "tests/sim/canary.h"
#include "tests/sim/disk_model.h"
#include "tests/sim/random.h"
#include "tests/sim/system.h"
#include "tests/sim/wrap.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    OPEN_MAX = 65536,
    FOLDERS_OPEN_MAX = 64,
    SYNC_US_MIN = 50,
    SYNC_US_MAX = 20000,
    SLOW_ONE_IN = 500,
    SLOW_US_MAX = 3000000,
};

struct open_file {
    const struct sim_process *process;
    struct sim_file *file;     // NULL: a folder, or closed
    struct sim_folder *folder; // NULL: a file, or closed
    size_t at;
};

static struct open_file opened[OPEN_MAX]; // by descriptor; never given out twice in a run
static int opened_count;

// A folder that is read: the names as they were when it was opened.
struct reading {
    struct sim_folder *folder;
    int descriptor;
    char **names;
    uint32_t count;
    uint32_t next;
    struct dirent entry;
};
static struct reading *readings[FOLDERS_OPEN_MAX];

static struct open_file *open_of(int descriptor)
{
    WEIR_ASSERT(descriptor - SIM_FILE_BASE < opened_count);
    return &opened[descriptor - SIM_FILE_BASE];
}

static int add_open(struct sim_file *file, struct sim_folder *folder)
{
    WEIR_ASSERT(opened_count < OPEN_MAX);
    opened[opened_count] =
        (struct open_file){.process = sim_process_current(), .file = file, .folder = folder};
    return SIM_FILE_BASE + opened_count++;
}

static int fail(int code)
{
    errno = code;
    return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
    if (!sim_is_path(path)) {
        va_list args;
        va_start(args, flags);
        mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
        va_end(args);
        return __real_open(path, flags, mode);
    }
    sim_point("open");
    if ((flags & O_DIRECTORY) != 0) {
        struct sim_folder *folder = sim_folder_find(path);
        return folder != NULL ? add_open(NULL, folder) : fail(ENOENT);
    }
    const char *name;
    struct sim_folder *folder = sim_folder_of(path, &name);
    struct sim_file *file = folder != NULL ? sim_folder_get(folder, name) : NULL;
    if (folder == NULL || (file == NULL && (flags & O_CREAT) == 0)) {
        return fail(ENOENT);
    }
    if (file == NULL) {
        file = sim_file_create();
        sim_folder_change(folder, name, file, NULL);
    } else if ((flags & O_TRUNC) != 0 && file->now.size_bytes > 0) {
        file->now.size_bytes = 0;
        file->is_dirty = true;
    }
    return add_open(file, NULL);
}

ssize_t sim_file_read(int descriptor, void *bytes, size_t size_bytes)
{
    sim_point("read");
    struct open_file *open_file = open_of(descriptor);
    const struct sim_bytes *now = &open_file->file->now;
    size_t rest = now->size_bytes > open_file->at ? now->size_bytes - open_file->at : 0;
    size_t got = rest < size_bytes ? rest : size_bytes;
    if (got > 0) {
        memcpy(bytes, now->data + open_file->at, got);
        open_file->at += got;
    }
    return (ssize_t)got;
}

ssize_t sim_file_write(int descriptor, const void *bytes, size_t size_bytes)
{
    sim_point("write");
    struct open_file *open_file = open_of(descriptor);
    if (sim_disk_is_full()) {
        return fail(ENOSPC);
    }
    // A write may take a part only: whoever writes goes on with the rest.
    size_t taken = size_bytes > 1 && sim_one_in(20) ? size_bytes / 2 : size_bytes;
    struct sim_bytes *now = &open_file->file->now;
    size_t end = open_file->at + taken;
    if (end > now->capacity_bytes) {
        now->capacity_bytes = end + end / 2;
        now->data = weir_realloc(now->data, now->capacity_bytes);
    }
    memcpy(now->data + open_file->at, bytes, taken);
    now->size_bytes = end > now->size_bytes ? end : now->size_bytes;
    open_file->at = end;
    open_file->file->is_dirty = true;
    open_file->file->modified_us = sim_wall_us();
    return (ssize_t)taken;
}

int sim_file_close(int descriptor)
{
    struct open_file *open_file = open_of(descriptor);
    if (open_file->file != NULL && open_file->file->locked_by == open_file->process) {
        open_file->file->locked_by = NULL;
    }
    *open_file = (struct open_file){0};
    return 0;
}

void sim_disk_close_all(const struct sim_process *process)
{
    for (int i = 0; i < FOLDERS_OPEN_MAX; i++) {
        if (readings[i] != NULL && open_of(readings[i]->descriptor)->process == process) {
            readings[i] = NULL;
        }
    }
    for (int i = 0; i < opened_count; i++) {
        if (opened[i].process == process && (opened[i].file != NULL || opened[i].folder != NULL)) {
            sim_file_close(SIM_FILE_BASE + i);
        }
    }
}

int __wrap_fsync(int descriptor)
{
    if (!sim_is_file(descriptor)) {
        return __real_fsync(descriptor);
    }
    sim_point("fsync");
    sim_sleep_us(sim_one_in(SLOW_ONE_IN) ? sim_spread(SYNC_US_MAX, SLOW_US_MAX)
                                         : sim_spread(SYNC_US_MIN, SYNC_US_MAX));
    struct open_file *open_file = open_of(descriptor);
    if (open_file->folder != NULL && sim_canary_is(SIM_CANARY_FOLDER_UNSYNCED)) {
        return 0;
    }
    if (open_file->folder != NULL) {
        sim_folder_sync(open_file->folder);
    } else {
        sim_file_sync(open_file->file);
    }
    sim_point("fsynced");
    return 0;
}

int __wrap_rename(const char *from, const char *to)
{
    if (!sim_is_path(from)) {
        return __real_rename(from, to);
    }
    sim_point("rename");
    const char *from_name;
    const char *to_name;
    struct sim_folder *folder = sim_folder_of(from, &from_name);
    WEIR_ASSERT(folder != NULL && folder == sim_folder_of(to, &to_name));
    struct sim_file *file = sim_folder_get(folder, from_name);
    if (file == NULL) {
        return fail(ENOENT);
    }
    sim_folder_change(folder, to_name, file, from_name);
    sim_point("renamed");
    return 0;
}

int __wrap_link(const char *from, const char *to)
{
    if (!sim_is_path(from)) {
        return __real_link(from, to);
    }
    sim_point("link");
    const char *from_name;
    const char *to_name;
    struct sim_folder *from_folder = sim_folder_of(from, &from_name);
    struct sim_folder *to_folder = sim_folder_of(to, &to_name);
    struct sim_file *file = from_folder != NULL ? sim_folder_get(from_folder, from_name) : NULL;
    if (file == NULL || to_folder == NULL) {
        return fail(ENOENT);
    }
    if (sim_folder_get(to_folder, to_name) != NULL) {
        return fail(EEXIST);
    }
    sim_folder_change(to_folder, to_name, file, NULL);
    return 0;
}

static int unlink_in(struct sim_folder *folder, const char *name)
{
    sim_point("unlink");
    if (folder == NULL || sim_folder_get(folder, name) == NULL) {
        return fail(ENOENT);
    }
    sim_folder_change(folder, name, NULL, NULL);
    return 0;
}

int __wrap_unlink(const char *path)
{
    const char *name;
    return sim_is_path(path) ? unlink_in(sim_folder_of(path, &name), strrchr(path, '/') + 1)
                             : __real_unlink(path);
}

int __wrap_unlinkat(int folder, const char *name, int flags)
{
    return sim_is_file(folder) ? unlink_in(open_of(folder)->folder, name)
                               : __real_unlinkat(folder, name, flags);
}

int __wrap_remove(const char *path)
{
    if (!sim_is_path(path)) {
        return __real_remove(path);
    }
    struct sim_folder *folder = sim_folder_find(path);
    if (folder != NULL) {
        sim_folder_drop(folder);
        return 0;
    }
    return __wrap_unlink(path);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    if (!sim_is_path(path) && strcmp(path, "/sim") != 0) {
        return __real_mkdir(path, mode);
    }
    if (sim_folder_find(path) != NULL) {
        return fail(EEXIST);
    }
    sim_folder_make(path);
    return 0;
}

int __wrap_access(const char *path, int mode)
{
    if (!sim_is_path(path)) {
        return __real_access(path, mode);
    }
    const char *name;
    const struct sim_folder *folder = sim_folder_of(path, &name);
    bool is_there =
        sim_folder_find(path) != NULL || (folder != NULL && sim_folder_get(folder, name) != NULL);
    return is_there ? 0 : fail(ENOENT);
}

static int fill_stat(const struct sim_folder *folder, const char *name, struct stat *info)
{
    const struct sim_file *file = folder != NULL ? sim_folder_get(folder, name) : NULL;
    if (file == NULL) {
        return fail(ENOENT);
    }
    *info = (struct stat){.st_mode = S_IFREG | 0640, .st_size = (off_t)file->now.size_bytes};
    info->st_mtim.tv_sec = file->modified_us / 1000000;
    info->st_mtim.tv_nsec = file->modified_us % 1000000 * 1000;
    return 0;
}

int __wrap_stat(const char *path, struct stat *info)
{
    if (!sim_is_path(path)) {
        return __real_stat(path, info);
    }
    const char *name;
    const struct sim_folder *folder = sim_folder_of(path, &name);
    return fill_stat(folder, name, info);
}

int __wrap_fstatat(int folder, const char *name, struct stat *info, int flags)
{
    return sim_is_file(folder) ? fill_stat(open_of(folder)->folder, name, info)
                               : __real_fstatat(folder, name, info, flags);
}

static struct reading *reading_of(DIR *folder)
{
    for (int i = 0; i < FOLDERS_OPEN_MAX; i++) {
        if (readings[i] != NULL && readings[i] == (void *)folder) {
            return readings[i];
        }
    }
    return NULL;
}

DIR *__wrap_opendir(const char *path)
{
    if (!sim_is_path(path)) {
        return __real_opendir(path);
    }
    sim_point("opendir");
    struct sim_folder *folder = sim_folder_find(path);
    if (folder == NULL) {
        fail(ENOENT);
        return NULL;
    }
    int slot = 0;
    while (readings[slot] != NULL) {
        slot++;
        WEIR_ASSERT(slot < FOLDERS_OPEN_MAX);
    }
    struct reading *reading = weir_alloc_zero(sizeof *reading);
    reading->folder = folder;
    reading->descriptor = add_open(NULL, folder);
    reading->count = folder->now.count;
    reading->names = weir_alloc((reading->count + 1) * sizeof *reading->names);
    for (uint32_t i = 0; i < reading->count; i++) {
        reading->names[i] = weir_strdup(folder->now.entries[i].name);
    }
    readings[slot] = reading;
    return (void *)reading;
}

struct dirent *__wrap_readdir(DIR *folder)
{
    struct reading *reading = reading_of(folder);
    if (reading == NULL) {
        return __real_readdir(folder);
    }
    sim_point("readdir");
    if (reading->next == reading->count) {
        return NULL;
    }
    snprintf(reading->entry.d_name, sizeof reading->entry.d_name, "%s",
             reading->names[reading->next++]);
    return &reading->entry;
}

int __wrap_closedir(DIR *folder)
{
    struct reading *reading = reading_of(folder);
    if (reading == NULL) {
        return __real_closedir(folder);
    }
    for (int i = 0; i < FOLDERS_OPEN_MAX; i++) {
        readings[i] = readings[i] == reading ? NULL : readings[i];
    }
    for (uint32_t i = 0; i < reading->count; i++) {
        free(reading->names[i]);
    }
    free(reading->names);
    sim_file_close(reading->descriptor);
    free(reading);
    return 0;
}

int __wrap_dirfd(DIR *folder)
{
    const struct reading *reading = reading_of(folder);
    return reading != NULL ? reading->descriptor : __real_dirfd(folder);
}

// Everything below, deepest first, as weir asks for it.
int __wrap_nftw(const char *path, __nftw_func_t visit, int depth, int flags)
{
    if (!sim_is_path(path)) {
        return __real_nftw(path, visit, depth, flags);
    }
    size_t path_bytes = strlen(path);
    struct stat info = {0};
    struct FTW place = {0};
    bool is_any = false;
    for (uint32_t i = sim_folder_count(); i > 0; i--) {
        if (i > sim_folder_count()) {
            continue;
        }
        struct sim_folder *folder = sim_folder_at(i - 1);
        if (strncmp(folder->path, path, path_bytes) != 0 ||
            (folder->path[path_bytes] != '/' && folder->path[path_bytes] != '\0')) {
            continue;
        }
        is_any = true;
        while (folder->now.count > 0) {
            char name[4096];
            snprintf(name, sizeof name, "%s/%s", folder->path, folder->now.entries[0].name);
            visit(name, &info, FTW_F, &place);
        }
        visit(folder->path, &info, FTW_DP, &place);
        i = sim_folder_count() + 1; // the list has changed: from its end again
    }
    return is_any ? 0 : fail(ENOENT);
}

int __wrap_flock(int descriptor, int operation)
{
    if (!sim_is_file(descriptor)) {
        return __real_flock(descriptor, operation);
    }
    sim_point("flock");
    struct open_file *open_file = open_of(descriptor);
    struct sim_file *file = open_file->file;
    if (file->locked_by != NULL && file->locked_by != open_file->process) {
        return fail(EWOULDBLOCK);
    }
    file->locked_by = open_file->process;
    return 0;
}
