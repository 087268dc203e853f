// SPDX-License-Identifier: Apache-2.0
// See aggregate_key.h.
#include "operators/aggregate_key.h"

#include "runtime/types/key.h"

void weir_group_keys_begin(struct weir_group_keys *keys, const struct weir_batch *batch)
{
    weir_row_key_begin(&keys->key, batch);
    if (keys->is_route_apart) {
        weir_row_key_begin(&keys->route, batch);
    }
}

uint16_t weir_group_keys_group(struct weir_group_keys *keys, uint32_t row, struct weir_view key)
{
    return weir_key_group(keys->is_route_apart ? weir_row_key_encode(&keys->route, row) : key);
}

void weir_group_keys_make(struct weir_group_keys *keys, const struct weir_batch *batch)
{
    weir_group_keys_begin(keys, batch);
    weir_row_key_encode_all(&keys->key, batch, keys->of_rows);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        struct weir_state_key *key = &keys->of_rows[i];
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

static void init_route(struct weir_group_keys *keys, const struct weir_aggregate_config *config)
{
    bool is_given = config->route_columns != NULL;
    uint32_t count = is_given ? config->route_count : config->key_count;
    const uint32_t *columns = is_given ? config->route_columns : config->key_columns;
    // The state's key is the group's, but for window_end in front.
    keys->is_route_apart =
        config->window_end_column >= 0 || count != config->key_count ||
        (config->key_count != 0 &&
         memcmp(columns, config->key_columns, config->key_count * sizeof(uint32_t)) != 0);
    weir_row_key_init(&keys->route, count, columns);
}

void weir_group_keys_init(struct weir_group_keys *keys, const struct weir_aggregate_config *config,
                          struct weir_arena *arena)
{
    uint32_t count = 0;
    *keys = (struct weir_group_keys){0};
    uint32_t *columns = weir_arena_alloc(arena, (config->key_count + 1) * sizeof *columns);
    keys->outputs = weir_arena_alloc(arena, (config->key_count + 1) * sizeof(int32_t));
    if (config->window_end_column >= 0) {
        columns[count] = (uint32_t)config->window_end_column;
        keys->outputs[count++] = -1;
    }
    for (uint32_t i = 0; i < config->key_count; i++) {
        if ((int32_t)config->key_columns[i] == config->window_end_column) {
            keys->outputs[0] = (int32_t)i;
            continue;
        }
        columns[count] = config->key_columns[i];
        keys->outputs[count++] = (int32_t)i;
    }
    for (uint32_t i = 0; i < count; i++) {
        keys->has_spelling =
            keys->has_spelling || is_spelling_open(&config->input->columns[columns[i]].type);
    }
    weir_row_key_init(&keys->key, count, columns);
    keys->of_rows = weir_arena_alloc(arena, WEIR_BATCH_ROWS_MAX * sizeof *keys->of_rows);
    init_route(keys, config);
}

void weir_group_keys_deinit(struct weir_group_keys *keys)
{
    weir_row_key_deinit(&keys->key);
    weir_row_key_deinit(&keys->route);
}
