// SPDX-License-Identifier: Apache-2.0
// See avro_derive.h.
#include "kafka/avro_derive.h"

#include "runtime/types/json_out.h"

#include <ctype.h>

enum { COMPOSITES_MAX = 64 };

struct derive {
    struct weir_buffer *out;
    const char *space;
    // Composites that are written out already: the next time only their name is.
    uint32_t composite_count;
    const struct weir_composite *composites[COMPOSITES_MAX];
    struct weir_error *error;
};

static enum weir_status check_name(struct derive *derive, const char *what, const char *name)
{
    bool is_good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *at = name; *at != '\0'; at++) {
        is_good = is_good && (isalnum((unsigned char)*at) || *at == '_');
    }
    return is_good ? WEIR_OK
                   : weir_error_set(derive->error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                    "%s \"%s\" cannot be a name in Avro: letters, digits and "
                                    "underscores, no digit first",
                                    what, name);
}

static enum weir_status append_type(struct derive *derive, const struct weir_type *type);

static enum weir_status append_field(struct derive *derive, const struct weir_field *field,
                                     bool is_not_null)
{
    if (check_name(derive, "column", field->name) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_buffer_printf(derive->out, "{\"name\":\"%s\",\"type\":%s", field->name,
                       is_not_null ? "" : "[\"null\",");
    if (append_type(derive, &field->type) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_buffer_printf(derive->out, "%s}", is_not_null ? "" : "],\"default\":null");
    return WEIR_OK;
}

static enum weir_status append_composite(struct derive *derive,
                                         const struct weir_composite *composite)
{
    for (uint32_t i = 0; i < derive->composite_count; i++) {
        if (strcmp(derive->composites[i]->name, composite->name) == 0) {
            weir_buffer_printf(derive->out, "\"%s%s%s\"", derive->space,
                               derive->space[0] == '\0' ? "" : ".", composite->name);
            return WEIR_OK;
        }
    }
    if (check_name(derive, "type", composite->name) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (derive->composite_count == COMPOSITES_MAX) {
        return weir_error_set(derive->error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "more than %d composite types in one table", COMPOSITES_MAX);
    }
    derive->composites[derive->composite_count++] = composite;
    weir_buffer_printf(derive->out, "{\"type\":\"record\",\"name\":\"%s\",\"fields\":[",
                       composite->name);
    for (uint32_t i = 0; i < composite->field_count; i++) {
        weir_buffer_printf(derive->out, "%s", i == 0 ? "" : ",");
        if (append_field(derive, &composite->fields[i], false) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    weir_buffer_printf(derive->out, "]}");
    return WEIR_OK;
}

static enum weir_status append_plain(struct derive *derive, const char *type)
{
    weir_buffer_printf(derive->out, "\"%s\"", type);
    return WEIR_OK;
}

static enum weir_status append_logical(struct derive *derive, const char *type, const char *logical)
{
    weir_buffer_printf(derive->out, "{\"type\":\"%s\",\"logicalType\":\"%s\"}", type, logical);
    return WEIR_OK;
}

static enum weir_status append_numeric(struct derive *derive, const struct weir_type *type)
{
    int32_t precision = weir_numeric_precision(type->modifier);
    int32_t scale = weir_numeric_scale(type->modifier);
    if (type->modifier < 0 || scale < 0 || scale > precision) {
        return append_plain(derive, "string"); // no decimal says what all of them are
    }
    weir_buffer_printf(derive->out,
                       "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":%d,"
                       "\"scale\":%d}",
                       precision, scale);
    return WEIR_OK;
}

static enum weir_status append_type(struct derive *derive, const struct weir_type *type)
{
    enum weir_status status;
    switch (type->kind) {
    case WEIR_TYPE_BOOLEAN:
        return append_plain(derive, "boolean");
    case WEIR_TYPE_SMALLINT:
    case WEIR_TYPE_INTEGER:
        return append_plain(derive, "int");
    case WEIR_TYPE_BIGINT:
        return append_plain(derive, "long");
    case WEIR_TYPE_REAL:
        return append_plain(derive, "float");
    case WEIR_TYPE_DOUBLE:
        return append_plain(derive, "double");
    case WEIR_TYPE_NUMERIC:
        return append_numeric(derive, type);
    case WEIR_TYPE_TEXT:
    case WEIR_TYPE_VARCHAR:
    case WEIR_TYPE_CHAR:
    case WEIR_TYPE_INTERVAL:
    case WEIR_TYPE_JSON:
    case WEIR_TYPE_JSONB:
        return append_plain(derive, "string");
    case WEIR_TYPE_BYTEA:
        return append_plain(derive, "bytes");
    case WEIR_TYPE_DATE:
        return append_logical(derive, "int", "date");
    case WEIR_TYPE_TIME:
        return append_logical(derive, "long", "time-micros");
    case WEIR_TYPE_TIMESTAMP:
        return append_logical(derive, "long", "local-timestamp-micros");
    case WEIR_TYPE_TIMESTAMPTZ:
        return append_logical(derive, "long", "timestamp-micros");
    case WEIR_TYPE_UUID:
        return append_logical(derive, "string", "uuid");
    case WEIR_TYPE_COMPOSITE:
        return append_composite(derive, type->composite);
    case WEIR_TYPE_ARRAY:
        weir_buffer_printf(derive->out, "{\"type\":\"array\",\"items\":[\"null\",");
        status = append_type(derive, weir_type_element(type));
        weir_buffer_printf(derive->out, "]}");
        return status;
    }
    return WEIR_ERROR;
}

enum weir_status weir_avro_derive(const char *name, const char *space, const char *doc,
                                  uint32_t column_count,
                                  const struct weir_avro_derive_column *columns,
                                  struct weir_buffer *out, struct weir_error *error)
{
    struct derive derive = {.out = out, .space = space, .error = error};
    weir_buffer_printf(
        out, "{\"type\":\"record\",\"name\":\"%s\",\"namespace\":\"%s\",\"doc\":", name, space);
    weir_json_append_string(out, weir_view_of(doc));
    weir_buffer_printf(out, ",\"fields\":[");
    for (uint32_t i = 0; i < column_count; i++) {
        weir_buffer_printf(out, "%s", i == 0 ? "" : ",");
        if (append_field(&derive, columns[i].field, columns[i].is_not_null) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    weir_buffer_printf(out, "]}");
    return WEIR_OK;
}
