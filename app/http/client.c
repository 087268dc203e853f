// SPDX-License-Identifier: Apache-2.0
// See client.h. By libcurl, which the Kafka client brings into the image anyway.
#include "app/http/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

enum { CONNECT_TIMEOUT_MS = 3000, ANSWER_BYTES_MAX = 64 << 20, HEADER_BYTES_MAX = 4096 };

static size_t take(char *data, size_t size, size_t count, void *context)
{
    struct weir_buffer *body = context;
    if (body->size_bytes + size * count > ANSWER_BYTES_MAX) {
        return 0;
    }
    weir_buffer_append(body, data, size * count);
    return size * count;
}

static void prepare(CURL *curl, const struct weir_http_call *call, const struct curl_slist *headers,
                    struct weir_http_answer *answer)
{
    curl_easy_setopt(curl, CURLOPT_URL, call->url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); // it is the own machine, or a neighbour
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer->body);
    if (call->body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
    }
}

static struct curl_slist *headers_of(const struct weir_http_call *call)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (call->token != NULL) {
        char header[HEADER_BYTES_MAX];
        snprintf(header, sizeof header, "Authorization: Bearer %s", call->token);
        headers = curl_slist_append(headers, header);
    }
    return headers;
}

enum weir_status weir_http_call(const struct weir_http_call *call, struct weir_http_answer *answer,
                                struct weir_error *error)
{
    *answer = (struct weir_http_answer){0};
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        return weir_error_set(error, WEIR_DOMAIN_RUNTIME, WEIR_ACTION_FAIL, "%s: no memory",
                              call->url);
    }
    struct curl_slist *headers = headers_of(call);
    prepare(curl, call, headers, answer);
    CURLcode code = curl_easy_perform(curl);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK) {
        weir_buffer_deinit(&answer->body);
        return weir_error_set(error, WEIR_DOMAIN_RUNTIME, WEIR_ACTION_FAIL, "%s: %s", call->url,
                              curl_easy_strerror(code));
    }
    answer->status = (int)status;
    return WEIR_OK;
}
