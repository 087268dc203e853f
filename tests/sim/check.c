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

enum { NAME_BYTES_MAX = 128, PATH_BYTES_MAX = 4096 };

static const char *folder;
static struct sim_positions positions;
static uint32_t commit_count;
static int64_t last_number = -1;
static uint32_t owner_count;
static bool may_drain;
static uint32_t rewinds_allowed;
static bool is_broken; // the input was made anew
static bool is_broken_at_rest;

// What WEIR_RESTORE has said so far.
struct order {
    char *text;
    const struct sim_checkpoint *savepoint; // NULL: anew
    bool is_obeyed;
};
static struct order *orders;
static uint32_t order_count;

static struct sim_checkpoint *kept; // that a savepoint may be of
static uint32_t kept_count;

// What the pointer needs: its manifest's name and the names of the files.
static struct {
    char manifest[NAME_BYTES_MAX];
    char **files;
    uint32_t file_count;
} needed;

struct commit {
    struct weir_pointer pointer;
    uint32_t offset_count;
};

static void path_in(const char *parent, const char *name, char path[PATH_BYTES_MAX])
{
    snprintf(path, PATH_BYTES_MAX, "%s/%s", parent, name);
}

static void path_of(const char *name, char path[PATH_BYTES_MAX])
{
    path_in(folder, name, path);
}

static void manifest_of(const struct weir_pointer *pointer, char name[NAME_BYTES_MAX],
                        char path[PATH_BYTES_MAX])
{
    snprintf(name, NAME_BYTES_MAX, "manifest-%020" PRId64 "-%s.json", pointer->number,
             pointer->manifest_attempt.text);
    path_of(name, path);
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

static void check_file(const char *parent, const struct weir_state_file *file)
{
    char path[PATH_BYTES_MAX];
    struct weir_view content;
    path_in(parent, file->name, path);
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
            check_file(folder, &manifest->states[i].files[j]);
            needed.files =
                weir_realloc(needed.files, (needed.file_count + 1) * sizeof *needed.files);
            needed.files[needed.file_count++] = weir_strdup(manifest->states[i].files[j].name);
        }
    }
}

static void begin_anew(const struct order *order)
{
    const struct sim_positions *expected =
        order->savepoint != NULL ? &order->savepoint->positions : NULL;
    for (uint32_t p = 0; expected != NULL && p < positions.count; p++) {
        if (positions.offsets[p] != sim_position(expected, p)) {
            sim_violation("%s: partition %u begins at %" PRId64 ", the savepoint is at %" PRId64,
                          order->text, p, positions.offsets[p], sim_position(expected, p));
        }
    }
    sim_trace("the job begins anew: %s", order->text);
    sim_job_restore(order->savepoint != NULL ? order->savepoint->expectation : NULL);
}

// A checkpoint that an owner begins with and that is not the last one: somebody has asked for it.
static void note_start(const struct weir_manifest *manifest)
{
    bool is_start = strcmp(manifest->kind, "start") == 0;
    bool is_reset = strcmp(manifest->kind, "reset") == 0;
    if (manifest->number == last_number || (!is_start && !is_reset)) {
        return;
    }
    if (is_reset) {
        if (rewinds_allowed-- == 0) {
            sim_violation("positions are reset with checkpoint %" PRId64 ", more often than asked "
                          "for",
                          manifest->number);
        }
        sim_trace("positions are reset");
        sim_job_rewind(&positions);
        return;
    }
    for (uint32_t i = 0; i < order_count; i++) {
        if (strcmp(orders[i].text, manifest->restore) == 0 && !orders[i].is_obeyed) {
            orders[i].is_obeyed = true;
            begin_anew(&orders[i]);
            return;
        }
    }
    if (last_number >= 0) {
        sim_violation("the job begins anew with checkpoint %" PRId64 " (%s), which nobody has "
                      "asked for, or not once more",
                      manifest->number, manifest->restore);
    }
}

static void check_manifest(const struct weir_pointer *pointer, bool *is_final, bool *is_kept)
{
    char name[NAME_BYTES_MAX];
    char path[PATH_BYTES_MAX];
    struct weir_view content;
    struct weir_manifest manifest;
    struct weir_error error;
    manifest_of(pointer, name, path);
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
    note_start(&manifest);
    *is_final = strcmp(manifest.kind, "final") == 0;
    *is_kept = *is_final || strcmp(manifest.kind, "savepoint") == 0;
    need(&manifest, name);
    weir_arena_destroy(arena);
}

static void take_row(const struct sim_topic *topic, const struct sim_record *record)
{
    const char *wrong = sim_job_take(topic->name, record);
    if (wrong != NULL) {
        sim_violation("%s", wrong);
    }
}

// At least once: those in no transaction, which count from when they were written.
static void take_plain_rows(const struct sim_topic *topic, uint32_t seen_counts[])
{
    for (uint32_t p = 0; p < topic->partition_count; p++) {
        const struct sim_partition *partition = &topic->partitions[p];
        for (; seen_counts[p] < partition->count; seen_counts[p]++) {
            const struct sim_record *record = &partition->records[seen_counts[p]];
            if (record->is_plain) {
                take_row(topic, record);
            }
        }
    }
}

static void take_rows(int64_t producer_id)
{
    static uint32_t seen_counts[SIM_OUTPUTS_MAX][SIM_PARTITIONS_MAX];
    const char *const *outputs = sim_job_outputs();
    for (size_t t = 0; outputs[t] != NULL; t++) {
        const struct sim_topic *topic = sim_topic_find(outputs[t]);
        take_plain_rows(topic, seen_counts[t]);
        for (uint32_t p = 0; p < topic->partition_count; p++) {
            const struct sim_partition *partition = &topic->partitions[p];
            for (uint32_t i = sim_partition_stable(partition); i < partition->count; i++) {
                const struct sim_record *record = &partition->records[i];
                if (record->producer_id == producer_id && record->state == SIM_RECORD_OPEN) {
                    take_row(topic, record);
                }
            }
        }
    }
}

static struct weir_attempt *owners; // the last one is
static bool is_former(const struct weir_attempt *attempt)
{
    for (uint32_t i = 0; i < owner_count; i++) {
        if (weir_attempt_equal(&owners[i], attempt)) {
            return true;
        }
    }
    return false;
}

// Who has been followed by another owner decides nothing any more.
static void check_owner(const struct weir_pointer *pointer)
{
    if (owner_count > 0 && weir_attempt_equal(&pointer->owner_attempt, &owners[owner_count - 1])) {
        return;
    }
    if (is_former(&pointer->owner_attempt)) {
        sim_violation("checkpoint %" PRId64 " is committed by attempt %s, which %s has "
                      "followed as owner",
                      pointer->number, pointer->owner_attempt.text, owners[owner_count - 1].text);
    }
    owners = weir_realloc(owners, (owner_count + 1) * sizeof *owners);
    owners[owner_count++] = pointer->owner_attempt;
}

static void keep(int64_t number)
{
    kept = weir_realloc(kept, (kept_count + 1) * sizeof *kept);
    kept[kept_count++] = (struct sim_checkpoint){
        .number = number, .positions = positions, .expectation = sim_job_save()};
}

// Is it a beginning that was asked for? What others still commit on an input that is gone does not
// matter; but who comes then must not go on.
static bool is_mended(const struct weir_pointer *pointer)
{
    char name[NAME_BYTES_MAX];
    char path[PATH_BYTES_MAX];
    struct weir_view content;
    struct weir_manifest manifest;
    struct weir_error error;
    struct weir_arena *arena = weir_arena_create(16 << 10);
    manifest_of(pointer, name, path);
    bool is_start = sim_disk_current(path, &content) &&
                    weir_manifest_decode(name, content, arena, &manifest, &error) == WEIR_OK &&
                    strcmp(manifest.kind, "start") == 0 && pointer->number > last_number;
    // One that had asked about the topic before it was made anew knows the old one.
    for (uint32_t i = 0; is_start && i < manifest.position_count; i++) {
        is_start = strcmp(manifest.positions[i].topic_id, sim_job_input()->topic_id) == 0;
    }
    weir_arena_destroy(arena);
    if (!is_start && is_broken_at_rest && !is_former(&pointer->owner_attempt)) {
        sim_violation("the input was made anew, and checkpoint %" PRId64 " is gone on from",
                      pointer->number);
    }
    is_broken = !is_start;
    return is_start;
}

static void on_decided(const char *id, int64_t producer_id)
{
    struct commit commit = {0};
    bool is_final = false;
    bool is_kept = false;
    if (is_broken) {
        positions.count = 0;
    }
    sim_group_each_pending(producer_id, take_offset, &commit);
    if (is_broken && (commit.offset_count == 0 || !is_mended(&commit.pointer))) {
        positions.count = 0;
        return;
    }
    if (commit.offset_count > 0) {
        commit_count++;
        sim_trace("decided: checkpoint %" PRId64 " of %s by %s", commit.pointer.number,
                  commit.pointer.manifest_attempt.text, commit.pointer.owner_attempt.text);
        if (commit.pointer.number < last_number) {
            sim_violation("the pointer goes back from checkpoint %" PRId64 " to %" PRId64,
                          last_number, commit.pointer.number);
        }
        check_owner(&commit.pointer);
        check_manifest(&commit.pointer, &is_final, &is_kept);
        last_number = commit.pointer.number;
    }
    take_rows(producer_id);
    const char *wrong = sim_job_compare(&positions, is_final && may_drain);
    if (wrong != NULL) {
        sim_violation("%s%s%s", commit.offset_count > 0 ? "" : id,
                      commit.offset_count > 0 ? "" : " commits rows without positions: ", wrong);
    }
    if (is_kept) {
        keep(commit.pointer.number);
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
    if (is_needed && !is_broken) {
        sim_violation("%s is removed, which the committed checkpoint %" PRId64 " needs", name,
                      last_number);
    }
}

void sim_check_allow_order(const char *restore, const struct sim_checkpoint *savepoint)
{
    orders = weir_realloc(orders, (order_count + 1) * sizeof *orders);
    orders[order_count++] = (struct order){.text = weir_strdup(restore), .savepoint = savepoint};
}

bool sim_check_is_obeyed(const char *restore)
{
    for (uint32_t i = 0; i < order_count; i++) {
        if (strcmp(orders[i].text, restore) == 0) {
            return orders[i].is_obeyed;
        }
    }
    return false;
}

void sim_check_break(bool is_at_rest)
{
    is_broken = true;
    is_broken_at_rest = is_at_rest;
    positions.count = 0;
    for (uint32_t i = 0; i < order_count; i++) {
        orders[i].is_obeyed = false; // without a pointer the operator's word counts again
    }
}

bool sim_check_is_broken(void)
{
    return is_broken;
}

void sim_check_allow_rewind(void)
{
    rewinds_allowed++;
}

void sim_check_allow_drain(void)
{
    may_drain = true;
}

uint32_t sim_check_owner_count(void)
{
    return owner_count;
}

const struct sim_checkpoint *sim_check_savepoint(const char *path, int64_t number)
{
    const struct sim_checkpoint *found = NULL;
    for (uint32_t i = 0; i < kept_count; i++) {
        found = kept[i].number == number ? &kept[i] : found;
    }
    if (found == NULL) {
        sim_violation("savepoint %s is said to be of checkpoint %" PRId64 ", which was not "
                      "committed for one",
                      path, number);
    }
    struct weir_view content;
    struct weir_manifest manifest;
    struct weir_error error;
    char name[PATH_BYTES_MAX];
    snprintf(name, sizeof name, "%s/savepoint.json", path);
    struct weir_arena *arena = weir_arena_create(16 << 10);
    if (!sim_disk_durable(name, &content) ||
        weir_manifest_decode(name, content, arena, &manifest, &error) != WEIR_OK ||
        manifest.number != number) {
        sim_violation("savepoint %s is said to be complete, but is not durable", path);
    }
    for (uint32_t i = 0; i < manifest.state_count; i++) {
        for (uint32_t j = 0; j < manifest.states[i].file_count; j++) {
            check_file(path, &manifest.states[i].files[j]);
        }
    }
    weir_arena_destroy(arena);
    struct sim_checkpoint *copy = weir_alloc(sizeof *copy); // the list moves
    *copy = *found;
    return copy;
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
    const char *wrong = sim_job_compare(&positions, true);
    wrong = wrong == NULL ? sim_job_compare_end(&positions) : wrong;
    if (wrong != NULL) {
        sim_violation("at the end: %s", wrong);
    }
}
