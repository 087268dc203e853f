// SPDX-License-Identifier: Apache-2.0
// See aggregate.h. The state "rows" holds the last row of each key: its event time, then the row as
// row_codec.h has it. A row that is taken back keeps the event time that it had, so that it is
// found again by what computes with time.
#include "operators/aggregate.h"

#include "runtime/row_key.h"
#include "runtime/types/row_codec.h"

#include <stdlib.h>

struct normalize {
    struct weir_operator op; // first: the interface
    struct weir_normalize_config config;
    struct weir_state *rows;
    struct weir_row_key key;
    struct weir_state_key keys[WEIR_BATCH_ROWS_MAX]; // of the batch under way
    struct weir_buffer row_bytes;
    // The batch that is filled.
    struct weir_arena *arena;
    struct weir_column *columns; // NULL: none
    uint8_t *change;
    int64_t *event_time_us;
    uint32_t row_count;
};

// --- out ----------------------------------------------------------------------------------------

static void begin(struct normalize *normalize)
{
    const struct weir_schema *schema = normalize->config.schema;
    weir_arena_reset(normalize->arena);
    normalize->row_count = 0;
    normalize->columns =
        weir_arena_alloc(normalize->arena, schema->column_count * sizeof *normalize->columns);
    for (uint32_t c = 0; c < schema->column_count; c++) {
        weir_column_init(&normalize->columns[c], &schema->columns[c].type, WEIR_BATCH_ROWS_MAX,
                         true, normalize->arena);
    }
    normalize->change = weir_arena_alloc(normalize->arena, WEIR_BATCH_ROWS_MAX);
    normalize->event_time_us =
        weir_arena_alloc(normalize->arena, WEIR_BATCH_ROWS_MAX * sizeof *normalize->event_time_us);
}

static enum weir_status flush(struct normalize *normalize, struct weir_error *error)
{
    if (normalize->columns == NULL || normalize->row_count == 0) {
        return WEIR_OK;
    }
    struct weir_batch batch = {
        .schema = normalize->config.schema,
        .row_count = normalize->row_count,
        .selected_count = normalize->row_count,
        .columns = normalize->columns,
        .event_time_us = normalize->event_time_us,
        .change = normalize->change,
        .arena = normalize->arena,
    };
    normalize->columns = NULL;
    return weir_operator_push(&normalize->op, &batch, error);
}

// Room for two rows.
static enum weir_status reserve(struct normalize *normalize, struct weir_error *error)
{
    if (normalize->columns != NULL && normalize->row_count + 2 > WEIR_BATCH_ROWS_MAX &&
        flush(normalize, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (normalize->columns == NULL) {
        begin(normalize);
    }
    return WEIR_OK;
}

// stored: as it lies in the state.
static void append(struct normalize *normalize, struct weir_view stored, enum weir_change change)
{
    uint32_t row = normalize->row_count++;
    struct weir_view kept = weir_arena_copy(normalize->arena, stored);
    WEIR_ASSERT(kept.size_bytes >= sizeof(int64_t));
    memcpy(&normalize->event_time_us[row], kept.data, sizeof(int64_t));
    normalize->change[row] = (uint8_t)change;
    struct weir_view values = {.data = kept.data + sizeof(int64_t),
                               .size_bytes = kept.size_bytes - sizeof(int64_t)};
    bool is_good = weir_row_decode(values, normalize->columns,
                                   normalize->config.schema->column_count, row, normalize->arena);
    WEIR_ASSERT(is_good);
}

// --- rows ---------------------------------------------------------------------------------------

static void delete_row(struct normalize *normalize, const struct weir_state_key *key)
{
    struct weir_view stored;
    if (normalize->rows->ops->get(normalize->rows, key, &stored)) {
        append(normalize, stored, WEIR_CHANGE_DELETE);
        normalize->rows->ops->remove(normalize->rows, key);
    }
}

static bool is_same_row(struct weir_view stored, struct weir_view row)
{
    const size_t time_bytes = sizeof(int64_t);
    return stored.size_bytes == row.size_bytes &&
           memcmp(stored.data + time_bytes, row.data + time_bytes, row.size_bytes - time_bytes) ==
               0;
}

static void upsert_row(struct normalize *normalize, const struct weir_state_key *key,
                       const struct weir_batch *batch, uint32_t row)
{
    struct weir_buffer *bytes = &normalize->row_bytes;
    bytes->size_bytes = 0;
    weir_buffer_append(bytes, &batch->event_time_us[row], sizeof(int64_t));
    weir_row_encode(batch->columns, batch->schema->column_count, row, bytes);
    struct weir_view newest = {.data = bytes->data, .size_bytes = bytes->size_bytes};
    struct weir_view stored;
    bool is_known = normalize->rows->ops->get(normalize->rows, key, &stored);
    if (is_known && is_same_row(stored, newest)) {
        return;
    }
    if (is_known) {
        append(normalize, stored, WEIR_CHANGE_UPDATE_BEFORE);
    }
    append(normalize, newest, is_known ? WEIR_CHANGE_UPDATE_AFTER : WEIR_CHANGE_INSERT);
    bool existed;
    void *to =
        normalize->rows->ops->update(normalize->rows, key, (uint32_t)newest.size_bytes, &existed);
    memcpy(to, newest.data, newest.size_bytes);
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct normalize *normalize = (struct normalize *)op;
    weir_row_key_make(&normalize->key, batch, normalize->keys);
    normalize->rows->ops->prefetch(normalize->rows, batch->selected_count, normalize->keys);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        if (reserve(normalize, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (batch->change != NULL && batch->change[row] == WEIR_CHANGE_DELETE) {
            delete_row(normalize, &normalize->keys[i]);
        } else {
            upsert_row(normalize, &normalize->keys[i], batch, row);
        }
    }
    return flush(normalize, error);
}

static void destroy(struct weir_operator *op)
{
    struct normalize *normalize = (struct normalize *)op;
    weir_row_key_deinit(&normalize->key);
    weir_buffer_deinit(&normalize->row_bytes);
    weir_arena_destroy(normalize->arena);
    free(normalize);
}

struct weir_operator *weir_normalize_create(const char *id, const char *name,
                                            const struct weir_normalize_config *config)
{
    static const struct weir_operator_ops OPS = {
        .kind = "normalize", .process = process, .destroy = destroy};
    WEIR_ASSERT(config->key_count > 0);
    struct normalize *normalize = weir_alloc_zero(sizeof *normalize);
    normalize->op.ops = &OPS;
    normalize->op.id = id;
    normalize->op.name = name;
    normalize->config = *config;
    normalize->rows = config->store->ops->open_state(config->store, id, "rows");
    weir_row_key_init(&normalize->key, config->key_count, config->key_columns);
    normalize->arena = weir_arena_create(64 << 10);
    return &normalize->op;
}
