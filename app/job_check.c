// SPDX-License-Identifier: Apache-2.0
// See job_check.h.
#include "app/job_check.h"

#include "app/quarantine.h"
#include "app/registries.h"
#include "app/registry_columns.h"
#include "app/secret.h"
#include "app/topics.h"

#include <string.h>

// The planner reports all faults in one text: a line that begins without a blank begins a fault,
// the indented ones below it show the place.
static void add_sql_faults(const struct weir_config *config, const char *text,
                           struct weir_fault_list *faults)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        while (text[size] == '\n' && text[size + 1] == ' ') {
            size += 1 + strcspn(text + size + 1, "\n");
        }
        weir_fault_list_add(faults, "%s: %.*s", config->sql_source, (int)size, text);
        text += size + (text[size] == '\n' ? 1 : 0);
    }
}

static bool is_read(const struct weir_plan *plan, const char *topic)
{
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (plan->tables[i]->is_source && strcmp(plan->tables[i]->topic, topic) == 0) {
            return true;
        }
    }
    return false;
}

void weir_plan_check(const struct weir_plan *plan, const struct weir_config *config,
                     struct weir_fault_list *faults)
{
    weir_quarantine_check_tables(config, plan, faults);
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const struct weir_table *table = plan->tables[i];
        // A row that fails follows the policy of the table that it was read from, also where a
        // sink's constraint refuses it.
        if (!table->is_source || weir_table_on_error(table, config) != WEIR_ON_ERROR_DEAD_LETTER) {
            continue;
        }
        const char *topic = weir_table_dead_letter_topic(table, config);
        if (topic == NULL) {
            weir_fault_list_add(
                faults,
                "table \"%s\": bad records are dead letters, but neither the "
                "table's dead_letter_topic nor WEIR_DEAD_LETTER_TOPIC names a topic",
                table->name);
        } else if (is_read(plan, topic)) {
            weir_fault_list_add(faults,
                                "table \"%s\": the dead-letter topic \"%s\" is read by the same "
                                "job; name another topic",
                                table->name, topic);
        }
    }
}

const struct weir_plan *weir_job_plan(const struct weir_config *config, struct weir_arena *arena,
                                      struct weir_fault_list *faults)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error;
    const char *sql_text = weir_text_blank_secrets(arena, config->sql_text);
    if (strcmp(sql_text, config->sql_text) != 0) {
        // Once with its secrets, which a registry may want to see.
        (void)weir_sql_plan_asking(config->sql_text, config->columns, arena, &plan, &error);
    }
    if (weir_sql_plan_asking(sql_text, config->columns, arena, &plan, &error) != WEIR_OK) {
        add_sql_faults(config, error.text, faults);
        faults->unreachable_count += weir_registry_columns_unreachable(config->columns);
        return NULL;
    }
    return plan;
}

const struct weir_plan *weir_job_check(const struct weir_config *config, struct weir_arena *arena,
                                       struct weir_fault_list *faults)
{
    const struct weir_plan *plan = weir_job_plan(config, arena, faults);
    if (plan != NULL) {
        weir_plan_check(plan, config, faults);
        weir_registries_check(plan, config, faults);
    }
    return plan;
}
