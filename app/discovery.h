// SPDX-License-Identifier: Apache-2.0
// Watches the source topics while the job runs: partitions that appear (the job is built anew after
// a final checkpoint), topics that were deleted or made anew (the job ends). Thread: its own.
#ifndef WEIR_APP_DISCOVERY_H
#define WEIR_APP_DISCOVERY_H

#include "app/job_build.h"

struct weir_discovery;

struct weir_discovery *weir_discovery_start(struct weir_kafka *kafka,
                                            const struct weir_topics *topics,
                                            const struct weir_job_tasks *tasks,
                                            struct weir_mailbox *coordinator);
void weir_discovery_stop(struct weir_discovery *discovery); // blocks for one question at most

#endif
