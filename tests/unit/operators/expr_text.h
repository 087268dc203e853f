// SPDX-License-Identifier: Apache-2.0
// Trees from text in prefix form, for tables of cases: the constructors of operators/expr.h are
// called as the binder would call them.
//   $name                          a column
//   'it''s', null, 12.5, true      literals
//   (call name a b)                functions and operators: (call + $a 1)
//   (cast "numeric(10,2)" a), (assign "varchar(3)" a)
//   (and a b) (or a b) (not a) (is-null a) (is-not-null a) (is-true a) …
//   (distinct a b) (same a b)      IS [NOT] DISTINCT FROM
//   (case c r c r else)            else may be null
//   (coalesce a b) (nullif a b) (greatest a b) (least a b) (in a x y) (not-in a x y)
//   (field a 0)
#ifndef WEIR_TESTS_UNIT_OPERATORS_EXPR_TEXT_H
#define WEIR_TESTS_UNIT_OPERATORS_EXPR_TEXT_H

#include "operators/expr.h"
#include "runtime/types/array.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXPR_TEXT_ARGS_MAX = 120 };

struct expr_text {
    struct weir_arena *arena;
    const struct weir_schema *schema;
    const char *at;
    struct weir_error *error;
    bool has_failed;
};

static struct weir_expr *expr_text_read(struct expr_text *text);

static inline void expr_text_skip_blanks(struct expr_text *text)
{
    while (*text->at == ' ') {
        text->at++;
    }
}

// A word, or what stands in double quotes.
static inline char *expr_text_word(struct expr_text *text)
{
    expr_text_skip_blanks(text);
    const char *from = text->at;
    const char *to;
    if (*from == '"') {
        from++;
        to = strchr(from, '"');
        text->at = to + 1;
    } else {
        to = from + strcspn(from, " ()");
        text->at = to;
    }
    char *word = weir_arena_alloc(text->arena, (size_t)(to - from) + 1);
    memcpy(word, from, (size_t)(to - from));
    word[to - from] = '\0';
    return word;
}

static inline struct weir_type expr_text_type(const char *name)
{
    static const struct {
        const char *name;
        enum weir_type_kind kind;
    } TYPES[] = {
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
        {"json", WEIR_TYPE_JSON},
        {"char", WEIR_TYPE_CHAR},
        {"time", WEIR_TYPE_TIME},
        {"interval", WEIR_TYPE_INTERVAL},
        {"uuid", WEIR_TYPE_UUID},
    };
    size_t size = strcspn(name, "(");
    struct weir_type type = {0};
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (strlen(TYPES[i].name) == size && strncmp(TYPES[i].name, name, size) == 0) {
            type = weir_type_plain(TYPES[i].kind);
        }
    }
    int precision = 0;
    int scale = 0;
    if (name[size] == '(') {
        sscanf(name + size, "(%d,%d)", &precision, &scale);
        type.modifier =
            type.kind == WEIR_TYPE_NUMERIC ? weir_numeric_modifier(precision, scale) : precision;
    }
    if (type.kind == 0) {
        fprintf(stderr, "no such type: %s\n", name);
        abort();
    }
    return type;
}

// The same, or an array.
static inline struct weir_type expr_text_any_type(const char *name, struct weir_arena *arena)
{
    size_t name_bytes = strlen(name);
    if (name_bytes <= 2 || strcmp(name + name_bytes - 2, "[]") != 0) {
        return expr_text_type(name);
    }
    struct weir_type element =
        expr_text_type(weir_arena_printf(arena, "%.*s", (int)name_bytes - 2, name));
    return weir_array_type(&element, arena);
}

static inline struct weir_expr *expr_text_column(struct expr_text *text)
{
    text->at++;
    const char *name = expr_text_word(text);
    for (uint32_t i = 0; i < text->schema->column_count; i++) {
        const struct weir_field *column = &text->schema->columns[i];
        if (strcmp(column->name, name) == 0) {
            return weir_expr_column(text->arena, i, name, &column->type);
        }
    }
    fprintf(stderr, "no such column: %s\n", name);
    abort();
}

static inline struct weir_expr *expr_text_literal(struct expr_text *text)
{
    struct weir_buffer value = {0};
    text->at++;
    for (;; text->at++) {
        if (*text->at == '\'' && *++text->at != '\'') {
            break;
        }
        weir_buffer_append_char(&value, *text->at);
    }
    struct weir_expr *expr = weir_expr_literal(text->arena, weir_buffer_text(&value));
    weir_buffer_deinit(&value);
    return expr;
}

static inline struct weir_expr *expr_text_check(struct expr_text *text, enum weir_status status,
                                                struct weir_expr *expr)
{
    text->has_failed = text->has_failed || status != WEIR_OK;
    return text->has_failed ? NULL : expr;
}

static inline struct weir_expr *expr_text_condition(struct expr_text *text, struct weir_expr *arg,
                                                    const char *construct)
{
    struct weir_expr *out = NULL;
    enum weir_status status =
        text->has_failed ? WEIR_ERROR
                         : weir_expr_condition(text->arena, arg, construct, &out, text->error);
    return expr_text_check(text, status, out);
}

static inline struct weir_expr *expr_text_case(struct expr_text *text, uint32_t count,
                                               struct weir_expr **args)
{
    struct weir_case_branch branches[EXPR_TEXT_ARGS_MAX / 2];
    struct weir_expr *out = NULL;
    for (uint32_t i = 0; i < count / 2; i++) {
        branches[i] =
            (struct weir_case_branch){.condition = args[2 * i], .result = args[2 * i + 1]};
    }
    struct weir_expr *otherwise = count % 2 == 1 ? args[count - 1] : NULL;
    enum weir_status status =
        weir_expr_case(text->arena, count / 2, branches, otherwise, &out, text->error);
    return expr_text_check(text, status, out);
}

static inline bool expr_text_test(const char *word, enum weir_test *test)
{
    static const char *const WORDS[] = {"is-null",     "is-not-null", "is-true",
                                        "is-not-true", "is-false",    "is-not-false"};
    for (uint32_t i = 0; i < 6; i++) {
        if (strcmp(word, WORDS[i]) == 0) {
            *test = (enum weir_test)i;
            return true;
        }
    }
    return false;
}

static inline struct weir_expr *expr_text_build(struct expr_text *text, const char *word,
                                                const char *name, uint32_t count,
                                                struct weir_expr **args)
{
    struct weir_arena *arena = text->arena;
    struct weir_error *error = text->error;
    struct weir_expr *out = NULL;
    enum weir_status status = WEIR_OK;
    enum weir_test test;
    if (strcmp(word, "call") == 0) {
        status = weir_expr_call(arena, name, count, args, &out, error);
    } else if (strcmp(word, "cast") == 0 || strcmp(word, "assign") == 0) {
        struct weir_type type = expr_text_any_type(name, arena);
        status =
            weir_expr_cast(arena, args[0], &type,
                           word[0] == 'c' ? WEIR_CAST_EXPLICIT : WEIR_CAST_ASSIGNMENT, &out, error);
    } else if (strcmp(word, "and") == 0 || strcmp(word, "or") == 0) {
        const char *construct = word[0] == 'a' ? "AND" : "OR";
        struct weir_expr *a = expr_text_condition(text, args[0], construct);
        struct weir_expr *b = expr_text_condition(text, args[1], construct);
        if (!text->has_failed) {
            out = word[0] == 'a' ? weir_expr_and(arena, a, b) : weir_expr_or(arena, a, b);
        }
    } else if (strcmp(word, "not") == 0) {
        struct weir_expr *a = expr_text_condition(text, args[0], "NOT");
        out = text->has_failed ? NULL : weir_expr_not(arena, a);
    } else if (expr_text_test(word, &test)) {
        bool is_null_test = test == WEIR_TEST_IS_NULL || test == WEIR_TEST_IS_NOT_NULL;
        struct weir_expr *a =
            is_null_test ? args[0] : expr_text_condition(text, args[0], "IS TRUE");
        out = text->has_failed ? NULL : weir_expr_test(arena, test, a);
    } else if (strcmp(word, "distinct") == 0 || strcmp(word, "same") == 0) {
        status = weir_expr_distinct(arena, args[0], args[1], word[0] == 's', &out, error);
    } else if (strcmp(word, "case") == 0) {
        return expr_text_case(text, count, args);
    } else if (strcmp(word, "coalesce") == 0) {
        status = weir_expr_coalesce(arena, count, args, &out, error);
    } else if (strcmp(word, "nullif") == 0) {
        status = weir_expr_nullif(arena, args[0], args[1], &out, error);
    } else if (strcmp(word, "greatest") == 0 || strcmp(word, "least") == 0) {
        status = weir_expr_greatest(arena, word[0] == 'l', count, args, &out, error);
    } else if (strcmp(word, "in") == 0 || strcmp(word, "not-in") == 0) {
        status = weir_expr_in(arena, args[0], count - 1, args + 1, word[0] == 'n', &out, error);
    } else if (strcmp(word, "array") == 0) {
        status = weir_expr_array(arena, count, args, &out, error);
    } else if (strcmp(word, "at") == 0) {
        status = weir_expr_subscript(arena, args[0], count - 1, args + 1, &out, error);
    } else if (strcmp(word, "any") == 0 || strcmp(word, "all") == 0) {
        status = weir_expr_any(arena, args[0], name, args[1], word[1] == 'l', &out, error);
    } else if (strcmp(word, "field") == 0) {
        out = weir_expr_field(arena, args[0], (uint32_t)atoi(name));
    } else {
        fprintf(stderr, "no such form: %s\n", word);
        abort();
    }
    return expr_text_check(text, status, out);
}

static inline struct weir_expr *expr_text_list(struct expr_text *text)
{
    text->at++;
    const char *word = expr_text_word(text);
    bool has_name =
        strcmp(word, "call") == 0 || strcmp(word, "cast") == 0 || strcmp(word, "assign") == 0 ||
        strcmp(word, "any") == 0 || strcmp(word, "all") == 0;
    const char *name = has_name ? expr_text_word(text) : NULL;
    struct weir_expr *args[EXPR_TEXT_ARGS_MAX];
    uint32_t count = 0;
    for (expr_text_skip_blanks(text); *text->at != ')'; expr_text_skip_blanks(text)) {
        if (strcmp(word, "field") == 0 && count == 1) {
            name = expr_text_word(text);
        } else {
            args[count++] = expr_text_read(text);
        }
    }
    text->at++;
    return text->has_failed ? NULL : expr_text_build(text, word, name, count, args);
}

static struct weir_expr *expr_text_read(struct expr_text *text)
{
    expr_text_skip_blanks(text);
    if (*text->at == '(') {
        return expr_text_list(text);
    }
    if (*text->at == '$') {
        return expr_text_column(text);
    }
    if (*text->at == '\'') {
        return expr_text_literal(text);
    }
    const char *word = expr_text_word(text);
    if (strcmp(word, "null") == 0) {
        return weir_expr_literal(text->arena, NULL);
    }
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        return weir_expr_boolean(text->arena, word[0] == 't');
    }
    return weir_expr_number(text->arena, word);
}

// NULL and *error filled when a constructor refuses. A literal left untyped becomes text, as in a
// SELECT list.
static inline struct weir_expr *expr_text_parse(const char *source,
                                                const struct weir_schema *schema,
                                                struct weir_arena *arena, struct weir_error *error)
{
    struct expr_text text = {.arena = arena, .schema = schema, .at = source, .error = error};
    struct weir_expr *expr = expr_text_read(&text);
    if (expr != NULL && weir_expr_is_unknown(expr)) {
        struct weir_type type = weir_type_plain(WEIR_TYPE_TEXT);
        struct weir_expr *literal = expr;
        if (weir_expr_cast(arena, literal, &type, WEIR_CAST_IMPLICIT, &expr, error) != WEIR_OK) {
            return NULL;
        }
    }
    return expr;
}

#endif
