// SPDX-License-Identifier: Apache-2.0
// See json_convert.h. As in jsonb_to_record a scalar goes through the type's input function with
// its text: strings without quotes and escapes, numbers and words as they are written. What is
// common (plain integers, plain strings) is done in place.
#include "kafka/json_convert.h"

#include "kafka/json_meaning.h"
#include "kafka/json_string.h"
#include "runtime/base/assert.h"
#include "runtime/types/datetime.h"
#include "runtime/types/jsonb.h"
#include "runtime/types/text_io.h"

#include <math.h>

enum { INTEGER_TEXT_BYTES_MAX = 64 }; // no integer type takes as many digits

// The text of a value that is not null: containers as received. Strings with escapes are put into
// the arena.
static inline bool written_text(struct weir_json_conversion *conversion,
                                const struct weir_json_slot *slot, struct weir_view *text)
{
    *text = (struct weir_view){.data = slot->data, .size_bytes = slot->size_bytes};
    if (slot->kind != WEIR_JSON_STRING || slot->is_plain) {
        return true;
    }
    char *unescaped = weir_arena_alloc(conversion->arena, slot->size_bytes);
    bool has_nul;
    size_t size_bytes = weir_json_unescape(*text, unescaped, &has_nul);
    weir_arena_realloc(conversion->arena, unescaped, slot->size_bytes, size_bytes);
    *text = (struct weir_view){.data = unescaped, .size_bytes = size_bytes};
    if (has_nul) {
        weir_value_error_set(&conversion->error, "unsupported Unicode escape sequence");
        return weir_value_error_detail(&conversion->error, "\\u0000 cannot be converted to text");
    }
    return true;
}

// The text that other types than text get: containers in the form that jsonb prints.
static inline bool value_text(struct weir_json_conversion *conversion,
                              const struct weir_json_slot *slot, struct weir_view *text)
{
    if (__builtin_expect(slot->kind < WEIR_JSON_OBJECT, 1)) {
        return written_text(conversion, slot, text);
    }
    const struct weir_view json = {.data = slot->data, .size_bytes = slot->size_bytes};
    return weir_jsonb_parse(json, conversion->arena, text, &conversion->error);
}

// --- numbers ---------------------------------------------------------------------------------

// A number with a point or an exponent for an integer column: as PostgreSQL has it, its numeric
// form is what the integer's input function gets, so that 1e3 and 1.5e1 fit and 1.0 does not.
static bool integer_text(struct weir_json_conversion *conversion, struct weir_view *text)
{
    struct weir_numeric value;
    if (!weir_numeric_parse(*text, -1, conversion->arena, &value, &conversion->error)) {
        return false;
    }
    struct weir_buffer digits = {0};
    weir_numeric_append(&digits, value);
    // 1e100000 is as much out of range when it is cut.
    size_t size_bytes =
        digits.size_bytes < INTEGER_TEXT_BYTES_MAX ? digits.size_bytes : INTEGER_TEXT_BYTES_MAX;
    *text = weir_arena_copy(conversion->arena,
                            (struct weir_view){.data = digits.data, .size_bytes = size_bytes});
    weir_buffer_deinit(&digits);
    return true;
}

static bool convert_integer(struct weir_json_conversion *conversion,
                            const struct weir_json_slot *slot, struct weir_column *column,
                            uint32_t row)
{
    struct weir_view text;
    if (!value_text(conversion, slot, &text)) {
        return false;
    }
    if (slot->kind == WEIR_JSON_NUMBER && !slot->is_plain) {
        bool has_fraction = memchr(text.data, '.', text.size_bytes) != NULL;
        bool has_exponent = memchr(text.data, 'e', text.size_bytes) != NULL ||
                            memchr(text.data, 'E', text.size_bytes) != NULL;
        if ((has_fraction || has_exponent) && !integer_text(conversion, &text)) {
            return false;
        }
    }
    return weir_text_parse(column, row, text, conversion->arena, &conversion->error);
}

static bool convert_real(struct weir_json_conversion *conversion, const struct weir_json_slot *slot,
                         struct weir_column *column, uint32_t row)
{
    if (slot->kind == WEIR_JSON_NUMBER) {
        if (slot->is_plain) { // both conversions round once, as strtof does
            float value = (float)slot->integer;
            column->f32[row] = slot->data[0] == '-' ? -fabsf(value) : value; // -0 stays
            return true;
        }
        return weir_real_parse_json_number((struct weir_view){slot->data, slot->size_bytes},
                                           &column->f32[row], &conversion->error);
    }
    struct weir_view text;
    return value_text(conversion, slot, &text) &&
           weir_real_parse(text, &column->f32[row], &conversion->error);
}

static bool convert_double(struct weir_json_conversion *conversion,
                           const struct weir_json_slot *slot, struct weir_column *column,
                           uint32_t row)
{
    if (slot->kind == WEIR_JSON_NUMBER) {
        if (slot->is_plain) {
            double value = (double)slot->integer;
            column->f64[row] = slot->data[0] == '-' ? -fabs(value) : value;
            return true;
        }
        return weir_double_parse_json_number((struct weir_view){slot->data, slot->size_bytes},
                                             &column->f64[row], &conversion->error);
    }
    struct weir_view text;
    return value_text(conversion, slot, &text) &&
           weir_double_parse(text, &column->f64[row], &conversion->error);
}

static bool convert_numeric(struct weir_json_conversion *conversion,
                            const struct weir_json_slot *slot, struct weir_column *column,
                            uint32_t row)
{
    if (slot->kind == WEIR_JSON_NUMBER && slot->is_plain && column->type.modifier == -1) {
        column->numeric[row] = weir_numeric_small(slot->integer, 0);
        return true;
    }
    struct weir_view text;
    return value_text(conversion, slot, &text) &&
           weir_numeric_parse(text, column->type.modifier, conversion->arena, &column->numeric[row],
                              &conversion->error);
}

// --- timestamps ------------------------------------------------------------------------------

static bool timestamp_range_error(struct weir_json_conversion *conversion,
                                  const struct weir_json_slot *slot,
                                  const struct weir_column *column)
{
    char type_name[64];
    weir_type_name(&column->type, type_name, sizeof type_name);
    return weir_value_error_range(&conversion->error, type_name,
                                  (struct weir_view){slot->data, slot->size_bytes});
}

static int64_t power_of_ten(uint32_t exponent)
{
    int64_t power = 1;
    while (exponent-- > 0) {
        power *= 10;
    }
    return power;
}

// A number with a point or an exponent, in µs since 1970; false: out of range.
static bool exact_us(struct weir_json_conversion *conversion, struct weir_view text, int64_t *us)
{
    struct weir_numeric value;
    struct weir_numeric factor =
        conversion->timestamp_digits <= 6
            ? weir_numeric_small(power_of_ten(6 - conversion->timestamp_digits), 0)
            : weir_numeric_small(1, (uint16_t)(conversion->timestamp_digits - 6));
    return weir_numeric_parse(text, -1, conversion->arena, &value, NULL) &&
           weir_numeric_multiply(value, factor, conversion->arena, &value, NULL) &&
           weir_numeric_to_int64(value, us, NULL); // rounds
}

static bool convert_timestamp_number(struct weir_json_conversion *conversion,
                                     const struct weir_json_slot *slot, struct weir_column *column,
                                     uint32_t row)
{
    int64_t us;
    bool is_in_range =
        slot->is_plain
            ? weir_timestamp_from_unix(slot->integer, conversion->timestamp_digits, &us)
            : exact_us(conversion, (struct weir_view){slot->data, slot->size_bytes}, &us) &&
                  weir_timestamp_from_unix(us, 6, &us);
    if (!is_in_range) {
        return timestamp_range_error(conversion, slot, column);
    }
    column->i64[row] = us;
    return true;
}

static bool convert_timestamp(struct weir_json_conversion *conversion,
                              const struct weir_json_slot *slot, struct weir_column *column,
                              uint32_t row)
{
    if (slot->kind == WEIR_JSON_NUMBER) {
        return convert_timestamp_number(conversion, slot, column, row);
    }
    struct weir_view text;
    if (!value_text(conversion, slot, &text)) {
        return false;
    }
    return column->type.kind == WEIR_TYPE_TIMESTAMP
               ? weir_timestamp_parse(text, &column->i64[row], &conversion->error)
               : weir_timestamptz_parse(text, &column->i64[row], &conversion->error);
}

// --- texts and the rest ----------------------------------------------------------------------

static bool convert_varchar(struct weir_json_conversion *conversion,
                            const struct weir_json_slot *slot, struct weir_column *column,
                            uint32_t row)
{
    struct weir_view text;
    if (!written_text(conversion, slot, &text)) {
        return false;
    }
    column->view[row] = text;
    if (column->type.modifier < 0) {
        return true;
    }
    conversion->reason = WEIR_ROW_ERROR_CONSTRAINT;
    if (!weir_varchar_fit(text, column->type.modifier, &column->view[row], &conversion->error)) {
        return false;
    }
    conversion->reason = WEIR_ROW_ERROR_DECODE;
    return true;
}

static bool convert_char(struct weir_json_conversion *conversion, const struct weir_json_slot *slot,
                         struct weir_column *column, uint32_t row)
{
    struct weir_view text;
    if (!written_text(conversion, slot, &text)) {
        return false;
    }
    conversion->reason = WEIR_ROW_ERROR_CONSTRAINT;
    if (!weir_char_fit(text, column->type.modifier, conversion->arena, &column->view[row],
                       &conversion->error)) {
        return false;
    }
    conversion->reason = WEIR_ROW_ERROR_DECODE;
    return true;
}

// Through the type's input function, whatever the value looks like.
static bool convert_text_form(struct weir_json_conversion *conversion,
                              const struct weir_json_slot *slot, struct weir_column *column,
                              uint32_t row)
{
    struct weir_view text;
    return value_text(conversion, slot, &text) &&
           weir_text_parse(column, row, text, conversion->arena, &conversion->error);
}

// The whole value as received; strings with their quotes.
static struct weir_view json_text(const struct weir_json_slot *slot)
{
    bool is_string = slot->kind == WEIR_JSON_STRING;
    return (struct weir_view){.data = slot->data - is_string,
                              .size_bytes = slot->size_bytes + 2u * is_string};
}

static bool convert_jsonb(struct weir_json_conversion *conversion,
                          const struct weir_json_slot *slot, struct weir_column *column,
                          uint32_t row)
{
    return weir_jsonb_parse(json_text(slot), conversion->arena, &column->view[row],
                            &conversion->error);
}

static bool convert_boolean(struct weir_json_conversion *conversion,
                            const struct weir_json_slot *slot, struct weir_column *column,
                            uint32_t row)
{
    if (slot->kind == WEIR_JSON_TRUE || slot->kind == WEIR_JSON_FALSE) {
        column->u8[row] = slot->kind == WEIR_JSON_TRUE;
        return true;
    }
    return convert_text_form(conversion, slot, column, row);
}

static void set_null(const struct weir_json_target *target, struct weir_column *column,
                     uint32_t row)
{
    for (uint32_t i = 0; i < target->field_count; i++) {
        set_null(&target->fields[i], &column->children[i], row);
    }
    uint32_t value_bytes = weir_layout_bytes(weir_type_layout(column->type.kind));
    if (value_bytes != 0) {
        memset((char *)column->data + (size_t)row * value_bytes, 0, value_bytes);
    }
}

static bool convert_composite(struct weir_json_conversion *conversion,
                              const struct weir_json_target *target,
                              const struct weir_json_slot *slot, struct weir_column *column,
                              uint32_t row)
{
    if (slot->kind != WEIR_JSON_OBJECT) {
        return weir_value_error_set(&conversion->error,
                                    "a JSON object was expected for composite type %s",
                                    column->type.composite->name);
    }
    for (uint32_t i = 0; i < target->field_count; i++) {
        if (!weir_json_convert(conversion, &target->fields[i], &column->children[i], row)) {
            return false;
        }
    }
    return true;
}

bool weir_json_convert_value(struct weir_json_conversion *conversion,
                             const struct weir_json_target *target,
                             const struct weir_json_slot *slot, struct weir_column *column,
                             uint32_t row)
{
    bool is_plain_integer = slot->kind == WEIR_JSON_NUMBER && slot->is_plain;
    if (__builtin_expect(conversion->meaning != NULL, 0)) {
        struct weir_view text;
        bool is_bad;
        if (weir_json_meaning_text(conversion, *conversion->meaning, slot, &text, &is_bad)) {
            return weir_text_parse(column, row, text, conversion->arena, &conversion->error);
        }
        if (is_bad) {
            return false;
        }
    }
    switch (column->type.kind) {
    case WEIR_TYPE_BOOLEAN:
        return convert_boolean(conversion, slot, column, row);
    case WEIR_TYPE_SMALLINT:
        if (is_plain_integer && slot->integer >= INT16_MIN && slot->integer <= INT16_MAX) {
            column->i16[row] = (int16_t)slot->integer;
            return true;
        }
        return convert_integer(conversion, slot, column, row);
    case WEIR_TYPE_INTEGER:
        if (is_plain_integer && slot->integer >= INT32_MIN && slot->integer <= INT32_MAX) {
            column->i32[row] = (int32_t)slot->integer;
            return true;
        }
        return convert_integer(conversion, slot, column, row);
    case WEIR_TYPE_BIGINT:
        if (is_plain_integer) {
            column->i64[row] = slot->integer;
            return true;
        }
        return convert_integer(conversion, slot, column, row);
    case WEIR_TYPE_REAL:
        return convert_real(conversion, slot, column, row);
    case WEIR_TYPE_DOUBLE:
        return convert_double(conversion, slot, column, row);
    case WEIR_TYPE_NUMERIC:
        return convert_numeric(conversion, slot, column, row);
    case WEIR_TYPE_TEXT:
        return written_text(conversion, slot, &column->view[row]);
    case WEIR_TYPE_VARCHAR:
        return convert_varchar(conversion, slot, column, row);
    case WEIR_TYPE_CHAR:
        return convert_char(conversion, slot, column, row);
    case WEIR_TYPE_BYTEA:
    case WEIR_TYPE_DATE:
    case WEIR_TYPE_TIME:
    case WEIR_TYPE_INTERVAL:
    case WEIR_TYPE_UUID:
        return convert_text_form(conversion, slot, column, row);
    case WEIR_TYPE_TIMESTAMP:
    case WEIR_TYPE_TIMESTAMPTZ:
        return convert_timestamp(conversion, slot, column, row);
    case WEIR_TYPE_JSONB:
        return convert_jsonb(conversion, slot, column, row);
    case WEIR_TYPE_JSON:
        column->view[row] = json_text(slot);
        return true;
    case WEIR_TYPE_ARRAY:
        return slot->kind == WEIR_JSON_STRING
                   ? convert_text_form(conversion, slot, column, row)
                   : weir_json_convert_array(conversion, slot, column, row);
    case WEIR_TYPE_COMPOSITE:
        return convert_composite(conversion, target, slot, column, row);
    }
    WEIR_ASSERT(false);
    return false;
}

bool weir_json_convert(struct weir_json_conversion *conversion,
                       const struct weir_json_target *target, struct weir_column *column,
                       uint32_t row)
{
    const struct weir_json_slot *slot = &conversion->slots[target->slot_idx];
    if (slot->kind <= WEIR_JSON_NULL) {
        set_null(target, column, row);
        return true;
    }
    if (__builtin_expect(!weir_json_convert_value(conversion, target, slot, column, row), 0)) {
        if (conversion->failed == NULL) {
            conversion->failed = target;
        }
        return false;
    }
    weir_bitmap_set(column->validity, row);
    return true;
}

void weir_json_clear(const struct weir_json_target *target, struct weir_column *column,
                     uint32_t row)
{
    weir_bitmap_clear(column->validity, row);
    for (uint32_t i = 0; i < target->field_count; i++) {
        weir_json_clear(&target->fields[i], &column->children[i], row);
    }
}
