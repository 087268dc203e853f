// SPDX-License-Identifier: Apache-2.0
// See row_keys.h.
#include "operators/row_keys.h"

#include "runtime/types/key.h"

#include <stdlib.h>

void weir_row_keys_init(struct weir_row_keys *keys, uint32_t column_count, const uint32_t *columns)
{
    keys->column_count = column_count;
    keys->columns = columns;
    keys->input = weir_alloc((column_count + 1) * sizeof *keys->input);
    keys->bytes = (struct weir_buffer){0};
}

void weir_row_keys_deinit(struct weir_row_keys *keys)
{
    weir_buffer_deinit(&keys->bytes);
    free(keys->input);
}

void weir_row_keys_make(struct weir_row_keys *keys, const struct weir_batch *batch)
{
    size_t offsets[WEIR_BATCH_ROWS_MAX + 1];
    struct weir_buffer *bytes = &keys->bytes;
    for (uint32_t i = 0; i < keys->column_count; i++) {
        keys->input[i] = batch->columns[keys->columns[i]];
    }
    bytes->size_bytes = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        offsets[i] = bytes->size_bytes;
        weir_key_encode(keys->input, keys->column_count, weir_batch_row(batch, i), bytes);
    }
    offsets[batch->selected_count] = bytes->size_bytes;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        struct weir_view key = {.data = bytes->size_bytes != 0 ? bytes->data + offsets[i] : "",
                                .size_bytes = offsets[i + 1] - offsets[i]};
        keys->of[i] = (struct weir_state_key){.key_group = weir_key_group(key), .bytes = key};
    }
}
