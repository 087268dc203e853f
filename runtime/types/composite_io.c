// SPDX-License-Identifier: Apache-2.0
// See composite_io.h.
#include "runtime/types/composite_io.h"

#include "runtime/types/digits.h"
#include "runtime/types/text_io.h"

static bool malformed(struct weir_value_error *error, struct weir_view text, const char *detail)
{
    int shown = text.size_bytes < 128 ? (int)text.size_bytes : 128;
    weir_value_error_set(error, "malformed record literal: \"%.*s\"", shown, text.data);
    return weir_value_error_detail(error, "%s", detail);
}

// One field, its quotes and backslashes taken away, up to a comma or parenthesis. false: the text
// ends before.
static bool scan_field(const char **at, const char *end, struct weir_arena *arena,
                       struct weir_view *field)
{
    const char *p = *at;
    char *out = weir_arena_alloc(arena, (size_t)(end - p) + 1);
    size_t used = 0;
    bool is_quoted = false;
    while (is_quoted || (p < end && *p != ',' && *p != ')')) {
        if (p == end) {
            return false;
        }
        char c = *p++;
        if (c == '\\') {
            if (p == end) {
                return false;
            }
            out[used++] = *p++;
        } else if (c == '"' && is_quoted && p < end && *p == '"') {
            out[used++] = *p++;
        } else if (c == '"') {
            is_quoted = !is_quoted;
        } else {
            out[used++] = c;
        }
    }
    *at = p;
    *field = (struct weir_view){out, used};
    return p < end;
}

static void set_null(struct weir_column *column, uint32_t row)
{
    WEIR_ASSERT(column->validity != NULL);
    weir_bitmap_clear(column->validity, row);
    if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            set_null(&column->children[i], row);
        }
    }
}

static bool parse_fields(struct weir_column *column, uint32_t row, struct weir_view text,
                         const char **at, const char *end, struct weir_arena *arena,
                         struct weir_value_error *error)
{
    uint32_t field_count = column->type.composite->field_count;
    for (uint32_t i = 0; i < field_count; i++) {
        if (i != 0) {
            if (**at != ',') {
                return malformed(error, text, "Too few columns.");
            }
            ++*at;
        }
        struct weir_column *child = &column->children[i];
        if (*at < end && (**at == ',' || **at == ')')) {
            set_null(child, row);
            continue;
        }
        struct weir_view field;
        if (!scan_field(at, end, arena, &field)) {
            return malformed(error, text, "Unexpected end of input.");
        }
        if (!weir_text_parse(child, row, field, arena, error)) {
            return false;
        }
    }
    if (**at == ',') {
        return malformed(error, text, "Too many columns.");
    }
    ++*at;
    return true;
}

bool weir_composite_parse(struct weir_column *column, uint32_t row, struct weir_view text,
                          struct weir_arena *arena, struct weir_value_error *error)
{
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    while (at < end && weir_is_space(*at)) {
        at++;
    }
    if (at == end || *at++ != '(') {
        return malformed(error, text, "Missing left parenthesis.");
    }
    if (column->type.composite->field_count == 0 && at < end && *at == ')') {
        at++;
    } else if (at == end) {
        return malformed(error, text, "Unexpected end of input.");
    } else if (!parse_fields(column, row, text, &at, end, arena, error)) {
        return false;
    }
    while (at < end && weir_is_space(*at)) {
        at++;
    }
    return at == end || malformed(error, text, "Junk after right parenthesis.");
}

static bool needs_quotes(struct weir_view text)
{
    if (text.size_bytes == 0) {
        return true;
    }
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.data[i];
        if (c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || weir_is_space(c)) {
            return true;
        }
    }
    return false;
}

void weir_composite_append(struct weir_buffer *buffer, const struct weir_column *column,
                           uint32_t row)
{
    struct weir_buffer field = {0};
    weir_buffer_append_char(buffer, '(');
    for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
        if (i != 0) {
            weir_buffer_append_char(buffer, ',');
        }
        if (!weir_column_is_valid(&column->children[i], row)) {
            continue;
        }
        field.size_bytes = 0;
        weir_text_append(&field, &column->children[i], row);
        struct weir_view text = {field.data, field.size_bytes};
        if (!needs_quotes(text)) {
            weir_buffer_append(buffer, text.data, text.size_bytes);
            continue;
        }
        weir_buffer_append_char(buffer, '"');
        for (size_t k = 0; k < text.size_bytes; k++) {
            if (text.data[k] == '"' || text.data[k] == '\\') {
                weir_buffer_append_char(buffer, text.data[k]);
            }
            weir_buffer_append_char(buffer, text.data[k]);
        }
        weir_buffer_append_char(buffer, '"');
    }
    weir_buffer_append_char(buffer, ')');
    weir_buffer_deinit(&field);
}
