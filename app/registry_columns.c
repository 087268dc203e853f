// SPDX-License-Identifier: Apache-2.0
// See registry_columns.h.
//
//   boolean · int · long · float · double     boolean · integer · bigint · real · double precision
//   string, enum · bytes, fixed               text · bytea
//   decimal · date · time-* · uuid            numeric(p,s) · date · time · uuid
//   timestamp-* · local-timestamp-*           timestamptz · timestamp
//   duration                                  interval
//   record · array                            composite · array, of what has a type; else jsonb
//   map, a union of several                   jsonb
//   a union with null                         what it is besides
#include "app/registry_columns.h"

#include "app/registries.h"
#include "app/signals.h"
#include "kafka/avro_schema.h"
#include "runtime/types/array.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// What was asked for a table.
struct known {
    const char *table;
    enum weir_status status;
    struct weir_error error;
    uint32_t count;
    const struct weir_field *fields;
    struct known *next;
};

struct registry_columns {
    struct weir_sql_columns base; // first: the interface
    const struct weir_config *config;
    struct weir_arena *arena;
    struct known *known;
};

static struct weir_type type_of(struct weir_arena *arena, const struct weir_avro_type *avro);

static struct weir_type composite_of(struct weir_arena *arena, const struct weir_avro_type *avro)
{
    struct weir_composite *composite = weir_arena_alloc_zero(arena, sizeof *composite);
    struct weir_field *fields =
        weir_arena_alloc_zero(arena, (avro->field_count + 1) * sizeof *fields);
    const char *dot = avro->name != NULL ? strrchr(avro->name, '.') : NULL;
    for (uint32_t i = 0; i < avro->field_count; i++) {
        fields[i].name = weir_arena_strdup(arena, avro->fields[i].name);
        fields[i].type = type_of(arena, avro->fields[i].type);
    }
    composite->name = weir_arena_strdup(arena, dot != NULL ? dot + 1 : avro->name);
    composite->field_count = avro->field_count;
    composite->fields = fields;
    struct weir_type type = weir_type_plain(WEIR_TYPE_COMPOSITE);
    type.composite = composite;
    return type;
}

static struct weir_type logical_of(const struct weir_avro_type *avro, enum weir_type_kind plain)
{
    struct weir_type type = weir_type_plain(plain);
    switch (avro->logical) {
    case WEIR_AVRO_LOGICAL_NONE:
        break;
    case WEIR_AVRO_DECIMAL:
        type = weir_type_plain(WEIR_TYPE_NUMERIC);
        if (avro->precision <= 1000) {
            type.modifier = weir_numeric_modifier((int32_t)avro->precision, (int32_t)avro->scale);
        }
        break;
    case WEIR_AVRO_DATE:
        return weir_type_plain(WEIR_TYPE_DATE);
    case WEIR_AVRO_TIME_MS:
    case WEIR_AVRO_TIME_US:
        return weir_type_plain(WEIR_TYPE_TIME);
    case WEIR_AVRO_TIMESTAMP_MS:
    case WEIR_AVRO_TIMESTAMP_US:
        return weir_type_plain(WEIR_TYPE_TIMESTAMPTZ);
    case WEIR_AVRO_LOCAL_TIMESTAMP_MS:
    case WEIR_AVRO_LOCAL_TIMESTAMP_US:
        return weir_type_plain(WEIR_TYPE_TIMESTAMP);
    case WEIR_AVRO_UUID:
        return weir_type_plain(WEIR_TYPE_UUID);
    case WEIR_AVRO_DURATION:
        return weir_type_plain(WEIR_TYPE_INTERVAL);
    }
    return type;
}

static struct weir_type type_of(struct weir_arena *arena, const struct weir_avro_type *avro)
{
    uint32_t null_branch;
    struct weir_type element;
    switch (avro->kind) {
    case WEIR_AVRO_BOOLEAN:
        return weir_type_plain(WEIR_TYPE_BOOLEAN);
    case WEIR_AVRO_INT:
        return logical_of(avro, WEIR_TYPE_INTEGER);
    case WEIR_AVRO_LONG:
        return logical_of(avro, WEIR_TYPE_BIGINT);
    case WEIR_AVRO_FLOAT:
        return weir_type_plain(WEIR_TYPE_REAL);
    case WEIR_AVRO_DOUBLE:
        return weir_type_plain(WEIR_TYPE_DOUBLE);
    case WEIR_AVRO_BYTES:
    case WEIR_AVRO_FIXED:
        return logical_of(avro, WEIR_TYPE_BYTEA);
    case WEIR_AVRO_STRING:
        return logical_of(avro, WEIR_TYPE_TEXT);
    case WEIR_AVRO_NULL:
    case WEIR_AVRO_ENUM:
        return weir_type_plain(WEIR_TYPE_TEXT);
    case WEIR_AVRO_RECORD:
        return avro->field_count > 0 ? composite_of(arena, avro) : weir_type_plain(WEIR_TYPE_JSONB);
    case WEIR_AVRO_ARRAY:
        element = type_of(arena, avro->item);
        return element.kind == WEIR_TYPE_ARRAY || element.kind == WEIR_TYPE_JSONB
                   ? weir_type_plain(WEIR_TYPE_JSONB)
                   : weir_array_type(&element, arena);
    case WEIR_AVRO_UNION:
        if (weir_avro_is_nullable(avro, &null_branch)) {
            return type_of(arena, avro->branches[1 - null_branch]);
        }
        return weir_type_plain(WEIR_TYPE_JSONB);
    case WEIR_AVRO_MAP:
        break;
    }
    return weir_type_plain(WEIR_TYPE_JSONB);
}

static bool has_field(const struct weir_field *fields, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static enum weir_status ask_subject(struct weir_registry *registry, const char *subject,
                                    const struct weir_config *config, bool *is_found,
                                    struct weir_registry_schema *schema, struct weir_error *error)
{
    const struct weir_retry retry = {.clock = &weir_system_clock,
                                     .deadline_ms = weir_now_ms(&weir_system_clock) +
                                                    config->connect_timeout_ms,
                                     .stop_requests = &weir_stop_requests};
    if (weir_registry_ask_latest(registry, subject, &retry, is_found, schema, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (*is_found && schema->type->kind != WEIR_AVRO_RECORD) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "the schema of subject \"%s\" is no record", subject);
    }
    return WEIR_OK;
}

// Appends the fields of a schema that are not there yet.
static void take_fields(struct registry_columns *columns, const struct weir_avro_type *record,
                        struct known *known)
{
    struct weir_field *fields = weir_arena_alloc_zero(
        columns->arena, (known->count + record->field_count) * sizeof *fields);
    if (known->count > 0) {
        memcpy(fields, known->fields, known->count * sizeof *fields);
    }
    for (uint32_t i = 0; i < record->field_count; i++) {
        const char *name = record->fields[i].name;
        if (!has_field(fields, known->count, name)) {
            fields[known->count++] =
                (struct weir_field){.name = weir_arena_strdup(columns->arena, name),
                                    .type = type_of(columns->arena, record->fields[i].type)};
        }
    }
    known->fields = fields;
}

static enum weir_status take_given(struct registry_columns *columns, const struct weir_table *table,
                                   struct known *known)
{
    const struct weir_avro_type *type = NULL;
    if (weir_avro_schema_parse(columns->arena, 0, NULL, weir_view_of(table->avro_schema), &type,
                               &known->error) != WEIR_OK) {
        return weir_error_context(&known->error, "option schema");
    }
    if (type->kind != WEIR_AVRO_RECORD) {
        return weir_error_set(&known->error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "option schema: it is no record");
    }
    take_fields(columns, type, known);
    return WEIR_OK;
}

static enum weir_status ask_registry(struct registry_columns *columns,
                                     const struct weir_table *table, bool has_key,
                                     struct known *known)
{
    if (table->avro_schema != NULL) {
        return take_given(columns, table, known);
    }
    struct weir_registry_config settings;
    struct weir_error *error = &known->error;
    struct weir_registry *registry = NULL;
    struct weir_registry_schema schema;
    bool is_found = false;
    if (weir_registry_settings(table, columns->config, &settings, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    // What is kept there is used; nothing is made before the job has its state directory.
    char *folder = weir_arena_printf(columns->arena, "%s/schemas", columns->config->state_dir);
    settings.cache_folder = access(folder, W_OK) == 0 ? folder : NULL;
    if (weir_registry_create(&settings, &registry, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    const char *subject = weir_registry_subject(columns->arena, table, true);
    enum weir_status status = WEIR_OK;
    if (has_key && table->key_format == WEIR_FORMAT_AVRO) {
        status = ask_subject(registry, subject, columns->config, &is_found, &schema, error);
        if (status == WEIR_OK && is_found) {
            take_fields(columns, schema.type, known);
        }
    }
    subject = weir_registry_subject(columns->arena, table, false);
    if (status == WEIR_OK) {
        status = ask_subject(registry, subject, columns->config, &is_found, &schema, error);
    }
    if (status == WEIR_OK && !is_found) {
        status = weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                "subject \"%s\" has no schema in %s", subject,
                                weir_registry_url(registry));
    }
    if (status == WEIR_OK) {
        take_fields(columns, schema.type, known);
    }
    weir_registry_destroy(registry);
    return status;
}

static enum weir_status ask(struct weir_sql_columns *base, const struct weir_table *table,
                            bool has_key, uint32_t *count, const struct weir_field **fields,
                            struct weir_error *error)
{
    struct registry_columns *columns = (struct registry_columns *)base;
    struct known *known = columns->known;
    while (known != NULL && strcmp(known->table, table->name) != 0) {
        known = known->next;
    }
    if (known == NULL) {
        known = weir_arena_alloc_zero(columns->arena, sizeof *known);
        known->table = weir_arena_strdup(columns->arena, table->name);
        known->status = ask_registry(columns, table, has_key, known);
        known->next = columns->known;
        columns->known = known;
    }
    *count = known->count;
    *fields = known->fields;
    *error = known->error;
    return known->status;
}

uint32_t weir_registry_columns_unreachable(const struct weir_sql_columns *base)
{
    const struct registry_columns *columns = (const struct registry_columns *)base;
    uint32_t count = 0;
    for (const struct known *known = columns->known; known != NULL; known = known->next) {
        bool is_asked_in_vain =
            known->status != WEIR_OK && known->error.action != WEIR_ACTION_REFUSE;
        count += is_asked_in_vain ? 1 : 0;
    }
    return count;
}

struct weir_sql_columns *weir_registry_columns_create(const struct weir_config *config,
                                                      struct weir_arena *arena)
{
    struct registry_columns *columns = weir_arena_alloc_zero(arena, sizeof *columns);
    columns->base.ask = ask;
    columns->config = config;
    columns->arena = arena;
    return &columns->base;
}
