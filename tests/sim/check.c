// SPDX-License-Identifier: Apache-2.0
// See check.h.
#include "tests/sim/check.h"

#include "kafka/pointer.h"
#include "runtime/base/memory.h"
#include "runtime/manifest.h"
#include "tests/sim/disk.h"
#include "tests/sim/fiber.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum { PATH_BYTES_MAX = 4096 };

static const char *folder;
static struct sim_positions positions;
static uint32_t commit_count;
static int64_t last_number = -1;
static uint32_t resets_allowed;
static uint32_t reset_count;

// What the pointer needs: its manifest's name and the names of the files.
static struct {
    char manifest[128];
    char **files;
    uint32_t file_count;
} needed;

struct commit {
    struct weir_pointer pointer;
    uint32_t offset_count;
};

static void path_of(const char *name, char path[PATH_BYTES_MAX])
{
    snprintf(path, PATH_BYTES_MAX, "%s/%s", folder, name);
}

static void take_offset(void *context, const struct sim_offset *offset)
{
    struct commit *commit = context;
    struct weir_committed committed = {.has_offset = true, .offset = offset->offset};
    snprintf(committed.metadata, sizeof committed.metadata, "%s", offset->metadata);
    if (weir_pointer_parse(&committed, &commit->pointer) != WEIR_POINTER_PRESENT) {
        sim_violation("an offset is committed with \"%s\", which is no pointer", offset->metadata);
    }
    commit->offset_count++;
    while (positions.count <= (uint32_t)offset->partition) {
        positions.offsets[positions.count++] = 0;
    }
    positions.offsets[offset->partition] = offset->offset;
}

static void check_file(const struct weir_state_file *file)
{
    char path[PATH_BYTES_MAX];
    struct weir_view content;
    path_of(file->name, path);
    if (!sim_disk_durable(path, &content)) {
        sim_violation("a checkpoint is committed, but %s, which it lists, is not durable",
                      file->name);
    }
    if (content.size_bytes != file->size_bytes ||
        XXH3_64bits(content.data, content.size_bytes) != file->xxh3) {
        sim_violation("a checkpoint is committed, but what is durable of %s is not what it lists",
                      file->name);
    }
}

static void need(const struct weir_manifest *manifest, const char *name)
{
    for (uint32_t i = 0; i < needed.file_count; i++) {
        free(needed.files[i]);
    }
    needed.file_count = 0;
    snprintf(needed.manifest, sizeof needed.manifest, "%s", name);
    for (uint32_t i = 0; i < manifest->state_count; i++) {
        for (uint32_t j = 0; j < manifest->states[i].file_count; j++) {
            check_file(&manifest->states[i].files[j]);
            needed.files =
                weir_realloc(needed.files, (needed.file_count + 1) * sizeof *needed.files);
            needed.files[needed.file_count++] = weir_strdup(manifest->states[i].files[j].name);
        }
    }
}

static void check_manifest(const struct weir_pointer *pointer)
{
    char name[128];
    char path[PATH_BYTES_MAX];
    struct weir_view content;
    struct weir_manifest manifest;
    struct weir_error error;
    snprintf(name, sizeof name, "manifest-%020" PRId64 "-%s.json", pointer->number,
             pointer->manifest_attempt.text);
    path_of(name, path);
    if (!sim_disk_durable(path, &content)) {
        sim_violation("checkpoint %" PRId64 " is committed, but its manifest is not durable",
                      pointer->number);
    }
    struct weir_arena *arena = weir_arena_create(16 << 10);
    if (weir_manifest_decode(name, content, arena, &manifest, &error) != WEIR_OK) {
        sim_violation("checkpoint %" PRId64 " is committed, but of its manifest is durable only "
                      "what cannot be read: %s",
                      pointer->number, error.text);
    }
    for (uint32_t i = 0; i < manifest.position_count; i++) {
        const struct weir_position_entry *entry = &manifest.positions[i].entry;
        if ((uint32_t)entry->partition >= positions.count ||
            positions.offsets[entry->partition] != entry->offset) {
            sim_violation("checkpoint %" PRId64 ": partition %" PRId32 " is at %" PRId64
                          " in the manifest, at %" PRId64 " in the commit",
                          pointer->number, entry->partition, entry->offset,
                          (uint32_t)entry->partition < positions.count
                              ? positions.offsets[entry->partition]
                              : -1);
        }
    }
    if (strcmp(manifest.kind, "start") == 0 && last_number >= 0 && pointer->number > last_number) {
        if (reset_count++ == resets_allowed) {
            sim_violation("the job begins anew with checkpoint %" PRId64 ", which nobody has asked "
                          "for, or not once more",
                          pointer->number);
        }
        sim_trace("the job begins anew");
        sim_job_reset();
    }
    need(&manifest, name);
    weir_arena_destroy(arena);
}

static void take_rows(int64_t producer_id)
{
    static const char *const topics[] = {"every", "third", "counts", "windows"};
    for (size_t t = 0; t < sizeof topics / sizeof topics[0]; t++) {
        const struct sim_topic *topic = sim_topic_find(topics[t]);
        for (uint32_t p = 0; topic != NULL && p < topic->partition_count; p++) {
            const struct sim_partition *partition = &topic->partitions[p];
            for (uint32_t i = sim_partition_stable(partition); i < partition->count; i++) {
                const struct sim_record *record = &partition->records[i];
                if (record->producer_id != producer_id || record->state != SIM_RECORD_OPEN) {
                    continue;
                }
                const char *wrong = sim_job_take(topic->name, record);
                if (wrong != NULL) {
                    sim_violation("%s", wrong);
                }
            }
        }
    }
}

static void on_decided(const char *id, int64_t producer_id)
{
    struct commit commit = {0};
    sim_group_each_pending(producer_id, take_offset, &commit);
    if (commit.offset_count > 0) {
        commit_count++;
        sim_trace("decided: checkpoint %" PRId64 " of %s by %s", commit.pointer.number,
                  commit.pointer.manifest_attempt.text, commit.pointer.owner_attempt.text);
        if (commit.pointer.number < last_number) {
            sim_violation("the pointer goes back from checkpoint %" PRId64 " to %" PRId64,
                          last_number, commit.pointer.number);
        }
        check_manifest(&commit.pointer);
        last_number = commit.pointer.number;
    }
    take_rows(producer_id);
    const char *wrong = sim_job_compare(&positions);
    if (wrong != NULL) {
        sim_violation("%s%s%s", commit.offset_count > 0 ? "" : id,
                      commit.offset_count > 0 ? "" : " commits rows without positions: ", wrong);
    }
}

static void on_removed(const char *path)
{
    size_t size = strlen(folder);
    if (strncmp(path, folder, size) != 0 || path[size] != '/') {
        return;
    }
    const char *name = path + size + 1;
    bool is_needed = strcmp(name, needed.manifest) == 0;
    for (uint32_t i = 0; i < needed.file_count; i++) {
        is_needed = is_needed || strcmp(name, needed.files[i]) == 0;
    }
    if (is_needed) {
        sim_violation("%s is removed, which the committed checkpoint %" PRId64 " needs", name,
                      last_number);
    }
}

void sim_check_allow_reset(void)
{
    resets_allowed++;
}

bool sim_check_has_reset(void)
{
    return reset_count > 0;
}

void sim_check_start(const char *store_folder)
{
    folder = store_folder;
    sim_broker_watch(on_decided);
    sim_disk_watch_removals(on_removed);
}

const struct sim_positions *sim_check_positions(void)
{
    return &positions;
}

uint32_t sim_check_commit_count(void)
{
    return commit_count;
}

// --- the end -----------------------------------------------------------------------------------

struct listing {
    struct weir_arena *arena;
    const char *name; // is looked for
    bool is_listed;
};

static void look_into(void *context, const char *name)
{
    struct listing *listing = context;
    char path[PATH_BYTES_MAX];
    struct weir_view content;
    struct weir_manifest manifest;
    struct weir_error error;
    path_of(name, path);
    if (strncmp(name, "manifest-", 9) != 0 || !sim_disk_current(path, &content)) {
        return;
    }
    if (weir_manifest_decode(name, content, listing->arena, &manifest, &error) != WEIR_OK) {
        sim_violation("at the end %s cannot be read: %s", name, error.text);
    }
    for (uint32_t i = 0; i < manifest.state_count; i++) {
        for (uint32_t j = 0; j < manifest.states[i].file_count; j++) {
            listing->is_listed =
                listing->is_listed || strcmp(manifest.states[i].files[j].name, listing->name) == 0;
        }
    }
}

// What the last owner has written and not yet listed is the next one's to remove.
static bool is_of_owner(const char *name)
{
    char path[PATH_BYTES_MAX];
    struct weir_view owner;
    path_of("owner", path);
    return sim_disk_current(path, &owner) &&
           memmem(name, strlen(name), owner.data, owner.size_bytes) != NULL;
}

static void check_not_leaked(void *context, const char *name)
{
    if (strncmp(name, "manifest-", 9) == 0 || strcmp(name, "owner") == 0 || is_of_owner(name)) {
        return;
    }
    struct listing listing = {.arena = context, .name = name};
    sim_disk_each(folder, look_into, &listing);
    if (!listing.is_listed) {
        sim_violation("at the end the store holds %s, which no manifest lists", name);
    }
}

void sim_check_end(void)
{
    struct weir_arena *arena = weir_arena_create(64 << 10);
    sim_disk_each(folder, check_not_leaked, arena);
    weir_arena_destroy(arena);
    const char *wrong = sim_job_compare(&positions);
    wrong = wrong == NULL ? sim_job_compare_end(&positions) : wrong;
    if (wrong != NULL) {
        sim_violation("at the end: %s", wrong);
    }
}
