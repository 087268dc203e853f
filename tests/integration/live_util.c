// SPDX-License-Identifier: Apache-2.0
// See live_util.h.
#include "tests/integration/live_util.h"

#include "tests/harness/base.h"

#include "tests/unit/cmocka_all.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 1 << 20, START_MS_MAX = 60000 };

static int port_of(struct weir_test_process *process)
{
    static const char mark[] = "HTTP listens on 127.0.0.1:";
    if (!weir_test_process_wait_text(process, mark, START_MS_MAX, NULL)) {
        WEIR_TEST_FAIL("no HTTP:\n%s", weir_test_process_output(process));
    }
    char *output = weir_test_process_output(process);
    long port = strtol(strstr(output, mark) + strlen(mark), NULL, 10);
    free(output);
    return (int)port;
}

static char *ask(struct weir_test_process *process, const char *method, const char *path,
                 const char *json, int *status)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port_of(process)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(descriptor >= 0);
    assert_int_equal(connect(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    char *request = weir_test_format(
        "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
        method, path, strlen(json), json);
    assert_int_equal(send(descriptor, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    free(request);
    char *answer = weir_test_alloc(ANSWER_BYTES_MAX);
    size_t size = 0;
    for (ssize_t got = 1; got > 0;) {
        got = recv(descriptor, answer + size, ANSWER_BYTES_MAX - size - 1, 0);
        size += got > 0 ? (size_t)got : 0;
    }
    close(descriptor);
    answer[size] = '\0';
    int found = 0;
    char *body = strstr(answer, "\r\n\r\n");
    if (sscanf(answer, "HTTP/1.1 %d", &found) != 1 || body == NULL ||
        (status == NULL && found != 200)) {
        WEIR_TEST_FAIL("%s %s was answered\n%s", method, path, answer);
    }
    if (status != NULL) {
        *status = found;
    }
    char *text = weir_test_format("%s", body + 4);
    free(answer);
    return text;
}

char *live_util_get(struct weir_test_process *process, const char *path, int *status)
{
    return ask(process, "GET", path, "", status);
}

char *live_util_post(struct weir_test_process *process, const char *path, const char *json)
{
    return ask(process, "POST", path, json, NULL);
}

double live_util_metric(struct weir_test_process *process, const char *name, const char *labels)
{
    char *text = live_util_get(process, "/metrics", NULL);
    double sum = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        size_t name_size = strcspn(line, "{ ");
        const char *value = strrchr(line, ' ');
        if (value != NULL && name_size == strlen(name) && strncmp(line, name, name_size) == 0 &&
            (labels == NULL || strstr(line, labels) != NULL)) {
            sum += strtod(value, NULL);
        }
    }
    free(text);
    return sum;
}
