// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a schema registry answers and as what was kept of it on disk. Lines are the
// answers, in the order in which they are asked for; the first byte says what is asked. A schema
// that is understood must be the same after it was kept and loaded again.
#include "fuzz.h"
#include "kafka/avro_schema.h"
#include "kafka/registry_fetch.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct weir_view answers; // those not yet given

// Stands in for the one in registry_http.c: no network.
enum weir_registry_answer weir_registry_request(struct weir_registry_handle *handle,
                                                const char *path, const char *body,
                                                struct weir_buffer *out, char *text,
                                                size_t text_bytes)
{
    (void)handle;
    (void)path;
    (void)body;
    out->size_bytes = 0;
    if (answers.size_bytes == 0) {
        snprintf(text, text_bytes, "no answer");
        return WEIR_REGISTRY_DOWN;
    }
    const char *end = memchr(answers.data, '\n', answers.size_bytes);
    size_t size_bytes = end != NULL ? (size_t)(end - answers.data) : answers.size_bytes;
    weir_buffer_append(out, answers.data, size_bytes);
    size_t taken_bytes = size_bytes + (end != NULL);
    answers.data += taken_bytes;
    answers.size_bytes -= taken_bytes;
    return WEIR_REGISTRY_OK;
}

static char folder[] = "/dev/shm/weir-fuzz-XXXXXX";

static void leave_nothing(const char *path)
{
    unlink(path);
    rmdir(folder);
}

static bool parse(struct weir_arena *arena, const struct weir_registry_bundle *bundle,
                  struct weir_buffer *canonical)
{
    const struct weir_avro_type *type;
    struct weir_error error;
    if (weir_avro_schema_parse(arena, bundle->reference_count, bundle->references, bundle->text,
                               &type, &error) != WEIR_OK) {
        require(error.text[0] != '\0', "a schema is refused without a word");
        return false;
    }
    weir_avro_schema_append_canonical(type, canonical);
    return true;
}

static void check_bundle(struct weir_arena *arena, const struct weir_registry_bundle *bundle)
{
    struct weir_registry_bundle again;
    struct weir_buffer texts[2] = {{0}};
    require(mkdir(folder, 0700) == 0, "no folder");
    weir_registry_keep(folder, "x", bundle);
    require(weir_registry_load(folder, "x", arena, &again), "what was kept cannot be read");
    leave_nothing(weir_arena_printf(arena, "%s/x", folder));
    require(again.id == bundle->id && again.reference_count == bundle->reference_count,
            "another id, or other references");
    if (parse(arena, bundle, &texts[0])) {
        require(parse(arena, &again, &texts[1]) && is_same_bytes(&texts[0], &texts[1]),
                "another schema");
    }
    weir_buffer_deinit(&texts[0]);
    weir_buffer_deinit(&texts[1]);
}

static void check_file(struct weir_arena *arena, struct weir_view bytes)
{
    struct weir_registry_bundle bundle;
    struct weir_buffer text = {0};
    char name[16];
    int file = memfd_create("schema", 0);
    require(file >= 0 && write(file, bytes.data, bytes.size_bytes) == (ssize_t)bytes.size_bytes,
            "no file in memory");
    snprintf(name, sizeof name, "%d", file);
    bool is_good = weir_registry_load("/proc/self/fd", name, arena, &bundle);
    close(file);
    if (is_good) {
        parse(arena, &bundle, &text);
    }
    weir_buffer_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) {
        return 0;
    }
    static bool has_folder;
    if (!has_folder) {
        has_folder = mkdtemp(folder) != NULL;
        require(has_folder, "no folder");
        rmdir(folder);
    }
    char text[WEIR_REGISTRY_TEXT_BYTES_MAX] = "";
    struct weir_registry_bundle bundle;
    uint32_t id = 0;
    struct weir_arena *arena = weir_arena_create(16 * 1024);
    answers = (struct weir_view){(const char *)data + 1, size_bytes - 1};
    enum weir_registry_answer answer = WEIR_REGISTRY_OK;
    switch (data[0] % 3) {
    case 0:
        answer = weir_registry_fetch(NULL, "/schemas/ids/1", arena, &bundle, text);
        if (answer == WEIR_REGISTRY_OK) {
            check_bundle(arena, &bundle);
        }
        break;
    case 1:
        answer = weir_registry_post_schema(NULL, "/subjects/s/versions", "\"int\"", &id, text);
        break;
    default:
        check_file(arena, answers);
        break;
    }
    require(answer == WEIR_REGISTRY_OK || text[0] != '\0', "a refusal without a word");
    weir_arena_destroy(arena);
    return 0;
}
