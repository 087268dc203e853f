// SPDX-License-Identifier: Apache-2.0
// See offsets_reset.h. It is a recovery (app/recover.h) that claims and then does not run: the same
// lock, the same look, fence and decision as at a start.
#include "app/offsets_reset.h"

#include "app/run.h"

#include <inttypes.h>

enum { LOCK_TIMEOUT_MS = 1000 };

static enum weir_status find_table(const struct weir_plan *plan, const char *name,
                                   const struct weir_table **table, struct weir_error *error)
{
    struct weir_buffer sources = {0};
    *table = NULL;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (!plan->tables[i]->is_source) {
            continue;
        }
        weir_buffer_printf(&sources, "%s%s", sources.size_bytes > 0 ? ", " : "",
                           plan->tables[i]->name);
        if (strcmp(plan->tables[i]->name, name) == 0) {
            *table = plan->tables[i];
        }
    }
    if (*table == NULL) {
        weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                       "the job reads no table \"%s\"; it reads: %s", name,
                       weir_buffer_text(&sources));
    }
    weir_buffer_deinit(&sources);
    return *table != NULL ? WEIR_OK : WEIR_ERROR;
}

static void print_moves(const struct weir_recovered *recovered, const struct weir_table *table,
                        FILE *out)
{
    for (uint32_t i = 0; i < recovered->start_count; i++) {
        const struct weir_start *start = &recovered->starts[i];
        if (start->table == table) {
            fprintf(out, "table %s, topic %s, partition %" PRId32 ": next offset %" PRId64 "\n",
                    table->name, table->topic, start->partition.partition, start->partition.offset);
        }
    }
    fprintf(out,
            "checkpoint %" PRId64 " is claimed: the state of checkpoint %" PRId64
            " with these positions\n",
            recovered->number, recovered->from_number);
}

enum weir_status weir_offsets_reset(const struct weir_config *given, const char *table_name,
                                    struct weir_position to, FILE *out, struct weir_error *error)
{
    // The checkpoint that is there, whatever WEIR_RESTORE asks of the next start.
    struct weir_config config = *given;
    config.restore_kind = WEIR_RESTORE_AUTO;
    config.restore_text = "auto";
    config.restore_value = "";
    struct weir_arena *arena = weir_arena_create(64 << 10);
    struct weir_job_context context = {0};
    struct weir_reset reset = {.to = to};
    struct weir_recovered recovered = {0};
    enum weir_status status = weir_job_prepare(&config, LOCK_TIMEOUT_MS, arena, &context, error);
    if (status == WEIR_OK) {
        status = find_table(context.plan, table_name, &reset.table, error);
    }
    if (status == WEIR_OK) {
        context.reset = &reset;
        status = weir_recover(&context, arena, &recovered, error);
    }
    if (status == WEIR_OK) {
        print_moves(&recovered, reset.table, out);
        weir_janitor_destroy(recovered.committer.janitor);
        weir_handles_close(recovered.handles);
    }
    weir_job_release(&context);
    weir_arena_destroy(arena);
    return status;
}
