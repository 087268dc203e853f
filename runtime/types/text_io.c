// SPDX-License-Identifier: Apache-2.0
// Text input and output by column (text_io.h): one function a type, chosen once a column.
#include "runtime/types/text_io.h"

#include "runtime/base/assert.h"
#include "runtime/types/array.h"
#include "runtime/types/composite_io.h"
#include "runtime/types/datetime.h"
#include "runtime/types/interval.h"
#include "runtime/types/json_text.h"
#include "runtime/types/jsonb.h"

// --- input -----------------------------------------------------------------------------------

// NULL until now: the row has a value.
static bool mark_valid(struct weir_column *column, uint32_t row)
{
    if (column->validity != NULL) {
        weir_bitmap_set(column->validity, row);
    }
    return true;
}

static bool parse_boolean(struct weir_column *column, uint32_t row, struct weir_view text,
                          struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    bool value;
    if (!weir_boolean_parse(text, &value, error)) {
        return false;
    }
    column->u8[row] = value;
    return mark_valid(column, row);
}

static bool parse_smallint(struct weir_column *column, uint32_t row, struct weir_view text,
                           struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_smallint_parse(text, &column->i16[row], error) && mark_valid(column, row);
}

static bool parse_integer(struct weir_column *column, uint32_t row, struct weir_view text,
                          struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_integer_parse(text, &column->i32[row], error) && mark_valid(column, row);
}

static bool parse_bigint(struct weir_column *column, uint32_t row, struct weir_view text,
                         struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_bigint_parse(text, &column->i64[row], error) && mark_valid(column, row);
}

static bool parse_real(struct weir_column *column, uint32_t row, struct weir_view text,
                       struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_real_parse(text, &column->f32[row], error) && mark_valid(column, row);
}

static bool parse_double(struct weir_column *column, uint32_t row, struct weir_view text,
                         struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_double_parse(text, &column->f64[row], error) && mark_valid(column, row);
}

static bool parse_numeric(struct weir_column *column, uint32_t row, struct weir_view text,
                          struct weir_arena *arena, struct weir_value_error *error)
{
    return weir_numeric_parse(text, column->type.modifier, arena, &column->numeric[row], error) &&
           mark_valid(column, row);
}

static bool parse_text(struct weir_column *column, uint32_t row, struct weir_view text,
                       struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    (void)error;
    column->view[row] = text;
    return mark_valid(column, row);
}

static bool parse_varchar(struct weir_column *column, uint32_t row, struct weir_view text,
                          struct weir_arena *arena, struct weir_value_error *error)
{
    if (column->type.modifier < 0) {
        return parse_text(column, row, text, arena, error);
    }
    return weir_varchar_fit(text, column->type.modifier, &column->view[row], error) &&
           mark_valid(column, row);
}

static bool parse_bytea(struct weir_column *column, uint32_t row, struct weir_view text,
                        struct weir_arena *arena, struct weir_value_error *error)
{
    return weir_bytea_parse(text, arena, &column->view[row], error) && mark_valid(column, row);
}

static bool parse_date(struct weir_column *column, uint32_t row, struct weir_view text,
                       struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_date_parse(text, &column->i32[row], error) && mark_valid(column, row);
}

static bool parse_timestamp(struct weir_column *column, uint32_t row, struct weir_view text,
                            struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_timestamp_parse(text, &column->i64[row], error) && mark_valid(column, row);
}

static bool parse_timestamptz(struct weir_column *column, uint32_t row, struct weir_view text,
                              struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_timestamptz_parse(text, &column->i64[row], error) && mark_valid(column, row);
}

static bool parse_jsonb(struct weir_column *column, uint32_t row, struct weir_view text,
                        struct weir_arena *arena, struct weir_value_error *error)
{
    return weir_jsonb_parse(text, arena, &column->view[row], error) && mark_valid(column, row);
}

static bool parse_composite(struct weir_column *column, uint32_t row, struct weir_view text,
                            struct weir_arena *arena, struct weir_value_error *error)
{
    return weir_composite_parse(column, row, text, arena, error) && mark_valid(column, row);
}

static bool parse_char(struct weir_column *column, uint32_t row, struct weir_view text,
                       struct weir_arena *arena, struct weir_value_error *error)
{
    return weir_char_fit(text, column->type.modifier, arena, &column->view[row], error) &&
           mark_valid(column, row);
}

static bool parse_time(struct weir_column *column, uint32_t row, struct weir_view text,
                       struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_time_parse(text, &column->i64[row], error) && mark_valid(column, row);
}

static bool parse_interval(struct weir_column *column, uint32_t row, struct weir_view text,
                           struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_interval_parse(text, &column->interval[row], error) && mark_valid(column, row);
}

static bool parse_uuid(struct weir_column *column, uint32_t row, struct weir_view text,
                       struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    return weir_uuid_parse(text, &column->uuid[row], error) && mark_valid(column, row);
}

static bool parse_json(struct weir_column *column, uint32_t row, struct weir_view text,
                       struct weir_arena *arena, struct weir_value_error *error)
{
    (void)arena;
    column->view[row] = text;
    return weir_json_validate(text, error) && mark_valid(column, row);
}

static bool parse_array(struct weir_column *column, uint32_t row, struct weir_view text,
                        struct weir_arena *arena, struct weir_value_error *error)
{
    return weir_array_parse(text, &column->type, arena, &column->view[row], error) &&
           mark_valid(column, row);
}

weir_text_parse_fn weir_text_parse_function(enum weir_type_kind kind)
{
    switch (kind) {
    case WEIR_TYPE_BOOLEAN:
        return parse_boolean;
    case WEIR_TYPE_SMALLINT:
        return parse_smallint;
    case WEIR_TYPE_INTEGER:
        return parse_integer;
    case WEIR_TYPE_BIGINT:
        return parse_bigint;
    case WEIR_TYPE_REAL:
        return parse_real;
    case WEIR_TYPE_DOUBLE:
        return parse_double;
    case WEIR_TYPE_NUMERIC:
        return parse_numeric;
    case WEIR_TYPE_TEXT:
        return parse_text;
    case WEIR_TYPE_VARCHAR:
        return parse_varchar;
    case WEIR_TYPE_BYTEA:
        return parse_bytea;
    case WEIR_TYPE_DATE:
        return parse_date;
    case WEIR_TYPE_TIMESTAMP:
        return parse_timestamp;
    case WEIR_TYPE_TIMESTAMPTZ:
        return parse_timestamptz;
    case WEIR_TYPE_JSONB:
        return parse_jsonb;
    case WEIR_TYPE_COMPOSITE:
        return parse_composite;
    case WEIR_TYPE_CHAR:
        return parse_char;
    case WEIR_TYPE_TIME:
        return parse_time;
    case WEIR_TYPE_INTERVAL:
        return parse_interval;
    case WEIR_TYPE_UUID:
        return parse_uuid;
    case WEIR_TYPE_JSON:
        return parse_json;
    case WEIR_TYPE_ARRAY:
        return parse_array;
    }
    WEIR_ASSERT(false && "a type that does not exist");
    return NULL;
}

// --- output ----------------------------------------------------------------------------------

static void append_boolean(struct weir_buffer *buffer, const struct weir_column *column,
                           uint32_t row)
{
    weir_boolean_append(buffer, column->u8[row] != 0);
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
    weir_real_append(buffer, column->f32[row]);
}

static void append_double(struct weir_buffer *buffer, const struct weir_column *column,
                          uint32_t row)
{
    weir_double_append(buffer, column->f64[row]);
}

static void append_numeric(struct weir_buffer *buffer, const struct weir_column *column,
                           uint32_t row)
{
    weir_numeric_append(buffer, column->numeric[row]);
}

static void append_view(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_buffer_append(buffer, column->view[row].data, column->view[row].size_bytes);
}

static void append_bytea(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_bytea_append(buffer, column->view[row]);
}

static void append_date(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_date_append(buffer, column->i32[row]);
}

static void append_timestamp(struct weir_buffer *buffer, const struct weir_column *column,
                             uint32_t row)
{
    weir_timestamp_append(buffer, column->i64[row]);
}

static void append_timestamptz(struct weir_buffer *buffer, const struct weir_column *column,
                               uint32_t row)
{
    weir_timestamptz_append(buffer, column->i64[row]);
}

static void append_time(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_time_append(buffer, column->i64[row]);
}

static void append_interval(struct weir_buffer *buffer, const struct weir_column *column,
                            uint32_t row)
{
    weir_interval_append(buffer, column->interval[row]);
}

static void append_uuid(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_uuid_append(buffer, &column->uuid[row]);
}

static void append_array(struct weir_buffer *buffer, const struct weir_column *column, uint32_t row)
{
    weir_array_append_text(buffer, column->view[row], &column->type);
}

weir_text_append_fn weir_text_append_function(enum weir_type_kind kind)
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
    case WEIR_TYPE_JSONB:
    case WEIR_TYPE_JSON:
        return append_view;
    case WEIR_TYPE_BYTEA:
        return append_bytea;
    case WEIR_TYPE_DATE:
        return append_date;
    case WEIR_TYPE_TIMESTAMP:
        return append_timestamp;
    case WEIR_TYPE_TIMESTAMPTZ:
        return append_timestamptz;
    case WEIR_TYPE_COMPOSITE:
        return weir_composite_append;
    case WEIR_TYPE_TIME:
        return append_time;
    case WEIR_TYPE_INTERVAL:
        return append_interval;
    case WEIR_TYPE_UUID:
        return append_uuid;
    case WEIR_TYPE_ARRAY:
        return append_array;
    }
    WEIR_ASSERT(false && "a type that does not exist");
    return NULL;
}
