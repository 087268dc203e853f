// SPDX-License-Identifier: Apache-2.0
// Any bytes as a message value. Held against two other parsers: what is JSON must be what yyjson
// takes, and the columns must hold what jansson's tree says. The input is decoded between two known
// records, which must come out right whatever it is; and by a decoder that has seen all former
// inputs as well as by a new one, which must agree.
#include "fuzz.h"
#include "json_model.h"
#include "kafka/json_decode.h"
#include "runtime/types/text_io.h"

#include <yyjson.h>

static const struct weir_field innermost_fields[] = {{"d", {WEIR_TYPE_DOUBLE, -1, NULL}},
                                                     {"t", {WEIR_TYPE_TEXT, -1, NULL}}};
static const struct weir_composite innermost = {"innermost", 2, innermost_fields};
static const struct weir_field inner_fields[] = {{"i", {WEIR_TYPE_BIGINT, -1, NULL}},
                                                 {"o", {WEIR_TYPE_COMPOSITE, -1, &innermost}},
                                                 {"t", {WEIR_TYPE_TEXT, -1, NULL}}};
static const struct weir_composite inner = {"inner", 3, inner_fields};
static const struct weir_field fields[] = {
    {"t", {WEIR_TYPE_TEXT, -1, NULL}},
    {"i", {WEIR_TYPE_BIGINT, -1, NULL}},
    {"s", {WEIR_TYPE_SMALLINT, -1, NULL}},
    {"d", {WEIR_TYPE_DOUBLE, -1, NULL}},
    {"b", {WEIR_TYPE_BOOLEAN, -1, NULL}},
    {"n", {WEIR_TYPE_NUMERIC, -1, NULL}},
    {"v", {WEIR_TYPE_VARCHAR, 3, NULL}},
    {"x", {WEIR_TYPE_BYTEA, -1, NULL}},
    {"z", {WEIR_TYPE_TIMESTAMPTZ, -1, NULL}},
    {"j", {WEIR_TYPE_JSONB, -1, NULL}},
    {"o", {WEIR_TYPE_COMPOSITE, -1, &inner}},
    {"a longer \xc3\xa4 name", {WEIR_TYPE_TEXT, -1, NULL}},
};
static const struct weir_schema schema = {sizeof fields / sizeof fields[0], fields};
static const struct weir_schema no_columns = {0, NULL};

static bool yyjson_takes(struct weir_view text)
{
    yyjson_doc *document = yyjson_read(text.data, text.size_bytes, YYJSON_READ_NUMBER_AS_RAW);
    bool is_object = document != NULL && yyjson_is_obj(yyjson_doc_get_root(document));
    yyjson_doc_free(document);
    return is_object;
}

static void append_value(struct weir_buffer *out, const struct weir_column *column, uint32_t row)
{
    if (!weir_column_is_valid(column, row)) {
        weir_buffer_printf(out, "NULL|");
        return;
    }
    if (column->type.kind != WEIR_TYPE_COMPOSITE) {
        weir_text_append(out, column, row);
        weir_buffer_append_char(out, '|');
        return;
    }
    for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
        append_value(out, &column->children[i], row);
    }
}

static void append_decoded(struct weir_buffer *out, const struct weir_decoded *decoded)
{
    for (uint32_t i = 0; i < decoded->bad_count; i++) {
        weir_buffer_printf(out, "%u %d %s\n", decoded->bad[i].record_idx,
                           (int)decoded->bad[i].reason, decoded->bad[i].message);
    }
    for (uint32_t row = 0; row < decoded->row_count; row++) {
        for (uint32_t i = 0; i < schema.column_count; i++) {
            append_value(out, &decoded->columns[i], row);
        }
    }
}

// The records around the input.
static void check_frame(const struct weir_decoded *decoded)
{
    require(decoded->row_count >= 2 && decoded->row_count + decoded->bad_count == 3, "rows");
    require(decoded->null_value_count == 0, "null values");
    uint32_t last = decoded->row_count - 1;
    const struct weir_column *t = &decoded->columns[0];
    require(!weir_column_is_valid(&decoded->columns[1], 0), "the record before it: i");
    require(weir_view_equal(t->view[0], weir_view_of("before")), "the record before it: t");
    require(decoded->columns[1].i64[last] == 7, "the record behind it: i");
    for (uint32_t i = 0; i < schema.column_count; i++) {
        require(i == 1 || !weir_column_is_valid(&decoded->columns[i], last),
                "the record behind it: NULL");
    }
}

static void check_row(const struct weir_decoded *decoded, struct weir_view text)
{
    json_error_t error;
    json_t *tree = json_loadb(text.data, text.size_bytes, JSON_ALLOW_NUL, &error);
    if (tree == NULL) {
        // What jansson has limits for: numbers, depth, U+0000 in names.
        enum json_error_code code = json_error_code(&error);
        require(code == json_error_numeric_overflow || code == json_error_stack_overflow ||
                    code == json_error_null_byte_in_key,
                "jansson takes it for no JSON");
        return;
    }
    enum json_verdict verdict = JSON_ACCEPT;
    for (uint32_t i = 0; i < schema.column_count; i++) {
        enum json_verdict of_column =
            json_model_verdict(&fields[i].type, json_object_get(tree, fields[i].name));
        if (of_column == JSON_REJECT || verdict == JSON_REJECT) {
            verdict = JSON_REJECT;
        } else if (of_column == JSON_UNDECIDED) {
            verdict = JSON_UNDECIDED;
        }
    }
    bool is_row = decoded->bad_count == 0;
    require(verdict != JSON_REJECT || !is_row, "a value was taken that fits no column");
    require(verdict != JSON_ACCEPT || is_row, "a good value was refused");
    for (uint32_t i = 0; is_row && i < schema.column_count; i++) {
        json_model_check(&decoded->columns[i], 1, json_object_get(tree, fields[i].name));
    }
    json_decref(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static struct weir_decoder *old_decoder;
    const struct weir_json_decode_options options = {.timestamp_digits = 3};
    if (old_decoder == NULL) {
        old_decoder = weir_json_decoder_create(&schema, &options);
    }
    char *block = copy_exactly(data, size_bytes);
    struct weir_view text = {.data = block, .size_bytes = size_bytes};
    struct weir_record records[3] = {0};
    records[0].value = weir_view_of("{\"t\":\"before\",\"o\":{\"t\":\"x\"}}");
    records[1].value = text;
    records[2].value = weir_view_of("{\"i\":7}");

    struct weir_arena *arena = weir_arena_create(64 * 1024);
    struct weir_decoder *decoder = weir_json_decoder_create(&schema, &options);
    struct weir_decoder *counter = weir_json_decoder_create(&no_columns, &options);
    struct weir_decoded decoded;
    struct weir_decoded decoded_again;
    struct weir_decoded counted;
    weir_decoder_decode(decoder, records, 3, arena, &decoded);
    weir_decoder_decode(old_decoder, records, 3, arena, &decoded_again);
    weir_decoder_decode(counter, &records[1], 1, arena, &counted);

    struct weir_buffer texts[2] = {{0}};
    append_decoded(&texts[0], &decoded);
    append_decoded(&texts[1], &decoded_again);
    require(is_same_bytes(&texts[0], &texts[1]), "the result depends on former records");
    check_frame(&decoded);
    require((counted.row_count == 1) == yyjson_takes(text), "what is a JSON object");
    if (counted.row_count == 1) {
        check_row(&decoded, text);
    } else {
        require(decoded.bad_count == 1, "a malformed record became a row");
    }
    weir_buffer_deinit(&texts[0]);
    weir_buffer_deinit(&texts[1]);
    weir_decoder_destroy(decoder);
    weir_decoder_destroy(counter);
    weir_arena_destroy(arena);
    free(block);
    return 0;
}
