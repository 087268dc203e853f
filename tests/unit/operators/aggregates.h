// SPDX-License-Identifier: Apache-2.0
// An aggregate operator from text, over a state in memory.
#ifndef WEIR_TESTS_UNIT_OPERATORS_AGGREGATES_H
#define WEIR_TESTS_UNIT_OPERATORS_AGGREGATES_H

#include "changes.h"

#include "operators/aggregate.h"

struct aggregates {
    struct weir_arena *arena;
    struct weir_schema *schema; // of the input
    struct weir_schema output;
    struct weir_state_store *store;
    struct weir_aggregate_config config;
    struct weir_operator *op;
    struct changes changes;
};

static inline int32_t aggregates_column(const struct weir_schema *schema, const char *name)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    fail_msg("no column %s", name);
    return -1;
}

// "sum(x)", "count(*)", "count(distinct x)", "sum(x) filter f".
static inline void aggregates_parse(const struct weir_schema *schema, char *text,
                                    struct weir_aggregate *aggregate)
{
    *aggregate = (struct weir_aggregate){.arg_column = -1, .filter_column = -1};
    char *filter = strstr(text, " filter ");
    if (filter != NULL) {
        *filter = '\0';
        aggregate->filter_column = aggregates_column(schema, filter + strlen(" filter "));
    }
    char *name = strsep(&text, "(");
    char *arg = strsep(&text, ")");
    if (strncmp(arg, "distinct ", strlen("distinct ")) == 0) {
        aggregate->is_distinct = true;
        arg += strlen("distinct ");
    }
    const struct weir_type *type = NULL;
    if (strcmp(arg, "*") != 0) {
        aggregate->arg_column = aggregates_column(schema, arg);
        type = &schema->columns[aggregate->arg_column].type;
    }
    struct weir_error error;
    assert_int_equal(weir_aggregate_resolve(name, type, aggregate, &error), WEIR_OK);
}

// A new operator over the state that there is.
static inline void aggregates_restart(struct aggregates *all)
{
    if (all->op != NULL) {
        all->op->ops->destroy(all->op);
    }
    all->config.first_epoch = ((struct memory_state_store *)all->store)->barrier_number + 1;
    all->op = weir_aggregate_create("id", "aggregate", &all->config);
    changes_attach(&all->changes, all->op);
}

// columns: "g:text v:integer"; keys: "g h" or ""; texts: aggregates parted by "; ". window_end: a
// column, NULL for none.
static inline struct aggregates *aggregates_begin(const char *columns, const char *keys,
                                                  const char *texts, const char *window_end)
{
    struct aggregates *all = weir_alloc_zero(sizeof *all);
    struct weir_arena *arena = all->arena = weir_arena_create(1 << 12);
    struct weir_field *fields = weir_arena_alloc_zero(arena, 64 * sizeof *fields);
    struct weir_aggregate *list = weir_arena_alloc_zero(arena, 32 * sizeof *list);
    uint32_t *key_columns = weir_arena_alloc_zero(arena, 8 * sizeof *key_columns);
    all->schema = changes_schema(arena, columns);
    all->store = memory_state_store_create();
    all->output.columns = fields;
    uint32_t count = 0;
    char *rest = weir_arena_strdup(arena, keys);
    for (char *name; *keys != '\0' && (name = strsep(&rest, " ")) != NULL;) {
        key_columns[count] = (uint32_t)aggregates_column(all->schema, name);
        fields[all->output.column_count++] = all->schema->columns[key_columns[count++]];
    }
    uint32_t aggregate_count = 0;
    rest = weir_arena_strdup(arena, texts);
    for (char *text; *texts != '\0' && (text = strsep(&rest, ";")) != NULL;) {
        text += strspn(text, " ");
        fields[all->output.column_count].name = weir_arena_strdup(arena, text);
        aggregates_parse(all->schema, text, &list[aggregate_count]);
        fields[all->output.column_count++].type = list[aggregate_count++].result_type;
    }
    all->config = (struct weir_aggregate_config){
        .input = all->schema,
        .key_count = count,
        .key_columns = key_columns,
        .window_end_column = window_end != NULL ? aggregates_column(all->schema, window_end) : -1,
        .is_input_changing = window_end == NULL,
        .aggregate_count = aggregate_count,
        .aggregates = list,
        .output = &all->output,
        .store = all->store,
        .key_groups = {.first = 0, .count = WEIR_KEY_GROUP_COUNT},
    };
    changes_init(&all->changes);
    aggregates_restart(all);
    return all;
}

// Key groups are those of that column.
static inline void aggregates_route(struct aggregates *all, const char *column)
{
    uint32_t *columns = weir_arena_alloc(all->arena, sizeof *columns);
    columns[0] = (uint32_t)aggregates_column(all->schema, column);
    all->config.route_count = 1;
    all->config.route_columns = columns;
    aggregates_restart(all);
}

static inline void aggregates_end(struct aggregates *all)
{
    all->op->ops->destroy(all->op);
    all->store->ops->destroy(all->store);
    changes_deinit(&all->changes);
    weir_arena_destroy(all->arena);
    free(all);
}

// Rows, a barrier, a restart, and what has come out.
static inline void aggregates_check(struct aggregates *all, uint32_t line_count,
                                    const char *const *lines, const char *expected)
{
    changes_feed(all->op, all->schema, line_count, lines);
    changes_pass_barrier(all->op, all->store);
    aggregates_restart(all);
    changes_expect(&all->changes, expected);
}

#define AGGREGATES_CHECK(all, expected, ...)                                                       \
    aggregates_check(all, sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *),            \
                     (const char *[]){__VA_ARGS__}, expected)

#endif
