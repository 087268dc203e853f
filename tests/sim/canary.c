// SPDX-License-Identifier: Apache-2.0
// See canary.h: where each rule is broken. Those of the client are in client.c.
#include "tests/sim/canary.h"

#include "kafka/janitor.h"
#include "runtime/base/failpoint.h"
#include "tests/sim/fiber.h"
#include "tests/sim/wrap.h"

#include <string.h>

static enum sim_canary chosen;

static const char *const names[SIM_CANARY_COUNT] = {
    [SIM_CANARY_NONE] = "none",
    [SIM_CANARY_OFFSETS_BEFORE_FENCING] = "offsets-before-fencing",
    [SIM_CANARY_ANY_PRODUCER] = "any-producer",
    [SIM_CANARY_KEPT_HANDLE] = "kept-handle",
    [SIM_CANARY_NO_CLAIM] = "no-claim",
    [SIM_CANARY_EARLY_ROW] = "early-row",
    [SIM_CANARY_DIRTY_EVICTED] = "dirty-evicted",
    [SIM_CANARY_LIVE_TRUSTED] = "live-trusted",
    [SIM_CANARY_RETENTION_SHORT] = "retention-short",
    [SIM_CANARY_NO_WATERMARK] = "no-watermark",
    [SIM_CANARY_MANIFEST_LATE] = "manifest-late",
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
    if (!sim_canary_is(SIM_CANARY_NO_CLAIM)) {
        return __real_weir_claim(config, manifest, error);
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

void __wrap_weir_snapshot_add_position(struct weir_snapshot *snapshot,
                                       const struct weir_position_entry *entry)
{
    struct weir_position_entry changed = *entry;
    if (sim_canary_is(SIM_CANARY_NO_WATERMARK)) {
        changed.event_time_us = INT64_MIN;
    }
    __real_weir_snapshot_add_position(snapshot, &changed);
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

enum weir_status __wrap_weir_folder_remake(const char *path, struct weir_error *error)
{
    struct stat info;
    char inside[4096];
    snprintf(inside, sizeof inside, "%s/CURRENT", path);
    size_t size = strlen(path);
    bool is_live = size > 5 && strcmp(path + size - 5, "/live") == 0;
    if (sim_canary_is(SIM_CANARY_LIVE_TRUSTED) && is_live && __wrap_stat(inside, &info) == 0) {
        return WEIR_OK;
    }
    return __real_weir_folder_remake(path, error);
}
