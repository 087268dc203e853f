// SPDX-License-Identifier: Apache-2.0
// Keyed tables (planner.h): PRIMARY KEY, reading them as changes, and the rule that a result whose
// rows change goes to a table with the same key only: else the rows of a former key would stay.
#include "sql/planner.h"

#include <string.h>

// --- PRIMARY KEY -----------------------------------------------------------------------------

static enum weir_status add_key_column(struct weir_planner *planner,
                                       const struct weir_ast_name *name,
                                       struct weir_table_column *columns, struct weir_table *table,
                                       uint32_t *key_columns)
{
    uint32_t idx = 0;
    while (idx < table->column_count && strcmp(columns[idx].name, name->name) != 0) {
        idx++;
    }
    if (idx == table->column_count) {
        return weir_fault_add(&planner->faults, name->offset, NULL,
                              "column \"%s\" named in key does not exist", name->name);
    }
    for (uint32_t i = 0; i < table->key_column_count; i++) {
        if (key_columns[i] == idx) {
            return weir_fault_add(&planner->faults, name->offset, NULL,
                                  "column \"%s\" appears twice in primary key constraint",
                                  name->name);
        }
    }
    if (columns[idx].is_generated) {
        return weir_fault_add(
            &planner->faults, name->offset, "the primary key is what the message key holds",
            "not supported: generated column \"%s\" in the primary key", name->name);
    }
    if (weir_sql_check_equality(planner, name->offset, &columns[idx].type) != WEIR_OK) {
        return WEIR_ERROR;
    }
    columns[idx].is_not_null = true;
    key_columns[table->key_column_count++] = idx;
    return WEIR_OK;
}

enum weir_status weir_sql_primary_key(struct weir_planner *planner,
                                      const struct weir_ast_statement *statement,
                                      struct weir_table_column *columns, struct weir_table *table)
{
    enum weir_status status = WEIR_OK;
    uint32_t *key_columns =
        weir_arena_alloc(planner->arena, statement->key_column_count * sizeof(*key_columns));
    table->is_keyed = statement->key_column_count != 0;
    table->key_columns = key_columns;
    for (uint32_t i = 0; i < statement->key_column_count; i++) {
        if (add_key_column(planner, &statement->key_columns[i], columns, table, key_columns) !=
            WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    return status;
}

struct weir_graph_node *weir_sql_normalize(struct weir_planner *planner,
                                           const struct weir_catalog_table *table,
                                           struct weir_graph_node *node)
{
    struct weir_graph *graph = &planner->graph;
    uint32_t key_count = table->table.key_column_count;
    enum weir_plan_kind kinds[] = {WEIR_PLAN_EXCHANGE, WEIR_PLAN_NORMALIZE};
    struct weir_catalog_table *source = node->table;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *key_columns = weir_arena_alloc(planner->arena, key_count * sizeof(*key_columns));
        for (uint32_t j = 0; j < key_count; j++) {
            key_columns[j] = table->derived_idx[table->table.key_columns[j]];
        }
        node = weir_graph_add_passing(graph, kinds[i], 1, &node, key_count, key_columns);
        node->table = source;
    }
    return node;
}

// --- what may be written ---------------------------------------------------------------------

static void print_names(struct weir_buffer *text, uint32_t count, const uint32_t *columns,
                        const struct weir_schema *schema, const struct weir_table *table)
{
    weir_buffer_append_char(text, '(');
    for (uint32_t i = 0; i < count; i++) {
        weir_buffer_printf(text, "%s%s", i == 0 ? "" : ", ",
                           schema != NULL ? schema->columns[columns[i]].name
                                          : table->columns[columns[i]].name);
    }
    weir_buffer_append_char(text, ')');
}

// "changes by key (a, b)", with what to do about it.
static const char *describe_key(struct weir_planner *planner, const struct weir_graph_node *keyed,
                                bool is_changing, const char *table_name, const char **hint)
{
    struct weir_buffer text = {0};
    if (keyed == NULL) {
        *hint = "group it: its groups are its key";
        weir_buffer_printf(&text, "%shas no key", is_changing ? "changes and " : "");
    } else if (keyed->key_count == 0) {
        *hint = weir_arena_printf(planner->arena,
                                  "give table \"%s\" a PRIMARY KEY of columns that are constant in "
                                  "the SELECT: SELECT 'all', …",
                                  table_name);
        weir_buffer_printf(&text, "is one row that changes: its key is ()");
    } else {
        struct weir_buffer names = {0};
        print_names(&names, keyed->key_count, keyed->key_columns, &keyed->inputs[0]->schema, NULL);
        weir_buffer_printf(&text, "%s %s", is_changing ? "changes by key" : "has the key",
                           weir_buffer_text(&names));
        *hint = weir_arena_printf(planner->arena,
                                  "pass %s on unchanged, as the PRIMARY KEY of table \"%s\"",
                                  weir_buffer_text(&names), table_name);
        weir_buffer_deinit(&names);
    }
    const char *copy = weir_arena_strdup(planner->arena, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
    return copy;
}

static enum weir_status refuse_result(struct weir_planner *planner,
                                      const struct weir_ast_statement *statement,
                                      const struct weir_table *table,
                                      const struct weir_graph_node *keyed, bool is_changing)
{
    const char *hint;
    const char *key = describe_key(planner, keyed, is_changing, table->name, &hint);
    if (!table->is_keyed) {
        return weir_fault_add(&planner->faults, statement->name_offset, hint,
                              "the result of the query %s, and table \"%s\" is append-only", key,
                              table->name);
    }
    struct weir_buffer names = {0};
    print_names(&names, table->key_column_count, table->key_columns, NULL, table);
    weir_fault_add(&planner->faults, statement->name_offset, hint,
                   "the result of the query %s, and table \"%s\" has PRIMARY KEY %s", key,
                   table->name, weir_buffer_text(&names));
    weir_buffer_deinit(&names);
    return WEIR_ERROR;
}

static bool is_integer(const struct weir_type *type)
{
    return type->kind == WEIR_TYPE_SMALLINT || type->kind == WEIR_TYPE_INTEGER ||
           type->kind == WEIR_TYPE_BIGINT;
}

// Different values stay different: nothing is rounded or cut off on the way into the column.
static bool keeps_apart(const struct weir_type *from, const struct weir_type *to)
{
    bool is_text = (from->kind == WEIR_TYPE_TEXT || from->kind == WEIR_TYPE_VARCHAR) &&
                   (to->kind == WEIR_TYPE_TEXT || to->kind == WEIR_TYPE_VARCHAR);
    return weir_type_equal(from, to) || (is_integer(from) && is_integer(to)) ||
           ((is_text || (from->kind == WEIR_TYPE_NUMERIC && to->kind == WEIR_TYPE_NUMERIC)) &&
            to->modifier < 0);
}

struct key_match {
    const struct weir_type *type; // of a key that its column would cut; NULL: none
    uint32_t column;              // that column
    bool is_covered;              // every key of the result is in the primary key
    bool is_exact;                // and what else is in it is constant
};

static struct key_match match_key(struct weir_planner *planner,
                                  const struct weir_catalog_table *table,
                                  const struct weir_relation *relation,
                                  const struct weir_graph_node *keyed,
                                  struct weir_expr *const *given)
{
    struct key_match match = {.is_covered = keyed != NULL, .is_exact = keyed != NULL};
    bool *is_found =
        weir_arena_alloc_zero(planner->arena, keyed == NULL ? 0 : keyed->key_count + 1);
    for (uint32_t i = 0; keyed != NULL && i < table->physical_count; i++) {
        uint32_t column = table->physical_columns[i];
        bool is_key = false;
        for (uint32_t j = 0; j < table->table.key_column_count; j++) {
            is_key |= table->table.key_columns[j] == column;
        }
        if (!is_key || weir_expr_is_unknown(given[i]) || weir_expr_is_constant(given[i])) {
            continue;
        }
        int32_t idx = weir_expr_column_idx(given[i]);
        int32_t key = idx < 0 ? -1 : weir_graph_key_of(relation->inputs[0], (uint32_t)idx);
        if (key < 0) {
            match.is_exact = false;
        } else if (keeps_apart(weir_expr_type(given[i]), &table->table.columns[column].type)) {
            is_found[key] = true;
        } else {
            match.type = weir_expr_type(given[i]);
            match.column = column;
        }
    }
    for (uint32_t i = 0; keyed != NULL && i < keyed->key_count; i++) {
        match.is_covered &= is_found[i];
    }
    match.is_exact &= match.is_covered;
    return match;
}

static enum weir_status refuse_type(struct weir_planner *planner,
                                    const struct weir_ast_statement *statement,
                                    const struct weir_table *table, const struct key_match *match)
{
    char wanted[256];
    char given[256];
    weir_type_name(&table->columns[match->column].type, wanted, sizeof(wanted));
    weir_type_name(match->type, given, sizeof(given));
    return weir_fault_add(&planner->faults, statement->name_offset,
                          weir_arena_printf(planner->arena,
                                            "group by the key as it is written: "
                                            "GROUP BY CAST(… AS %s)",
                                            wanted),
                          "column \"%s\" of the PRIMARY KEY of table \"%s\" is of type %s, and the "
                          "key of the query is of type %s: two keys could become one",
                          table->columns[match->column].name, table->name, wanted, given);
}

static bool stands_on_group(const struct weir_graph_node *node)
{
    bool stands = node->kind == WEIR_PLAN_AGGREGATE;
    for (uint32_t i = 0; i < node->input_count && !stands; i++) {
        stands = stands_on_group(node->inputs[i]);
    }
    return stands;
}

enum weir_status weir_sql_check_result(struct weir_planner *planner,
                                       const struct weir_ast_statement *statement,
                                       struct weir_catalog_table *table,
                                       const struct weir_relation *relation,
                                       struct weir_expr *const *given)
{
    bool is_changing = false;
    bool has_group = false;
    for (uint32_t i = 0; i < relation->input_count; i++) {
        is_changing |= relation->inputs[i]->is_changing;
        has_group |= stands_on_group(relation->inputs[i]);
    }
    for (uint32_t i = 0; i < relation->input_count; i++) {
        if (weir_graph_has_now(relation->inputs[i], false)) {
            return weir_fault_add(&planner->faults, statement->name_offset,
                                  "use a column of event time",
                                  "not supported: a condition with now() over rows that change");
        }
    }
    const struct weir_graph_node *keyed =
        relation->input_count == 1 ? weir_graph_keyed_by(relation->inputs[0]) : NULL;
    if (!table->table.is_keyed) {
        return is_changing ? refuse_result(planner, statement, &table->table, keyed, true)
                           : WEIR_OK;
    }
    if (table->sink_input_count != 0) {
        return weir_fault_add(
            &planner->faults, statement->name_offset, "append-only queries can be one: UNION ALL",
            "table \"%s\" is keyed: one INSERT alone can write it", table->table.name);
    }
    struct key_match match = match_key(planner, table, relation, keyed, given);
    // Rows of windows come out of many tasks: which of two with one key is the last is not said.
    bool is_refused = is_changing ? !match.is_exact : has_group && !match.is_covered;
    if (is_refused && match.type != NULL) {
        return refuse_type(planner, statement, &table->table, &match);
    }
    if (is_refused) {
        return refuse_result(planner, statement, &table->table, keyed, is_changing);
    }
    // Where the key holds all of the group's, its rows are with the task of their group already.
    table->is_exchanged = !match.is_covered;
    return WEIR_OK;
}
