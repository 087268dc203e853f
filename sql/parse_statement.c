// SPDX-License-Identifier: Apache-2.0
// Statements of the parse tree (parse.h). A statement that is refused is kept with its name, so
// that the statements that lean on it are passed over in silence instead of being reported too.
#include "sql/parse.h"

#include <ctype.h>
#include <string.h>

static const char *copy(struct weir_parse_context *context, const char *text)
{
    return text == NULL ? NULL : weir_arena_strdup(context->arena, text);
}

static void refuse_statement(struct weir_parse_context *context,
                             struct weir_ast_statement *statement, int32_t offset, const char *hint,
                             const char *what)
{
    weir_parse_refuse(context, offset, hint, "%s", what);
    statement->is_broken = true;
}

// --- options ---------------------------------------------------------------------------------

// The value of an option as text; NULL: none is there. Its place: behind the "=".
static const char *parse_option_value(struct weir_parse_context *context,
                                      const struct weir_parse_node *body, int32_t *value_offset)
{
    const struct weir_sql_text *text = context->text;
    struct weir_sql_token token = weir_sql_token_at(text, (size_t)weir_parse_location(body));
    *value_offset = (int32_t)token.offset;
    const struct weir_parse_node *value;
    const char *kind = weir_parse_kind(weir_parse_get(body, "arg"), &value);
    if (value == NULL) {
        return NULL;
    }
    while (token.kind != WEIR_SQL_TOKEN_END && text->data[token.offset] != '=') {
        token = weir_sql_token_at(text, weir_sql_token_end(&token));
    }
    token = weir_sql_token_at(text, weir_sql_token_end(&token));
    *value_offset = (int32_t)token.offset;
    if (strcmp(kind, "String") == 0) {
        return weir_arena_strdup(context->arena, weir_parse_string(weir_parse_get(body, "arg")));
    }
    if (strcmp(kind, "Float") == 0) {
        return copy(context, weir_parse_text(value, "fval"));
    }
    if (strcmp(kind, "TypeName") == 0) { // a bare word
        uint32_t count;
        const char **names = weir_parse_names(context, value, "names", &count);
        return names[count - 1];
    }
    // A number, perhaps with a sign: as it stands in the text.
    struct weir_sql_token last = token;
    while (last.kind == WEIR_SQL_TOKEN_OTHER) {
        last = weir_sql_token_at(text, weir_sql_token_end(&last));
    }
    return weir_arena_printf(context->arena, "%.*s",
                             (int)(weir_sql_token_end(&last) - token.offset),
                             text->data + token.offset);
}

static void parse_options(struct weir_parse_context *context, const struct weir_parse_node *body,
                          struct weir_ast_statement *statement)
{
    struct weir_parse_list list = weir_parse_items(body, "options", context->arena);
    statement->option_count = list.count;
    statement->options =
        weir_arena_alloc_zero(context->arena, list.count * sizeof(*statement->options));
    for (uint32_t i = 0; i < list.count; i++) {
        const struct weir_parse_node *element = weir_parse_as(list.items[i], "DefElem");
        struct weir_ast_option *option = &statement->options[i];
        const char *space = weir_parse_text(element, "defnamespace");
        const char *name = weir_parse_text(element, "defname");
        option->name = space == NULL ? copy(context, name)
                                     : weir_arena_printf(context->arena, "%s.%s", space, name);
        option->offset = weir_parse_location(element);
        option->value = parse_option_value(context, element, &option->value_offset);
    }
}

// --- columns and constraints -----------------------------------------------------------------

static void add_check(struct weir_parse_context *context, struct weir_ast_statement *statement,
                      const struct weir_parse_node *body, int32_t column_idx)
{
    struct weir_ast_expr *expr = weir_parse_expr(context, weir_parse_get(body, "raw_expr"));
    if (expr == NULL) {
        statement->is_broken = true;
        return;
    }
    size_t old_bytes = statement->check_count * sizeof(struct weir_ast_check);
    statement->checks = weir_arena_realloc(context->arena, statement->checks, old_bytes,
                                           old_bytes + sizeof(struct weir_ast_check));
    statement->checks[statement->check_count++] = (struct weir_ast_check){
        .name = copy(context, weir_parse_text(body, "conname")),
        .expr = expr,
        .column_idx = column_idx,
        .offset = weir_parse_location(body),
    };
}

static void refuse_constraint(struct weir_parse_context *context,
                              struct weir_ast_statement *statement,
                              const struct weir_parse_node *body)
{
    static const struct {
        const char *type;
        const char *what;
        const char *hint;
    } constraints[] = {
        {"CONSTR_UNIQUE", ": UNIQUE", NULL},
        {"CONSTR_FOREIGN", ": REFERENCES", NULL},
        {"CONSTR_DEFAULT", ": DEFAULT",
         "write the value in the SELECT, or coalesce(column, value)"},
        {"CONSTR_IDENTITY", ": GENERATED AS IDENTITY", NULL},
        {"CONSTR_EXCLUSION", ": EXCLUDE", NULL},
    };
    for (uint32_t i = 0; i < sizeof(constraints) / sizeof(constraints[0]); i++) {
        if (weir_parse_text_is(body, "contype", constraints[i].type)) {
            refuse_statement(context, statement, weir_parse_location(body), constraints[i].hint,
                             constraints[i].what);
            return;
        }
    }
    refuse_statement(context, statement, weir_parse_location(body), NULL, ": this constraint");
}

// column_idx: it stands behind that column; -1: it names its columns.
static void parse_primary_key(struct weir_parse_context *context,
                              struct weir_ast_statement *statement,
                              const struct weir_parse_node *body, int32_t column_idx)
{
    int32_t offset = weir_parse_location(body);
    uint32_t count;
    const char **names = weir_parse_names(context, body, "keys", &count);
    if (statement->key_column_count != 0) {
        weir_fault_add(context->faults, offset, NULL,
                       "multiple primary keys for table \"%s\" are not allowed", statement->name);
        statement->is_broken = true;
        return;
    }
    if (column_idx >= 0) {
        count = 1;
        names = &statement->columns[column_idx].name;
    }
    statement->key_offset = offset;
    statement->key_column_count = count;
    statement->key_columns =
        weir_arena_alloc(context->arena, count * sizeof(*statement->key_columns));
    for (uint32_t i = 0; i < count; i++) {
        statement->key_columns[i] = (struct weir_ast_name){.name = names[i], .offset = offset};
    }
}

static void parse_constraint(struct weir_parse_context *context,
                             struct weir_ast_statement *statement,
                             const struct weir_parse_node *body, int32_t column_idx)
{
    struct weir_ast_column *column = column_idx < 0 ? NULL : &statement->columns[column_idx];
    if (weir_parse_text_is(body, "contype", "CONSTR_CHECK")) {
        add_check(context, statement, body, column_idx);
    } else if (weir_parse_text_is(body, "contype", "CONSTR_NOTNULL") && column != NULL) {
        column->is_not_null = true;
    } else if (weir_parse_text_is(body, "contype", "CONSTR_GENERATED") && column != NULL) {
        column->generated = weir_parse_expr(context, weir_parse_get(body, "raw_expr"));
        if (column->generated == NULL) {
            column->is_broken = true;
            statement->is_broken = true;
        }
    } else if (weir_parse_text_is(body, "contype", "CONSTR_PRIMARY") &&
               statement->kind == WEIR_AST_CREATE_TABLE) {
        parse_primary_key(context, statement, body, column_idx);
    } else if (!weir_parse_text_is(body, "contype", "CONSTR_NULL")) {
        refuse_constraint(context, statement, body);
    }
}

static void parse_column(struct weir_parse_context *context, struct weir_ast_statement *statement,
                         const struct weir_parse_node *body)
{
    int32_t idx = (int32_t)statement->column_count;
    struct weir_ast_column *column = &statement->columns[statement->column_count++];
    *column = (struct weir_ast_column){
        .name = copy(context, weir_parse_text(body, "colname")),
        .offset = weir_parse_location(body),
    };
    const struct weir_parse_node *type = weir_parse_get(body, "typeName");
    if (type == NULL || weir_parse_type(context, type, &column->type) != WEIR_OK) {
        column->is_broken = true;
        statement->is_broken = true;
    }
    static const struct {
        const char *member;
        const char *what;
    } clauses[] = {{"compression", ": COMPRESSION"}, {"storage_name", ": STORAGE"}};
    for (uint32_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++) {
        if (weir_parse_has(body, clauses[i].member)) {
            refuse_statement(context, statement, column->offset, NULL, clauses[i].what);
        }
    }
    const struct weir_parse_node *collation = weir_parse_get(body, "collClause");
    if (collation != NULL) {
        uint32_t count;
        const char **names = weir_parse_names(context, collation, "collname", &count);
        if (strcmp(names[count - 1], "C") != 0) {
            refuse_statement(context, statement, weir_parse_location(collation),
                             "text compares by bytes, as with COLLATE \"C\"",
                             ": COLLATE other than \"C\"");
        }
    }
    struct weir_parse_list list = weir_parse_items(body, "constraints", context->arena);
    for (uint32_t i = 0; i < list.count; i++) {
        parse_constraint(context, statement, weir_parse_as(list.items[i], "Constraint"), idx);
    }
}

static void parse_elements(struct weir_parse_context *context, const struct weir_parse_node *body,
                           const char *member, struct weir_ast_statement *statement)
{
    struct weir_parse_list list = weir_parse_items(body, member, context->arena);
    statement->columns =
        weir_arena_alloc_zero(context->arena, list.count * sizeof(*statement->columns));
    for (uint32_t i = 0; i < list.count; i++) {
        const struct weir_parse_node *element;
        const char *kind = weir_parse_kind(list.items[i], &element);
        if (strcmp(kind, "ColumnDef") == 0) {
            parse_column(context, statement, element);
        } else if (strcmp(kind, "Constraint") == 0) {
            parse_constraint(context, statement, element, -1);
        } else {
            const struct weir_parse_node *like = weir_parse_get(element, "relation");
            refuse_statement(context, statement, like == NULL ? -1 : weir_parse_location(like),
                             "write the columns", ": LIKE in CREATE TABLE");
        }
    }
}

// --- statements ------------------------------------------------------------------------------

static void parse_relation_name(struct weir_parse_context *context,
                                const struct weir_parse_node *relation,
                                struct weir_ast_statement *statement)
{
    statement->name_offset = weir_parse_location(relation);
    statement->name = weir_parse_relation(context, relation);
    if (statement->name == NULL) {
        statement->name = copy(context, weir_parse_text(relation, "relname"));
        statement->is_broken = true;
    }
    const char *persistence = weir_parse_text(relation, "relpersistence");
    if (persistence != NULL && *persistence != 'p') {
        refuse_statement(context, statement, -1, NULL,
                         *persistence == 't' ? ": TEMPORARY" : ": UNLOGGED");
    }
}

static void parse_name_list(struct weir_parse_context *context, const struct weir_parse_node *body,
                            const char *member, struct weir_ast_statement *statement)
{
    uint32_t count;
    const char **names = weir_parse_names(context, body, member, &count);
    statement->column_name_count = count;
    statement->column_names =
        weir_arena_alloc(context->arena, count * sizeof(*statement->column_names));
    for (uint32_t i = 0; i < count; i++) {
        statement->column_names[i] = (struct weir_ast_name){.name = names[i], .offset = -1};
    }
}

static void parse_create_table(struct weir_parse_context *context,
                               const struct weir_parse_node *body,
                               struct weir_ast_statement *statement)
{
    static const struct {
        const char *member;
        const char *keyword;
        const char *what;
    } clauses[] = {
        {"inhRelations", "inherits", ": INHERITS"},
        {"partspec", "partition", ": PARTITION BY"},
        {"partbound", "partition", ": PARTITION OF"},
        {"ofTypename", "of", ": OF type"},
        {"tablespacename", "tablespace", ": TABLESPACE"},
        {"accessMethod", "using", ": USING"},
        {"if_not_exists", "if", ": IF NOT EXISTS"},
    };
    statement->kind = WEIR_AST_CREATE_TABLE;
    parse_relation_name(context, weir_parse_get(body, "relation"), statement);
    for (uint32_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++) {
        if (weir_parse_has(body, clauses[i].member)) {
            refuse_statement(context, statement, weir_parse_keyword(context, clauses[i].keyword),
                             NULL, clauses[i].what);
        }
    }
    parse_elements(context, body, "tableElts", statement);
    parse_options(context, body, statement);
}

static void parse_select_of(struct weir_parse_context *context, const struct weir_parse_node *node,
                            const struct weir_parse_node *with,
                            struct weir_ast_statement *statement)
{
    const struct weir_parse_node *body = weir_parse_as(node, "SelectStmt");
    statement->select = body == NULL ? NULL : weir_parse_select(context, body, with);
    if (statement->select == NULL) {
        statement->is_broken = true;
    }
}

static void parse_create_table_as(struct weir_parse_context *context,
                                  const struct weir_parse_node *body,
                                  struct weir_ast_statement *statement)
{
    const struct weir_parse_node *into = weir_parse_get(body, "into");
    statement->kind = WEIR_AST_CREATE_TABLE_AS;
    parse_relation_name(context, weir_parse_get(into, "rel"), statement);
    if (!weir_parse_text_is(body, "objtype", "OBJECT_TABLE")) {
        refuse_statement(context, statement, -1, "write CREATE TABLE … AS or CREATE VIEW",
                         ": MATERIALIZED VIEW");
        return;
    }
    if (weir_parse_bool(body, "is_select_into")) {
        refuse_statement(context, statement, -1, "write CREATE TABLE … AS", ": SELECT INTO");
        return;
    }
    if (weir_parse_bool(body, "if_not_exists") || weir_parse_bool(into, "skipData")) {
        refuse_statement(context, statement, -1, NULL,
                         weir_parse_bool(into, "skipData") ? ": WITH NO DATA" : ": IF NOT EXISTS");
    }
    parse_name_list(context, into, "colNames", statement);
    parse_options(context, into, statement);
    parse_select_of(context, weir_parse_get(body, "query"), NULL, statement);
}

static void parse_create_view(struct weir_parse_context *context,
                              const struct weir_parse_node *body,
                              struct weir_ast_statement *statement)
{
    statement->kind = WEIR_AST_CREATE_VIEW;
    parse_relation_name(context, weir_parse_get(body, "view"), statement);
    if (weir_parse_bool(body, "replace")) {
        refuse_statement(context, statement, -1, "write CREATE VIEW once", ": OR REPLACE");
    }
    if (!weir_parse_text_is(body, "withCheckOption", "NO_CHECK_OPTION")) {
        refuse_statement(context, statement, -1, NULL, ": WITH CHECK OPTION");
    }
    if (weir_parse_has(body, "options")) {
        refuse_statement(context, statement, -1, "options belong to CREATE TABLE",
                         ": WITH (options) of a view");
    }
    parse_name_list(context, body, "aliases", statement);
    parse_select_of(context, weir_parse_get(body, "query"), NULL, statement);
}

static void parse_create_type(struct weir_parse_context *context,
                              const struct weir_parse_node *body,
                              struct weir_ast_statement *statement)
{
    statement->kind = WEIR_AST_CREATE_TYPE;
    parse_relation_name(context, weir_parse_get(body, "typevar"), statement);
    parse_elements(context, body, "coldeflist", statement);
}

static void parse_insert(struct weir_parse_context *context, const struct weir_parse_node *body,
                         struct weir_ast_statement *statement)
{
    statement->kind = WEIR_AST_INSERT;
    const struct weir_parse_node *relation = weir_parse_get(body, "relation");
    parse_relation_name(context, relation, statement);
    if (weir_parse_has(relation, "alias")) {
        refuse_statement(context, statement, statement->name_offset, NULL,
                         ": an alias of the table that is written");
    }
    struct weir_parse_list list = weir_parse_items(body, "cols", context->arena);
    statement->column_name_count = list.count;
    statement->column_names =
        weir_arena_alloc(context->arena, list.count * sizeof(*statement->column_names));
    for (uint32_t i = 0; i < list.count; i++) {
        const struct weir_parse_node *target = weir_parse_as(list.items[i], "ResTarget");
        statement->column_names[i] = (struct weir_ast_name){
            .name = copy(context, weir_parse_text(target, "name")),
            .offset = weir_parse_location(target),
        };
        if (weir_parse_has(target, "indirection")) {
            refuse_statement(context, statement, statement->column_names[i].offset, NULL,
                             ": writing a part of a column");
        }
    }
    const struct weir_parse_node *conflict = weir_parse_get(body, "onConflictClause");
    if (conflict != NULL) {
        refuse_statement(context, statement, weir_parse_location(conflict),
                         "a keyed table is written as upserts anyway", ": ON CONFLICT");
    }
    if (weir_parse_has(body, "returningList")) {
        refuse_statement(context, statement, weir_parse_keyword(context, "returning"), NULL,
                         ": RETURNING");
    }
    if (!weir_parse_text_is(body, "override", "OVERRIDING_NOT_SET")) {
        refuse_statement(context, statement, weir_parse_keyword(context, "overriding"), NULL,
                         ": OVERRIDING");
    }
    if (!weir_parse_has(body, "selectStmt")) {
        refuse_statement(context, statement, weir_parse_keyword(context, "default"), NULL,
                         ": DEFAULT VALUES");
        return;
    }
    parse_select_of(context, weir_parse_get(body, "selectStmt"), weir_parse_get(body, "withClause"),
                    statement);
}

static void parse_set(struct weir_parse_context *context, const struct weir_parse_node *body,
                      struct weir_ast_statement *statement)
{
    statement->kind = WEIR_AST_SET;
    const char *name = weir_parse_text(body, "name");
    struct weir_parse_list args = weir_parse_items(body, "args", context->arena);
    if (!weir_parse_text_is(body, "kind", "VAR_SET_VALUE") || name == NULL || args.count != 1 ||
        weir_parse_bool(body, "is_local") || strncmp(name, "weir.", 5) != 0) {
        refuse_statement(context, statement, -1, "what can be set: SET weir.<option> = 'value'",
                         ": this form of SET");
        return;
    }
    statement->option_count = 1;
    statement->options = weir_arena_alloc_zero(context->arena, sizeof(*statement->options));
    struct weir_ast_option *option = &statement->options[0];
    const struct weir_parse_node *constant = weir_parse_as(args.items[0], "A_Const");
    const struct weir_parse_node *string = weir_parse_get(constant, "sval");
    struct weir_sql_token word = weir_sql_token_at(context->text, (size_t)statement->offset);
    word = weir_sql_token_at(context->text, weir_sql_token_end(&word));
    option->name = copy(context, name + 5);
    option->offset = (int32_t)word.offset;
    option->value_offset = constant == NULL ? option->offset : weir_parse_location(constant);
    if (string != NULL) {
        const char *value = weir_parse_text(string, "sval");
        option->value = copy(context, value != NULL ? value : "");
    } else {
        struct weir_sql_token value =
            weir_sql_token_at(context->text, (size_t)option->value_offset);
        option->value = weir_arena_printf(context->arena, "%.*s", (int)value.size_bytes,
                                          context->text->data + value.offset);
    }
}

// By its first words: DELETE, CREATE INDEX.
static void refuse_other(struct weir_parse_context *context, const char *kind,
                         struct weir_ast_statement *statement)
{
    const struct weir_sql_text *text = context->text;
    if (strcmp(kind, "CreateEnumStmt") == 0) {
        refuse_statement(context, statement, weir_parse_keyword(context, "enum"),
                         "write text, with CHECK (column IN (…)) in the table",
                         ": CREATE TYPE … AS ENUM");
        return;
    }
    struct weir_sql_token first = weir_sql_token_at(text, (size_t)statement->offset);
    struct weir_sql_token last = first;
    if (weir_sql_token_is(text, &first, "create") || weir_sql_token_is(text, &first, "alter") ||
        weir_sql_token_is(text, &first, "drop")) {
        struct weir_sql_token second = weir_sql_token_at(text, weir_sql_token_end(&first));
        last = second.kind == WEIR_SQL_TOKEN_WORD ? second : first;
    }
    char *words =
        weir_arena_printf(context->arena, ": %.*s", (int)(weir_sql_token_end(&last) - first.offset),
                          text->data + first.offset);
    for (char *c = words; *c != '\0'; c++) {
        *c = isspace((unsigned char)*c) ? ' ' : (char)toupper((unsigned char)*c);
    }
    if (strcmp(words, ": CREATE TYPE") == 0) {
        words = ": this form of CREATE TYPE";
    }
    const char *hint = "a job is made of CREATE TABLE, CREATE TYPE, CREATE VIEW, INSERT INTO … "
                       "SELECT and SET weir.<option>";
    if (weir_sql_token_is(text, &first, "select") || weir_sql_token_is(text, &first, "with") ||
        weir_sql_token_is(text, &first, "values")) {
        hint = "a query needs a table to write to: INSERT INTO … SELECT";
    } else if (weir_sql_token_is(text, &first, "explain")) {
        hint = "the command weir explain shows what a job does";
    }
    refuse_statement(context, statement, statement->offset, hint, words);
}

static void parse_statement(struct weir_parse_context *context, const struct weir_parse_node *node,
                            struct weir_ast_statement *statement)
{
    static const struct {
        const char *kind;
        void (*parse)(struct weir_parse_context *context, const struct weir_parse_node *body,
                      struct weir_ast_statement *statement);
    } parsers[] = {
        {"CreateStmt", parse_create_table},
        {"CreateTableAsStmt", parse_create_table_as},
        {"CompositeTypeStmt", parse_create_type},
        {"ViewStmt", parse_create_view},
        {"InsertStmt", parse_insert},
        {"VariableSetStmt", parse_set},
    };
    const struct weir_parse_node *body;
    const char *kind = weir_parse_kind(node, &body);
    for (uint32_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
        if (strcmp(kind, parsers[i].kind) == 0) {
            parsers[i].parse(context, body, statement);
            return;
        }
    }
    statement->kind = WEIR_AST_REFUSED;
    refuse_other(context, kind, statement);
}

struct weir_ast *weir_parse_statements(struct weir_parse_context *context,
                                       const struct weir_parse_node *root)
{
    struct weir_ast *ast = weir_arena_alloc_zero(context->arena, sizeof(*ast));
    struct weir_parse_list list = weir_parse_items(root, "stmts", context->arena);
    ast->statement_count = list.count;
    ast->statements = weir_arena_alloc_zero(context->arena, list.count * sizeof(*ast->statements));
    for (uint32_t i = 0; i < list.count; i++) {
        struct weir_ast_statement *statement = &ast->statements[i];
        size_t start = (size_t)weir_parse_int(list.items[i], "stmt_location");
        statement->number = i + 1;
        statement->offset = (int32_t)weir_sql_token_at(context->text, start).offset;
        statement->name_offset = statement->offset;
        context->faults->statement_number = statement->number;
        context->faults->statement_offset = statement->offset;
        parse_statement(context, weir_parse_get(list.items[i], "stmt"), statement);
    }
    context->faults->statement_number = 0;
    context->faults->statement_offset = -1;
    return ast;
}
