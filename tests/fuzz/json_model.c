// SPDX-License-Identifier: Apache-2.0
// See json_model.h. Strings for other types than text are judged by the same input functions that
// the decoder calls: what is under test is JSON, not them.
#include "json_model.h"

#include "fuzz.h"
#include "runtime/types/datetime.h"
#include "runtime/types/jsonb.h"
#include "runtime/types/text_io.h"

#include <math.h>

static bool is_null(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

static struct weir_view string_of(const json_t *value)
{
    return (struct weir_view){json_string_value(value), json_string_length(value)};
}

static bool has_nul(struct weir_view text)
{
    return memchr(text.data, '\0', text.size_bytes) != NULL;
}

// U+0000 in a string or a name, at any depth.
static bool has_nul_anywhere(const json_t *value)
{
    if (json_is_string(value)) {
        return has_nul(string_of(value));
    }
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (has_nul_anywhere(json_array_get(value, i))) {
                return true;
            }
        }
    }
    if (json_is_object(value)) {
        const char *name;
        json_t *member;
        json_object_foreach((json_t *)value, name, member)
        {
            if (has_nul_anywhere(member)) { // names with U+0000 are refused by jansson itself
                return true;
            }
        }
    }
    return false;
}

// The text that goes to an input function; false: only the decoder knows how it was spelled.
static bool known_text(const json_t *value, struct weir_view *text)
{
    if (json_is_string(value)) {
        *text = string_of(value);
        return true;
    }
    *text = weir_view_of(json_is_true(value) ? "true" : "false");
    return json_is_boolean(value);
}

static enum json_verdict accept_if(bool condition)
{
    return condition ? JSON_ACCEPT : JSON_REJECT;
}

// A value that is neither null nor, for text, a string with U+0000.
static enum json_verdict scalar_verdict(const struct weir_type *type, const json_t *value)
{
    struct weir_view text;
    if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        if (type->kind == WEIR_TYPE_BIGINT) {
            return JSON_ACCEPT;
        }
        if (type->kind == WEIR_TYPE_SMALLINT) {
            return accept_if(number >= INT16_MIN && number <= INT16_MAX);
        }
        if (type->kind == WEIR_TYPE_TIMESTAMPTZ) {
            int64_t us;
            return accept_if(!__builtin_mul_overflow(number, 1000, &us) &&
                             !__builtin_sub_overflow(us, WEIR_EPOCH_SHIFT_US, &us) &&
                             weir_timestamp_is_valid(us));
        }
    }
    if (json_is_number(value) && type->kind == WEIR_TYPE_DOUBLE) {
        return JSON_ACCEPT; // jansson has refused what overflows
    }
    if (!known_text(value, &text)) {
        return JSON_UNDECIDED;
    }
    // A column to read into, for the types whose values need memory.
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_column column;
    weir_column_init(&column, type, 1, true, arena);
    bool is_accepted = weir_text_parse(&column, 0, text, arena, NULL);
    weir_arena_destroy(arena);
    return accept_if(is_accepted);
}

enum json_verdict json_model_verdict(const struct weir_type *type, const json_t *value)
{
    if (is_null(value)) {
        return JSON_ACCEPT;
    }
    if (type->kind == WEIR_TYPE_JSONB) {
        return has_nul_anywhere(value) ? JSON_REJECT : JSON_UNDECIDED;
    }
    if (type->kind == WEIR_TYPE_COMPOSITE) {
        if (!json_is_object(value)) {
            return JSON_REJECT;
        }
        enum json_verdict verdict = JSON_ACCEPT;
        for (uint32_t i = 0; i < type->composite->field_count; i++) {
            const struct weir_field *field = &type->composite->fields[i];
            enum json_verdict of_field =
                json_model_verdict(&field->type, json_object_get(value, field->name));
            if (of_field == JSON_REJECT) {
                return JSON_REJECT;
            }
            verdict = of_field == JSON_UNDECIDED ? JSON_UNDECIDED : verdict;
        }
        return verdict;
    }
    if (json_is_string(value) && has_nul(string_of(value))) {
        return JSON_REJECT;
    }
    if (type->kind == WEIR_TYPE_TEXT) {
        return JSON_ACCEPT;
    }
    return scalar_verdict(type, value);
}

// Numbers by value, as jsonb and jansson do not spell them alike.
static bool is_same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        return json_number_value(a) == json_number_value(b);
    }
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a); i++) {
            if (!is_same(json_array_get(a, i), json_array_get(b, i))) {
                return false;
            }
        }
        return true;
    }
    if (json_is_object(a) && json_is_object(b) && json_object_size(a) == json_object_size(b)) {
        const char *name;
        json_t *member;
        json_object_foreach((json_t *)a, name, member)
        {
            const json_t *other = json_object_get(b, name);
            if (other == NULL || !is_same(member, other)) {
                return false;
            }
        }
        return true;
    }
    return json_equal(a, b) != 0;
}

static void check_json_text(struct weir_view text, const json_t *value)
{
    // jsonb spells 1e30 as an integer that jansson has no type for.
    const size_t flags = JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL;
    json_t *again = json_loadb(text.data, text.size_bytes, flags, NULL);
    require(again != NULL, "a column holds text that is not JSON");
    require(is_same(again, value), "a column holds other JSON than was sent");
    json_decref(again);
}

static void check_text(struct weir_view text, const json_t *value)
{
    if (json_is_string(value)) {
        require(weir_view_equal(text, string_of(value)), "text");
    } else {
        check_json_text(text, value); // as it was written
    }
}

static void check_timestamp(int64_t us, const json_t *value)
{
    if (json_is_integer(value)) {
        require(us == json_integer_value(value) * 1000 - WEIR_EPOCH_SHIFT_US, "milliseconds");
    } else if (json_is_real(value)) {
        double expected = json_real_value(value) * 1000;
        double error = fabs((double)us + (double)WEIR_EPOCH_SHIFT_US - expected);
        require(error <= 1 + fabs(expected) * 1e-12, "milliseconds with a fraction");
    } else if (json_is_string(value)) { // else a container, whose text only jsonb knows
        int64_t expected;
        require(weir_timestamptz_parse(string_of(value), &expected, NULL) && us == expected,
                "a time as string");
    }
}

static void check_by_text(const struct weir_column *column, uint32_t row, const json_t *value)
{
    struct weir_view text;
    if (!known_text(value, &text)) {
        return;
    }
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_column expected;
    struct weir_buffer texts[2] = {{0}};
    weir_column_init(&expected, &column->type, 1, true, arena);
    require(weir_text_parse(&expected, 0, text, arena, NULL), "an input function changed its mind");
    weir_text_append(&texts[0], column, row);
    weir_text_append(&texts[1], &expected, 0);
    require(strcmp(weir_buffer_text(&texts[0]), weir_buffer_text(&texts[1])) == 0, "a string");
    weir_buffer_deinit(&texts[0]);
    weir_buffer_deinit(&texts[1]);
    weir_arena_destroy(arena);
}

void json_model_check(const struct weir_column *column, uint32_t row, const json_t *value)
{
    bool is_valid = weir_column_is_valid(column, row);
    require(is_valid == !is_null(value), "NULL or not");
    if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            const char *name = column->type.composite->fields[i].name;
            json_model_check(&column->children[i], row,
                             is_valid ? json_object_get(value, name) : NULL);
        }
        return;
    }
    if (!is_valid) {
        return;
    }
    enum weir_type_kind kind = column->type.kind;
    if (kind == WEIR_TYPE_TEXT) {
        check_text(column->view[row], value);
    } else if (kind == WEIR_TYPE_JSONB) {
        check_json_text(column->view[row], value);
    } else if (kind == WEIR_TYPE_TIMESTAMPTZ) {
        check_timestamp(column->i64[row], value);
    } else if (json_is_number(value) && kind == WEIR_TYPE_BIGINT) {
        require(json_is_integer(value) ? column->i64[row] == json_integer_value(value)
                                       : (double)column->i64[row] == json_real_value(value),
                "bigint");
    } else if (json_is_number(value) && kind == WEIR_TYPE_SMALLINT) {
        require(column->i16[row] == json_number_value(value), "smallint");
    } else if (json_is_number(value) && kind == WEIR_TYPE_DOUBLE) {
        require(column->f64[row] == json_number_value(value), "double precision");
    } else if (json_is_number(value) && kind == WEIR_TYPE_NUMERIC) {
        double number;
        if (!weir_numeric_to_double(column->numeric[row], &number, NULL)) {
            // As PostgreSQL's cast does, it refuses what jansson rounds to 0; nothing else.
            require(json_number_value(value) == 0, "numeric");
            return;
        }
        double error = fabs(number - json_number_value(value));
        require(error <= fabs(number) * 1e-15, "numeric");
    } else {
        check_by_text(column, row, value);
    }
}
