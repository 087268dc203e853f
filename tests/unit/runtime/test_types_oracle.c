// SPDX-License-Identifier: Apache-2.0
// Every line of fixtures/types_*.tsv, which PostgreSQL 15 wrote (tests/sql/oracle_types.py): what a
// text is as a value, how two values compare, what an expression gives, and the message where it
// fails. With files as arguments those are compared instead, for wider searches.
#include "runtime/base/memory.h"
#include "runtime/types/array.h"
#include "runtime/types/compare.h"
#include "runtime/types/datetime.h"
#include "runtime/types/hash.h"
#include "runtime/types/json_out.h"
#include "runtime/types/text_io.h"

#include "tests/unit/runtime/oracle_intervals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

// Messages repeat the text, of which ours show only the beginning.
enum { FIELDS_MAX = 8, SHOWN_MAX = 20, MESSAGE_BYTES_COMPARED = 120 };

struct line {
    const char *fields[FIELDS_MAX];
    uint32_t count;
};

struct tally {
    uint32_t line_count;
    uint32_t difference_count;
    uint32_t zone_count; // refused zones, which PostgreSQL knows
};

// --- types -----------------------------------------------------------------------------------

static const struct weir_field pair_fields[] = {
    {"a", {WEIR_TYPE_INTEGER, -1, NULL}},
    {"b", {WEIR_TYPE_TEXT, -1, NULL}},
};
static const struct weir_composite pair = {"pair", 2, pair_fields};
static const struct weir_field mixed_fields[] = {
    {"n", {WEIR_TYPE_NUMERIC, -1, NULL}}, {"t", {WEIR_TYPE_TEXT, -1, NULL}},
    {"d", {WEIR_TYPE_DATE, -1, NULL}},    {"p", {WEIR_TYPE_COMPOSITE, -1, &pair}},
    {"f", {WEIR_TYPE_DOUBLE, -1, NULL}},
};
static const struct weir_composite mixed = {"mixed", 5, mixed_fields};

static const struct {
    const char *name;
    enum weir_type_kind kind;
} type_names[] = {
    {"boolean", WEIR_TYPE_BOOLEAN},
    {"smallint", WEIR_TYPE_SMALLINT},
    {"integer", WEIR_TYPE_INTEGER},
    {"bigint", WEIR_TYPE_BIGINT},
    {"real", WEIR_TYPE_REAL},
    {"double precision", WEIR_TYPE_DOUBLE},
    {"numeric", WEIR_TYPE_NUMERIC},
    {"text", WEIR_TYPE_TEXT},
    {"varchar", WEIR_TYPE_VARCHAR},
    {"bytea", WEIR_TYPE_BYTEA},
    {"date", WEIR_TYPE_DATE},
    {"timestamp", WEIR_TYPE_TIMESTAMP},
    {"timestamptz", WEIR_TYPE_TIMESTAMPTZ},
    {"jsonb", WEIR_TYPE_JSONB},
    {"pg_temp.mixed", WEIR_TYPE_COMPOSITE},
    {"pg_temp.pair", WEIR_TYPE_COMPOSITE},
    {"character", WEIR_TYPE_CHAR},
    {"time", WEIR_TYPE_TIME},
    {"interval", WEIR_TYPE_INTERVAL},
    {"uuid", WEIR_TYPE_UUID},
    {"json", WEIR_TYPE_JSON},
};

static struct weir_type type_of(const char *text)
{
    size_t text_bytes = strlen(text);
    if (text_bytes > 2 && strcmp(text + text_bytes - 2, "[]") == 0) {
        char element_name[64];
        snprintf(element_name, sizeof element_name, "%.*s", (int)text_bytes - 2, text);
        struct weir_type element = type_of(element_name);
        return weir_array_type(&element, arena);
    }
    int precision = -1;
    int scale = 0;
    const char *modifier = strchr(text, '(');
    size_t name_bytes = modifier != NULL ? (size_t)(modifier - text) : strlen(text);
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (strlen(type_names[i].name) != name_bytes ||
            strncmp(type_names[i].name, text, name_bytes) != 0) {
            continue;
        }
        struct weir_type type = weir_type_plain(type_names[i].kind);
        if (modifier != NULL && sscanf(modifier, "(%d,%d)", &precision, &scale) >= 1) {
            type.modifier = type.kind == WEIR_TYPE_NUMERIC ? weir_numeric_modifier(precision, scale)
                                                           : precision;
        }
        if (type.kind == WEIR_TYPE_COMPOSITE) {
            type.composite = strcmp(type_names[i].name, "pg_temp.pair") == 0 ? &pair : &mixed;
        }
        return type;
    }
    fail_msg("unknown type %s", text);
    return weir_type_plain(WEIR_TYPE_TEXT);
}

static bool parse_as(const char *type_text, const char *text, struct weir_column *column,
                     struct weir_value_error *error)
{
    struct weir_type type = type_of(type_text);
    weir_column_init(column, &type, 1, true, arena);
    return weir_text_parse(column, 0, weir_view_of(text), arena, error);
}

// --- operations ------------------------------------------------------------------------------

static void answer_input(const struct line *line, struct answer *answer)
{
    struct weir_column column;
    answer->is_ok = parse_as(line->fields[1], line->fields[2], &column, &answer->error);
    if (answer->is_ok) {
        weir_text_append(&answer->text, &column, 0);
        weir_json_append_value(&answer->json, &column, 0);
    }
}

static void answer_comparison(const struct line *line, struct answer *answer)
{
    struct weir_column a, b;
    answer->is_ok = parse_as(line->fields[1], line->fields[2], &a, &answer->error) &&
                    parse_as(line->fields[1], line->fields[3], &b, &answer->error);
    if (!answer->is_ok) {
        return;
    }
    int order = weir_compare_values(&a, 0, &b, 0);
    weir_buffer_printf(&answer->text, "%d", order);
    assert_int_equal(weir_compare_values(&b, 0, &a, 0), -order);
    assert_true((weir_hash_value(&a, 0) == weir_hash_value(&b, 0)) == (order == 0));
}

static bool numeric_to_other(const char *type, struct weir_numeric value, struct answer *answer)
{
    struct weir_value_error *error = &answer->error;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    double f64;
    float f32;
    if (strcmp(type, "smallint") == 0 && weir_numeric_to_int16(value, &i16, error)) {
        weir_integer_append(&answer->text, i16);
    } else if (strcmp(type, "integer") == 0 && weir_numeric_to_int32(value, &i32, error)) {
        weir_integer_append(&answer->text, i32);
    } else if (strcmp(type, "bigint") == 0 && weir_numeric_to_int64(value, &i64, error)) {
        weir_integer_append(&answer->text, i64);
    } else if (strcmp(type, "double precision") == 0 &&
               weir_numeric_to_double(value, &f64, error)) {
        weir_double_append(&answer->text, f64);
    } else if (strcmp(type, "real") == 0 && weir_numeric_to_float(value, &f32, error)) {
        weir_real_append(&answer->text, f32);
    } else {
        return false;
    }
    return true;
}

typedef bool (*binary_fn)(struct weir_numeric a, struct weir_numeric b, struct weir_arena *memory,
                          struct weir_numeric *out, struct weir_value_error *error);

static const struct {
    const char *expression;
    binary_fn function;
} binaries[] = {
    {"$a::numeric + $b::numeric", weir_numeric_add},
    {"$a::numeric - $b::numeric", weir_numeric_subtract},
    {"$a::numeric * $b::numeric", weir_numeric_multiply},
    {"$a::numeric / $b::numeric", weir_numeric_divide},
    {"$a::numeric % $b::numeric", weir_numeric_modulo},
    {"div($a::numeric, $b::numeric)", weir_numeric_divide_integer},
};

static bool answer_unary(const char *expression, struct weir_numeric a, const char *b,
                         struct weir_numeric *out, struct weir_value_error *error)
{
    if (strcmp(expression, "- $a::numeric") == 0) {
        *out = weir_numeric_negate(a, arena);
    } else if (strcmp(expression, "abs($a::numeric)") == 0) {
        *out = weir_numeric_absolute(a, arena);
    } else if (strcmp(expression, "trim_scale($a::numeric)") == 0) {
        *out = weir_numeric_trim_scale(a, arena);
    } else if (strcmp(expression, "sign($a::numeric)") == 0) {
        *out = a.kind == WEIR_NUMERIC_NAN ? a : weir_numeric_small(weir_numeric_sign(a), 0);
    } else if (strcmp(expression, "ceil($a::numeric)") == 0) {
        return weir_numeric_ceil(a, arena, out, error);
    } else if (strcmp(expression, "floor($a::numeric)") == 0) {
        return weir_numeric_floor(a, arena, out, error);
    } else if (strcmp(expression, "round($a::numeric, $b::integer)") == 0) {
        return weir_numeric_round(a, atoi(b), arena, out, error);
    } else if (strcmp(expression, "trunc($a::numeric, $b::integer)") == 0) {
        *out = weir_numeric_truncate(a, atoi(b), arena);
    } else {
        fail_msg("unknown expression %s", expression);
    }
    return true;
}

static bool answer_numeric(const char *expression, const char *text_a, const char *text_b,
                           struct answer *answer)
{
    struct weir_value_error *error = &answer->error;
    struct weir_numeric a, b, out;
    if (!weir_numeric_parse(weir_view_of(text_a), -1, arena, &a, error)) {
        return false;
    }
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        if (strcmp(expression, binaries[i].expression) == 0) {
            bool is_ok = weir_numeric_parse(weir_view_of(text_b), -1, arena, &b, error) &&
                         binaries[i].function(a, b, arena, &out, error);
            if (is_ok) {
                weir_numeric_append(&answer->text, out);
            }
            return is_ok;
        }
    }
    if (strncmp(expression, "$a::numeric::", 13) == 0) {
        return numeric_to_other(expression + 13, a, answer);
    }
    if (!answer_unary(expression, a, text_b, &out, error)) {
        return false;
    }
    weir_numeric_append(&answer->text, out);
    return true;
}

static bool answer_cast_from_float(const char *expression, const char *text, struct answer *answer)
{
    struct weir_numeric out;
    double f64;
    float f32;
    if (strcmp(expression, "$a::real::numeric") == 0) {
        if (!weir_real_parse(weir_view_of(text), &f32, &answer->error)) {
            return false;
        }
        out = weir_numeric_from_float(f32, arena);
    } else {
        if (!weir_double_parse(weir_view_of(text), &f64, &answer->error)) {
            return false;
        }
        out = weir_numeric_from_double(f64, arena);
    }
    weir_numeric_append(&answer->text, out);
    return true;
}

static bool answer_extract(const char *expression, const char *text, struct answer *answer)
{
    const char *name = expression + strlen("extract(");
    enum weir_time_field field = field_of(name, strcspn(name, " "));
    struct weir_numeric out;
    bool is_null;
    if (strstr(expression, "::date") != NULL) {
        int32_t days;
        if (!weir_date_parse(weir_view_of(text), &days, &answer->error)) {
            return false;
        }
        out = weir_date_extract(field, days, &is_null, arena);
    } else {
        int64_t us;
        if (!weir_timestamptz_parse(weir_view_of(text), &us, &answer->error)) {
            return false;
        }
        out = weir_timestamp_extract(field, us, &is_null, arena);
    }
    if (is_null) {
        weir_buffer_append(&answer->text, "NULL", 4);
    } else {
        weir_numeric_append(&answer->text, out);
    }
    return true;
}

static bool answer_datetime(const char *expression, const char *a, const char *b,
                            struct answer *answer)
{
    struct weir_value_error *error = &answer->error;
    int64_t us;
    int32_t days;
    if (strcmp(expression, "$a::date::timestamp") == 0) {
        if (!weir_date_parse(weir_view_of(a), &days, error) ||
            !weir_timestamp_from_date(days, &us, error)) {
            return false;
        }
        weir_timestamp_append(&answer->text, us);
        return true;
    }
    if (!weir_timestamp_parse(weir_view_of(a), &us, error)) {
        return false;
    }
    if (strcmp(expression, "$a::timestamp::date") == 0) {
        weir_date_append(&answer->text, weir_date_from_timestamp(us));
        return true;
    }
    if (strcmp(expression, "$a::timestamp + $b::interval") == 0) {
        long months, interval_days, more_us;
        assert_int_equal(
            sscanf(b, "%ld months %ld days %ld microseconds", &months, &interval_days, &more_us),
            3);
        if (!weir_timestamp_add(us, months, interval_days, more_us, &us, error)) {
            return false;
        }
    } else {
        const char *name = expression + strlen("date_trunc('");
        enum weir_time_field field = field_of(name, strcspn(name, "'"));
        assert_true(weir_time_field_truncates(field));
        if (!weir_timestamp_truncate(field, us, &us, error)) {
            return false;
        }
    }
    weir_timestamp_append(&answer->text, us);
    return true;
}

static void answer_expression(const struct line *line, struct answer *answer)
{
    const char *expression = line->fields[1];
    const char *a = line->fields[2];
    const char *b = line->fields[3];
    if (strstr(expression, "$b::timestamp") != NULL) {
        answer->is_ok = answer_two_timestamps(expression, a, b, answer);
    } else if (strstr(expression, "$a::interval") != NULL) {
        answer->is_ok = answer_interval(expression, a, b, answer);
    } else if (strstr(expression, "$a::time ") != NULL || strstr(expression, "$a::time)") != NULL) {
        answer->is_ok = answer_time(expression, a, b, answer);
    } else if (strncmp(expression, "extract(", 8) == 0) {
        answer->is_ok = answer_extract(expression, a, answer);
    } else if (strstr(expression, "$a::date") != NULL || strstr(expression, "$a::time") != NULL) {
        answer->is_ok = answer_datetime(expression, a, b, answer);
    } else if (strstr(expression, "$a::double") != NULL || strstr(expression, "$a::real") != NULL) {
        answer->is_ok = answer_cast_from_float(expression, a, answer);
    } else {
        answer->is_ok = answer_numeric(expression, a, b, answer);
    }
}

// --- lines -----------------------------------------------------------------------------------

static char unescaped(char c)
{
    return (char)(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c);
}

// Cuts and unescapes in place.
static void split(char *text, struct line *line)
{
    *line = (struct line){.fields = {text}, .count = 1};
    char *out = text;
    for (const char *at = text; *at != '\0' && *at != '\n'; at++) {
        if (*at == '\t') {
            *out++ = '\0';
            assert_true(line->count < FIELDS_MAX);
            line->fields[line->count++] = out;
        } else {
            *out++ = *at == '\\' ? unescaped(*++at) : *at;
        }
    }
    *out = '\0';
    assert_true(line->count >= 6);
}

static bool is_as_expected(const struct line *line, struct answer *answer)
{
    bool is_ok_expected = line->fields[4][0] == '=';
    if (is_ok_expected != answer->is_ok) {
        return false;
    }
    if (!answer->is_ok) {
        return strncmp(line->fields[5], answer->error.text, MESSAGE_BYTES_COMPARED) == 0;
    }
    bool is_same = strcmp(line->fields[5], weir_buffer_text(&answer->text)) == 0;
    // A json column is written without blanks.
    if (line->count > 6 && strcmp(line->fields[1], "json") != 0) {
        is_same = is_same && strcmp(line->fields[6], weir_buffer_text(&answer->json)) == 0;
    }
    return is_same;
}

static bool is_refused_zone(const struct answer *answer)
{
    return !answer->is_ok && strncmp(answer->error.text, "time zone \"", 11) == 0 &&
           strstr(answer->error.text, "not supported") != NULL;
}

static void check_line(char *text, struct tally *tally)
{
    struct line line;
    split(text, &line);
    struct answer answer = {0};
    if (strcmp(line.fields[0], "in") == 0) {
        answer_input(&line, &answer);
    } else if (strcmp(line.fields[0], "cmp") == 0) {
        answer_comparison(&line, &answer);
    } else {
        assert_string_equal(line.fields[0], "expr");
        answer_expression(&line, &answer);
    }
    tally->line_count++;
    if (is_refused_zone(&answer)) {
        tally->zone_count++;
    } else if (!is_as_expected(&line, &answer)) {
        tally->difference_count++;
        if (tally->difference_count <= SHOWN_MAX) {
            print_message("%s %s [%s] [%s]\n  want %s [%s] [%s]\n  have %s [%s] [%s]\n",
                          line.fields[0], line.fields[1], line.fields[2], line.fields[3],
                          line.fields[4], line.fields[5], line.count > 6 ? line.fields[6] : "",
                          answer.is_ok ? "=" : "!",
                          answer.is_ok ? weir_buffer_text(&answer.text) : answer.error.text,
                          weir_buffer_text(&answer.json));
        }
    }
    weir_buffer_deinit(&answer.text);
    weir_buffer_deinit(&answer.json);
    weir_arena_reset(arena);
}

static void check_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("cannot read %s", path);
    }
    arena = weir_arena_create(4096);
    struct tally tally = {0};
    char *text = NULL;
    size_t capacity = 0;
    while (getline(&text, &capacity, file) > 0) {
        check_line(text, &tally);
    }
    free(text);
    fclose(file);
    weir_arena_destroy(arena);
    print_message("%s: %u lines, %u differences, %u zones refused\n", path, tally.line_count,
                  tally.difference_count, tally.zone_count);
    assert_int_equal(tally.difference_count, 0);
    assert_true(tally.line_count > 100);
    assert_true(tally.zone_count * 20 < tally.line_count);
}

static void check_fixture(const char *name)
{
    char path[4096];
    const char *folder_end = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s/fixtures/types_%s.tsv", (int)(folder_end - __FILE__),
             __FILE__, name);
    check_file(path);
}

static void test_types_scalars_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("scalar");
}

static void test_types_floats_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("float");
}

static void test_types_numerics_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("numeric");
}

static void test_types_dates_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("datetime");
}

static void test_types_date_fields_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("datetime_field");
}

static void test_types_jsonb_is_postgresql_s(void **state)
{
    (void)state;
    check_fixture("jsonb");
}

static void test_types_intervals_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("interval");
}

static void test_types_times_and_others_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("time");
}

static void test_types_arrays_are_postgresql_s(void **state)
{
    (void)state;
    check_fixture("array");
}

static char **given_files;

static void test_types_given_files(void **state)
{
    (void)state;
    for (char **path = given_files; *path != NULL; path++) {
        check_file(*path);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest given[] = {cmocka_unit_test(test_types_given_files)};
    const struct CMUnitTest fixtures[] = {
        cmocka_unit_test(test_types_scalars_are_postgresql_s),
        cmocka_unit_test(test_types_floats_are_postgresql_s),
        cmocka_unit_test(test_types_numerics_are_postgresql_s),
        cmocka_unit_test(test_types_dates_are_postgresql_s),
        cmocka_unit_test(test_types_date_fields_are_postgresql_s),
        cmocka_unit_test(test_types_jsonb_is_postgresql_s),
        cmocka_unit_test(test_types_intervals_are_postgresql_s),
        cmocka_unit_test(test_types_times_and_others_are_postgresql_s),
        cmocka_unit_test(test_types_arrays_are_postgresql_s),
    };
    given_files = argv + 1;
    return argc > 1 ? cmocka_run_group_tests(given, NULL, NULL)
                    : cmocka_run_group_tests(fixtures, NULL, NULL);
}
