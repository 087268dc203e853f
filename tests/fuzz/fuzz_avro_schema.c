// SPDX-License-Identifier: Apache-2.0
// Any text as an Avro schema, and any bytes as a record of it: up to the first zero byte the
// writer's schema, behind it the record. The first byte chooses the framing and which columns there
// are. A schema that is understood is understood again in its canonical form; a record that it
// takes is written by it, where the columns allow, and read again.
#include "fuzz.h"
#include "kafka/avro_decode.h"
#include "kafka/avro_encode.h"
#include "kafka/avro_given.h"
#include "runtime/types/array.h"

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }
static const struct weir_field inner_fields[] = {{"x", PLAIN(BIGINT)}, {"y", PLAIN(TEXT)}};
static const struct weir_composite inner = {"pair", 2, inner_fields};
static const struct weir_field element = {"", PLAIN(INTEGER)};
static const struct weir_composite array = {"", 1, &element};
static const struct weir_field fields[] = {
    {"a", PLAIN(TEXT)},
    {"b", PLAIN(BIGINT)},
    {"c", PLAIN(NUMERIC)},
    {"d", PLAIN(TIMESTAMP)},
    {"e", PLAIN(BYTEA)},
    {"f", {WEIR_TYPE_COMPOSITE, -1, &inner}},
    {"g", {WEIR_TYPE_ARRAY, -1, &array}},
    {"h", PLAIN(DOUBLE)},
    {"i", PLAIN(JSONB)},
    {"j", PLAIN(BOOLEAN)},
};
static const struct weir_schema wide = {sizeof fields / sizeof fields[0], fields};
static const struct weir_schema narrow = {1, fields + 8}; // jsonb takes whatever it is
static const uint32_t idxs[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

// A reader's schema with defaults and an alias.
static const char reader_text[] =
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
    "{\"name\":\"a\",\"type\":\"string\",\"default\":\"x\",\"aliases\":[\"z\"]},"
    "{\"name\":\"b\",\"type\":\"long\",\"default\":7},"
    "{\"name\":\"g\",\"type\":{\"type\":\"array\",\"items\":\"int\"},\"default\":[1,2]},"
    "{\"name\":\"h\",\"type\":\"double\",\"default\":0.5},"
    "{\"name\":\"j\",\"type\":[\"null\",\"boolean\"],\"default\":null}]}";

static void check_canonical(struct weir_arena *arena, const struct weir_avro_type *type)
{
    struct weir_buffer texts[2] = {{0}};
    const struct weir_avro_type *again;
    struct weir_error error;
    weir_avro_schema_append_canonical(type, &texts[0]);
    struct weir_view view = {texts[0].data, texts[0].size_bytes};
    require(weir_avro_schema_parse(arena, 0, NULL, view, &again, &error) == WEIR_OK, error.text);
    weir_avro_schema_append_canonical(again, &texts[1]);
    require(is_same_bytes(&texts[0], &texts[1]), "another canonical form");
    require(type->kind == again->kind && type->depth == again->depth, "another schema");
    weir_buffer_deinit(&texts[0]);
    weir_buffer_deinit(&texts[1]);
}

// The row is written by its own schema; what does not fit is said.
static void check_again(const struct weir_schema *schema, const struct weir_avro_given *given,
                        struct weir_decoder *decoder, const struct weir_decoded *decoded,
                        struct weir_arena *arena)
{
    const struct weir_avro_encode_config config = {.schema = schema,
                                                   .column_count = schema->column_count,
                                                   .column_idxs = idxs,
                                                   .type = given->type,
                                                   .frame = given->frame};
    struct weir_encoder *encoder;
    struct weir_error error;
    if (weir_avro_encoder_create(&config, &encoder, &error) != WEIR_OK) {
        require(error.text[0] != '\0', "an encoder is refused without a word");
        return;
    }
    struct weir_batch batch = {.schema = schema,
                               .row_count = 1,
                               .selected_count = 1,
                               .columns = decoded->columns,
                               .arena = arena};
    struct weir_buffer bytes = {0};
    struct weir_encoded encoded;
    weir_encoder_encode(encoder, &batch, 0, 1, &bytes, &encoded);
    if (encoded.failure == NULL) {
        struct weir_record record = {.value = weir_encoded_view(&bytes, &encoded)};
        struct weir_decoded again;
        weir_decoder_decode(decoder, &record, 1, arena, &again);
        require(again.row_count == 1, "what was written cannot be read");
    }
    weir_buffer_deinit(&bytes);
    weir_encoder_destroy(encoder);
}

static void check_record(uint8_t choice, const struct weir_avro_given *given,
                         struct weir_view input, struct weir_arena *arena)
{
    const struct weir_avro_type *reader;
    struct weir_error error;
    const struct weir_schema *schema = (choice & 2) != 0 ? &wide : &narrow;
    require(weir_avro_schema_parse(arena, 0, NULL, weir_view_of(reader_text), &reader, &error) ==
                WEIR_OK,
            error.text);
    const struct weir_avro_decode_options options = {
        .schemas = (struct weir_avro_schemas *)&given->schemas,
        .reader = (choice & 4) != 0 ? reader : NULL,
        .is_reader_strict = (choice & 8) != 0,
        .is_single_column = schema == &narrow,
        .timestamp_digits = 6,
        .frame = given->frame};
    struct weir_decoder *decoder = weir_avro_decoder_create(schema, &options);
    struct weir_decoded decoded;
    char *block = malloc(given->frame.size_bytes + input.size_bytes + 1);
    require(block != NULL, "out of memory");
    memcpy(block, given->frame.bytes, given->frame.size_bytes);
    memcpy(block + given->frame.size_bytes, input.data, input.size_bytes);
    size_t block_bytes = given->frame.size_bytes + input.size_bytes;
    block = realloc(block, block_bytes + (block_bytes == 0)); // the sanitizer sees a byte too far
    struct weir_record record = {.value = {block, block_bytes}};
    weir_decoder_decode(decoder, &record, 1, arena, &decoded);
    require(decoded.row_count + decoded.bad_count == 1, "neither row nor bad");
    if (decoded.bad_count == 1) {
        require(decoded.bad[0].message[0] != '\0', "a bad record without a word");
    } else {
        check_again(schema, given, decoder, &decoded, arena);
    }
    weir_decoder_destroy(decoder);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    const uint8_t *end = size_bytes == 0 ? NULL : memchr(data + 1, '\0', size_bytes - 1);
    if (end == NULL) {
        return 0;
    }
    struct weir_arena *arena = weir_arena_create(64 * 1024);
    struct weir_avro_given *given;
    struct weir_error error;
    if (weir_avro_given_create(
            arena, (data[0] & 1) != 0 ? WEIR_AVRO_FRAMING_SINGLE_OBJECT : WEIR_AVRO_FRAMING_NONE,
            (const char *)data + 1, &given, &error) == WEIR_OK) {
        check_canonical(arena, given->type);
        struct weir_view record = {(const char *)end + 1, size_bytes - (size_t)(end + 1 - data)};
        check_record(data[0], given, record, arena);
    } else {
        require(error.text[0] != '\0', "a schema is refused without a word");
    }
    weir_arena_destroy(arena);
    return 0;
}
