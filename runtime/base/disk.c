// SPDX-License-Identifier: Apache-2.0
// See disk.h.
#include "runtime/base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 65536 };

// close() without losing what went wrong before it.
static void close_quietly(int file)
{
    int saved = errno;
    close(file);
    errno = saved;
}

bool weir_disk_read(const char *path, size_t bytes_max, struct weir_buffer *out)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    size_t before = out->size_bytes;
    ssize_t got;
    do {
        got = read(file, weir_buffer_reserve(out, BLOCK_BYTES), BLOCK_BYTES);
        out->size_bytes += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && out->size_bytes - before < bytes_max) || (got < 0 && errno == EINTR));
    if (got > 0) {
        errno = EFBIG;
    }
    close_quietly(file);
    return got == 0;
}

bool weir_disk_write(int file, const void *data, size_t size_bytes)
{
    const char *at = data;
    while (size_bytes > 0) {
        ssize_t written = write(file, at, size_bytes);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            errno = written == 0 ? EIO : errno;
            return false;
        }
        at += written;
        size_bytes -= (size_t)written;
    }
    return true;
}

bool weir_disk_write_file(const char *path, const void *data, size_t size_bytes)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (file < 0) {
        return false;
    }
    bool is_written = weir_disk_write(file, data, size_bytes) && fsync(file) == 0;
    close_quietly(file);
    return is_written;
}

bool weir_disk_sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return false;
    }
    bool is_synced = fsync(folder) == 0;
    close_quietly(folder);
    return is_synced;
}

bool weir_disk_make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL) {
            *slash = '\0';
        }
        if (mkdir(path, 0750) != 0 && errno != EEXIST) {
            return false;
        }
        if (slash == NULL) {
            return true;
        }
        *slash = '/';
    }
}
