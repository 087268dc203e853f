// SPDX-License-Identifier: Apache-2.0
// See type.h: layouts, names and equality of types.
#include "runtime/types/type.h"

#include "runtime/base/assert.h"
#include "runtime/base/view.h"
#include "runtime/types/numeric.h"

#include <stdio.h>

enum weir_layout weir_type_layout(enum weir_type_kind kind)
{
    switch (kind) {
    case WEIR_TYPE_BOOLEAN:
        return WEIR_LAYOUT_U8;
    case WEIR_TYPE_SMALLINT:
        return WEIR_LAYOUT_I16;
    case WEIR_TYPE_INTEGER:
    case WEIR_TYPE_DATE:
        return WEIR_LAYOUT_I32;
    case WEIR_TYPE_BIGINT:
    case WEIR_TYPE_TIMESTAMP:
    case WEIR_TYPE_TIMESTAMPTZ:
    case WEIR_TYPE_TIME:
        return WEIR_LAYOUT_I64;
    case WEIR_TYPE_REAL:
        return WEIR_LAYOUT_F32;
    case WEIR_TYPE_DOUBLE:
        return WEIR_LAYOUT_F64;
    case WEIR_TYPE_NUMERIC:
        return WEIR_LAYOUT_NUMERIC;
    case WEIR_TYPE_TEXT:
    case WEIR_TYPE_VARCHAR:
    case WEIR_TYPE_CHAR:
    case WEIR_TYPE_BYTEA:
    case WEIR_TYPE_JSONB:
    case WEIR_TYPE_JSON:
    case WEIR_TYPE_ARRAY:
        return WEIR_LAYOUT_VIEW;
    case WEIR_TYPE_INTERVAL:
        return WEIR_LAYOUT_INTERVAL;
    case WEIR_TYPE_UUID:
        return WEIR_LAYOUT_UUID;
    case WEIR_TYPE_COMPOSITE:
        return WEIR_LAYOUT_COMPOSITE;
    }
    WEIR_ASSERT(false && "a type that does not exist");
    return WEIR_LAYOUT_VIEW;
}

uint32_t weir_layout_bytes(enum weir_layout layout)
{
    switch (layout) {
    case WEIR_LAYOUT_U8:
        return sizeof(uint8_t);
    case WEIR_LAYOUT_I16:
        return sizeof(int16_t);
    case WEIR_LAYOUT_I32:
        return sizeof(int32_t);
    case WEIR_LAYOUT_I64:
        return sizeof(int64_t);
    case WEIR_LAYOUT_F32:
        return sizeof(float);
    case WEIR_LAYOUT_F64:
        return sizeof(double);
    case WEIR_LAYOUT_NUMERIC:
        return sizeof(struct weir_numeric);
    case WEIR_LAYOUT_VIEW:
        return sizeof(struct weir_view);
    case WEIR_LAYOUT_COMPOSITE:
        return 0;
    case WEIR_LAYOUT_INTERVAL:
        return sizeof(struct weir_interval);
    case WEIR_LAYOUT_UUID:
        return sizeof(struct weir_uuid);
    }
    WEIR_ASSERT(false && "a layout that does not exist");
    return 0;
}

static const char *plain_name(const struct weir_type *type)
{
    switch (type->kind) {
    case WEIR_TYPE_BOOLEAN:
        return "boolean";
    case WEIR_TYPE_SMALLINT:
        return "smallint";
    case WEIR_TYPE_INTEGER:
        return "integer";
    case WEIR_TYPE_BIGINT:
        return "bigint";
    case WEIR_TYPE_REAL:
        return "real";
    case WEIR_TYPE_DOUBLE:
        return "double precision";
    case WEIR_TYPE_NUMERIC:
        return "numeric";
    case WEIR_TYPE_TEXT:
        return "text";
    case WEIR_TYPE_VARCHAR:
        return "character varying";
    case WEIR_TYPE_BYTEA:
        return "bytea";
    case WEIR_TYPE_DATE:
        return "date";
    case WEIR_TYPE_TIMESTAMP:
        return "timestamp without time zone";
    case WEIR_TYPE_TIMESTAMPTZ:
        return "timestamp with time zone";
    case WEIR_TYPE_JSONB:
        return "jsonb";
    case WEIR_TYPE_COMPOSITE:
        return type->composite != NULL ? type->composite->name : "record";
    case WEIR_TYPE_CHAR:
        return "character";
    case WEIR_TYPE_TIME:
        return "time without time zone";
    case WEIR_TYPE_INTERVAL:
        return "interval";
    case WEIR_TYPE_UUID:
        return "uuid";
    case WEIR_TYPE_JSON:
        return "json";
    case WEIR_TYPE_ARRAY:
        return "anyarray";
    }
    return "unknown";
}

const char *weir_type_name(const struct weir_type *type, char *text, uint32_t size_bytes)
{
    const char *name = plain_name(type);
    if (type->kind == WEIR_TYPE_ARRAY && type->composite != NULL) {
        weir_type_name(weir_type_element(type), text, size_bytes);
        size_t used = strlen(text);
        snprintf(text + used, size_bytes - used, "[]");
    } else if (type->kind == WEIR_TYPE_NUMERIC && type->modifier >= 0) {
        snprintf(text, size_bytes, "%s(%d,%d)", name, weir_numeric_precision(type->modifier),
                 weir_numeric_scale(type->modifier));
    } else if ((type->kind == WEIR_TYPE_VARCHAR || type->kind == WEIR_TYPE_CHAR) &&
               type->modifier >= 0) {
        snprintf(text, size_bytes, "%s(%d)", name, type->modifier);
    } else {
        snprintf(text, size_bytes, "%s", name);
    }
    return text;
}

bool weir_type_equal(const struct weir_type *a, const struct weir_type *b)
{
    if (a->kind != b->kind || a->modifier != b->modifier) {
        return false;
    }
    bool has_fields = a->kind == WEIR_TYPE_COMPOSITE || a->kind == WEIR_TYPE_ARRAY;
    if (!has_fields || a->composite == b->composite) {
        return true;
    }
    const struct weir_composite *one = a->composite;
    const struct weir_composite *other = b->composite;
    if (one == NULL || other == NULL || one->field_count != other->field_count ||
        strcmp(one->name, other->name) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < one->field_count; i++) {
        if (strcmp(one->fields[i].name, other->fields[i].name) != 0 ||
            !weir_type_equal(&one->fields[i].type, &other->fields[i].type)) {
            return false;
        }
    }
    return true;
}
