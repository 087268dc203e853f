// SPDX-License-Identifier: Apache-2.0
// See registry.h. One thread fetches what tasks have asked for, one id after the other, the one
// that has waited longest first; an id that the registry did not answer is asked for again after a
// pause that doubles. Tasks only ever look into the table of ids, under a lock, when they meet an
// id for the first time.
//
// Invariants
// 1. An entry that is FOUND or REFUSED never changes again: types and texts live as long as the
//    registry, and decoders keep pointers to them.
// 2. REFUSED is said only on the registry's own word, "no such id" three times over, and of one
//    that has answered for SETTLE_MS without a break: a registry that lags behind, one that has
//    just been started and still reads its schemas (it answers meanwhile, as if it had none), or a
//    proxy in front of it must not turn good records into bad ones.
#include "kafka/registry.h"

#include "kafka/registry_fetch.h"
#include "runtime/base/assert.h"
#include "runtime/base/disk.h"
#include "runtime/base/limits.h"
#include "runtime/base/log.h"
#include "runtime/types/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    BACKOFF_MS = 250,
    BACKOFF_MAX_MS = 15000,
    UNKNOWN_COUNT = 3,                 // answers "no such id" that are believed …
    SETTLE_MS = 15000,                 // … of a registry that has answered for so long,
    SILENCE_MS = 5000,                 // with pauses no longer than this: none hides a start
    WATCHERS_MAX = 2 * WEIR_TASKS_MAX, // a decoder of keys and one of values a task
};

struct entry {
    uint32_t id;
    enum weir_avro_lookup state;
    const struct weir_avro_type *type;
    const char *why;
    struct weir_arena *arena; // of type and why
    int64_t next_try_ms;
    int64_t backoff_ms;
    uint32_t unknown_count;
    struct entry *next;
};

struct weir_registry {
    struct weir_avro_schemas schemas; // first: the interface
    struct weir_registry_place place;
    char *cache_folder; // NULL: nothing is kept
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread;
    struct entry *entries; // newest first: some tens
    int watchers[WATCHERS_MAX];
    uint32_t watcher_count;
    bool is_down;
    int64_t answering_since_ms; // 0: it does not
    int64_t answered_ms;
    char error[WEIR_REGISTRY_TEXT_BYTES_MAX];
    struct weir_arena *arena; // types asked for at starts, by the main thread
};

static int64_t now_ms(void)
{
    return weir_now_ms(&weir_system_clock);
}

// --- the thread ------------------------------------------------------------------------------

// Under the lock.
static void settle(struct weir_registry *registry, struct entry *entry, enum weir_avro_lookup state)
{
    static const uint64_t one = 1;
    entry->state = state;
    for (uint32_t i = 0; i < registry->watcher_count; i++) {
        (void)!write(registry->watchers[i], &one, sizeof one); // a full eventfd is awake already
    }
}

static void note_answer(struct weir_registry *registry, bool is_down, const char *text)
{
    if (is_down && !registry->is_down) {
        weir_log(WEIR_LOG_WARN,
                 "schema registry: %s; records that need its answer wait, other partitions go on",
                 text);
    } else if (!is_down && registry->is_down) {
        weir_log(WEIR_LOG_INFO, "schema registry %s answers again", registry->place.url);
    }
    int64_t now = now_ms();
    if (is_down) {
        registry->answering_since_ms = 0;
    } else if (registry->answering_since_ms == 0 || now - registry->answered_ms > SILENCE_MS) {
        registry->answering_since_ms = now;
    }
    registry->answered_ms = now;
    registry->is_down = is_down;
    snprintf(registry->error, sizeof registry->error, "%s", is_down ? text : "");
    for (char *at = registry->error; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at; // it is shown as one line
    }
}

static bool parse_bundle(struct weir_arena *arena, const struct weir_registry_bundle *bundle,
                         const struct weir_avro_type **type, struct weir_error *error)
{
    return weir_avro_schema_parse(arena, bundle->reference_count, bundle->references, bundle->text,
                                  type, error) == WEIR_OK;
}

// What one try gave, without the lock.
struct result {
    enum weir_registry_answer answer;
    const struct weir_avro_type *type;
    char text[WEIR_REGISTRY_TEXT_BYTES_MAX];
};

static void try_entry(struct weir_registry *registry, struct weir_registry_handle *handle,
                      const struct entry *entry, struct result *result)
{
    struct weir_registry_bundle bundle;
    struct weir_error error;
    char name[64];
    char path[64];
    snprintf(name, sizeof name, "id-%" PRIu32 ".json", entry->id);
    snprintf(path, sizeof path, "/schemas/ids/%" PRIu32, entry->id);
    *result = (struct result){.answer = WEIR_REGISTRY_OK};
    weir_arena_reset(entry->arena); // what the last try has left
    if (weir_registry_load(registry->cache_folder, name, entry->arena, &bundle) &&
        parse_bundle(entry->arena, &bundle, &result->type, &error)) {
        return;
    }
    result->answer = weir_registry_fetch(handle, path, entry->arena, &bundle, result->text);
    if (result->answer != WEIR_REGISTRY_OK) {
        return;
    }
    bundle.id = entry->id;
    if (parse_bundle(entry->arena, &bundle, &result->type, &error)) {
        weir_registry_keep(registry->cache_folder, name, &bundle);
        return;
    }
    result->answer = WEIR_REGISTRY_REFUSED;
    snprintf(result->text, sizeof result->text, "%.400s", error.text);
}

// Under the lock.
static void take_result(struct weir_registry *registry, struct entry *entry,
                        const struct result *result)
{
    bool is_down = result->answer == WEIR_REGISTRY_DOWN || result->answer == WEIR_REGISTRY_DENIED;
    if (!atomic_load_explicit(&registry->place.is_stopping, memory_order_relaxed)) {
        note_answer(registry, is_down, result->text);
    }
    switch (result->answer) {
    case WEIR_REGISTRY_OK:
        entry->type = result->type;
        settle(registry, entry, WEIR_AVRO_FOUND);
        return;
    case WEIR_REGISTRY_REFUSED:
        entry->why = weir_arena_printf(entry->arena, "schema id %" PRIu32 " cannot be used: %s",
                                       entry->id, result->text);
        settle(registry, entry, WEIR_AVRO_REFUSED);
        return;
    case WEIR_REGISTRY_NOT_FOUND:
        if (++entry->unknown_count >= UNKNOWN_COUNT &&
            registry->answered_ms - registry->answering_since_ms >= SETTLE_MS) {
            entry->why = weir_arena_printf(
                entry->arena, "schema id %" PRIu32 " is unknown to the registry", entry->id);
            settle(registry, entry, WEIR_AVRO_REFUSED);
            return;
        }
        break;
    case WEIR_REGISTRY_DOWN:
    case WEIR_REGISTRY_DENIED:
        break;
    }
    int64_t longest = is_down ? BACKOFF_MAX_MS : SILENCE_MS / 2;
    int64_t pause = entry->backoff_ms < longest ? entry->backoff_ms : longest;
    entry->next_try_ms = now_ms() + pause;
    entry->backoff_ms = 2 * pause;
}

// The one that is due first; NULL: none is pending.
static struct entry *first_due(const struct weir_registry *registry)
{
    struct entry *first = NULL;
    for (struct entry *entry = registry->entries; entry != NULL; entry = entry->next) {
        if (entry->state == WEIR_AVRO_PENDING &&
            (first == NULL || entry->next_try_ms < first->next_try_ms)) {
            first = entry;
        }
    }
    return first;
}

static void wait_until(struct weir_registry *registry, int64_t until_ms)
{
    struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_cond_timedwait(&registry->changed, &registry->lock, &until);
}

static void *run(void *argument)
{
    struct weir_registry *registry = argument;
    struct weir_registry_handle *handle = weir_registry_handle_create(&registry->place);
    pthread_mutex_lock(&registry->lock);
    while (!atomic_load_explicit(&registry->place.is_stopping, memory_order_relaxed)) {
        struct entry *entry = first_due(registry);
        if (entry == NULL) {
            pthread_cond_wait(&registry->changed, &registry->lock);
        } else if (entry->next_try_ms > now_ms()) {
            wait_until(registry, entry->next_try_ms);
        } else {
            struct result result;
            pthread_mutex_unlock(&registry->lock);
            try_entry(registry, handle, entry, &result);
            pthread_mutex_lock(&registry->lock);
            take_result(registry, entry, &result);
        }
    }
    pthread_mutex_unlock(&registry->lock);
    weir_registry_handle_destroy(handle);
    return NULL;
}

// Under the lock.
static void start_thread(struct weir_registry *registry)
{
    if (!registry->has_thread) {
        registry->has_thread = true;
        int failed = pthread_create(&registry->thread, NULL, run, registry);
        WEIR_ASSERT(failed == 0);
        pthread_setname_np(registry->thread, "registry");
    }
}

// --- schemas by id ---------------------------------------------------------------------------

static enum weir_avro_lookup find(struct weir_avro_schemas *schemas, uint32_t id,
                                  const struct weir_avro_type **type, const char **why)
{
    struct weir_registry *registry = (struct weir_registry *)schemas;
    pthread_mutex_lock(&registry->lock);
    struct entry *entry = registry->entries;
    while (entry != NULL && entry->id != id) {
        entry = entry->next;
    }
    if (entry == NULL) {
        entry = weir_alloc_zero(sizeof *entry);
        entry->id = id;
        entry->state = WEIR_AVRO_PENDING;
        entry->arena = weir_arena_create(4096);
        entry->backoff_ms = BACKOFF_MS;
        entry->next = registry->entries;
        registry->entries = entry;
        start_thread(registry);
        pthread_cond_signal(&registry->changed);
    }
    enum weir_avro_lookup state = entry->state;
    *type = entry->type;
    *why = entry->why;
    pthread_mutex_unlock(&registry->lock);
    return state;
}

// An id that was just asked for is no news: one that was asked for in vain is.
bool weir_registry_is_waited_for(struct weir_registry *registry, struct weir_buffer *out)
{
    enum { IDS_SHOWN_MAX = 8 };
    uint32_t count = 0;
    struct weir_buffer ids = {0};
    pthread_mutex_lock(&registry->lock);
    for (const struct entry *entry = registry->entries; entry != NULL; entry = entry->next) {
        if (entry->state == WEIR_AVRO_PENDING && entry->backoff_ms > BACKOFF_MS) {
            if (count++ < IDS_SHOWN_MAX) {
                weir_buffer_printf(&ids, "%s%" PRIu32, count == 1 ? "" : ", ", entry->id);
            }
        }
    }
    if (count > 0) {
        weir_buffer_printf(out, "records wait for schema %s %s%s of the schema registry: ",
                           count == 1 ? "id" : "ids", weir_buffer_text(&ids),
                           count > IDS_SHOWN_MAX ? ", …" : "");
        weir_buffer_printf(out, "%s\n",
                           registry->is_down ? registry->error : "it does not know them yet");
    }
    pthread_mutex_unlock(&registry->lock);
    weir_buffer_deinit(&ids);
    return count > 0;
}

struct weir_avro_schemas *weir_registry_schemas(struct weir_registry *registry)
{
    return &registry->schemas;
}

static void watch(struct weir_avro_schemas *schemas, int descriptor)
{
    struct weir_registry *registry = (struct weir_registry *)schemas;
    pthread_mutex_lock(&registry->lock);
    WEIR_ASSERT(registry->watcher_count < WATCHERS_MAX);
    registry->watchers[registry->watcher_count++] = descriptor;
    pthread_mutex_unlock(&registry->lock);
}

static void unwatch(struct weir_avro_schemas *schemas, int descriptor)
{
    struct weir_registry *registry = (struct weir_registry *)schemas;
    pthread_mutex_lock(&registry->lock);
    for (uint32_t i = 0; i < registry->watcher_count; i++) {
        if (registry->watchers[i] == descriptor) {
            registry->watchers[i] = registry->watchers[--registry->watcher_count];
            break;
        }
    }
    pthread_mutex_unlock(&registry->lock);
}

// --- at a start ------------------------------------------------------------------------------

static uint64_t fingerprint(const char *a, const char *b) // for names of files
{
    return weir_hash_combine(weir_hash_bytes(a, strlen(a)), weir_hash_bytes(b, strlen(b)));
}

static enum weir_status fail(const struct weir_registry *registry, enum weir_registry_answer answer,
                             const char *subject, const char *text, struct weir_error *error)
{
    return weir_error_set(error, WEIR_DOMAIN_CONFIG,
                          answer == WEIR_REGISTRY_DOWN ? WEIR_ACTION_RETRY : WEIR_ACTION_REFUSE,
                          "schema registry %s, subject \"%s\": %s", registry->place.url, subject,
                          text);
}

// One that has just been started may answer as if it had no schema (invariant 2): a subject that
// was there before is asked for until the registry has had time to read what it has.
static enum weir_registry_answer fetch_latest(struct weir_registry *registry, const char *subject,
                                              bool was_there, struct weir_registry_bundle *bundle,
                                              char *text)
{
    struct weir_arena *arena = registry->arena;
    const char *path = weir_arena_printf(arena, "/subjects/%s/versions/latest",
                                         weir_registry_escape(arena, subject));
    struct weir_registry_handle *handle = weir_registry_handle_create(&registry->place);
    int64_t until_ms = now_ms() + SETTLE_MS;
    enum weir_registry_answer answer = weir_registry_fetch(handle, path, arena, bundle, text);
    while (answer == WEIR_REGISTRY_NOT_FOUND && was_there && now_ms() < until_ms) {
        nanosleep(&(struct timespec){.tv_nsec = BACKOFF_MS * 1000000}, NULL);
        answer = weir_registry_fetch(handle, path, arena, bundle, text);
    }
    weir_registry_handle_destroy(handle);
    return answer;
}

enum weir_status weir_registry_latest(struct weir_registry *registry, const char *subject,
                                      bool *is_found, struct weir_registry_schema *schema,
                                      struct weir_error *error)
{
    struct weir_arena *arena = registry->arena;
    struct weir_registry_bundle kept;
    struct weir_registry_bundle bundle;
    char text[WEIR_REGISTRY_TEXT_BYTES_MAX];
    char name[64];
    snprintf(name, sizeof name, "latest-%016" PRIx64 ".json", fingerprint(subject, ""));
    bool is_kept = weir_registry_load(registry->cache_folder, name, arena, &kept);
    bool was_there = is_kept && kept.text.size_bytes != 0;
    enum weir_registry_answer answer = fetch_latest(registry, subject, was_there, &bundle, text);
    *is_found = answer == WEIR_REGISTRY_OK;
    if (answer == WEIR_REGISTRY_OK || answer == WEIR_REGISTRY_NOT_FOUND) {
        // That there is none is kept as well, as one without text.
        bundle.text = answer == WEIR_REGISTRY_OK ? bundle.text : weir_view_of("");
        weir_registry_keep(registry->cache_folder, name, &bundle);
    } else if (answer != WEIR_REGISTRY_DOWN || !is_kept) {
        return fail(registry, answer, subject, text, error);
    } else {
        weir_log(WEIR_LOG_WARN,
                 "schema registry: %s; going on with what was kept of subject \"%s\"", text,
                 subject);
        bundle = kept;
        *is_found = was_there;
    }
    if (!*is_found) {
        return WEIR_OK;
    }
    struct weir_error parse_error;
    schema->id = bundle.id;
    if (!parse_bundle(arena, &bundle, &schema->type, &parse_error)) {
        return fail(registry, WEIR_REGISTRY_REFUSED, subject, parse_error.text, error);
    }
    return WEIR_OK;
}

enum weir_status weir_registry_register(struct weir_registry *registry, const char *subject,
                                        const char *schema, uint32_t *id, struct weir_error *error)
{
    struct weir_arena *arena = registry->arena;
    char text[WEIR_REGISTRY_TEXT_BYTES_MAX];
    char name[64];
    snprintf(name, sizeof name, "sink-%016" PRIx64 ".json", fingerprint(subject, schema));
    struct weir_registry_handle *handle = weir_registry_handle_create(&registry->place);
    enum weir_registry_answer answer = weir_registry_post_schema(
        handle,
        weir_arena_printf(arena, "/subjects/%s/versions", weir_registry_escape(arena, subject)),
        schema, id, text);
    weir_registry_handle_destroy(handle);
    struct weir_registry_bundle bundle = {.text = weir_view_of(schema), .id = *id};
    if (answer == WEIR_REGISTRY_OK) {
        weir_registry_keep(registry->cache_folder, name, &bundle);
        return WEIR_OK;
    }
    if (answer == WEIR_REGISTRY_DOWN &&
        weir_registry_load(registry->cache_folder, name, arena, &bundle)) {
        weir_log(WEIR_LOG_WARN,
                 "schema registry: %s; going on with id %" PRIu32
                 ", as which the schema of subject \"%s\" was registered before",
                 text, bundle.id, subject);
        *id = bundle.id;
        return WEIR_OK;
    }
    return fail(registry, answer, subject, text, error);
}

// --- life ------------------------------------------------------------------------------------

enum weir_status weir_registry_create(const struct weir_registry_config *config,
                                      struct weir_registry **out, struct weir_error *error)
{
    struct weir_registry *registry = weir_alloc_zero(sizeof *registry);
    if (!weir_registry_place_init(&registry->place, config)) {
        free(registry);
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "the schema registry is not given as a URL of http or https, such as "
                              "http://registry:8081");
    }
    registry->schemas =
        (struct weir_avro_schemas){.find = find, .watch = watch, .unwatch = unwatch};
    registry->arena = weir_arena_create(16 * 1024);
    pthread_mutex_init(&registry->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&registry->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (config->cache_folder != NULL) {
        // One folder a registry: ids mean something else in another one.
        char *folder = weir_arena_printf(registry->arena, "%s/%016" PRIx64, config->cache_folder,
                                         fingerprint(registry->place.url, ""));
        if (!weir_disk_make_folders(folder)) {
            weir_log(WEIR_LOG_WARN, "schemas cannot be kept in %s: %s", folder, strerror(errno));
        } else {
            registry->cache_folder = folder;
        }
    }
    *out = registry;
    return WEIR_OK;
}

void weir_registry_destroy(struct weir_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    pthread_mutex_lock(&registry->lock);
    atomic_store_explicit(&registry->place.is_stopping, true, memory_order_relaxed);
    pthread_cond_signal(&registry->changed);
    pthread_mutex_unlock(&registry->lock);
    if (registry->has_thread) {
        pthread_join(registry->thread, NULL);
    }
    while (registry->entries != NULL) {
        struct entry *entry = registry->entries;
        registry->entries = entry->next;
        weir_arena_destroy(entry->arena);
        free(entry);
    }
    pthread_cond_destroy(&registry->changed);
    pthread_mutex_destroy(&registry->lock);
    weir_registry_place_deinit(&registry->place);
    weir_arena_destroy(registry->arena);
    free(registry);
}

const char *weir_registry_url(const struct weir_registry *registry)
{
    return registry->place.url;
}
