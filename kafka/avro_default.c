// SPDX-License-Identifier: Apache-2.0
// See avro_default.h.
#include "kafka/avro_default.h"

#include "kafka/avro_wire.h"

#include <math.h>

// A union tries its branches one after another, within one another without end in sight.
enum { STEPS_MAX = 100000 };

static bool append_value(const struct weir_avro_type *type, yyjson_val *value, uint32_t *steps,
                         struct weir_buffer *out);

static bool append_integer(yyjson_val *value, int64_t least, int64_t most, struct weir_buffer *out)
{
    if (!yyjson_is_int(value) || (yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX)) {
        return false;
    }
    int64_t number = yyjson_get_sint(value);
    if (number < least || number > most) {
        return false;
    }
    weir_avro_append_long(out, number);
    return true;
}

static bool append_float(yyjson_val *value, bool is_double, struct weir_buffer *out)
{
    double number;
    if (yyjson_is_num(value)) {
        number = yyjson_get_num(value);
    } else if (yyjson_equals_str(value, "NaN")) { // as Java writes them
        number = NAN;
    } else if (yyjson_equals_str(value, "Infinity") || yyjson_equals_str(value, "-Infinity")) {
        number = yyjson_get_str(value)[0] == '-' ? -INFINITY : INFINITY;
    } else {
        return false;
    }
    float single = (float)number;
    weir_buffer_append(out, is_double ? (void *)&number : (void *)&single, is_double ? 8 : 4);
    return true;
}

// The bytes that the characters of a string stand for; false: one is above U+00FF.
static bool append_bytes(yyjson_val *value, struct weir_buffer *out)
{
    const unsigned char *text = (const unsigned char *)yyjson_get_str(value);
    size_t size_bytes = yyjson_get_len(value);
    for (size_t i = 0; i < size_bytes; i++) {
        unsigned c = text[i];
        if (c >= 0x80) {
            if (c > 0xc3 || i + 1 == size_bytes) {
                return false;
            }
            c = (c & 3) << 6 | (text[++i] & 0x3f);
        }
        weir_buffer_append_char(out, (char)c);
    }
    return true;
}

static struct weir_view text_of(yyjson_val *value)
{
    return (struct weir_view){yyjson_get_str(value), yyjson_get_len(value)};
}

static bool append_string(const struct weir_avro_type *type, yyjson_val *value,
                          struct weir_buffer *out)
{
    if (!yyjson_is_str(value)) {
        return false;
    }
    if (type->kind == WEIR_AVRO_STRING) {
        weir_avro_append_bytes(out, text_of(value));
        return true;
    }
    struct weir_buffer bytes = {0};
    bool is_good = append_bytes(value, &bytes) &&
                   (type->kind == WEIR_AVRO_BYTES || bytes.size_bytes == type->size_bytes);
    if (is_good && type->kind == WEIR_AVRO_BYTES) {
        weir_avro_append_long(out, (int64_t)bytes.size_bytes);
    }
    weir_buffer_append(out, bytes.data, bytes.size_bytes);
    weir_buffer_deinit(&bytes);
    return is_good;
}

static bool append_enum(const struct weir_avro_type *type, yyjson_val *value,
                        struct weir_buffer *out)
{
    for (uint32_t i = 0; i < type->symbol_count; i++) {
        if (yyjson_equals_strn(value, type->symbols[i].data, type->symbols[i].size_bytes)) {
            weir_avro_append_long(out, i);
            return true;
        }
    }
    return false;
}

static bool append_record(const struct weir_avro_type *type, yyjson_val *value, uint32_t *steps,
                          struct weir_buffer *out)
{
    if (!yyjson_is_obj(value)) {
        return false;
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct weir_avro_field *field = &type->fields[i];
        yyjson_val *member = yyjson_obj_get(value, field->name);
        if (member == NULL && field->default_bytes.data == NULL) {
            return false;
        }
        if (member == NULL) {
            weir_buffer_append(out, field->default_bytes.data, field->default_bytes.size_bytes);
        } else if (!append_value(field->type, member, steps, out)) {
            return false;
        }
    }
    return true;
}

static bool append_items(const struct weir_avro_type *type, yyjson_val *value, uint32_t *steps,
                         struct weir_buffer *out)
{
    bool is_map = type->kind == WEIR_AVRO_MAP;
    size_t idx;
    size_t max;
    yyjson_val *key;
    yyjson_val *item;
    if (is_map ? !yyjson_is_obj(value) : !yyjson_is_arr(value)) {
        return false;
    }
    size_t count = is_map ? yyjson_obj_size(value) : yyjson_arr_size(value);
    if (count != 0) {
        weir_avro_append_long(out, (int64_t)count);
    }
    yyjson_arr_foreach(value, idx, max, item)
    {
        if (!append_value(type->item, item, steps, out)) {
            return false;
        }
    }
    yyjson_obj_foreach(value, idx, max, key, item)
    {
        weir_avro_append_bytes(out, text_of(key));
        if (!append_value(type->item, item, steps, out)) {
            return false;
        }
    }
    weir_avro_append_long(out, 0);
    return true;
}

static bool append_union(const struct weir_avro_type *type, yyjson_val *value, uint32_t *steps,
                         struct weir_buffer *out)
{
    size_t size_bytes = out->size_bytes;
    for (uint32_t i = 0; i < type->branch_count; i++) {
        weir_avro_append_long(out, i);
        if (append_value(type->branches[i], value, steps, out)) {
            return true;
        }
        out->size_bytes = size_bytes;
    }
    return false;
}

static bool append_value(const struct weir_avro_type *type, yyjson_val *value, uint32_t *steps,
                         struct weir_buffer *out)
{
    if (*steps == 0) {
        return false;
    }
    --*steps;
    switch (type->kind) {
    case WEIR_AVRO_NULL:
        return yyjson_is_null(value);
    case WEIR_AVRO_BOOLEAN:
        weir_buffer_append_char(out, yyjson_get_bool(value) ? 1 : 0);
        return yyjson_is_bool(value);
    case WEIR_AVRO_INT:
        return append_integer(value, INT32_MIN, INT32_MAX, out);
    case WEIR_AVRO_LONG:
        return append_integer(value, INT64_MIN, INT64_MAX, out);
    case WEIR_AVRO_FLOAT:
    case WEIR_AVRO_DOUBLE:
        return append_float(value, type->kind == WEIR_AVRO_DOUBLE, out);
    case WEIR_AVRO_BYTES:
    case WEIR_AVRO_STRING:
    case WEIR_AVRO_FIXED:
        return append_string(type, value, out);
    case WEIR_AVRO_ENUM:
        return append_enum(type, value, out);
    case WEIR_AVRO_RECORD:
        return append_record(type, value, steps, out);
    case WEIR_AVRO_ARRAY:
    case WEIR_AVRO_MAP:
        return append_items(type, value, steps, out);
    case WEIR_AVRO_UNION:
        return append_union(type, value, steps, out);
    }
    return false;
}

bool weir_avro_default_append(const struct weir_avro_type *type, yyjson_val *value,
                              struct weir_buffer *out)
{
    uint32_t steps = STEPS_MAX;
    return append_value(type, value, &steps, out);
}
