// SPDX-License-Identifier: Apache-2.0
// Requests to the weir that runs with the same configuration, for commands that show what it says
// or make it do something. Thread: main.
#ifndef WEIR_APP_JOB_ASK_H
#define WEIR_APP_JOB_ASK_H

#include "app/command.h"
#include "app/http/client.h"

// The URL of the weir that listens on WEIR_HTTP_LISTEN of this environment, without a path. False:
// there is none, and cli->err says why.
bool weir_job_url(const struct weir_cli *cli, char *url, size_t url_bytes);

// What it says at that path of the URL, with any status. Blocks for 5 s at most. False: nobody
// answers, and cli->err says so.
bool weir_job_get(const struct weir_cli *cli, const char *url, const char *path,
                  struct weir_http_answer *answer);

// Posts the body (JSON) to the path of WEIR_HTTP_LISTEN of this environment, with WEIR_HTTP_TOKEN,
// and prints the answer. `failure` says what was not done if it is a refusal. Returns the exit
// code. Blocks until the job has answered.
int weir_job_ask(const struct weir_cli *cli, const char *path, const char *body,
                 const char *failure);

#endif
