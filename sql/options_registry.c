// SPDX-License-Identifier: Apache-2.0
// The WITH options of tables in Avro: where their schemas are registered, and how (planner.h).
#include "sql/planner.h"

#include <string.h>

enum { STRATEGY_COUNT = 3, FRAMING_COUNT = 3 };

static const char *const strategies[STRATEGY_COUNT] = {
    [WEIR_SUBJECT_TOPIC] = "topic",
    [WEIR_SUBJECT_RECORD] = "record",
    [WEIR_SUBJECT_TOPIC_RECORD] = "topic_record",
};
static const char *const framings[FRAMING_COUNT] = {
    [WEIR_FRAMING_REGISTRY] = "registry",
    [WEIR_FRAMING_SINGLE_OBJECT] = "single_object",
    [WEIR_FRAMING_NONE] = "none",
};

// Where the value of an option goes that is taken as it is; NULL: of none of these.
static const char **text_of(struct weir_table *table, const char *name)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {
        {"schema_registry", &table->schema_registry},
        {"schema_registry_username", &table->schema_registry_username},
        {"schema_registry_password", &table->schema_registry_password},
        {"schema_registry_token", &table->schema_registry_token},
        {"subject", &table->subject},
        {"record_name", &table->record_name},
        {"schema", &table->avro_schema},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            return texts[i].text;
        }
    }
    return NULL;
}

static enum weir_status check_url(struct weir_planner *planner,
                                  const struct weir_ast_option *option)
{
    if (strncmp(option->value, "http://", 7) != 0 && strncmp(option->value, "https://", 8) != 0) {
        return weir_fault_add(&planner->faults, option->value_offset,
                              "for example 'http://registry:8081'",
                              "option schema_registry: not a URL of http or https");
    }
    return WEIR_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Names that Avro takes, with dots between them.
static enum weir_status check_record_name(struct weir_planner *planner,
                                          const struct weir_ast_option *option)
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
    return WEIR_OK;
}

enum weir_status weir_sql_registry_option(struct weir_planner *planner,
                                          const struct weir_ast_option *option,
                                          struct weir_table *table)
{
    static const char *const truths[] = {"true", "false"};
    const char **text = text_of(table, option->name);
    int32_t idx = 0;
    if (text != NULL) {
        *text = option->value;
        return text == &table->schema_registry ? check_url(planner, option)
               : text == &table->record_name   ? check_record_name(planner, option)
                                               : WEIR_OK;
    }
    if (strcmp(option->name, "subject_strategy") == 0) {
        idx = weir_sql_option_word(planner, option, strategies, STRATEGY_COUNT);
        table->subject_strategy = idx < 0 ? WEIR_SUBJECT_TOPIC : (enum weir_subject_strategy)idx;
    } else if (strcmp(option->name, "framing") == 0) {
        idx = weir_sql_option_word(planner, option, framings, FRAMING_COUNT);
        table->framing = idx < 0 ? WEIR_FRAMING_REGISTRY : (enum weir_framing)idx;
    } else {
        idx = weir_sql_option_word(planner, option, truths, 2);
        table->is_registering = idx != 1;
    }
    return idx < 0 ? WEIR_ERROR : WEIR_OK;
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
        if (option->value == NULL) {
            continue;
        }
        const char **to = strcmp(option->name, "topic") == 0        ? &table->topic
                          : strcmp(option->name, "format") == 0     ? &format
                          : strcmp(option->name, "key_format") == 0 ? &key_format
                                                                    : text_of(table, option->name);
        if (to != NULL) {
            *to = option->value;
        }
        for (int s = 0; s < STRATEGY_COUNT; s++) {
            if (strcmp(option->name, "subject_strategy") == 0 &&
                strcmp(option->value, strategies[s]) == 0) {
                table->subject_strategy = (enum weir_subject_strategy)s;
            }
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
    if (planner->columns->ask(planner->columns, &table, given->key_column_count > 0, &count,
                              &fields, &error) != WEIR_OK) {
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
