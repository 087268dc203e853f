// SPDX-License-Identifier: Apache-2.0
// `weir savepoint PATH`: asks the weir that runs with the same configuration, over HTTP, and waits
// until the savepoint is committed and copied.
#include "app/command.h"
#include "app/exit_code.h"
#include "app/http/http.h"
#include "app/http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OPTION_STOP = 1, OPTION_DRAIN = 2, ANSWER_BYTES_MAX = 1 << 20 };

// url: "http://host:port" or "http://[ipv6]:port". -1: *why says why nobody answered.
static int connect_to(const char *url, const char **why)
{
    char text[WEIR_HTTP_ADDRESS_BYTES + 16];
    snprintf(text, sizeof text, "%s", url + strlen("http://"));
    char *colon = strrchr(text, ':');
    *why = "no address";
    if (colon == NULL) {
        return -1;
    }
    *colon = '\0';
    char *host = text;
    if (host[0] == '[') {
        host++;
        host[strcspn(host, "]")] = '\0';
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int failed = getaddrinfo(host, colon + 1, &hints, &found);
    if (failed != 0) {
        *why = gai_strerror(failed);
        return -1;
    }
    int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && connect(descriptor, found->ai_addr, found->ai_addrlen) != 0) {
        close(descriptor);
        descriptor = -1;
    }
    *why = strerror(errno);
    freeaddrinfo(found);
    return descriptor;
}

static bool send_all(int descriptor, const char *data, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t sent = send(descriptor, data, size_bytes, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        data += sent;
        size_bytes -= (size_t)sent;
    }
    return true;
}

static void put_request(const struct weir_config *config, const char *path, uint32_t options,
                        struct weir_buffer *out)
{
    struct weir_buffer body = {0};
    bool is_last = (options & (OPTION_STOP | OPTION_DRAIN)) != 0;
    weir_buffer_printf(&body, "{\"path\": ");
    weir_http_append_json_text(&body, path);
    weir_buffer_printf(&body, ", \"stop\": %s, \"drain\": %s}", is_last ? "true" : "false",
                       (options & OPTION_DRAIN) != 0 ? "true" : "false");
    weir_buffer_printf(out,
                       "POST /api/v1/savepoints HTTP/1.1\r\nHost: localhost\r\n"
                       "Connection: close\r\nContent-Length: %zu\r\n",
                       body.size_bytes);
    if (config->http_token != NULL) {
        weir_buffer_printf(out, "Authorization: Bearer %s\r\n", config->http_token);
    }
    weir_buffer_printf(out, "\r\n%s", weir_buffer_text(&body));
    weir_buffer_deinit(&body);
}

static int ask(const struct weir_cli *cli, const struct weir_config *config, const char *path,
               uint32_t options)
{
    char url[WEIR_HTTP_ADDRESS_BYTES + 16];
    const char *why;
    int descriptor = connect_to(weir_http_local_url(config->http_listen, url, sizeof url), &why);
    if (descriptor < 0) {
        fprintf(cli->err, "weir: no weir answers on %s: %s (WEIR_HTTP_LISTEN)\n", url, why);
        return WEIR_EXIT_FAILED;
    }
    struct weir_buffer request = {0};
    struct weir_buffer answer = {0};
    put_request(config, path, options, &request);
    bool is_sent = send_all(descriptor, request.data, request.size_bytes);
    ssize_t got = is_sent ? 1 : 0;
    while (got > 0 && answer.size_bytes < ANSWER_BYTES_MAX) {
        got = recv(descriptor, weir_buffer_reserve(&answer, 4096), 4096, 0);
        answer.size_bytes += got > 0 ? (size_t)got : 0;
    }
    close(descriptor);
    int status = 0;
    const char *text = weir_buffer_text(&answer);
    const char *body = strstr(text, "\r\n\r\n");
    int exit_code = WEIR_EXIT_FAILED;
    if (sscanf(text, "HTTP/1.1 %d", &status) != 1 || body == NULL) {
        fprintf(cli->err, "weir: %s gave no answer: the process has ended\n", url);
    } else if (status == 200) {
        fputs(body + 4, cli->out);
        exit_code = WEIR_EXIT_OK;
    } else {
        fprintf(cli->err, "weir: no savepoint was made (HTTP %d): %s", status, body + 4);
        exit_code = status < 500 ? WEIR_EXIT_REFUSED : WEIR_EXIT_FAILED;
    }
    weir_buffer_deinit(&request);
    weir_buffer_deinit(&answer);
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
    weir_fault_list_init(&faults, arena);
    struct weir_config_input input = {
        .environment = cli->environment,
        .root_dir = cli->root_dir,
        .is_partial_ok = true,
        .is_sql_optional = true,
    };
    int exit_code = WEIR_EXIT_REFUSED;
    if (weir_config_load(&input, arena, &config, &faults) != WEIR_OK) {
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
