// SPDX-License-Identifier: Apache-2.0
// SELECT of the parse tree (parse.h): what is more than projection, WHERE, GROUP BY, DISTINCT,
// subqueries, tumble(), WITH and UNION ALL is refused by name, at the keyword that asks for it.
#include "sql/functions.h"
#include "sql/parse.h"

#include <string.h>

const char *weir_parse_relation(struct weir_parse_context *context,
                                const struct weir_parse_node *body)
{
    int32_t offset = weir_parse_location(body);
    const char *name = weir_parse_text(body, "relname");
    const char *schema = weir_parse_text(body, "schemaname");
    if (schema != NULL) {
        return weir_parse_refuse(context, offset,
                                 weir_arena_printf(context->arena, "write %s alone", name),
                                 ": schemas (%s.%s)", schema, name);
    }
    return weir_arena_strdup(context->arena, name);
}

int32_t weir_parse_keyword(struct weir_parse_context *context, const char *keyword)
{
    return weir_sql_keyword_after(context->text, (size_t)context->faults->statement_offset,
                                  keyword);
}

// The place of a clause's keyword: the last one before what stands in the clause, else the first
// one behind the beginning of the SELECT, else that beginning.
static int32_t clause_offset(struct weir_parse_context *context, int32_t select_offset,
                             const struct weir_parse_node *item, const char *keyword)
{
    int32_t offset = item == NULL ? -1 : weir_parse_leftmost(item);
    int32_t found = -1;
    if (offset > select_offset && select_offset >= 0) {
        found =
            weir_sql_keyword_before(context->text, (size_t)select_offset, (size_t)offset, keyword);
    }
    if (found < 0 && select_offset >= 0) {
        found = weir_sql_keyword_after(context->text, (size_t)select_offset, keyword);
    }
    return found >= 0 ? found : select_offset;
}

static const struct weir_parse_node *first_of(struct weir_parse_context *context,
                                              const struct weir_parse_node *body, const char *name)
{
    struct weir_parse_list list = weir_parse_items(body, name, context->arena);
    return list.count == 0 ? NULL : list.items[0];
}

// DISTINCT stands in front of the first target, which is the offset of the SELECT.
static int32_t distinct_offset(struct weir_parse_context *context, int32_t select_offset)
{
    int32_t found = -1;
    if (select_offset >= 0) {
        found = weir_sql_keyword_before(context->text, (size_t)context->faults->statement_offset,
                                        (size_t)select_offset, "distinct");
    }
    return found >= 0 ? found : select_offset;
}

static enum weir_status refuse_order_and_limit(struct weir_parse_context *context,
                                               const struct weir_parse_node *body,
                                               int32_t select_offset)
{
    enum weir_status status = WEIR_OK;
    if (weir_parse_has(body, "sortClause")) {
        const struct weir_parse_node *sort_by =
            weir_parse_as(first_of(context, body, "sortClause"), "SortBy");
        status = weir_fault_add(
            context->faults,
            clause_offset(context, select_offset, weir_parse_get(sort_by, "node"), "order"),
            "a stream has no end to sort; for the first rows of a group: row_number() OVER "
            "(PARTITION BY … ORDER BY …) <= n",
            "not supported: ORDER BY");
    }
    const struct weir_parse_node *count = weir_parse_get(body, "limitCount");
    const struct weir_parse_node *skip = weir_parse_get(body, "limitOffset");
    if (count != NULL) {
        bool is_fetch = clause_offset(context, select_offset, count, "limit") == select_offset;
        status = weir_fault_add(
            context->faults,
            clause_offset(context, select_offset, count, is_fetch ? "fetch" : "limit"),
            "a stream has no end; to read a part of a topic: the table options start and end",
            "not supported: %s", is_fetch ? "FETCH" : "LIMIT");
    } else if (skip != NULL) {
        status = weir_fault_add(
            context->faults, clause_offset(context, select_offset, skip, "offset"),
            "to read a part of a topic: the table options start and end", "not supported: OFFSET");
    }
    return status;
}

static enum weir_status refuse_clauses(struct weir_parse_context *context,
                                       const struct weir_parse_node *body, int32_t select_offset)
{
    static const struct {
        const char *member;
        const char *keyword;
        const char *what;
    } clauses[] = {
        {"windowClause", "window", " yet: WINDOW"},
        {"lockingClause", "for", ": FOR UPDATE"},
        {"intoClause", "into", ": SELECT INTO"},
    };
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++) {
        const struct weir_parse_node *clause = weir_parse_get(body, clauses[i].member);
        if (clause != NULL) {
            const struct weir_parse_node *item = first_of(context, body, clauses[i].member);
            const char *hint =
                strcmp(clauses[i].keyword, "into") == 0 ? "write INSERT INTO … SELECT" : NULL;
            weir_parse_refuse(context,
                              clause_offset(context, select_offset, item == NULL ? clause : item,
                                            clauses[i].keyword),
                              hint, "%s", clauses[i].what);
            status = WEIR_ERROR;
        }
    }
    if (refuse_order_and_limit(context, body, select_offset) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    return status;
}

static enum weir_status parse_alias(struct weir_parse_context *context,
                                    const struct weir_parse_node *body, struct weir_ast_from *from)
{
    const struct weir_parse_node *alias = weir_parse_get(body, "alias");
    if (alias != NULL) {
        from->alias = weir_arena_strdup(context->arena, weir_parse_text(alias, "aliasname"));
        from->columns = weir_parse_names(context, alias, "colnames", &from->column_count);
    }
    return WEIR_OK;
}

// tumble(table, column, size [, origin]): its arguments are looked at where it is bound.
static enum weir_status parse_function(struct weir_parse_context *context,
                                       const struct weir_parse_node *body,
                                       struct weir_ast_from *from)
{
    const struct weir_parse_node *list =
        weir_parse_as(first_of(context, body, "functions"), "List");
    const struct weir_parse_node *call =
        weir_parse_as(first_of(context, list, "items"), "FuncCall");
    uint32_t count = 0;
    const char **names = weir_parse_names(context, call, "funcname", &count);
    const char *name = count == 0 ? "functions" : names[count - 1];
    from->offset = call == NULL ? -1 : weir_parse_location(call);
    if (strcmp(name, "tumble") != 0) {
        weir_parse_refuse(context, from->offset, NULL,
                          weir_sql_function_class(name) == WEIR_FUNCTION_TIME_WINDOW
                              ? " yet: the window %s() in FROM"
                              : " yet: the function %s() in FROM",
                          name);
        return WEIR_ERROR;
    }
    if (weir_parse_bool(body, "ordinality") || weir_parse_bool(body, "is_rowsfrom") ||
        weir_parse_has(body, "coldeflist")) {
        weir_parse_refuse(context, from->offset, "write FROM tumble(table, column, interval '…')",
                          ": this form of %s() in FROM", name);
        return WEIR_ERROR;
    }
    struct weir_ast_expr *function = weir_parse_window_call(context, call);
    from->function = function;
    return function == NULL ? WEIR_ERROR : parse_alias(context, body, from);
}

// The first place inside a FROM item; -1: it gives none.
static int32_t from_offset(struct weir_parse_context *context, const struct weir_parse_node *item)
{
    const struct weir_parse_node *body;
    const char *kind = weir_parse_kind(item, &body);
    if (strcmp(kind, "JoinExpr") == 0) {
        return from_offset(context, weir_parse_get(body, "larg"));
    }
    if (strcmp(kind, "RangeSubselect") == 0) {
        const struct weir_parse_node *select =
            weir_parse_as(weir_parse_get(body, "subquery"), "SelectStmt");
        return weir_parse_leftmost(first_of(context, select, "targetList"));
    }
    return strcmp(kind, "RangeVar") == 0 ? weir_parse_location(body) : -1;
}

static enum weir_status refuse_join(struct weir_parse_context *context,
                                    const struct weir_parse_node *item,
                                    const struct weir_parse_node *body, int32_t select_offset)
{
    int32_t left = from_offset(context, item);
    int32_t found = left < 0 ? -1 : weir_sql_keyword_after(context->text, (size_t)left, "join");
    const char *type = weir_parse_text(body, "jointype");
    const char *name = strcmp(type, "JOIN_LEFT") == 0    ? "LEFT JOIN"
                       : strcmp(type, "JOIN_RIGHT") == 0 ? "RIGHT JOIN"
                       : strcmp(type, "JOIN_FULL") == 0  ? "FULL JOIN"
                                                         : "JOIN";
    weir_parse_refuse(context, found >= 0 ? found : select_offset, NULL, " yet: %s", name);
    return WEIR_ERROR;
}

// PostgreSQL takes it from 16 on; its message and place are those of 15: the parenthesis in front.
static enum weir_status refuse_without_alias(struct weir_parse_context *context, int32_t offset)
{
    struct weir_sql_token token =
        weir_sql_token_at(context->text, (size_t)context->faults->statement_offset);
    int32_t found = offset;
    while (token.kind != WEIR_SQL_TOKEN_END && (int32_t)token.offset < offset) {
        found = context->text->data[token.offset] == '(' ? (int32_t)token.offset : found;
        token = weir_sql_token_at(context->text, weir_sql_token_end(&token));
    }
    return weir_fault_add(context->faults, found, WEIR_SUBQUERY_ALIAS_HINT,
                          "subquery in FROM must have an alias");
}

static enum weir_status parse_from_item(struct weir_parse_context *context,
                                        const struct weir_parse_node *item, int32_t select_offset,
                                        struct weir_ast_from *from)
{
    const struct weir_parse_node *body;
    const char *kind = weir_parse_kind(item, &body);
    *from = (struct weir_ast_from){.offset = select_offset};
    if (weir_parse_bool(body, "lateral")) {
        weir_parse_refuse(context, clause_offset(context, select_offset, NULL, "lateral"), NULL,
                          " yet: LATERAL");
        return WEIR_ERROR;
    }
    if (strcmp(kind, "RangeVar") == 0) {
        from->offset = weir_parse_location(body);
        if (!weir_parse_bool(body, "inh")) {
            weir_parse_refuse(context, from->offset, NULL, ": ONLY");
            return WEIR_ERROR;
        }
        from->table = weir_parse_relation(context, body);
        return from->table == NULL ? WEIR_ERROR : parse_alias(context, body, from);
    }
    if (strcmp(kind, "RangeSubselect") == 0) {
        const struct weir_parse_node *select =
            weir_parse_as(weir_parse_get(body, "subquery"), "SelectStmt");
        from->subquery = weir_parse_select(context, select, NULL);
        if (from->subquery == NULL) {
            return WEIR_ERROR;
        }
        from->offset = from->subquery->offset;
        if (!weir_parse_has(body, "alias")) {
            return refuse_without_alias(context, from->offset);
        }
        return parse_alias(context, body, from);
    }
    if (strcmp(kind, "JoinExpr") == 0) {
        return refuse_join(context, item, body, select_offset);
    }
    if (strcmp(kind, "RangeFunction") == 0) {
        return parse_function(context, body, from);
    }
    bool is_sample = strcmp(kind, "RangeTableSample") == 0;
    weir_parse_refuse(context, is_sample ? weir_parse_location(body) : select_offset, NULL, ": %s",
                      is_sample ? "TABLESAMPLE" : kind);
    return WEIR_ERROR;
}

static enum weir_status parse_from(struct weir_parse_context *context,
                                   const struct weir_parse_node *body,
                                   struct weir_ast_select *select)
{
    struct weir_parse_list items = weir_parse_items(body, "fromClause", context->arena);
    if (items.count == 0) {
        weir_parse_refuse(context, select->offset, "a job computes from what it reads",
                          ": SELECT without FROM");
        return WEIR_ERROR;
    }
    if (items.count > 1) {
        int32_t second = from_offset(context, items.items[1]);
        weir_parse_refuse(context, second >= 0 ? second : select->offset, NULL,
                          " yet: more than one table in FROM (a join)");
        return WEIR_ERROR;
    }
    return parse_from_item(context, items.items[0], select->offset, &select->from);
}

static enum weir_status parse_targets(struct weir_parse_context *context,
                                      const struct weir_parse_node *body,
                                      struct weir_ast_select *select)
{
    struct weir_parse_list items = weir_parse_items(body, "targetList", context->arena);
    if (items.count == 0) {
        return weir_fault_add(context->faults, -1, NULL, "SELECT without any column");
    }
    enum weir_status status = WEIR_OK;
    select->target_count = items.count;
    select->targets = weir_arena_alloc_zero(context->arena, items.count * sizeof(*select->targets));
    for (uint32_t i = 0; i < items.count; i++) {
        const struct weir_parse_node *target = weir_parse_as(items.items[i], "ResTarget");
        const char *name = weir_parse_text(target, "name");
        select->targets[i].name = name == NULL ? NULL : weir_arena_strdup(context->arena, name);
        select->targets[i].offset = weir_parse_location(target);
        select->targets[i].expr = weir_parse_expr(context, weir_parse_get(target, "val"));
        if (select->targets[i].expr == NULL) {
            status = WEIR_ERROR;
        }
    }
    return status;
}

static enum weir_status parse_with(struct weir_parse_context *context,
                                   const struct weir_parse_node *with, struct weir_ast_cte *ctes)
{
    struct weir_parse_list items = weir_parse_items(with, "ctes", context->arena);
    enum weir_status status = WEIR_OK;
    if (weir_parse_bool(with, "recursive")) {
        weir_parse_refuse(context, weir_parse_location(with), NULL, ": WITH RECURSIVE");
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < items.count; i++) {
        const struct weir_parse_node *body = weir_parse_as(items.items[i], "CommonTableExpr");
        const struct weir_parse_node *query;
        const char *kind = weir_parse_kind(weir_parse_get(body, "ctequery"), &query);
        struct weir_ast_cte *cte = &ctes[i];
        *cte = (struct weir_ast_cte){
            .name = weir_arena_strdup(context->arena, weir_parse_text(body, "ctename")),
            .offset = weir_parse_location(body),
        };
        cte->columns = weir_parse_names(context, body, "aliascolnames", &cte->column_count);
        if (strcmp(kind, "SelectStmt") != 0) {
            weir_parse_refuse(context, cte->offset, NULL, ": WITH of anything but SELECT");
            status = WEIR_ERROR;
            continue;
        }
        cte->select = weir_parse_select(context, query, NULL);
        if (cte->select == NULL) {
            status = WEIR_ERROR;
        }
    }
    return status;
}

static enum weir_status parse_ctes(struct weir_parse_context *context,
                                   const struct weir_parse_node *outer,
                                   const struct weir_parse_node *inner,
                                   struct weir_ast_select *select)
{
    uint32_t outer_count = weir_parse_items(outer, "ctes", context->arena).count;
    uint32_t inner_count = weir_parse_items(inner, "ctes", context->arena).count;
    select->cte_count = outer_count + inner_count;
    select->ctes = weir_arena_alloc_zero(context->arena, select->cte_count * sizeof(*select->ctes));
    enum weir_status status = parse_with(context, outer, select->ctes);
    return parse_with(context, inner, select->ctes + outer_count) == WEIR_OK ? status : WEIR_ERROR;
}

static enum weir_status add_sides(struct weir_parse_context *context,
                                  const struct weir_parse_node *body,
                                  struct weir_ast_select *select);

// One side of a union: its own sides if it is another one, else one branch.
static enum weir_status add_branch(struct weir_parse_context *context,
                                   const struct weir_parse_node *body,
                                   struct weir_ast_select *select)
{
    if (!weir_parse_text_is(body, "op", "SETOP_NONE") && !weir_parse_has(body, "withClause")) {
        return add_sides(context, body, select);
    }
    struct weir_ast_select *branch = weir_parse_select(context, body, NULL);
    if (branch == NULL) {
        return WEIR_ERROR;
    }
    size_t old_bytes = select->branch_count * sizeof(branch);
    select->branches =
        weir_arena_realloc(context->arena, select->branches, old_bytes, old_bytes + sizeof(branch));
    select->branches[select->branch_count++] = branch;
    if (select->offset < 0) {
        select->offset = branch->offset;
    }
    return WEIR_OK;
}

static enum weir_status refuse_set_operation(struct weir_parse_context *context,
                                             const struct weir_parse_node *body,
                                             const struct weir_ast_select *select)
{
    static const struct {
        const char *op;
        const char *keyword;
        const char *what;
        const char *hint;
    } operations[] = {
        {"SETOP_UNION", "union", " yet: UNION", "write UNION ALL, which keeps equal rows"},
        {"SETOP_EXCEPT", "except", " yet: EXCEPT", NULL},
        {"SETOP_INTERSECT", "intersect", " yet: INTERSECT", NULL},
    };
    if (weir_parse_text_is(body, "op", "SETOP_UNION") && weir_parse_bool(body, "all")) {
        return WEIR_OK;
    }
    int32_t last = select->branches[select->branch_count - 1]->offset;
    for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (weir_parse_text_is(body, "op", operations[i].op)) {
            int32_t found = last < 0 ? -1
                                     : weir_sql_keyword_after(context->text, (size_t)last,
                                                              operations[i].keyword);
            weir_parse_refuse(context, found, operations[i].hint, "%s", operations[i].what);
        }
    }
    return WEIR_ERROR;
}

// UNION ALL is a tree of two sides each; here it becomes one list of branches.
static enum weir_status add_sides(struct weir_parse_context *context,
                                  const struct weir_parse_node *body,
                                  struct weir_ast_select *select)
{
    if (context->depth == WEIR_SQL_DEPTH_MAX) {
        return weir_fault_add(context->faults, -1, NULL, "nested too deeply: more than %d levels",
                              WEIR_SQL_DEPTH_MAX);
    }
    context->depth++;
    enum weir_status status = add_branch(context, weir_parse_get(body, "larg"), select);
    if (status == WEIR_OK) {
        status = refuse_set_operation(context, body, select);
    }
    if (status == WEIR_OK) {
        status = add_branch(context, weir_parse_get(body, "rarg"), select);
    }
    context->depth--;
    return status == WEIR_OK ? refuse_order_and_limit(context, body, select->offset) : WEIR_ERROR;
}

static const char *grouping_set_name(const struct weir_parse_node *body)
{
    return weir_parse_text_is(body, "kind", "GROUPING_SET_ROLLUP") ? "ROLLUP"
           : weir_parse_text_is(body, "kind", "GROUPING_SET_CUBE") ? "CUBE"
                                                                   : "GROUPING SETS";
}

static enum weir_status parse_group(struct weir_parse_context *context,
                                    const struct weir_parse_node *body,
                                    struct weir_ast_select *select)
{
    struct weir_parse_list items = weir_parse_items(body, "groupClause", context->arena);
    enum weir_status status = WEIR_OK;
    select->is_grouped = items.count != 0;
    select->keys = weir_arena_alloc(context->arena, items.count * sizeof(*select->keys));
    for (uint32_t i = 0; i < items.count; i++) {
        const struct weir_parse_node *set = weir_parse_as(items.items[i], "GroupingSet");
        if (set != NULL && !weir_parse_text_is(set, "kind", "GROUPING_SET_EMPTY")) {
            weir_parse_refuse(context, weir_parse_location(set), NULL, " yet: %s",
                              grouping_set_name(set));
            status = WEIR_ERROR;
        } else if (set == NULL) {
            struct weir_ast_expr *key = weir_parse_expr(context, items.items[i]);
            select->keys[select->key_count++] = key;
            status = key == NULL ? WEIR_ERROR : status;
        }
    }
    if (weir_parse_has(body, "havingClause")) {
        select->having = weir_parse_expr(context, weir_parse_get(body, "havingClause"));
        status = select->having == NULL ? WEIR_ERROR : status;
    }
    return status;
}

static enum weir_status parse_distinct(struct weir_parse_context *context,
                                       const struct weir_parse_node *body,
                                       struct weir_ast_select *select)
{
    if (!weir_parse_has(body, "distinctClause")) {
        return WEIR_OK;
    }
    const struct weir_parse_node *inner;
    bool is_on = *weir_parse_kind(first_of(context, body, "distinctClause"), &inner) != '\0';
    select->is_distinct = true;
    select->distinct_offset = distinct_offset(context, select->offset);
    if (is_on) {
        weir_parse_refuse(context, select->distinct_offset, NULL, " yet: DISTINCT ON");
    }
    return is_on ? WEIR_ERROR : WEIR_OK;
}

static enum weir_status parse_plain(struct weir_parse_context *context,
                                    const struct weir_parse_node *body,
                                    struct weir_ast_select *select)
{
    if (weir_parse_has(body, "valuesLists")) {
        weir_parse_refuse(context, weir_parse_keyword(context, "values"),
                          "a job writes what it computes from what it reads", ": VALUES");
        return WEIR_ERROR;
    }
    const struct weir_parse_node *first =
        weir_parse_as(first_of(context, body, "targetList"), "ResTarget");
    select->offset = first == NULL ? -1 : weir_parse_location(first);
    enum weir_status status = parse_distinct(context, body, select);
    if (refuse_clauses(context, body, select->offset) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    if (parse_targets(context, body, select) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    if (parse_from(context, body, select) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    if (weir_parse_has(body, "whereClause")) {
        select->where = weir_parse_expr(context, weir_parse_get(body, "whereClause"));
        if (select->where == NULL) {
            status = WEIR_ERROR;
        }
    }
    return parse_group(context, body, select) == WEIR_OK ? status : WEIR_ERROR;
}

struct weir_ast_select *weir_parse_select(struct weir_parse_context *context,
                                          const struct weir_parse_node *body,
                                          const struct weir_parse_node *with)
{
    struct weir_ast_select *select = weir_arena_alloc_zero(context->arena, sizeof(*select));
    select->offset = -1;
    if (context->depth == WEIR_SQL_DEPTH_MAX) {
        weir_fault_add(context->faults, -1, NULL, "nested too deeply: more than %d levels",
                       WEIR_SQL_DEPTH_MAX);
        return NULL;
    }
    context->depth++;
    enum weir_status status = parse_ctes(context, with, weir_parse_get(body, "withClause"), select);
    if (weir_parse_text_is(body, "op", "SETOP_NONE")) {
        if (parse_plain(context, body, select) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    } else if (add_sides(context, body, select) != WEIR_OK) {
        status = WEIR_ERROR;
    }
    context->depth--;
    return status == WEIR_OK ? select : NULL;
}
