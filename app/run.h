// SPDX-License-Identifier: Apache-2.0
// `weir run`: the job from its start to its end.
#ifndef WEIR_APP_RUN_H
#define WEIR_APP_RUN_H

struct weir_config;

// Runs the job until it ends, is stopped or fails; returns the exit code (app/exit_code.h). The
// configuration has been loaded without a fault, the log is open, failpoints are set. Blocks.
int weir_command_run(const struct weir_config *config);

#endif
