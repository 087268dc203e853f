// SPDX-License-Identifier: Apache-2.0
// A plan for people and for programs (plan.h): as text, as a graph for Graphviz, as JSON. The text
// form names every node by its number, inputs first.
#include "sql/plan.h"

#include "runtime/types/datetime.h"

#include <string.h>

static const char *const kind_words[] = {
    [WEIR_PLAN_SOURCE] = "source",       [WEIR_PLAN_DERIVE] = "derive",
    [WEIR_PLAN_FILTER] = "filter",       [WEIR_PLAN_PROJECT] = "project",
    [WEIR_PLAN_SINK] = "sink",           [WEIR_PLAN_WATERMARK] = "watermark",
    [WEIR_PLAN_TUMBLE] = "tumble",       [WEIR_PLAN_EXCHANGE] = "exchange",
    [WEIR_PLAN_NORMALIZE] = "normalize", [WEIR_PLAN_AGGREGATE] = "aggregate",
};

static const char *const aggregate_words[] = {
    [WEIR_AGGREGATE_COUNT_ALL] = "count", [WEIR_AGGREGATE_COUNT] = "count",
    [WEIR_AGGREGATE_SUM] = "sum",         [WEIR_AGGREGATE_MIN] = "min",
    [WEIR_AGGREGATE_MAX] = "max",         [WEIR_AGGREGATE_AVG] = "avg",
};

static const char *const format_words[] = {
    [WEIR_FORMAT_JSON] = "json",
    [WEIR_FORMAT_RAW] = "raw",
    [WEIR_FORMAT_DEBEZIUM_JSON] = "debezium_json",
    [WEIR_FORMAT_CSV] = "csv",
    [WEIR_FORMAT_AVRO] = "avro",
};

// --- parts -----------------------------------------------------------------------------------

static bool is_plain_name(const char *name)
{
    return *name != '\0' && (*name < '0' || *name > '9') &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static void print_name(struct weir_buffer *out, const char *name)
{
    if (is_plain_name(name)) {
        weir_buffer_printf(out, "%s", name);
        return;
    }
    weir_buffer_append_char(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"') {
            weir_buffer_append_char(out, '"');
        }
        weir_buffer_append_char(out, *name);
    }
    weir_buffer_append_char(out, '"');
}

// A composite with the fields that are kept: bid (price bigint).
static void print_type(struct weir_buffer *out, const struct weir_type *type)
{
    char text[256];
    weir_buffer_printf(out, "%s", weir_type_name(type, text, sizeof(text)));
    if (type->kind != WEIR_TYPE_COMPOSITE) {
        return;
    }
    weir_buffer_append(out, " (", 2);
    for (uint32_t i = 0; i < type->composite->field_count; i++) {
        const struct weir_field *field = &type->composite->fields[i];
        weir_buffer_printf(out, "%s", i == 0 ? "" : ", ");
        print_name(out, field->name);
        weir_buffer_append_char(out, ' ');
        print_type(out, &field->type);
    }
    weir_buffer_append_char(out, ')');
}

static void print_columns(struct weir_buffer *out, const struct weir_schema *schema)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        weir_buffer_printf(out, "%s", i == 0 ? "" : ", ");
        print_name(out, schema->columns[i].name);
        weir_buffer_append_char(out, ' ');
        print_type(out, &schema->columns[i].type);
    }
    if (schema->column_count == 0) {
        weir_buffer_printf(out, "none");
    }
}

// On one line: a literal may hold newlines.
static void print_expr(struct weir_buffer *out, const struct weir_expr *expr)
{
    struct weir_buffer text = {0};
    weir_expr_print(expr, &text);
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == '\n') {
            weir_buffer_append(out, "\\n", 2);
        } else {
            weir_buffer_append_char(out, text.data[i]);
        }
    }
    weir_buffer_deinit(&text);
}

static void print_assignment(struct weir_buffer *out, const char *name,
                             const struct weir_expr *expr)
{
    struct weir_buffer text = {0};
    print_expr(&text, expr);
    print_name(out, name);
    if (strcmp(weir_buffer_text(&text), name) != 0) {
        weir_buffer_printf(out, " = %s", weir_buffer_text(&text));
    }
    weir_buffer_deinit(&text);
}

static void print_check(struct weir_buffer *out, const struct weir_plan_node *node,
                        const struct weir_plan_check *check)
{
    if (check->condition == NULL) {
        print_name(out, node->schema.columns[check->not_null_column].name);
        weir_buffer_printf(out, " NOT NULL");
    } else {
        print_expr(out, check->condition);
    }
}

static void print_position(struct weir_buffer *out, const char *word,
                           const struct weir_position *position)
{
    switch (position->kind) {
    case WEIR_POSITION_DEFAULT:
        return;
    case WEIR_POSITION_EARLIEST:
        weir_buffer_printf(out, ", %s earliest", word);
        return;
    case WEIR_POSITION_LATEST:
        weir_buffer_printf(out, ", %s latest", word);
        return;
    case WEIR_POSITION_TIMESTAMP:
        weir_buffer_printf(out, ", %s ", word);
        weir_timestamptz_append(out, (position->timestamp_ms - WEIR_EPOCH_SHIFT_MS) * 1000);
        return;
    }
}

static void print_topic(struct weir_buffer *out, const struct weir_table *table, bool is_sink)
{
    bool has_key = (is_sink || table->is_keyed) && table->key_column_count != 0;
    weir_buffer_printf(out, "%s, format %s", table->topic, format_words[table->format]);
    for (uint32_t i = 0; has_key && i < table->key_column_count; i++) {
        weir_buffer_printf(out, i != 0 ? ", " : table->is_keyed ? ", primary key " : ", key ");
        print_name(out, table->columns[table->key_columns[i]].name);
    }
    if (has_key) {
        weir_buffer_printf(out, " (%s)", format_words[table->key_format]);
    }
    if (!is_sink) {
        print_position(out, "start", &table->start);
        print_position(out, "end", &table->end);
    }
}

// In the largest unit that leaves no rest.
static void print_length(struct weir_buffer *out, int64_t us)
{
    static const struct {
        int64_t us;
        const char *unit;
    } units[] = {{86400000000, "d"}, {3600000000, "h"}, {60000000, "min"},
                 {1000000, "s"},     {1000, "ms"},      {1, "us"}};
    size_t i = us == 0 ? 3 : 0;
    while (us % units[i].us != 0) {
        i++;
    }
    weir_buffer_printf(out, "%lld %s", (long long)(us / units[i].us), units[i].unit);
}

static const struct weir_schema *input_schema(const struct weir_plan_node *node)
{
    return &node->inputs[0]->schema;
}

static void print_keys(struct weir_buffer *out, const struct weir_plan_node *node)
{
    for (uint32_t i = 0; i < node->key_column_count; i++) {
        weir_buffer_printf(out, "%s", i == 0 ? "" : ", ");
        print_name(out, input_schema(node)->columns[node->key_columns[i]].name);
    }
    if (node->key_column_count == 0) {
        weir_buffer_printf(out, "none");
    }
}

static void print_aggregate(struct weir_buffer *out, const struct weir_plan_node *node,
                            const struct weir_aggregate *aggregate)
{
    weir_buffer_printf(out, "%s(%s", aggregate_words[aggregate->kind],
                       aggregate->is_distinct ? "DISTINCT " : "");
    if (aggregate->arg_column < 0) {
        weir_buffer_append_char(out, '*');
    } else {
        print_name(out, input_schema(node)->columns[aggregate->arg_column].name);
    }
    weir_buffer_append_char(out, ')');
    if (aggregate->filter_column >= 0) {
        weir_buffer_printf(out, " FILTER (WHERE ");
        print_name(out, input_schema(node)->columns[aggregate->filter_column].name);
        weir_buffer_append_char(out, ')');
    }
}

// --- text ------------------------------------------------------------------------------------

static void print_details(struct weir_buffer *out, const struct weir_plan_node *node,
                          const char *before, const char *after)
{
    uint32_t passed_count =
        node->kind == WEIR_PLAN_DERIVE ? node->schema.column_count - node->expr_count : 0;
    if (node->kind == WEIR_PLAN_SOURCE || node->kind == WEIR_PLAN_SINK) {
        weir_buffer_printf(out, "%stopic ", before);
        print_topic(out, node->table, node->kind == WEIR_PLAN_SINK);
        weir_buffer_printf(out, "%s%scolumns ", after, before);
        print_columns(out, &node->schema);
        weir_buffer_printf(out, "%s", after);
    }
    if (node->kind == WEIR_PLAN_FILTER) {
        weir_buffer_printf(out, "%swhere ", before);
        print_expr(out, node->exprs[0]);
        weir_buffer_printf(out, "%s", after);
    } else {
        for (uint32_t i = 0; i < node->expr_count; i++) {
            weir_buffer_printf(out, "%s", before);
            print_assignment(out, node->schema.columns[passed_count + i].name, node->exprs[i]);
            weir_buffer_printf(out, "%s", after);
        }
    }
    for (uint32_t i = 0; i < node->check_count; i++) {
        weir_buffer_printf(out, "%scheck ", before);
        print_check(out, node, &node->checks[i]);
        weir_buffer_printf(out, "%s", after);
    }
    if (node->kind == WEIR_PLAN_DERIVE && node->event_time_column >= 0) {
        weir_buffer_printf(out, "%sevent time ", before);
        print_name(out, node->schema.columns[node->event_time_column].name);
        weir_buffer_printf(out, "%s%s", node->is_event_time_needed ? ", needed" : "", after);
    }
}

static void print_group(struct weir_buffer *out, const struct weir_plan_node *node,
                        const char *before, const char *after)
{
    weir_buffer_printf(out, "%skey ", before);
    print_keys(out, node);
    weir_buffer_printf(out, "%s", after);
    if (node->kind == WEIR_PLAN_AGGREGATE && node->window_end_column >= 0) {
        weir_buffer_printf(out, "%swindow ends at ", before);
        print_name(out, input_schema(node)->columns[node->window_end_column].name);
        weir_buffer_printf(out, "%s", after);
    }
    if (node->folded_for != NULL) {
        weir_buffer_printf(out, "%srows of one group are folded before it, where that pays%s",
                           before, after);
    }
    if (node->state_ttl_us != 0) {
        weir_buffer_printf(out, "%sforgotten after ", before);
        print_length(out, node->state_ttl_us);
        weir_buffer_printf(out, "%s", after);
    }
    for (uint32_t i = 0; i < node->aggregate_count; i++) {
        weir_buffer_printf(out, "%s", before);
        print_aggregate(out, node, &node->aggregates[i]);
        weir_buffer_printf(out, "%s", after);
    }
    if (node->kind != WEIR_PLAN_EXCHANGE && node->is_changing) {
        weir_buffer_printf(out, "%sits rows change%s", before, after);
    }
}

static void print_time(struct weir_buffer *out, const struct weir_plan_node *node,
                       const char *before, const char *after)
{
    bool is_tumble = node->kind == WEIR_PLAN_TUMBLE;
    weir_buffer_printf(out, "%s%s ", before, is_tumble ? "size" : "delay");
    print_length(out, is_tumble ? node->window.size_us : weir_table_delay_us(node->table));
    if (is_tumble && node->window.origin_us != -WEIR_EPOCH_SHIFT_US) {
        weir_buffer_printf(out, ", origin ");
        weir_timestamptz_append(out, node->window.origin_us);
    }
    weir_buffer_printf(out, "%s", after);
}

static bool is_keyed(const struct weir_plan_node *node)
{
    return node->kind == WEIR_PLAN_EXCHANGE || node->kind == WEIR_PLAN_NORMALIZE ||
           node->kind == WEIR_PLAN_AGGREGATE;
}

static void print_all_details(struct weir_buffer *out, const struct weir_plan_node *node,
                              const char *before, const char *after)
{
    print_details(out, node, before, after);
    if (is_keyed(node)) {
        print_group(out, node, before, after);
    }
    if (node->kind == WEIR_PLAN_TUMBLE || node->kind == WEIR_PLAN_WATERMARK) {
        print_time(out, node, before, after);
    }
}

static void explain_text(const struct weir_plan *plan, struct weir_buffer *out)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        weir_buffer_printf(out, "%u  %s", i + 1, node->name);
        for (uint32_t j = 0; j < node->input_count; j++) {
            weir_buffer_printf(out, j == 0 ? "  (from %u" : ", %u", node->inputs[j]->idx + 1);
        }
        weir_buffer_printf(out, "%s  [%s]\n", node->input_count == 0 ? "" : ")", node->id);
        print_all_details(out, node, "     ", "\n");
    }
}

// --- dot -------------------------------------------------------------------------------------

static void put_escaped(struct weir_buffer *out, const char *text, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') {
            weir_buffer_append_char(out, '\\');
        }
        if (c < 0x20) {
            weir_buffer_printf(out, "\\u%04x", c);
        } else {
            weir_buffer_append_char(out, (char)c);
        }
    }
}

static void explain_dot(const struct weir_plan *plan, struct weir_buffer *out)
{
    weir_buffer_printf(out, "digraph job {\n  rankdir = LR;\n  node [shape = box];\n");
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        struct weir_buffer details = {0};
        print_all_details(&details, node, "", "\n");
        weir_buffer_printf(out, "  n%u [label = \"", i + 1);
        put_escaped(out, node->name, strlen(node->name));
        weir_buffer_printf(out, "\\n");
        for (size_t at = 0; at < details.size_bytes;) {
            const char *line = details.data + at;
            size_t bytes =
                (size_t)((const char *)memchr(line, '\n', details.size_bytes - at) - line);
            put_escaped(out, line, bytes);
            weir_buffer_printf(out, "\\l");
            at += bytes + 1;
        }
        weir_buffer_printf(out, "\"];\n");
        weir_buffer_deinit(&details);
        for (uint32_t j = 0; j < node->input_count; j++) {
            weir_buffer_printf(out, "  n%u -> n%u;\n", node->inputs[j]->idx + 1, i + 1);
        }
    }
    weir_buffer_printf(out, "}\n");
}

// --- json ------------------------------------------------------------------------------------

static void put_string(struct weir_buffer *out, const char *text, size_t size_bytes)
{
    weir_buffer_append_char(out, '"');
    put_escaped(out, text, size_bytes);
    weir_buffer_append_char(out, '"');
}

static void put_member(struct weir_buffer *out, const char *name, const char *value)
{
    weir_buffer_printf(out, "\"%s\": ", name);
    put_string(out, value, strlen(value));
}

static void put_columns(struct weir_buffer *out, const struct weir_schema *schema)
{
    weir_buffer_printf(out, "\"columns\": [");
    for (uint32_t i = 0; i < schema->column_count; i++) {
        struct weir_buffer type = {0};
        print_type(&type, &schema->columns[i].type);
        weir_buffer_printf(out, "%s{", i == 0 ? "" : ", ");
        put_member(out, "name", schema->columns[i].name);
        weir_buffer_printf(out, ", ");
        put_member(out, "type", weir_buffer_text(&type));
        weir_buffer_append_char(out, '}');
        weir_buffer_deinit(&type);
    }
    weir_buffer_append_char(out, ']');
}

static void put_texts(struct weir_buffer *out, const struct weir_plan_node *node)
{
    struct weir_buffer text = {0};
    weir_buffer_printf(out, "\"expressions\": [");
    for (uint32_t i = 0; i < node->expr_count; i++) {
        text.size_bytes = 0;
        weir_expr_print(node->exprs[i], &text);
        weir_buffer_printf(out, "%s", i == 0 ? "" : ", ");
        put_string(out, text.data, text.size_bytes);
    }
    weir_buffer_printf(out, "], \"checks\": [");
    for (uint32_t i = 0; i < node->check_count; i++) {
        text.size_bytes = 0;
        print_check(&text, node, &node->checks[i]);
        weir_buffer_printf(out, "%s", i == 0 ? "" : ", ");
        put_string(out, text.data, text.size_bytes);
    }
    weir_buffer_append_char(out, ']');
    weir_buffer_deinit(&text);
}

// What only some kinds of node have.
static void put_group(struct weir_buffer *out, const struct weir_plan_node *node)
{
    struct weir_buffer text = {0};
    if (is_keyed(node)) {
        weir_buffer_printf(out, ", \"key\": [");
        for (uint32_t i = 0; i < node->key_column_count; i++) {
            const char *name = input_schema(node)->columns[node->key_columns[i]].name;
            weir_buffer_printf(out, "%s", i == 0 ? "" : ", ");
            put_string(out, name, strlen(name));
        }
        weir_buffer_append_char(out, ']');
    }
    if (node->folded_for != NULL) {
        weir_buffer_printf(out, ", \"folded\": true");
    }
    if (node->kind == WEIR_PLAN_AGGREGATE) {
        weir_buffer_printf(out, ", \"aggregates\": [");
        for (uint32_t i = 0; i < node->aggregate_count; i++) {
            text.size_bytes = 0;
            print_aggregate(&text, node, &node->aggregates[i]);
            weir_buffer_printf(out, "%s", i == 0 ? "" : ", ");
            put_string(out, text.data, text.size_bytes);
        }
        weir_buffer_append_char(out, ']');
        if (node->window_end_column >= 0) {
            weir_buffer_printf(out, ", ");
            put_member(out, "window_end",
                       input_schema(node)->columns[node->window_end_column].name);
        }
    }
    if (node->state_ttl_us != 0) {
        weir_buffer_printf(out, ", \"state_ttl_us\": %lld", (long long)node->state_ttl_us);
    }
    if (node->kind == WEIR_PLAN_TUMBLE) {
        weir_buffer_printf(out, ", \"size_us\": %lld, \"origin_us\": %lld",
                           (long long)node->window.size_us, (long long)node->window.origin_us);
    }
    if (node->kind == WEIR_PLAN_WATERMARK) {
        weir_buffer_printf(out, ", \"delay_us\": %lld",
                           (long long)weir_table_delay_us(node->table));
    }
    if (node->is_changing) {
        weir_buffer_printf(out, ", \"changing\": true");
    }
    weir_buffer_deinit(&text);
}

static void explain_json(const struct weir_plan *plan, struct weir_buffer *out)
{
    weir_buffer_printf(out, "{\"nodes\": [");
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct weir_plan_node *node = plan->nodes[i];
        weir_buffer_printf(out, "%s\n  {\"number\": %u, ", i == 0 ? "" : ",", i + 1);
        put_member(out, "kind", kind_words[node->kind]);
        weir_buffer_printf(out, ", ");
        put_member(out, "id", node->id);
        weir_buffer_printf(out, ", ");
        put_member(out, "name", node->name);
        weir_buffer_printf(out, ", \"inputs\": [");
        for (uint32_t j = 0; j < node->input_count; j++) {
            weir_buffer_printf(out, "%s%u", j == 0 ? "" : ", ", node->inputs[j]->idx + 1);
        }
        weir_buffer_printf(out, "], ");
        if (node->table != NULL) {
            put_member(out, "table", node->table->name);
            weir_buffer_printf(out, ", ");
            put_member(out, "topic", node->table->topic);
            weir_buffer_printf(out, ", ");
        }
        put_columns(out, &node->schema);
        weir_buffer_printf(out, ", ");
        put_texts(out, node);
        if (node->kind == WEIR_PLAN_DERIVE && node->event_time_column >= 0) {
            weir_buffer_printf(out, ", ");
            put_member(out, "event_time", node->schema.columns[node->event_time_column].name);
        }
        put_group(out, node);
        weir_buffer_append_char(out, '}');
    }
    weir_buffer_printf(out, "\n]}\n");
}

void weir_plan_explain(const struct weir_plan *plan, enum weir_explain_form form,
                       struct weir_buffer *out)
{
    switch (form) {
    case WEIR_EXPLAIN_TEXT:
        explain_text(plan, out);
        return;
    case WEIR_EXPLAIN_DOT:
        explain_dot(plan, out);
        return;
    case WEIR_EXPLAIN_JSON:
        explain_json(plan, out);
        return;
    case WEIR_EXPLAIN_SVG:
        weir_plan_draw(plan, out);
        return;
    }
}
