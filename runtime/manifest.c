// SPDX-License-Identifier: Apache-2.0
// See manifest.h. File: "weir-manifest <format> xxh3=<16 hex> bytes=<n>\n", then n bytes of JSON.
#include "runtime/manifest.h"

#include "runtime/base/text.h"
#include "runtime/coordinator.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <xxhash.h>
#include <yyjson.h>

struct weir_attempt weir_attempt_random(void)
{
    uint8_t bytes[WEIR_ATTEMPT_BYTES];
    ssize_t got = getrandom(bytes, sizeof bytes, 0);
    WEIR_ASSERT(got == (ssize_t)sizeof bytes);
    struct weir_attempt attempt;
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(attempt.text + 2 * i, 3, "%02x", bytes[i]);
    }
    return attempt;
}

static void encode_positions(const struct weir_manifest *manifest, yyjson_mut_doc *doc,
                             yyjson_mut_val *root)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "positions");
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        const struct weir_position_entry *entry = &manifest->positions[i].entry;
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "table", entry->table);
        yyjson_mut_obj_add_str(doc, item, "topic", entry->topic);
        yyjson_mut_obj_add_str(doc, item, "topic_id", manifest->positions[i].topic_id);
        yyjson_mut_obj_add_int(doc, item, "partition", entry->partition);
        yyjson_mut_obj_add_int(doc, item, "offset", entry->offset);
        yyjson_mut_obj_add_int(doc, item, "end_offset", entry->end_offset);
        yyjson_mut_obj_add_int(doc, item, "last_offset", entry->last_offset);
        yyjson_mut_obj_add_int(doc, item, "last_timestamp_ms", entry->last_timestamp_ms);
        yyjson_mut_obj_add_uint(doc, item, "last_crc32", entry->last_crc32);
        yyjson_mut_obj_add_int(doc, item, "event_time_us", entry->event_time_us);
    }
}

static void encode_states(const struct weir_manifest *manifest, yyjson_mut_doc *doc,
                          yyjson_mut_val *root)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "states");
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        const struct weir_state_handle *state = &manifest->states[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "stage", state->stage);
        yyjson_mut_obj_add_uint(doc, item, "key_group_first", state->key_groups.first);
        yyjson_mut_obj_add_uint(doc, item, "key_group_count", state->key_groups.count);
        yyjson_mut_val *files = yyjson_mut_obj_add_arr(doc, item, "files");
        for (uint32_t j = 0; j < state->file_count; j++) {
            const struct weir_state_file *file = &state->files[j];
            yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, files);
            yyjson_mut_obj_add_str(doc, entry, "name", file->name);
            yyjson_mut_obj_add_uint(doc, entry, "size_bytes", file->size_bytes);
            char text[17];
            snprintf(text, sizeof text, "%016" PRIx64, file->xxh3);
            yyjson_mut_obj_add_strcpy(doc, entry, "xxh3", text);
            yyjson_mut_obj_add_bool(doc, entry, "materialised", file->is_materialised);
            yyjson_mut_obj_add_int(doc, entry, "number", file->number);
        }
        yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, item, "rows");
        for (uint32_t j = 0; j < state->rows_count; j++) {
            yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, rows);
            yyjson_mut_obj_add_str(doc, entry, "operator", state->rows[j].operator_id);
            yyjson_mut_obj_add_int(doc, entry, "count", state->rows[j].count);
        }
    }
}

static void encode_slots(const struct weir_manifest_operator *op, yyjson_mut_doc *doc,
                         yyjson_mut_val *item)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, item, "slots");
    for (uint32_t i = 0; i < op->slot_count; i++) {
        yyjson_mut_val *slot = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_uint(doc, slot, "number", op->slots[i].number);
        yyjson_mut_obj_add_str(doc, slot, "what", op->slots[i].what);
        yyjson_mut_obj_add_str(doc, slot, "argument", op->slots[i].argument);
        yyjson_mut_obj_add_str(doc, slot, "form", op->slots[i].form);
    }
}

static void encode_operators(const struct weir_manifest *manifest, yyjson_mut_doc *doc,
                             yyjson_mut_val *root)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "operators");
    for (uint32_t i = 0; i < manifest->operator_count; i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "stage", manifest->operators[i].stage);
        yyjson_mut_obj_add_str(doc, item, "id", manifest->operators[i].id);
        yyjson_mut_obj_add_str(doc, item, "name", manifest->operators[i].name);
        yyjson_mut_obj_add_str(doc, item, "layout", manifest->operators[i].layout);
        if (manifest->operators[i].has_slots) {
            encode_slots(&manifest->operators[i], doc, item);
        }
    }
}

static void add_hex(yyjson_mut_doc *doc, yyjson_mut_val *list, struct weir_view bytes)
{
    static const char DIGITS[] = "0123456789abcdef";
    struct weir_buffer text = {0};
    for (size_t i = 0; i < bytes.size_bytes; i++) {
        weir_buffer_append_char(&text, DIGITS[(uint8_t)bytes.data[i] >> 4]);
        weir_buffer_append_char(&text, DIGITS[(uint8_t)bytes.data[i] & 0xf]);
    }
    yyjson_mut_arr_add_strcpy(doc, list, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
}

static void encode_operator_states(const struct weir_manifest *manifest, yyjson_mut_doc *doc,
                                   yyjson_mut_val *root)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "operator_states");
    for (uint32_t i = 0; i < manifest->operator_state_count; i++) {
        const struct weir_operator_state_part *part = &manifest->operator_states[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "operator", part->operator_id);
        yyjson_mut_obj_add_str(doc, item, "name", part->name);
        yyjson_mut_obj_add_str(doc, item, "kind", weir_operator_state_kind_name(part->kind));
        yyjson_mut_obj_add_uint(doc, item, "task", part->task_idx);
        yyjson_mut_obj_add_uint(doc, item, "task_count", part->task_count);
        yyjson_mut_val *items = yyjson_mut_obj_add_arr(doc, item, "items");
        for (uint32_t j = 0; j < part->item_count; j++) {
            add_hex(doc, items, part->items[j]);
        }
    }
}

void weir_manifest_encode(const struct weir_manifest *manifest, struct weir_buffer *out)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    WEIR_ASSERT(doc != NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_int(doc, root, "number", manifest->number);
    yyjson_mut_obj_add_str(doc, root, "attempt", manifest->attempt.text);
    yyjson_mut_obj_add_str(doc, root, "job_id", manifest->job_id);
    yyjson_mut_obj_add_int(doc, root, "instance_id", manifest->instance_id);
    yyjson_mut_obj_add_str(doc, root, "cluster_id", manifest->cluster_id);
    yyjson_mut_obj_add_str(doc, root, "kind", manifest->kind);
    yyjson_mut_obj_add_str(doc, root, "restore", manifest->restore);
    yyjson_mut_obj_add_str(doc, root, "weir_version", manifest->weir_version);
    yyjson_mut_obj_add_int(doc, root, "created_ms", manifest->created_ms);
    yyjson_mut_obj_add_uint(doc, root, "parallelism", manifest->parallelism);
    encode_positions(manifest, doc, root);
    encode_states(manifest, doc, root);
    encode_operators(manifest, doc, root);
    encode_operator_states(manifest, doc, root);
    size_t body_size = 0;
    char *body = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY, &body_size);
    WEIR_ASSERT(body != NULL);
    weir_buffer_printf(out, "weir-manifest %d xxh3=%016" PRIx64 " bytes=%zu\n",
                       WEIR_MANIFEST_FORMAT, (uint64_t)XXH3_64bits(body, body_size), body_size);
    weir_buffer_append(out, body, body_size);
    free(body);
    yyjson_mut_doc_free(doc);
}

static enum weir_status damaged(struct weir_error *error, const char *name, const char *what)
{
    return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE, "%s is damaged: %s", name,
                          what);
}

// Reads one member; a missing or mistyped one clears *is_good.
static const char *get_text(yyjson_val *object, const char *name, struct weir_arena *arena,
                            bool *is_good)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    if (!yyjson_is_str(value)) {
        *is_good = false;
        return "";
    }
    return weir_arena_strdup(arena, yyjson_get_str(value));
}

static int64_t get_int(yyjson_val *object, const char *name, bool *is_good)
{
    yyjson_val *value = yyjson_obj_get(object, name);
    if (!yyjson_is_int(value)) {
        *is_good = false;
        return 0;
    }
    return yyjson_get_sint(value);
}

static void decode_positions(yyjson_val *root, struct weir_arena *arena,
                             struct weir_manifest *manifest, bool *is_good)
{
    yyjson_val *list = yyjson_obj_get(root, "positions");
    if (!yyjson_is_arr(list)) {
        *is_good = false;
        return;
    }
    manifest->position_count = (uint32_t)yyjson_arr_size(list);
    struct weir_manifest_position *positions =
        weir_arena_alloc_zero(arena, manifest->position_count * sizeof *positions);
    size_t idx;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(list, idx, max, item)
    {
        struct weir_position_entry *entry = &positions[idx].entry;
        entry->table = get_text(item, "table", arena, is_good);
        entry->topic = get_text(item, "topic", arena, is_good);
        positions[idx].topic_id = get_text(item, "topic_id", arena, is_good);
        entry->partition = (int32_t)get_int(item, "partition", is_good);
        entry->offset = get_int(item, "offset", is_good);
        entry->end_offset = get_int(item, "end_offset", is_good);
        entry->last_offset = get_int(item, "last_offset", is_good);
        entry->last_timestamp_ms = get_int(item, "last_timestamp_ms", is_good);
        entry->last_crc32 = (uint32_t)get_int(item, "last_crc32", is_good);
        entry->event_time_us = get_int(item, "event_time_us", is_good);
    }
    manifest->positions = positions;
}

static void decode_file(yyjson_val *item, struct weir_arena *arena, struct weir_state_file *file,
                        bool *is_good)
{
    *file = (struct weir_state_file){
        .name = get_text(item, "name", arena, is_good),
        .size_bytes = (uint64_t)get_int(item, "size_bytes", is_good),
        .is_materialised = yyjson_get_bool(yyjson_obj_get(item, "materialised")),
        .number = get_int(item, "number", is_good),
    };
    const char *xxh3 = get_text(item, "xxh3", arena, is_good);
    *is_good = *is_good && sscanf(xxh3, "%16" SCNx64, &file->xxh3) == 1;
}

// Early manifests have none.
static void decode_rows(yyjson_val *list, struct weir_arena *arena, struct weir_state_handle *state,
                        bool *is_good)
{
    state->rows_count = (uint32_t)yyjson_arr_size(list);
    struct weir_state_rows *rows = weir_arena_alloc_zero(arena, state->rows_count * sizeof *rows);
    for (uint32_t i = 0; i < state->rows_count; i++) {
        yyjson_val *item = yyjson_arr_get(list, i);
        rows[i].operator_id = get_text(item, "operator", arena, is_good);
        rows[i].count = get_int(item, "count", is_good);
    }
    state->rows = rows;
}

static void decode_states(yyjson_val *root, struct weir_arena *arena,
                          struct weir_manifest *manifest, bool *is_good)
{
    yyjson_val *list = yyjson_obj_get(root, "states");
    if (!yyjson_is_arr(list)) {
        *is_good = false;
        return;
    }
    manifest->state_count = (uint32_t)yyjson_arr_size(list);
    struct weir_state_handle *states =
        weir_arena_alloc_zero(arena, manifest->state_count * sizeof *states);
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        yyjson_val *item = yyjson_arr_get(list, i);
        yyjson_val *files = yyjson_obj_get(item, "files");
        states[i].stage = get_text(item, "stage", arena, is_good);
        states[i].key_groups.first = (uint16_t)get_int(item, "key_group_first", is_good);
        states[i].key_groups.count = (uint16_t)get_int(item, "key_group_count", is_good);
        states[i].file_count = (uint32_t)yyjson_arr_size(files);
        struct weir_state_file *entries =
            weir_arena_alloc_zero(arena, states[i].file_count * sizeof *entries);
        for (uint32_t j = 0; j < states[i].file_count; j++) {
            decode_file(yyjson_arr_get(files, j), arena, &entries[j], is_good);
        }
        states[i].files = entries;
        decode_rows(yyjson_obj_get(item, "rows"), arena, &states[i], is_good);
    }
    manifest->states = states;
}

static void decode_slots(yyjson_val *list, struct weir_arena *arena,
                         struct weir_manifest_operator *op, bool *is_good)
{
    op->has_slots = list != NULL;
    op->slot_count = (uint32_t)yyjson_arr_size(list);
    struct weir_manifest_slot *slots = weir_arena_alloc_zero(arena, op->slot_count * sizeof *slots);
    for (uint32_t i = 0; i < op->slot_count; i++) {
        yyjson_val *slot = yyjson_arr_get(list, i);
        slots[i].number = (uint32_t)get_int(slot, "number", is_good);
        slots[i].what = get_text(slot, "what", arena, is_good);
        slots[i].argument = get_text(slot, "argument", arena, is_good);
        slots[i].form = get_text(slot, "form", arena, is_good);
    }
    op->slots = slots;
}

// Early manifests have none.
static void decode_operators(yyjson_val *root, struct weir_arena *arena,
                             struct weir_manifest *manifest, bool *is_good)
{
    yyjson_val *list = yyjson_obj_get(root, "operators");
    manifest->operator_count = (uint32_t)yyjson_arr_size(list);
    struct weir_manifest_operator *operators =
        weir_arena_alloc_zero(arena, manifest->operator_count * sizeof *operators);
    for (uint32_t i = 0; i < manifest->operator_count; i++) {
        yyjson_val *item = yyjson_arr_get(list, i);
        operators[i].stage = get_text(item, "stage", arena, is_good);
        operators[i].id = get_text(item, "id", arena, is_good);
        operators[i].name = get_text(item, "name", arena, is_good);
        operators[i].layout = get_text(item, "layout", arena, is_good);
        decode_slots(yyjson_obj_get(item, "slots"), arena, &operators[i], is_good);
    }
    manifest->operators = operators;
}

static struct weir_view get_hex(yyjson_val *value, struct weir_arena *arena, bool *is_good)
{
    const char *text = yyjson_get_str(value);
    size_t size_bytes = yyjson_get_len(value) / 2;
    char *bytes = weir_arena_alloc(arena, size_bytes + 1);
    *is_good = *is_good && text != NULL && yyjson_get_len(value) % 2 == 0;
    for (size_t i = 0; i < size_bytes && *is_good; i++) {
        int high = weir_hex_digit(text[2 * i]);
        int low = weir_hex_digit(text[2 * i + 1]);
        *is_good = high >= 0 && low >= 0;
        bytes[i] = (char)(high << 4 | low);
    }
    return (struct weir_view){.data = bytes, .size_bytes = size_bytes};
}

static void decode_operator_state(yyjson_val *item, struct weir_arena *arena,
                                  struct weir_operator_state_part *part, bool *is_good)
{
    yyjson_val *list = yyjson_obj_get(item, "items");
    *part = (struct weir_operator_state_part){
        .operator_id = get_text(item, "operator", arena, is_good),
        .name = get_text(item, "name", arena, is_good),
        .task_idx = (uint32_t)get_int(item, "task", is_good),
        .task_count = (uint32_t)get_int(item, "task_count", is_good),
        .item_count = (uint32_t)yyjson_arr_size(list),
    };
    *is_good =
        weir_operator_state_kind_parse(get_text(item, "kind", arena, is_good), &part->kind) &&
        *is_good;
    struct weir_view *items = weir_arena_alloc(arena, part->item_count * sizeof *items);
    for (uint32_t i = 0; i < part->item_count; i++) {
        items[i] = get_hex(yyjson_arr_get(list, i), arena, is_good);
    }
    part->items = items;
}

// Early manifests have none.
static void decode_operator_states(yyjson_val *root, struct weir_arena *arena,
                                   struct weir_manifest *manifest, bool *is_good)
{
    yyjson_val *list = yyjson_obj_get(root, "operator_states");
    manifest->operator_state_count = (uint32_t)yyjson_arr_size(list);
    struct weir_operator_state_part *parts =
        weir_arena_alloc(arena, manifest->operator_state_count * sizeof *parts);
    for (uint32_t i = 0; i < manifest->operator_state_count; i++) {
        decode_operator_state(yyjson_arr_get(list, i), arena, &parts[i], is_good);
    }
    manifest->operator_states = parts;
}

static bool decode_body(yyjson_val *root, struct weir_arena *arena, struct weir_manifest *manifest)
{
    bool is_good = true;
    *manifest = (struct weir_manifest){
        .number = get_int(root, "number", &is_good),
        .job_id = get_text(root, "job_id", arena, &is_good),
        .instance_id = (int32_t)get_int(root, "instance_id", &is_good),
        .cluster_id = get_text(root, "cluster_id", arena, &is_good),
        .kind = get_text(root, "kind", arena, &is_good),
        .restore = get_text(root, "restore", arena, &is_good),
        .weir_version = get_text(root, "weir_version", arena, &is_good),
        .created_ms = get_int(root, "created_ms", &is_good),
        .parallelism = (uint32_t)get_int(root, "parallelism", &is_good),
    };
    const char *attempt = get_text(root, "attempt", arena, &is_good);
    is_good = is_good && strlen(attempt) < sizeof manifest->attempt.text;
    if (is_good) {
        strcpy(manifest->attempt.text, attempt);
    }
    decode_positions(root, arena, manifest, &is_good);
    decode_states(root, arena, manifest, &is_good);
    decode_operators(root, arena, manifest, &is_good);
    decode_operator_states(root, arena, manifest, &is_good);
    return is_good;
}

// Splits the head line off and checks format, length and checksum.
static enum weir_status check_head(const char *name, struct weir_view bytes, struct weir_view *body,
                                   struct weir_error *error)
{
    const char *line_end =
        memchr(bytes.data, '\n', bytes.size_bytes < 128 ? bytes.size_bytes : 128);
    char line[129];
    int format = 0;
    uint64_t checksum = 0;
    size_t size_bytes = 0;
    if (line_end == NULL) {
        return damaged(error, name, bytes.size_bytes == 0 ? "it is empty" : "no head line");
    }
    memcpy(line, bytes.data, (size_t)(line_end - bytes.data));
    line[line_end - bytes.data] = '\0';
    if (sscanf(line, "weir-manifest %d xxh3=%16" SCNx64 " bytes=%zu", &format, &checksum,
               &size_bytes) < 1) {
        return damaged(error, name, "its head line is not that of a manifest");
    }
    if (format > WEIR_MANIFEST_FORMAT) {
        return weir_error_set(
            error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
            "%s has format %d, this weir reads up to %d: it was written by a newer "
            "weir; start that one",
            name, format, WEIR_MANIFEST_FORMAT);
    }
    body->data = line_end + 1;
    body->size_bytes = bytes.size_bytes - (size_t)(line_end + 1 - bytes.data);
    if (body->size_bytes != size_bytes) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "%s is damaged: %zu bytes behind its head line, expected %zu", name,
                              body->size_bytes, size_bytes);
    }
    uint64_t found = XXH3_64bits(body->data, body->size_bytes);
    if (found != checksum) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "%s is damaged: its checksum is %016" PRIx64 ", expected %016" PRIx64,
                              name, found, checksum);
    }
    return WEIR_OK;
}

enum weir_status weir_manifest_decode(const char *name, struct weir_view bytes,
                                      struct weir_arena *arena, struct weir_manifest *manifest,
                                      struct weir_error *error)
{
    struct weir_view body = {0};
    if (check_head(name, bytes, &body, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    yyjson_doc *doc = yyjson_read(body.data, body.size_bytes, 0);
    bool is_good = doc != NULL && yyjson_is_obj(yyjson_doc_get_root(doc)) &&
                   decode_body(yyjson_doc_get_root(doc), arena, manifest);
    yyjson_doc_free(doc);
    return is_good ? WEIR_OK
                   : damaged(error, name, "its checksum is right but members are missing");
}

void weir_manifest_collect_states(struct weir_manifest *manifest,
                                  const struct weir_completed *completed, struct weir_arena *arena)
{
    uint32_t part_count = 0;
    for (uint32_t i = 0; i < completed->snapshot_count; i++) {
        part_count += completed->snapshots[i]->operator_state_count;
    }
    struct weir_state_handle *states =
        weir_arena_alloc(arena, completed->snapshot_count * sizeof *states);
    struct weir_operator_state_part *parts = weir_arena_alloc(arena, part_count * sizeof *parts);
    manifest->state_count = 0;
    manifest->operator_state_count = 0;
    for (uint32_t i = 0; i < completed->snapshot_count; i++) {
        const struct weir_snapshot *snapshot = completed->snapshots[i];
        if (snapshot->state != NULL) {
            states[manifest->state_count++] = *snapshot->state;
        }
        for (uint32_t j = 0; j < snapshot->operator_state_count; j++) {
            parts[manifest->operator_state_count++] = *snapshot->operator_states[j];
        }
    }
    manifest->states = states;
    manifest->operator_states = parts;
}
