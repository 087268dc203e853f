// SPDX-License-Identifier: Apache-2.0
// Rows to Avro, and back by the decoder that test_avro_program.c checks on its own.
#include "../cmocka_all.h"
#include "avro_case.h"
#include "kafka/avro_derive.h"
#include "kafka/avro_encode.h"

enum { COLUMNS_MAX = 24 };

// Values as texts, put into columns, encoded, and decoded again.
struct round_trip {
    struct avro_case run;
    struct weir_schema schema;
    struct weir_column columns[COLUMNS_MAX];
    struct weir_encoder *encoder;
    struct weir_buffer bytes;
    struct weir_encoded encoded;
};

static void begin(struct round_trip *trip, uint32_t count, const struct weir_field *fields,
                  const char *const *texts)
{
    memset(trip, 0, sizeof *trip);
    avro_case_begin(&trip->run);
    trip->schema = (struct weir_schema){count, fields};
    for (uint32_t i = 0; i < count; i++) {
        weir_column_init(&trip->columns[i], &fields[i].type, 1, true, trip->run.arena);
        struct weir_value_error error;
        if (texts[i] != NULL && !weir_text_parse(&trip->columns[i], 0, weir_view_of(texts[i]),
                                                 trip->run.arena, &error)) {
            fail_msg("%s: %s", fields[i].name, error.text);
        }
    }
}

static const char *encode_as(struct round_trip *trip, const char *schema)
{
    uint32_t idxs[COLUMNS_MAX];
    for (uint32_t i = 0; i < COLUMNS_MAX; i++) {
        idxs[i] = i;
    }
    struct weir_error error;
    if (weir_avro_encoder_create(
            &(struct weir_avro_encode_config){.schema = &trip->schema,
                                              .column_count = trip->schema.column_count,
                                              .column_idxs = idxs,
                                              .type = avro_case_add(&trip->run, 1, schema),
                                              .id = 1},
            &trip->encoder, &error) != WEIR_OK) {
        return weir_arena_strdup(trip->run.arena, error.text);
    }
    struct weir_batch batch = {.schema = &trip->schema,
                               .row_count = 1,
                               .selected_count = 1,
                               .columns = trip->columns,
                               .arena = trip->run.arena};
    weir_encoder_encode(trip->encoder, &batch, 0, 1, &trip->bytes, &trip->encoded);
    return trip->encoded.failure;
}

static const char *hex(struct round_trip *trip)
{
    struct weir_buffer text = {0};
    for (size_t i = 0; i < trip->encoded.size_bytes; i++) {
        weir_buffer_printf(&text, "%02x",
                           (uint8_t)trip->bytes.data[trip->encoded.offset_bytes + i]);
    }
    char *copy = weir_arena_strdup(trip->run.arena, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return copy;
}

static void end(struct round_trip *trip)
{
    weir_encoder_destroy(trip->encoder);
    weir_buffer_deinit(&trip->bytes);
    avro_case_end(&trip->run);
}

static const struct weir_field inner_fields[] = {{"x", PLAIN(BIGINT)}, {"y", PLAIN(TEXT)}};
static const struct weir_composite inner = {"pair", 2, inner_fields};
static const struct weir_field int_element = {"", PLAIN(INTEGER)};
static const struct weir_composite int_array = {"", 1, &int_element};
static const struct weir_field pair_element = {"", {WEIR_TYPE_COMPOSITE, -1, &inner}};
static const struct weir_composite pair_array = {"", 1, &pair_element};

static const struct weir_field every_field[] = {
    {"a", PLAIN(BOOLEAN)},
    {"b", PLAIN(SMALLINT)},
    {"c", PLAIN(INTEGER)},
    {"d", PLAIN(BIGINT)},
    {"e", PLAIN(REAL)},
    {"f", PLAIN(DOUBLE)},
    {"g", NUMERIC(12, 3)},
    {"h", PLAIN(NUMERIC)},
    {"i", PLAIN(TEXT)},
    {"j", VARCHAR(5)},
    {"k", PLAIN(BYTEA)},
    {"l", PLAIN(DATE)},
    {"m", PLAIN(TIME)},
    {"n", PLAIN(TIMESTAMP)},
    {"o", PLAIN(TIMESTAMPTZ)},
    {"p", PLAIN(INTERVAL)},
    {"q", PLAIN(UUID)},
    {"r", PLAIN(JSONB)},
    {"s", PLAIN(JSON)},
    {"t", {WEIR_TYPE_COMPOSITE, -1, &inner}},
    {"u", {WEIR_TYPE_ARRAY, -1, &int_array}},
    {"v", {WEIR_TYPE_ARRAY, -1, &pair_array}},
};
enum { EVERY_COUNT = sizeof every_field / sizeof every_field[0] };

static const char *derive(struct round_trip *trip, bool is_not_null)
{
    struct weir_avro_derive_column columns[COLUMNS_MAX];
    for (uint32_t i = 0; i < trip->schema.column_count; i++) {
        columns[i] = (struct weir_avro_derive_column){&trip->schema.columns[i], is_not_null};
    }
    struct weir_buffer text = {0};
    struct weir_error error;
    assert_int_equal(weir_avro_derive("t", "weir", "Rows of table t", trip->schema.column_count,
                                      columns, &text, &error),
                     WEIR_OK);
    char *copy = weir_arena_strdup(trip->run.arena, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return copy;
}

static void test_every_type_there_and_back(void **state)
{
    static const char *const values[] = {"t",
                                         "-32768",
                                         "2147483647",
                                         "-9223372036854775808",
                                         "1.5",
                                         "-0.1",
                                         "-123456789.250",
                                         "3.14159265358979323846264338327950288",
                                         "\xc3\xa4 b",
                                         "abcde",
                                         "\\x00ff",
                                         "2024-02-29",
                                         "23:59:59.999999",
                                         "1969-12-31 23:59:59.999999",
                                         "2024-05-06 07:08:09.654321+00",
                                         "1 mon -2 days 03:00:00.5",
                                         "6f1c2a8e-0000-4000-8000-0123456789ab",
                                         "{\"a\": [1, null, \"x\"]}",
                                         "{\"k\":1}",
                                         "(7,\"a b\")",
                                         "{1,NULL,-3}",
                                         "{\"(1,x)\",NULL,\"(,)\"}"};
    static const char *const nulls[EVERY_COUNT] = {0};
    static const struct weir_avro_decode_options options = {.timestamp_digits = MILLISECONDS};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct round_trip trip;
        begin(&trip, EVERY_COUNT, every_field, i == 2 ? nulls : values);
        const char *failure = encode_as(&trip, derive(&trip, i == 1));
        if (failure != NULL) {
            fail_msg("%s", failure);
        }
        struct weir_buffer expected = {0};
        for (uint32_t j = 0; j < EVERY_COUNT; j++) {
            weir_buffer_append(&expected, "|", j != 0);
            append_value(&expected, &trip.columns[j], 0);
        }
        const char *frame = hex(&trip);
        avro_case_decode(&trip.run, &trip.schema, options, &frame, 1);
        if (trip.run.decoded.row_count != 1) {
            fail_msg("%s", trip.run.decoded.bad[0].message);
        }
        assert_string_equal(trip.run.text.data, weir_buffer_text(&expected));
        weir_buffer_deinit(&expected);
        end(&trip);
    }
}

struct byte_case {
    struct weir_type type;
    const char *text; // NULL: NULL
    const char *schema;
    const char *expected; // the body in hex; a failure begins with a !
};

// C022: the bytes, not only round trips.
static void test_bytes_and_failures(void **state)
{
    static const char micros[] = "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}";
    static const char millis[] = "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}";
    static const char decimal[] =
        "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":2}";
    static const char fixed[] = "{\"type\":\"fixed\",\"name\":\"f\",\"size\":4,\"logicalType\":"
                                "\"decimal\",\"precision\":9,\"scale\":1}";
    static const char symbols[] = "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]}";
    static const char duration[] =
        "{\"type\":\"fixed\",\"name\":\"d\",\"size\":12,\"logicalType\":\"duration\"}";
    static const struct byte_case cases[] = {
        {PLAIN(TIMESTAMPTZ), "2022-04-15 05:20:00.123456+00", micros, "808998fed1aaee05"},
        {PLAIN(TIMESTAMPTZ), "2022-04-15 05:20:00.123456+00", millis, "f6d1cfba8560"},
        {PLAIN(TIMESTAMP), "1969-12-31 23:59:59.9999", millis, "01"},
        {PLAIN(TIMESTAMPTZ), "infinity", micros, "!infinite timestamp"},
        {PLAIN(DATE), "-infinity", "{\"type\":\"int\",\"logicalType\":\"date\"}", "!infinite date"},
        {PLAIN(NUMERIC), "12.345", decimal, "0404d3"}, // 12.35
        {PLAIN(NUMERIC), "0", decimal, "0200"},
        {PLAIN(NUMERIC), "100", decimal, "!numeric field overflow"},
        {PLAIN(NUMERIC), "NaN", decimal, "!do not fit an Avro decimal"},
        {PLAIN(NUMERIC), "-0.1", fixed, "ffffffff"},
        {PLAIN(INTEGER), "7", fixed, "00000046"},
        {PLAIN(BIGINT), "2147483648", "\"int\"", "!does not fit an Avro int"},
        {PLAIN(BIGINT), "-1", "[\"string\",\"null\",\"long\"]", "0401"},
        {PLAIN(BIGINT), NULL, "[\"string\",\"null\",\"long\"]", "02"},
        {PLAIN(BIGINT), "42", "[\"string\",\"null\"]", "00043432"},
        {PLAIN(BIGINT), NULL, "\"long\"", "!NULL, and the schema has no null"},
        {PLAIN(TEXT), "B", symbols, "02"},
        {PLAIN(TEXT), "C", symbols, "!\"C\" is no symbol of enum e"},
        {PLAIN(BYTEA), "\\x0102", "{\"type\":\"fixed\",\"name\":\"g\",\"size\":3}",
         "!do not fit a fixed of 3"},
        {PLAIN(INTERVAL), "1 mon 2 days 00:00:00.003", duration, "010000000200000003000000"},
        {PLAIN(INTERVAL), "-1 day", duration, "!has no sign"},
        {PLAIN(BOOLEAN), "t", "\"long\"", "!column \"v\" is of type boolean, the schema has long"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct round_trip trip;
        const struct weir_field field = {"v", cases[i].type};
        begin(&trip, 1, &field, &cases[i].text);
        const char *failure = encode_as(
            &trip, weir_arena_printf(trip.run.arena,
                                     "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":"
                                     "\"v\",\"type\":%s}]}",
                                     cases[i].schema));
        if (cases[i].expected[0] == '!') {
            if (failure == NULL || strstr(failure, cases[i].expected + 1) == NULL) {
                fail_msg("case %zu: %s", i, failure != NULL ? failure : hex(&trip));
            }
        } else if (failure != NULL || strcmp(hex(&trip) + 10, cases[i].expected) != 0) {
            fail_msg("case %zu: %s", i, failure != NULL ? failure : hex(&trip));
        }
        end(&trip);
    }
}

static void test_a_registered_schema_with_other_fields(void **state)
{
    static const struct weir_field fields[] = {{"a", PLAIN(INTEGER)}, {"b", PLAIN(TEXT)}};
    static const char *const texts[] = {"1", "x"};
    static const struct {
        const char *schema;
        const char *fault; // NULL: fits
        const char *bytes;
    } cases[] = {
        {"{\"type\":\"record\",\"name\":\"com.acme.R\",\"fields\":[{\"name\":\"b\",\"type\":"
         "\"string\"},{\"name\":\"c\",\"type\":\"int\",\"default\":5},{\"name\":\"a\",\"type\":"
         "\"long\"}]}",
         NULL, "000000000102780a02"},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"b\",\"type\":\"string\"},"
         "{\"name\":\"c\",\"type\":\"int\"},{\"name\":\"a\",\"type\":\"long\"}]}",
         "field \"c\" of the schema has no column, and no default", NULL},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"b\",\"type\":\"string\"}]}",
         "column \"a\" has no field in the schema", NULL},
        {"\"string\"", "the schema is no record", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct round_trip trip;
        begin(&trip, 2, fields, texts);
        const char *fault = encode_as(&trip, cases[i].schema);
        if (cases[i].fault == NULL) {
            assert_null(fault);
            assert_string_equal(hex(&trip), cases[i].bytes);
        } else {
            assert_string_equal(fault, cases[i].fault);
        }
        end(&trip);
    }
}

static void test_names_that_avro_does_not_take(void **state)
{
    static const struct weir_field field = {"a b", PLAIN(INTEGER)};
    const struct weir_avro_derive_column column = {&field, false};
    struct weir_buffer text = {0};
    struct weir_error error;
    (void)state;
    assert_int_equal(weir_avro_derive("t", "weir", "", 1, &column, &text, &error), WEIR_ERROR);
    assert_string_equal(error.text, "column \"a b\" cannot be a name in Avro: letters, digits and "
                                    "underscores, no digit first");
    weir_buffer_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_there_and_back),
        cmocka_unit_test(test_bytes_and_failures),
        cmocka_unit_test(test_a_registered_schema_with_other_fields),
        cmocka_unit_test(test_names_that_avro_does_not_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
