// SPDX-License-Identifier: Apache-2.0
// See aggregate_key.h.
#include "operators/aggregate_key.h"

#include "runtime/types/key.h"

void weir_group_keys_begin(struct weir_group_keys *keys, const struct weir_batch *batch)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        keys->input[i] = batch->columns[keys->columns[i]];
    }
    for (uint32_t i = 0; keys->is_route_apart && i < keys->route_count; i++) {
        keys->route_input[i] = batch->columns[keys->route_columns[i]];
    }
}

struct weir_view weir_group_keys_encode(struct weir_group_keys *keys, uint32_t row)
{
    keys->bytes.size_bytes = 0;
    weir_key_encode(keys->input, keys->count, row, &keys->bytes);
    return weir_group_view_of(&keys->bytes);
}

uint16_t weir_group_keys_group(struct weir_group_keys *keys, uint32_t row, struct weir_view key)
{
    if (!keys->is_route_apart) {
        return weir_key_group(key);
    }
    keys->route_bytes.size_bytes = 0;
    weir_key_encode(keys->route_input, keys->route_count, row, &keys->route_bytes);
    return weir_key_group(weir_group_view_of(&keys->route_bytes));
}

void weir_group_keys_make(struct weir_group_keys *keys, const struct weir_batch *batch)
{
    struct weir_buffer *bytes = &keys->bytes;
    weir_group_keys_begin(keys, batch);
    bytes->size_bytes = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        size_t before = bytes->size_bytes;
        weir_key_encode(keys->input, keys->count, weir_batch_row(batch, i), bytes);
        keys->of_rows[i].bytes.size_bytes = bytes->size_bytes - before;
    }
    const char *at = weir_group_view_of(bytes).data; // does not move any more
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        struct weir_state_key *key = &keys->of_rows[i];
        key->bytes.data = at;
        at += key->bytes.size_bytes;
        key->key_group = weir_group_keys_group(keys, weir_batch_row(batch, i), key->bytes);
    }
}

// Are equal values of the type spelt in several ways?
static bool is_spelling_open(const struct weir_type *type)
{
    for (uint32_t i = 0; type->kind == WEIR_TYPE_COMPOSITE && i < type->composite->field_count;
         i++) {
        if (is_spelling_open(&type->composite->fields[i].type)) {
            return true;
        }
    }
    return type->kind == WEIR_TYPE_JSONB || (type->kind == WEIR_TYPE_NUMERIC && type->modifier < 0);
}

static void init_route(struct weir_group_keys *keys, const struct weir_aggregate_config *config,
                       struct weir_arena *arena)
{
    bool is_given = config->route_columns != NULL;
    keys->route_count = is_given ? config->route_count : config->key_count;
    keys->route_columns = is_given ? config->route_columns : config->key_columns;
    // The state's key is the group's, but for window_end in front.
    keys->is_route_apart =
        config->window_end_column >= 0 || keys->route_count != config->key_count ||
        (config->key_count != 0 && memcmp(keys->route_columns, config->key_columns,
                                          config->key_count * sizeof(uint32_t)) != 0);
    keys->route_input =
        weir_arena_alloc(arena, (keys->route_count + 1) * sizeof *keys->route_input);
}

void weir_group_keys_init(struct weir_group_keys *keys, const struct weir_aggregate_config *config,
                          struct weir_arena *arena)
{
    uint32_t count = 0;
    *keys = (struct weir_group_keys){0};
    keys->columns = weir_arena_alloc(arena, (config->key_count + 1) * sizeof(uint32_t));
    keys->outputs = weir_arena_alloc(arena, (config->key_count + 1) * sizeof(int32_t));
    if (config->window_end_column >= 0) {
        keys->columns[count] = (uint32_t)config->window_end_column;
        keys->outputs[count++] = -1;
    }
    for (uint32_t i = 0; i < config->key_count; i++) {
        if ((int32_t)config->key_columns[i] == config->window_end_column) {
            keys->outputs[0] = (int32_t)i;
            continue;
        }
        keys->columns[count] = config->key_columns[i];
        keys->outputs[count++] = (int32_t)i;
    }
    keys->count = count;
    for (uint32_t i = 0; i < count; i++) {
        keys->has_spelling =
            keys->has_spelling || is_spelling_open(&config->input->columns[keys->columns[i]].type);
    }
    keys->input = weir_arena_alloc(arena, (count + 1) * sizeof *keys->input);
    keys->of_rows = weir_arena_alloc(arena, WEIR_BATCH_ROWS_MAX * sizeof *keys->of_rows);
    init_route(keys, config, arena);
}

void weir_group_keys_deinit(struct weir_group_keys *keys)
{
    weir_buffer_deinit(&keys->bytes);
    weir_buffer_deinit(&keys->route_bytes);
}
