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
