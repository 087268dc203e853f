// SPDX-License-Identifier: Apache-2.0
// Watches what can change around a running job: partitions of source topics that appear (the job is
// built anew after a final checkpoint), topics that were deleted or made anew (the job ends), a
// newer owner (a quiet job sends nothing that could be fenced), a wall clock that is set back (the
// client's threads would wait for as long). What brokers answer, or that none does, is told to the
// watch. Thread: its own.
#ifndef WEIR_APP_DISCOVERY_H
#define WEIR_APP_DISCOVERY_H

#include "app/progress.h"
#include "runtime/store.h"

struct weir_discovery;

struct weir_discovery_config {
    struct weir_kafka *kafka;
    struct weir_store *store;
    struct weir_attempt attempt; // of this owner
    const struct weir_topics *topics;
    const struct weir_job_tasks *tasks;
    struct weir_watch *watch;       // told what brokers answer
    struct weir_progress *progress; // looked at after each round of questions
    const struct weir_clock *clock;
    struct weir_mailbox *coordinator;
};

struct weir_discovery *weir_discovery_start(const struct weir_discovery_config *config);
void weir_discovery_stop(struct weir_discovery *discovery); // blocks for one question at most

#endif
