// SPDX-License-Identifier: Apache-2.0
// See registries.h.
#include "app/registries.h"

#include "runtime/base/assert.h"
#include "runtime/base/log.h"

#include <stdlib.h>

struct table {
    struct weir_table_schemas schemas;
    bool is_asked;
};

struct client {
    const char *url;
    const char *username;
    const char *password;
    struct weir_registry *registry;
};

struct weir_registries {
    struct weir_arena *arena;
    uint32_t table_count;
    struct table *tables;
    uint32_t client_count;
    struct client *clients;
};

static bool has_avro_keys(const struct weir_table *table)
{
    return table->key_format == WEIR_FORMAT_AVRO && table->key_column_count > 0;
}

static bool is_avro(const struct weir_table *table)
{
    return (table->is_source || table->is_sink) &&
           (table->format == WEIR_FORMAT_AVRO || has_avro_keys(table));
}

static const char *url_of(const struct weir_table *table, const struct weir_config *config)
{
    return table->schema_registry != NULL ? table->schema_registry : config->schema_registry;
}

void weir_registries_check(const struct weir_plan *plan, const struct weir_config *config,
                           struct weir_fault_list *faults)
{
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const struct weir_table *table = plan->tables[i];
        if (is_avro(table) && url_of(table, config) == NULL) {
            weir_fault_list_add(faults,
                                "table \"%s\" is in Avro, but neither its option schema_registry "
                                "nor WEIR_SCHEMA_REGISTRY names a registry",
                                table->name);
        }
        if (is_avro(table) && table->is_sink) {
            weir_fault_list_add(faults, "table \"%s\": not supported yet: writing Avro",
                                table->name);
        }
    }
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static enum weir_status client_of(struct weir_registries *registries,
                                  const struct weir_table *table, const struct weir_config *config,
                                  struct weir_registry **registry, struct weir_error *error)
{
    bool is_own = table->schema_registry != NULL; // the job's user is not for another registry
    struct client client = {
        .url = url_of(table, config),
        .username = table->schema_registry_username != NULL ? table->schema_registry_username
                    : is_own                                ? NULL
                                                            : config->schema_registry_username,
        .password = table->schema_registry_password != NULL ? table->schema_registry_password
                    : is_own                                ? NULL
                                                            : config->schema_registry_password,
    };
    for (uint32_t i = 0; i < registries->client_count; i++) {
        const struct client *known = &registries->clients[i];
        if (is_same(known->url, client.url) && is_same(known->username, client.username) &&
            is_same(known->password, client.password)) {
            *registry = known->registry;
            return WEIR_OK;
        }
    }
    if (client.url == NULL) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "neither option schema_registry nor WEIR_SCHEMA_REGISTRY is set");
    }
    if (weir_registry_create(
            &(struct weir_registry_config){
                .url = client.url,
                .username = client.username,
                .password = client.password,
                .ca_path = config->schema_registry_ca,
                .cache_folder =
                    weir_arena_printf(registries->arena, "%s/schemas", config->state_dir),
            },
            &client.registry, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *registry = client.registry;
    registries->clients[registries->client_count++] = client;
    return WEIR_OK;
}

enum weir_status weir_registries_create(const struct weir_plan *plan,
                                        const struct weir_config *config,
                                        struct weir_registries **out, struct weir_error *error)
{
    struct weir_registries *registries = weir_alloc_zero(sizeof *registries);
    registries->arena = weir_arena_create(4096);
    registries->tables = weir_arena_alloc_zero(registries->arena, (plan->table_count + 1) *
                                                                      sizeof *registries->tables);
    registries->clients = weir_arena_alloc_zero(registries->arena, (plan->table_count + 1) *
                                                                       sizeof *registries->clients);
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const struct weir_table *table = plan->tables[i];
        if (!is_avro(table)) {
            continue;
        }
        struct weir_table_schemas *schemas = &registries->tables[registries->table_count++].schemas;
        schemas->table = table;
        if (table->format == WEIR_FORMAT_AVRO) {
            schemas->value_subject =
                table->subject != NULL
                    ? table->subject
                    : weir_arena_printf(registries->arena, "%s-value", table->topic);
        }
        if (has_avro_keys(table)) {
            schemas->key_subject = weir_arena_printf(registries->arena, "%s-key", table->topic);
        }
        if (client_of(registries, table, config, &schemas->registry, error) != WEIR_OK) {
            weir_registries_destroy(registries);
            return weir_error_context(error, "table \"%s\"", table->name);
        }
    }
    *out = registries;
    return WEIR_OK;
}

void weir_registries_destroy(struct weir_registries *registries)
{
    if (registries == NULL) {
        return;
    }
    for (uint32_t i = 0; i < registries->client_count; i++) {
        weir_registry_destroy(registries->clients[i].registry);
    }
    weir_arena_destroy(registries->arena);
    free(registries);
}

static enum weir_status ask_reader(const struct weir_table_schemas *schemas, const char *subject,
                                   bool is_fresh, const struct weir_retry *retry,
                                   const struct weir_avro_type **type, struct weir_error *error)
{
    struct weir_registry_schema latest;
    bool is_found = false;
    *type = NULL;
    while (weir_registry_latest(schemas->registry, subject, &is_found, &latest, error) != WEIR_OK) {
        if (error->action == WEIR_ACTION_REFUSE && !is_fresh) {
            weir_log(WEIR_LOG_WARN, "table %s: %s", schemas->table->name, error->text);
            return WEIR_OK;
        }
        if (error->action == WEIR_ACTION_REFUSE || !weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    *type = is_found ? latest.type : NULL;
    return WEIR_OK;
}

static enum weir_status ask_table(struct table *table, bool is_fresh,
                                  const struct weir_retry *retry, struct weir_error *error)
{
    struct weir_table_schemas *schemas = &table->schemas;
    if (!schemas->table->is_source) {
        return WEIR_OK;
    }
    if (schemas->value_subject != NULL &&
        ask_reader(schemas, schemas->value_subject, is_fresh, retry, &schemas->value_reader,
                   error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (schemas->key_subject != NULL && schemas->table->is_keyed &&
        ask_reader(schemas, schemas->key_subject, is_fresh, retry, &schemas->key_reader, error) !=
            WEIR_OK) {
        return WEIR_ERROR;
    }
    return WEIR_OK;
}

enum weir_status weir_registries_ask(struct weir_registries *registries, bool is_fresh,
                                     const struct weir_retry *retry, struct weir_error *error)
{
    for (uint32_t i = 0; i < registries->table_count; i++) {
        struct table *table = &registries->tables[i];
        if (!table->is_asked && ask_table(table, is_fresh, retry, error) != WEIR_OK) {
            return weir_error_context(error, "table \"%s\"", table->schemas.table->name);
        }
        table->is_asked = true;
    }
    return WEIR_OK;
}

const struct weir_table_schemas *weir_registries_of(const struct weir_registries *registries,
                                                    const struct weir_table *table)
{
    for (uint32_t i = 0; i < registries->table_count; i++) {
        if (registries->tables[i].schemas.table == table) {
            return &registries->tables[i].schemas;
        }
    }
    WEIR_ASSERT(!"every table in Avro has its registry");
}
