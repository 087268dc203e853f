// SPDX-License-Identifier: Apache-2.0
// See avro_put.h: the deciding.
#include "kafka/avro_put.h"

static bool is_text(enum weir_type_kind kind)
{
    return kind == WEIR_TYPE_TEXT || kind == WEIR_TYPE_VARCHAR || kind == WEIR_TYPE_CHAR;
}

static bool is_integer(enum weir_type_kind kind)
{
    return kind == WEIR_TYPE_SMALLINT || kind == WEIR_TYPE_INTEGER || kind == WEIR_TYPE_BIGINT;
}

static bool choose_number(enum weir_type_kind kind, const struct weir_avro_type *type,
                          enum weir_avro_put_code *code)
{
    bool is_ms =
        type->logical == WEIR_AVRO_TIMESTAMP_MS || type->logical == WEIR_AVRO_LOCAL_TIMESTAMP_MS;
    bool is_us =
        type->logical == WEIR_AVRO_TIMESTAMP_US || type->logical == WEIR_AVRO_LOCAL_TIMESTAMP_US;
    if (is_integer(kind) && type->logical == WEIR_AVRO_LOGICAL_NONE) {
        *code = kind == WEIR_TYPE_SMALLINT  ? WEIR_AVRO_PUT_I16
                : kind == WEIR_TYPE_INTEGER ? WEIR_AVRO_PUT_I32
                                            : WEIR_AVRO_PUT_I64;
        return true;
    }
    if (kind == WEIR_TYPE_DATE && type->logical == WEIR_AVRO_DATE) {
        *code = WEIR_AVRO_PUT_DATE;
        return true;
    }
    if (kind == WEIR_TYPE_TIME &&
        (type->logical == WEIR_AVRO_TIME_MS || type->logical == WEIR_AVRO_TIME_US)) {
        *code = type->logical == WEIR_AVRO_TIME_MS ? WEIR_AVRO_PUT_TIME_MS : WEIR_AVRO_PUT_I64;
        return true;
    }
    if ((kind == WEIR_TYPE_TIMESTAMP || kind == WEIR_TYPE_TIMESTAMPTZ) && (is_ms || is_us)) {
        *code = is_ms ? WEIR_AVRO_PUT_TIMESTAMP_MS : WEIR_AVRO_PUT_TIMESTAMP_US;
        return true;
    }
    return false;
}

static bool choose_bytes(enum weir_type_kind kind, const struct weir_avro_type *type,
                         enum weir_avro_put_code *code)
{
    bool is_fixed = type->kind == WEIR_AVRO_FIXED;
    if (type->logical == WEIR_AVRO_DECIMAL && (is_integer(kind) || kind == WEIR_TYPE_NUMERIC)) {
        *code = WEIR_AVRO_PUT_DECIMAL;
        return true;
    }
    if (kind == WEIR_TYPE_UUID && type->logical == WEIR_AVRO_UUID && is_fixed) {
        *code = WEIR_AVRO_PUT_UUID_FIXED;
        return true;
    }
    if (kind == WEIR_TYPE_INTERVAL && type->logical == WEIR_AVRO_DURATION) {
        *code = WEIR_AVRO_PUT_DURATION;
        return true;
    }
    *code = is_fixed ? WEIR_AVRO_PUT_FIXED : WEIR_AVRO_PUT_BYTES;
    return kind == WEIR_TYPE_BYTEA && type->logical == WEIR_AVRO_LOGICAL_NONE;
}

// Of a type that is no union.
static bool choose(enum weir_type_kind kind, const struct weir_avro_type *type,
                   enum weir_avro_put_code *code)
{
    switch (type->kind) {
    case WEIR_AVRO_BOOLEAN:
        *code = WEIR_AVRO_PUT_BOOLEAN;
        return kind == WEIR_TYPE_BOOLEAN;
    case WEIR_AVRO_INT:
    case WEIR_AVRO_LONG:
        return choose_number(kind, type, code);
    case WEIR_AVRO_FLOAT:
        *code = WEIR_AVRO_PUT_F32;
        return kind == WEIR_TYPE_REAL;
    case WEIR_AVRO_DOUBLE:
        *code = kind == WEIR_TYPE_REAL ? WEIR_AVRO_PUT_F32_DOUBLE : WEIR_AVRO_PUT_F64;
        return kind == WEIR_TYPE_REAL || kind == WEIR_TYPE_DOUBLE;
    case WEIR_AVRO_BYTES:
    case WEIR_AVRO_FIXED:
        return choose_bytes(kind, type, code);
    case WEIR_AVRO_STRING:
        *code = is_text(kind) || kind == WEIR_TYPE_JSONB || kind == WEIR_TYPE_JSON
                    ? WEIR_AVRO_PUT_BYTES
                    : WEIR_AVRO_PUT_TEXT;
        return true;
    case WEIR_AVRO_ENUM:
        *code = WEIR_AVRO_PUT_ENUM;
        return is_text(kind);
    case WEIR_AVRO_RECORD:
        *code = WEIR_AVRO_PUT_RECORD;
        return kind == WEIR_TYPE_COMPOSITE;
    case WEIR_AVRO_ARRAY:
        *code = WEIR_AVRO_PUT_ARRAY;
        return kind == WEIR_TYPE_ARRAY;
    case WEIR_AVRO_NULL:
    case WEIR_AVRO_MAP:
    case WEIR_AVRO_UNION:
        break;
    }
    return false;
}

// A string takes anything: it is chosen where nothing fits better.
static void choose_branch(enum weir_type_kind kind, const struct weir_avro_type *type,
                          struct weir_avro_put *put)
{
    enum weir_avro_put_code code = WEIR_AVRO_PUT_TEXT;
    for (uint32_t i = 0; i < type->branch_count; i++) {
        if (type->branches[i]->kind == WEIR_AVRO_NULL) {
            put->null_branch = (int32_t)i;
        } else if (choose(kind, type->branches[i], &code) &&
                   (put->branch < 0 ||
                    (put->code == WEIR_AVRO_PUT_TEXT && code != WEIR_AVRO_PUT_TEXT))) {
            put->branch = (int32_t)i;
            put->code = code;
            put->type = type->branches[i];
        }
    }
}

static enum weir_status create(struct weir_arena *arena, const char *path,
                               const struct weir_avro_type *type, const struct weir_type *column,
                               struct weir_avro_put *put, struct weir_error *error)
{
    *put = (struct weir_avro_put){.null_branch = -1, .branch = -1, .path = path};
    if (type->kind == WEIR_AVRO_UNION) {
        choose_branch(column->kind, type, put);
    } else if (choose(column->kind, type, &put->code)) {
        put->type = type;
    }
    if (put->type == NULL) {
        char name[128];
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "column \"%s\" is of type %s, the schema has %s there", path,
                              weir_type_name(column, name, sizeof name),
                              weir_avro_type_name(type, arena));
    }
    put->is_int = put->type->kind == WEIR_AVRO_INT;
    put->append = put->code == WEIR_AVRO_PUT_TEXT ? weir_text_append_function(column->kind) : NULL;
    if (put->code == WEIR_AVRO_PUT_ARRAY) {
        put->part_count = 1;
        put->parts = weir_arena_alloc_zero(arena, sizeof *put->parts);
        return create(arena, weir_arena_printf(arena, "%s[]", path), put->type->item,
                      weir_type_element(column), put->parts, error);
    }
    if (put->code != WEIR_AVRO_PUT_RECORD) {
        return WEIR_OK;
    }
    const struct weir_composite *composite = column->composite;
    const struct weir_field **fields =
        weir_arena_alloc(arena, (composite->field_count + 1) * sizeof *fields);
    uint32_t *idxs = weir_arena_alloc(arena, (composite->field_count + 1) * sizeof *idxs);
    for (uint32_t i = 0; i < composite->field_count; i++) {
        fields[i] = &composite->fields[i];
        idxs[i] = i;
    }
    return weir_avro_put_record(arena, path, put->type, composite->field_count, fields, idxs, put,
                                error);
}

enum weir_status weir_avro_put_record(struct weir_arena *arena, const char *path,
                                      const struct weir_avro_type *record, uint32_t field_count,
                                      const struct weir_field *const *fields,
                                      const uint32_t *column_idxs, struct weir_avro_put *put,
                                      struct weir_error *error)
{
    put->part_count = record->field_count;
    put->parts = weir_arena_alloc_zero(arena, (record->field_count + 1) * sizeof *put->parts);
    uint32_t found_count = 0;
    for (uint32_t i = 0; i < record->field_count; i++) {
        const struct weir_avro_field *field = &record->fields[i];
        struct weir_avro_put *part = &put->parts[i];
        uint32_t at = 0;
        while (at < field_count && strcmp(fields[at]->name, field->name) != 0) {
            at++;
        }
        const char *inner =
            path[0] == '\0' ? field->name : weir_arena_printf(arena, "%s.%s", path, field->name);
        if (at < field_count) {
            found_count++;
            if (create(arena, inner, field->type, &fields[at]->type, part, error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            part->column_idx = column_idxs[at];
        } else if (field->default_bytes.data != NULL) {
            *part = (struct weir_avro_put){
                .code = WEIR_AVRO_PUT_DEFAULT, .path = inner, .bytes = field->default_bytes};
        } else {
            return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                  "field \"%s\" of the schema has no column, and no default",
                                  inner);
        }
    }
    for (uint32_t i = 0; found_count < field_count && i < field_count; i++) {
        bool is_found = false;
        for (uint32_t j = 0; j < record->field_count; j++) {
            is_found = is_found || strcmp(record->fields[j].name, fields[i]->name) == 0;
        }
        if (!is_found) {
            return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                  "column \"%s%s%s\" has no field in the schema", path,
                                  path[0] == '\0' ? "" : ".", fields[i]->name);
        }
    }
    return WEIR_OK;
}
