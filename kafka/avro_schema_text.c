// SPDX-License-Identifier: Apache-2.0
// Schemas as text (avro_schema.h): the parsing canonical form, and names for messages.
#include "kafka/avro_schema.h"
#include "runtime/types/json_out.h"

#include <stdlib.h>

static const char *const kind_names[] = {
    [WEIR_AVRO_NULL] = "null",   [WEIR_AVRO_BOOLEAN] = "boolean", [WEIR_AVRO_INT] = "int",
    [WEIR_AVRO_LONG] = "long",   [WEIR_AVRO_FLOAT] = "float",     [WEIR_AVRO_DOUBLE] = "double",
    [WEIR_AVRO_BYTES] = "bytes", [WEIR_AVRO_STRING] = "string",   [WEIR_AVRO_RECORD] = "record",
    [WEIR_AVRO_ENUM] = "enum",   [WEIR_AVRO_ARRAY] = "array",     [WEIR_AVRO_MAP] = "map",
    [WEIR_AVRO_UNION] = "union", [WEIR_AVRO_FIXED] = "fixed",
};

static const char *const logical_names[] = {
    [WEIR_AVRO_LOGICAL_NONE] = NULL,
    [WEIR_AVRO_DECIMAL] = "decimal",
    [WEIR_AVRO_DATE] = "date",
    [WEIR_AVRO_TIME_MS] = "time-millis",
    [WEIR_AVRO_TIME_US] = "time-micros",
    [WEIR_AVRO_TIMESTAMP_MS] = "timestamp-millis",
    [WEIR_AVRO_TIMESTAMP_US] = "timestamp-micros",
    [WEIR_AVRO_LOCAL_TIMESTAMP_MS] = "local-timestamp-millis",
    [WEIR_AVRO_LOCAL_TIMESTAMP_US] = "local-timestamp-micros",
    [WEIR_AVRO_UUID] = "uuid",
    [WEIR_AVRO_DURATION] = "duration",
};

// --- canonical form --------------------------------------------------------------------------

// Named types that were written out already.
struct written {
    uint32_t count;
    uint32_t capacity;
    const struct weir_avro_type **types;
};

static bool note_written(struct written *written, const struct weir_avro_type *type)
{
    for (uint32_t i = 0; i < written->count; i++) {
        if (written->types[i] == type) {
            return false;
        }
    }
    if (written->count == written->capacity) {
        written->capacity = written->capacity * 2 + 8;
        written->types = weir_realloc(written->types, written->capacity * sizeof *written->types);
    }
    written->types[written->count++] = type;
    return true;
}

static void append_type(const struct weir_avro_type *type, struct written *written,
                        struct weir_buffer *out)
{
    if (type->name != NULL && !note_written(written, type)) {
        weir_json_append_string(out, weir_view_of(type->name));
        return;
    }
    if (type->name != NULL) {
        weir_buffer_printf(out, "{\"name\":");
        weir_json_append_string(out, weir_view_of(type->name));
        weir_buffer_printf(out, ",\"type\":\"%s\"", kind_names[type->kind]);
    }
    switch (type->kind) {
    case WEIR_AVRO_NULL:
    case WEIR_AVRO_BOOLEAN:
    case WEIR_AVRO_INT:
    case WEIR_AVRO_LONG:
    case WEIR_AVRO_FLOAT:
    case WEIR_AVRO_DOUBLE:
    case WEIR_AVRO_BYTES:
    case WEIR_AVRO_STRING:
        weir_buffer_printf(out, "\"%s\"", kind_names[type->kind]);
        return;
    case WEIR_AVRO_RECORD:
        weir_buffer_printf(out, ",\"fields\":[");
        for (uint32_t i = 0; i < type->field_count; i++) {
            weir_buffer_printf(out, "%s{\"name\":", i == 0 ? "" : ",");
            weir_json_append_string(out, weir_view_of(type->fields[i].name));
            weir_buffer_printf(out, ",\"type\":");
            append_type(type->fields[i].type, written, out);
            weir_buffer_append_char(out, '}');
        }
        weir_buffer_printf(out, "]}");
        return;
    case WEIR_AVRO_ENUM:
        weir_buffer_printf(out, ",\"symbols\":[");
        for (uint32_t i = 0; i < type->symbol_count; i++) {
            weir_buffer_printf(out, "%s", i == 0 ? "" : ",");
            weir_json_append_string(out, type->symbols[i]);
        }
        weir_buffer_printf(out, "]}");
        return;
    case WEIR_AVRO_FIXED:
        weir_buffer_printf(out, ",\"size\":%u}", type->size_bytes);
        return;
    case WEIR_AVRO_ARRAY:
    case WEIR_AVRO_MAP:
        weir_buffer_printf(out, "{\"type\":\"%s\",\"%s\":", kind_names[type->kind],
                           type->kind == WEIR_AVRO_ARRAY ? "items" : "values");
        append_type(type->item, written, out);
        weir_buffer_append_char(out, '}');
        return;
    case WEIR_AVRO_UNION:
        weir_buffer_append_char(out, '[');
        for (uint32_t i = 0; i < type->branch_count; i++) {
            weir_buffer_printf(out, "%s", i == 0 ? "" : ",");
            append_type(type->branches[i], written, out);
        }
        weir_buffer_append_char(out, ']');
        return;
    }
}

void weir_avro_schema_append_canonical(const struct weir_avro_type *type, struct weir_buffer *out)
{
    struct written written = {0};
    append_type(type, &written, out);
    free(written.types);
}

// --- names -----------------------------------------------------------------------------------

void weir_avro_type_append_name(const struct weir_avro_type *type, struct weir_buffer *out)
{
    weir_buffer_printf(out, "%s", kind_names[type->kind]);
    if (type->name != NULL) {
        weir_buffer_printf(out, " %.100s", type->name);
    }
    if (type->logical == WEIR_AVRO_DECIMAL) {
        weir_buffer_printf(out, " (decimal(%u,%u))", type->precision, type->scale);
    } else if (logical_names[type->logical] != NULL) {
        weir_buffer_printf(out, " (%s)", logical_names[type->logical]);
    }
    for (uint32_t i = 0; i < type->branch_count && i < 8; i++) {
        weir_buffer_printf(out, i == 0 ? " of " : ", ");
        weir_avro_type_append_name(type->branches[i], out);
    }
    if (type->kind == WEIR_AVRO_ARRAY || type->kind == WEIR_AVRO_MAP) {
        weir_buffer_printf(out, " of ");
        weir_avro_type_append_name(type->item, out);
    }
}

char *weir_avro_type_name(const struct weir_avro_type *type, struct weir_arena *arena)
{
    struct weir_buffer name = {0};
    weir_avro_type_append_name(type, &name);
    char *text = weir_arena_strdup(arena, weir_buffer_text(&name));
    weir_buffer_deinit(&name);
    return text;
}
