// SPDX-License-Identifier: Apache-2.0
// See registries.h.
#include "app/registries.h"

#include "kafka/avro_derive.h"
#include "kafka/avro_encode.h"
#include "runtime/base/assert.h"
#include "runtime/base/log.h"

#include <stdlib.h>
#include <string.h>

struct table {
    struct weir_table_schemas schemas;
    bool is_asked;
};

struct client {
    const char *url;
    const char *username;
    const char *password;
    const char *token;
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

static enum weir_avro_framing framing_of(const struct weir_table *table)
{
    return table->framing == WEIR_FRAMING_SINGLE_OBJECT ? WEIR_AVRO_FRAMING_SINGLE_OBJECT
                                                        : WEIR_AVRO_FRAMING_NONE;
}

static void check_given(const struct weir_table *table, struct weir_fault_list *faults)
{
    bool is_given = table->avro_schema != NULL;
    if ((table->framing != WEIR_FRAMING_REGISTRY) != is_given) {
        weir_fault_list_add(faults,
                            "table \"%s\": framing = 'single_object' and 'none' need the option "
                            "schema, and it needs one of them",
                            table->name);
    } else if (is_given && table->format != WEIR_FORMAT_AVRO) {
        weir_fault_list_add(faults, "table \"%s\": option schema is for format = 'avro'",
                            table->name);
    } else if (is_given && has_avro_keys(table)) {
        weir_fault_list_add(faults,
                            "table \"%s\": keys in Avro need a schema registry; key_format is "
                            "json or raw where the schema is given",
                            table->name);
    } else if (is_given) {
        struct weir_arena *arena = weir_arena_create(4096);
        struct weir_avro_given *given;
        struct weir_error error;
        if (weir_avro_given_create(arena, framing_of(table), table->avro_schema, &given, &error) !=
            WEIR_OK) {
            weir_fault_list_add(faults, "table \"%s\", option schema: %s", table->name, error.text);
        }
        weir_arena_destroy(arena);
    }
}

void weir_registries_check(const struct weir_plan *plan, const struct weir_config *config,
                           struct weir_fault_list *faults)
{
    if (config->schema_registry_token != NULL &&
        (config->schema_registry_username != NULL || config->schema_registry_password != NULL)) {
        weir_fault_list_add(faults, "WEIR_SCHEMA_REGISTRY_TOKEN is given beside "
                                    "WEIR_SCHEMA_REGISTRY_USERNAME or _PASSWORD; one of the two "
                                    "is sent");
    }
    if (config->schema_registry_key != NULL && config->schema_registry_certificate == NULL) {
        weir_fault_list_add(faults, "WEIR_SCHEMA_REGISTRY_KEY is given without "
                                    "WEIR_SCHEMA_REGISTRY_CERTIFICATE");
    }
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const struct weir_table *table = plan->tables[i];
        if (table->schema_registry_token != NULL &&
            (table->schema_registry_username != NULL || table->schema_registry_password != NULL)) {
            weir_fault_list_add(faults,
                                "table \"%s\": schema_registry_token is given beside a user and "
                                "password; one of the two is sent",
                                table->name);
        }
        check_given(table, faults);
        if (is_avro(table) && table->avro_schema == NULL && url_of(table, config) == NULL) {
            weir_fault_list_add(faults,
                                "table \"%s\" is in Avro, but neither its option schema_registry "
                                "nor WEIR_SCHEMA_REGISTRY names a registry",
                                table->name);
        }
    }
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

enum weir_status weir_registry_settings(const struct weir_table *table,
                                        const struct weir_config *config,
                                        struct weir_registry_config *settings,
                                        struct weir_error *error)
{
    // The job's user or token is not for another registry, nor beside a table's own.
    bool is_other = table->schema_registry != NULL || table->schema_registry_token != NULL;
    bool is_own = is_other || table->schema_registry_username != NULL;
    *settings = (struct weir_registry_config){
        .url = url_of(table, config),
        .username = is_own ? table->schema_registry_username : config->schema_registry_username,
        .password = table->schema_registry_password != NULL ? table->schema_registry_password
                    : is_other                              ? NULL
                                                            : config->schema_registry_password,
        .token = is_own ? table->schema_registry_token : config->schema_registry_token,
        .ca_path = config->schema_registry_ca,
        .certificate_path = config->schema_registry_certificate,
        .key_path = config->schema_registry_key,
        .key_password = config->schema_registry_key_password,
    };
    return settings->url != NULL
               ? WEIR_OK
               : weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                "neither option schema_registry nor WEIR_SCHEMA_REGISTRY is set");
}

static enum weir_status client_of(struct weir_registries *registries,
                                  const struct weir_table *table, const struct weir_config *config,
                                  struct weir_registry **registry, struct weir_error *error)
{
    struct weir_registry_config settings;
    if (weir_registry_settings(table, config, &settings, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct client client = {.url = settings.url,
                            .username = settings.username,
                            .password = settings.password,
                            .token = settings.token};
    for (uint32_t i = 0; i < registries->client_count; i++) {
        const struct client *known = &registries->clients[i];
        if (is_same(known->url, client.url) && is_same(known->username, client.username) &&
            is_same(known->password, client.password) && is_same(known->token, client.token)) {
            *registry = known->registry;
            return WEIR_OK;
        }
    }
    settings.cache_folder = weir_arena_printf(registries->arena, "%s/schemas", config->state_dir);
    if (weir_registry_create(&settings, &client.registry, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    *registry = client.registry;
    registries->clients[registries->client_count++] = client;
    return WEIR_OK;
}

// The full name of the record: what the table says, or a name that Avro takes, from the table's.
static const char *record_name(struct weir_arena *arena, const struct weir_table *table,
                               bool is_key)
{
    if (table->record_name != NULL) {
        return weir_arena_printf(arena, "%s%s", table->record_name, is_key ? "_key" : "");
    }
    bool starts_with_digit = table->name[0] >= '0' && table->name[0] <= '9';
    char *name = weir_arena_printf(arena, "weir.%s%s%s", starts_with_digit ? "_" : "", table->name,
                                   is_key ? "_key" : "");
    for (char *at = name + strlen("weir."); *at != '\0'; at++) {
        bool is_good = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                       (*at >= '0' && *at <= '9') || *at == '_';
        *at = is_good ? *at : '_';
    }
    return name;
}

const char *weir_registry_subject(struct weir_arena *arena, const struct weir_table *table,
                                  bool is_key)
{
    const char *record = record_name(arena, table, is_key);
    if (table->subject != NULL && !is_key) {
        return table->subject;
    }
    switch (table->subject_strategy) {
    case WEIR_SUBJECT_RECORD:
        return record;
    case WEIR_SUBJECT_TOPIC_RECORD:
        return weir_arena_printf(arena, "%s-%s", table->topic, record);
    case WEIR_SUBJECT_TOPIC:
        break;
    }
    return weir_arena_printf(arena, "%s-%s", table->topic, is_key ? "key" : "value");
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
        if (table->avro_schema != NULL) {
            if (weir_avro_given_create(registries->arena, framing_of(table), table->avro_schema,
                                       &schemas->given, error) != WEIR_OK) {
                weir_registries_destroy(registries);
                return weir_error_context(error, "table \"%s\"", table->name);
            }
            continue;
        }
        if (table->format == WEIR_FORMAT_AVRO) {
            schemas->value_subject = weir_registry_subject(registries->arena, table, false);
        }
        if (has_avro_keys(table)) {
            schemas->key_subject = weir_registry_subject(registries->arena, table, true);
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

enum weir_status weir_registry_ask_latest(struct weir_registry *registry, const char *subject,
                                          const struct weir_retry *retry, bool *is_found,
                                          struct weir_registry_schema *schema,
                                          struct weir_error *error)
{
    while (weir_registry_latest(registry, subject, is_found, schema, error) != WEIR_OK) {
        if (!weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static enum weir_status ask_reader(const struct weir_table_schemas *schemas, const char *subject,
                                   bool is_fresh, const struct weir_retry *retry,
                                   const struct weir_avro_type **type, struct weir_error *error)
{
    struct weir_registry_schema latest;
    bool is_found = false;
    *type = NULL;
    if (weir_registry_ask_latest(schemas->registry, subject, retry, &is_found, &latest, error) !=
        WEIR_OK) {
        if (error->action != WEIR_ACTION_REFUSE || is_fresh) {
            return WEIR_ERROR;
        }
        weir_log(WEIR_LOG_WARN, "table %s: %s", schemas->table->name, error->text);
        return WEIR_OK;
    }
    *type = is_found ? latest.type : NULL;
    return WEIR_OK;
}

// --- sinks -----------------------------------------------------------------------------------

// The columns that are written: all, or those of the key.
struct written {
    struct weir_schema schema;
    struct weir_avro_derive_column *columns;
    uint32_t *idxs;
};

static void list_written(const struct weir_table *table, bool is_key, struct weir_arena *arena,
                         struct written *written)
{
    uint32_t count_max = is_key ? table->key_column_count : table->column_count;
    uint32_t count = 0;
    struct weir_field *fields = weir_arena_alloc(arena, count_max * sizeof *fields);
    *written = (struct written){
        .columns = weir_arena_alloc(arena, count_max * sizeof *written->columns),
        .idxs = weir_arena_alloc(arena, count_max * sizeof *written->idxs),
    };
    for (uint32_t i = 0; i < count_max; i++) {
        const struct weir_table_column *column =
            &table->columns[is_key ? table->key_columns[i] : i];
        if (!is_key && (int32_t)i == table->headers_column) {
            continue; // written as headers
        }
        fields[count] = (struct weir_field){.name = column->name, .type = column->type};
        written->idxs[count] = count;
        written->columns[count] = (struct weir_avro_derive_column){
            .field = &fields[count],
            .is_not_null = column->is_not_null || (is_key && table->is_keyed),
        };
        count++;
    }
    written->schema = (struct weir_schema){.column_count = count, .columns = fields};
}

static enum weir_status ask_derived(struct weir_registries *registries,
                                    const struct weir_table_schemas *schemas, bool is_key,
                                    const struct written *written, const struct weir_retry *retry,
                                    struct weir_registry_schema *writer, struct weir_error *error)
{
    const struct weir_table *table = schemas->table;
    const char *subject = is_key ? schemas->key_subject : schemas->value_subject;
    struct weir_buffer text = {0};
    const char *doc = weir_arena_printf(registries->arena, "%s of table %s",
                                        is_key ? "Keys" : "Rows", table->name);
    const char *full_name = record_name(registries->arena, table, is_key);
    const char *dot = strrchr(full_name, '.');
    const char *space = dot == NULL ? ""
                                    : weir_arena_printf(registries->arena, "%.*s",
                                                        (int)(dot - full_name), full_name);
    enum weir_status status =
        weir_avro_derive(dot == NULL ? full_name : dot + 1, space, doc,
                         written->schema.column_count, written->columns, &text, error);
    if (status == WEIR_OK) {
        status = weir_avro_schema_parse(registries->arena, 0, NULL,
                                        (struct weir_view){text.data, text.size_bytes},
                                        &writer->type, error);
        error->action = WEIR_ACTION_REFUSE;
    }
    while (status == WEIR_OK &&
           weir_registry_register(schemas->registry, subject, weir_buffer_text(&text), &writer->id,
                                  error) != WEIR_OK) {
        status = weir_retry_again(retry, error) ? WEIR_OK : WEIR_ERROR;
    }
    weir_buffer_deinit(&text);
    return status;
}

static enum weir_status ask_registered(const struct weir_table_schemas *schemas, bool is_key,
                                       const struct weir_retry *retry,
                                       struct weir_registry_schema *writer,
                                       struct weir_error *error)
{
    const char *subject = is_key ? schemas->key_subject : schemas->value_subject;
    bool is_found = false;
    if (weir_registry_ask_latest(schemas->registry, subject, retry, &is_found, writer, error) !=
        WEIR_OK) {
        return WEIR_ERROR;
    }
    return is_found ? WEIR_OK
                    : weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                     "subject \"%s\" has no schema in %s; register one, or leave "
                                     "auto_register at its default 'true'",
                                     subject, weir_registry_url(schemas->registry));
}

static enum weir_status ask_writer(struct weir_registries *registries,
                                   const struct weir_table_schemas *schemas, bool is_key,
                                   const struct weir_retry *retry,
                                   struct weir_registry_schema *writer, struct weir_error *error)
{
    struct written written;
    list_written(schemas->table, is_key, registries->arena, &written);
    if (schemas->given != NULL) {
        writer->type = schemas->given->type;
    }
    enum weir_status status =
        schemas->given != NULL ? WEIR_OK
        : schemas->table->is_registering
            ? ask_derived(registries, schemas, is_key, &written, retry, writer, error)
            : ask_registered(schemas, is_key, retry, writer, error);
    if (status != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct weir_encoder *encoder = NULL;
    status = weir_avro_encoder_create(
        &(struct weir_avro_encode_config){.schema = &written.schema,
                                          .column_count = written.schema.column_count,
                                          .column_idxs = written.idxs,
                                          .type = writer->type,
                                          .id = writer->id},
        &encoder, error);
    weir_encoder_destroy(encoder);
    return status == WEIR_OK ? WEIR_OK
           : schemas->given != NULL
               ? WEIR_ERROR
               : weir_error_context(error, "schema %u of subject \"%s\"", writer->id,
                                    is_key ? schemas->key_subject : schemas->value_subject);
}

static enum weir_status ask_writers(struct weir_registries *registries,
                                    struct weir_table_schemas *schemas,
                                    const struct weir_retry *retry, struct weir_error *error)
{
    if ((schemas->value_subject != NULL || schemas->given != NULL) &&
        ask_writer(registries, schemas, false, retry, &schemas->value_writer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return schemas->key_subject == NULL
               ? WEIR_OK
               : ask_writer(registries, schemas, true, retry, &schemas->key_writer, error);
}

// A subject that is named by the writers' record is known only where the table names the record.
static bool is_known(const struct weir_table *table)
{
    return table->subject_strategy == WEIR_SUBJECT_TOPIC || table->record_name != NULL;
}

static enum weir_status ask_readers(struct weir_table_schemas *schemas, bool is_fresh,
                                    const struct weir_retry *retry, struct weir_error *error)
{
    const struct weir_table *table = schemas->table;
    if (schemas->value_subject != NULL && (table->subject != NULL || is_known(table)) &&
        ask_reader(schemas, schemas->value_subject, is_fresh, retry, &schemas->value_reader,
                   error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (schemas->key_subject != NULL && table->is_keyed && is_known(table) &&
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
        struct weir_table_schemas *schemas = &table->schemas;
        if (table->is_asked) {
            continue;
        }
        if ((schemas->table->is_source &&
             ask_readers(schemas, is_fresh, retry, error) != WEIR_OK) ||
            (schemas->table->is_sink &&
             ask_writers(registries, schemas, retry, error) != WEIR_OK)) {
            return weir_error_context(error, "table \"%s\"", schemas->table->name);
        }
        table->is_asked = true;
    }
    return WEIR_OK;
}

bool weir_registries_are_waited_for(const struct weir_registries *registries,
                                    struct weir_buffer *out)
{
    bool is_any = false;
    for (uint32_t i = 0; registries != NULL && i < registries->client_count; i++) {
        is_any = weir_registry_is_waited_for(registries->clients[i].registry, out) || is_any;
    }
    return is_any;
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
