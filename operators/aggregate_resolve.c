// SPDX-License-Identifier: Apache-2.0
// Which aggregates there are, by PostgreSQL's pg_proc, and what they give. Called while a job is
// planned. Thread: any.
#include "operators/aggregate.h"
#include "operators/node.h"

static bool find_kind(const char *name, enum weir_aggregate_kind *kind)
{
    static const struct {
        const char *name;
        enum weir_aggregate_kind kind;
    } NAMES[] = {
        {"count", WEIR_AGGREGATE_COUNT}, {"sum", WEIR_AGGREGATE_SUM}, {"min", WEIR_AGGREGATE_MIN},
        {"max", WEIR_AGGREGATE_MAX},     {"avg", WEIR_AGGREGATE_AVG},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(NAMES[i].name, name) == 0) {
            *kind = NAMES[i].kind;
            return true;
        }
    }
    return false;
}

static bool sum_type(enum weir_type_kind kind, enum weir_type_kind *result)
{
    switch (kind) {
    case WEIR_TYPE_SMALLINT:
    case WEIR_TYPE_INTEGER:
        *result = WEIR_TYPE_BIGINT;
        return true;
    case WEIR_TYPE_BIGINT:
    case WEIR_TYPE_NUMERIC:
        *result = WEIR_TYPE_NUMERIC;
        return true;
    case WEIR_TYPE_REAL:
    case WEIR_TYPE_DOUBLE:
        *result = kind;
        return true;
    case WEIR_TYPE_BOOLEAN:
    case WEIR_TYPE_TEXT:
    case WEIR_TYPE_VARCHAR:
    case WEIR_TYPE_BYTEA:
    case WEIR_TYPE_DATE:
    case WEIR_TYPE_TIMESTAMP:
    case WEIR_TYPE_TIMESTAMPTZ:
    case WEIR_TYPE_JSONB:
    case WEIR_TYPE_COMPOSITE:
    case WEIR_TYPE_CHAR:
    case WEIR_TYPE_TIME:
    case WEIR_TYPE_INTERVAL:
    case WEIR_TYPE_UUID:
    case WEIR_TYPE_JSON:
    case WEIR_TYPE_ARRAY:
        break;
    }
    return false;
}

static bool average_type(enum weir_type_kind kind, enum weir_type_kind *result)
{
    if (!sum_type(kind, result)) {
        return false;
    }
    *result = *result == WEIR_TYPE_REAL || *result == WEIR_TYPE_DOUBLE ? WEIR_TYPE_DOUBLE
                                                                       : WEIR_TYPE_NUMERIC;
    return true;
}

static bool extreme_type(enum weir_type_kind kind, enum weir_type_kind *result)
{
    switch (kind) {
    case WEIR_TYPE_SMALLINT:
    case WEIR_TYPE_INTEGER:
    case WEIR_TYPE_BIGINT:
    case WEIR_TYPE_REAL:
    case WEIR_TYPE_DOUBLE:
    case WEIR_TYPE_NUMERIC:
    case WEIR_TYPE_TEXT:
    case WEIR_TYPE_DATE:
    case WEIR_TYPE_TIMESTAMP:
    case WEIR_TYPE_TIMESTAMPTZ:
    case WEIR_TYPE_CHAR:
    case WEIR_TYPE_TIME:
    case WEIR_TYPE_INTERVAL:
        *result = kind;
        return true;
    case WEIR_TYPE_VARCHAR:
        *result = WEIR_TYPE_TEXT;
        return true;
    case WEIR_TYPE_BOOLEAN:
    case WEIR_TYPE_BYTEA:
    case WEIR_TYPE_JSONB:
    case WEIR_TYPE_COMPOSITE:
    case WEIR_TYPE_UUID:
    case WEIR_TYPE_JSON:
    case WEIR_TYPE_ARRAY: // in PostgreSQL they have
        break;
    }
    return false;
}

static bool result_kind(enum weir_aggregate_kind kind, enum weir_type_kind arg,
                        enum weir_type_kind *result)
{
    switch (kind) {
    case WEIR_AGGREGATE_COUNT_ALL:
    case WEIR_AGGREGATE_COUNT:
        *result = WEIR_TYPE_BIGINT;
        return true;
    case WEIR_AGGREGATE_SUM:
        return sum_type(arg, result);
    case WEIR_AGGREGATE_AVG:
        return average_type(arg, result);
    case WEIR_AGGREGATE_MIN:
    case WEIR_AGGREGATE_MAX:
        return extreme_type(arg, result);
    }
    return false;
}

enum weir_status weir_aggregate_resolve(const char *name, const struct weir_type *arg_type,
                                        struct weir_aggregate *aggregate, struct weir_error *error)
{
    char type_name[WEIR_TYPE_NAME_BYTES] = "";
    enum weir_aggregate_kind kind;
    enum weir_type_kind result;
    if (arg_type != NULL) {
        weir_kind_name(arg_type, type_name);
    }
    if (!find_kind(name, &kind)) {
        return weir_expr_refuse(error,
                                "aggregate function %s(%s) is not supported; there are count, sum, "
                                "min, max and avg",
                                name, type_name);
    }
    if (arg_type == NULL && kind == WEIR_AGGREGATE_COUNT) {
        kind = WEIR_AGGREGATE_COUNT_ALL;
        result = WEIR_TYPE_BIGINT;
    } else if (arg_type == NULL || !result_kind(kind, arg_type->kind, &result)) {
        return weir_expr_refuse(error, "function %s(%s) does not exist", name, type_name);
    }
    aggregate->kind = kind;
    aggregate->result_type = weir_type_plain(result);
    return WEIR_OK;
}
