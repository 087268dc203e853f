// SPDX-License-Identifier: Apache-2.0
// Text and JSON forms of arrays (array.h). Elements are read as they come, braces give the shape;
// recursion is bounded by the number of dimensions.
#include "runtime/types/array.h"
#include "runtime/types/digits.h"
#include "runtime/types/json_out.h"
#include "runtime/types/row_codec.h"
#include "runtime/types/text_io.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct parser {
    const char *at;
    const char *end;
    struct weir_view text;
    struct weir_arena *arena;
    struct weir_value_error *error;
    bool is_looking;             // at the shape only, which is refused before any element is
    struct weir_column element;  // one row
    struct weir_buffer elements; // read so far
    uint32_t element_count;
    uint32_t leaf_depth; // where elements stand; 0: none yet
    uint32_t depth_max;
    bool is_length_known[WEIR_ARRAY_DIMENSIONS_MAX];
    uint32_t lengths[WEIR_ARRAY_DIMENSIONS_MAX];
};

static bool malformed(struct parser *parser, const char *detail)
{
    int shown = parser->text.size_bytes < 128 ? (int)parser->text.size_bytes : 128;
    weir_value_error_set(parser->error, "malformed array literal: \"%.*s\"", shown,
                         parser->text.data);
    return weir_value_error_detail(parser->error, "%s", detail);
}

static void skip_space(struct parser *parser)
{
    while (parser->at < parser->end && weir_is_space(*parser->at)) {
        parser->at++;
    }
}

static bool is_at(const struct parser *parser, char c)
{
    return parser->at < parser->end && *parser->at == c;
}

// --- input -----------------------------------------------------------------------------------

static bool take_quoted(struct parser *parser, struct weir_view *out)
{
    char *text = weir_arena_alloc(parser->arena, (size_t)(parser->end - parser->at) + 1);
    size_t used = 0;
    for (parser->at++; !is_at(parser, '"'); parser->at++) {
        parser->at += is_at(parser, '\\');
        if (parser->at >= parser->end) {
            return malformed(parser, "Unexpected end of input.");
        }
        text[used++] = *parser->at;
    }
    parser->at++;
    *out = (struct weir_view){.data = text, .size_bytes = used};
    skip_space(parser);
    return is_at(parser, ',') || is_at(parser, '}') ||
           malformed(parser, "Incorrectly quoted array element.");
}

static bool take_plain(struct parser *parser, struct weir_view *out, bool *is_null)
{
    char *text = weir_arena_alloc(parser->arena, (size_t)(parser->end - parser->at) + 1);
    size_t used = 0;
    size_t kept = 0; // without blanks at the end, but for escaped ones
    bool has_escape = false;
    while (parser->at < parser->end && *parser->at != ',' && *parser->at != '}') {
        char c = *parser->at++;
        if (c == '"' || c == '{') {
            return malformed(parser, c == '"' ? "Incorrectly quoted array element."
                                              : "Unexpected \"{\" character.");
        }
        bool is_escaped = c == '\\';
        if (is_escaped) {
            if (parser->at == parser->end) {
                return malformed(parser, "Unexpected end of input.");
            }
            c = *parser->at++;
            has_escape = true;
        }
        text[used++] = c;
        kept = is_escaped || !weir_is_space(c) ? used : kept;
    }
    if (kept == 0) {
        return malformed(parser, "Unexpected array element.");
    }
    *out = (struct weir_view){.data = text, .size_bytes = kept};
    *is_null = !has_escape && kept == 4 && strncasecmp(text, "null", 4) == 0;
    return true;
}

static void set_null(struct weir_column *column)
{
    weir_bitmap_clear(column->validity, 0);
    for (uint32_t i = 0; column->children != NULL && i < column->type.composite->field_count; i++) {
        set_null(&column->children[i]);
    }
}

static bool take_element(struct parser *parser)
{
    struct weir_view text;
    bool is_null = false;
    if (!(is_at(parser, '"') ? take_quoted(parser, &text) : take_plain(parser, &text, &is_null))) {
        return false;
    }
    parser->element_count++;
    if (parser->is_looking) {
        return true;
    }
    if (is_null) {
        set_null(&parser->element);
    } else if (!weir_text_parse(&parser->element, 0, text, parser->arena, parser->error)) {
        return false;
    }
    if (parser->element_count > WEIR_ARRAY_ELEMENTS_MAX) {
        return weir_value_error_set(parser->error, "array size exceeds the maximum allowed (%u)",
                                    WEIR_ARRAY_ELEMENTS_MAX);
    }
    weir_row_encode(&parser->element, 1, 0, &parser->elements);
    return true;
}

static bool take_level(struct parser *parser, uint32_t depth);

static bool take_item(struct parser *parser, uint32_t depth)
{
    static const char *const mixed =
        "Multidimensional arrays must have sub-arrays with matching dimensions.";
    skip_space(parser);
    if (is_at(parser, '{')) {
        return parser->leaf_depth == 0 || parser->leaf_depth > depth ? take_level(parser, depth + 1)
                                                                     : malformed(parser, mixed);
    }
    if (parser->depth_max > depth || (parser->leaf_depth != 0 && parser->leaf_depth != depth)) {
        return malformed(parser, mixed);
    }
    parser->leaf_depth = depth;
    return take_element(parser);
}

// {…}, the dimension `depth` (from 1).
static bool take_level(struct parser *parser, uint32_t depth)
{
    if (depth > WEIR_ARRAY_DIMENSIONS_MAX) {
        return weir_value_error_set(parser->error,
                                    "number of array dimensions (%u) exceeds the maximum allowed "
                                    "(%d)",
                                    depth, WEIR_ARRAY_DIMENSIONS_MAX);
    }
    parser->depth_max = depth > parser->depth_max ? depth : parser->depth_max;
    parser->at++;
    uint32_t count = 0;
    skip_space(parser);
    while (!is_at(parser, '}')) {
        if (parser->at == parser->end) {
            return malformed(parser, "Unexpected end of input.");
        }
        if (!take_item(parser, depth)) {
            return false;
        }
        count++;
        skip_space(parser);
        if (is_at(parser, ',')) {
            parser->at++;
            skip_space(parser);
            if (is_at(parser, '}')) {
                return malformed(parser, "Unexpected \"}\" character.");
            }
        } else if (!is_at(parser, '}')) {
            return malformed(parser, "Unexpected array element.");
        }
    }
    if (count == 0 && depth > 1) {
        return malformed(parser, "Unexpected \"}\" character.");
    }
    parser->at++;
    if (parser->is_length_known[depth - 1] && parser->lengths[depth - 1] != count) {
        return malformed(parser,
                         "Multidimensional arrays must have sub-arrays with matching dimensions.");
    }
    parser->is_length_known[depth - 1] = true;
    parser->lengths[depth - 1] = count;
    return true;
}

static bool take_bound(struct parser *parser, int32_t *bound)
{
    const char *start = parser->at;
    char digits[16] = "";
    parser->at += is_at(parser, '-') || is_at(parser, '+');
    while (parser->at < parser->end && weir_is_digit(*parser->at)) {
        parser->at++;
    }
    size_t size_bytes = (size_t)(parser->at - start);
    if (size_bytes == 0 || size_bytes >= sizeof digits || !weir_is_digit(parser->at[-1])) {
        return malformed(parser, "\"[\" must introduce explicitly-specified array dimensions.");
    }
    memcpy(digits, start, size_bytes);
    *bound = (int32_t)strtol(digits, NULL, 10);
    return true;
}

// [1:2][0:3]=
static bool take_dimensions(struct parser *parser, struct weir_array *shape)
{
    while (is_at(parser, '[')) {
        uint32_t i = shape->dimension_count++;
        int32_t lower = 1;
        int32_t upper;
        if (i == WEIR_ARRAY_DIMENSIONS_MAX) {
            return weir_value_error_set(parser->error,
                                        "number of array dimensions (%u) exceeds the maximum "
                                        "allowed (%d)",
                                        i + 1, WEIR_ARRAY_DIMENSIONS_MAX);
        }
        parser->at++;
        if (!take_bound(parser, &upper)) {
            return false;
        }
        if (is_at(parser, ':')) {
            parser->at++;
            lower = upper;
            if (!take_bound(parser, &upper)) {
                return false;
            }
        }
        if (!is_at(parser, ']')) {
            return malformed(parser, "Missing \"]\" after array dimensions.");
        }
        parser->at++;
        if (upper < lower) {
            return weir_value_error_set(parser->error,
                                        "upper bound cannot be less than lower bound");
        }
        shape->lower_bounds[i] = lower;
        shape->lengths[i] = (uint32_t)upper - (uint32_t)lower + 1;
        skip_space(parser);
    }
    if (shape->dimension_count == 0) {
        return true;
    }
    if (!is_at(parser, '=')) {
        return malformed(parser, "Missing \"=\" after array dimensions.");
    }
    parser->at++;
    skip_space(parser);
    return true;
}

static bool parse_whole(struct parser *parser, struct weir_array *shape)
{
    skip_space(parser);
    if (!take_dimensions(parser, shape)) {
        return false;
    }
    if (!is_at(parser, '{')) {
        return malformed(parser, "Array value must start with \"{\" or dimension information.");
    }
    // Messages about what is in the braces show them alone.
    struct weir_view whole = parser->text;
    parser->text =
        (struct weir_view){.data = parser->at, .size_bytes = (size_t)(parser->end - parser->at)};
    if (!take_level(parser, 1)) {
        return false;
    }
    skip_space(parser);
    if (parser->at != parser->end) {
        return malformed(parser, "Junk after closing right brace.");
    }
    parser->text = whole;
    uint32_t dimension_count = parser->element_count == 0 ? 0 : parser->leaf_depth;
    if (shape->dimension_count != 0 && (shape->dimension_count != dimension_count ||
                                        memcmp(shape->lengths, parser->lengths,
                                               dimension_count * sizeof shape->lengths[0]) != 0)) {
        return malformed(parser, "Specified array dimensions do not match array contents.");
    }
    if (shape->dimension_count == 0) {
        shape->dimension_count = dimension_count;
        for (uint32_t i = 0; i < dimension_count; i++) {
            shape->lengths[i] = parser->lengths[i];
            shape->lower_bounds[i] = 1;
        }
    }
    return true;
}

bool weir_array_parse(struct weir_view text, const struct weir_type *type, struct weir_arena *arena,
                      struct weir_view *out, struct weir_value_error *error)
{
    struct parser parser = {.at = text.data,
                            .end = text.data + text.size_bytes,
                            .text = text,
                            .arena = arena,
                            .error = error};
    struct parser looker = parser;
    struct weir_array shape = {0};
    looker.is_looking = true;
    if (!parse_whole(&looker, &shape)) {
        return false;
    }
    shape = (struct weir_array){0};
    weir_column_init(&parser.element, weir_type_element(type), 1, true, arena);
    bool is_good = parse_whole(&parser, &shape);
    if (is_good) {
        struct weir_buffer bytes = {0};
        weir_array_append_header(&bytes, &shape);
        weir_buffer_append(&bytes, parser.elements.data, parser.elements.size_bytes);
        *out = weir_arena_copy(
            arena, (struct weir_view){.data = bytes.data, .size_bytes = bytes.size_bytes});
        weir_buffer_deinit(&bytes);
    }
    weir_buffer_deinit(&parser.elements);
    return is_good;
}

// --- output ----------------------------------------------------------------------------------

static bool needs_quotes(struct weir_view text)
{
    bool is_null_word = text.size_bytes == 4 && strncasecmp(text.data, "null", 4) == 0;
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.data[i];
        if (c == '"' || c == '\\' || c == '{' || c == '}' || c == ',' || weir_is_space(c)) {
            return true;
        }
    }
    return is_null_word || text.size_bytes == 0;
}

static void append_element(struct weir_buffer *buffer, const struct weir_array *array, uint32_t idx,
                           struct weir_buffer *scratch)
{
    if (!weir_column_is_valid(&array->elements, idx)) {
        weir_buffer_append(buffer, "NULL", 4);
        return;
    }
    scratch->size_bytes = 0;
    weir_text_append(scratch, &array->elements, idx);
    struct weir_view text = {.data = scratch->data, .size_bytes = scratch->size_bytes};
    if (!needs_quotes(text)) {
        weir_buffer_append(buffer, text.data, text.size_bytes);
        return;
    }
    weir_buffer_append_char(buffer, '"');
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\') {
            weir_buffer_append_char(buffer, '\\');
        }
        weir_buffer_append_char(buffer, text.data[i]);
    }
    weir_buffer_append_char(buffer, '"');
}

struct form {
    const char *brackets;
    void (*append)(struct weir_buffer *buffer, const struct weir_array *array, uint32_t idx,
                   struct weir_buffer *scratch);
};

static void append_level(struct weir_buffer *buffer, const struct weir_array *array,
                         const struct form *form, uint32_t depth, uint32_t *idx,
                         struct weir_buffer *scratch)
{
    weir_buffer_append_char(buffer, form->brackets[0]);
    for (uint32_t i = 0; i < array->lengths[depth]; i++) {
        if (i != 0) {
            weir_buffer_append_char(buffer, ',');
        }
        if (depth + 1 < array->dimension_count) {
            append_level(buffer, array, form, depth + 1, idx, scratch);
        } else {
            form->append(buffer, array, (*idx)++, scratch);
        }
    }
    weir_buffer_append_char(buffer, form->brackets[1]);
}

static void append_form(struct weir_buffer *buffer, const struct weir_array *array,
                        const struct form *form)
{
    struct weir_buffer scratch = {0};
    uint32_t idx = 0;
    if (array->element_count == 0) {
        weir_buffer_append(buffer, form->brackets, 2);
        return;
    }
    append_level(buffer, array, form, 0, &idx, &scratch);
    weir_buffer_deinit(&scratch);
}

enum { SCRATCH_BLOCK_BYTES = 2048 };

void weir_array_append_text(struct weir_buffer *buffer, struct weir_view value,
                            const struct weir_type *type)
{
    static const struct form text_form = {.brackets = "{}", .append = append_element};
    struct weir_arena *scratch = weir_arena_create(SCRATCH_BLOCK_BYTES);
    struct weir_array array;
    weir_array_open(value, type, scratch, &array);
    bool has_bounds = false;
    for (uint32_t i = 0; i < array.dimension_count; i++) {
        has_bounds |= array.lower_bounds[i] != 1;
    }
    for (uint32_t i = 0; has_bounds && i < array.dimension_count; i++) {
        int64_t lower = array.lower_bounds[i];
        weir_buffer_printf(buffer, "[%lld:%lld]%s", (long long)lower,
                           (long long)(lower + array.lengths[i] - 1),
                           i + 1 == array.dimension_count ? "=" : "");
    }
    append_form(buffer, &array, &text_form);
    weir_arena_destroy(scratch);
}

static void append_json(struct weir_buffer *buffer, const struct weir_array *array, uint32_t idx,
                        struct weir_buffer *scratch)
{
    (void)scratch;
    weir_json_append_value(buffer, &array->elements, idx);
}

void weir_array_append_json(struct weir_buffer *buffer, struct weir_view value,
                            const struct weir_type *type)
{
    static const struct form json_form = {.brackets = "[]", .append = append_json};
    struct weir_arena *scratch = weir_arena_create(SCRATCH_BLOCK_BYTES);
    struct weir_array array;
    weir_array_open(value, type, scratch, &array);
    append_form(buffer, &array, &json_form);
    weir_arena_destroy(scratch);
}
