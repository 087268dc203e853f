// SPDX-License-Identifier: Apache-2.0
// One given schema: its fingerprint (expected values are fastavro's), and what is not framed by it.
#include "../cmocka_all.h"
#include "avro_case.h"
#include "kafka/avro_encode.h"
#include "kafka/avro_given.h"

static const struct weir_field fields[] = {{"n", PLAIN(BIGINT)}, {"t", PLAIN(TEXT)}};
static const struct weir_schema schema = {2, fields};
static const char record[] = "{\"type\":\"record\",\"name\":\"r\",\"doc\":\"left out\",\"fields\":["
                             "{\"name\":\"n\",\"type\":\"long\",\"default\":3},"
                             "{\"name\":\"t\",\"type\":\"string\"}]}";

static void test_fingerprints(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(4096);
    static const struct {
        const char *schema;
        const char *frame; // hex, behind C3 01
    } cases[] = {
        {"\"int\"", "8f5c393f1ad57572"},
        {"{\"type\":\"null\"}", "8a8f25cce724dd63"},
        {"{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"com.acme\",\"doc\":\"x\","
         "\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"default\":1},{\"name\":\"e\",\"type\":"
         "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}},{\"name\":\"f\",\"type\":"
         "{\"type\":\"fixed\",\"name\":\"F\",\"size\":4}},{\"name\":\"a\",\"type\":{\"type\":"
         "\"array\",\"items\":[\"null\",\"com.acme.E\"]}},{\"name\":\"at\",\"type\":{\"type\":"
         "\"long\",\"logicalType\":\"timestamp-millis\"}}]}",
         "e096bd6df7ecdb71"},
        {record, "b12fc0c2bd7d6d31"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_avro_given *given;
        struct weir_error error;
        assert_int_equal(weir_avro_given_create(arena, WEIR_AVRO_FRAMING_SINGLE_OBJECT,
                                                cases[i].schema, &given, &error),
                         WEIR_OK);
        struct weir_buffer hex = {0};
        for (uint32_t j = 0; j < given->frame.size_bytes; j++) {
            weir_buffer_printf(&hex, "%02x", (uint8_t)given->frame.bytes[j]);
        }
        assert_memory_equal(weir_buffer_text(&hex), "c301", 4);
        assert_string_equal(hex.data + 4, cases[i].frame);
        weir_buffer_deinit(&hex);
    }
    struct weir_avro_given *given;
    struct weir_error error;
    assert_int_equal(
        weir_avro_given_create(arena, WEIR_AVRO_FRAMING_NONE, "\"lnog\"", &given, &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    weir_arena_destroy(arena);
}

// What is encoded, and what comes of it and of others beside it.
static void test_there_and_back(void **state)
{
    static const enum weir_avro_framing framings[] = {WEIR_AVRO_FRAMING_SINGLE_OBJECT,
                                                      WEIR_AVRO_FRAMING_NONE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        static const uint32_t idxs[] = {0, 1};
        struct weir_arena *arena = weir_arena_create(4096);
        struct weir_avro_given *given;
        struct weir_error error;
        struct weir_encoder *encoder;
        assert_int_equal(weir_avro_given_create(arena, framings[i], record, &given, &error),
                         WEIR_OK);
        struct weir_avro_encode_config config = {.schema = &schema,
                                                 .column_count = 2,
                                                 .column_idxs = idxs,
                                                 .type = given->type,
                                                 .frame = given->frame};
        assert_int_equal(weir_avro_encoder_create(&config, &encoder, &error), WEIR_OK);
        struct weir_column columns[2];
        weir_column_init(&columns[0], &fields[0].type, 1, false, arena);
        weir_column_init(&columns[1], &fields[1].type, 1, false, arena);
        columns[0].i64[0] = -5;
        columns[1].view[0] = weir_view_of("text");
        const struct weir_batch batch = {.schema = &schema,
                                         .row_count = 1,
                                         .selected_count = 1,
                                         .columns = columns,
                                         .arena = arena};
        struct weir_buffer out = {0};
        struct weir_encoded encoded;
        weir_encoder_encode(encoder, &batch, 0, 1, &out, &encoded);
        struct weir_view bytes = weir_encoded_view(&out, &encoded);
        assert_int_equal(bytes.size_bytes, given->frame.size_bytes + 6);
        assert_memory_equal(bytes.data + given->frame.size_bytes, "\x09\x08text", 6);
        struct weir_record records[4] = {{.value = bytes},
                                         {.value = weir_view_of("\xc3\x01"
                                                                "12345678\x02\x02x")},
                                         {.value = weir_view_of("{}")},
                                         {.value = bytes}};
        struct weir_decoder *decoder = weir_avro_decoder_create(
            &schema,
            &(struct weir_avro_decode_options){.schemas = &given->schemas, .frame = given->frame});
        struct weir_decoded decoded;
        weir_decoder_decode(decoder, records, 4, arena, &decoded);
        assert_int_equal(decoded.row_count, 2);
        assert_int_equal(decoded.columns[0].i64[1], -5);
        assert_true(weir_view_equal(decoded.columns[1].view[0], weir_view_of("text")));
        assert_int_equal(decoded.bad_count, 2);
        bool is_marked = framings[i] == WEIR_AVRO_FRAMING_SINGLE_OBJECT;
        assert_int_equal(decoded.bad[0].reason,
                         is_marked ? WEIR_ROW_ERROR_SCHEMA : WEIR_ROW_ERROR_DECODE);
        assert_int_equal(decoded.bad[1].reason,
                         is_marked ? WEIR_ROW_ERROR_FRAMING : WEIR_ROW_ERROR_DECODE);
        weir_decoder_destroy(decoder);
        weir_encoder_destroy(encoder);
        weir_buffer_deinit(&out);
        weir_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprints),
        cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
