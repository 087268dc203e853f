// SPDX-License-Identifier: Apache-2.0
// JSON arrays for array columns (json_convert.h), as jsonb_to_record fills them. Their text has
// been scanned already, so that it is only walked here: values by their first character, and the
// composites in them member by member. Recursion is bounded by the dimensions of arrays and the
// depth of types.
#include "kafka/json_convert.h"

#include "kafka/json_string.h"
#include "runtime/types/array.h"
#include "runtime/types/row_codec.h"
#include "runtime/types/text_io.h"

struct walk {
    struct weir_json_conversion *conversion;
    const char *at;           // in valid JSON
    uint32_t dimension_count; // 0: not known yet
    bool is_length_known[WEIR_ARRAY_DIMENSIONS_MAX];
    struct weir_array shape;
    struct weir_column element; // one row
    struct weir_buffer elements;
};

// --- walking ---------------------------------------------------------------------------------

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') {
        at++;
    }
    return at;
}

// Behind the string whose opening quote `at` is at.
static const char *skip_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
    }
    return at + 1;
}

static const char *skip_value(const char *at)
{
    uint32_t depth = 0;
    do {
        at = skip_blanks(at);
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            at++;
        } else { // a number or a word
            while (*at != '\0' && strchr(",:]} \t\r\n", *at) == NULL) {
                at++;
            }
        }
    } while (depth != 0);
    return at;
}

// The value at *at, which is moved behind it.
static struct weir_json_slot take_value(const char **at)
{
    const char *start = *at;
    *at = skip_value(start);
    struct weir_json_slot slot = {.data = start, .size_bytes = (uint32_t)(*at - start)};
    switch (*start) {
    case '"':
        slot.kind = WEIR_JSON_STRING;
        slot.data = start + 1;
        slot.size_bytes -= 2;
        slot.is_plain = memchr(slot.data, '\\', slot.size_bytes) == NULL;
        break;
    case '{':
        slot.kind = WEIR_JSON_OBJECT;
        break;
    case '[':
        slot.kind = WEIR_JSON_ARRAY;
        break;
    case 'n':
        slot.kind = WEIR_JSON_NULL;
        break;
    case 't':
        slot.kind = WEIR_JSON_TRUE;
        break;
    case 'f':
        slot.kind = WEIR_JSON_FALSE;
        break;
    default:
        slot.kind = WEIR_JSON_NUMBER;
        break;
    }
    return slot;
}

// --- elements --------------------------------------------------------------------------------

static void set_null(struct weir_column *column, uint32_t row)
{
    weir_bitmap_clear(column->validity, row);
    for (uint32_t i = 0; column->children != NULL && i < column->type.composite->field_count; i++) {
        set_null(&column->children[i], row);
    }
}

static bool convert_any(struct weir_json_conversion *conversion, const struct weir_json_slot *slot,
                        struct weir_column *column, uint32_t row);

// The index of the field of that name; UINT32_MAX: there is none.
static uint32_t find_field(const struct weir_composite *composite, struct weir_view name)
{
    for (uint32_t i = 0; i < composite->field_count; i++) {
        if (weir_view_equal(weir_view_of(composite->fields[i].name), name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool convert_object(struct weir_json_conversion *conversion,
                           const struct weir_json_slot *slot, struct weir_column *column,
                           uint32_t row)
{
    const struct weir_composite *composite = column->type.composite;
    if (slot->kind != WEIR_JSON_OBJECT) {
        return weir_value_error_set(&conversion->error,
                                    "a JSON object was expected for composite type %s",
                                    composite->name);
    }
    struct weir_json_slot *slots =
        weir_arena_alloc_zero(conversion->arena, composite->field_count * sizeof *slots);
    const char *at = skip_blanks(slot->data + 1);
    while (*at != '}') {
        struct weir_json_slot name = take_value(&at);
        struct weir_view text = {.data = name.data, .size_bytes = name.size_bytes};
        if (!name.is_plain) {
            bool has_nul;
            char *unescaped = weir_arena_alloc(conversion->arena, text.size_bytes + 1);
            text.size_bytes = weir_json_unescape(text, unescaped, &has_nul);
            text.data = unescaped;
        }
        at = skip_blanks(skip_blanks(at) + 1); // the colon
        struct weir_json_slot value = take_value(&at);
        uint32_t idx = find_field(composite, text);
        if (idx != UINT32_MAX) {
            slots[idx] = value; // the last one wins
        }
        at = skip_blanks(at);
        at = *at == ',' ? skip_blanks(at + 1) : at;
    }
    for (uint32_t i = 0; i < composite->field_count; i++) {
        if (!convert_any(conversion, &slots[i], &column->children[i], row)) {
            return false;
        }
    }
    return true;
}

static bool convert_any(struct weir_json_conversion *conversion, const struct weir_json_slot *slot,
                        struct weir_column *column, uint32_t row)
{
    if (slot->kind <= WEIR_JSON_NULL) {
        set_null(column, row);
        return true;
    }
    bool is_good = column->type.kind == WEIR_TYPE_COMPOSITE
                       ? convert_object(conversion, slot, column, row)
                       : weir_json_convert_value(conversion, NULL, slot, column, row);
    if (is_good) {
        weir_bitmap_set(column->validity, row);
    }
    return is_good;
}

// --- arrays ----------------------------------------------------------------------------------

static bool take_level(struct walk *walk, uint32_t depth);

static bool take_item(struct walk *walk, uint32_t depth)
{
    bool is_array = *walk->at == '[';
    if (walk->dimension_count == 0 && !is_array) {
        walk->dimension_count = depth;
    }
    if (walk->dimension_count != depth) {
        return is_array ? take_level(walk, depth + 1)
                        : weir_value_error_set(&walk->conversion->error, "expected JSON array");
    }
    struct weir_json_slot slot = take_value(&walk->at);
    if (!convert_any(walk->conversion, &slot, &walk->element, 0)) {
        return false;
    }
    weir_row_encode(&walk->element, 1, 0, &walk->elements);
    return true;
}

// The array at walk->at, dimension `depth` (from 1).
static bool take_level(struct walk *walk, uint32_t depth)
{
    struct weir_value_error *error = &walk->conversion->error;
    if (depth > WEIR_ARRAY_DIMENSIONS_MAX) {
        return weir_value_error_set(error,
                                    "number of array dimensions (%u) exceeds the maximum allowed "
                                    "(%d)",
                                    depth, WEIR_ARRAY_DIMENSIONS_MAX);
    }
    uint32_t count = 0;
    walk->at = skip_blanks(walk->at + 1);
    while (*walk->at != ']') {
        if (!take_item(walk, depth)) {
            return false;
        }
        count++;
        walk->at = skip_blanks(walk->at);
        walk->at = *walk->at == ',' ? skip_blanks(walk->at + 1) : walk->at;
    }
    walk->at++;
    uint32_t *length = &walk->shape.lengths[depth - 1];
    if (walk->is_length_known[depth - 1] && *length != count) {
        weir_value_error_set(error, "malformed JSON array");
        return weir_value_error_detail(error, "Multidimensional arrays must have sub-arrays with "
                                              "matching dimensions.");
    }
    walk->is_length_known[depth - 1] = true;
    *length = count;
    return true;
}

bool weir_json_convert_array(struct weir_json_conversion *conversion,
                             const struct weir_json_slot *slot, struct weir_column *column,
                             uint32_t row)
{
    if (slot->kind != WEIR_JSON_ARRAY) {
        return weir_value_error_set(&conversion->error, "expected JSON array");
    }
    struct walk walk = {.conversion = conversion, .at = slot->data};
    weir_column_init(&walk.element, weir_type_element(&column->type), 1, true, conversion->arena);
    bool is_good = take_level(&walk, 1);
    if (is_good) {
        bool is_empty = walk.dimension_count == 0;
        struct weir_buffer bytes = {0};
        walk.shape.dimension_count = walk.dimension_count;
        for (uint32_t i = 0; i < walk.dimension_count; i++) {
            walk.shape.lower_bounds[i] = 1;
        }
        weir_array_append_header(&bytes, &walk.shape);
        if (!is_empty) {
            weir_buffer_append(&bytes, walk.elements.data, walk.elements.size_bytes);
        }
        column->view[row] =
            weir_arena_copy(conversion->arena,
                            (struct weir_view){.data = bytes.data, .size_bytes = bytes.size_bytes});
        weir_buffer_deinit(&bytes);
    }
    weir_buffer_deinit(&walk.elements);
    return is_good;
}
