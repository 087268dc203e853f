// SPDX-License-Identifier: Apache-2.0
// Whether a job can be run as far as that can be said without a broker: its SQL, and how it fits
// its configuration. Thread: one at a time per process (libpg_query).
#ifndef WEIR_APP_JOB_CHECK_H
#define WEIR_APP_JOB_CHECK_H

#include "app/config.h"
#include "app/fault_list.h"

// Plans config->sql_text, which must be there. Adds one fault a mistake. Returns the plan, in the
// arena, or NULL when the SQL has faults. The plan is for looking at, not for running: secrets
// inside the text are blanked, so that no message quotes one.
const struct weir_plan *weir_job_plan(const struct weir_config *config, struct weir_arena *arena,
                                      struct weir_fault_list *faults);

// The same, and what weir_plan_check finds.
const struct weir_plan *weir_job_check(const struct weir_config *config, struct weir_arena *arena,
                                       struct weir_fault_list *faults);

// What a plan and a configuration must agree on: dead letters have a topic, and one that the job
// does not also read.
void weir_plan_check(const struct weir_plan *plan, const struct weir_config *config,
                     struct weir_fault_list *faults);

#endif
