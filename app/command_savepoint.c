// SPDX-License-Identifier: Apache-2.0
// `weir savepoint PATH`: asks the weir that runs with the same configuration, over HTTP, and waits
// until the savepoint is committed and copied.
#include "app/exit_code.h"
#include "app/http/http.h"
#include "app/job_ask.h"

#include <stdio.h>

enum { OPTION_STOP = 1, OPTION_DRAIN = 2 };

static const char *request_body(const char *path, uint32_t options, struct weir_buffer *out)
{
    bool is_last = (options & (OPTION_STOP | OPTION_DRAIN)) != 0;
    weir_buffer_printf(out, "{\"path\": ");
    weir_http_append_json_text(out, path);
    weir_buffer_printf(out, ", \"stop\": %s, \"drain\": %s}", is_last ? "true" : "false",
                       (options & OPTION_DRAIN) != 0 ? "true" : "false");
    return weir_buffer_text(out);
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    if (line->argument_count != 1) {
        fprintf(cli->err, "weir: savepoint takes the folder to be written (weir savepoint "
                          "--help)\n");
        return WEIR_EXIT_REFUSED;
    }
    struct weir_buffer body = {0};
    int exit_code = weir_job_ask(cli, "/api/v1/savepoints",
                                 request_body(line->arguments[0], line->options, &body),
                                 "no savepoint was made");
    weir_buffer_deinit(&body);
    return exit_code;
}

const struct weir_command weir_savepoint_command = {
    .name = "savepoint",
    .summary = "copy a committed checkpoint of the running job to a folder",
    .arguments = "PATH",
    .argument_count_max = 1,
    .help =
        "Asks the weir that runs with the same configuration (WEIR_HTTP_LISTEN,\n"
        "WEIR_HTTP_TOKEN) for a checkpoint, waits until it is committed and copied to PATH, an\n"
        "absolute path on its side: a folder that is empty or does not exist. The folder needs\n"
        "nothing else and can be moved; WEIR_RESTORE=savepoint:PATH goes on from it.\n",
    .options = {{"--stop", "the job ends with it", NULL},
                {"--drain",
                 "time is advanced to the end first, so that open windows close; then "
                 "the job ends",
                 NULL}},
    .run = run,
};
