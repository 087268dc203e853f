// SPDX-License-Identifier: Apache-2.0
// See json_out.h. Strings are copied eight bytes at a time up to the next character that needs an
// escape; numbers go straight into the buffer.
#include "runtime/types/json_out.h"

#include "runtime/base/assert.h"
#include "runtime/types/array.h"
#include "runtime/types/datetime.h"
#include "runtime/types/digits.h"
#include "runtime/types/interval.h"
#include "runtime/types/json_text.h"
#include "runtime/types/text_io.h"

#include <math.h>

// --- strings ---------------------------------------------------------------------------------

enum { ESCAPE_BYTES_MAX = 6, STRING_CHUNK_BYTES = 1024 };

// The high bit of the first byte that needs an escape is set: below 0x20, quote or backslash. Bits
// behind the first may be wrong, as borrows run upwards.
static uint64_t escape_mask(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    uint64_t quotes = word ^ ones * '"';
    uint64_t backslashes = word ^ ones * '\\';
    uint64_t controls = (word - ones * 0x20) & ~word;
    quotes = (quotes - ones) & ~quotes;
    backslashes = (backslashes - ones) & ~backslashes;
    return (controls | quotes | backslashes) & highs;
}

static bool needs_escape(char c)
{
    return (uint8_t)c < 0x20 || c == '"' || c == '\\';
}

static char *write_escape(char *out, char c)
{
    *out++ = '\\';
    switch (c) {
    case '"':
    case '\\':
        *out++ = c;
        return out;
    case '\b':
        *out++ = 'b';
        return out;
    case '\f':
        *out++ = 'f';
        return out;
    case '\n':
        *out++ = 'n';
        return out;
    case '\r':
        *out++ = 'r';
        return out;
    case '\t':
        *out++ = 't';
        return out;
    default:
        memcpy(out, "u00", 3);
        out[3] = (char)('0' + ((uint8_t)c >> 4));
        out[4] = "0123456789abcdef"[c & 15];
        return out + 5;
    }
}

static char *write_escaped(char *out, const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        memcpy(out, &word, sizeof word);
        uint64_t mask = escape_mask(word);
        if (__builtin_expect(mask == 0, 1)) {
            at += 8;
            out += 8;
            continue;
        }
        // The least significant byte comes first: little endian, as on every platform we build for.
        uint32_t plain = (uint32_t)__builtin_ctzll(mask) / 8;
        at += plain;
        out = write_escape(out + plain, *at++);
    }
    for (; at < end; at++) {
        if (needs_escape(*at)) {
            out = write_escape(out, *at);
        } else {
            *out++ = *at;
        }
    }
    return out;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "see write_escaped");

void weir_json_append_string(struct weir_buffer *buffer, struct weir_view text)
{
    const char *at = text.data;
    const char *end = text.data + text.size_bytes;
    weir_buffer_append_char(buffer, '"');
    while (at < end) {
        const char *chunk_end = end - at > STRING_CHUNK_BYTES ? at + STRING_CHUNK_BYTES : end;
        size_t reserve_bytes = (size_t)(chunk_end - at) * ESCAPE_BYTES_MAX + 8;
        char *start = weir_buffer_reserve(buffer, reserve_bytes);
        buffer->size_bytes += (size_t)(write_escaped(start, at, chunk_end) - start);
        at = chunk_end;
    }
    weir_buffer_append_char(buffer, '"');
}

// --- values ----------------------------------------------------------------------------------

static void append_boolean(struct weir_buffer *buffer, const struct weir_column *column,
                           uint32_t row)
{
    if (column->u8[row] != 0) {
        weir_buffer_append(buffer, "true", 4);
    } else {
        weir_buffer_append(buffer, "false", 5);
    }
}

static void append_smallint(struct weir_buffer *buffer, const struct weir_column *column,
                            uint32_t row)
{
    weir_integer_append(buffer, column->i16[row]);
}

static void append_integer(struct weir_buffer *buffer, const struct weir_column *column,
                           uint32_t row)
{
    weir_integer_append(buffer, column->i32[row]);
}

static void append_bigint(struct weir_buffer *buffer, const struct weir_column *column,
                          uint32_t row)
{
    weir_integer_append(buffer, column->i64[row]);
}

static void append_real(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    float value = column->f32[row];
    if (isfinite(value)) {
        weir_real_append(buffer, value);
        return;
    }
    weir_buffer_append_char(buffer, '"');
    weir_real_append(buffer, value);
    weir_buffer_append_char(buffer, '"');
}

static void append_double(struct weir_buffer *buffer, const struct weir_column *column,
                          uint32_t row)
{
    double value = column->f64[row];
    if (isfinite(value)) {
        weir_double_append(buffer, value);
        return;
    }
    weir_buffer_append_char(buffer, '"');
    weir_double_append(buffer, value);
    weir_buffer_append_char(buffer, '"');
}

static void append_numeric(struct weir_buffer *buffer, const struct weir_column *column,
                           uint32_t row)
{
    struct weir_numeric value = column->numeric[row];
    if (weir_numeric_is_finite(value)) {
        weir_numeric_append(buffer, value);
        return;
    }
    weir_buffer_append_char(buffer, '"');
    weir_numeric_append(buffer, value);
    weir_buffer_append_char(buffer, '"');
}

static void append_text(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_json_append_string(buffer, column->view[row]);
}

static void append_bytea(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_buffer_append(buffer, "\"\\", 2); // the backslash of \x is doubled
    weir_bytea_append(buffer, column->view[row]);
    weir_buffer_append_char(buffer, '"');
}

static void append_date(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_buffer_append_char(buffer, '"');
    weir_date_append(buffer, column->i32[row]);
    weir_buffer_append_char(buffer, '"');
}

static void append_timestamp(struct weir_buffer *buffer, const struct weir_column *column,
                             uint32_t row)
{
    weir_timestamp_append_json(buffer, column->i64[row]);
}

static void append_timestamptz(struct weir_buffer *buffer, const struct weir_column *column,
                               uint32_t row)
{
    weir_timestamptz_append_json(buffer, column->i64[row]);
}

static void append_jsonb(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_buffer_append(buffer, column->view[row].data, column->view[row].size_bytes);
}

static void append_json(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_json_append_compact(buffer, column->view[row]);
}

static void append_time(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_buffer_append_char(buffer, '"');
    weir_time_append(buffer, column->i64[row]);
    weir_buffer_append_char(buffer, '"');
}

static void append_interval(struct weir_buffer *buffer, const struct weir_column *column,
                            uint32_t row)
{
    weir_buffer_append_char(buffer, '"');
    weir_interval_append(buffer, column->interval[row]);
    weir_buffer_append_char(buffer, '"');
}

static void append_uuid(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_buffer_append_char(buffer, '"');
    weir_uuid_append(buffer, &column->uuid[row]);
    weir_buffer_append_char(buffer, '"');
}

static void append_array(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_array_append_json(buffer, column->view[row], &column->type);
}

static void append_fields(struct weir_buffer *buffer, uint32_t field_count,
                          const struct weir_field *fields, const struct weir_column *columns,
                          uint32_t row)
{
    weir_buffer_append_char(buffer, '{');
    for (uint32_t i = 0; i < field_count; i++) {
        if (i != 0) {
            weir_buffer_append_char(buffer, ',');
        }
        weir_json_append_string(buffer, weir_view_of(fields[i].name));
        weir_buffer_append_char(buffer, ':');
        weir_json_append_value(buffer, &columns[i], row);
    }
    weir_buffer_append_char(buffer, '}');
}

static void append_composite(struct weir_buffer *buffer, const struct weir_column *column,
                             uint32_t row)
{
    const struct weir_composite *composite = column->type.composite;
    append_fields(buffer, composite->field_count, composite->fields, column->children, row);
}

void weir_json_append_row(struct weir_buffer *buffer, const struct weir_schema *schema,
                          const struct weir_column *columns, uint32_t row)
{
    append_fields(buffer, schema->column_count, schema->columns, columns, row);
}

weir_json_append_fn weir_json_append_function(enum weir_type_kind kind)
{
    switch (kind) {
    case WEIR_TYPE_BOOLEAN:
        return append_boolean;
    case WEIR_TYPE_SMALLINT:
        return append_smallint;
    case WEIR_TYPE_INTEGER:
        return append_integer;
    case WEIR_TYPE_BIGINT:
        return append_bigint;
    case WEIR_TYPE_REAL:
        return append_real;
    case WEIR_TYPE_DOUBLE:
        return append_double;
    case WEIR_TYPE_NUMERIC:
        return append_numeric;
    case WEIR_TYPE_TEXT:
    case WEIR_TYPE_VARCHAR:
    case WEIR_TYPE_CHAR:
        return append_text;
    case WEIR_TYPE_BYTEA:
        return append_bytea;
    case WEIR_TYPE_DATE:
        return append_date;
    case WEIR_TYPE_TIMESTAMP:
        return append_timestamp;
    case WEIR_TYPE_TIMESTAMPTZ:
        return append_timestamptz;
    case WEIR_TYPE_JSONB:
        return append_jsonb;
    case WEIR_TYPE_COMPOSITE:
        return append_composite;
    case WEIR_TYPE_TIME:
        return append_time;
    case WEIR_TYPE_INTERVAL:
        return append_interval;
    case WEIR_TYPE_UUID:
        return append_uuid;
    case WEIR_TYPE_JSON:
        return append_json;
    case WEIR_TYPE_ARRAY:
        return append_array;
    }
    WEIR_ASSERT(false && "a type that does not exist");
    return NULL;
}
