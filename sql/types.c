// SPDX-License-Identifier: Apache-2.0
// What the name of a type means (planner.h): PostgreSQL's own types that weir has, those that it
// does not have yet, and the composites of CREATE TYPE. Names are as the grammar gives them: it
// turns `integer` into int4 and `timestamp with time zone` into timestamptz.
#include "runtime/types/array.h"
#include "sql/nearest.h"
#include "sql/planner.h"

#include <string.h>
#include <strings.h>

enum {
    NUMERIC_PRECISION_MAX = 1000,
    VARCHAR_CHARACTERS_MAX = 10485760,
};

static const struct {
    const char *name;
    enum weir_type_kind kind;
} known_types[] = {
    {"bool", WEIR_TYPE_BOOLEAN},
    {"int2", WEIR_TYPE_SMALLINT},
    {"int4", WEIR_TYPE_INTEGER},
    {"int8", WEIR_TYPE_BIGINT},
    {"float4", WEIR_TYPE_REAL},
    {"float8", WEIR_TYPE_DOUBLE},
    {"numeric", WEIR_TYPE_NUMERIC},
    {"text", WEIR_TYPE_TEXT},
    {"varchar", WEIR_TYPE_VARCHAR},
    {"bytea", WEIR_TYPE_BYTEA},
    {"date", WEIR_TYPE_DATE},
    {"timestamp", WEIR_TYPE_TIMESTAMP},
    {"timestamptz", WEIR_TYPE_TIMESTAMPTZ},
    {"jsonb", WEIR_TYPE_JSONB},
    {"json", WEIR_TYPE_JSON},
    {"bpchar", WEIR_TYPE_CHAR},
    {"time", WEIR_TYPE_TIME},
    {"interval", WEIR_TYPE_INTERVAL},
    {"uuid", WEIR_TYPE_UUID},
};

// Types of PostgreSQL that are not there (yet), as people write them.
static const struct {
    const char *name;
    const char *written;
    const char *hint;
} missing_types[] = {
    {"timetz", "time with time zone", NULL},
    {"char", "\"char\"", "text or varchar(n)"},
    {"name", "name", "text"},
    {"bit", "bit", NULL},
    {"varbit", "bit varying", NULL},
    {"money", "money", "numeric"},
    {"inet", "inet", "text"},
    {"cidr", "cidr", "text"},
    {"macaddr", "macaddr", "text"},
    {"xml", "xml", "text"},
    {"oid", "oid", "bigint"},
    {"serial", "serial", NULL},
    {"serial4", "serial", NULL},
    {"bigserial", "bigserial", NULL},
    {"serial8", "bigserial", NULL},
    {"point", "point", NULL},
    {"tsvector", "tsvector", NULL},
    {"record", "record", NULL},
};

// The spellings that people look for, for "did you mean".
static const char *const type_spellings[] = {
    "boolean", "smallint", "integer", "bigint", "real", "double precision", "numeric", "decimal",
    "text", "varchar", "char", "bytea", "date", "time", "timestamp", "timestamptz", "interval",
    "uuid", "json", "jsonb",
    // and those of other systems
    "string", "datetime"};

static enum weir_status unknown_type(struct weir_planner *planner, const struct weir_ast_type *ast)
{
    struct weir_faults *faults = &planner->faults;
    const char *hint = NULL;
    if (strcasecmp(ast->name, "string") == 0) {
        hint = "did you mean \"text\"?";
    } else if (strcasecmp(ast->name, "datetime") == 0) {
        hint = "did you mean \"timestamp\" or \"timestamptz\"?";
    } else {
        struct weir_nearest nearest = weir_nearest_start(ast->name);
        for (uint32_t i = 0; i < sizeof(type_spellings) / sizeof(type_spellings[0]); i++) {
            weir_nearest_offer(&nearest, type_spellings[i]);
        }
        for (uint32_t i = 0; i < planner->type_count; i++) {
            weir_nearest_offer(&nearest, planner->types[i].name);
        }
        hint = weir_fault_did_you_mean(faults, nearest.best);
    }
    return weir_fault_add(faults, ast->offset, hint, "type \"%s\" does not exist", ast->name);
}

static enum weir_status set_numeric_modifier(struct weir_planner *planner,
                                             const struct weir_ast_type *ast,
                                             struct weir_type *type)
{
    int64_t precision = ast->modifiers[0];
    int64_t scale = ast->modifier_count > 1 ? ast->modifiers[1] : 0;
    if (ast->modifier_count > 2) {
        return weir_fault_add(&planner->faults, ast->offset, NULL, "invalid NUMERIC type modifier");
    }
    if (precision < 1 || precision > NUMERIC_PRECISION_MAX) {
        return weir_fault_add(&planner->faults, ast->offset, NULL,
                              "NUMERIC precision %lld must be between 1 and %d",
                              (long long)precision, NUMERIC_PRECISION_MAX);
    }
    if (scale < -NUMERIC_PRECISION_MAX || scale > NUMERIC_PRECISION_MAX) {
        return weir_fault_add(&planner->faults, ast->offset, NULL,
                              "NUMERIC scale %lld must be between %d and %d", (long long)scale,
                              -NUMERIC_PRECISION_MAX, NUMERIC_PRECISION_MAX);
    }
    type->modifier = weir_numeric_modifier((int32_t)precision, (int32_t)scale);
    return WEIR_OK;
}

// varchar(n) and char(n).
static enum weir_status set_varchar_modifier(struct weir_planner *planner,
                                             const struct weir_ast_type *ast,
                                             struct weir_type *type)
{
    int64_t length = ast->modifiers[0];
    const char *name = type->kind == WEIR_TYPE_CHAR ? "char" : "varchar";
    if (ast->modifier_count != 1) {
        return weir_fault_add(&planner->faults, ast->offset, NULL, "invalid type modifier");
    }
    if (length < 1) {
        return weir_fault_add(&planner->faults, ast->offset, NULL,
                              "length for type %s must be at least 1", name);
    }
    if (length > VARCHAR_CHARACTERS_MAX) {
        return weir_fault_add(&planner->faults, ast->offset, NULL,
                              "length for type %s cannot exceed %d", name, VARCHAR_CHARACTERS_MAX);
    }
    type->modifier = (int32_t)length;
    return WEIR_OK;
}

static enum weir_status set_modifier(struct weir_planner *planner, const struct weir_ast_type *ast,
                                     struct weir_type *type)
{
    if (ast->modifier_count == 0) {
        return WEIR_OK;
    }
    if (type->kind == WEIR_TYPE_NUMERIC) {
        return set_numeric_modifier(planner, ast, type);
    }
    if (type->kind == WEIR_TYPE_VARCHAR || type->kind == WEIR_TYPE_CHAR) {
        return set_varchar_modifier(planner, ast, type);
    }
    if (type->kind == WEIR_TYPE_TIMESTAMP || type->kind == WEIR_TYPE_TIMESTAMPTZ ||
        type->kind == WEIR_TYPE_TIME) {
        // Six digits are what there are: nothing would be rounded.
        if (ast->modifier_count == 1 && ast->modifiers[0] == 6) {
            return WEIR_OK;
        }
        return weir_fault_add(&planner->faults, ast->offset,
                              "without a precision it has six digits behind the second",
                              "not supported yet: %s(%lld)", ast->name,
                              (long long)ast->modifiers[0]);
    }
    if (type->kind == WEIR_TYPE_INTERVAL) {
        return weir_fault_add(&planner->faults, ast->offset,
                              "write the units in the text: interval '1 day 02:00'",
                              "not supported yet: an interval with fields or a precision");
    }
    return weir_fault_add(&planner->faults, ast->offset, NULL,
                          "type modifier is not allowed for type \"%s\"", ast->name);
}

static enum weir_status scalar_type(struct weir_planner *planner, const struct weir_ast_type *ast,
                                    struct weir_type *type)
{
    struct weir_faults *faults = &planner->faults;
    for (uint32_t i = 0; i < sizeof(missing_types) / sizeof(missing_types[0]); i++) {
        if (strcmp(ast->name, missing_types[i].name) == 0) {
            const char *hint = missing_types[i].hint;
            return weir_fault_add(
                faults, ast->offset,
                hint == NULL ? NULL : weir_arena_printf(planner->arena, "instead: %s", hint),
                "not supported yet: type %s", missing_types[i].written);
        }
    }
    for (uint32_t i = 0; i < sizeof(known_types) / sizeof(known_types[0]); i++) {
        if (strcmp(ast->name, known_types[i].name) == 0) {
            *type = weir_type_plain(known_types[i].kind);
            return set_modifier(planner, ast, type);
        }
    }
    for (uint32_t i = 0; i < planner->type_count; i++) {
        if (strcmp(ast->name, planner->types[i].name) == 0) {
            *type = weir_type_plain(WEIR_TYPE_COMPOSITE);
            type->composite = planner->types[i].composite;
            return type->composite == NULL ? WEIR_ERROR : WEIR_OK;
        }
    }
    return unknown_type(planner, ast);
}

enum weir_status weir_sql_type(struct weir_planner *planner, const struct weir_ast_type *ast,
                               struct weir_type *type)
{
    if (scalar_type(planner, ast, type) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (ast->is_array) { // however many brackets: dimensions belong to values
        struct weir_type element = *type;
        *type = weir_array_type(&element, planner->arena);
    }
    return WEIR_OK;
}
