// SPDX-License-Identifier: Apache-2.0
// The WITH options of a table, each with its check, in one list. Options whose feature is not there
// yet are in the list as well and are refused by name, so that none is ever ignored. Place: between
// the syntax of CREATE TABLE and struct weir_table.
#include "runtime/types/datetime.h"
#include "sql/interval.h"
#include "sql/nearest.h"
#include "sql/planner.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOPIC_BYTES_MAX = 249, // Kafka's limit
    PARTITIONS_MAX = 100000,
    REPLICAS_MAX = 32767,
    IDLE_TIMEOUT_MS_DEFAULT = 10000,
};

struct options {
    struct weir_planner *planner;
    struct weir_table *table;
    const struct weir_ast_option *option; // that is being read
    bool with_columns;
    // Found first, needed at the end.
    const struct weir_ast_option *format;
    const struct weir_ast_option *end;
    const struct weir_ast_option *headers;
};

typedef enum weir_status (*parse_fn)(struct options *options, const char *value);

__attribute__((format(printf, 3, 4))) static enum weir_status
refuse(const struct options *options, const char *hint, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return weir_fault_add(&options->planner->faults, options->option->value_offset, hint,
                          "option %s: %s", options->option->name, text);
}

static int32_t choose(const struct options *options, const char *value, const char *const *allowed,
                      uint32_t allowed_count)
{
    (void)value; // the option's
    return weir_sql_option_word(options->planner, options->option, allowed, allowed_count);
}

// One of the values that come with the next releases.
static bool is_future(const struct options *options, const char *value, const char *const *future)
{
    for (; *future != NULL; future++) {
        if (strcmp(value, *future) == 0) {
            weir_fault_add(&options->planner->faults, options->option->value_offset, NULL,
                           "not supported yet: %s = '%s'", options->option->name, value);
            return true;
        }
    }
    return false;
}

static enum weir_status parse_connector(struct options *options, const char *value)
{
    static const char *const allowed[] = {"kafka"};
    return choose(options, value, allowed, 1) < 0 ? WEIR_ERROR : WEIR_OK;
}

static enum weir_status check_topic(const struct options *options, const char *topic)
{
    size_t bytes = strlen(topic);
    bool is_valid = bytes != 0 && bytes <= TOPIC_BYTES_MAX && strcmp(topic, ".") != 0 &&
                    strcmp(topic, "..") != 0;
    for (size_t i = 0; i < bytes; i++) {
        is_valid &= isalnum((unsigned char)topic[i]) || strchr("._-", topic[i]) != NULL;
    }
    return is_valid ? WEIR_OK
                    : refuse(options, "letters, digits, \".\", \"_\", \"-\", at most 249 of them",
                             "\"%s\" cannot be the name of a topic", topic);
}

static enum weir_status parse_topic(struct options *options, const char *value)
{
    options->table->topic = value;
    return check_topic(options, value);
}

static enum weir_status parse_dead_letter_topic(struct options *options, const char *value)
{
    options->table->dead_letter_topic = value;
    return check_topic(options, value);
}

static enum weir_status parse_late_topic(struct options *options, const char *value)
{
    options->table->late_topic = value;
    return check_topic(options, value);
}

static enum weir_status parse_repartition(struct options *options, const char *value)
{
    static const char *const allowed[] = {"refuse"};
    static const char *const future[] = {"accept", NULL};
    if (is_future(options, value, future)) {
        return WEIR_ERROR;
    }
    if (!options->table->is_keyed) {
        return refuse(options, NULL, "it is for tables with a PRIMARY KEY");
    }
    return choose(options, value, allowed, 1) < 0 ? WEIR_ERROR : WEIR_OK;
}

static const char *const formats[] = {
    [WEIR_FORMAT_JSON] = "json",
    [WEIR_FORMAT_RAW] = "raw",
    [WEIR_FORMAT_DEBEZIUM_JSON] = "debezium_json",
    [WEIR_FORMAT_CSV] = "csv",
    [WEIR_FORMAT_AVRO] = "avro",
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };
static const char *const key_formats[] = {"json", "raw", "avro"};
static const enum weir_format key_formats_by_idx[] = {WEIR_FORMAT_JSON, WEIR_FORMAT_RAW,
                                                      WEIR_FORMAT_AVRO};

static enum weir_status parse_format(struct options *options, const char *value)
{
    options->format = options->option;
    int32_t idx = choose(options, value, formats, FORMAT_COUNT);
    options->table->format = idx < 0 ? WEIR_FORMAT_JSON : (enum weir_format)idx;
    if (options->table->format == WEIR_FORMAT_DEBEZIUM_JSON && !options->table->is_keyed) {
        return refuse(options, "the key of the change events: PRIMARY KEY (id)",
                      "change events need a PRIMARY KEY");
    }
    return idx < 0 ? WEIR_ERROR : WEIR_OK;
}

static enum weir_status parse_key_format(struct options *options, const char *value)
{
    int32_t idx = choose(options, value, key_formats, 3);
    options->table->key_format = key_formats_by_idx[idx < 0 ? 0 : idx];
    return idx < 0 ? WEIR_ERROR : WEIR_OK;
}

// A column as options name it; -1: a fault was added.
static int32_t find_column(const struct options *options, const char *name)
{
    const char *wanted;
    const char *nearest;
    int32_t idx =
        weir_sql_option_column(options->planner->arena, options->table, name, &wanted, &nearest);
    if (idx < 0) {
        refuse(options, weir_fault_did_you_mean(&options->planner->faults, nearest),
               "column \"%s\" does not exist", wanted);
    }
    return idx;
}

static enum weir_status parse_key(struct options *options, const char *value)
{
    struct weir_arena *arena = options->planner->arena;
    struct weir_table *table = options->table;
    if (!options->with_columns) {
        return WEIR_ERROR;
    }
    if (table->is_keyed) {
        return weir_fault_add(&options->planner->faults, options->option->offset, NULL,
                              "option key is for tables without PRIMARY KEY");
    }
    uint32_t *columns = weir_arena_alloc(arena, (strlen(value) + 1) * sizeof(*columns));
    table->key_column_count = 0;
    table->key_columns = columns;
    char *names = weir_arena_strdup(arena, value);
    for (char *name = names; name != NULL;) {
        char *comma = strchr(name, ',');
        if (comma != NULL) {
            *comma++ = '\0';
        }
        name += strspn(name, " \t\n");
        size_t bytes = strlen(name);
        while (bytes > 0 && isspace((unsigned char)name[bytes - 1])) {
            name[--bytes] = '\0';
        }
        if (bytes == 0) {
            return refuse(options, "columns, with commas between them: key = 'a, b'",
                          "a name is missing");
        }
        int32_t idx = find_column(options, name);
        if (idx < 0) {
            return WEIR_ERROR;
        }
        for (uint32_t i = 0; i < table->key_column_count; i++) {
            if (columns[i] == (uint32_t)idx) {
                return refuse(options, NULL, "column \"%s\" is named twice", name);
            }
        }
        columns[table->key_column_count++] = (uint32_t)idx;
        name = comma;
    }
    return WEIR_OK;
}

static enum weir_status parse_event_time(struct options *options, const char *value)
{
    struct weir_table *table = options->table;
    if (!options->with_columns) {
        return WEIR_ERROR;
    }
    int32_t idx = find_column(options, value);
    if (idx < 0) {
        return WEIR_ERROR;
    }
    const struct weir_table_column *column = &table->columns[idx];
    if (column->type.kind != WEIR_TYPE_TIMESTAMP && column->type.kind != WEIR_TYPE_TIMESTAMPTZ) {
        char type[256];
        return refuse(options, "a generated column can make one of it, and may be the event time",
                      "column \"%s\" is of type %s; event time is a timestamp or timestamptz",
                      column->name, weir_type_name(&column->type, type, sizeof(type)));
    }
    table->event_time_column = idx;
    return WEIR_OK;
}

static enum weir_status parse_interval(const struct options *options, const char *value,
                                       int64_t least_us, int64_t *us)
{
    const char *why;
    if (!weir_sql_length_parse(value, us, &why)) {
        return refuse(options, "for example '5 seconds', '250 ms', '1 hour'",
                      "\"%s\" cannot be used: %s", value, why);
    }
    if (*us < least_us) {
        return refuse(options, NULL, "\"%s\" is %s", value,
                      *us < 0 ? "negative" : "less than a millisecond");
    }
    return WEIR_OK;
}

static enum weir_status parse_headers(struct options *options, const char *value)
{
    struct weir_table *table = options->table;
    if (!options->with_columns) {
        return WEIR_ERROR;
    }
    int32_t idx = find_column(options, value);
    if (idx < 0) {
        return WEIR_ERROR;
    }
    const struct weir_type *type = &table->columns[idx].type;
    if (type->kind != WEIR_TYPE_JSONB &&
        (type->kind != WEIR_TYPE_ARRAY || weir_type_element(type)->kind != WEIR_TYPE_TEXT)) {
        char name[256];
        return refuse(options, NULL, "column \"%s\" is of type %s; headers are jsonb or text[]",
                      table->columns[idx].name, weir_type_name(type, name, sizeof(name)));
    }
    table->headers_column = idx;
    options->headers = options->option;
    return WEIR_OK;
}

static enum weir_status parse_watermark_delay(struct options *options, const char *value)
{
    return parse_interval(options, value, 0, &options->table->watermark_delay_us);
}

static enum weir_status parse_event_time_max_ahead(struct options *options, const char *value)
{
    return parse_interval(options, value, 0, &options->table->event_time_max_ahead_us);
}

static enum weir_status parse_idle_timeout(struct options *options, const char *value)
{
    int64_t us;
    if (parse_interval(options, value, 1000, &us) != WEIR_OK) {
        return WEIR_ERROR;
    }
    options->table->idle_timeout_ms = us / 1000;
    return WEIR_OK;
}

static enum weir_status parse_close_after(struct options *options, const char *value)
{
    int64_t us;
    if (parse_interval(options, value, 1000, &us) != WEIR_OK) {
        return WEIR_ERROR;
    }
    options->table->close_after_ms = us / 1000;
    return WEIR_OK;
}

static bool is_number(const char *value)
{
    const char *digits = value + (*value == '-' || *value == '+');
    return *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

static enum weir_status parse_position(struct options *options, const char *value,
                                       struct weir_position *position)
{
    static const char hint[] = "earliest, latest, a timestamp such as '2024-05-01 12:00:00+00', or "
                               "milliseconds since 1970";
    if (strcmp(value, "earliest") == 0) {
        position->kind = WEIR_POSITION_EARLIEST;
        return WEIR_OK;
    }
    if (strcmp(value, "latest") == 0) {
        position->kind = WEIR_POSITION_LATEST;
        return WEIR_OK;
    }
    position->kind = WEIR_POSITION_TIMESTAMP;
    if (is_number(value)) {
        errno = 0;
        position->timestamp_ms = strtoll(value, NULL, 10);
        return errno == 0 && position->timestamp_ms >= 0
                   ? WEIR_OK
                   : refuse(options, hint, "\"%s\" is out of range", value);
    }
    struct weir_value_error error;
    int64_t us;
    if (!weir_timestamptz_parse(weir_view_of(value), &us, &error)) {
        return refuse(options, hint, "%s", error.text);
    }
    if (!weir_timestamp_is_finite(us) || us < -WEIR_EPOCH_SHIFT_US) {
        return refuse(options, hint, "\"%s\" is before 1970 or infinite", value);
    }
    // A position between two milliseconds begins with the later one.
    int64_t unix_us = us + WEIR_EPOCH_SHIFT_US;
    position->timestamp_ms = unix_us / 1000 + (unix_us % 1000 != 0);
    return WEIR_OK;
}

static enum weir_status parse_start(struct options *options, const char *value)
{
    return parse_position(options, value, &options->table->start);
}

static enum weir_status parse_end(struct options *options, const char *value)
{
    options->end = options->option;
    return parse_position(options, value, &options->table->end);
}

static enum weir_status parse_timestamp_unit(struct options *options, const char *value)
{
    static const char *const allowed[] = {"s", "ms", "us", "ns"};
    static const enum weir_timestamp_unit units[] = {WEIR_UNIT_S, WEIR_UNIT_MS, WEIR_UNIT_US,
                                                     WEIR_UNIT_NS};
    int32_t idx = choose(options, value, allowed, 4);
    if (idx < 0) {
        return WEIR_ERROR;
    }
    options->table->timestamp_unit = units[idx];
    return WEIR_OK;
}

static enum weir_status parse_on_error(struct options *options, const char *value)
{
    static const char *const allowed[] = {"fail", "skip", "dead_letter"};
    static const enum weir_on_error policies[] = {WEIR_ON_ERROR_FAIL, WEIR_ON_ERROR_SKIP,
                                                  WEIR_ON_ERROR_DEAD_LETTER};
    int32_t idx = choose(options, value, allowed, 3);
    if (idx < 0) {
        return WEIR_ERROR;
    }
    options->table->on_error = policies[idx];
    return WEIR_OK;
}

static enum weir_status parse_on_error_max_ratio(struct options *options, const char *value)
{
    char *end;
    double ratio = strtod(value, &end);
    if (*value == '\0' || *end != '\0' || !(ratio > 0 && ratio <= 1)) {
        return refuse(options, "a number above 0, at most 1, for example 0.01",
                      "\"%s\" is no such ratio", value);
    }
    options->table->on_error_max_ratio = ratio;
    return WEIR_OK;
}

static enum weir_status parse_on_missing(struct options *options, const char *value)
{
    static const char *const allowed[] = {"fail", "continue"};
    int32_t idx = choose(options, value, allowed, 2);
    options->table->on_missing = idx == 1 ? WEIR_ON_MISSING_CONTINUE : WEIR_ON_MISSING_FAIL;
    return idx < 0 ? WEIR_ERROR : WEIR_OK;
}

static enum weir_status parse_timestamp(struct options *options, const char *value)
{
    static const char *const allowed[] = {"event", "now"};
    int32_t idx = choose(options, value, allowed, 2);
    options->table->is_timestamp_now = idx == 1;
    return idx < 0 ? WEIR_ERROR : WEIR_OK;
}

static enum weir_status parse_count(struct options *options, const char *value, int32_t count_max,
                                    int32_t *count)
{
    errno = 0;
    long long number = is_number(value) ? strtoll(value, NULL, 10) : 0;
    if (errno != 0 || number < 1 || number > count_max) {
        return refuse(options, NULL, "\"%s\" is no number from 1 to %d", value, count_max);
    }
    *count = (int32_t)number;
    return WEIR_OK;
}

static enum weir_status parse_partitions(struct options *options, const char *value)
{
    return parse_count(options, value, PARTITIONS_MAX, &options->table->partition_count);
}

static enum weir_status parse_replicas(struct options *options, const char *value)
{
    return parse_count(options, value, REPLICAS_MAX, &options->table->replica_count);
}

static enum weir_status parse_registry(struct options *options, const char *value)
{
    (void)value;
    return weir_sql_registry_option(options->planner, options->option, options->table);
}

static const struct {
    const char *name;
    parse_fn parse;
} known_options[] = {
    {"connector", parse_connector},
    {"topic", parse_topic},
    {"format", parse_format},
    {"key_format", parse_key_format},
    {"key", parse_key},
    {"event_time", parse_event_time},
    {"headers", parse_headers},
    {"watermark_delay", parse_watermark_delay},
    {"idle_timeout", parse_idle_timeout},
    {"event_time_max_ahead", parse_event_time_max_ahead},
    {"close_after", parse_close_after},
    {"start", parse_start},
    {"end", parse_end},
    {"timestamp_unit", parse_timestamp_unit},
    {"on_error", parse_on_error},
    {"on_error_max_ratio", parse_on_error_max_ratio},
    {"dead_letter_topic", parse_dead_letter_topic},
    {"late_topic", parse_late_topic},
    {"on_missing", parse_on_missing},
    {"timestamp", parse_timestamp},
    {"repartition", parse_repartition},
    {"schema_registry", parse_registry},
    {"schema_registry_username", parse_registry},
    {"schema_registry_password", parse_registry},
    {"schema_registry_token", parse_registry},
    {"subject", parse_registry},
    {"subject_strategy", parse_registry},
    {"record_name", parse_registry},
    {"framing", parse_registry},
    {"schema", parse_registry},
    {"auto_register", parse_registry},
    {"partitions", parse_partitions},
    {"replicas", parse_replicas},
};

enum { OPTION_COUNT = sizeof(known_options) / sizeof(known_options[0]) };

static enum weir_status read_option(struct options *options, const struct weir_ast_option *option,
                                    uint64_t *seen)
{
    struct weir_faults *faults = &options->planner->faults;
    struct weir_nearest nearest = weir_nearest_start(option->name);
    options->option = option;
    for (uint32_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(option->name, known_options[i].name) != 0) {
            weir_nearest_offer(&nearest, known_options[i].name);
            continue;
        }
        if ((*seen >> i & 1) != 0) {
            return weir_fault_add(faults, option->offset, NULL, "option %s is given twice",
                                  option->name);
        }
        *seen |= UINT64_C(1) << i;
        if (option->value == NULL || *option->value == '\0') {
            return weir_fault_add(faults, option->value_offset, NULL, "option %s has no value",
                                  option->name);
        }
        return known_options[i].parse(options, option->value);
    }
    return weir_fault_add(faults, option->offset, weir_fault_did_you_mean(faults, nearest.best),
                          "unknown option \"%s\"", option->name);
}

static_assert(OPTION_COUNT <= 64, "read_option keeps one bit an option");

// What holds between options and columns.
static enum weir_status check_together(struct options *options, const struct weir_ast_option *key,
                                       const struct weir_ast_option *key_format)
{
    struct weir_table *table = options->table;
    struct weir_faults *faults = &options->planner->faults;
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; table->headers_column >= 0 && i < table->key_column_count; i++) {
        if (table->key_columns[i] == (uint32_t)table->headers_column) {
            status = weir_fault_add(faults, options->headers->value_offset, NULL,
                                    "the column of the headers cannot be part of the key");
        }
    }
    if (table->format == WEIR_FORMAT_RAW && options->with_columns) {
        uint32_t physical_count = 0;
        bool is_bytes = true;
        for (uint32_t i = 0; i < table->column_count; i++) {
            const struct weir_table_column *column = &table->columns[i];
            if ((int32_t)i == table->headers_column) {
                continue;
            }
            physical_count += !column->is_generated;
            is_bytes &= column->is_generated || column->type.kind == WEIR_TYPE_TEXT ||
                        column->type.kind == WEIR_TYPE_BYTEA;
        }
        if (physical_count != 1 || !is_bytes) {
            status = weir_fault_add(faults, options->format->value_offset, NULL,
                                    "a table of format raw has one column, text or bytea, that is "
                                    "not generated");
        }
    }
    if (key_format != NULL && table->key_format == WEIR_FORMAT_RAW && table->key_column_count > 1) {
        status = weir_fault_add(faults, key != NULL ? key->value_offset : key_format->value_offset,
                                NULL, "a key of format raw is one column; this one has %u",
                                table->key_column_count);
    }
    if (key == NULL && key_format != NULL && !table->is_keyed) {
        status = weir_fault_add(faults, key_format->offset, "add key = 'column, …'",
                                "option key_format is given, but no key");
    }
    if (options->end != NULL && table->start.kind == WEIR_POSITION_TIMESTAMP &&
        table->end.kind == WEIR_POSITION_TIMESTAMP &&
        table->end.timestamp_ms <= table->start.timestamp_ms) {
        status = weir_fault_add(faults, options->end->value_offset, "end is exclusive",
                                "option end: it is not behind start");
    }
    return status;
}

enum weir_status weir_sql_options(struct weir_planner *planner,
                                  const struct weir_ast_statement *statement, bool with_columns,
                                  struct weir_table *table)
{
    struct options options = {.planner = planner, .table = table, .with_columns = with_columns};
    const struct weir_ast_option *topic = NULL;
    const struct weir_ast_option *key = NULL;
    const struct weir_ast_option *key_format = NULL;
    uint64_t seen = 0;
    enum weir_status status = WEIR_OK;
    table->topic = table->name;
    table->event_time_column = -1;
    table->headers_column = -1;
    table->watermark_delay_us = -1;
    table->event_time_max_ahead_us = -1;
    table->idle_timeout_ms = IDLE_TIMEOUT_MS_DEFAULT;
    table->close_after_ms = -1;
    table->timestamp_unit = WEIR_UNIT_MS;
    table->is_registering = true;
    for (uint32_t i = 0; i < statement->option_count; i++) {
        const struct weir_ast_option *option = &statement->options[i];
        topic = strcmp(option->name, "topic") == 0 ? option : topic;
        key = strcmp(option->name, "key") == 0 ? option : key;
        key_format = strcmp(option->name, "key_format") == 0 ? option : key_format;
        if (read_option(&options, option, &seen) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    if (key_format == NULL && table->format == WEIR_FORMAT_AVRO && table->avro_schema == NULL) {
        table->key_format = WEIR_FORMAT_AVRO;
    }
    if (topic == NULL) {
        struct weir_ast_option made_up = {.name = "topic", .value_offset = statement->name_offset};
        options.option = &made_up;
        if (check_topic(&options, table->topic) != WEIR_OK) {
            status = WEIR_ERROR;
        }
    }
    return status == WEIR_OK ? check_together(&options, key, key_format) : WEIR_ERROR;
}
