// SPDX-License-Identifier: Apache-2.0
// See keyed_decode.h. Keys and values of a run are decoded apart, each by its own decoder; then the
// two are put together record by record. A record that is bad in either gives no row and one
// report.
#include "kafka/keyed_decode.h"

#include "runtime/types/key.h"

#include <stdlib.h>

enum { NO_ROW = -1 };

struct keyed_decoder {
    struct weir_decoder base; // first: the interface
    struct weir_keyed_decoder_config config;
    struct weir_record *keys; // the records with their keys as values
    struct weir_buffer from_key;
    struct weir_buffer from_value;
};

// One run on its way.
struct run {
    uint32_t record_count;
    struct weir_decoded keys;
    struct weir_decoded values;
    int32_t *key_rows;   // by record; NO_ROW: bad
    int32_t *value_rows; // by record; NO_ROW: null or bad
    const char **faults; // by record; NULL: none
    enum weir_row_error_reason *reasons;
    struct weir_arena *arena;
};

static bool is_deleted(const struct run *run, const struct weir_record *records, uint32_t idx)
{
    return run->values.fates != NULL ? run->values.fates[idx] == WEIR_RECORD_DELETES
                                     : records[idx].value.data == NULL;
}

static bool says_nothing(const struct run *run, uint32_t idx)
{
    return run->values.fates != NULL && run->values.fates[idx] == WEIR_RECORD_SAYS_NOTHING;
}

static void map_rows(const struct weir_decoded *decoded, uint32_t record_count, int32_t *rows)
{
    for (uint32_t i = 0; i < record_count; i++) {
        rows[i] = NO_ROW;
    }
    for (uint32_t row = 0; row < decoded->row_count; row++) {
        rows[decoded->record_of_row != NULL ? decoded->record_of_row[row] : row] = (int32_t)row;
    }
}

static void note_fault(struct run *run, uint32_t record_idx, enum weir_row_error_reason reason,
                       const char *message)
{
    if (run->faults[record_idx] == NULL) {
        run->faults[record_idx] = message;
        run->reasons[record_idx] = reason;
    }
}

static void note_key_faults(struct run *run, const struct weir_record *records)
{
    for (uint32_t i = 0; i < run->record_count; i++) {
        if (says_nothing(run, i)) {
            continue;
        }
        if (records[i].key.data == NULL) {
            note_fault(run, i, WEIR_ROW_ERROR_KEY, "the message key is null");
        } else if (records[i].key.size_bytes == 0) {
            note_fault(run, i, WEIR_ROW_ERROR_KEY, "the message key is empty");
        }
    }
    for (uint32_t i = 0; i < run->keys.bad_count; i++) {
        if (says_nothing(run, run->keys.bad[i].record_idx)) {
            continue;
        }
        note_fault(run, run->keys.bad[i].record_idx, WEIR_ROW_ERROR_KEY,
                   weir_arena_printf(run->arena, "message key: %s", run->keys.bad[i].message));
    }
}

static bool has_null(const struct weir_column *columns, uint32_t count, uint32_t row)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!weir_column_is_valid(&columns[i], row)) {
            return true;
        }
    }
    return false;
}

// A value may repeat key columns, and then must agree with the key.
static bool contradicts(struct keyed_decoder *decoder, const struct run *run, uint32_t record_idx)
{
    uint32_t key_row = (uint32_t)run->key_rows[record_idx];
    uint32_t value_row = (uint32_t)run->value_rows[record_idx];
    for (uint32_t k = 0; k < decoder->config.key_count; k++) {
        const struct weir_column *in_value = &run->values.columns[decoder->config.key_columns[k]];
        if (!weir_column_is_valid(in_value, value_row)) {
            continue;
        }
        decoder->from_key.size_bytes = 0;
        decoder->from_value.size_bytes = 0;
        weir_key_encode(&run->keys.columns[k], 1, key_row, &decoder->from_key);
        weir_key_encode(in_value, 1, value_row, &decoder->from_value);
        if (decoder->from_key.size_bytes != decoder->from_value.size_bytes ||
            memcmp(decoder->from_key.data, decoder->from_value.data,
                   decoder->from_key.size_bytes) != 0) {
            return true;
        }
    }
    return false;
}

static void note_row_faults(struct keyed_decoder *decoder, struct run *run)
{
    for (uint32_t i = 0; i < run->record_count; i++) {
        if (run->faults[i] != NULL || says_nothing(run, i)) {
            continue;
        }
        WEIR_ASSERT(run->key_rows[i] != NO_ROW);
        if (has_null(run->keys.columns, decoder->config.key_count, (uint32_t)run->key_rows[i])) {
            note_fault(run, i, WEIR_ROW_ERROR_KEY, "a key column is NULL");
        } else if (run->value_rows[i] != NO_ROW && contradicts(decoder, run, i)) {
            note_fault(run, i, WEIR_ROW_ERROR_KEY, "the value contradicts the message key");
        }
    }
}

// One value by its layout; views stay views. A row NO_ROW is NULL.
static void copy_value(const struct weir_column *from, int32_t from_row, struct weir_column *to,
                       uint32_t to_row)
{
    bool is_valid = from_row != NO_ROW && weir_column_is_valid(from, (uint32_t)from_row);
    if (is_valid) {
        weir_bitmap_set(to->validity, to_row);
    }
    if (to->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < to->type.composite->field_count; i++) {
            copy_value(is_valid ? &from->children[i] : NULL, is_valid ? from_row : NO_ROW,
                       &to->children[i], to_row);
        }
        return;
    }
    size_t size_bytes = weir_layout_bytes(weir_type_layout(to->type.kind));
    char *target = (char *)to->data + to_row * size_bytes;
    if (is_valid) {
        memcpy(target, (const char *)from->data + (uint32_t)from_row * size_bytes, size_bytes);
    } else {
        memset(target, 0, size_bytes);
    }
}

static int32_t key_idx_of(const struct keyed_decoder *decoder, uint32_t column)
{
    for (uint32_t k = 0; k < decoder->config.key_count; k++) {
        if (decoder->config.key_columns[k] == column) {
            return (int32_t)k;
        }
    }
    return -1;
}

// Rows of the records without fault, in their order.
static void put_together(struct keyed_decoder *decoder, const struct run *run,
                         const struct weir_record *records, struct weir_decoded *out)
{
    uint16_t *record_of_row = weir_arena_alloc(run->arena, run->record_count * sizeof(uint16_t));
    uint8_t *change = weir_arena_alloc(run->arena, run->record_count);
    for (uint32_t i = 0; i < run->record_count; i++) {
        if (run->faults[i] == NULL && !says_nothing(run, i)) {
            change[out->row_count] =
                is_deleted(run, records, i) ? WEIR_CHANGE_DELETE : WEIR_CHANGE_INSERT;
            record_of_row[out->row_count++] = (uint16_t)i;
        }
    }
    out->record_of_row = record_of_row;
    out->change = change;
    uint32_t column_count = decoder->config.schema->column_count;
    out->columns = weir_arena_alloc_zero(run->arena, column_count * sizeof *out->columns);
    for (uint32_t c = 0; c < column_count; c++) {
        struct weir_column *to = &out->columns[c];
        int32_t key_idx = key_idx_of(decoder, c);
        const struct weir_column *from =
            key_idx >= 0 ? &run->keys.columns[key_idx] : &run->values.columns[c];
        const int32_t *rows = key_idx >= 0 ? run->key_rows : run->value_rows;
        weir_column_init(to, &decoder->config.schema->columns[c].type, out->row_count, true,
                         run->arena);
        for (uint32_t row = 0; row < out->row_count; row++) {
            copy_value(from, rows[record_of_row[row]], to, row);
        }
    }
}

static void list_bad(const struct run *run, struct weir_decoded *out)
{
    struct weir_bad_record *bad = weir_arena_alloc(run->arena, run->record_count * sizeof *bad);
    for (uint32_t i = 0; i < run->record_count; i++) {
        if (run->faults[i] != NULL) {
            bad[out->bad_count++] = (struct weir_bad_record){
                .record_idx = i, .reason = run->reasons[i], .message = run->faults[i]};
        }
    }
    out->bad = bad;
}

static void decode(struct weir_decoder *base, const struct weir_record *records,
                   uint32_t record_count, struct weir_arena *arena, struct weir_decoded *out)
{
    struct keyed_decoder *decoder = (struct keyed_decoder *)base;
    struct run run = {
        .record_count = record_count,
        .key_rows = weir_arena_alloc(arena, record_count * sizeof *run.key_rows),
        .value_rows = weir_arena_alloc(arena, record_count * sizeof *run.value_rows),
        .faults = weir_arena_alloc_zero(arena, record_count * sizeof *run.faults),
        .reasons = weir_arena_alloc_zero(arena, record_count * sizeof *run.reasons),
        .arena = arena,
    };
    for (uint32_t i = 0; i < record_count; i++) {
        decoder->keys[i] = records[i];
        decoder->keys[i].value = records[i].key;
    }
    weir_decoder_decode(decoder->config.key_decoder, decoder->keys, record_count, arena, &run.keys);
    weir_decoder_decode(decoder->config.value_decoder, records, record_count, arena, &run.values);
    map_rows(&run.keys, record_count, run.key_rows);
    map_rows(&run.values, record_count, run.value_rows);
    note_key_faults(&run, records);
    for (uint32_t i = 0; i < run.values.bad_count; i++) {
        note_fault(&run, run.values.bad[i].record_idx, run.values.bad[i].reason,
                   run.values.bad[i].message);
    }
    note_row_faults(decoder, &run);
    *out = (struct weir_decoded){0};
    put_together(decoder, &run, records, out);
    list_bad(&run, out);
}

static bool missing(struct weir_decoder *base, const struct weir_record *record, uint32_t *id)
{
    struct keyed_decoder *decoder = (struct keyed_decoder *)base;
    struct weir_decoder *keys = decoder->config.key_decoder;
    struct weir_decoder *values = decoder->config.value_decoder;
    struct weir_record key = *record;
    key.value = record->key;
    return (keys->ops->missing != NULL && keys->ops->missing(keys, &key, id)) ||
           (values->ops->missing != NULL && values->ops->missing(values, record, id));
}

static bool is_missing(struct weir_decoder *base, uint32_t id)
{
    struct keyed_decoder *decoder = (struct keyed_decoder *)base;
    struct weir_decoder *keys = decoder->config.key_decoder;
    struct weir_decoder *values = decoder->config.value_decoder;
    return (keys->ops->missing != NULL && keys->ops->is_missing(keys, id)) ||
           (values->ops->missing != NULL && values->ops->is_missing(values, id));
}

static void destroy(struct weir_decoder *base)
{
    struct keyed_decoder *decoder = (struct keyed_decoder *)base;
    weir_decoder_destroy(decoder->config.value_decoder);
    weir_decoder_destroy(decoder->config.key_decoder);
    weir_buffer_deinit(&decoder->from_key);
    weir_buffer_deinit(&decoder->from_value);
    free(decoder->keys);
    free(decoder);
}

static const struct weir_decoder_ops keyed_ops = {.decode = decode, .destroy = destroy};
static const struct weir_decoder_ops waiting_ops = {
    .decode = decode, .missing = missing, .is_missing = is_missing, .destroy = destroy};

struct weir_decoder *weir_keyed_decoder_create(const struct weir_keyed_decoder_config *config)
{
    struct keyed_decoder *decoder = weir_alloc_zero(sizeof *decoder);
    bool is_waiting = config->key_decoder->ops->missing != NULL ||
                      config->value_decoder->ops->missing != NULL;
    decoder->base.ops = is_waiting ? &waiting_ops : &keyed_ops;
    decoder->config = *config;
    decoder->keys = weir_alloc(WEIR_BATCH_ROWS_MAX * sizeof *decoder->keys);
    return &decoder->base;
}
