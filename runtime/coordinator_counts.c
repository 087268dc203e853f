// SPDX-License-Identifier: Apache-2.0
// What the coordinator counts: acknowledgements and refused triggers, in the metrics of the
// process. Nothing is decided by it. Thread: the coordinator's.
#include "runtime/base/metrics.h"
#include "runtime/coordinator_internal.h"

static_assert(WEIR_TRIGGER_REFUSAL_COUNT <= 32, "a bit each in refused_reasons");

void weir_coordinator_open_counts(struct weir_coordinator *coordinator)
{
    for (int i = 0; i < WEIR_ACKNOWLEDGEMENT_COUNT; i++) {
        coordinator->acknowledgements[i] = weir_metric_open(
            WEIR_METRIC_CHECKPOINT_ACKNOWLEDGEMENTS,
            WEIR_METRIC_LABELS(weir_acknowledgement_name((enum weir_acknowledgement)i)));
    }
    for (int i = WEIR_TRIGGER_ALLOWED + 1; i < WEIR_TRIGGER_REFUSAL_COUNT; i++) {
        coordinator->refusals[i] = weir_metric_open(
            WEIR_METRIC_CHECKPOINT_REFUSALS,
            WEIR_METRIC_LABELS(weir_trigger_refusal_name((enum weir_trigger_refusal)i)));
    }
}

void weir_coordinator_close_counts(struct weir_coordinator *coordinator)
{
    for (int i = 0; i < WEIR_ACKNOWLEDGEMENT_COUNT; i++) {
        weir_metric_close(coordinator->acknowledgements[i]);
    }
    for (int i = 0; i < WEIR_TRIGGER_REFUSAL_COUNT; i++) {
        weir_metric_close(coordinator->refusals[i]);
    }
}

void weir_coordinator_count_refusal(struct weir_coordinator *coordinator,
                                    enum weir_trigger_refusal refusal)
{
    if (refusal == WEIR_TRIGGER_ALLOWED) {
        coordinator->refused_reasons = 0;
        return;
    }
    uint32_t bit = 1U << refusal;
    if ((coordinator->refused_reasons & bit) == 0) {
        coordinator->refused_reasons |= bit;
        weir_metric_add(coordinator->refusals[refusal], 1);
    }
}

uint64_t weir_coordinator_acknowledgement_count(const struct weir_coordinator *coordinator,
                                                enum weir_acknowledgement acknowledgement)
{
    return weir_metric_count(coordinator->acknowledgements[acknowledgement]);
}

uint64_t weir_coordinator_refusal_count(const struct weir_coordinator *coordinator,
                                        enum weir_trigger_refusal refusal)
{
    return refusal == WEIR_TRIGGER_ALLOWED ? 0 : weir_metric_count(coordinator->refusals[refusal]);
}
