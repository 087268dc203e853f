// SPDX-License-Identifier: Apache-2.0
// See live_util.h.
#include "tests/integration/live_util.h"

#include "tests/harness/base.h"
#include "tests/integration/http_job_util.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 1 << 20 };

static char *ask(struct weir_test_process *process, const char *method, const char *path,
                 const char *json, int *status)
{
    int descriptor = http_dial(http_port(process));
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
        WEIR_TEST_FAIL("%s %s was answered\n%s\n%s", method, path, answer,
                       weir_test_process_output(process));
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

char *live_util_post(struct weir_test_process *process, const char *path, const char *json,
                     int *status)
{
    return ask(process, "POST", path, json, status);
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
