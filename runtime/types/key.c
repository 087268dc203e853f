// SPDX-License-Identifier: Apache-2.0
// See key.h. A value is a marker (1, or 2 for NULL, which sorts last) and then:
//   boolean, integers, dates, times   big-endian, sign bit flipped
//   floats                            IEEE bits, negative ones inverted; -0 is 0, one NaN, the
//                                     greatest
//   text, bytea, jsonb                the bytes with 00 as 00 FF, closed by 00 01; of char(n)
//                                     without the blanks at its end
//   numeric                           class, then exponent and digits (inverted when negative)
//   interval                          its span as 16 bytes
//   uuid                              its bytes
//   composite                         its fields
//   array                             its elements, a zero, then dimensions and bounds
// A jsonb is its canonical text without zeros at the end of fractions (1 and 1.0 are one key),
// which keeps equality but not PostgreSQL's order.
#include "runtime/types/key.h"

#include "runtime/state.h"
#include "runtime/types/array.h"
#include "runtime/types/interval.h"
#include "runtime/types/numeric.h"
#include "runtime/types/row_codec.h"
#include "runtime/types/text_io.h"

#include <math.h>

#define XXH_INLINE_ALL // keys are short: a call would cost as much as the hash
#include <xxhash.h>

enum {
    MARK_END = 0, // of the elements of an array: before all others
    MARK_VALUE = 1,
    MARK_NULL = 2,
    ESCAPE_ZERO = 0xff,
    ESCAPE_END = 0x01,
    SCRATCH_BLOCK_BYTES = 2048,
    EXPONENT_BIAS =
        1 << 20, // a numeric has at most 131,072 digits before and 16,383 behind the point
};

// In the order of the values.
enum numeric_class {
    CLASS_MINUS_INFINITY = 1,
    CLASS_NEGATIVE = 2,
    CLASS_ZERO = 3,
    CLASS_POSITIVE = 4,
    CLASS_INFINITY = 5,
    CLASS_NAN = 6,
};

static void put_integer(struct weir_buffer *out, int64_t value, uint32_t byte_count)
{
    weir_buffer_append_big_endian(out, (uint64_t)value ^ (UINT64_C(1) << (8 * byte_count - 1)),
                                  byte_count);
}

static uint64_t order_bits(uint64_t bits, uint64_t sign)
{
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

static void put_double(struct weir_buffer *out, double value)
{
    uint64_t bits;
    value = isnan(value) ? (double)NAN : value == 0 ? 0 : value;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) {
        bits = UINT64_C(0x7ff8000000000000);
    }
    weir_buffer_append_big_endian(out, order_bits(bits, UINT64_C(1) << 63), 8);
}

static void put_float(struct weir_buffer *out, float value)
{
    uint32_t bits;
    value = value == 0 ? 0 : value;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) {
        bits = UINT32_C(0x7fc00000);
    }
    weir_buffer_append_big_endian(out, (uint32_t)order_bits(bits, UINT64_C(1) << 31), 4);
}

static void put_bytes(struct weir_buffer *out, struct weir_view view)
{
    char *at = weir_buffer_reserve(out, 2 * view.size_bytes + 2);
    for (size_t i = 0; i < view.size_bytes; i++) {
        *at++ = view.data[i];
        if (view.data[i] == 0) {
            *at++ = (char)ESCAPE_ZERO;
        }
    }
    *at++ = 0;
    *at++ = ESCAPE_END;
    out->size_bytes = (size_t)(at - out->data);
}

// Past a JSON string that begins at `at`.
static const char *string_end(const char *at, const char *end)
{
    at++;
    while (at < end && *at != '"') {
        at += *at == '\\' ? 2 : 1;
    }
    return at < end ? at + 1 : end;
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

// As put_bytes; canonical JSON holds no byte 00.
static void put_jsonb(struct weir_buffer *out, struct weir_view json)
{
    const char *at = json.data;
    const char *end = json.data + json.size_bytes;
    weir_buffer_reserve(out, json.size_bytes + 2);
    while (at < end) {
        const char *next = at + 1;
        const char *kept = next;
        if (*at == '"') {
            next = kept = string_end(at, end);
        } else if (is_of_number(*at)) {
            while (next < end && is_of_number(*next)) {
                next++;
            }
            kept = next;
            if (memchr(at, '.', (size_t)(next - at)) != NULL) {
                while (kept[-1] == '0') {
                    kept--;
                }
                kept -= kept[-1] == '.' ? 1 : 0;
            }
        }
        weir_buffer_append(out, at, (size_t)(kept - at));
        at = next;
    }
    weir_buffer_append_char(out, 0);
    weir_buffer_append_char(out, ESCAPE_END);
}

// Digits of the absolute value without zeros on either side, as d1 d2 … with value 0.d1d2… * 10^e.
static void put_digits(struct weir_buffer *out, struct weir_numeric value, bool is_negative)
{
    struct weir_buffer text = {0};
    weir_numeric_append(&text, value);
    const char *at = text.data + (is_negative ? 1 : 0);
    const char *end = text.data + text.size_bytes;
    const char *point = memchr(at, '.', (size_t)(end - at));
    const char *integer_end = point != NULL ? point : end;
    while (point != NULL && end > point && (end[-1] == '0' || end[-1] == '.')) {
        end--;
    }
    int64_t exponent = integer_end - at;
    while (at < end && (*at == '0' || *at == '.')) {
        exponent -= *at == '0' ? 1 : 0;
        at++;
    }
    while (end > at && end[-1] == '0') {
        end--; // of an integer
    }
    unsigned char flip = is_negative ? 0xff : 0;
    weir_buffer_append_big_endian(
        out, (uint32_t)(exponent + EXPONENT_BIAS) ^ (is_negative ? UINT32_MAX : 0), 4);
    for (; at < end; at++) {
        if (*at != '.') {
            weir_buffer_append_char(out, (char)((unsigned char)(*at - '0' + 1) ^ flip));
        }
    }
    weir_buffer_append_char(out, (char)flip);
    weir_buffer_deinit(&text);
}

static void put_numeric(struct weir_buffer *out, struct weir_numeric value)
{
    enum numeric_class class = CLASS_ZERO;
    switch ((enum weir_numeric_kind)value.kind) {
    case WEIR_NUMERIC_SMALL:
    case WEIR_NUMERIC_BIG: {
        int sign = weir_numeric_sign(value);
        class = sign < 0 ? CLASS_NEGATIVE : sign > 0 ? CLASS_POSITIVE : CLASS_ZERO;
        break;
    }
    case WEIR_NUMERIC_NAN:
        class = CLASS_NAN;
        break;
    case WEIR_NUMERIC_INFINITY:
        class = CLASS_INFINITY;
        break;
    case WEIR_NUMERIC_MINUS_INFINITY:
        class = CLASS_MINUS_INFINITY;
        break;
    }
    weir_buffer_append_char(out, (char)class);
    if (class == CLASS_NEGATIVE || class == CLASS_POSITIVE) {
        put_digits(out, value, class == CLASS_NEGATIVE);
    }
}

static void put_interval(struct weir_buffer *out, struct weir_interval value)
{
    __int128 span = weir_interval_span(value);
    put_integer(out, (int64_t)(span >> 64), 8);
    weir_buffer_append_big_endian(out, (uint64_t)span, 8);
}

static void put_array(struct weir_buffer *out, struct weir_view value, const struct weir_type *type)
{
    struct weir_arena *scratch = weir_arena_create(SCRATCH_BLOCK_BYTES);
    struct weir_array array;
    weir_array_open(value, type, scratch, &array);
    for (uint32_t i = 0; i < array.element_count; i++) {
        weir_key_encode(&array.elements, 1, i, out);
    }
    weir_buffer_append_char(out, MARK_END);
    weir_buffer_append_char(out, (char)array.dimension_count);
    for (uint32_t i = 0; i < array.dimension_count; i++) {
        weir_buffer_append_big_endian(out, array.lengths[i], 4);
    }
    for (uint32_t i = 0; i < array.dimension_count; i++) {
        put_integer(out, array.lower_bounds[i], 4);
    }
    weir_arena_destroy(scratch);
}

static void put_view(struct weir_buffer *out, struct weir_view value, const struct weir_type *type)
{
    if (type->kind == WEIR_TYPE_JSONB) {
        put_jsonb(out, value);
    } else if (type->kind == WEIR_TYPE_ARRAY) {
        put_array(out, value, type);
    } else if (type->kind == WEIR_TYPE_CHAR) {
        put_bytes(out, weir_char_trim(value));
    } else {
        put_bytes(out, value);
    }
}

void weir_key_encode(const struct weir_column *columns, uint32_t column_count, uint32_t row,
                     struct weir_buffer *out)
{
    for (uint32_t c = 0; c < column_count; c++) {
        const struct weir_column *column = &columns[c];
        bool is_valid = weir_column_is_valid(column, row);
        weir_buffer_append_char(out, is_valid ? MARK_VALUE : MARK_NULL);
        if (!is_valid) {
            continue;
        }
        switch (weir_type_layout(column->type.kind)) {
        case WEIR_LAYOUT_U8:
            weir_buffer_append_char(out, (char)column->u8[row]);
            break;
        case WEIR_LAYOUT_I16:
            put_integer(out, column->i16[row], 2);
            break;
        case WEIR_LAYOUT_I32:
            put_integer(out, column->i32[row], 4);
            break;
        case WEIR_LAYOUT_I64:
            put_integer(out, column->i64[row], 8);
            break;
        case WEIR_LAYOUT_F32:
            put_float(out, column->f32[row]);
            break;
        case WEIR_LAYOUT_F64:
            put_double(out, column->f64[row]);
            break;
        case WEIR_LAYOUT_NUMERIC:
            put_numeric(out, column->numeric[row]);
            break;
        case WEIR_LAYOUT_VIEW:
            put_view(out, column->view[row], &column->type);
            break;
        case WEIR_LAYOUT_INTERVAL:
            put_interval(out, column->interval[row]);
            break;
        case WEIR_LAYOUT_UUID:
            weir_buffer_append(out, &column->uuid[row], sizeof(struct weir_uuid));
            break;
        case WEIR_LAYOUT_COMPOSITE:
            weir_key_encode(column->children, column->type.composite->field_count, row, out);
            break;
        }
    }
}

// --- back -------------------------------------------------------------------------------------

struct reader {
    const unsigned char *at;
    const unsigned char *end;
    struct weir_arena *arena;
};

static bool get_big_endian(struct reader *reader, uint32_t byte_count, uint64_t *bits)
{
    if ((size_t)(reader->end - reader->at) < byte_count) {
        return false;
    }
    *bits = 0;
    for (uint32_t i = 0; i < byte_count; i++) {
        *bits = *bits << 8 | *reader->at++;
    }
    return true;
}

static bool get_integer(struct reader *reader, uint32_t byte_count, int64_t *value)
{
    uint64_t bits;
    if (!get_big_endian(reader, byte_count, &bits)) {
        return false;
    }
    uint32_t shift = 64 - 8 * byte_count;
    *value = (int64_t)((bits ^ (UINT64_C(1) << (8 * byte_count - 1))) << shift) >> shift;
    return true;
}

static bool get_bytes(struct reader *reader, struct weir_view *view)
{
    char *bytes = weir_arena_alloc(reader->arena, (size_t)(reader->end - reader->at) + 1);
    size_t size_bytes = 0;
    while (reader->at < reader->end) {
        unsigned char byte = *reader->at++;
        if (byte == 0) {
            if (reader->at == reader->end) {
                return false;
            }
            unsigned char escape = *reader->at++;
            if (escape == ESCAPE_END) {
                *view = (struct weir_view){.data = bytes, .size_bytes = size_bytes};
                return true;
            }
            if (escape != ESCAPE_ZERO) {
                return false;
            }
        }
        bytes[size_bytes++] = (char)byte;
    }
    return false;
}

static bool get_digits(struct reader *reader, bool is_negative, struct weir_numeric *value)
{
    uint64_t bits;
    unsigned char flip = is_negative ? 0xff : 0;
    if (!get_big_endian(reader, 4, &bits)) {
        return false;
    }
    int64_t exponent = (int64_t)((uint32_t)bits ^ (is_negative ? UINT32_MAX : 0)) - EXPONENT_BIAS;
    struct weir_buffer text = {0};
    weir_buffer_printf(&text, "%s0.", is_negative ? "-" : "");
    bool is_closed = false;
    while (!is_closed && reader->at < reader->end) {
        unsigned char digit = *reader->at++ ^ flip;
        is_closed = digit == 0;
        if (!is_closed) {
            weir_buffer_append_char(&text, (char)('0' + digit - 1));
        }
    }
    weir_buffer_printf(&text, "e%lld", (long long)exponent);
    struct weir_numeric parsed;
    bool is_good =
        is_closed &&
        weir_numeric_parse((struct weir_view){.data = text.data, .size_bytes = text.size_bytes}, -1,
                           reader->arena, &parsed, NULL);
    if (is_good) {
        *value = weir_numeric_trim_scale(parsed, reader->arena);
    }
    weir_buffer_deinit(&text);
    return is_good;
}

static bool get_numeric(struct reader *reader, struct weir_numeric *value)
{
    if (reader->at == reader->end) {
        return false;
    }
    switch (*reader->at++) {
    case CLASS_MINUS_INFINITY:
        *value = weir_numeric_special(WEIR_NUMERIC_MINUS_INFINITY);
        return true;
    case CLASS_INFINITY:
        *value = weir_numeric_special(WEIR_NUMERIC_INFINITY);
        return true;
    case CLASS_NAN:
        *value = weir_numeric_special(WEIR_NUMERIC_NAN);
        return true;
    case CLASS_ZERO:
        *value = weir_numeric_small(0, 0);
        return true;
    case CLASS_NEGATIVE:
        return get_digits(reader, true, value);
    case CLASS_POSITIVE:
        return get_digits(reader, false, value);
    }
    return false;
}

static uint64_t unorder_bits(uint64_t bits, uint64_t sign)
{
    return (bits & sign) != 0 ? bits ^ sign : ~bits;
}

static bool get_columns(struct reader *reader, struct weir_column *columns, uint32_t column_count,
                        uint32_t row);

static bool get_interval(struct reader *reader, struct weir_interval *value)
{
    int64_t high;
    uint64_t low;
    if (!get_integer(reader, 8, &high) || !get_big_endian(reader, 8, &low)) {
        return false;
    }
    *value = weir_interval_of_span((__int128)(((unsigned __int128)(uint64_t)high << 64) | low));
    return true;
}

static bool get_uuid(struct reader *reader, struct weir_uuid *value)
{
    if ((size_t)(reader->end - reader->at) < sizeof *value) {
        return false;
    }
    memcpy(value, reader->at, sizeof *value);
    reader->at += sizeof *value;
    return true;
}

static bool get_shape(struct reader *reader, struct weir_array *shape, uint64_t element_count)
{
    uint64_t bits;
    int64_t bound;
    uint64_t count = 1;
    if (!get_big_endian(reader, 1, &bits) || bits > WEIR_ARRAY_DIMENSIONS_MAX) {
        return false;
    }
    shape->dimension_count = (uint32_t)bits;
    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (!get_big_endian(reader, 4, &bits) || bits == 0 || count * bits > element_count) {
            return false;
        }
        shape->lengths[i] = (uint32_t)bits;
        count *= bits;
    }
    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (!get_integer(reader, 4, &bound)) {
            return false;
        }
        shape->lower_bounds[i] = (int32_t)bound;
    }
    return element_count == (shape->dimension_count == 0 ? 0 : count);
}

static bool get_array(struct reader *reader, const struct weir_type *type, struct weir_view *value)
{
    struct weir_column element;
    struct weir_array shape = {0};
    struct weir_buffer elements = {0};
    uint64_t element_count = 0;
    weir_column_init(&element, weir_type_element(type), 1, true, reader->arena);
    bool is_good = true;
    while (is_good && reader->at < reader->end && *reader->at != MARK_END) {
        is_good = get_columns(reader, &element, 1, 0);
        if (is_good) {
            weir_row_encode(&element, 1, 0, &elements);
            element_count++;
        }
    }
    is_good = is_good && reader->at++ < reader->end && get_shape(reader, &shape, element_count);
    if (is_good) {
        struct weir_buffer bytes = {0};
        weir_array_append_header(&bytes, &shape);
        weir_buffer_append(&bytes, elements.data, elements.size_bytes);
        *value = weir_arena_copy(
            reader->arena, (struct weir_view){.data = bytes.data, .size_bytes = bytes.size_bytes});
        weir_buffer_deinit(&bytes);
    }
    weir_buffer_deinit(&elements);
    return is_good;
}

static bool get_view(struct reader *reader, struct weir_column *column, uint32_t row)
{
    if (column->type.kind == WEIR_TYPE_ARRAY) {
        return get_array(reader, &column->type, &column->view[row]);
    }
    return get_bytes(reader, &column->view[row]) &&
           (column->type.kind != WEIR_TYPE_CHAR ||
            weir_char_fit(column->view[row], column->type.modifier, reader->arena,
                          &column->view[row], NULL));
}

static bool get_value(struct reader *reader, struct weir_column *column, uint32_t row)
{
    int64_t integer = 0;
    uint64_t bits = 0;
    switch (weir_type_layout(column->type.kind)) {
    case WEIR_LAYOUT_U8:
        return get_big_endian(reader, 1, &bits) && (column->u8[row] = (uint8_t)bits) <= 1;
    case WEIR_LAYOUT_I16:
        return get_integer(reader, 2, &integer) && (column->i16[row] = (int16_t)integer, true);
    case WEIR_LAYOUT_I32:
        return get_integer(reader, 4, &integer) && (column->i32[row] = (int32_t)integer, true);
    case WEIR_LAYOUT_I64:
        return get_integer(reader, 8, &column->i64[row]);
    case WEIR_LAYOUT_F32: {
        bool is_good = get_big_endian(reader, 4, &bits);
        uint32_t half = (uint32_t)unorder_bits(bits, UINT64_C(1) << 31);
        memcpy(&column->f32[row], &half, sizeof half);
        return is_good;
    }
    case WEIR_LAYOUT_F64: {
        bool is_good = get_big_endian(reader, 8, &bits);
        bits = unorder_bits(bits, UINT64_C(1) << 63);
        memcpy(&column->f64[row], &bits, sizeof bits);
        return is_good;
    }
    case WEIR_LAYOUT_NUMERIC:
        return get_numeric(reader, &column->numeric[row]);
    case WEIR_LAYOUT_VIEW:
        return get_view(reader, column, row);
    case WEIR_LAYOUT_INTERVAL:
        return get_interval(reader, &column->interval[row]);
    case WEIR_LAYOUT_UUID:
        return get_uuid(reader, &column->uuid[row]);
    case WEIR_LAYOUT_COMPOSITE:
        return get_columns(reader, column->children, column->type.composite->field_count, row);
    }
    return false;
}

// A NULL composite has NULL fields.
static void set_null(struct weir_column *column, uint32_t row)
{
    weir_bitmap_clear(column->validity, row);
    if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            set_null(&column->children[i], row);
        }
    }
}

static bool get_columns(struct reader *reader, struct weir_column *columns, uint32_t column_count,
                        uint32_t row)
{
    for (uint32_t c = 0; c < column_count; c++) {
        if (reader->at == reader->end) {
            return false;
        }
        unsigned char mark = *reader->at++;
        if (mark == MARK_NULL) {
            set_null(&columns[c], row);
        } else if (mark == MARK_VALUE && get_value(reader, &columns[c], row)) {
            weir_bitmap_set(columns[c].validity, row);
        } else {
            return false;
        }
    }
    return true;
}

bool weir_key_decode(struct weir_view key, struct weir_column *columns, uint32_t column_count,
                     uint32_t row, struct weir_arena *arena)
{
    struct reader reader = {.at = (const unsigned char *)key.data,
                            .end = (const unsigned char *)key.data + key.size_bytes,
                            .arena = arena};
    return get_columns(&reader, columns, column_count, row) && reader.at == reader.end;
}

uint16_t weir_key_group(struct weir_view key)
{
    return (uint16_t)(XXH3_64bits(key.data, key.size_bytes) % WEIR_KEY_GROUP_COUNT);
}
