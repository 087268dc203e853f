// SPDX-License-Identifier: Apache-2.0
// See json_debezium.h. The envelope is scanned for its members; what is in "after" is then decoded
// as an ordinary JSON record. The schema part is read again only when its text has changed.
#include "kafka/json_debezium.h"

#include "kafka/json_meaning.h"
#include "kafka/json_scan.h"

#include <stdlib.h>

// Members of the envelope, as columns of the scanner's shape.
enum { SCHEMA, PAYLOAD, BEFORE, AFTER, OP, MEMBER_COUNT };
enum { INNER_BEFORE, INNER_AFTER, INNER_OP, INNER_COUNT };

#define TAKEN_WHOLE                                                                                \
    {                                                                                              \
        WEIR_TYPE_JSON, -1, NULL                                                                   \
    }

static const struct weir_field inner_fields[] = {
    [INNER_BEFORE] = {"before", TAKEN_WHOLE},
    [INNER_AFTER] = {"after", TAKEN_WHOLE},
    [INNER_OP] = {"op", TAKEN_WHOLE},
};
static const struct weir_composite inner = {"payload", INNER_COUNT, inner_fields};
static const struct weir_field envelope_fields[] = {
    [SCHEMA] = {"schema", TAKEN_WHOLE}, [PAYLOAD] = {"payload", {WEIR_TYPE_COMPOSITE, -1, &inner}},
    [BEFORE] = {"before", TAKEN_WHOLE}, [AFTER] = {"after", TAKEN_WHOLE},
    [OP] = {"op", TAKEN_WHOLE},
};

struct debezium_decoder {
    struct weir_decoder base; // first: the interface
    const struct weir_schema *schema;
    struct weir_decoder *rows;
    bool is_key;
    struct weir_arena *arena;
    struct weir_json_shape *shape;
    struct weir_json_scanner scanner;
    struct weir_json_meaning *defaults; // of records without schema
    struct weir_buffer schema_text;     // the last one, and what it says
    struct weir_json_meaning *meanings;
    struct weir_record *inners; // records with what is to be decoded as their values
    uint16_t *record_idxs;      // of inners
    const struct weir_json_meaning **inner_meanings;
};

// One run on its way.
struct run {
    struct weir_arena *arena;
    uint32_t record_count;
    uint32_t inner_count;
    uint8_t *fates;
    const char **faults; // by record; NULL: none
    struct weir_decoded *decoded;
    const struct weir_json_meaning *meanings; // of the record being looked at
    const struct weir_json_meaning *kept;     // a copy of the decoder's, for this run
};

static struct weir_view view_of(const struct weir_json_slot *slot)
{
    return (struct weir_view){.data = slot->data, .size_bytes = slot->size_bytes};
}

// --- envelopes -------------------------------------------------------------------------------

// What the schema says holds for the records that carry it, wherever they stand in a run.
static void read_schema(struct debezium_decoder *decoder, struct run *run, struct weir_view schema)
{
    uint32_t count = decoder->schema->column_count;
    struct weir_view known = {.data = decoder->schema_text.data,
                              .size_bytes = decoder->schema_text.size_bytes};
    if (!weir_view_equal(known, schema)) {
        decoder->schema_text.size_bytes = 0;
        weir_buffer_append(&decoder->schema_text, schema.data, schema.size_bytes);
        memcpy(decoder->meanings, decoder->defaults, count * sizeof *decoder->meanings);
        weir_json_meanings_read(schema, decoder->is_key ? NULL : "after", count,
                                decoder->schema->columns, decoder->meanings);
        run->kept = NULL;
    }
    if (run->kept == NULL) {
        struct weir_json_meaning *copy = weir_arena_alloc(run->arena, (count + 1) * sizeof *copy);
        memcpy(copy, decoder->meanings, count * sizeof *copy);
        run->kept = copy;
    }
    run->meanings = run->kept;
}

struct envelope {
    const struct weir_json_slot *before;
    const struct weir_json_slot *after;
    const struct weir_json_slot *op;
    bool is_null; // a payload of null
};

static struct envelope open_envelope(struct debezium_decoder *decoder, struct run *run)
{
    const struct weir_json_slot *slots = decoder->scanner.slots;
    const struct weir_json_member *members = decoder->shape->members;
    const struct weir_json_slot *payload = &slots[members[PAYLOAD].slot_idx];
    const struct weir_json_slot *schema = &slots[members[SCHEMA].slot_idx];
    struct envelope envelope = {.before = &slots[members[BEFORE].slot_idx],
                                .after = &slots[members[AFTER].slot_idx],
                                .op = &slots[members[OP].slot_idx]};
    if (schema->kind == WEIR_JSON_OBJECT) {
        read_schema(decoder, run, view_of(schema));
    }
    if (payload->kind == WEIR_JSON_OBJECT) {
        const struct weir_json_member *parts = members[PAYLOAD].shape->members;
        envelope.before = &slots[parts[INNER_BEFORE].slot_idx];
        envelope.after = &slots[parts[INNER_AFTER].slot_idx];
        envelope.op = &slots[parts[INNER_OP].slot_idx];
    }
    envelope.is_null = payload->kind == WEIR_JSON_NULL && envelope.op->kind == WEIR_JSON_ABSENT;
    return envelope;
}

static void add_inner(struct debezium_decoder *decoder, struct run *run, uint32_t record_idx,
                      const struct weir_record *record, struct weir_view value)
{
    decoder->inners[run->inner_count] = *record;
    decoder->inners[run->inner_count].value = value;
    decoder->inner_meanings[run->inner_count] = run->meanings;
    decoder->record_idxs[run->inner_count++] = (uint16_t)record_idx;
}

static const char *take_change(struct debezium_decoder *decoder, struct run *run,
                               uint32_t record_idx, const struct weir_record *record)
{
    struct envelope envelope = open_envelope(decoder, run);
    if (envelope.is_null) {
        run->fates[record_idx] = WEIR_RECORD_DELETES;
        return NULL;
    }
    if (envelope.op->kind != WEIR_JSON_STRING || envelope.op->size_bytes != 1) {
        return "no change event of Debezium: it has no \"op\" of one letter (flattened events are "
               "read with format = 'json')";
    }
    switch (envelope.op->data[0]) {
    case 'c':
    case 'u':
    case 'r':
        if (envelope.after->kind != WEIR_JSON_OBJECT) {
            return "a create, update or read without \"after\"";
        }
        add_inner(decoder, run, record_idx, record, view_of(envelope.after));
        return NULL;
    case 'd':
        run->fates[record_idx] = WEIR_RECORD_DELETES;
        return NULL;
    case 'm': // a message of the database's log
        run->fates[record_idx] = WEIR_RECORD_SAYS_NOTHING;
        return NULL;
    case 't':
        return "the table was truncated, which names no keys: let the connector skip truncates "
               "(skipped.operations) and start anew after one";
    }
    return weir_arena_printf(run->arena, "unknown \"op\" \"%c\"", envelope.op->data[0]);
}

static void take_key(struct debezium_decoder *decoder, struct run *run, uint32_t record_idx,
                     const struct weir_record *record)
{
    const struct weir_json_slot *slots = decoder->scanner.slots;
    const struct weir_json_slot *schema = &slots[decoder->shape->members[SCHEMA].slot_idx];
    const struct weir_json_slot *payload = &slots[decoder->shape->members[PAYLOAD].slot_idx];
    bool is_enveloped = schema->kind == WEIR_JSON_OBJECT && payload->kind == WEIR_JSON_OBJECT;
    if (is_enveloped) {
        read_schema(decoder, run, view_of(schema));
    }
    add_inner(decoder, run, record_idx, record, is_enveloped ? view_of(payload) : record->value);
}

static void take_record(struct debezium_decoder *decoder, struct run *run, uint32_t record_idx,
                        const struct weir_record *record)
{
    if (record->value.data == NULL) {
        run->fates[record_idx] = WEIR_RECORD_DELETES;
        run->decoded->null_value_count++;
        return;
    }
    run->meanings = decoder->defaults;
    if (!weir_json_scan(&decoder->scanner, record->value)) {
        run->faults[record_idx] =
            weir_arena_printf(run->arena, "invalid JSON at byte %zu of %zu: %s",
                              (size_t)(decoder->scanner.error_place - record->value.data) + 1,
                              record->value.size_bytes, decoder->scanner.error);
    } else if (decoder->is_key) {
        take_key(decoder, run, record_idx, record);
    } else {
        run->faults[record_idx] = take_change(decoder, run, record_idx, record);
    }
}

// --- rows ------------------------------------------------------------------------------------

static void list_bad(const struct run *run, const struct debezium_decoder *decoder,
                     const struct weir_decoded *rows)
{
    struct weir_bad_record *bad = weir_arena_alloc(run->arena, run->record_count * sizeof *bad);
    uint32_t next = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->record_count; i++) {
        if (run->faults[i] != NULL) {
            bad[count++] = (struct weir_bad_record){
                .record_idx = i, .reason = WEIR_ROW_ERROR_DECODE, .message = run->faults[i]};
        } else if (next < rows->bad_count &&
                   decoder->record_idxs[rows->bad[next].record_idx] == i) {
            bad[count] = rows->bad[next++];
            bad[count++].record_idx = i;
        }
    }
    run->decoded->bad = bad;
    run->decoded->bad_count = count;
}

static void decode(struct weir_decoder *base, const struct weir_record *records,
                   uint32_t record_count, struct weir_arena *arena, struct weir_decoded *decoded)
{
    struct debezium_decoder *decoder = (struct debezium_decoder *)base;
    *decoded = (struct weir_decoded){0};
    struct run run = {
        .arena = arena,
        .record_count = record_count,
        .fates = weir_arena_alloc_zero(arena, record_count),
        .faults = weir_arena_alloc_zero(arena, record_count * sizeof *run.faults),
        .decoded = decoded,
    };
    for (uint32_t i = 0; i < record_count; i++) {
        take_record(decoder, &run, i, &records[i]);
    }
    struct weir_decoded rows;
    weir_json_decoder_set_meanings(decoder->rows, decoder->inner_meanings);
    weir_decoder_decode(decoder->rows, decoder->inners, run.inner_count, arena, &rows);
    uint16_t *record_of_row = weir_arena_alloc(arena, run.inner_count * sizeof *record_of_row);
    for (uint32_t row = 0; row < rows.row_count; row++) {
        record_of_row[row] =
            decoder->record_idxs[rows.record_of_row != NULL ? rows.record_of_row[row] : row];
    }
    decoded->row_count = rows.row_count;
    decoded->columns = rows.columns;
    decoded->record_of_row = record_of_row;
    decoded->fates = run.fates;
    list_bad(&run, decoder, &rows);
}

static void destroy(struct weir_decoder *base)
{
    struct debezium_decoder *decoder = (struct debezium_decoder *)base;
    weir_decoder_destroy(decoder->rows);
    weir_json_scanner_deinit(&decoder->scanner);
    weir_buffer_deinit(&decoder->schema_text);
    weir_arena_destroy(decoder->arena);
    free(decoder->inners);
    free(decoder->record_idxs);
    free(decoder->inner_meanings);
    free(decoder);
}

static struct weir_decoder *create(const struct weir_schema *schema,
                                   const struct weir_json_decode_options *options, bool is_key)
{
    static const struct weir_decoder_ops ops = {.decode = decode, .destroy = destroy};
    struct debezium_decoder *decoder = weir_alloc_zero(sizeof *decoder);
    decoder->base.ops = &ops;
    decoder->schema = schema;
    decoder->is_key = is_key;
    decoder->rows = weir_json_decoder_create(schema, options);
    decoder->arena = weir_arena_create(16 << 10);
    uint32_t slot_count = 0;
    decoder->shape =
        weir_json_shape_create(MEMBER_COUNT, envelope_fields, &slot_count, decoder->arena);
    weir_json_scanner_init(&decoder->scanner, decoder->shape, slot_count, decoder->arena);
    size_t meaning_bytes = schema->column_count * sizeof *decoder->meanings;
    decoder->meanings = weir_arena_alloc_zero(decoder->arena, meaning_bytes);
    decoder->defaults = weir_arena_alloc_zero(decoder->arena, meaning_bytes);
    decoder->inner_meanings = weir_alloc(WEIR_BATCH_ROWS_MAX * sizeof *decoder->inner_meanings);
    decoder->inners = weir_alloc(WEIR_BATCH_ROWS_MAX * sizeof *decoder->inners);
    decoder->record_idxs = weir_alloc(WEIR_BATCH_ROWS_MAX * sizeof *decoder->record_idxs);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        decoder->defaults[i] = weir_json_meaning_of_type(&schema->columns[i].type);
    }
    return &decoder->base;
}

struct weir_decoder *weir_debezium_decoder_create(const struct weir_schema *schema,
                                                  const struct weir_json_decode_options *options)
{
    return create(schema, options, false);
}

struct weir_decoder *
weir_debezium_key_decoder_create(const struct weir_schema *schema,
                                 const struct weir_json_decode_options *options)
{
    return create(schema, options, true);
}
