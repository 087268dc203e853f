// SPDX-License-Identifier: Apache-2.0
// See state.h.
#include "runtime/state.h"

#include "runtime/base/memory.h"

// One block: the handle, its files, then the strings.
struct weir_state_handle *weir_state_handle_copy(const struct weir_state_handle *handle)
{
    size_t files_bytes = handle->file_count * sizeof *handle->files;
    size_t strings_bytes = strlen(handle->stage) + 1;
    for (uint32_t i = 0; i < handle->file_count; i++) {
        strings_bytes += strlen(handle->files[i].name) + 1;
    }
    struct weir_state_handle *copy = weir_alloc(sizeof *copy + files_bytes + strings_bytes);
    struct weir_state_file *files = (struct weir_state_file *)(copy + 1);
    char *text = (char *)files + files_bytes;
    *copy = *handle;
    copy->files = files;
    copy->stage = memcpy(text, handle->stage, strlen(handle->stage) + 1);
    text += strlen(handle->stage) + 1;
    for (uint32_t i = 0; i < handle->file_count; i++) {
        size_t name_bytes = strlen(handle->files[i].name) + 1;
        files[i] = handle->files[i];
        files[i].name = memcpy(text, handle->files[i].name, name_bytes);
        text += name_bytes;
    }
    return copy;
}
