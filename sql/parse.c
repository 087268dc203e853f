// SPDX-License-Identifier: Apache-2.0
// Calls libpg_query and turns its syntax errors into faults (parse.h). libpg_query prints its tree
// by recursion and guards no depth, so it runs on a thread of its own whose stack grows with the
// text; at that thread's end it also gives back its memory. Nothing else in sql/ runs there.
#include "sql/parse.h"

#include "runtime/types/text_io.h"
#include "sql/nearest.h"

#include <pg_query.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

enum {
    TEXT_BYTES_MAX = 1 << 20,
    // A level of nesting takes at least two bytes of text and, measured, about 320 bytes of stack.
    STACK_BYTES_PER_TEXT_BYTE = 512,
    STACK_BYTES_MIN = 4 << 20,
};

struct parse_call {
    const char *text;
    PgQueryParseResult result;
};

static void *run_parser(void *argument)
{
    struct parse_call *call = argument;
    call->result = pg_query_parse(call->text);
    return NULL;
}

static enum weir_status call_parser(struct weir_faults *faults, struct parse_call *call)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES_MIN +
                                               faults->text.size_bytes * STACK_BYTES_PER_TEXT_BYTE);
    int failed = pthread_create(&thread, &attributes, run_parser, call);
    pthread_attr_destroy(&attributes);
    if (failed != 0) {
        return weir_fault_add(faults, -1, NULL, "no memory to parse %zu bytes of SQL",
                              faults->text.size_bytes);
    }
    pthread_join(thread, NULL);
    return WEIR_OK;
}

// The number of the statement that offset lies in, by the semicolons before it.
static uint32_t statement_at(const struct weir_sql_text *text, size_t offset)
{
    uint32_t number = 1;
    bool is_empty = true;
    int depth = 0;
    struct weir_sql_token token = weir_sql_token_at(text, 0);
    while (token.kind != WEIR_SQL_TOKEN_END && token.offset < offset) {
        char c = text->data[token.offset];
        bool is_other = token.kind == WEIR_SQL_TOKEN_OTHER;
        depth += is_other && c == '(';
        depth -= is_other && c == ')' && depth > 0;
        if (is_other && c == ';') {
            number += !is_empty;
            is_empty = true;
            depth = 0;
        } else {
            is_empty = false;
        }
        token = weir_sql_token_at(text, weir_sql_token_end(&token));
    }
    return number;
}

static const char *reserved_hint(struct weir_faults *faults, const struct weir_sql_token *token)
{
    char *name = weir_arena_printf(faults->arena, "%.*s", (int)token->size_bytes,
                                   faults->text.data + token->offset);
    if (!weir_sql_is_reserved(name)) {
        return NULL;
    }
    return weir_arena_printf(faults->arena,
                             "\"%s\" is a reserved word: as a name it must be quoted: \"%s\"", name,
                             name);
}

// Words that begin a part of a statement: behind a name they are more likely meant as that.
static bool is_clause(const struct weir_sql_text *text, const struct weir_sql_token *token)
{
    static const char *const words[] = {"from",  "where", "select",    "as",   "and",    "or",
                                        "not",   "in",    "is",        "on",   "then",   "when",
                                        "else",  "union", "except",    "with", "having", "into",
                                        "using", "limit", "intersect", "for",  "fetch",  "create"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (weir_sql_token_is(text, token, words[i])) {
            return true;
        }
    }
    return false;
}

// A misspelt keyword; NULL: the token is near none.
static const char *keyword_hint(struct weir_faults *faults, const struct weir_sql_token *token)
{
    static const char *const keywords[] = {
        "CREATE", "TABLE", "TYPE", "VIEW",  "INSERT",    "INTO",   "SELECT",  "FROM", "WHERE",
        "WITH",   "UNION", "CASE", "WHEN",  "GENERATED", "ALWAYS", "STORED",  "CAST", "EXTRACT",
        "AND",    "NOT",   "NULL", "CHECK", "BETWEEN",   "LIKE",   "COALESCE"};
    if (token->kind != WEIR_SQL_TOKEN_WORD) {
        return NULL;
    }
    struct weir_nearest nearest = weir_nearest_start(weir_arena_printf(
        faults->arena, "%.*s", (int)token->size_bytes, faults->text.data + token->offset));
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        weir_nearest_offer(&nearest, keywords[i]);
    }
    // "int" is a type, not half of INTO.
    bool is_near = nearest.best != NULL && nearest.best_distance != 0 &&
                   strcasecmp(nearest.wanted, "int") != 0;
    return is_near ? weir_arena_printf(faults->arena, "did you mean %s?", nearest.best) : NULL;
}

// The token before offset, and whether a list of columns can go on with it: behind "(" or ",".
static struct weir_sql_token token_before(const struct weir_sql_text *text, size_t offset,
                                          bool *follows_list)
{
    struct weir_sql_token before = {.kind = WEIR_SQL_TOKEN_END};
    *follows_list = false;
    struct weir_sql_token token = weir_sql_token_at(text, 0);
    while (token.kind != WEIR_SQL_TOKEN_END && token.offset < offset) {
        char c = text->data[before.offset];
        *follows_list = (before.kind == WEIR_SQL_TOKEN_OTHER && (c == '(' || c == ',')) ||
                        weir_sql_token_is(text, &before, "select");
        before = token;
        token = weir_sql_token_at(text, weir_sql_token_end(&token));
    }
    return before;
}

// What to write instead: nearly always a reserved word wants quotes, or a comma is too many.
static const char *syntax_hint(struct weir_faults *faults, size_t offset)
{
    const struct weir_sql_text *text = &faults->text;
    struct weir_sql_token token = weir_sql_token_at(text, offset);
    bool follows_list;
    struct weir_sql_token before = token_before(text, token.offset, &follows_list);
    char c = token.kind == WEIR_SQL_TOKEN_OTHER ? text->data[token.offset] : '\0';
    if (before.kind == WEIR_SQL_TOKEN_OTHER && text->data[before.offset] == ',' &&
        (c == ')' || weir_sql_token_is(text, &token, "from"))) {
        return "there is a comma too many before this";
    }
    bool is_name_place = before.kind == WEIR_SQL_TOKEN_OTHER;
    const char *hint = NULL;
    if (token.kind == WEIR_SQL_TOKEN_WORD && (is_name_place || !is_clause(text, &token))) {
        hint = reserved_hint(faults, &token);
    }
    // `check text`: the grammar fails one token behind the name.
    if (hint == NULL && follows_list && before.kind == WEIR_SQL_TOKEN_WORD && c != '(') {
        hint = reserved_hint(faults, &before);
    }
    if (hint == NULL) {
        hint = keyword_hint(faults, &token);
    }
    return hint != NULL ? hint : keyword_hint(faults, &before);
}

// PostgreSQL's message quotes the text from the error on; one line of it is enough.
static const char *first_line(struct weir_faults *faults, const char *message)
{
    size_t bytes = strcspn(message, "\r\n");
    return message[bytes] == '\0'
               ? message
               : weir_arena_printf(faults->arena, "%.*s…\"", (int)bytes, message);
}

// Behind the last token: where the text ends for people.
static size_t end_of_text(const struct weir_sql_text *text)
{
    size_t end = 0;
    struct weir_sql_token token = weir_sql_token_at(text, 0);
    while (token.kind != WEIR_SQL_TOKEN_END) {
        end = weir_sql_token_end(&token);
        token = weir_sql_token_at(text, end);
    }
    return end;
}

static void add_syntax_fault(struct weir_faults *faults, const PgQueryError *error)
{
    size_t end = end_of_text(&faults->text);
    size_t offset = end;
    if (error->cursorpos > 0) {
        offset = weir_sql_text_offset(&faults->text, (size_t)error->cursorpos - 1);
        offset = offset < end ? offset : end;
    }
    faults->statement_number = statement_at(&faults->text, offset);
    if (strncmp(error->message, "memory exhausted", 16) == 0) {
        weir_fault_add(faults, (int32_t)offset, NULL, "nested too deeply");
    } else if (strstr(error->message, "subquery in FROM must have an alias") != NULL) {
        weir_fault_add(faults, (int32_t)offset, WEIR_SUBQUERY_ALIAS_HINT, "%s", error->message);
    } else {
        weir_fault_add(faults, (int32_t)offset, syntax_hint(faults, offset), "%s",
                       first_line(faults, error->message));
    }
    faults->statement_number = 0;
}

// Anything that is not UTF-8 would shift places and end in topics.
static enum weir_status check_encoding(struct weir_faults *faults)
{
    const char *data = faults->text.data;
    struct weir_value_error error;
    for (size_t start = 0; start < faults->text.size_bytes;) {
        size_t end = start + strcspn(data + start, "\n");
        struct weir_view line = {.data = data + start, .size_bytes = end - start};
        if (!weir_text_validate(line, &error)) {
            return weir_fault_add(faults, (int32_t)start, "the text of a job is UTF-8", "%s",
                                  error.text);
        }
        start = end + 1;
    }
    return WEIR_OK;
}

struct weir_ast *weir_sql_parse(struct weir_faults *faults)
{
    struct weir_ast *empty = weir_arena_alloc_zero(faults->arena, sizeof(*empty));
    if (faults->text.size_bytes > TEXT_BYTES_MAX) {
        weir_fault_add(faults, -1, NULL, "the text of a job has %zu bytes; at most %d are taken",
                       faults->text.size_bytes, TEXT_BYTES_MAX);
        return empty;
    }
    struct parse_call call = {.text = faults->text.data};
    if (check_encoding(faults) != WEIR_OK || call_parser(faults, &call) != WEIR_OK) {
        return empty;
    }
    struct weir_ast *ast = empty;
    if (call.result.error != NULL) {
        add_syntax_fault(faults, call.result.error);
    } else {
        const char *json = call.result.parse_tree;
        struct weir_parse_document *document = weir_parse_document_create(json, strlen(json));
        struct weir_parse_context context = {
            .faults = faults, .arena = faults->arena, .text = &faults->text};
        if (document == NULL) {
            weir_fault_add(faults, -1, NULL, "libpg_query gives a parse tree that is not JSON");
        } else {
            ast = weir_parse_statements(&context, weir_parse_root(document));
        }
        weir_parse_document_destroy(document);
    }
    pg_query_free_parse_result(call.result);
    return ast;
}
