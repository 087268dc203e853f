// SPDX-License-Identifier: Apache-2.0
// `weir pause` and `weir resume`: ask the weir that runs with the same configuration, over HTTP, to
// read all, a table or one partition no more, or again.
#include "app/exit_code.h"
#include "app/http/http.h"
#include "app/job_ask.h"

#include <inttypes.h>
#include <stdlib.h>

static int ask(const struct weir_cli *cli, const struct weir_command_line *line, const char *path,
               const char *failure)
{
    struct weir_buffer body = {0};
    weir_buffer_append_char(&body, '{');
    if (line->argument_count > 0) {
        weir_buffer_printf(&body, "\"table\": ");
        weir_http_append_json_text(&body, line->arguments[0]);
    }
    if (line->argument_count > 1) {
        char *end;
        long partition = strtol(line->arguments[1], &end, 10);
        if (end == line->arguments[1] || *end != '\0' || partition < 0 || partition > INT32_MAX) {
            fprintf(cli->err, "weir: \"%s\" is no number of a partition\n", line->arguments[1]);
            weir_buffer_deinit(&body);
            return WEIR_EXIT_REFUSED;
        }
        weir_buffer_printf(&body, ", \"partition\": %ld", partition);
    }
    weir_buffer_append_char(&body, '}');
    int exit_code = weir_job_ask(cli, path, weir_buffer_text(&body), failure);
    weir_buffer_deinit(&body);
    return exit_code;
}

static int run_pause(const struct weir_cli *cli, const struct weir_command_line *line)
{
    return ask(cli, line, "/api/v1/pause", "nothing was paused");
}

static int run_resume(const struct weir_cli *cli, const struct weir_command_line *line)
{
    return ask(cli, line, "/api/v1/resume", "nothing was resumed");
}

const struct weir_command weir_pause_command = {
    .name = "pause",
    .summary = "let the running job read all, a table or a partition no more",
    .arguments = "[TABLE [PARTITION]]",
    .argument_count_max = 2,
    .help = "Asks the weir that runs with the same configuration (WEIR_HTTP_LISTEN,\n"
            "WEIR_HTTP_TOKEN). Checkpoints go on, and the event time of what is paused stands\n"
            "still, so that nothing comes too late afterwards. It stays paused until `weir\n"
            "resume`, also when the job goes back to its last checkpoint; a new process reads\n"
            "everything.\n",
    .run = run_pause,
};

const struct weir_command weir_resume_command = {
    .name = "resume",
    .summary = "let the running job read again what was paused",
    .arguments = "[TABLE [PARTITION]]",
    .argument_count_max = 2,
    .help = "Asks the weir that runs with the same configuration (WEIR_HTTP_LISTEN,\n"
            "WEIR_HTTP_TOKEN). Reading goes on where it was paused.\n",
    .run = run_resume,
};
