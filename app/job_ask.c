// SPDX-License-Identifier: Apache-2.0
// See job_ask.h.
#include "app/job_ask.h"

#include "app/exit_code.h"
#include "app/http/http.h"
#include "app/http/listen.h"

enum { GET_TIMEOUT_MS = 5000 };

// Loads the configuration. False: it has faults, or there is nobody to ask.
static bool load(const struct weir_cli *cli, struct weir_arena *arena, struct weir_config *config)
{
    struct weir_fault_list faults;
    weir_command_load_given(cli, arena, config, &faults);
    if (faults.count > 0) {
        weir_fault_list_print(&faults, cli->err);
        return false;
    }
    if (config->http_listen[0] == '\0') {
        fprintf(cli->err, "weir: WEIR_HTTP_LISTEN is empty: there is nobody to ask\n");
        return false;
    }
    return true;
}

bool weir_job_url(const struct weir_cli *cli, char *url, size_t url_bytes)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_config config;
    bool is_there = load(cli, arena, &config);
    if (is_there) {
        weir_http_local_url(config.http_listen, url, url_bytes);
    }
    weir_arena_destroy(arena);
    return is_there;
}

bool weir_job_get(const struct weir_cli *cli, const char *url, const char *path,
                  struct weir_http_answer *answer)
{
    char whole[256];
    struct weir_error error;
    snprintf(whole, sizeof whole, "%s%s", url, path);
    const struct weir_http_call call = {
        .method = "GET", .url = whole, .timeout_ms = GET_TIMEOUT_MS};
    if (weir_http_call(&call, answer, &error) != WEIR_OK) {
        fprintf(cli->err, "weir: %s\n", error.text);
        return false;
    }
    return true;
}

static int ask(const struct weir_cli *cli, const struct weir_config *config, const char *path,
               const char *body, const char *failure)
{
    char base[WEIR_HTTP_ADDRESS_BYTES + 16];
    char url[sizeof base + 32];
    snprintf(url, sizeof url, "%s%s", weir_http_local_url(config->http_listen, base, sizeof base),
             path);
    const struct weir_http_call call = {
        .method = "POST", .url = url, .token = config->http_token, .body = body};
    struct weir_http_answer answer;
    struct weir_error error;
    if (weir_http_call(&call, &answer, &error) != WEIR_OK) {
        fprintf(cli->err, "weir: no weir answers on %s (WEIR_HTTP_LISTEN)\n", error.text);
        return WEIR_EXIT_FAILED;
    }
    int exit_code = WEIR_EXIT_OK;
    if (answer.status == WEIR_HTTP_OK) {
        fputs(weir_buffer_text(&answer.body), cli->out);
    } else {
        fprintf(cli->err, "weir: %s (HTTP %d): %s", failure, answer.status,
                weir_buffer_text(&answer.body));
        exit_code = answer.status < 500 ? WEIR_EXIT_REFUSED : WEIR_EXIT_FAILED;
    }
    weir_buffer_deinit(&answer.body);
    return exit_code;
}

int weir_job_ask(const struct weir_cli *cli, const char *path, const char *body,
                 const char *failure)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_config config;
    int exit_code =
        load(cli, arena, &config) ? ask(cli, &config, path, body, failure) : WEIR_EXIT_REFUSED;
    weir_arena_destroy(arena);
    return exit_code;
}
