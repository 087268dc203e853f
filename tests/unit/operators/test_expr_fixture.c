// SPDX-License-Identifier: Apache-2.0
// Expressions against what PostgreSQL 15 gave for them: expressions.txt, made by
// make_expressions.py. A line is tab-separated:
//   columns  name:type …          of the table that the expressions are evaluated over
//   row      value …
//   expr     <prefix form>  <type, or !error>  result of each row …
// Values and results: =text, ~ for NULL, !message for an error of the row; \\ \t \n are escaped.
// * and one result: the same in all rows.
// Every expression is evaluated for all rows at once, and again for every other row.
#include "expr_text.h"

#include "../cmocka_all.h"
#include "runtime/types/text_io.h"

enum { COLUMNS_MAX = 64, ROWS_MAX = 256, CELLS_MAX = 300, SHOWN_MAX = 40 };

struct fixture {
    struct weir_arena *arena; // of the whole run
    struct weir_schema schema;
    struct weir_field fields[COLUMNS_MAX];
    struct weir_batch batch;
    struct weir_column columns[COLUMNS_MAX];
    uint32_t expr_count;
    uint32_t refused_count; // known to PostgreSQL, not to us yet
    uint32_t failure_count;
};

static char *read_file(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", __FILE__);
    char *slash = strrchr(path, '/');
    char *to = name[0] == '/' ? path : slash + 1;
    snprintf(to, sizeof path - (size_t)(to - path), "%s", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        abort();
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    text[fread(text, 1, (size_t)size, file)] = '\0';
    fclose(file);
    return text;
}

// In place.
static void unescape(char *text)
{
    char *to = text;
    for (char *from = text; *from != '\0'; from++) {
        if (*from == '\\' && from[1] != '\0') {
            from++;
            *to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static uint32_t split(char *line, char **cells)
{
    uint32_t count = 0;
    for (char *rest = line; rest != NULL;) {
        char *cell = strsep(&rest, "\t");
        if (count == CELLS_MAX) {
            abort();
        }
        cells[count++] = cell;
    }
    for (uint32_t i = 0; i < count; i++) {
        unescape(cells[i]);
    }
    return count;
}

static void read_columns(struct fixture *fixture, uint32_t count, char **cells)
{
    for (uint32_t i = 0; i < count; i++) {
        char *colon = strchr(cells[i], ':');
        *colon = '\0';
        fixture->fields[i] = (struct weir_field){
            .name = weir_arena_strdup(fixture->arena, cells[i]), .type = expr_text_type(colon + 1)};
        weir_column_init(&fixture->columns[i], &fixture->fields[i].type, ROWS_MAX, true,
                         fixture->arena);
    }
    fixture->schema = (struct weir_schema){.column_count = count, .columns = fixture->fields};
    fixture->batch = (struct weir_batch){.schema = &fixture->schema, .columns = fixture->columns};
}

static void read_row(struct fixture *fixture, uint32_t count, char **cells)
{
    uint32_t row = fixture->batch.row_count++;
    struct weir_value_error error;
    for (uint32_t i = 0; i < count; i++) {
        struct weir_view text = weir_arena_copy(fixture->arena, weir_view_of(cells[i] + 1));
        if (cells[i][0] == '=' &&
            !weir_text_parse(&fixture->columns[i], row, text, fixture->arena, &error)) {
            fprintf(stderr, "row %u, %s: %s\n", row, fixture->fields[i].name, error.text);
            abort();
        }
    }
    fixture->batch.selected_count = fixture->batch.row_count;
}

static void fail_with(struct fixture *fixture, const char *source, const char *where,
                      const char *expected, const char *actual)
{
    if (fixture->failure_count++ < SHOWN_MAX) {
        fprintf(stderr, "%s\n    %s: expected %s\n    %*s    actual %s\n", source, where, expected,
                (int)strlen(where), "", actual);
    }
}

// The result of a row in the fixture's form.
static void append_result(struct weir_buffer *out, const struct weir_eval *eval,
                          const struct weir_column *column, uint32_t row)
{
    out->size_bytes = 0;
    for (uint32_t i = 0; i < weir_eval_error_count(eval); i++) {
        if (weir_eval_errors(eval)[i].row == row) {
            weir_buffer_printf(out, "!%s", weir_eval_errors(eval)[i].message);
            return;
        }
    }
    if (!weir_column_is_valid(column, row)) {
        weir_buffer_append_char(out, '~');
        return;
    }
    weir_buffer_append_char(out, '=');
    weir_text_append(out, column, row);
}

// Our messages may say more behind PostgreSQL's.
static bool is_expected(const char *expected, const char *actual)
{
    return expected[0] == '!' ? strncmp(expected, actual, strlen(expected)) == 0
                              : strcmp(expected, actual) == 0;
}

static void check_rows(struct fixture *fixture, const char *source, const struct weir_expr *expr,
                       char **results, const uint16_t *rows, uint32_t row_count)
{
    struct weir_eval *eval = weir_eval_create();
    fixture->batch.arena = weir_arena_create(1 << 16);
    weir_eval_begin(eval, &fixture->batch);
    struct weir_column column;
    weir_expr_eval(expr, eval, &fixture->batch,
                   (struct weir_selection){.rows = rows, .count = row_count}, &column);
    struct weir_buffer actual = {0};
    for (uint32_t i = 0; i < row_count; i++) {
        uint32_t row = rows != NULL ? rows[i] : i;
        append_result(&actual, eval, &column, row);
        if (!is_expected(results[row], weir_buffer_text(&actual))) {
            char where[64];
            snprintf(where, sizeof where, "row %u%s", row, rows != NULL ? " of some" : "");
            fail_with(fixture, source, where, results[row], weir_buffer_text(&actual));
        }
    }
    weir_buffer_deinit(&actual);
    weir_eval_destroy(eval);
    weir_arena_destroy(fixture->batch.arena);
}

// What PostgreSQL finds when it meets the first row, we may find when we bind: a unit that
// date_trunc does not know.
static bool is_result(const char *actual, uint32_t result_count, char **results)
{
    for (uint32_t i = 0; i < result_count; i++) {
        if (is_expected(results[i], actual)) {
            return true;
        }
    }
    return false;
}

static void check_expr(struct fixture *fixture, const char *source, const char *type,
                       uint32_t result_count, char **results)
{
    struct weir_arena *arena = weir_arena_create(1 << 14);
    struct weir_error error;
    char actual[WEIR_ERROR_TEXT_BYTES_MAX + 1];
    const struct weir_expr *expr = expr_text_parse(source, &fixture->schema, arena, &error);
    fixture->expr_count++;
    if (expr == NULL) {
        snprintf(actual, sizeof actual, "!%s", error.text);
        bool is_refused = strstr(actual, "is not supported yet") != NULL;
        fixture->refused_count += is_refused;
        if (!is_refused && !is_expected(type, actual) &&
            !is_result(actual, result_count, results)) {
            fail_with(fixture, source, "binding", type, actual);
        }
    } else {
        struct weir_type plain = *weir_expr_type(expr);
        plain.modifier = -1;
        weir_type_name(&plain, actual, sizeof actual);
        if (strcmp(type, actual) != 0) {
            fail_with(fixture, source, "type", type, actual);
        }
    }
    if (expr != NULL && result_count > 0) {
        uint16_t rows[ROWS_MAX];
        uint32_t count = 0;
        for (uint32_t row = 1; row < result_count; row += 2) {
            rows[count++] = (uint16_t)row;
        }
        check_rows(fixture, source, expr, results, NULL, result_count);
        check_rows(fixture, source, expr, results, rows, count);
    }
    weir_arena_destroy(arena);
}

// At most so many may be refused as not there yet.
static void check_file(const char *name, uint32_t refused_max)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = weir_arena_create(1 << 16);
    char *text = read_file(name);
    char *cells[CELLS_MAX];
    for (char *rest = text; rest != NULL;) {
        char *line = strsep(&rest, "\n");
        uint32_t count = split(line, cells);
        if (strcmp(cells[0], "columns") == 0) {
            read_columns(fixture, count - 1, cells + 1);
        } else if (strcmp(cells[0], "row") == 0) {
            read_row(fixture, count - 1, cells + 1);
        } else if (strcmp(cells[0], "expr") == 0) {
            if (count == 5 && strcmp(cells[3], "*") == 0) {
                count = 3 + fixture->batch.row_count;
                for (uint32_t i = 3; i < count; i++) {
                    cells[i] = cells[4];
                }
            }
            check_expr(fixture, cells[1], cells[2], count - 3, cells + 3);
        }
    }
    uint32_t expr_count = fixture->expr_count;
    uint32_t failure_count = fixture->failure_count;
    uint32_t refused_count = fixture->refused_count;
    fprintf(stderr, "%s: %u expressions, %u refused, %u differences\n", name, expr_count,
            refused_count, failure_count);
    weir_arena_destroy(fixture->arena);
    free(fixture);
    free(text);
    assert_true(expr_count > 0);
    assert_int_equal(failure_count, 0);
    assert_true(refused_count <= refused_max);
}

static void test_expr_values_are_postgresqls(void **state)
{
    (void)state;
    const char *other = getenv("WEIR_EXPRESSIONS"); // another seed, made by hand
    check_file(other != NULL ? other : "expressions.txt", 0);
}

static void test_expr_overloads_are_postgresqls(void **state)
{
    (void)state;
    check_file("overloads.txt", 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expr_values_are_postgresqls),
        cmocka_unit_test(test_expr_overloads_are_postgresqls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
