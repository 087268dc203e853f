// SPDX-License-Identifier: Apache-2.0
// See pauses.h. A new wish takes away those before it that it covers, so that the list stays as
// short as what is read is.
#include "app/pauses.h"

#include "app/job_build.h"

#include <stdlib.h>
#include <string.h>

// Does a wish cover a partition, or all that another wish is about?
static bool covers(const char *wish_table, int32_t wish_partition, const char *table,
                   int32_t partition)
{
    return (wish_table == NULL || (table != NULL && strcmp(wish_table, table) == 0)) &&
           (wish_partition == -1 || wish_partition == partition);
}

void weir_pauses_deinit(struct weir_pauses *pauses)
{
    for (uint32_t i = 0; i < pauses->count; i++) {
        free(pauses->list[i].table);
    }
    free(pauses->list);
    *pauses = (struct weir_pauses){0};
}

void weir_pauses_add(struct weir_pauses *pauses, const char *table, int32_t partition,
                     bool is_paused)
{
    struct weir_pause added = {.table = table != NULL ? weir_strdup(table) : NULL,
                               .partition = partition,
                               .is_paused = is_paused};
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < pauses->count; i++) {
        struct weir_pause *pause = &pauses->list[i];
        if (covers(table, partition, pause->table, pause->partition)) {
            free(pause->table);
        } else {
            pauses->list[kept_count++] = *pause;
        }
    }
    pauses->list = weir_realloc(pauses->list, (kept_count + 1) * sizeof *pauses->list);
    pauses->list[kept_count] = added;
    pauses->count = kept_count + 1;
}

bool weir_pauses_has(const struct weir_pauses *pauses, const char *table, int32_t partition)
{
    for (uint32_t i = pauses->count; i > 0; i--) {
        const struct weir_pause *pause = &pauses->list[i - 1];
        if (covers(pause->table, pause->partition, table, partition)) {
            return pause->is_paused;
        }
    }
    return false;
}

int64_t weir_pauses_count(const struct weir_job_tasks *tasks, const char *table, int32_t partition)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < tasks->count; i++) {
        const struct weir_job_task *task = &tasks->tasks[i];
        for (uint32_t p = 0; task->table != NULL && p < task->partition_count; p++) {
            bool is_meant = covers(table, partition, task->table->name, task->partitions[p]);
            count += is_meant && !weir_source_is_quarantined(task->source, p) ? 1 : 0;
        }
    }
    return count;
}

void weir_pauses_apply(const struct weir_pauses *pauses, const struct weir_job_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        const struct weir_job_task *task = &tasks->tasks[i];
        for (uint32_t p = 0; task->table != NULL && p < task->partition_count; p++) {
            bool is_paused = weir_pauses_has(pauses, task->table->name, task->partitions[p]);
            if (is_paused != weir_source_is_paused(task->source, p)) {
                weir_source_pause(task->source, p, is_paused);
            }
        }
    }
}
