// SPDX-License-Identifier: Apache-2.0
// See http_job_util.h.
#include "tests/integration/http_job_util.h"

#include "app/http/client.h"
#include "tests/harness/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { START_MS_MAX = 60000, CALL_MS_MAX = 30000 };

uint16_t http_port(struct weir_test_process *process)
{
    static const char words[] = "HTTP listens on 127.0.0.1:";
    if (!weir_test_process_wait_text(process, words, START_MS_MAX, NULL)) {
        WEIR_TEST_FAIL("it does not listen:\n%s", weir_test_process_output(process));
    }
    char *output = weir_test_process_output(process);
    uint16_t port = (uint16_t)strtoul(strstr(output, words) + strlen(words), NULL, 10);
    free(output);
    return port;
}

struct http_answer http_ask(uint16_t port, const char *method, const char *path, const char *body,
                            const char *token)
{
    char *url = weir_test_format("http://127.0.0.1:%u%s", port, path);
    struct weir_http_answer answer;
    struct weir_error error;
    if (weir_http_call(&(struct weir_http_call){.method = method,
                                                .url = url,
                                                .body = body,
                                                .token = token,
                                                .timeout_ms = CALL_MS_MAX},
                       &answer, &error) != WEIR_OK) {
        WEIR_TEST_FAIL("%s", error.text);
    }
    free(url);
    struct http_answer copy = {.status = answer.status,
                               .body = weir_test_format("%s", weir_buffer_text(&answer.body))};
    weir_buffer_deinit(&answer.body);
    return copy;
}

char *http_get(uint16_t port, const char *path)
{
    struct http_answer answer = http_ask(port, "GET", path, NULL, NULL);
    if (answer.status != 200) {
        WEIR_TEST_FAIL("%s: %d %s", path, answer.status, answer.body);
    }
    return answer.body;
}

void http_wait_ready(uint16_t port, int status, const char *text, int timeout_ms)
{
    int64_t deadline_ms = weir_test_now_ms() + timeout_ms;
    for (;;) {
        struct http_answer answer = http_ask(port, "GET", "/readyz", NULL, NULL);
        if (answer.status == status && (text == NULL || strstr(answer.body, text) != NULL)) {
            free(answer.body);
            return;
        }
        if (weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("/readyz: %d %s", answer.status, answer.body);
        }
        free(answer.body);
        weir_test_sleep_ms(50);
    }
}

int http_dial(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 ||
        connect(descriptor, (const struct sockaddr *)&address, sizeof address) != 0) {
        WEIR_TEST_FAIL("cannot connect to port %u", port);
    }
    return descriptor;
}
