// SPDX-License-Identifier: Apache-2.0
// A request to the weir that runs with the same configuration, for commands that make it do
// something. Thread: main. Blocks until the job has answered.
#ifndef WEIR_APP_JOB_ASK_H
#define WEIR_APP_JOB_ASK_H

#include "app/command.h"
#include "runtime/base/memory.h"

// Posts the body (JSON) to the path of WEIR_HTTP_LISTEN of this environment, with WEIR_HTTP_TOKEN,
// and prints the answer. `failure` says what was not done if it is a refusal. Returns the exit
// code.
int weir_job_ask(const struct weir_cli *cli, const char *path, const char *body,
                 const char *failure);

#endif
