// SPDX-License-Identifier: Apache-2.0
// What the translations of the parse tree share: names, places, integers, type names (parse.h).
#include "sql/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *weir_parse_refuse(struct weir_parse_context *context, int32_t offset, const char *hint,
                        const char *what, ...)
{
    char text[WEIR_ERROR_TEXT_BYTES_MAX];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof(text), what, args);
    va_end(args);
    weir_fault_add(context->faults, offset, hint, "not supported%s", text);
    return NULL;
}

static const char *copy_string(struct weir_parse_context *context,
                               const struct weir_parse_node *node)
{
    const char *text = weir_parse_string(node);
    return text == NULL ? NULL : weir_arena_strdup(context->arena, text);
}

const char **weir_parse_names(struct weir_parse_context *context,
                              const struct weir_parse_node *node, const char *name, uint32_t *count)
{
    struct weir_parse_list list = weir_parse_items(node, name, context->arena);
    const char **names = weir_arena_alloc(context->arena, list.count * sizeof(*names));
    *count = list.count;
    for (uint32_t i = 0; i < list.count; i++) {
        names[i] = copy_string(context, list.items[i]);
    }
    return names;
}

int32_t weir_parse_leftmost(const struct weir_parse_node *node)
{
    int32_t least = INT32_MAX;
    // Down the left side, which may be deep: no recursion.
    for (;;) {
        const struct weir_parse_node *body;
        const char *kind = weir_parse_kind(node, &body);
        if (body == NULL) {
            return least == INT32_MAX ? -1 : least;
        }
        bool is_indirection = strcmp(kind, "A_Indirection") == 0;
        int32_t own = is_indirection ? -1 : weir_parse_location(body);
        least = own >= 0 && own < least ? own : least;
        if (strcmp(kind, "TypeCast") == 0) {
            int32_t type = weir_parse_location(weir_parse_get(body, "typeName"));
            least = type >= 0 && type < least ? type : least;
            node = weir_parse_get(body, "arg");
        } else if (strcmp(kind, "A_Expr") == 0) {
            node = weir_parse_get(body, "lexpr");
        } else if (is_indirection || strcmp(kind, "NullTest") == 0 ||
                   strcmp(kind, "BooleanTest") == 0 || strcmp(kind, "CollateClause") == 0) {
            node = weir_parse_get(body, "arg");
        } else {
            return least == INT32_MAX ? -1 : least;
        }
    }
}

// libpg_query 15 leaves out integers below 0 as it leaves out 0, so that these are read from the
// text: a constant is folded from signs, parentheses and digits, and begins at its first sign.
const char *weir_parse_integer(struct weir_parse_context *context,
                               const struct weir_parse_node *body)
{
    const struct weir_parse_node *integer = weir_parse_get(body, "ival");
    if (integer == NULL) {
        return NULL;
    }
    if (weir_parse_has(integer, "ival")) {
        return weir_arena_printf(context->arena, "%lld",
                                 (long long)weir_parse_int(integer, "ival"));
    }
    struct weir_sql_token token =
        weir_sql_token_at(context->text, (size_t)weir_parse_location(body));
    while (token.kind == WEIR_SQL_TOKEN_OTHER) {
        token = weir_sql_token_at(context->text, weir_sql_token_end(&token));
    }
    const char *digits = context->text->data + token.offset;
    if (token.kind != WEIR_SQL_TOKEN_NUMBER || strspn(digits, "0") == token.size_bytes) {
        return "0";
    }
    return weir_arena_printf(context->arena, "-%.*s", (int)token.size_bytes, digits);
}

const char *weir_parse_qualified(struct weir_parse_context *context,
                                 const struct weir_parse_node *body, const char *list_name,
                                 int32_t offset)
{
    uint32_t count;
    const char **names = weir_parse_names(context, body, list_name, &count);
    if (count > 2 || (count == 2 && strcmp(names[0], "pg_catalog") != 0)) {
        return weir_parse_refuse(context, offset, NULL, ": schemas (%s.%s)", names[0], names[1]);
    }
    return names[count - 1];
}

enum weir_status weir_parse_type(struct weir_parse_context *context,
                                 const struct weir_parse_node *body, struct weir_ast_type *type)
{
    int32_t offset = weir_parse_location(body);
    *type = (struct weir_ast_type){.offset = offset};
    type->name = weir_parse_qualified(context, body, "names", offset);
    if (type->name == NULL) {
        return WEIR_ERROR;
    }
    if (weir_parse_bool(body, "setof") || weir_parse_bool(body, "pct_type")) {
        weir_parse_refuse(context, offset, NULL, ": %s",
                          weir_parse_bool(body, "setof") ? "SETOF" : "%TYPE");
        return WEIR_ERROR;
    }
    type->is_array = weir_parse_has(body, "arrayBounds");
    struct weir_parse_list list = weir_parse_items(body, "typmods", context->arena);
    int64_t *modifiers = weir_arena_alloc(context->arena, list.count * sizeof(*modifiers));
    for (uint32_t i = 0; i < list.count; i++) {
        const struct weir_parse_node *constant = weir_parse_as(list.items[i], "A_Const");
        const char *text = weir_parse_integer(context, constant);
        if (text == NULL) {
            return weir_fault_add(context->faults, offset, NULL,
                                  "the modifiers of type %s must be integers", type->name);
        }
        modifiers[i] = strtoll(text, NULL, 10);
    }
    type->modifier_count = list.count;
    type->modifiers = modifiers;
    return WEIR_OK;
}
