// SPDX-License-Identifier: Apache-2.0
// See registry_http.h. libcurl, one easy handle, its connection kept between requests.
#include "kafka/registry_http.h"

#include "runtime/base/assert.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

enum {
    CONNECT_TIMEOUT_MS = 3000,
    REQUEST_TIMEOUT_MS = 10000,
    ANSWER_BYTES_MAX = 16 << 20, // schemas are some kilobytes
    REDIRECTS_MAX = 3,
};

struct weir_registry_handle {
    const struct weir_registry_place *place;
    CURL *curl;
    struct curl_slist *headers;
    struct weir_buffer *out; // of the running request
};

static void init_library(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static char *url_part(CURLU *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK) {
        return NULL;
    }
    char *copy = weir_strdup(text);
    curl_free(text);
    return copy;
}

static char *copy_of(const char *text)
{
    return text != NULL ? weir_strdup(text) : NULL;
}

bool weir_registry_place_init(struct weir_registry_place *place,
                              const struct weir_registry_config *config)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_library);
    *place = (struct weir_registry_place){0};
    CURLU *url = curl_url();
    char *scheme = NULL;
    bool is_good = curl_url_set(url, CURLUPART_URL, config->url, 0) == CURLUE_OK;
    if (is_good) {
        scheme = url_part(url, CURLUPART_SCHEME, 0);
        is_good = scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    }
    if (is_good) {
        place->username = url_part(url, CURLUPART_USER, CURLU_URLDECODE);
        place->password = url_part(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
        curl_url_set(url, CURLUPART_USER, NULL, 0);
        curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
        curl_url_set(url, CURLUPART_QUERY, NULL, 0);
        curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
        place->url = url_part(url, CURLUPART_URL, 0);
        size_t bytes = strlen(place->url);
        while (bytes > 0 && place->url[bytes - 1] == '/') {
            place->url[--bytes] = '\0';
        }
        if (config->username != NULL) {
            free(place->username);
            place->username = weir_strdup(config->username);
        }
        if (config->password != NULL) {
            free(place->password);
            place->password = weir_strdup(config->password);
        }
        place->token = copy_of(config->token);
        place->ca_path = copy_of(config->ca_path);
        place->certificate_path = copy_of(config->certificate_path);
        place->key_path = copy_of(config->key_path);
        place->key_password = copy_of(config->key_password);
    }
    free(scheme);
    curl_url_cleanup(url);
    return is_good;
}

void weir_registry_place_deinit(struct weir_registry_place *place)
{
    free(place->url);
    free(place->username);
    free(place->password);
    free(place->token);
    free(place->ca_path);
    free(place->certificate_path);
    free(place->key_path);
    free(place->key_password);
}

static size_t take_bytes(char *data, size_t size, size_t count, void *context)
{
    struct weir_registry_handle *handle = context;
    size_t size_bytes = size * count;
    if (handle->out->size_bytes + size_bytes > ANSWER_BYTES_MAX) {
        return 0;
    }
    weir_buffer_append(handle->out, data, size_bytes);
    return size_bytes;
}

static int is_cancelled(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                        curl_off_t up)
{
    const struct weir_registry_handle *handle = context;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return atomic_load_explicit(&handle->place->is_stopping, memory_order_relaxed) ? 1 : 0;
}

struct weir_registry_handle *weir_registry_handle_create(const struct weir_registry_place *place)
{
    struct weir_registry_handle *handle = weir_alloc_zero(sizeof *handle);
    handle->place = place;
    handle->curl = curl_easy_init();
    WEIR_ASSERT(handle->curl != NULL);
    handle->headers = curl_slist_append(NULL, "Accept: application/vnd.schemaregistry.v1+json, "
                                              "application/json");
    handle->headers =
        curl_slist_append(handle->headers, "Content-Type: application/vnd.schemaregistry.v1+json");
    return handle;
}

void weir_registry_handle_destroy(struct weir_registry_handle *handle)
{
    if (handle == NULL) {
        return;
    }
    curl_easy_cleanup(handle->curl);
    curl_slist_free_all(handle->headers);
    free(handle);
}

static void prepare(struct weir_registry_handle *handle, const char *url, const char *body)
{
    const struct weir_registry_place *place = handle->place;
    CURL *curl = handle->curl;
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)REQUEST_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle->headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, handle);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_cancelled);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, handle);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "weir");
    if (place->token != NULL) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, place->token);
    } else if (place->username != NULL) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, place->username);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, place->password != NULL ? place->password : "");
    }
    if (place->ca_path != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, place->ca_path);
    }
    if (place->certificate_path != NULL) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, place->certificate_path);
        curl_easy_setopt(curl, CURLOPT_SSLKEY,
                         place->key_path != NULL ? place->key_path : place->certificate_path);
        curl_easy_setopt(curl, CURLOPT_KEYPASSWD, place->key_password);
    }
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }
}

// What the status means to the user where it is about who asks; "" else.
static const char *denial(long status)
{
    return status == 401   ? "authentication failed: "
           : status == 403 ? "not allowed for this user: "
                           : "";
}

// The registry's own words: {"error_code":40403,"message":"…"}. *error_code 0: not of that form.
static void read_message(const struct weir_buffer *answer, long status, int64_t *error_code,
                         char *text, size_t text_bytes)
{
    *error_code = 0;
    yyjson_doc *document = yyjson_read(answer->data, answer->size_bytes, 0);
    yyjson_val *root = yyjson_doc_get_root(document);
    yyjson_val *code = yyjson_obj_get(root, "error_code");
    const char *message = yyjson_get_str(yyjson_obj_get(root, "message"));
    if (yyjson_is_int(code)) {
        *error_code = yyjson_get_sint(code);
        snprintf(text, text_bytes, "%s%s (error %lld)", denial(status),
                 message != NULL ? message : "no message", (long long)*error_code);
    }
    yyjson_doc_free(document);
}

enum weir_registry_answer weir_registry_request(struct weir_registry_handle *handle,
                                                const char *path, const char *body,
                                                struct weir_buffer *out, char *text,
                                                size_t text_bytes)
{
    struct weir_buffer url = {0};
    weir_buffer_printf(&url, "%s%s", handle->place->url, path);
    prepare(handle, weir_buffer_text(&url), body);
    handle->out = out;
    out->size_bytes = 0;
    text[0] = '\0';
    CURLcode code = curl_easy_perform(handle->curl);
    long status = 0;
    curl_easy_getinfo(handle->curl, CURLINFO_RESPONSE_CODE, &status);
    enum weir_registry_answer answer = WEIR_REGISTRY_OK;
    int64_t error_code = 0;
    if (code != CURLE_OK) {
        snprintf(text, text_bytes, "%s: %s", weir_buffer_text(&url), curl_easy_strerror(code));
        answer = WEIR_REGISTRY_DOWN;
    } else if (status < 200 || status > 299) {
        snprintf(text, text_bytes, "%s%s answers with HTTP status %ld", denial(status),
                 weir_buffer_text(&url), status);
        read_message(out, status, &error_code, text, text_bytes);
        // Without the registry's own code a 404 is of somebody else: a proxy, a wrong path.
        answer = status == 404 && error_code != 0                  ? WEIR_REGISTRY_NOT_FOUND
                 : status == 401 || status == 403                  ? WEIR_REGISTRY_DENIED
                 : status == 409 || status == 422 || status == 400 ? WEIR_REGISTRY_REFUSED
                                                                   : WEIR_REGISTRY_DOWN;
    }
    weir_buffer_deinit(&url);
    return answer;
}
