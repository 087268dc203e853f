// SPDX-License-Identifier: Apache-2.0
// See gather.h. Column by column, one loop a layout; all texts of a column go into one run of
// memory.
#include "runtime/gather.h"

#include "runtime/state.h"
#include "runtime/types/numeric.h"

#define GATHER(field)                                                                              \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        to->field[i] = from->field[rows[i]];                                                       \
    }

static void gather_views(const struct weir_column *from, const uint16_t *rows, uint32_t count,
                         struct weir_column *to, struct weir_arena *arena)
{
    size_t size_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_bytes += weir_column_is_valid(from, rows[i]) ? from->view[rows[i]].size_bytes : 0;
    }
    char *bytes = weir_arena_alloc(arena, size_bytes + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_view view = {.data = bytes, .size_bytes = 0};
        if (weir_column_is_valid(from, rows[i])) {
            view.size_bytes = from->view[rows[i]].size_bytes;
            memcpy(bytes, from->view[rows[i]].data, view.size_bytes);
            bytes += view.size_bytes;
        }
        to->view[i] = view;
    }
}

static void gather_numerics(const struct weir_column *from, const uint16_t *rows, uint32_t count,
                            struct weir_column *to, struct weir_arena *arena)
{
    for (uint32_t i = 0; i < count; i++) {
        to->numeric[i] = from->numeric[rows[i]];
        if (to->numeric[i].kind == WEIR_NUMERIC_BIG && weir_column_is_valid(from, rows[i])) {
            to->numeric[i] = weir_numeric_copy(from->numeric[rows[i]], arena);
        }
    }
}

static void gather_validity(const struct weir_column *from, const uint16_t *rows, uint32_t count,
                            struct weir_column *to)
{
    if (from->validity == NULL) {
        to->validity = NULL;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (weir_bitmap_get(from->validity, rows[i])) {
            weir_bitmap_set(to->validity, i);
        }
    }
}

void weir_column_gather(const struct weir_column *from, const uint16_t *rows, uint32_t count,
                        struct weir_column *to, struct weir_arena *arena)
{
    gather_validity(from, rows, count, to);
    switch (weir_type_layout(from->type.kind)) {
    case WEIR_LAYOUT_U8:
        GATHER(u8)
        break;
    case WEIR_LAYOUT_I16:
        GATHER(i16)
        break;
    case WEIR_LAYOUT_I32:
        GATHER(i32)
        break;
    case WEIR_LAYOUT_I64:
        GATHER(i64)
        break;
    case WEIR_LAYOUT_F32:
        GATHER(f32)
        break;
    case WEIR_LAYOUT_F64:
        GATHER(f64)
        break;
    case WEIR_LAYOUT_NUMERIC:
        gather_numerics(from, rows, count, to, arena);
        break;
    case WEIR_LAYOUT_VIEW:
        gather_views(from, rows, count, to, arena);
        break;
    case WEIR_LAYOUT_INTERVAL:
        GATHER(interval)
        break;
    case WEIR_LAYOUT_UUID:
        GATHER(uuid)
        break;
    case WEIR_LAYOUT_COMPOSITE:
        for (uint32_t i = 0; i < from->type.composite->field_count; i++) {
            weir_column_gather(&from->children[i], rows, count, &to->children[i], arena);
        }
        break;
    }
}

static struct weir_batch *gather_partials(const struct weir_batch *batch, const uint16_t *rows,
                                          uint32_t count)
{
    const struct weir_partials *from = batch->partials;
    size_t key_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        key_bytes += from->keys[rows[i]].bytes.size_bytes;
    }
    size_t row_bytes = sizeof *from->keys + from->value_bytes;
    struct weir_arena *arena = weir_arena_create(count * row_bytes + key_bytes + 1024);
    struct weir_batch *copy = weir_arena_alloc_zero(arena, sizeof *copy);
    struct weir_partials *to = weir_arena_alloc(arena, sizeof *to);
    struct weir_state_key *keys = weir_arena_alloc(arena, count * sizeof *keys);
    char *values = weir_arena_alloc(arena, (size_t)count * from->value_bytes);
    char *bytes = weir_arena_alloc(arena, key_bytes + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_state_key *key = &from->keys[rows[i]];
        keys[i] = *key;
        keys[i].bytes.data = memcpy(bytes, key->bytes.data, key->bytes.size_bytes);
        bytes += key->bytes.size_bytes;
        memcpy(values + (size_t)i * from->value_bytes,
               from->values + (size_t)rows[i] * from->value_bytes, from->value_bytes);
    }
    *to = (struct weir_partials){.keys = keys, .values = values, .value_bytes = from->value_bytes};
    *copy = (struct weir_batch){.schema = batch->schema,
                                .row_count = count,
                                .selected_count = count,
                                .partials = to,
                                .arena = arena};
    return copy;
}

struct weir_batch *weir_batch_gather(const struct weir_batch *batch, const uint16_t *rows,
                                     uint32_t count)
{
    WEIR_ASSERT(count > 0 && count <= WEIR_BATCH_ROWS_MAX);
    if (batch->partials != NULL) {
        return gather_partials(batch, rows, count);
    }
    struct weir_arena *arena = weir_arena_create(16 << 10);
    struct weir_batch *copy = weir_arena_alloc_zero(arena, sizeof *copy);
    *copy = (struct weir_batch){
        .schema = batch->schema,
        .row_count = count,
        .selected_count = count,
        .columns =
            weir_arena_alloc_zero(arena, batch->schema->column_count * sizeof *copy->columns),
        .event_time_us = weir_arena_alloc(arena, count * sizeof *copy->event_time_us),
        .arena = arena,
    };
    for (uint32_t c = 0; c < batch->schema->column_count; c++) {
        weir_column_init(&copy->columns[c], &batch->columns[c].type, count, true, arena);
        weir_column_gather(&batch->columns[c], rows, count, &copy->columns[c], arena);
    }
    for (uint32_t i = 0; i < count; i++) {
        copy->event_time_us[i] = batch->event_time_us[rows[i]];
    }
    if (batch->change != NULL) {
        uint8_t *change = weir_arena_alloc(arena, count);
        for (uint32_t i = 0; i < count; i++) {
            change[i] = batch->change[rows[i]];
        }
        copy->change = change;
    }
    return copy;
}

void weir_batch_free(struct weir_batch *batch)
{
    if (batch != NULL) {
        weir_arena_destroy(batch->arena);
    }
}
