// SPDX-License-Identifier: Apache-2.0
// Any text for the input functions of intervals, times, uuids, char(n), json and arrays. The first
// byte chooses the type. What is taken must come back the same from its own text, from its key and
// from its bytes in state, and must be equal to itself in order and hash.
#include "fuzz.h"
#include "runtime/types/array.h"
#include "runtime/types/compare.h"
#include "runtime/types/hash.h"
#include "runtime/types/json_out.h"
#include "runtime/types/key.h"
#include "runtime/types/row_codec.h"
#include "runtime/types/text_io.h"

#include <yyjson.h>

static const struct weir_field pair_fields[] = {{"a", {WEIR_TYPE_INTERVAL, -1, NULL}},
                                                {"b", {WEIR_TYPE_TEXT, -1, NULL}}};
static const struct weir_composite pair = {"pair", 2, pair_fields};
static const struct weir_field numeric_element[] = {{"", {WEIR_TYPE_NUMERIC, -1, NULL}}};
static const struct weir_composite numerics = {"", 1, numeric_element};
static const struct weir_field pair_element[] = {{"", {WEIR_TYPE_COMPOSITE, -1, &pair}}};
static const struct weir_composite pairs = {"", 1, pair_element};
static const struct weir_field text_element[] = {{"", {WEIR_TYPE_TEXT, -1, NULL}}};
static const struct weir_composite texts = {"", 1, text_element};

static const struct weir_type types[] = {
    {WEIR_TYPE_INTERVAL, -1, NULL}, {WEIR_TYPE_TIME, -1, NULL},    {WEIR_TYPE_UUID, -1, NULL},
    {WEIR_TYPE_CHAR, 4, NULL},      {WEIR_TYPE_JSON, -1, NULL},    {WEIR_TYPE_ARRAY, -1, &numerics},
    {WEIR_TYPE_ARRAY, -1, &pairs},  {WEIR_TYPE_ARRAY, -1, &texts},
};

static void check_value(struct weir_column *columns, struct weir_arena *arena)
{
    struct weir_value_error error;
    struct weir_buffer text = {0};
    struct weir_buffer bytes = {0};
    struct weir_view view;
    weir_text_append(&text, &columns[0], 0);
    view = (struct weir_view){.data = text.data, .size_bytes = text.size_bytes};
    // The longest negative interval has a text that PostgreSQL does not read either.
    bool is_readable = weir_text_parse(&columns[1], 0, view, arena, &error);
    if (!is_readable && columns[0].type.kind == WEIR_TYPE_INTERVAL &&
        columns[0].interval[0].us == INT64_MIN) {
        weir_buffer_deinit(&text);
        return;
    }
    require(is_readable, "its own text is refused");
    require(weir_compare_values(&columns[0], 0, &columns[1], 0) == 0, "its own text is another");
    require(weir_hash_value(&columns[0], 0) == weir_hash_value(&columns[1], 0), "another hash");
    weir_key_encode(&columns[0], 1, 0, &bytes);
    view = (struct weir_view){.data = bytes.data, .size_bytes = bytes.size_bytes};
    require(weir_key_decode(view, &columns[1], 1, 0, arena), "its key cannot be read");
    require(weir_compare_values(&columns[0], 0, &columns[1], 0) == 0, "its key is another's");
    bytes.size_bytes = 0;
    weir_row_encode(&columns[0], 1, 0, &bytes);
    view = (struct weir_view){.data = bytes.data, .size_bytes = bytes.size_bytes};
    require(weir_row_decode(view, &columns[1], 1, 0, arena), "its state cannot be read");
    require(weir_compare_values(&columns[0], 0, &columns[1], 0) == 0, "its state is another's");
    text.size_bytes = 0;
    weir_json_append_value(&text, &columns[0], 0);
    yyjson_doc *document = yyjson_read(text.data, text.size_bytes, YYJSON_READ_NUMBER_AS_RAW);
    require(document != NULL, "its JSON is none");
    yyjson_doc_free(document);
    weir_buffer_deinit(&text);
    weir_buffer_deinit(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct weir_value_error error;
    if (size_bytes == 0) {
        return 0;
    }
    const struct weir_type *type = &types[data[0] % (sizeof types / sizeof types[0])];
    struct weir_view text = {.data = (const char *)data + 1, .size_bytes = size_bytes - 1};
    if (!weir_text_validate(text, &error)) {
        return 0; // no text gets so far
    }
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_column columns[2];
    weir_column_init(&columns[0], type, 1, true, arena);
    weir_column_init(&columns[1], type, 1, true, arena);
    if (weir_text_parse(&columns[0], 0, text, arena, &error)) {
        check_value(columns, arena);
    } else {
        require(error.text[0] != '\0', "refused without a word");
    }
    weir_arena_destroy(arena);
    return 0;
}
