// SPDX-License-Identifier: Apache-2.0
// `weir savepoint PATH`: asks the weir that runs with the same configuration, over HTTP, and waits
// until the savepoint is committed and copied.
#include "app/command.h"
#include "app/exit_code.h"
#include "app/http/client.h"
#include "app/http/http.h"
#include "app/http/listen.h"

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

static int ask(const struct weir_cli *cli, const struct weir_config *config, const char *path,
               uint32_t options)
{
    char base[WEIR_HTTP_ADDRESS_BYTES + 16];
    char url[sizeof base + 32];
    snprintf(url, sizeof url, "%s/api/v1/savepoints",
             weir_http_local_url(config->http_listen, base, sizeof base));
    struct weir_buffer body = {0};
    const struct weir_http_call call = {.method = "POST",
                                        .url = url,
                                        .token = config->http_token,
                                        .body = request_body(path, options, &body)};
    struct weir_http_answer answer;
    struct weir_error error;
    enum weir_status status = weir_http_call(&call, &answer, &error);
    weir_buffer_deinit(&body);
    if (status != WEIR_OK) {
        fprintf(cli->err, "weir: no weir answers on %s (WEIR_HTTP_LISTEN)\n", error.text);
        return WEIR_EXIT_FAILED;
    }
    int exit_code = WEIR_EXIT_OK;
    if (answer.status == 200) {
        fputs(weir_buffer_text(&answer.body), cli->out);
    } else {
        fprintf(cli->err, "weir: no savepoint was made (HTTP %d): %s", answer.status,
                weir_buffer_text(&answer.body));
        exit_code = answer.status < 500 ? WEIR_EXIT_REFUSED : WEIR_EXIT_FAILED;
    }
    weir_buffer_deinit(&answer.body);
    return exit_code;
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    if (line->argument_count != 1) {
        fprintf(cli->err, "weir: savepoint takes the folder to be written (weir savepoint "
                          "--help)\n");
        return WEIR_EXIT_REFUSED;
    }
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    weir_command_load_given(cli, arena, &config, &faults);
    int exit_code = WEIR_EXIT_REFUSED;
    if (faults.count > 0) {
        weir_fault_list_print(&faults, cli->err);
    } else if (config.http_listen == NULL || config.http_listen[0] == '\0') {
        fprintf(cli->err, "weir: WEIR_HTTP_LISTEN is empty: the job cannot be asked\n");
    } else {
        exit_code = ask(cli, &config, line->arguments[0], line->options);
    }
    weir_arena_destroy(arena);
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
