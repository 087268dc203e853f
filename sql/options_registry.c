// SPDX-License-Identifier: Apache-2.0
// The WITH options of tables in Avro: where their schemas are registered, and how (planner.h).
#include "sql/planner.h"

#include <string.h>

static enum weir_status parse_strategy(struct weir_planner *planner,
                                       const struct weir_ast_option *option,
                                       struct weir_table *table)
{
    static const char *const names[] = {[WEIR_SUBJECT_TOPIC] = "topic",
                                        [WEIR_SUBJECT_RECORD] = "record",
                                        [WEIR_SUBJECT_TOPIC_RECORD] = "topic_record"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(option->value, names[i]) == 0) {
            table->subject_strategy = (enum weir_subject_strategy)i;
            return WEIR_OK;
        }
    }
    return weir_fault_add(
        &planner->faults, option->value_offset, "allowed: topic, record, topic_record",
        "option subject_strategy: \"%s\" is not one of its values", option->value);
}

static enum weir_status parse_framing(struct weir_planner *planner,
                                      const struct weir_ast_option *option,
                                      struct weir_table *table)
{
    static const char *const names[] = {[WEIR_FRAMING_REGISTRY] = "registry",
                                        [WEIR_FRAMING_SINGLE_OBJECT] = "single_object",
                                        [WEIR_FRAMING_NONE] = "none"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(option->value, names[i]) == 0) {
            table->framing = (enum weir_framing)i;
            return WEIR_OK;
        }
    }
    return weir_fault_add(&planner->faults, option->value_offset,
                          "allowed: registry, single_object, none",
                          "option framing: \"%s\" is not one of its values", option->value);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Names that Avro takes, with dots between them.
static enum weir_status parse_record_name(struct weir_planner *planner,
                                          const struct weir_ast_option *option,
                                          struct weir_table *table)
{
    bool is_good = true;
    char before = '.';
    for (const char *at = option->value; *at != '\0'; at++) {
        bool is_digit = *at >= '0' && *at <= '9';
        is_good =
            is_good && (before == '.' ? is_letter(*at) : is_letter(*at) || is_digit || *at == '.');
        before = *at;
    }
    if (!is_good || before == '.') {
        return weir_fault_add(&planner->faults, option->value_offset,
                              "letters, digits and _, with dots between: 'com.acme.Order'",
                              "option record_name: \"%s\" is no name of an Avro record",
                              option->value);
    }
    table->record_name = option->value;
    return WEIR_OK;
}

enum weir_status weir_sql_registry_option(struct weir_planner *planner,
                                          const struct weir_ast_option *option,
                                          struct weir_table *table)
{
    const char *value = option->value;
    if (strcmp(option->name, "schema_registry") == 0) {
        table->schema_registry = value;
        if (strncmp(value, "http://", 7) != 0 && strncmp(value, "https://", 8) != 0) {
            return weir_fault_add(&planner->faults, option->value_offset,
                                  "for example 'http://registry:8081'",
                                  "option schema_registry: not a URL of http or https");
        }
    } else if (strcmp(option->name, "schema_registry_username") == 0) {
        table->schema_registry_username = value;
    } else if (strcmp(option->name, "schema_registry_password") == 0) {
        table->schema_registry_password = value;
    } else if (strcmp(option->name, "schema_registry_token") == 0) {
        table->schema_registry_token = value;
    } else if (strcmp(option->name, "subject") == 0) {
        table->subject = value;
    } else if (strcmp(option->name, "subject_strategy") == 0) {
        return parse_strategy(planner, option, table);
    } else if (strcmp(option->name, "framing") == 0) {
        return parse_framing(planner, option, table);
    } else if (strcmp(option->name, "schema") == 0) {
        table->avro_schema = value;
    } else if (strcmp(option->name, "record_name") == 0) {
        return parse_record_name(planner, option, table);
    } else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        table->is_registering = value[0] == 't';
    } else {
        return weir_fault_add(&planner->faults, option->value_offset, "allowed: true, false",
                              "option auto_register: \"%s\" is not one of its values", value);
    }
    return WEIR_OK;
}

// --- CREATE TABLE t () -----------------------------------------------------------------------

// What says where the schema is registered, as it is written: weir_sql_options judges it later.
static void read_place(const struct weir_ast_statement *statement, struct weir_table *table)
{
    const char *format = "json";
    const char *key_format = NULL;
    *table = (struct weir_table){.name = statement->name, .topic = statement->name};
    for (uint32_t i = 0; i < statement->option_count; i++) {
        const struct weir_ast_option *option = &statement->options[i];
        const char **to = strcmp(option->name, "topic") == 0             ? &table->topic
                          : strcmp(option->name, "format") == 0          ? &format
                          : strcmp(option->name, "key_format") == 0      ? &key_format
                          : strcmp(option->name, "schema_registry") == 0 ? &table->schema_registry
                          : strcmp(option->name, "schema_registry_username") == 0
                              ? &table->schema_registry_username
                          : strcmp(option->name, "schema_registry_password") == 0
                              ? &table->schema_registry_password
                          : strcmp(option->name, "schema_registry_token") == 0
                              ? &table->schema_registry_token
                          : strcmp(option->name, "schema") == 0      ? &table->avro_schema
                          : strcmp(option->name, "subject") == 0     ? &table->subject
                          : strcmp(option->name, "record_name") == 0 ? &table->record_name
                                                                     : NULL;
        if (to != NULL && option->value != NULL) {
            *to = option->value;
        } else if (option->value != NULL && strcmp(option->name, "subject_strategy") == 0) {
            table->subject_strategy = strcmp(option->value, "record") == 0 ? WEIR_SUBJECT_RECORD
                                      : strcmp(option->value, "topic_record") == 0
                                          ? WEIR_SUBJECT_TOPIC_RECORD
                                          : WEIR_SUBJECT_TOPIC;
        }
    }
    table->format = strcmp(format, "avro") == 0 ? WEIR_FORMAT_AVRO : WEIR_FORMAT_JSON;
    if (key_format == NULL && table->avro_schema != NULL) {
        key_format = "json"; // as weir_sql_options has it
    }
    table->key_format =
        key_format == NULL || strcmp(key_format, "avro") == 0 ? table->format : WEIR_FORMAT_JSON;
}

enum weir_status weir_sql_registry_columns(struct weir_planner *planner,
                                           const struct weir_ast_statement **statement,
                                           struct weir_table_column **columns)
{
    const struct weir_ast_statement *given = *statement;
    struct weir_table table;
    uint32_t count = 0;
    const struct weir_field *fields = NULL;
    struct weir_error error = {0};
    read_place(given, &table);
    if (table.format != WEIR_FORMAT_AVRO) {
        return weir_fault_add(&planner->faults, given->name_offset,
                              "write the columns, or format = 'avro'",
                              "a table without columns takes those of the schema registry, which "
                              "has schemas of format avro only");
    }
    if (planner->columns == NULL) {
        return weir_fault_add(&planner->faults, given->name_offset, "write the columns",
                              "the columns are the schema registry's, which is not asked here");
    }
    if (planner->columns->ask(planner->columns, &table, given->key_column_count > 0, planner->arena,
                              &count, &fields, &error) != WEIR_OK) {
        return weir_fault_add(&planner->faults, given->name_offset, NULL,
                              "the columns cannot be had: %s", error.text);
    }
    struct weir_ast_statement *filled = weir_arena_alloc(planner->arena, sizeof *filled);
    *filled = *given;
    filled->column_count = count;
    filled->columns = weir_arena_alloc_zero(planner->arena, count * sizeof *filled->columns);
    *columns = weir_arena_alloc_zero(planner->arena, count * sizeof **columns);
    for (uint32_t i = 0; i < count; i++) {
        filled->columns[i].name = fields[i].name;
        filled->columns[i].offset = given->name_offset;
        (*columns)[i].name = fields[i].name;
        (*columns)[i].type = fields[i].type;
    }
    *statement = filled;
    return WEIR_OK;
}
