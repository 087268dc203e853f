// SPDX-License-Identifier: Apache-2.0
// `weir run`: the job from its start to its end.
#ifndef WEIR_APP_RUN_H
#define WEIR_APP_RUN_H

#include "app/recover.h"

// Runs the job until it ends, is stopped or fails; returns the exit code (app/exit_code.h). The
// configuration has been loaded without a fault, the log is open, failpoints are set. Blocks.
int weir_command_run(const struct weir_config *config);

// What a process needs before it can recover a job: the plan, the lock of the state directory (for
// which it waits at most so long), the store, the client. On success the caller ends with
// weir_job_release; *context is filled as far as it came in any case. Texts go to the arena.
enum weir_status weir_job_prepare(const struct weir_config *config, int64_t lock_timeout_ms,
                                  struct weir_arena *arena, struct weir_job_context *context,
                                  struct weir_error *error);
// The plan and the client alone, to look at what brokers have; else the same.
enum weir_status weir_job_connect(const struct weir_config *config, struct weir_arena *arena,
                                  struct weir_job_context *context, struct weir_error *error);
void weir_job_release(struct weir_job_context *context);

#endif
