// SPDX-License-Identifier: Apache-2.0
// What was found, as JSON (preview.h). Members are described in docs/checkpoints.md; a member may
// be added, none changes its meaning.
#include "app/preview.h"

#include <stdlib.h>
#include <yyjson.h>

static const char *fate_word(enum weir_state_fate fate)
{
    switch (fate) {
    case WEIR_STATE_KEPT:
        return "kept";
    case WEIR_STATE_BEGINS:
        return "begins";
    case WEIR_STATE_FROM_NOW:
        return "from_now";
    case WEIR_STATE_LOST:
        return "lost";
    }
    WEIR_ASSERT(!"a fate");
}

static void add_topics(const struct weir_preview *preview, yyjson_mut_doc *doc,
                       yyjson_mut_val *root)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "topics");
    for (uint32_t i = 0; i < preview->topic_count; i++) {
        const struct weir_preview_topic *topic = &preview->topics[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "name", topic->wish.name);
        yyjson_mut_obj_add_str(doc, item, "table", topic->wish.table->name);
        yyjson_mut_obj_add_str(doc, item, "role", topic->wish.role);
        yyjson_mut_obj_add_bool(doc, item, "written", topic->wish.is_written);
        yyjson_mut_obj_add_bool(doc, item, "exists", topic->exists);
        yyjson_mut_obj_add_uint(doc, item, "partitions", topic->partition_count);
    }
}

static void add_positions(const struct weir_preview *preview, yyjson_mut_doc *doc,
                          yyjson_mut_val *object)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "positions");
    for (uint32_t i = 0; preview->is_decided && i < preview->position_count; i++) {
        const struct weir_found_partition *partition = &preview->partitions[i];
        const struct weir_partition_decision *decision = &preview->positions[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "table", partition->table);
        yyjson_mut_obj_add_str(doc, item, "topic", partition->topic);
        yyjson_mut_obj_add_int(doc, item, "partition", partition->partition);
        if (decision->kind == WEIR_START_AT_OFFSET) {
            yyjson_mut_obj_add_int(doc, item, "offset", decision->offset);
        } else {
            yyjson_mut_obj_add_null(doc, item, "offset");
        }
        if (partition->high_offset == INT64_MAX) { // in quarantine: nobody was asked
            yyjson_mut_obj_add_null(doc, item, "end");
        } else {
            yyjson_mut_obj_add_int(doc, item, "end", partition->high_offset);
        }
        yyjson_mut_obj_add_int(doc, item, "missing", decision->missing_count);
    }
}

static void add_checkpoint(const struct weir_preview *preview, yyjson_mut_doc *doc,
                           yyjson_mut_val *root)
{
    const struct weir_manifest *manifest = preview->decision.manifest;
    if (manifest == NULL) {
        yyjson_mut_obj_add_null(doc, root, "checkpoint");
        return;
    }
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, "checkpoint");
    yyjson_mut_obj_add_int(doc, object, "number", manifest->number);
    yyjson_mut_obj_add_str(doc, object, "attempt", manifest->attempt.text);
    yyjson_mut_obj_add_int(doc, object, "created_ms", manifest->created_ms);
    yyjson_mut_obj_add_bool(doc, object, "savepoint", preview->is_savepoint);
    yyjson_mut_obj_add_str(doc, object, "path",
                           preview->is_savepoint ? preview->config->restore_value
                                                 : preview->store_path);
    add_positions(preview, doc, object);
}

static void add_state(const struct weir_preview *preview, yyjson_mut_doc *doc, yyjson_mut_val *root)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "state");
    for (uint32_t i = 0; i < preview->change.item_count; i++) {
        const struct weir_state_item *state = &preview->change.items[i];
        struct weir_buffer text = {0};
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "operator", state->name);
        yyjson_mut_obj_add_str(doc, item, "fate", fate_word(state->fate));
        if (state->slot != NULL) {
            yyjson_mut_obj_add_str(doc, item, "column", state->slot);
        }
        yyjson_mut_obj_add_uint(doc, item, "bytes", state->bytes);
        if (state->rows >= 0) {
            yyjson_mut_obj_add_int(doc, item, "rows", state->rows);
        } else {
            yyjson_mut_obj_add_null(doc, item, "rows");
        }
        weir_state_item_print(state, &text);
        yyjson_mut_obj_add_strcpy(doc, item, "text", weir_buffer_text(&text));
        weir_buffer_deinit(&text);
    }
}

void weir_preview_print_json(const struct weir_preview *preview, FILE *out)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    WEIR_ASSERT(doc != NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_bool(doc, root, "ok", preview->faults.count == 0);
    yyjson_mut_val *faults = yyjson_mut_obj_add_arr(doc, root, "faults");
    for (uint32_t i = 0; i < preview->faults.count; i++) {
        yyjson_mut_arr_add_str(doc, faults, preview->faults.texts[i]);
    }
    if (preview->cluster_id[0] != '\0') {
        yyjson_mut_obj_add_str(doc, root, "cluster", preview->cluster_id);
    } else {
        yyjson_mut_obj_add_null(doc, root, "cluster");
    }
    add_topics(preview, doc, root);
    add_checkpoint(preview, doc, root);
    add_state(preview, doc, root);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY, NULL);
    WEIR_ASSERT(text != NULL);
    fprintf(out, "%s\n", text);
    free(text);
    yyjson_mut_doc_free(doc);
}
