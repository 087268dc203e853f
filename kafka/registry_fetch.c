// SPDX-License-Identifier: Apache-2.0
// See registry_fetch.h.
#include "kafka/registry_fetch.h"

#include "runtime/base/disk.h"
#include "runtime/base/log.h"
#include "runtime/types/json_out.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

enum { REFERENCES_MAX = 256, REFERENCE_DEPTH_MAX = 32, FILE_BYTES_MAX = 16 << 20 };

char *weir_registry_escape(struct weir_arena *arena, const char *subject)
{
    char *escaped = curl_easy_escape(NULL, subject, 0);
    char *copy = weir_arena_strdup(arena, escaped);
    curl_free(escaped);
    return copy;
}

// --- from the registry -----------------------------------------------------------------------

struct fetch {
    struct weir_registry_handle *handle;
    struct weir_arena *arena;
    struct weir_registry_bundle *bundle;
    const char **seen; // paths of the references
    char *text;
};

static enum weir_registry_answer refuse(struct fetch *fetch, const char *why, const char *what)
{
    snprintf(fetch->text, WEIR_REGISTRY_TEXT_BYTES_MAX, "%s%s", why, what);
    return WEIR_REGISTRY_REFUSED;
}

static enum weir_registry_answer fetch_one(struct fetch *fetch, const char *path, uint32_t depth,
                                           struct weir_view *schema);

static enum weir_registry_answer fetch_references(struct fetch *fetch, yyjson_val *list,
                                                  uint32_t depth)
{
    size_t idx;
    size_t max;
    yyjson_val *reference;
    yyjson_arr_foreach(list, idx, max, reference)
    {
        const char *subject = yyjson_get_str(yyjson_obj_get(reference, "subject"));
        int64_t version = yyjson_get_sint(yyjson_obj_get(reference, "version"));
        if (subject == NULL) {
            return refuse(fetch, "a reference without subject", "");
        }
        char *path =
            weir_arena_printf(fetch->arena, "/subjects/%s/versions/%lld",
                              weir_registry_escape(fetch->arena, subject), (long long)version);
        bool is_seen = false;
        for (uint32_t i = 0; i < fetch->bundle->reference_count; i++) {
            is_seen = is_seen || strcmp(fetch->seen[i], path) == 0;
        }
        if (is_seen) {
            continue;
        }
        struct weir_view schema;
        enum weir_registry_answer answer = fetch_one(fetch, path, depth + 1, &schema);
        if (answer != WEIR_REGISTRY_OK) {
            return answer;
        }
        if (fetch->bundle->reference_count == REFERENCES_MAX) {
            return refuse(fetch, "more references than can be followed", "");
        }
        fetch->seen[fetch->bundle->reference_count] = path;
        fetch->bundle->references[fetch->bundle->reference_count++] = schema;
    }
    return WEIR_REGISTRY_OK;
}

static enum weir_registry_answer fetch_one(struct fetch *fetch, const char *path, uint32_t depth,
                                           struct weir_view *schema)
{
    struct weir_buffer body = {0};
    if (depth > REFERENCE_DEPTH_MAX) {
        return refuse(fetch, "references are nested too deep", "");
    }
    enum weir_registry_answer answer = weir_registry_request(
        fetch->handle, path, NULL, &body, fetch->text, WEIR_REGISTRY_TEXT_BYTES_MAX);
    if (answer != WEIR_REGISTRY_OK) {
        weir_buffer_deinit(&body);
        return answer;
    }
    yyjson_doc *document = yyjson_read(body.data, body.size_bytes, 0);
    yyjson_val *root = yyjson_doc_get_root(document);
    yyjson_val *text = yyjson_obj_get(root, "schema");
    const char *kind = yyjson_get_str(yyjson_obj_get(root, "schemaType"));
    const char *subject = yyjson_get_str(yyjson_obj_get(root, "subject"));
    if (!yyjson_is_str(text)) {
        snprintf(fetch->text, WEIR_REGISTRY_TEXT_BYTES_MAX,
                 "%s was answered by something that is no schema registry", path);
        answer = WEIR_REGISTRY_DOWN;
    } else if (kind != NULL && strcmp(kind, "AVRO") != 0) {
        snprintf(fetch->text, WEIR_REGISTRY_TEXT_BYTES_MAX, "it is of type %.40s, not AVRO%s%.200s",
                 kind, subject != NULL ? ": subject " : "", subject != NULL ? subject : "");
        answer = WEIR_REGISTRY_REFUSED;
    } else {
        *schema = weir_arena_copy(fetch->arena,
                                  (struct weir_view){yyjson_get_str(text), yyjson_get_len(text)});
        if (depth == 0) {
            fetch->bundle->id = (uint32_t)yyjson_get_sint(yyjson_obj_get(root, "id"));
        }
        answer = fetch_references(fetch, yyjson_obj_get(root, "references"), depth);
    }
    yyjson_doc_free(document);
    weir_buffer_deinit(&body);
    return answer;
}

enum weir_registry_answer weir_registry_fetch(struct weir_registry_handle *handle, const char *path,
                                              struct weir_arena *arena,
                                              struct weir_registry_bundle *bundle, char *text)
{
    *bundle = (struct weir_registry_bundle){
        .references = weir_arena_alloc(arena, REFERENCES_MAX * sizeof *bundle->references)};
    struct fetch fetch = {.handle = handle,
                          .arena = arena,
                          .bundle = bundle,
                          .seen = weir_arena_alloc(arena, REFERENCES_MAX * sizeof *fetch.seen),
                          .text = text};
    return fetch_one(&fetch, path, 0, &bundle->text);
}

enum weir_registry_answer weir_registry_post_schema(struct weir_registry_handle *handle,
                                                    const char *path, const char *schema,
                                                    uint32_t *id, char *text)
{
    struct weir_buffer request = {0};
    struct weir_buffer body = {0};
    weir_buffer_printf(&request, "{\"schema\":");
    weir_json_append_string(&request, weir_view_of(schema));
    weir_buffer_append_char(&request, '}');
    enum weir_registry_answer answer = weir_registry_request(
        handle, path, weir_buffer_text(&request), &body, text, WEIR_REGISTRY_TEXT_BYTES_MAX);
    if (answer == WEIR_REGISTRY_OK) {
        yyjson_doc *document = yyjson_read(body.data, body.size_bytes, 0);
        yyjson_val *given = yyjson_obj_get(yyjson_doc_get_root(document), "id");
        *id = (uint32_t)yyjson_get_uint(given);
        if (!yyjson_is_uint(given)) {
            snprintf(text, WEIR_REGISTRY_TEXT_BYTES_MAX, "%s was answered without an id", path);
            answer = WEIR_REGISTRY_DOWN;
        }
        yyjson_doc_free(document);
    }
    weir_buffer_deinit(&request);
    weir_buffer_deinit(&body);
    return answer;
}

// --- on disk ---------------------------------------------------------------------------------

static struct weir_view copy_text(struct weir_arena *arena, yyjson_val *value)
{
    return weir_arena_copy(arena, (struct weir_view){yyjson_get_str(value), yyjson_get_len(value)});
}

bool weir_registry_load(const char *folder, const char *name, struct weir_arena *arena,
                        struct weir_registry_bundle *bundle)
{
    *bundle = (struct weir_registry_bundle){0};
    struct weir_buffer body = {0};
    bool is_good = false;
    yyjson_doc *document = NULL;
    if (folder != NULL &&
        weir_disk_read(weir_arena_printf(arena, "%s/%s", folder, name), FILE_BYTES_MAX, &body)) {
        document = yyjson_read(body.data, body.size_bytes, 0);
    }
    yyjson_val *root = yyjson_doc_get_root(document);
    yyjson_val *text = yyjson_obj_get(root, "schema");
    yyjson_val *list = yyjson_obj_get(root, "references");
    if (yyjson_is_str(text) && yyjson_is_arr(list)) {
        is_good = true;
        bundle->id = (uint32_t)yyjson_get_uint(yyjson_obj_get(root, "id"));
        bundle->text = copy_text(arena, text);
        bundle->references =
            weir_arena_alloc(arena, (yyjson_arr_size(list) + 1) * sizeof *bundle->references);
        size_t idx;
        size_t max;
        yyjson_val *reference;
        yyjson_arr_foreach(list, idx, max, reference)
        {
            is_good = is_good && yyjson_is_str(reference);
            if (is_good) {
                bundle->references[bundle->reference_count++] = copy_text(arena, reference);
            }
        }
    }
    yyjson_doc_free(document);
    weir_buffer_deinit(&body);
    return is_good;
}

void weir_registry_keep(const char *folder, const char *name,
                        const struct weir_registry_bundle *bundle)
{
    if (folder == NULL) {
        return;
    }
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(document);
    yyjson_mut_doc_set_root(document, root);
    yyjson_mut_obj_add_uint(document, root, "id", bundle->id);
    yyjson_mut_obj_add_strn(document, root, "schema", bundle->text.data, bundle->text.size_bytes);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(document, root, "references");
    for (uint32_t i = 0; i < bundle->reference_count; i++) {
        yyjson_mut_arr_add_strn(document, list, bundle->references[i].data,
                                bundle->references[i].size_bytes);
    }
    size_t size_bytes = 0;
    char *text = yyjson_mut_write(document, 0, &size_bytes);
    yyjson_mut_doc_free(document);
    struct weir_buffer path = {0};
    struct weir_buffer fresh = {0};
    weir_buffer_printf(&path, "%s/%s", folder, name);
    weir_buffer_printf(&fresh, "%s/%s.new", folder, name);
    if (text == NULL || !weir_disk_write_file(weir_buffer_text(&fresh), text, size_bytes) ||
        rename(weir_buffer_text(&fresh), weir_buffer_text(&path)) != 0) {
        weir_log(WEIR_LOG_WARN, "a schema cannot be kept in %s: %s", weir_buffer_text(&path),
                 strerror(errno));
    }
    free(text);
    weir_buffer_deinit(&path);
    weir_buffer_deinit(&fresh);
}
