// SPDX-License-Identifier: Apache-2.0
// Any bytes as a message value of a CSV table or of a topic of change events, or as such a key. The
// first byte chooses. The record stands between two known ones, which must come out right whatever
// it is; every record becomes a row, a bad record, a deletion or nothing, and just one of these.
#include "fuzz.h"
#include "kafka/csv_format.h"
#include "kafka/json_debezium.h"
#include "runtime/types/array.h"
#include "runtime/types/json_out.h"

static const struct weir_field element[] = {{"", {WEIR_TYPE_INTEGER, -1, NULL}}};
static const struct weir_composite integers = {"", 1, element};
static const struct weir_field fields[] = {
    {"id", {WEIR_TYPE_INTEGER, -1, NULL}},    {"n", {WEIR_TYPE_NUMERIC, -1, NULL}},
    {"d", {WEIR_TYPE_DATE, -1, NULL}},        {"t", {WEIR_TYPE_TIME, -1, NULL}},
    {"z", {WEIR_TYPE_TIMESTAMPTZ, -1, NULL}}, {"b", {WEIR_TYPE_BYTEA, -1, NULL}},
    {"i", {WEIR_TYPE_INTERVAL, -1, NULL}},    {"a", {WEIR_TYPE_ARRAY, -1, &integers}},
};
static const struct weir_schema schema = {sizeof fields / sizeof fields[0], fields};
static const uint32_t positions[] = {0, 1, 2, 3, 4, 5, 6, 7};

enum format { CSV, EVENTS, KEYS, FORMAT_COUNT };

static struct weir_decoder *create(enum format format)
{
    struct weir_json_decode_options options = {.timestamp_digits = 3};
    return format == CSV      ? weir_csv_decoder_create(&schema, positions, schema.column_count)
           : format == EVENTS ? weir_debezium_decoder_create(&schema, &options)
                              : weir_debezium_key_decoder_create(&schema, &options);
}

static uint32_t record_of_row(const struct weir_decoded *decoded, uint32_t row)
{
    return decoded->record_of_row != NULL ? decoded->record_of_row[row] : row;
}

static void check(enum format format, const struct weir_decoded *decoded)
{
    uint32_t count = decoded->row_count + decoded->bad_count;
    for (uint32_t i = 0; decoded->fates != NULL && i < 3; i++) {
        count += decoded->fates[i] != WEIR_RECORD_IS_ROW;
    }
    require(count == 3, "a record has no fate, or two");
    require(decoded->row_count >= 2 && record_of_row(decoded, 0) == 0 &&
                record_of_row(decoded, decoded->row_count - 1) == 2,
            "a good record is lost");
    require(decoded->columns[0].i32[0] == 1 && decoded->columns[0].i32[decoded->row_count - 1] == 3,
            "a good record is another");
    struct weir_buffer json = {0};
    for (uint32_t row = 0; row < decoded->row_count; row++) {
        weir_json_append_row(&json, &schema, decoded->columns, row);
    }
    weir_buffer_deinit(&json);
    for (uint32_t i = 0; i < decoded->bad_count; i++) {
        require(decoded->bad[i].record_idx == 1 && decoded->bad[i].message[0] != '\0',
                "a record is bad that is not");
    }
    (void)format;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static const char *const first[] = {"1,,,,,,,", "{\"op\":\"c\",\"after\":{\"id\":1}}",
                                        "{\"id\":1}"};
    static const char *const last[] = {"3,,,,,,,", "{\"op\":\"r\",\"after\":{\"id\":3}}",
                                       "{\"id\":3}"};
    if (size_bytes == 0) {
        return 0;
    }
    enum format format = (enum format)(data[0] % FORMAT_COUNT);
    char *value = copy_exactly(data + 1, size_bytes - 1);
    struct weir_record records[3] = {
        {.value = weir_view_of(first[format])},
        {.value = {.data = value, .size_bytes = size_bytes - 1}},
        {.value = weir_view_of(last[format])},
    };
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_decoder *decoder = create(format);
    struct weir_decoded decoded;
    weir_decoder_decode(decoder, records, 3, arena, &decoded);
    check(format, &decoded);
    weir_decoder_destroy(decoder);
    weir_arena_destroy(arena);
    free(value);
    return 0;
}
