// SPDX-License-Identifier: Apache-2.0
// Any bytes as a message of a keyed topic, or of one in the format raw, and any JSON as the column
// that headers are made of. The first byte chooses how; of keyed messages the first line is the
// key. The record stands between two known ones, which must come out right whatever it is.
#include "fuzz.h"
#include "kafka/avro_given.h"
#include "kafka/json_debezium.h"
#include "kafka/json_decode.h"
#include "kafka/json_headers.h"
#include "kafka/keyed_decode.h"
#include "kafka/raw_format.h"
#include "runtime/types/array.h"
#include "runtime/types/json_out.h"
#include "runtime/types/text_io.h"

enum format {
    KEYED_JSON,
    KEYED_RAW,
    KEYED_EVENTS,
    KEYED_AVRO,
    RAW_TEXT,
    RAW_BYTES,
    HEADERS_OBJECT,
    HEADERS_TEXTS,
    FORMAT_COUNT
};

static const struct weir_field fields[] = {
    {"id", {WEIR_TYPE_INTEGER, -1, NULL}},
    {"v", {WEIR_TYPE_TEXT, -1, NULL}},
    {"n", {WEIR_TYPE_NUMERIC, 10 << 16 | (2 + 4), NULL}},
};
static const struct weir_schema schema = {3, fields};
static const struct weir_schema key_schema = {1, fields};
static const uint32_t key_columns[] = {0};
static const struct weir_field text_field = {"t", {WEIR_TYPE_TEXT, -1, NULL}};
static const struct weir_field bytes_field = {"b", {WEIR_TYPE_BYTEA, -1, NULL}};
static const struct weir_schema text_schema = {1, &text_field};
static const struct weir_schema bytes_schema = {1, &bytes_field};
static const struct weir_composite texts = {"", 1, &text_field};

static struct weir_decoder *create_keyed(enum format format, struct weir_arena *arena)
{
    const struct weir_json_decode_options options = {.timestamp_digits = 3};
    struct weir_keyed_decoder_config config = {
        .schema = &schema, .key_count = 1, .key_columns = key_columns};
    if (format == KEYED_AVRO) {
        struct weir_avro_given *given;
        struct weir_error error;
        require(weir_avro_given_create(arena, WEIR_AVRO_FRAMING_NONE,
                                       "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                                       "{\"name\":\"v\",\"type\":[\"null\",\"string\"]}]}",
                                       &given, &error) == WEIR_OK,
                error.text);
        const struct weir_avro_decode_options avro = {
            .schemas = &given->schemas, .frame = given->frame, .timestamp_digits = 3};
        config.value_decoder = weir_avro_decoder_create(&schema, &avro);
    } else if (format == KEYED_EVENTS) {
        config.value_decoder = weir_debezium_decoder_create(&schema, &options);
    } else {
        config.value_decoder = weir_json_decoder_create(&schema, &options);
    }
    config.key_decoder = format == KEYED_RAW ? weir_raw_decoder_create(&key_schema)
                         : format == KEYED_EVENTS
                             ? weir_debezium_key_decoder_create(&key_schema, &options)
                             : weir_json_decoder_create(&key_schema, &options);
    return weir_keyed_decoder_create(&config);
}

static void check_rows(const struct weir_schema *of, const struct weir_decoded *decoded)
{
    struct weir_buffer json = {0};
    for (uint32_t row = 0; row < decoded->row_count; row++) {
        weir_json_append_row(&json, of, decoded->columns, row);
    }
    weir_buffer_deinit(&json);
    for (uint32_t i = 0; i < decoded->bad_count; i++) {
        require(decoded->bad[i].record_idx == 1 && decoded->bad[i].message[0] != '\0',
                "a record is bad that is not");
    }
}

// The first and the last one delete the keys 1 and 3.
static void check_keyed(enum format format, struct weir_view input, struct weir_arena *arena)
{
    struct weir_record records[3] = {0};
    const char *end = memchr(input.data, '\n', input.size_bytes);
    size_t key_bytes = end != NULL ? (size_t)(end - input.data) : input.size_bytes;
    records[0].key = weir_view_of(format == KEYED_RAW ? "1" : "{\"id\":1}");
    records[1].key = (struct weir_view){input.data, key_bytes};
    if (end != NULL) {
        records[1].value = (struct weir_view){end + 1, input.size_bytes - key_bytes - 1};
    }
    records[2].key = weir_view_of(format == KEYED_RAW ? "3" : "{\"id\":3}");
    struct weir_decoder *decoder = create_keyed(format, arena);
    struct weir_decoded decoded;
    weir_decoder_decode(decoder, records, 3, arena, &decoded);
    require(decoded.row_count >= 2 && decoded.row_count + decoded.bad_count <= 3,
            "a good record is lost, or one is two");
    require(decoded.columns[0].i32[0] == 1 && decoded.columns[0].i32[decoded.row_count - 1] == 3,
            "a good record is another");
    require(decoded.change[0] == WEIR_CHANGE_DELETE &&
                decoded.change[decoded.row_count - 1] == WEIR_CHANGE_DELETE,
            "a tombstone does not delete");
    require(decoded.columns[0].validity == NULL || decoded.row_count == 2 ||
                weir_column_is_valid(&decoded.columns[0], 1),
            "a row without its key");
    check_rows(&schema, &decoded);
    weir_decoder_destroy(decoder);
}

static void check_raw(enum format format, struct weir_view input, struct weir_arena *arena)
{
    const struct weir_schema *of = format == RAW_TEXT ? &text_schema : &bytes_schema;
    struct weir_record records[3] = {0};
    struct weir_value_error error;
    records[0].value = weir_view_of("a");
    records[1].value = input;
    records[2].value = weir_view_of("z");
    struct weir_decoder *decoder = weir_raw_decoder_create(of);
    struct weir_decoded decoded;
    weir_decoder_decode(decoder, records, 3, arena, &decoded);
    require(decoded.bad_count == (format == RAW_TEXT && !weir_text_validate(input, &error)),
            "what is text");
    require(decoded.row_count + decoded.bad_count == 3, "neither row nor bad");
    if (decoded.bad_count == 0) {
        require(weir_view_equal(decoded.columns[0].view[1], input), "not the bytes of the record");
    }
    check_rows(of, &decoded);
    weir_decoder_destroy(decoder);
}

static void check_headers(enum format format, struct weir_view input, struct weir_arena *arena)
{
    const struct weir_type types[] = {{WEIR_TYPE_JSONB, -1, NULL}, {WEIR_TYPE_ARRAY, -1, &texts}};
    struct weir_column column;
    struct weir_value_error error;
    struct weir_row_headers list = {0};
    const char *why = NULL;
    weir_column_init(&column, &types[format == HEADERS_TEXTS], 1, true, arena);
    if (!weir_text_validate(input, &error) || !weir_text_parse(&column, 0, input, arena, &error)) {
        return;
    }
    if (weir_row_headers_read(&list, &column, 0, arena, &why)) {
        size_t sum = 0;
        for (uint32_t i = 0; i < list.count; i++) {
            struct weir_view value = list.headers[i].value;
            sum += strlen(list.headers[i].name);
            for (size_t j = 0; value.data != NULL && j < value.size_bytes; j++) {
                sum += (unsigned char)value.data[j];
            }
        }
        require(list.count > 0 || sum == 0, "a sum of nothing");
    } else {
        require(why != NULL && why[0] != '\0', "headers are refused without a word");
    }
    weir_row_headers_deinit(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) {
        return 0;
    }
    char *block = copy_exactly(data + 1, size_bytes - 1);
    struct weir_view input = {block, size_bytes - 1};
    struct weir_arena *arena = weir_arena_create(16 * 1024);
    enum format format = (enum format)(data[0] % FORMAT_COUNT);
    if (format <= KEYED_AVRO) {
        check_keyed(format, input, arena);
    } else if (format <= RAW_BYTES) {
        check_raw(format, input, arena);
    } else {
        check_headers(format, input, arena);
    }
    weir_arena_destroy(arena);
    free(block);
    return 0;
}
