// SPDX-License-Identifier: Apache-2.0
// Any bytes as an Avro record. The first byte chooses one of some schemas; the rest is the record
// between two known ones, which must come out right whatever it is. A row must be the same when it
// is decoded alone, when no column is wanted it must be just as good or bad, and what is encoded
// from it must decode to the same row again.
#include "fuzz.h"
#include "kafka/avro_decode.h"
#include "kafka/avro_derive.h"
#include "kafka/avro_encode.h"
#include "runtime/types/text_io.h"

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }
static const struct weir_field inner_fields[] = {{"x", PLAIN(BIGINT)}, {"y", PLAIN(TEXT)}};
static const struct weir_composite inner = {"pair", 2, inner_fields};
static const struct weir_field element = {"", PLAIN(INTEGER)};
static const struct weir_composite array = {"", 1, &element};
static const struct weir_field pair_element = {"", {WEIR_TYPE_COMPOSITE, -1, &inner}};
static const struct weir_composite pairs = {"", 1, &pair_element};
static const struct weir_field fields[] = {
    {"id", PLAIN(BIGINT)},
    {"t", PLAIN(TEXT)},
    {"b", PLAIN(BYTEA)},
    {"n", {WEIR_TYPE_NUMERIC, 9 << 16 | 2, NULL}},
    {"z", PLAIN(TIMESTAMPTZ)},
    {"d", PLAIN(DATE)},
    {"f", PLAIN(DOUBLE)},
    {"o", {WEIR_TYPE_COMPOSITE, -1, &inner}},
    {"a", {WEIR_TYPE_ARRAY, -1, &array}},
    {"p", {WEIR_TYPE_ARRAY, -1, &pairs}},
    {"j", PLAIN(JSONB)},
    {"u", PLAIN(UUID)},
    {"i", PLAIN(INTERVAL)},
    {"m", PLAIN(TIME)},
};
enum { COLUMN_COUNT = sizeof fields / sizeof fields[0] };
static const struct weir_schema schema = {COLUMN_COUNT, fields};
static const struct weir_schema no_columns = {0, NULL};

// clang-format off
#define F(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define PAIR                                                                                       \
    "{\"type\":\"record\",\"name\":\"pair\",\"fields\":[" F("x", "\"int\"") "," \
    F("w", "\"bytes\"") "," F("y", "[\"null\",\"string\"]") "]}"
static const char *const texts[] = {
    // Everything as it is.
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
    F("id", "\"long\"") "," F("t", "\"string\"") "," F("b", "\"bytes\"") ","
    F("n", "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}") ","
    F("z", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}") ","
    F("d", "{\"type\":\"int\",\"logicalType\":\"date\"}") "," F("f", "\"double\"") ","
    F("o", PAIR) "," F("a", "{\"type\":\"array\",\"items\":\"int\"}") ","
    F("p", "{\"type\":\"array\",\"items\":[\"null\",\"pair\"]}") ","
    F("j", "{\"type\":\"map\",\"values\":[\"null\",\"double\",\"string\"]}") ","
    F("u", "{\"type\":\"fixed\",\"name\":\"u16\",\"size\":16,\"logicalType\":\"uuid\"}") ","
    F("i", "{\"type\":\"fixed\",\"name\":\"i12\",\"size\":12,\"logicalType\":\"duration\"}") ","
    F("m", "{\"type\":\"long\",\"logicalType\":\"time-micros\"}") "]}",
    // Unions of all sorts, and fields that no column wants.
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
    F("skip1", "{\"type\":\"array\",\"items\":{\"type\":\"map\",\"values\":\"string\"}}") ","
    F("id", "[\"int\",\"null\",\"string\",\"long\"]") ","
    F("skip2", "[\"null\",{\"type\":\"array\",\"items\":\"null\"}]") ","
    F("t", "[{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]},\"null\",\"bytes\"]") ","
    F("b", "[\"null\",{\"type\":\"fixed\",\"name\":\"f3\",\"size\":3},\"boolean\"]") ","
    F("n", "[\"null\",\"long\",\"string\"]") "," F("z", "[\"long\",\"string\"]") ","
    F("f", "[\"float\",\"null\",\"int\"]") "," F("o", "[\"null\"," PAIR "]") ","
    F("skip3", "[\"int\",\"pair\",\"double\"]") ","
    F("j", "[\"null\",\"pair\",{\"type\":\"array\",\"items\":\"pair\"},\"string\"]") "]}",
};
// clang-format on
enum { SCHEMA_COUNT = sizeof texts / sizeof texts[0] };

static const struct weir_avro_type *types[SCHEMA_COUNT + 1];

static enum weir_avro_lookup find(struct weir_avro_schemas *schemas, uint32_t id,
                                  const struct weir_avro_type **type, const char **why)
{
    (void)schemas;
    *why = "no such schema";
    if (id > SCHEMA_COUNT) {
        return WEIR_AVRO_REFUSED;
    }
    *type = types[id];
    return WEIR_AVRO_FOUND;
}

static struct weir_avro_schemas schemas = {.find = find};
static struct weir_encoder *encoder; // by the schema that the columns have by themselves

static void prepare(void)
{
    static uint32_t idxs[COLUMN_COUNT];
    struct weir_avro_derive_column columns[COLUMN_COUNT];
    static struct weir_arena *arena; // stays until the end, and so do the schemas in it
    arena = weir_arena_create(64 * 1024);
    struct weir_buffer text = {0};
    struct weir_error error;
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        idxs[i] = i;
        columns[i] = (struct weir_avro_derive_column){&fields[i], false};
    }
    require(weir_avro_derive("row", "weir", "", COLUMN_COUNT, columns, &text, &error) == WEIR_OK,
            "derive");
    for (uint32_t i = 0; i < SCHEMA_COUNT; i++) {
        require(weir_avro_schema_parse(arena, 0, NULL, weir_view_of(texts[i]), &types[i], &error) ==
                    WEIR_OK,
                error.text);
    }
    require(weir_avro_schema_parse(arena, 0, NULL, (struct weir_view){text.data, text.size_bytes},
                                   &types[SCHEMA_COUNT], &error) == WEIR_OK,
            error.text);
    weir_buffer_deinit(&text);
    require(weir_avro_encoder_create(&(struct weir_avro_encode_config){.schema = &schema,
                                                                       .column_count = COLUMN_COUNT,
                                                                       .column_idxs = idxs,
                                                                       .type = types[SCHEMA_COUNT],
                                                                       .id = SCHEMA_COUNT},
                                     &encoder, &error) == WEIR_OK,
            error.text);
}

static void append_row(struct weir_buffer *out, const struct weir_column *columns, uint32_t row,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_column *column = &columns[i];
        if (!weir_column_is_valid(column, row)) {
            weir_buffer_printf(out, "NULL|");
        } else if (column->type.kind == WEIR_TYPE_COMPOSITE) {
            weir_buffer_append_char(out, '(');
            append_row(out, column->children, row, column->type.composite->field_count);
        } else {
            weir_text_append(out, column, row);
            weir_buffer_append_char(out, '|');
        }
    }
}

static void expect_same(const struct weir_decoded *one, uint32_t row,
                        const struct weir_decoded *two, uint32_t other_row, const char *what)
{
    struct weir_buffer rows[2] = {{0}};
    append_row(&rows[0], one->columns, row, COLUMN_COUNT);
    append_row(&rows[1], two->columns, other_row, COLUMN_COUNT);
    require(is_same_bytes(&rows[0], &rows[1]), what);
    weir_buffer_deinit(&rows[0]);
    weir_buffer_deinit(&rows[1]);
}

// may_fail: texts may have become what Avro has no form for: infinity, NaN.
static void check_again(struct weir_decoder *decoder, struct weir_decoded *decoded, bool may_fail,
                        struct weir_arena *arena)
{
    struct weir_batch batch = {.schema = &schema,
                               .row_count = decoded->row_count,
                               .selected_count = decoded->row_count,
                               .columns = decoded->columns,
                               .arena = arena};
    struct weir_buffer bytes = {0};
    struct weir_encoded encoded;
    weir_encoder_encode(encoder, &batch, 0, 1, &bytes, &encoded);
    if (encoded.failure != NULL) {
        require(may_fail, encoded.failure);
        weir_buffer_deinit(&bytes);
        return;
    }
    struct weir_record record = {.value = weir_encoded_view(&bytes, &encoded)};
    struct weir_decoded again;
    weir_decoder_decode(decoder, &record, 1, arena, &again);
    require(again.row_count == 1, "what was written cannot be read");
    expect_same(decoded, 0, &again, 0, "another row comes back than was written");
    weir_buffer_deinit(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (encoder == NULL) {
        prepare();
    }
    // A block of just this size, so that the sanitizer sees a byte too far.
    size_t frame_bytes = size_bytes == 0 ? 0 : size_bytes + 4;
    char *block = malloc(frame_bytes + 1);
    require(block != NULL, "out of memory");
    if (size_bytes != 0) {
        memset(block, 0, 4);
        block[4] = (char)(data[0] % (SCHEMA_COUNT + 2));
        memcpy(block + 5, data + 1, size_bytes - 1);
    }
    block = realloc(block, frame_bytes + (frame_bytes == 0));
    // id 7, z 1970, all else NULL.
    static const char known[] = {0, 0, 0, 0, 1, 0, 0, 14, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0};
    struct weir_record records[3] = {0};
    records[0].value = (struct weir_view){known, sizeof known};
    records[1].value = (struct weir_view){block, frame_bytes};
    records[2].value = records[0].value;
    struct weir_arena *arena = weir_arena_create(64 * 1024);
    struct weir_avro_decode_options options = {.schemas = &schemas, .timestamp_digits = 6};
    struct weir_decoder *decoder = weir_avro_decoder_create(&schema, &options);
    struct weir_decoder *counter = weir_avro_decoder_create(&no_columns, &options);
    options.is_portable = true;
    struct weir_decoder *portable = weir_avro_decoder_create(&schema, &options);
    struct weir_decoded alone;
    struct weir_decoded between;
    struct weir_decoded counted;
    struct weir_decoded other;
    weir_decoder_decode(decoder, &records[1], 1, arena, &alone);
    weir_decoder_decode(decoder, records, 3, arena, &between);
    weir_decoder_decode(counter, &records[1], 1, arena, &counted);
    weir_decoder_decode(portable, records, 3, arena, &other);
    require(alone.row_count + alone.bad_count == 1, "neither row nor bad");
    require(between.columns[0].i64[0] == 7, "the record before it");
    require(between.columns[0].i64[between.row_count - 1] == 7, "the record behind it");
    require(between.row_count + between.bad_count == 3, "the records around it");
    require(between.bad_count == alone.bad_count, "the records around it are bad");
    require(other.row_count == between.row_count, "processors differ in what is bad");
    require(alone.row_count <= counted.row_count, "a row that cannot be passed over");
    if (alone.row_count == 1) {
        expect_same(&alone, 0, &between, 1, "the row depends on the records around it");
        expect_same(&alone, 0, &other, 1, "the row depends on the processor");
        check_again(decoder, &alone, block[4] == 1, arena);
    }
    weir_decoder_destroy(decoder);
    weir_decoder_destroy(counter);
    weir_decoder_destroy(portable);
    weir_arena_destroy(arena);
    free(block);
    return 0;
}
