// SPDX-License-Identifier: Apache-2.0
// What everybody does with files that have to be whole: read all, write all, sync. Each function
// returns false with errno set; the caller knows what the file was for and says it. Thread: any.
// All block.
#ifndef WEIR_RUNTIME_BASE_DISK_H
#define WEIR_RUNTIME_BASE_DISK_H

#include "runtime/base/memory.h"

// Appends the whole file to `out`. EFBIG: it has bytes_max bytes or more.
bool weir_disk_read(const char *path, size_t bytes_max, struct weir_buffer *out);

// All of it, however often the kernel takes only a part.
bool weir_disk_write(int file, const void *data, size_t size_bytes);

// Makes the file, or what it held gone; on success the bytes are durable, its name is not yet.
bool weir_disk_write_file(const char *path, const void *data, size_t size_bytes);

// Makes the names in a folder durable.
bool weir_disk_sync_folder(const char *path);

// The folder and all above it that are missing. On failure `path` is cut behind the one that could
// not be made.
bool weir_disk_make_folders(char *path);

#endif
