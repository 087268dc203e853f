// SPDX-License-Identifier: Apache-2.0
// See canary.h: where each rule is broken. Those of the client are in client.c.
#include "tests/sim/canary.h"

#include "kafka/janitor.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/memory.h"
#include "tests/sim/fiber.h"
#include "tests/sim/random.h"
#include "tests/sim/wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum sim_canary chosen;

static const char *const names[SIM_CANARY_COUNT] = {
    [SIM_CANARY_NONE] = "none",
    [SIM_CANARY_OFFSETS_BEFORE_FENCING] = "offsets-before-fencing",
    [SIM_CANARY_OWN_PRODUCERS] = "own-producers",
    [SIM_CANARY_KEPT_HANDLE] = "kept-handle",
    [SIM_CANARY_NO_CLAIM] = "no-claim",
    [SIM_CANARY_CLAIM_BY_NUMBER] = "claim-by-number",
    [SIM_CANARY_HANDLE_TRUSTED] = "handle-trusted",
    [SIM_CANARY_EARLY_ROW] = "early-row",
    [SIM_CANARY_DIRTY_EVICTED] = "dirty-evicted",
    [SIM_CANARY_LIVE_TRUSTED] = "live-trusted",
    [SIM_CANARY_RETENTION_SHORT] = "retention-short",
    [SIM_CANARY_NO_WATERMARK] = "no-watermark",
    [SIM_CANARY_FOLDER_UNSYNCED] = "folder-unsynced",
    [SIM_CANARY_RESTORE_TWICE] = "restore-twice",
    [SIM_CANARY_UNCONVERTED] = "unconverted",
    [SIM_CANARY_SWEPT_EARLY] = "swept-early",
    [SIM_CANARY_SWEPT_UNSENT] = "swept-unsent",
    [SIM_CANARY_AGELESS] = "ageless",
    [SIM_CANARY_ROWS_FORGOTTEN] = "rows-forgotten",
};

void sim_canary_set(enum sim_canary canary)
{
    chosen = canary;
}

bool sim_canary_is(enum sim_canary canary)
{
    return chosen == canary;
}

const char *sim_canary_name(enum sim_canary canary)
{
    return names[canary];
}

enum sim_canary sim_canary_find(const char *name)
{
    for (int i = 0; i < SIM_CANARY_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum sim_canary)i;
        }
    }
    return SIM_CANARY_COUNT;
}

// Every named place of weir is one at which it can be killed, too.
bool __wrap_weir_failpoint_hit(const char *name)
{
    if (sim_fiber_current() == NULL) {
        return __real_weir_failpoint_hit(name);
    }
    static const struct {
        const char *name;
        enum sim_canary canary;
    } switches[] = {
        {"committer.trust_handle", SIM_CANARY_HANDLE_TRUSTED},
        {"handles.keep_used_up", SIM_CANARY_KEPT_HANDLE},
        {"writer.open_early", SIM_CANARY_EARLY_ROW},
        {"state.evict_dirty", SIM_CANARY_DIRTY_EVICTED},
    };
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(switches[i].name, name) == 0) {
            return sim_canary_is(switches[i].canary);
        }
    }
    sim_point(name);
    return false;
}

enum weir_status __wrap_weir_claim(struct weir_committer_config *config,
                                   const struct weir_manifest *manifest, struct weir_error *error)
{
    if (sim_canary_is(SIM_CANARY_CLAIM_BY_NUMBER)) {
        config->claim_epoch = manifest->number + 1;
    }
    if (!sim_canary_is(SIM_CANARY_NO_CLAIM)) {
        enum weir_status status = __real_weir_claim(config, manifest, error);
        if (sim_process_current() != NULL) {
            sim_process_current()->has_claimed |= status == WEIR_OK;
        }
        return status;
    }
    if (weir_store_set_owner(config->store, &config->attempt, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    const struct weir_janitor_config janitor = {.store = config->store,
                                                .clock = config->clock,
                                                .owner = config->attempt,
                                                .retained = config->retained,
                                                .files = config->files};
    config->janitor = weir_janitor_create(&janitor, manifest->number, &manifest->attempt);
    return WEIR_OK;
}

void __wrap_weir_manifest_encode(const struct weir_manifest *manifest, struct weir_buffer *out)
{
    struct weir_manifest changed = *manifest;
    if (sim_canary_is(SIM_CANARY_NO_WATERMARK)) {
        size_t size_bytes = manifest->position_count * sizeof *manifest->positions;
        struct weir_manifest_position *positions = weir_alloc(size_bytes);
        memcpy(positions, manifest->positions, size_bytes);
        for (uint32_t i = 0; i < manifest->position_count; i++) {
            positions[i].entry.event_time_us = INT64_MIN;
        }
        changed.positions = positions;
    }
    __real_weir_manifest_encode(&changed, out);
}

bool __wrap_weir_restore_is_due(const char *restore, const struct weir_manifest *pointed)
{
    return __real_weir_restore_is_due(restore,
                                      sim_canary_is(SIM_CANARY_RESTORE_TWICE) ? NULL : pointed);
}

// What the manifests say was obeyed is forgotten.
enum weir_status __wrap_weir_recovery_decide(const struct weir_found *found,
                                             struct weir_recovery *recovery,
                                             struct weir_partition_decision *decisions,
                                             struct weir_error *error)
{
    struct weir_found changed = *found;
    if (sim_canary_is(SIM_CANARY_RESTORE_TWICE) && found->manifest_count > 0) {
        struct weir_found_manifest *manifests =
            weir_alloc(found->manifest_count * sizeof *manifests);
        for (uint32_t i = 0; i < found->manifest_count; i++) {
            manifests[i] = found->manifests[i];
            if (manifests[i].manifest != NULL) {
                struct weir_manifest *manifest = weir_alloc(sizeof *manifest);
                *manifest = *manifests[i].manifest;
                manifest->restore = "auto";
                manifests[i].manifest = manifest;
            }
        }
        changed.manifests = manifests;
    }
    return __real_weir_recovery_decide(&changed, recovery, decisions, error);
}

void __wrap_weir_retention_select(const struct weir_store_entry *entries, uint32_t entry_count,
                                  int64_t number, const struct weir_attempt *attempt,
                                  uint32_t retained, int64_t now_ms, int64_t young_ms,
                                  bool at_start, bool *is_deleted)
{
    if (sim_canary_is(SIM_CANARY_RETENTION_SHORT) && !at_start) {
        number++;
        young_ms = 0;
    }
    __real_weir_retention_select(entries, entry_count, number, attempt, retained, now_ms, young_ms,
                                 at_start, is_deleted);
}

// The folder that RocksDB of a dead process has left is taken as it is.
static bool is_trusted(const char *folder, const char *below)
{
    struct stat info;
    char inside[4096];
    snprintf(inside, sizeof inside, "%s%s/CURRENT", folder, below);
    return sim_canary_is(SIM_CANARY_LIVE_TRUSTED) && __wrap_stat(inside, &info) == 0;
}

enum weir_status __wrap_weir_folder_remake(const char *path, struct weir_error *error)
{
    return is_trusted(path, "") || is_trusted(path, "/live")
               ? WEIR_OK
               : __real_weir_folder_remake(path, error);
}

enum weir_status __wrap_weir_file_link(const char *from_folder, const char *from_name,
                                       const char *to_folder, const char *to_name, bool is_copied,
                                       struct weir_error *error)
{
    return is_trusted(to_folder, "") ? WEIR_OK
                                     : __real_weir_file_link(from_folder, from_name, to_folder,
                                                             to_name, is_copied, error);
}

void __wrap_weir_state_ttl_sweep(struct weir_state_ttl *ttl, int64_t watermark_us,
                                 uint32_t count_max,
                                 void (*forget)(void *context, const struct weir_state_key *key),
                                 void *context)
{
    if (sim_canary_is(SIM_CANARY_SWEPT_UNSENT)) {
        static int64_t number;
        weir_state_ttl_barrier(ttl, ++number); // as if everything had been sent
    }
    bool is_early = sim_canary_is(SIM_CANARY_SWEPT_EARLY) && watermark_us != INT64_MIN &&
                    watermark_us != INT64_MAX;
    __real_weir_state_ttl_sweep(ttl, watermark_us + (is_early ? 20000000 : 0), count_max, forget,
                                context);
}

// A name that no other life finds again.
static const char *own_name(const char *name)
{
    char *own = weir_alloc(strlen(name) + 16);
    sprintf(own, "%s %u", name, sim_process_current()->id);
    return own;
}

struct weir_state_ttl *__wrap_weir_state_ttl_create(const struct weir_state_ttl_config *config)
{
    struct weir_state_ttl_config changed = *config;
    if (sim_canary_is(SIM_CANARY_AGELESS)) {
        changed.operator_id = own_name(config->operator_id);
    }
    return __real_weir_state_ttl_create(&changed);
}

struct weir_operator *__wrap_weir_normalize_create(const char *id, const char *name,
                                                   const struct weir_normalize_config *config)
{
    return __real_weir_normalize_create(
        sim_canary_is(SIM_CANARY_ROWS_FORGOTTEN) ? own_name(id) : id, name, config);
}

// Small, so that everything that happens to a state of many gigabytes happens to a few keys.
enum weir_status __wrap_weir_rocksdb_store_create(const struct weir_rocksdb_store_config *config,
                                                  struct weir_state_store **store,
                                                  struct weir_error *error)
{
    struct weir_rocksdb_store_config small = *config;
    small.materialise_log_count = 1 + sim_below(12);
    small.materialise_pause_ms = sim_spread(1, 5000);
    if (sim_canary_is(SIM_CANARY_UNCONVERTED)) {
        small.conversion_count = 0;
    }
    if (sim_one_in(2)) {
        small.budget_bytes = (size_t)sim_spread(1000, 100000);
    }
    if (sim_one_in(2)) {
        small.apply_bytes_min = (size_t)sim_spread(1, 4000);
    }
    if (sim_one_in(2)) {
        small.load_bytes_min = (uint64_t)sim_spread(1, 4000);
    }
    return __real_weir_rocksdb_store_create(&small, store, error);
}
