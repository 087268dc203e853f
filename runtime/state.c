// SPDX-License-Identifier: Apache-2.0
// See state.h.
#include "runtime/state.h"

#include "runtime/base/memory.h"

static char *put_text(char *to, const char *text, const char **copy)
{
    size_t size_bytes = strlen(text) + 1;
    *copy = memcpy(to, text, size_bytes);
    return to + size_bytes;
}

// One block: the handle, its files, its counts of rows, then the strings.
struct weir_state_handle *weir_state_handle_copy(const struct weir_state_handle *handle)
{
    size_t files_bytes = handle->file_count * sizeof *handle->files;
    size_t rows_bytes = handle->rows_count * sizeof *handle->rows;
    size_t strings_bytes = strlen(handle->stage) + 1;
    for (uint32_t i = 0; i < handle->file_count; i++) {
        strings_bytes += strlen(handle->files[i].name) + 1;
    }
    for (uint32_t i = 0; i < handle->rows_count; i++) {
        strings_bytes += strlen(handle->rows[i].operator_id) + 1;
    }
    struct weir_state_handle *copy =
        weir_alloc(sizeof *copy + files_bytes + rows_bytes + strings_bytes);
    struct weir_state_file *files = (struct weir_state_file *)(copy + 1);
    struct weir_state_rows *rows = (struct weir_state_rows *)(files + handle->file_count);
    char *text = (char *)(rows + handle->rows_count);
    *copy = *handle;
    copy->files = files;
    copy->rows = rows;
    text = put_text(text, handle->stage, &copy->stage);
    for (uint32_t i = 0; i < handle->file_count; i++) {
        files[i] = handle->files[i];
        text = put_text(text, handle->files[i].name, &files[i].name);
    }
    for (uint32_t i = 0; i < handle->rows_count; i++) {
        rows[i] = handle->rows[i];
        text = put_text(text, handle->rows[i].operator_id, &rows[i].operator_id);
    }
    return copy;
}
