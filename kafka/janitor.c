// SPDX-License-Identifier: Apache-2.0
// See janitor.h. The order: manifests are deleted first, then the files that only they listed. A
// crash in between leaves files that no manifest lists; the next owner removes them.
//
// Invariant: nothing is deleted that a manifest which stays lists. An owner marks the store before
// it writes anything else there, so if the store is still ours after we have looked at it, nothing
// that we saw is of a newer owner, however long this process slept in between.
#include "kafka/janitor.h"

#include "runtime/base/clock.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/log.h"

#include <stdlib.h>

enum { YOUNG_MS = 60000 }; // no committed checkpoint younger than this is deleted

struct known {
    struct weir_store_entry entry;
    uint32_t pin_count; // copies of it under way
    uint32_t state_count;
    struct weir_state_handle **states;
};

struct weir_janitor {
    struct weir_janitor_config config;
    uint32_t known_count;
    struct known *known; // in the order in which they were written
};

static void add(struct weir_janitor *janitor, const struct weir_store_entry *entry,
                const struct weir_manifest *manifest)
{
    janitor->known =
        weir_realloc(janitor->known, (janitor->known_count + 1) * sizeof *janitor->known);
    struct known *known = &janitor->known[janitor->known_count++];
    *known = (struct known){.entry = *entry, .state_count = manifest->state_count};
    known->states = weir_alloc(manifest->state_count * sizeof *known->states);
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        known->states[i] = weir_state_handle_copy(&manifest->states[i]);
    }
}

static void known_deinit(struct known *known)
{
    for (uint32_t i = 0; i < known->state_count; i++) {
        free(known->states[i]);
    }
    free(known->states);
}

void weir_janitor_add(struct weir_janitor *janitor, const struct weir_manifest *manifest)
{
    add(janitor,
        &(struct weir_store_entry){.number = manifest->number,
                                   .attempt = manifest->attempt,
                                   .modified_ms = weir_wall_ms(janitor->config.clock)},
        manifest);
}

static struct known *find_own(struct weir_janitor *janitor, int64_t number)
{
    for (uint32_t i = 0; i < janitor->known_count; i++) {
        struct known *known = &janitor->known[i];
        if (known->entry.number == number &&
            weir_attempt_equal(&known->entry.attempt, &janitor->config.owner)) {
            return known;
        }
    }
    WEIR_ASSERT(!"what is pinned was written by this owner and stays");
}

void weir_janitor_pin(struct weir_janitor *janitor, int64_t number)
{
    find_own(janitor, number)->pin_count++;
}

void weir_janitor_unpin(struct weir_janitor *janitor, int64_t number)
{
    struct known *known = find_own(janitor, number);
    WEIR_ASSERT(known->pin_count > 0);
    known->pin_count--;
}

// Names listed by what goes, and handles of what stays, in the arena.
static void collect(const struct weir_janitor *janitor, const bool *is_deleted,
                    struct weir_arena *arena, const char ***candidates, uint32_t *candidate_count,
                    struct weir_state_handle **kept, uint32_t *kept_count)
{
    uint32_t file_count = 0;
    uint32_t handle_count = 0;
    for (uint32_t i = 0; i < janitor->known_count; i++) {
        handle_count += janitor->known[i].state_count;
        for (uint32_t j = 0; j < janitor->known[i].state_count; j++) {
            file_count += janitor->known[i].states[j]->file_count;
        }
    }
    *candidates = weir_arena_alloc(arena, file_count * sizeof **candidates);
    *kept = weir_arena_alloc(arena, handle_count * sizeof **kept);
    *candidate_count = 0;
    *kept_count = 0;
    for (uint32_t i = 0; i < janitor->known_count; i++) {
        for (uint32_t j = 0; j < janitor->known[i].state_count; j++) {
            const struct weir_state_handle *handle = janitor->known[i].states[j];
            if (!is_deleted[i]) {
                (*kept)[(*kept_count)++] = *handle;
                continue;
            }
            for (uint32_t f = 0; f < handle->file_count; f++) {
                (*candidates)[(*candidate_count)++] = handle->files[f].name;
            }
        }
    }
}

// Forgets what is deleted.
static void forget(struct weir_janitor *janitor, const bool *is_deleted)
{
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < janitor->known_count; i++) {
        if (is_deleted[i]) {
            known_deinit(&janitor->known[i]);
        } else {
            janitor->known[kept_count++] = janitor->known[i];
        }
    }
    janitor->known_count = kept_count;
}

static bool is_ours(const struct weir_janitor *janitor)
{
    struct weir_error ignored; // no longer ours: the next commit will find out why
    return weir_store_check_owner(janitor->config.store, &janitor->config.owner, &ignored) ==
           WEIR_OK;
}

// found: at start, all state files of the store; later only what the manifests that go had listed
// is looked at. Whatever is to be deleted was listed before this looks whether the store is ours.
static void clean(struct weir_janitor *janitor, int64_t number, const struct weir_attempt *attempt,
                  bool at_start, const char *const *found, uint32_t found_count)
{
    struct weir_arena *arena = weir_arena_create(16 << 10);
    uint32_t count = janitor->known_count;
    struct weir_store_entry *entries = weir_arena_alloc(arena, count * sizeof *entries);
    bool *is_deleted = weir_arena_alloc_zero(arena, count * sizeof *is_deleted);
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = janitor->known[i].entry;
    }
    weir_retention_select(entries, count, number, attempt, janitor->config.retained,
                          weir_wall_ms(janitor->config.clock), YOUNG_MS, at_start, is_deleted);
    bool has_any = at_start;
    for (uint32_t i = 0; i < count; i++) {
        is_deleted[i] = is_deleted[i] && janitor->known[i].pin_count == 0;
        has_any = has_any || is_deleted[i];
    }
    if (has_any && is_ours(janitor)) {
        weir_failpoint("committer.before_delete");
        for (uint32_t i = 0; i < count; i++) {
            if (is_deleted[i]) {
                weir_store_delete_manifest(janitor->config.store, &entries[i]);
            }
        }
        const struct weir_state_files *files = janitor->config.files;
        const char *folder = weir_store_path(janitor->config.store);
        const char **candidates;
        uint32_t candidate_count;
        struct weir_state_handle *kept;
        uint32_t kept_count;
        collect(janitor, is_deleted, arena, &candidates, &candidate_count, &kept, &kept_count);
        if (files != NULL && at_start) {
            files->remove(files, folder, found_count, found, kept_count, kept);
        } else if (files != NULL && candidate_count > 0) {
            files->remove(files, folder, candidate_count, candidates, kept_count, kept);
        }
        forget(janitor, is_deleted);
    }
    weir_arena_destroy(arena);
}

// Everything that the store holds; names of state files go to the arena. A manifest that cannot be
// read could list any file: then nothing found is removed in this life. False: so it is.
static bool read_store(struct weir_janitor *janitor, struct weir_arena *arena, const char ***found,
                       uint32_t *found_count)
{
    const struct weir_state_files *files = janitor->config.files;
    struct weir_store_entry *entries;
    uint32_t count;
    struct weir_error error;
    *found = NULL;
    *found_count = 0;
    bool is_whole =
        weir_store_list(janitor->config.store, arena, &entries, &count, &error) == WEIR_OK &&
        (files == NULL || files->list(files, weir_store_path(janitor->config.store), arena, found,
                                      found_count, &error) == WEIR_OK);
    for (uint32_t i = 0; is_whole && i < count; i++) {
        struct weir_manifest manifest;
        bool is_missing;
        if (weir_store_read_manifest(janitor->config.store, entries[i].number, &entries[i].attempt,
                                     arena, &manifest, &is_missing, &error) != WEIR_OK) {
            is_whole = false;
        } else {
            add(janitor, &entries[i], &manifest);
        }
    }
    if (!is_whole) {
        weir_log(WEIR_LOG_WARN,
                 "%s; nothing is removed from the store that this attempt did not write",
                 error.text);
    }
    return is_whole;
}

struct weir_janitor *weir_janitor_create(const struct weir_janitor_config *config, int64_t number,
                                         const struct weir_attempt *attempt)
{
    struct weir_janitor *janitor = weir_alloc_zero(sizeof *janitor);
    janitor->config = *config;
    struct weir_arena *arena = weir_arena_create(64 << 10);
    const char **found;
    uint32_t found_count;
    if (read_store(janitor, arena, &found, &found_count)) {
        clean(janitor, number, attempt, true, found, found_count);
    }
    weir_arena_destroy(arena);
    return janitor;
}

void weir_janitor_clean(struct weir_janitor *janitor, int64_t number)
{
    clean(janitor, number, &janitor->config.owner, false, NULL, 0);
}

void weir_janitor_destroy(struct weir_janitor *janitor)
{
    if (janitor == NULL) {
        return;
    }
    for (uint32_t i = 0; i < janitor->known_count; i++) {
        known_deinit(&janitor->known[i]);
    }
    free(janitor->known);
    free(janitor);
}
