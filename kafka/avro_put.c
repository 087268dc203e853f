// SPDX-License-Identifier: Apache-2.0
// See avro_put.h: the doing. The deciding is avro_put_create.c.
#include "kafka/avro_put_value.h"
#include "runtime/types/array.h"
#include "runtime/types/numeric.h"

__attribute__((cold, format(printf, 4, 5))) static bool fail(const struct weir_avro_put *put,
                                                             struct weir_arena *arena,
                                                             const char **failure,
                                                             const char *format, ...)
{
    va_list args;
    char text[256];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *failure = weir_arena_printf(arena, "column \"%s\": %s", put->path, text);
    return false;
}

static struct weir_numeric numeric_of(const struct weir_column *column, uint32_t row,
                                      struct weir_arena *arena)
{
    switch (weir_type_layout(column->type.kind)) {
    case WEIR_LAYOUT_I16:
        return weir_numeric_from_int64(column->i16[row], arena);
    case WEIR_LAYOUT_I32:
        return weir_numeric_from_int64(column->i32[row], arena);
    case WEIR_LAYOUT_I64:
        return weir_numeric_from_int64(column->i64[row], arena);
    case WEIR_LAYOUT_NUMERIC:
    case WEIR_LAYOUT_U8:
    case WEIR_LAYOUT_F32:
    case WEIR_LAYOUT_F64:
    case WEIR_LAYOUT_VIEW:
    case WEIR_LAYOUT_COMPOSITE:
    case WEIR_LAYOUT_INTERVAL:
    case WEIR_LAYOUT_UUID:
        break;
    }
    return column->numeric[row];
}

static bool put_decimal(const struct weir_avro_put *put, const struct weir_column *column,
                        uint32_t row, struct weir_arena *arena, struct weir_buffer *out,
                        const char **failure)
{
    struct weir_numeric value = numeric_of(column, row, arena);
    struct weir_value_error error;
    const struct weir_avro_type *type = put->type;
    // PostgreSQL's numeric(p,s) has at most 1000 digits.
    uint32_t precision = type->precision < 1000 ? type->precision : 1000;
    if (!weir_numeric_is_finite(value)) {
        return fail(put, arena, failure, "NaN and infinity do not fit an Avro decimal");
    }
    if (!weir_numeric_apply_modifier(
            value, weir_numeric_modifier((int32_t)precision, (int32_t)type->scale), arena, &value,
            &error)) {
        return fail(put, arena, failure, "%s: the field is decimal(%u,%u)", error.text,
                    type->precision, type->scale);
    }
    struct weir_buffer bytes = {0};
    weir_numeric_append_unscaled_bytes(&bytes, value);
    bool is_good = true;
    if (type->kind == WEIR_AVRO_BYTES) {
        weir_avro_append_bytes(out, (struct weir_view){bytes.data, bytes.size_bytes});
    } else if (bytes.size_bytes > type->size_bytes) {
        is_good = fail(put, arena, failure, "a number does not fit %u bytes", type->size_bytes);
    } else { // filled up with the sign
        size_t more_bytes = type->size_bytes - bytes.size_bytes;
        memset(weir_buffer_reserve(out, more_bytes), bytes.data[0] < 0 ? 0xff : 0, more_bytes);
        out->size_bytes += more_bytes;
        weir_buffer_append(out, bytes.data, bytes.size_bytes);
    }
    weir_buffer_deinit(&bytes);
    return is_good;
}

static bool put_enum(const struct weir_avro_put *put, struct weir_view text,
                     struct weir_arena *arena, struct weir_buffer *out, const char **failure)
{
    for (uint32_t i = 0; i < put->type->symbol_count; i++) {
        if (weir_view_equal(put->type->symbols[i], text)) {
            weir_avro_append_long(out, i);
            return true;
        }
    }
    return fail(put, arena, failure, "\"%.*s\" is no symbol of enum %s",
                (int)(text.size_bytes < 64 ? text.size_bytes : 64), text.data, put->type->name);
}

static bool put_duration(const struct weir_avro_put *put, struct weir_interval value,
                         struct weir_arena *arena, struct weir_buffer *out, const char **failure)
{
    int64_t ms = value.us / 1000;
    if (value.months < 0 || value.days < 0 || value.us < 0 || ms > UINT32_MAX) {
        return fail(put, arena, failure,
                    "an Avro duration has no sign, and at most 4294967295 milliseconds");
    }
    const uint32_t parts[3] = {(uint32_t)value.months, (uint32_t)value.days, (uint32_t)ms};
    weir_buffer_append(out, parts, sizeof parts);
    return true;
}

static void put_text(const struct weir_avro_put *put, const struct weir_column *column,
                     uint32_t row, struct weir_buffer *out)
{
    struct weir_buffer text = {0};
    put->append(&text, column, row);
    weir_avro_append_bytes(out, (struct weir_view){text.data, text.size_bytes});
    weir_buffer_deinit(&text);
}

static bool put_array(const struct weir_avro_put *put, const struct weir_column *column,
                      uint32_t row, struct weir_arena *arena, struct weir_buffer *out,
                      const char **failure)
{
    struct weir_array array;
    weir_array_open(column->view[row], &column->type, arena, &array);
    if (array.dimension_count > 1) {
        return fail(put, arena, failure, "an array of %u dimensions does not fit an Avro array",
                    array.dimension_count);
    }
    if (array.element_count != 0) {
        weir_avro_append_long(out, array.element_count);
    }
    for (uint32_t i = 0; i < array.element_count; i++) {
        if (!weir_avro_put(put->parts, &array.elements, i, arena, out, failure)) {
            return false;
        }
    }
    weir_avro_append_long(out, 0);
    return true;
}

// What is rarer than numbers and texts.
__attribute__((noinline)) static bool put_other(const struct weir_avro_put *put,
                                                const struct weir_column *column, uint32_t row,
                                                struct weir_arena *arena, struct weir_buffer *out,
                                                const char **failure)
{
    double wide;
    switch (put->code) {
    case WEIR_AVRO_PUT_F32:
        weir_buffer_append(out, &column->f32[row], sizeof(float));
        return true;
    case WEIR_AVRO_PUT_F32_DOUBLE:
        wide = (double)column->f32[row];
        weir_buffer_append(out, &wide, sizeof wide);
        return true;
    case WEIR_AVRO_PUT_FIXED:
        if (column->view[row].size_bytes != put->type->size_bytes) {
            return fail(put, arena, failure, "%zu bytes do not fit a fixed of %u",
                        column->view[row].size_bytes, put->type->size_bytes);
        }
        weir_buffer_append(out, column->view[row].data, put->type->size_bytes);
        return true;
    case WEIR_AVRO_PUT_ENUM:
        return put_enum(put, column->view[row], arena, out, failure);
    case WEIR_AVRO_PUT_DECIMAL:
        return put_decimal(put, column, row, arena, out, failure);
    case WEIR_AVRO_PUT_TIME_MS:
        weir_avro_append_long(out, column->i64[row] / 1000);
        return true;
    case WEIR_AVRO_PUT_DURATION:
        return put_duration(put, ((const struct weir_interval *)column->data)[row], arena, out,
                            failure);
    case WEIR_AVRO_PUT_UUID_FIXED:
        weir_buffer_append(out, &((const struct weir_uuid *)column->data)[row],
                           sizeof(struct weir_uuid));
        return true;
    case WEIR_AVRO_PUT_TEXT:
        put_text(put, column, row, out);
        return true;
    case WEIR_AVRO_PUT_ARRAY:
        return put_array(put, column, row, arena, out, failure);
    case WEIR_AVRO_PUT_RECORD:
        return weir_avro_put_row(put, column->children, row, arena, out, failure);
    case WEIR_AVRO_PUT_I64:
    case WEIR_AVRO_PUT_BYTES:
    case WEIR_AVRO_PUT_TIMESTAMP_MS:
    case WEIR_AVRO_PUT_TIMESTAMP_US:
    case WEIR_AVRO_PUT_I32:
    case WEIR_AVRO_PUT_I16:
    case WEIR_AVRO_PUT_F64:
    case WEIR_AVRO_PUT_DATE:
    case WEIR_AVRO_PUT_BOOLEAN:
    case WEIR_AVRO_PUT_DEFAULT:
        break;
    }
    WEIR_ASSERT(!"put_value does these");
}

// Why a plain value does not fit.
__attribute__((cold)) static bool fail_plain(const struct weir_avro_put *put, int64_t value,
                                             struct weir_arena *arena, const char **failure)
{
    if (put->code == WEIR_AVRO_PUT_I64) {
        return fail(put, arena, failure, "%lld does not fit an Avro int", (long long)value);
    }
    if (put->code == WEIR_AVRO_PUT_DATE) {
        return fail(put, arena, failure, "an infinite date has no form in Avro");
    }
    return fail(put, arena, failure,
                weir_timestamp_is_finite(value) ? "a timestamp is too far ahead for microseconds"
                                                : "an infinite timestamp has no form in Avro");
}

static inline bool put_plain(const struct weir_avro_put *put, const struct weir_column *column,
                             uint32_t row, struct weir_arena *arena, struct weir_buffer *out,
                             const char **failure)
{
    size_t text_bytes = put->code == WEIR_AVRO_PUT_BYTES ? column->view[row].size_bytes : 0;
    char *to = weir_buffer_reserve(out, WEIR_AVRO_VALUE_BYTES_MAX + text_bytes);
    const char *end = weir_avro_write_value(put, column, row, to);
    if (__builtin_expect(end == NULL, 0)) {
        return fail_plain(put, put->code == WEIR_AVRO_PUT_DATE ? 0 : column->i64[row], arena,
                          failure);
    }
    out->size_bytes += (size_t)(end - to);
    return true;
}

static inline bool put_value(const struct weir_avro_put *put, const struct weir_column *column,
                             uint32_t row, struct weir_arena *arena, struct weir_buffer *out,
                             const char **failure)
{
    if (put->code == WEIR_AVRO_PUT_DEFAULT) {
        weir_buffer_append(out, put->bytes.data, put->bytes.size_bytes);
        return true;
    }
    if (!weir_column_is_valid(column, row)) {
        if (put->null_branch < 0) {
            return fail(put, arena, failure, "NULL, and the schema has no null there");
        }
        weir_avro_append_long(out, put->null_branch);
        return true;
    }
    if (put->branch >= 0) {
        weir_avro_append_long(out, put->branch);
    }
    if (weir_avro_put_is_plain(put)) {
        return put_plain(put, column, row, arena, out, failure);
    }
    return put_other(put, column, row, arena, out, failure);
}

bool weir_avro_put(const struct weir_avro_put *put, const struct weir_column *column, uint32_t row,
                   struct weir_arena *arena, struct weir_buffer *out, const char **failure)
{
    return put_value(put, column, row, arena, out, failure);
}

bool weir_avro_put_row(const struct weir_avro_put *record, const struct weir_column *columns,
                       uint32_t row, struct weir_arena *arena, struct weir_buffer *out,
                       const char **failure)
{
    for (uint32_t i = 0; i < record->part_count; i++) {
        const struct weir_avro_put *part = &record->parts[i];
        if (!put_value(part, &columns[part->column_idx], row, arena, out, failure)) {
            return false;
        }
    }
    return true;
}
