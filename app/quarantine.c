// SPDX-License-Identifier: Apache-2.0
// See quarantine.h.
#include "app/quarantine.h"

#include "app/topics.h"
#include "runtime/base/text.h"

#include <inttypes.h>
#include <string.h>

bool weir_quarantine_has(const struct weir_config *config, const char *table, int32_t partition)
{
    for (uint32_t i = 0; i < config->quarantined_count; i++) {
        const struct weir_quarantined *quarantined = &config->quarantined[i];
        if (quarantined->partition == partition && strcmp(quarantined->table, table) == 0) {
            return true;
        }
    }
    return false;
}

static const struct weir_table *find_source(const struct weir_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (plan->tables[i]->is_source && strcmp(plan->tables[i]->name, name) == 0) {
            return plan->tables[i];
        }
    }
    return NULL;
}

void weir_quarantine_check_tables(const struct weir_config *config, const struct weir_plan *plan,
                                  struct weir_fault_list *faults)
{
    const char **names = weir_alloc((plan->table_count + 1) * sizeof *names);
    uint32_t name_count = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (plan->tables[i]->is_source) {
            names[name_count++] = plan->tables[i]->name;
        }
    }
    for (uint32_t i = 0; i < config->quarantined_count && name_count > 0; i++) {
        const char *table = config->quarantined[i].table;
        if (find_source(plan, table) == NULL) {
            weir_fault_list_add(faults,
                                "WEIR_QUARANTINE: the job reads no table \"%s\"; the nearest is "
                                "\"%s\"",
                                table, weir_text_nearest(table, name_count, names, UINT32_MAX));
        }
    }
    free(names);
}

enum weir_status weir_quarantine_check(const struct weir_config *config,
                                       const struct weir_plan *plan,
                                       const struct weir_topics *topics, struct weir_error *error)
{
    for (uint32_t i = 0; i < config->quarantined_count; i++) {
        const struct weir_quarantined *quarantined = &config->quarantined[i];
        const struct weir_table *table = find_source(plan, quarantined->table);
        const struct weir_topic *topic = weir_topics_find(topics, table->topic);
        uint32_t partition_count = topic != NULL ? topic->partition_count : 0;
        if (partition_count > 0 && (uint32_t)quarantined->partition >= partition_count) {
            return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                  "WEIR_QUARANTINE: table %s has no partition %" PRId32
                                  ": its topic %s has %u, 0 to %u",
                                  table->name, quarantined->partition, topic->name, partition_count,
                                  partition_count - 1);
        }
    }
    return WEIR_OK;
}

void weir_quarantine_describe(const struct weir_config *config, struct weir_buffer *lines)
{
    for (uint32_t i = 0; i < config->quarantined_count; i++) {
        const struct weir_quarantined *quarantined = &config->quarantined[i];
        weir_buffer_printf(lines, "in quarantine, not read: table ");
        weir_append_escaped(lines, quarantined->table);
        weir_buffer_printf(lines, " partition %" PRId32 " (WEIR_QUARANTINE)\n",
                           quarantined->partition);
    }
}
