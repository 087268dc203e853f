// SPDX-License-Identifier: Apache-2.0
// The list of all functions and operators. See function.h. Thread: any.
#include "operators/function.h"

#include <ctype.h>

static const struct weir_function_table *const TABLES[] = {
    &weir_functions_integer, &weir_functions_float,  &weir_functions_numeric,
    &weir_functions_compare, &weir_functions_text,   &weir_functions_text_form,
    &weir_functions_like,    &weir_functions_time,   &weir_functions_interval,
    &weir_functions_array,   &weir_functions_json,    &weir_functions_record,
};

void weir_function_each(bool (*visit)(const struct weir_function *function, void *context),
                        void *context)
{
    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
        for (uint32_t k = 0; k < TABLES[i]->count; k++) {
            if (!visit(&TABLES[i]->functions[k], context)) {
                return;
            }
        }
    }
}

bool weir_function_is_operator(const char *name)
{
    return isalpha((unsigned char)name[0]) == 0 && name[0] != '_';
}

const char *weir_arg_name(enum weir_arg arg)
{
    switch (arg) {
    case WEIR_ARG_UNKNOWN:
        return "unknown";
    case WEIR_ARG_BOOLEAN:
        return "boolean";
    case WEIR_ARG_SMALLINT:
        return "smallint";
    case WEIR_ARG_INTEGER:
        return "integer";
    case WEIR_ARG_BIGINT:
        return "bigint";
    case WEIR_ARG_REAL:
        return "real";
    case WEIR_ARG_DOUBLE:
        return "double precision";
    case WEIR_ARG_NUMERIC:
        return "numeric";
    case WEIR_ARG_TEXT:
        return "text";
    case WEIR_ARG_VARCHAR:
        return "character varying";
    case WEIR_ARG_BYTEA:
        return "bytea";
    case WEIR_ARG_DATE:
        return "date";
    case WEIR_ARG_TIMESTAMP:
        return "timestamp without time zone";
    case WEIR_ARG_TIMESTAMPTZ:
        return "timestamp with time zone";
    case WEIR_ARG_JSONB:
        return "jsonb";
    case WEIR_ARG_COMPOSITE:
        return "record";
    case WEIR_ARG_CHAR:
        return "character";
    case WEIR_ARG_UUID:
        return "uuid";
    case WEIR_ARG_ARRAY:
        return "anyarray";
    case WEIR_ARG_ANY:
        return "any";
    case WEIR_ARG_ANYELEMENT:
        return "anyelement";
    case WEIR_ARG_ANYNONARRAY:
        return "anynonarray";
    case WEIR_ARG_INTERVAL:
        return "interval";
    case WEIR_ARG_TIME:
        return "time without time zone";
    case WEIR_ARG_TIMETZ:
        return "time with time zone";
    case WEIR_ARG_TEXT_ARRAY:
        return "text[]";
    case WEIR_ARG_RANGE:
        return "anyrange";
    case WEIR_ARG_MONEY:
        return "money";
    case WEIR_ARG_JSON:
        return "json";
    case WEIR_ARG_INET:
        return "inet";
    case WEIR_ARG_MACADDR:
        return "macaddr";
    case WEIR_ARG_BIT:
        return "bit";
    case WEIR_ARG_GEOMETRY:
        return "point";
    }
    return "?";
}

static void append_text(struct weir_buffer *out, const char *text)
{
    weir_buffer_append(out, text, strlen(text));
}

void weir_function_signature(const struct weir_function *function, struct weir_buffer *out)
{
    if (weir_function_is_operator(function->name)) {
        if (function->arg_count == 2) {
            append_text(out, weir_arg_name(function->args[0]));
            weir_buffer_append_char(out, ' ');
        }
        append_text(out, function->name);
        weir_buffer_append_char(out, ' ');
        append_text(out, weir_arg_name(function->args[function->arg_count - 1]));
        return;
    }
    append_text(out, function->name);
    weir_buffer_append_char(out, '(');
    for (uint32_t i = 0; i < function->arg_count; i++) {
        append_text(out, i != 0 ? ", " : "");
        append_text(out, weir_arg_name(function->args[i]));
    }
    append_text(out, (function->flags & WEIR_FUNCTION_VARIADIC) != 0 ? ", …)" : ")");
}

struct list_context {
    void (*visit)(const char *name, const char *signature, void *context);
    void *context;
    struct weir_buffer signature;
};

static bool list_one(const struct weir_function *function, void *context)
{
    struct list_context *list = context;
    if (function->kernel == NULL) {
        return true;
    }
    list->signature.size_bytes = 0;
    weir_function_signature(function, &list->signature);
    append_text(&list->signature, " → ");
    append_text(&list->signature, weir_arg_name(function->result));
    list->visit(function->name, weir_buffer_text(&list->signature), list->context);
    return true;
}

void weir_expr_list_functions(void (*visit)(const char *name, const char *signature, void *context),
                              void *context)
{
    struct list_context list = {.visit = visit, .context = context};
    weir_function_each(list_one, &list);
    weir_buffer_deinit(&list.signature);
}
