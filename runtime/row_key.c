// SPDX-License-Identifier: Apache-2.0
// See row_key.h.
#include "runtime/row_key.h"

#include "runtime/types/key.h"

#include <stdlib.h>

void weir_row_key_init(struct weir_row_key *key, uint32_t count, const uint32_t *columns)
{
    *key = (struct weir_row_key){.count = count, .columns = columns};
    key->input = weir_alloc((count + 1) * sizeof *key->input);
}

void weir_row_key_deinit(struct weir_row_key *key)
{
    weir_buffer_deinit(&key->bytes);
    free(key->input);
}

void weir_row_key_begin(struct weir_row_key *key, const struct weir_batch *batch)
{
    for (uint32_t i = 0; i < key->count; i++) {
        key->input[i] = batch->columns[key->columns[i]];
    }
}

struct weir_view weir_row_key_encode(struct weir_row_key *key, uint32_t row)
{
    key->bytes.size_bytes = 0;
    weir_key_encode(key->input, key->count, row, &key->bytes);
    return weir_buffer_view(&key->bytes);
}

void weir_row_key_encode_all(struct weir_row_key *key, const struct weir_batch *batch,
                             struct weir_state_key *keys)
{
    struct weir_buffer *bytes = &key->bytes;
    bytes->size_bytes = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        size_t before = bytes->size_bytes;
        weir_key_encode(key->input, key->count, weir_batch_row(batch, i), bytes);
        keys[i].bytes.size_bytes = bytes->size_bytes - before;
    }
    const char *at = weir_buffer_view(bytes).data; // does not move any more
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        keys[i].bytes.data = at;
        at += keys[i].bytes.size_bytes;
    }
}

void weir_row_key_make(struct weir_row_key *key, const struct weir_batch *batch,
                       struct weir_state_key *keys)
{
    weir_row_key_begin(key, batch);
    weir_row_key_encode_all(key, batch, keys);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        keys[i].key_group = weir_key_group(keys[i].bytes);
    }
}
