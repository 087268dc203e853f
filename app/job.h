// SPDX-License-Identifier: Apache-2.0
// One life of a job, from claim to outcome: the plan becomes tasks and operators, threads run them,
// the coordinator decides when it is over, and everything is taken down again.
#ifndef WEIR_APP_JOB_H
#define WEIR_APP_JOB_H

#include "app/recover.h"

struct weir_job;

// Builds all tasks; nothing runs yet. Takes over recovered->handles and the
// committer's janitor, also when it fails.
enum weir_status weir_job_create(struct weir_job_context *context,
                                 const struct weir_recovered *recovered, struct weir_job **job,
                                 struct weir_error *error);

// Runs until there is an outcome or a second stop request. Blocks.
void weir_job_run(struct weir_job *job, struct weir_outcome *outcome);

// Ends all threads, aborts what is open. Accepts NULL. Blocks for a moment.
void weir_job_destroy(struct weir_job *job);

// For the log at the end of a life: rows read and written, what was set aside and why.
void weir_job_log_totals(const struct weir_job *job);

#endif
