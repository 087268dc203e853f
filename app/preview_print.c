// SPDX-License-Identifier: Apache-2.0
// What was found, as text (preview.h). Faults are not printed here: they go where messages go.
#include "app/command.h"
#include "app/preview.h"

#include <inttypes.h>

static void print_topic(const struct weir_preview_topic *topic, FILE *out)
{
    fprintf(out, "topic %s (table %s, %s%s): ", topic->wish.name, topic->wish.table->name,
            topic->wish.role, topic->wish.is_written ? ", written" : ", read");
    if (topic->exists) {
        fprintf(out, "%u partition%s\n", topic->partition_count,
                topic->partition_count == 1 ? "" : "s");
    } else if (topic->partition_count > 0) {
        fprintf(out, "does not exist; a start makes it, with %u partition%s\n",
                topic->partition_count, topic->partition_count == 1 ? "" : "s");
    } else {
        fprintf(out, "does not exist\n");
    }
}

static void print_position(const struct weir_found_partition *partition,
                           const struct weir_partition_decision *decision, FILE *out)
{
    fprintf(out, "  table %s, topic %s, partition %" PRId32 ": ", partition->table,
            partition->topic, partition->partition);
    switch (decision->kind) {
    case WEIR_START_AT_OFFSET:
        fprintf(out, "offset %" PRId64, decision->offset);
        if (partition->high_offset == INT64_MAX) {
            fprintf(out, ", in quarantine");
        } else {
            fprintf(out, " of %" PRId64, partition->high_offset);
        }
        if (decision->missing_count > 0) {
            fprintf(out, ", %" PRId64 " records are gone and are passed over",
                    decision->missing_count);
        }
        fprintf(out, "\n");
        return;
    case WEIR_START_EARLIEST:
        fprintf(out, "new, from its first record\n");
        return;
    case WEIR_START_TABLE:
    case WEIR_START_RESET:
        fprintf(out, "not known to the checkpoint, from the table's start\n");
        return;
    }
}

static void print_decision(const struct weir_preview *preview, FILE *out)
{
    const struct weir_manifest *manifest = preview->decision.manifest;
    if (manifest == NULL) {
        fprintf(out, "%s: the job begins with empty state\n",
                preview->decision.is_discarded ? preview->config->restore_text : "no checkpoint");
    } else {
        char time[WEIR_UTC_BYTES];
        fprintf(out, "%s %" PRId64 " of attempt %s, of %s, in %s\n",
                preview->is_savepoint ? "savepoint, checkpoint" : "checkpoint", manifest->number,
                manifest->attempt.text, weir_utc_text(manifest->created_ms, time),
                preview->is_savepoint ? preview->config->restore_value : preview->store_path);
    }
    bool has_positions = preview->is_decided && manifest != NULL;
    for (uint32_t i = 0; has_positions && i < preview->position_count; i++) {
        print_position(&preview->partitions[i], &preview->positions[i], out);
    }
    for (uint32_t i = 0; i < preview->change.item_count; i++) {
        struct weir_buffer text = {0};
        weir_state_item_print(&preview->change.items[i], &text);
        fprintf(out, "  %s\n", weir_buffer_text(&text));
        weir_buffer_deinit(&text);
    }
}

void weir_preview_print(const struct weir_preview *preview, FILE *out)
{
    if (preview->cluster_id[0] != '\0') {
        fprintf(out, "cluster %s\n", preview->cluster_id);
    }
    for (uint32_t i = 0; i < preview->topic_count; i++) {
        print_topic(&preview->topics[i], out);
    }
    if (preview->is_decided || preview->is_savepoint) {
        print_decision(preview, out);
    }
}
