// SPDX-License-Identifier: Apache-2.0
// Looking at expression trees: walk, copy with replacements, text form. Thread: any; called while a
// job is planned or explained.
#include "operators/node.h"

#include "runtime/types/text_io.h"

void weir_expr_walk(const struct weir_expr *expr,
                    void (*visit)(const struct weir_expr *expr, void *context), void *context)
{
    visit(expr, context);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        weir_expr_walk(expr->args[i], visit, context);
    }
}

int32_t weir_expr_column_idx(const struct weir_expr *expr)
{
    return expr->kind == WEIR_EXPR_COLUMN ? (int32_t)expr->column_idx : -1;
}

const struct weir_expr *weir_expr_field_of(const struct weir_expr *expr, uint32_t *field_idx)
{
    if (expr->kind != WEIR_EXPR_FIELD) {
        return NULL;
    }
    *field_idx = expr->field_idx;
    return expr->args[0];
}

static void note_varying(const struct weir_expr *expr, void *context)
{
    bool *is_varying = context;
    *is_varying =
        *is_varying || expr->kind == WEIR_EXPR_COLUMN || expr->needs_now || expr->needs_record;
}

bool weir_expr_is_constant(const struct weir_expr *expr)
{
    bool is_varying = false;
    weir_expr_walk(expr, note_varying, &is_varying);
    return !is_varying;
}

bool weir_expr_needs_record(const struct weir_expr *expr)
{
    return expr->needs_record;
}

bool weir_expr_needs_now(const struct weir_expr *expr)
{
    return expr->needs_now;
}

// Arguments that are one node in the original stay one node in the copy: IN counts on it.
static struct weir_expr *remap_call(struct weir_arena *arena, const struct weir_expr *expr,
                                    const struct weir_expr *shared, struct weir_expr *shared_copy,
                                    struct weir_expr *(*replace)(struct weir_arena *arena,
                                                                 const struct weir_expr *node,
                                                                 void *context),
                                    void *context)
{
    struct weir_expr *replaced = replace(arena, expr, context);
    if (replaced != NULL) {
        return replaced;
    }
    struct weir_expr *copy = weir_arena_alloc(arena, sizeof *copy);
    *copy = *expr;
    copy->args = weir_arena_alloc(arena, expr->arg_count * sizeof(struct weir_expr *));
    const struct weir_expr *first = NULL;
    struct weir_expr *first_copy = NULL;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (expr->args[i] == shared) {
            copy->args[i] = shared_copy;
            continue;
        }
        bool is_item = expr->kind == WEIR_EXPR_IN && expr->args[i]->kind == WEIR_EXPR_CALL;
        copy->args[i] =
            remap_call(arena, expr->args[i], is_item ? first : NULL, first_copy, replace, context);
        if (is_item && copy->args[i]->kind == WEIR_EXPR_CALL) {
            first = expr->args[i]->args[0];
            first_copy = copy->args[i]->args[0];
        }
    }
    return copy;
}

struct weir_expr *weir_expr_remap(struct weir_arena *arena, const struct weir_expr *expr,
                                  struct weir_expr *(*replace)(struct weir_arena *arena,
                                                               const struct weir_expr *node,
                                                               void *context),
                                  void *context)
{
    return remap_call(arena, expr, NULL, NULL, replace, context);
}

// --- text ------------------------------------------------------------------------------------

static void append_text(struct weir_buffer *out, const char *text)
{
    weir_buffer_append(out, text, strlen(text));
}

static void append_quoted(struct weir_buffer *out, struct weir_view text, char quote)
{
    weir_buffer_append_char(out, quote);
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == quote) {
            weir_buffer_append_char(out, quote);
        }
        weir_buffer_append_char(out, text.data[i]);
    }
    weir_buffer_append_char(out, quote);
}

static void append_name(struct weir_buffer *out, const char *name)
{
    bool is_plain = name[0] < '0' || name[0] > '9';
    for (const char *c = name; *c != '\0'; c++) {
        is_plain = is_plain && ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_');
    }
    if (is_plain && name[0] != '\0') {
        append_text(out, name);
    } else {
        append_quoted(out, weir_view_of(name), '"');
    }
}

static void append_type(struct weir_buffer *out, const struct weir_type *type)
{
    char name[WEIR_TYPE_NAME_BYTES];
    append_text(out, weir_type_name(type, name, sizeof name));
}

static void append_value(struct weir_buffer *out, const struct weir_expr *expr)
{
    struct weir_buffer text = {0};
    weir_text_append(&text, &expr->constant, 0);
    append_quoted(out, (struct weir_view){.data = text.data, .size_bytes = text.size_bytes}, '\'');
    weir_buffer_deinit(&text);
}

static void append_constant(struct weir_buffer *out, const struct weir_expr *expr)
{
    if (weir_expr_is_null_constant(expr)) {
        append_text(out, "NULL");
        if (!expr->is_unknown) {
            append_text(out, "::");
            append_type(out, &expr->type);
        }
        return;
    }
    switch (expr->type.kind) {
    case WEIR_TYPE_BOOLEAN:
        append_text(out, expr->constant.u8[0] != 0 ? "true" : "false");
        return;
    case WEIR_TYPE_INTEGER:
    case WEIR_TYPE_BIGINT:
        weir_text_append(out, &expr->constant, 0);
        return;
    case WEIR_TYPE_NUMERIC:
        if (weir_numeric_is_finite(expr->constant.numeric[0])) {
            weir_text_append(out, &expr->constant, 0);
            return;
        }
        break;
    case WEIR_TYPE_TEXT:
        append_value(out, expr);
        return;
    case WEIR_TYPE_SMALLINT:
    case WEIR_TYPE_REAL:
    case WEIR_TYPE_DOUBLE:
    case WEIR_TYPE_VARCHAR:
    case WEIR_TYPE_BYTEA:
    case WEIR_TYPE_DATE:
    case WEIR_TYPE_TIMESTAMP:
    case WEIR_TYPE_TIMESTAMPTZ:
    case WEIR_TYPE_JSONB:
    case WEIR_TYPE_COMPOSITE:
    case WEIR_TYPE_CHAR:
    case WEIR_TYPE_TIME:
    case WEIR_TYPE_INTERVAL:
    case WEIR_TYPE_UUID:
    case WEIR_TYPE_JSON:
    case WEIR_TYPE_ARRAY:
        break;
    }
    append_value(out, expr);
    append_text(out, "::");
    append_type(out, &expr->type);
}

static void print(const struct weir_expr *expr, bool is_inner, struct weir_buffer *out);

static void print_list(const struct weir_expr *expr, const char *name, struct weir_buffer *out)
{
    append_text(out, name);
    weir_buffer_append_char(out, '(');
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        append_text(out, i != 0 ? ", " : "");
        print(expr->args[i], false, out);
    }
    weir_buffer_append_char(out, ')');
}

// a <word> b <word> c
static void print_infix(const struct weir_expr *expr, const char *word, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (i != 0) {
            weir_buffer_printf(out, " %s ", word);
        }
        print(expr->args[i], true, out);
    }
}

static void print_call(const struct weir_expr *expr, struct weir_buffer *out)
{
    const struct weir_function *function = expr->function;
    if ((function->flags & WEIR_FUNCTION_CAST) != 0) {
        print(expr->args[0], true, out);
        if (!expr->is_cast_implicit) {
            append_text(out, "::");
            append_type(out, &expr->type);
        }
    } else if (!weir_function_is_operator(function->name)) {
        print_list(expr, function->name, out);
    } else if (expr->arg_count == 1) {
        append_text(out, function->name);
        print(expr->args[0], true, out);
    } else {
        print_infix(expr, function->name, out);
    }
}

static void print_test(const struct weir_expr *expr, struct weir_buffer *out)
{
    static const char *const WORDS[] = {
        [WEIR_TEST_IS_NULL] = "IS NULL",   [WEIR_TEST_IS_NOT_NULL] = "IS NOT NULL",
        [WEIR_TEST_IS_TRUE] = "IS TRUE",   [WEIR_TEST_IS_NOT_TRUE] = "IS NOT TRUE",
        [WEIR_TEST_IS_FALSE] = "IS FALSE", [WEIR_TEST_IS_NOT_FALSE] = "IS NOT FALSE",
    };
    print(expr->args[0], true, out);
    weir_buffer_printf(out, " %s", WORDS[expr->test]);
}

static void print_case(const struct weir_expr *expr, struct weir_buffer *out)
{
    append_text(out, "CASE");
    for (uint32_t i = 0; i + 1 < expr->arg_count; i += 2) {
        append_text(out, " WHEN ");
        print(expr->args[i], false, out);
        append_text(out, " THEN ");
        print(expr->args[i + 1], false, out);
    }
    append_text(out, " ELSE ");
    print(expr->args[expr->arg_count - 1], false, out);
    append_text(out, " END");
}

// Things that need no parentheses inside others.
static bool is_closed(const struct weir_expr *expr)
{
    switch (expr->kind) {
    case WEIR_EXPR_COLUMN:
    case WEIR_EXPR_CONSTANT:
    case WEIR_EXPR_FIELD:
    case WEIR_EXPR_COALESCE:
    case WEIR_EXPR_GREATEST:
    case WEIR_EXPR_LEAST:
    case WEIR_EXPR_CASE:
        return true;
    case WEIR_EXPR_CALL:
        if ((expr->function->flags & WEIR_FUNCTION_CAST) != 0) {
            return true;
        }
        return !weir_function_is_operator(expr->function->name);
    case WEIR_EXPR_RELABEL:
        return true;
    case WEIR_EXPR_AND:
    case WEIR_EXPR_OR:
    case WEIR_EXPR_NOT:
    case WEIR_EXPR_TEST:
    case WEIR_EXPR_DISTINCT:
    case WEIR_EXPR_IN:
        return false;
    }
    return false;
}

static void print_open(const struct weir_expr *expr, struct weir_buffer *out)
{
    switch (expr->kind) {
    case WEIR_EXPR_COLUMN:
        append_name(out, expr->name);
        return;
    case WEIR_EXPR_CONSTANT:
        append_constant(out, expr);
        return;
    case WEIR_EXPR_FIELD:
        print(expr->args[0], true, out);
        weir_buffer_append_char(out, '.');
        append_name(out, expr->args[0]->type.composite->fields[expr->field_idx].name);
        return;
    case WEIR_EXPR_CALL:
        print_call(expr, out);
        return;
    case WEIR_EXPR_RELABEL:
        print(expr->args[0], true, out);
        if (!expr->is_cast_implicit) {
            append_text(out, "::");
            append_type(out, &expr->type);
        }
        return;
    case WEIR_EXPR_AND:
        print_infix(expr, "AND", out);
        return;
    case WEIR_EXPR_OR:
    case WEIR_EXPR_IN:
        print_infix(expr, "OR", out);
        return;
    case WEIR_EXPR_NOT:
        append_text(out, "NOT ");
        print(expr->args[0], true, out);
        return;
    case WEIR_EXPR_TEST:
        print_test(expr, out);
        return;
    case WEIR_EXPR_DISTINCT:
        print_infix(expr, "IS DISTINCT FROM", out);
        return;
    case WEIR_EXPR_CASE:
        print_case(expr, out);
        return;
    case WEIR_EXPR_COALESCE:
        print_list(expr, "COALESCE", out);
        return;
    case WEIR_EXPR_GREATEST:
        print_list(expr, "GREATEST", out);
        return;
    case WEIR_EXPR_LEAST:
        print_list(expr, "LEAST", out);
        return;
    }
}

static void print(const struct weir_expr *expr, bool is_inner, struct weir_buffer *out)
{
    bool has_parentheses = is_inner && !is_closed(expr);
    if (has_parentheses) {
        weir_buffer_append_char(out, '(');
    }
    print_open(expr, out);
    if (has_parentheses) {
        weir_buffer_append_char(out, ')');
    }
}

void weir_expr_print(const struct weir_expr *expr, struct weir_buffer *out)
{
    print(expr, false, out);
}
