// SPDX-License-Identifier: Apache-2.0
// The configuration as people read it: `weir config`, and the page docs/configuration.md. Both come
// from the table of variables and from what the Kafka folder says it owns; a test compares the page
// with what this file writes.
#include "app/config_table.h"
#include "app/secret.h"
#include "kafka/rdkafka_property.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- weir config ------------------------------------------------------------------------------

static void append_without_backticks(struct weir_buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text != '`') {
            weir_buffer_append_char(out, *text);
        }
    }
}

static void append_value(struct weir_buffer *out, const struct weir_config *config,
                         const struct weir_setting *setting)
{
    struct weir_buffer masked = {0};
    if (setting->value == NULL) {
        weir_buffer_append_char(out, '-');
    } else if (setting->is_secret) {
        weir_buffer_printf(out, "%s", WEIR_SECRET_MASK);
    } else if (strcmp(setting->name, "WEIR_SQL") == 0) {
        weir_buffer_printf(out, "(%zu bytes)", strlen(setting->value));
    } else if (setting->value[0] == '\0') {
        weir_buffer_printf(out, "(empty)");
    } else {
        weir_secrets_mask(&config->secrets, setting->value, &masked);
        weir_append_escaped(out, weir_buffer_text(&masked));
    }
    weir_buffer_deinit(&masked);
}

enum { COLUMN_COUNT = 4, COLUMN_BYTES_MAX = 48 };

struct table_row {
    struct weir_buffer cells[COLUMN_COUNT];
};

static void fill_row(struct table_row *row, const struct weir_config *config,
                     const struct weir_setting *setting)
{
    weir_buffer_printf(&row->cells[0], "%s", setting->name);
    append_value(&row->cells[1], config, setting);
    weir_append_escaped(&row->cells[2], setting->source);
    if (setting->default_text[0] == '\0') {
        weir_buffer_append_char(&row->cells[3], '-');
    } else {
        append_without_backticks(&row->cells[3], setting->default_text);
    }
}

// Cells wider than the limit push only their own row out of line.
static size_t column_width(const struct table_row *rows, uint32_t row_count, uint32_t column)
{
    size_t width = 0;
    for (uint32_t i = 0; i < row_count; i++) {
        size_t size = rows[i].cells[column].size_bytes;
        if (size > width && size <= COLUMN_BYTES_MAX) {
            width = size;
        }
    }
    return width;
}

void weir_config_print(const struct weir_config *config, struct weir_buffer *out)
{
    uint32_t row_count = config->setting_count + 1;
    struct table_row *rows = weir_alloc_zero(row_count * sizeof *rows);
    static const char *const titles[COLUMN_COUNT] = {"VARIABLE", "VALUE", "SOURCE", "DEFAULT"};
    for (uint32_t column = 0; column < COLUMN_COUNT; column++) {
        weir_buffer_printf(&rows[0].cells[column], "%s", titles[column]);
    }
    for (uint32_t i = 0; i < config->setting_count; i++) {
        fill_row(&rows[i + 1], config, &config->settings[i]);
    }
    for (uint32_t i = 0; i < row_count; i++) {
        for (uint32_t column = 0; column < COLUMN_COUNT; column++) {
            size_t width = column + 1 < COLUMN_COUNT ? column_width(rows, row_count, column) : 0;
            weir_buffer_printf(out, "%-*s%s", (int)width, weir_buffer_text(&rows[i].cells[column]),
                               column + 1 < COLUMN_COUNT ? "  " : "\n");
        }
    }
    for (uint32_t i = 0; i < row_count; i++) {
        for (uint32_t column = 0; column < COLUMN_COUNT; column++) {
            weir_buffer_deinit(&rows[i].cells[column]);
        }
    }
    free(rows);
}

// --- docs/configuration.md --------------------------------------------------------------------

static const char page_head[] =
    "# Configuration\n"
    "\n"
    "<!-- Made by `weir config --markdown`; a test compares. Change app/config_table.c. -->\n"
    "\n"
    "weir reads its whole configuration from environment variables; beside them there is only the "
    "SQL of the job. `weir config` prints every variable with its value, its source and its "
    "default, secrets masked; `weir check` says what is wrong without running anything.\n"
    "\n"
    "## Rules\n"
    "\n"
    "- `NAME_FILE` reads the value of any variable `NAME` from a file, without one newline at its "
    "end: for secrets that are mounted. Both given is an error.\n"
    "- An unknown variable that begins with `WEIR_` is an error that names the nearest known one. "
    "In Kubernetes a Service whose name begins with `weir` makes such variables: set "
    "`enableServiceLinks: false`.\n"
    "- An empty value is an error; only `WEIR_HTTP_LISTEN` may be empty.\n"
    "- Durations are a whole number and a unit: `250ms`, `10s`, `5min`, `1h`, `2d`. A number "
    "without a unit is an error.\n"
    "- Sizes are plain bytes or a whole number of `KiB`, `MiB`, `GiB` or `TiB`: `64MiB`, `1GiB`.\n"
    "- Everything that is wrong is reported at once, one line a fault, and the process ends with "
    "exit code 2 before anything is touched.\n"
    "\n"
    "## Variables\n"
    "\n"
    "| variable | value | default | meaning |\n"
    "|---|---|---|---|\n";

static const char page_kafka[] =
    "\n"
    "## Properties of the Kafka client\n"
    "\n"
    "Every property of librdkafka can be set as `WEIR_KAFKA_<PROPERTY>`, in capitals and with `.` "
    "written `_`: `sasl.username` is `WEIR_KAFKA_SASL_USERNAME`. `WEIR_KAFKA_CONSUMER_<PROPERTY>` "
    "and `WEIR_KAFKA_PRODUCER_<PROPERTY>` set it for one side and win over the general form. "
    "Values are librdkafka's: durations are numbers of milliseconds. Names and values are checked "
    "against the linked librdkafka at start.\n"
    "\n"
    "`WEIR_KAFKA_TRANSACTION_TIMEOUT_MS` is, unless set, (`WEIR_CHECKPOINT_INTERVAL` + "
    "`WEIR_CHECKPOINT_TIMEOUT`) × (`WEIR_CHECKPOINT_MAX_CONCURRENT` + 1) + 30 s, at least 90 s. "
    "Brokers take up to their `transaction.max.timeout.ms`, 15 minutes by default.\n"
    "\n"
    "Secret are all whose name speaks of a password, secret, token, credential, private key or "
    "assertion, and users and passwords inside URLs: a mask stands in their place.\n"
    "\n"
    "weir sets these itself, because its promises hang on them; they are refused:\n"
    "\n"
    "| property | reason |\n"
    "|---|---|\n";

static void append_default(struct weir_buffer *out, const struct weir_variable *variable)
{
    if (variable->default_words != NULL) {
        weir_buffer_printf(out, "%s", variable->default_words);
    } else if (variable->default_text != NULL) {
        weir_buffer_printf(out, "`%s`", variable->default_text);
    } else if (variable->is_required) {
        weir_buffer_printf(out, "required");
    } else {
        weir_buffer_printf(out, "none");
    }
}

void weir_config_print_markdown(struct weir_buffer *out)
{
    weir_buffer_append(out, page_head, strlen(page_head));
    for (uint32_t i = 0; i < weir_variable_count; i++) {
        const struct weir_variable *variable = &weir_variables[i];
        char form[256];
        weir_buffer_printf(out, "| `%s` | %s | ", variable->name,
                           weir_variable_form(variable, form, sizeof form));
        append_default(out, variable);
        weir_buffer_printf(out, " | %s%s |\n", variable->meaning,
                           variable->is_secret ? " Secret." : "");
    }
    weir_buffer_append(out, page_kafka, strlen(page_kafka));
    for (uint32_t i = 0; i < weir_rdkafka_owned_count; i++) {
        weir_buffer_printf(out, "| `%s` | %s |\n", weir_rdkafka_owned[i].name,
                           weir_rdkafka_owned[i].reason);
    }
}
