// SPDX-License-Identifier: Apache-2.0
// See json_decode.h. A record is first scanned whole (json_scan.c), which tells whether it is JSON
// and where the wanted values lie, and then converted column by column (json_convert.c). So a text
// that is cut off or broken near its end is told before any value of it is looked at, and of a
// repeated name only the last value is.
//
// The own scanner instead of yyjson's tree: measured on NEXMark bids (bench/micro/json_bench.c) a
// scan with five wanted fields takes about 0.7 of the time of building the tree, before a single
// value has been looked up in it; and it knows where a value stood in the text, which text columns
// need for containers and numeric ones for numbers.
//
// Rows are filled from the front: a record that fails gives its row to the next one, after the bits
// that it has set are cleared.
#include "kafka/json_decode.h"

#include "kafka/json_convert.h"
#include "kafka/json_scan.h"
#include "runtime/base/assert.h"

#include <stdlib.h>

struct json_decoder {
    struct weir_decoder base;
    const struct weir_schema *schema;
    struct weir_json_decode_options options;
    struct weir_arena *arena; // targets, shapes, slots
    struct weir_json_target *targets;
    struct weir_json_scanner scanner;
    const struct weir_json_meaning *const *meanings; // by record, then column; NULL: plain JSON
};

// Slots are numbered as weir_json_shape_create does it: it is the shape that says.
static struct weir_json_target *create_targets(struct weir_arena *arena, const char *parent_path,
                                               uint32_t field_count,
                                               const struct weir_field *fields,
                                               const struct weir_json_shape *shape)
{
    struct weir_json_target *targets = weir_arena_alloc_zero(arena, field_count * sizeof *targets);
    for (uint32_t i = 0; i < field_count; i++) {
        struct weir_json_target *target = &targets[i];
        const struct weir_json_member *member = &shape->members[i];
        target->path = parent_path == NULL
                           ? weir_arena_strdup(arena, fields[i].name)
                           : weir_arena_printf(arena, "%s.%s", parent_path, fields[i].name);
        target->slot_idx = member->slot_idx;
        if (fields[i].type.kind == WEIR_TYPE_COMPOSITE) {
            const struct weir_composite *composite = fields[i].type.composite;
            target->field_count = composite->field_count;
            target->fields = create_targets(arena, target->path, composite->field_count,
                                            composite->fields, member->shape);
        }
    }
    return targets;
}

// What one call of decode is about.
struct run {
    struct json_decoder *decoder;
    struct weir_arena *arena;
    uint32_t record_count;
    struct weir_decoded *decoded;
    struct weir_bad_record *bad;
    uint16_t *record_of_row;
};

static void report_bad(struct run *run, uint32_t record_idx, enum weir_row_error_reason reason,
                       const char *message)
{
    if (run->bad == NULL) {
        run->bad = weir_arena_alloc(run->arena, run->record_count * sizeof *run->bad);
        run->decoded->bad = run->bad;
    }
    run->bad[run->decoded->bad_count++] = (struct weir_bad_record){
        .record_idx = record_idx,
        .reason = reason,
        .message = message,
    };
}

// The framing of a schema registry: a zero byte and a schema id in four bytes, the high one first.
static const char *name_framing(struct weir_arena *arena, struct weir_view text)
{
    const uint8_t *bytes = (const uint8_t *)text.data;
    uint32_t id = (uint32_t)bytes[1] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 8 |
                  (uint32_t)bytes[4];
    if (text.size_bytes > 5 && bytes[5] == '{') {
        return weir_arena_printf(
            arena,
            "the value is framed for a schema registry (JSON Schema, id %u), which format = 'json' "
            "does not read: let the producer write plain JSON, in Kafka Connect with "
            "org.apache.kafka.connect.json.JsonConverter",
            id);
    }
    return weir_arena_printf(
        arena,
        "the value is framed for a schema registry (Avro or Protobuf, schema id %u) and no JSON: "
        "Avro is read with format = 'avro'; Protobuf is not supported, let the producer write JSON "
        "or Avro",
        id);
}

static void report_malformed(struct run *run, uint32_t record_idx, struct weir_view text)
{
    if (text.size_bytes >= 5 && text.data[0] == 0) {
        report_bad(run, record_idx, WEIR_ROW_ERROR_DECODE, name_framing(run->arena, text));
        return;
    }
    const struct weir_json_scanner *scanner = &run->decoder->scanner;
    size_t place = (size_t)(scanner->error_place - text.data);
    const char *message =
        place == text.size_bytes
            ? weir_arena_printf(run->arena, "invalid JSON at its end (%zu bytes): %s", place,
                                scanner->error)
            : weir_arena_printf(run->arena, "invalid JSON at byte %zu of %zu: %s", place + 1,
                                text.size_bytes, scanner->error);
    report_bad(run, record_idx, WEIR_ROW_ERROR_DECODE, message);
}

static void report_conversion(struct run *run, uint32_t record_idx,
                              const struct weir_json_conversion *conversion)
{
    const struct weir_value_error *error = &conversion->error;
    bool has_detail = error->detail[0] != '\0';
    report_bad(run, record_idx, conversion->reason,
               weir_arena_printf(run->arena, "column \"%s\": %s%s%s", conversion->failed->path,
                                 error->text, has_detail ? ": " : "", error->detail));
}

static bool convert_record(struct run *run, uint32_t record_idx, uint32_t row)
{
    const struct json_decoder *decoder = run->decoder;
    struct weir_column *columns = run->decoded->columns;
    // The texts of the error are not set up here: they are some 400 bytes.
    struct weir_json_conversion conversion;
    conversion.timestamp_digits = decoder->options.timestamp_digits;
    conversion.slots = decoder->scanner.slots;
    conversion.meaning = NULL;
    conversion.arena = run->arena;
    conversion.failed = NULL;
    conversion.reason = WEIR_ROW_ERROR_DECODE;
    for (uint32_t i = 0; i < decoder->schema->column_count; i++) {
        if (decoder->meanings != NULL) {
            conversion.meaning = &decoder->meanings[record_idx][i];
        }
        if (!weir_json_convert(&conversion, &decoder->targets[i], &columns[i], row)) {
            for (uint32_t j = 0; j <= i; j++) {
                weir_json_clear(&decoder->targets[j], &columns[j], row);
            }
            report_conversion(run, record_idx, &conversion);
            return false;
        }
    }
    return true;
}

// From here on rows and records have different numbers.
static void begin_mapping(struct run *run, uint32_t row_count)
{
    if (run->record_of_row != NULL) {
        return;
    }
    size_t size_bytes = run->record_count * sizeof *run->record_of_row;
    run->record_of_row = weir_arena_alloc(run->arena, size_bytes);
    for (uint32_t i = 0; i < row_count; i++) {
        run->record_of_row[i] = (uint16_t)i;
    }
    run->decoded->record_of_row = run->record_of_row;
}

// validity NULL where every row has a value, as operators then need not look at it.
static void drop_full_bitmaps(struct weir_column *columns, const struct weir_json_target *targets,
                              uint32_t column_count, uint32_t row_count)
{
    for (uint32_t i = 0; i < column_count; i++) {
        uint32_t valid_count = 0;
        for (uint32_t word_idx = 0; word_idx < (row_count + 63) / 64; word_idx++) {
            valid_count += (uint32_t)__builtin_popcountll(columns[i].validity[word_idx]);
        }
        WEIR_ASSERT(valid_count <= row_count); // no bit of a row that does not exist
        drop_full_bitmaps(columns[i].children, targets[i].fields, targets[i].field_count,
                          row_count);
        if (valid_count == row_count) {
            columns[i].validity = NULL;
        }
    }
}

static void decode(struct weir_decoder *base, const struct weir_record *records,
                   uint32_t record_count, struct weir_arena *arena, struct weir_decoded *decoded)
{
    struct json_decoder *decoder = (struct json_decoder *)base;
    WEIR_ASSERT(record_count <= WEIR_BATCH_ROWS_MAX);
    const struct weir_schema *schema = decoder->schema;
    *decoded = (struct weir_decoded){0};
    decoded->columns =
        weir_arena_alloc_zero(arena, schema->column_count * sizeof(struct weir_column));
    for (uint32_t i = 0; i < schema->column_count; i++) {
        weir_column_init(&decoded->columns[i], &schema->columns[i].type, record_count, true, arena);
    }
    struct run run = {
        .decoder = decoder,
        .arena = arena,
        .record_count = record_count,
        .decoded = decoded,
    };
    uint32_t row_count = 0;
    for (uint32_t i = 0; i < record_count; i++) {
        struct weir_view text = records[i].value;
        bool is_row = false;
        if (text.data == NULL) {
            decoded->null_value_count++;
        } else if (!weir_json_scan(&decoder->scanner, text)) {
            report_malformed(&run, i, text);
        } else {
            is_row = convert_record(&run, i, row_count);
        }
        if (__builtin_expect(!is_row, 0)) {
            begin_mapping(&run, row_count);
            continue;
        }
        if (run.record_of_row != NULL) {
            run.record_of_row[row_count] = (uint16_t)i;
        }
        row_count++;
    }
    decoded->row_count = row_count;
    drop_full_bitmaps(decoded->columns, decoder->targets, schema->column_count, row_count);
}

static void destroy(struct weir_decoder *base)
{
    struct json_decoder *decoder = (struct json_decoder *)base;
    weir_json_scanner_deinit(&decoder->scanner);
    weir_arena_destroy(decoder->arena);
    free(decoder);
}

struct weir_decoder *weir_json_decoder_create(const struct weir_schema *schema,
                                              const struct weir_json_decode_options *options)
{
    static const struct weir_decoder_ops ops = {.decode = decode, .destroy = destroy};
    WEIR_ASSERT(options->timestamp_digits <= 9);
    struct json_decoder *decoder = weir_alloc_zero(sizeof *decoder);
    decoder->base.ops = &ops;
    decoder->schema = schema;
    decoder->options = *options;
    decoder->arena = weir_arena_create(16 * 1024);
    uint32_t slot_count = 0;
    struct weir_json_shape *shape =
        weir_json_shape_create(schema->column_count, schema->columns, &slot_count, decoder->arena);
    decoder->targets =
        create_targets(decoder->arena, NULL, schema->column_count, schema->columns, shape);
    weir_json_scanner_init(&decoder->scanner, shape, slot_count, decoder->arena);
    return &decoder->base;
}

void weir_json_decoder_set_meanings(struct weir_decoder *base,
                                    const struct weir_json_meaning *const *by_record)
{
    ((struct json_decoder *)base)->meanings = by_record;
}
