// SPDX-License-Identifier: Apache-2.0
// Expressions of the parse tree (parse.h). Besides translating, it gives each expression the column
// name that PostgreSQL would give it (its FigureColname).
#include "sql/functions.h"
#include "sql/parse.h"

#include <ctype.h>
#include <string.h>

static struct weir_ast_expr *new_expr(struct weir_parse_context *context,
                                      enum weir_ast_expr_kind kind, int32_t offset)
{
    struct weir_ast_expr *expr = weir_arena_alloc_zero(context->arena, sizeof(*expr));
    expr->kind = kind;
    expr->offset = offset;
    return expr;
}

static const char *copy(struct weir_parse_context *context, const char *text)
{
    return text == NULL ? NULL : weir_arena_strdup(context->arena, text);
}

// 1_000 and 0x1f are numbers from PostgreSQL 16 on only.
static struct weir_ast_expr *check_number(struct weir_parse_context *context,
                                          struct weir_ast_expr *expr)
{
    struct weir_sql_token token = weir_sql_token_at(context->text, (size_t)expr->offset);
    while (token.kind == WEIR_SQL_TOKEN_OTHER) { // signs
        token = weir_sql_token_at(context->text, weir_sql_token_end(&token));
    }
    size_t end = weir_sql_token_end(&token);
    struct weir_sql_token next = weir_sql_token_at(context->text, end);
    if (next.kind == WEIR_SQL_TOKEN_WORD && next.offset == end) {
        weir_fault_add(context->faults, (int32_t)token.offset, NULL,
                       "trailing junk after numeric literal at or near \"%.*s\"",
                       (int)(token.size_bytes + 1), context->text->data + token.offset);
        return NULL;
    }
    return expr;
}

static struct weir_ast_expr *parse_constant(struct weir_parse_context *context,
                                            const struct weir_parse_node *body)
{
    int32_t offset = weir_parse_location(body);
    struct weir_ast_expr *expr = new_expr(context, WEIR_AST_NULL, offset);
    if (weir_parse_bool(body, "isnull")) {
        return expr;
    }
    const struct weir_parse_node *value = weir_parse_get(body, "sval");
    if (value != NULL) {
        expr->kind = WEIR_AST_STRING;
        expr->text = copy(context, weir_parse_text(value, "sval"));
        expr->text = expr->text != NULL ? expr->text : "";
    } else if ((value = weir_parse_get(body, "fval")) != NULL) {
        expr->kind = WEIR_AST_NUMBER;
        expr->text = copy(context, weir_parse_text(value, "fval"));
        return check_number(context, expr);
    } else if ((value = weir_parse_get(body, "boolval")) != NULL) {
        expr->kind = WEIR_AST_BOOLEAN;
        expr->value = weir_parse_bool(value, "boolval");
    } else if ((expr->text = weir_parse_integer(context, body)) != NULL) {
        expr->kind = WEIR_AST_NUMBER;
        return check_number(context, expr);
    } else {
        return weir_parse_refuse(context, offset, "bytes are written '\\x1f'::bytea",
                                 ": bit strings");
    }
    return expr;
}

static struct weir_ast_expr *parse_column(struct weir_parse_context *context,
                                          const struct weir_parse_node *body)
{
    struct weir_ast_expr *expr = new_expr(context, WEIR_AST_COLUMN, weir_parse_location(body));
    expr->names = weir_parse_names(context, body, "fields", &expr->name_count);
    if (expr->names[expr->name_count - 1] == NULL) { // A_Star
        expr->kind = WEIR_AST_STAR;
        expr->name_count--;
    } else {
        expr->label = expr->names[expr->name_count - 1];
    }
    return expr;
}

static struct weir_ast_expr *parse_indirection(struct weir_parse_context *context,
                                               const struct weir_parse_node *body)
{
    struct weir_ast_expr *expr = weir_parse_expr(context, weir_parse_get(body, "arg"));
    struct weir_parse_list steps = weir_parse_items(body, "indirection", context->arena);
    for (uint32_t i = 0; i < steps.count && expr != NULL; i++) {
        if (weir_parse_as(steps.items[i], "A_Indices") != NULL) {
            expr = weir_parse_subscripts(context, expr, &steps, &i);
            continue;
        }
        struct weir_ast_expr *field = new_expr(context, WEIR_AST_FIELD, expr->offset);
        field->args = weir_arena_alloc(context->arena, sizeof(*field->args));
        field->args[0] = expr;
        field->arg_count = 1;
        field->text = copy(context, weir_parse_string(steps.items[i]));
        field->label = field->text;
        if (field->text == NULL) {
            field->kind = WEIR_AST_FIELD_STAR;
        }
        expr = field;
    }
    return expr;
}

// The members of list `name`, behind `first` (which may be NULL: none).
static enum weir_status parse_args(struct weir_parse_context *context, struct weir_ast_expr *expr,
                                   struct weir_ast_expr *first, struct weir_parse_list list)
{
    uint32_t before = first != NULL;
    expr->args = weir_arena_alloc(context->arena, (before + list.count) * sizeof(*expr->args));
    if (first != NULL) {
        expr->args[0] = first;
    }
    expr->arg_count = before + list.count;
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < list.count; i++) {
        expr->args[before + i] = weir_parse_expr(context, list.items[i]);
        if (expr->args[before + i] == NULL) {
            status = WEIR_ERROR;
        }
    }
    return status;
}

static struct weir_ast_expr *parse_list_node(struct weir_parse_context *context,
                                             const struct weir_parse_node *body,
                                             const char *list_name, enum weir_ast_expr_kind kind,
                                             const char *label)
{
    struct weir_ast_expr *expr = new_expr(context, kind, weir_parse_location(body));
    expr->label = label;
    struct weir_parse_list list = weir_parse_items(body, list_name, context->arena);
    return parse_args(context, expr, NULL, list) == WEIR_OK ? expr : NULL;
}

static struct weir_ast_expr *parse_operator(struct weir_parse_context *context,
                                            const struct weir_parse_node *body)
{
    int32_t offset = weir_parse_location(body);
    struct weir_ast_expr *expr = new_expr(context, WEIR_AST_CALL, offset);
    expr->is_operator = true;
    expr->text = weir_parse_qualified(context, body, "name", offset);
    expr->args = weir_arena_alloc(context->arena, 2 * sizeof(*expr->args));
    const char *const sides[] = {"lexpr", "rexpr"};
    for (uint32_t i = 0; i < 2; i++) {
        if (weir_parse_has(body, sides[i])) {
            struct weir_ast_expr *arg = weir_parse_expr(context, weir_parse_get(body, sides[i]));
            if (arg == NULL) {
                return NULL;
            }
            expr->args[expr->arg_count++] = arg;
        }
    }
    return expr->text != NULL ? expr : NULL;
}

// a op (b, c …): BETWEEN and IN.
static struct weir_ast_expr *parse_operator_list(struct weir_parse_context *context,
                                                 const struct weir_parse_node *body,
                                                 enum weir_ast_expr_kind kind)
{
    struct weir_ast_expr *expr = new_expr(context, kind, weir_parse_location(body));
    struct weir_ast_expr *left = weir_parse_expr(context, weir_parse_get(body, "lexpr"));
    const struct weir_parse_node *list = weir_parse_as(weir_parse_get(body, "rexpr"), "List");
    struct weir_parse_list items = weir_parse_items(list, "items", context->arena);
    return left != NULL && parse_args(context, expr, left, items) == WEIR_OK ? expr : NULL;
}

static struct weir_ast_expr *parse_a_expr(struct weir_parse_context *context,
                                          const struct weir_parse_node *body)
{
    const char *kind = weir_parse_text(body, "kind");
    int32_t offset = weir_parse_location(body);
    struct weir_ast_expr *expr = NULL;
    if (strcmp(kind, "AEXPR_OP") == 0 || strcmp(kind, "AEXPR_LIKE") == 0 ||
        strcmp(kind, "AEXPR_ILIKE") == 0) {
        return parse_operator(context, body);
    }
    if (strcmp(kind, "AEXPR_DISTINCT") == 0 || strcmp(kind, "AEXPR_NOT_DISTINCT") == 0) {
        expr = parse_operator(context, body);
        if (expr != NULL) {
            expr->kind = WEIR_AST_DISTINCT;
            expr->is_negated = strcmp(kind, "AEXPR_NOT_DISTINCT") == 0;
        }
        return expr;
    }
    if (strcmp(kind, "AEXPR_NULLIF") == 0) {
        expr = parse_operator(context, body);
        if (expr != NULL) {
            expr->kind = WEIR_AST_NULLIF;
            expr->label = "nullif";
        }
        return expr;
    }
    if (strstr(kind, "BETWEEN") != NULL) {
        expr = parse_operator_list(context, body, WEIR_AST_BETWEEN);
        if (expr != NULL) {
            expr->is_negated = strstr(kind, "NOT") != NULL;
            expr->is_symmetric = strstr(kind, "SYM") != NULL;
        }
        return expr;
    }
    if (strcmp(kind, "AEXPR_IN") == 0) {
        expr = parse_operator_list(context, body, WEIR_AST_IN);
        if (expr != NULL) {
            struct weir_parse_list name = weir_parse_items(body, "name", context->arena);
            expr->is_negated = strcmp(weir_parse_string(name.items[0]), "<>") == 0;
        }
        return expr;
    }
    if (strcmp(kind, "AEXPR_SIMILAR") == 0) {
        return weir_parse_refuse(context, offset, "write LIKE or a regular expression",
                                 " yet: SIMILAR TO");
    }
    expr = parse_operator(context, body);
    if (expr != NULL) {
        expr->kind = WEIR_AST_ANY;
        expr->is_negated = strcmp(kind, "AEXPR_OP_ALL") == 0;
    }
    return expr;
}

static struct weir_ast_expr *parse_bool_expr(struct weir_parse_context *context,
                                             const struct weir_parse_node *body)
{
    enum weir_ast_expr_kind kind = weir_parse_text_is(body, "boolop", "AND_EXPR")  ? WEIR_AST_AND
                                   : weir_parse_text_is(body, "boolop", "OR_EXPR") ? WEIR_AST_OR
                                                                                   : WEIR_AST_NOT;
    return parse_list_node(context, body, "args", kind, NULL);
}

static struct weir_ast_expr *parse_test(struct weir_parse_context *context,
                                        const struct weir_parse_node *body, const char *member)
{
    static const struct {
        const char *name;
        const char *text;
        enum weir_test test;
    } tests[] = {
        {"IS_NULL", NULL, WEIR_TEST_IS_NULL},
        {"IS_NOT_NULL", NULL, WEIR_TEST_IS_NOT_NULL},
        {"IS_TRUE", "IS TRUE", WEIR_TEST_IS_TRUE},
        {"IS_NOT_TRUE", "IS NOT TRUE", WEIR_TEST_IS_NOT_TRUE},
        {"IS_FALSE", "IS FALSE", WEIR_TEST_IS_FALSE},
        {"IS_NOT_FALSE", "IS NOT FALSE", WEIR_TEST_IS_NOT_FALSE},
        {"IS_UNKNOWN", "IS UNKNOWN", WEIR_TEST_IS_NULL},
        {"IS_NOT_UNKNOWN", "IS NOT UNKNOWN", WEIR_TEST_IS_NOT_NULL},
    };
    struct weir_ast_expr *expr = new_expr(context, WEIR_AST_TEST, weir_parse_location(body));
    for (uint32_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (weir_parse_text_is(body, member, tests[i].name)) {
            expr->test = tests[i].test;
            expr->test_name = tests[i].text;
        }
    }
    expr->args = weir_arena_alloc(context->arena, sizeof(*expr->args));
    expr->args[0] = weir_parse_expr(context, weir_parse_get(body, "arg"));
    expr->arg_count = 1;
    return expr->args[0] != NULL ? expr : NULL;
}

static struct weir_ast_expr *parse_case(struct weir_parse_context *context,
                                        const struct weir_parse_node *body)
{
    struct weir_ast_expr *expr = new_expr(context, WEIR_AST_CASE, weir_parse_location(body));
    bool is_broken = false;
    if (weir_parse_has(body, "arg")) {
        expr->operand = weir_parse_expr(context, weir_parse_get(body, "arg"));
        is_broken = expr->operand == NULL;
    }
    struct weir_parse_list branches = weir_parse_items(body, "args", context->arena);
    expr->arg_count = 2 * branches.count;
    expr->args = weir_arena_alloc(context->arena, expr->arg_count * sizeof(*expr->args));
    for (uint32_t i = 0; i < branches.count; i++) {
        const struct weir_parse_node *branch = weir_parse_as(branches.items[i], "CaseWhen");
        expr->args[2 * i] = weir_parse_expr(context, weir_parse_get(branch, "expr"));
        expr->args[2 * i + 1] = weir_parse_expr(context, weir_parse_get(branch, "result"));
        is_broken |= expr->args[2 * i] == NULL || expr->args[2 * i + 1] == NULL;
    }
    expr->label = "case";
    expr->is_label_weak = true;
    if (weir_parse_has(body, "defresult")) {
        expr->otherwise = weir_parse_expr(context, weir_parse_get(body, "defresult"));
        is_broken |= expr->otherwise == NULL;
        if (!is_broken && expr->otherwise->label != NULL && !expr->otherwise->is_label_weak) {
            expr->label = expr->otherwise->label;
            expr->is_label_weak = false;
        }
    }
    return is_broken ? NULL : expr;
}

// FILTER and the like: NULL where the call has none of those that are not allowed.
static const char *call_clause(const struct weir_parse_node *body, bool is_aggregate)
{
    static const struct {
        const char *member;
        const char *name;
        bool is_of_aggregates;
    } clauses[] = {{"agg_filter", "FILTER", true},
                   {"agg_order", "ORDER BY in a call", false},
                   {"agg_distinct", "DISTINCT in a call", true},
                   {"agg_within_group", "WITHIN GROUP", false},
                   {"agg_star", "* as an argument", true},
                   {"func_variadic", "VARIADIC", false}};
    for (uint32_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++) {
        if (weir_parse_has(body, clauses[i].member) &&
            !(is_aggregate && clauses[i].is_of_aggregates)) {
            return clauses[i].name;
        }
    }
    return NULL;
}

static bool is_aggregate_there(const char *name)
{
    static const char *const names[] = {"avg", "count", "max", "min", "sum"};
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static struct weir_ast_expr *parse_aggregate(struct weir_parse_context *context,
                                             const struct weir_parse_node *body, const char *name)
{
    int32_t offset = weir_parse_location(body);
    const char *clause = call_clause(body, true);
    if (!is_aggregate_there(name)) {
        return weir_parse_refuse(context, offset, NULL, " yet: aggregate function %s()", name);
    }
    if (clause != NULL) {
        return weir_parse_refuse(context, offset, NULL, ": %s (%s)", clause, name);
    }
    struct weir_ast_expr *expr = parse_list_node(context, body, "args", WEIR_AST_AGGREGATE, name);
    if (expr == NULL) {
        return NULL;
    }
    expr->text = name;
    expr->is_star = weir_parse_bool(body, "agg_star");
    expr->is_distinct = weir_parse_bool(body, "agg_distinct");
    if (weir_parse_has(body, "agg_filter")) {
        expr->filter = weir_parse_expr(context, weir_parse_get(body, "agg_filter"));
        return expr->filter == NULL ? NULL : expr;
    }
    return expr;
}

struct weir_ast_expr *weir_parse_window_call(struct weir_parse_context *context,
                                             const struct weir_parse_node *body)
{
    int32_t offset = weir_parse_location(body);
    const char *name = weir_parse_qualified(context, body, "funcname", offset);
    const char *clause = call_clause(body, false);
    if (name == NULL) {
        return NULL;
    }
    if (clause != NULL || weir_parse_has(body, "over")) {
        return weir_parse_refuse(context, offset, NULL, ": %s (%s)",
                                 clause != NULL ? clause : "OVER", name);
    }
    struct weir_ast_expr *expr = parse_list_node(context, body, "args", WEIR_AST_CALL, name);
    if (expr != NULL) {
        expr->text = name;
    }
    return expr;
}

static struct weir_ast_expr *parse_call(struct weir_parse_context *context,
                                        const struct weir_parse_node *body)
{
    int32_t offset = weir_parse_location(body);
    const char *name = weir_parse_qualified(context, body, "funcname", offset);
    if (name == NULL) {
        return NULL;
    }
    if (weir_parse_has(body, "over")) {
        return weir_parse_refuse(context, offset, NULL, " yet: OVER (%s)", name);
    }
    switch (weir_sql_function_class(name)) {
    case WEIR_FUNCTION_AGGREGATE:
        return parse_aggregate(context, body, name);
    case WEIR_FUNCTION_SET_RETURNING:
        return weir_parse_refuse(context, offset, "functions that give rows are for FROM",
                                 " yet: set-returning function %s()", name);
    case WEIR_FUNCTION_WINDOW:
        return weir_parse_refuse(context, offset, NULL, " yet: window function %s()", name);
    case WEIR_FUNCTION_TIME_WINDOW:
        return weir_parse_refuse(context, offset, "windows are functions in FROM", " here: %s()",
                                 name);
    case WEIR_FUNCTION_PLAIN:
        break;
    }
    const char *clause = call_clause(body, false);
    if (clause != NULL) {
        return weir_parse_refuse(context, offset, NULL, ": %s (%s)", clause, name);
    }
    struct weir_ast_expr *expr = parse_list_node(context, body, "args", WEIR_AST_CALL, name);
    if (expr != NULL) {
        expr->text = name;
    }
    return expr;
}

static struct weir_ast_expr *make_cast(struct weir_parse_context *context,
                                       struct weir_ast_expr *arg, const char *type_name,
                                       int32_t offset)
{
    struct weir_ast_expr *expr = new_expr(context, WEIR_AST_CAST, offset);
    expr->args = weir_arena_alloc(context->arena, sizeof(*expr->args));
    expr->args[0] = arg;
    expr->arg_count = 1;
    expr->type.name = type_name;
    expr->type.offset = offset;
    return expr;
}

static struct weir_ast_expr *parse_cast(struct weir_parse_context *context,
                                        const struct weir_parse_node *body)
{
    struct weir_ast_expr *arg = weir_parse_expr(context, weir_parse_get(body, "arg"));
    struct weir_ast_type type;
    if (weir_parse_type(context, weir_parse_get(body, "typeName"), &type) != WEIR_OK ||
        arg == NULL) {
        return NULL;
    }
    int32_t offset = weir_parse_location(body);
    struct weir_ast_expr *expr = make_cast(context, arg, type.name, offset);
    expr->type = type;
    expr->is_label_weak = arg->label == NULL || arg->is_label_weak;
    expr->label = expr->is_label_weak ? type.name : arg->label;
    if (offset < 0) { // date '2013-01-01'
        expr->offset = type.offset;
    }
    // true and false are casts of 't' or of a boolean, depending on the version.
    if (strcmp(type.name, "bool") == 0 && type.offset < 0) {
        expr->type.offset = arg->offset;
        expr->offset = arg->offset;
    }
    return expr;
}

// CURRENT_TIMESTAMP and its like.
static struct weir_ast_expr *parse_value_function(struct weir_parse_context *context,
                                                  const struct weir_parse_node *body)
{
    int32_t offset = weir_parse_location(body);
    const char *op = weir_parse_text(body, "op");
    struct weir_sql_token token = weir_sql_token_at(context->text, (size_t)offset);
    char *word = weir_arena_printf(context->arena, "%.*s", (int)token.size_bytes,
                                   context->text->data + token.offset);
    for (char *c = word; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    struct weir_ast_expr *now = new_expr(context, WEIR_AST_CALL, offset);
    now->text = "now";
    struct weir_ast_expr *expr = NULL;
    if (strcmp(op, "SVFOP_CURRENT_TIMESTAMP") == 0) {
        expr = now;
    } else if (strcmp(op, "SVFOP_CURRENT_DATE") == 0) {
        expr = make_cast(context, now, "date", offset);
    } else if (strcmp(op, "SVFOP_LOCALTIMESTAMP") == 0) {
        expr = make_cast(context, now, "timestamp", offset);
    } else {
        return weir_parse_refuse(
            context, offset,
            weir_arena_printf(context->arena,
                              "if a column is meant: \"%s\" is a reserved word and must be quoted",
                              word),
            ": %s", word);
    }
    expr->label = word;
    return expr;
}

static struct weir_ast_expr *parse_collate(struct weir_parse_context *context,
                                           const struct weir_parse_node *body)
{
    uint32_t count;
    const char **names = weir_parse_names(context, body, "collname", &count);
    if (strcmp(names[count - 1], "C") != 0) {
        return weir_parse_refuse(context, weir_parse_location(body),
                                 "text compares by bytes, as with COLLATE \"C\"",
                                 ": COLLATE \"%s\"", names[count - 1]);
    }
    return weir_parse_expr(context, weir_parse_get(body, "arg"));
}

static struct weir_ast_expr *refuse_kind(struct weir_parse_context *context,
                                         const struct weir_parse_node *body, const char *kind)
{
    static const struct {
        const char *kind;
        const char *what;
    } kinds[] = {
        {"SubLink", " yet: a subquery in an expression"},
        {"RowExpr", " yet: ROW"},
        {"ParamRef", ": parameters ($1)"},
        {"GroupingFunc", " yet: GROUPING"},
        {"NamedArgExpr", ": arguments by name"},
        {"SetToDefault", ": DEFAULT"},
        {"XmlExpr", ": XML"},
        {"XmlSerialize", ": XML"},
        {"CurrentOfExpr", ": CURRENT OF"},
    };
    for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kind, kinds[i].kind) == 0) {
            return weir_parse_refuse(context, weir_parse_location(body), NULL, "%s", kinds[i].what);
        }
    }
    return weir_parse_refuse(context, weir_parse_location(body), NULL, ": %s", kind);
}

static struct weir_ast_expr *parse_kind(struct weir_parse_context *context, const char *kind,
                                        const struct weir_parse_node *body)
{
    static const struct {
        const char *kind;
        struct weir_ast_expr *(*parse)(struct weir_parse_context *context,
                                       const struct weir_parse_node *body);
    } parsers[] = {
        {"ColumnRef", parse_column},
        {"A_Const", parse_constant},
        {"A_Expr", parse_a_expr},
        {"BoolExpr", parse_bool_expr},
        {"FuncCall", parse_call},
        {"TypeCast", parse_cast},
        {"A_Indirection", parse_indirection},
        {"CaseExpr", parse_case},
        {"SQLValueFunction", parse_value_function},
        {"CollateClause", parse_collate},
    };
    for (uint32_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
        if (strcmp(kind, parsers[i].kind) == 0) {
            return parsers[i].parse(context, body);
        }
    }
    if (strcmp(kind, "NullTest") == 0) {
        return parse_test(context, body, "nulltesttype");
    }
    if (strcmp(kind, "BooleanTest") == 0) {
        return parse_test(context, body, "booltesttype");
    }
    if (strcmp(kind, "CoalesceExpr") == 0) {
        return parse_list_node(context, body, "args", WEIR_AST_COALESCE, "coalesce");
    }
    if (strcmp(kind, "A_ArrayExpr") == 0) {
        return parse_list_node(context, body, "elements", WEIR_AST_ARRAY, "array");
    }
    if (strcmp(kind, "MinMaxExpr") == 0) {
        bool is_least = weir_parse_text_is(body, "op", "IS_LEAST");
        return parse_list_node(context, body, "args", is_least ? WEIR_AST_LEAST : WEIR_AST_GREATEST,
                               is_least ? "least" : "greatest");
    }
    return refuse_kind(context, body, kind);
}

struct weir_ast_expr *weir_parse_expr(struct weir_parse_context *context,
                                      const struct weir_parse_node *node)
{
    const struct weir_parse_node *body;
    const char *kind = weir_parse_kind(node, &body);
    if (context->depth == WEIR_SQL_DEPTH_MAX) {
        weir_fault_add(context->faults, weir_parse_leftmost(node), NULL,
                       "nested too deeply: more than %d levels", WEIR_SQL_DEPTH_MAX);
        return NULL;
    }
    context->depth++;
    struct weir_ast_expr *expr = parse_kind(context, kind, body);
    context->depth--;
    return expr;
}
