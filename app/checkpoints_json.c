// SPDX-License-Identifier: Apache-2.0
// See checkpoints_json.h.
#include "app/checkpoints_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <yyjson.h>

struct weir_checkpoints_json {
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
    yyjson_mut_val *faults; // of the newest one; NULL: it was not verified
};

struct weir_checkpoints_json *weir_checkpoints_json_begin(const char *path)
{
    struct weir_checkpoints_json *json = weir_alloc_zero(sizeof *json);
    json->doc = yyjson_mut_doc_new(NULL);
    WEIR_ASSERT(json->doc != NULL);
    yyjson_mut_val *root = yyjson_mut_obj(json->doc);
    yyjson_mut_doc_set_root(json->doc, root);
    yyjson_mut_obj_add_strcpy(json->doc, root, "path", path);
    json->list = yyjson_mut_obj_add_arr(json->doc, root, "checkpoints");
    return json;
}

static yyjson_mut_val *add(struct weir_checkpoints_json *json, const struct weir_store_entry *entry)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(json->doc, json->list);
    yyjson_mut_obj_add_int(json->doc, item, "number", entry->number);
    yyjson_mut_obj_add_strcpy(json->doc, item, "attempt", entry->attempt.text);
    yyjson_mut_obj_add_int(json->doc, item, "written_ms", entry->modified_ms);
    return item;
}

static void add_positions(yyjson_mut_doc *doc, yyjson_mut_val *item,
                          const struct weir_manifest *manifest)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, item, "positions");
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        const struct weir_position_entry *entry = &manifest->positions[i].entry;
        yyjson_mut_val *position = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_strcpy(doc, position, "table", entry->table);
        yyjson_mut_obj_add_strcpy(doc, position, "topic", entry->topic);
        yyjson_mut_obj_add_int(doc, position, "partition", entry->partition);
        yyjson_mut_obj_add_int(doc, position, "offset", entry->offset);
    }
}

static void add_operators(yyjson_mut_doc *doc, yyjson_mut_val *item,
                          const struct weir_manifest *manifest)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, item, "operators");
    for (uint32_t i = 0; i < manifest->operator_count; i++) {
        const struct weir_manifest_operator *op = &manifest->operators[i];
        yyjson_mut_val *value = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_strcpy(doc, value, "name", op->name);
        yyjson_mut_obj_add_strcpy(doc, value, "id", op->id);
        yyjson_mut_obj_add_strcpy(doc, value, "stage", op->stage);
        yyjson_mut_val *keeps = yyjson_mut_obj_add_arr(doc, value, "keeps");
        for (uint32_t j = 0; j < op->slot_count; j++) {
            yyjson_mut_arr_add_strcpy(doc, keeps, op->slots[j].what);
        }
    }
}

static void add_states(yyjson_mut_doc *doc, yyjson_mut_val *item,
                       const struct weir_manifest *manifest)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, item, "states");
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        const struct weir_state_handle *state = &manifest->states[i];
        yyjson_mut_val *value = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_strcpy(doc, value, "stage", state->stage);
        yyjson_mut_obj_add_uint(doc, value, "key_group_first", state->key_groups.first);
        yyjson_mut_obj_add_uint(doc, value, "key_group_count", state->key_groups.count);
        yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, value, "rows");
        for (uint32_t j = 0; j < state->rows_count; j++) {
            yyjson_mut_val *count = yyjson_mut_arr_add_obj(doc, rows);
            yyjson_mut_obj_add_strcpy(doc, count, "operator", state->rows[j].operator_id);
            yyjson_mut_obj_add_int(doc, count, "count", state->rows[j].count);
        }
        yyjson_mut_val *files = yyjson_mut_obj_add_arr(doc, value, "files");
        for (uint32_t j = 0; j < state->file_count; j++) {
            yyjson_mut_val *file = yyjson_mut_arr_add_obj(doc, files);
            char xxh3[17];
            snprintf(xxh3, sizeof xxh3, "%016" PRIx64, state->files[j].xxh3);
            yyjson_mut_obj_add_strcpy(doc, file, "name", state->files[j].name);
            yyjson_mut_obj_add_uint(doc, file, "bytes", state->files[j].size_bytes);
            yyjson_mut_obj_add_strcpy(doc, file, "xxh3", xxh3);
            yyjson_mut_obj_add_bool(doc, file, "materialised", state->files[j].is_materialised);
        }
    }
}

void weir_checkpoints_json_add(struct weir_checkpoints_json *json,
                               const struct weir_store_entry *entry,
                               const struct weir_manifest *manifest, bool is_whole)
{
    yyjson_mut_doc *doc = json->doc;
    yyjson_mut_val *item = add(json, entry);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        for (uint32_t j = 0; j < manifest->states[i].file_count; j++) {
            bytes += manifest->states[i].files[j].size_bytes;
        }
    }
    json->faults = NULL;
    yyjson_mut_obj_add_strcpy(doc, item, "kind", manifest->kind);
    yyjson_mut_obj_add_int(doc, item, "created_ms", manifest->created_ms);
    yyjson_mut_obj_add_uint(doc, item, "partition_count", manifest->position_count);
    yyjson_mut_obj_add_uint(doc, item, "state_count", manifest->state_count);
    yyjson_mut_obj_add_uint(doc, item, "state_bytes", bytes);
    if (!is_whole) {
        return;
    }
    yyjson_mut_obj_add_strcpy(doc, item, "job_id", manifest->job_id);
    yyjson_mut_obj_add_strcpy(doc, item, "cluster_id", manifest->cluster_id);
    yyjson_mut_obj_add_strcpy(doc, item, "restore", manifest->restore);
    yyjson_mut_obj_add_strcpy(doc, item, "weir_version", manifest->weir_version);
    yyjson_mut_obj_add_uint(doc, item, "parallelism", manifest->parallelism);
    add_positions(doc, item, manifest);
    add_operators(doc, item, manifest);
    add_states(doc, item, manifest);
}

void weir_checkpoints_json_add_broken(struct weir_checkpoints_json *json,
                                      const struct weir_store_entry *entry, const char *fault)
{
    add(json, entry);
    json->faults = NULL;
    weir_checkpoints_json_fault(json, fault);
}

void weir_checkpoints_json_fault(struct weir_checkpoints_json *json, const char *fault)
{
    yyjson_mut_val *item = yyjson_mut_arr_get_last(json->list);
    if (json->faults == NULL) {
        json->faults = yyjson_mut_obj_add_arr(json->doc, item, "faults");
    }
    if (fault != NULL) {
        yyjson_mut_arr_add_strcpy(json->doc, json->faults, fault);
    }
}

void weir_checkpoints_json_end(struct weir_checkpoints_json *json, FILE *out)
{
    if (out != NULL) {
        char *text = yyjson_mut_write(json->doc, YYJSON_WRITE_PRETTY, NULL);
        WEIR_ASSERT(text != NULL);
        fprintf(out, "%s\n", text);
        free(text);
    }
    yyjson_mut_doc_free(json->doc);
    free(json);
}
