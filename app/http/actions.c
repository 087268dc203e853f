// SPDX-License-Identifier: Apache-2.0
// See actions.h. A body is an object of a few known members; what is not known is refused by name,
// since a misspelt "drain" must not stop the job without draining it.
#include "app/http/actions.h"

#include "app/board.h"
#include "app/control.h"
#include "app/http/wait.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

struct member {
    const char *name;
    bool *flag;        // either this
    const char **text; // or this: NULL until it is given
    int32_t *number;   // or this
};

// What the member wants instead of this value; NULL: it was taken.
static const char *take_member(const struct member *member, yyjson_val *value)
{
    if (member->flag != NULL) {
        if (!yyjson_is_bool(value)) {
            return "true or false";
        }
        *member->flag = yyjson_get_bool(value);
    } else if (member->number != NULL) {
        if (!yyjson_is_uint(value) || yyjson_get_uint(value) > INT32_MAX) {
            return "a number from 0 on";
        }
        *member->number = (int32_t)yyjson_get_uint(value);
    } else if (!yyjson_is_str(value) || strlen(yyjson_get_str(value)) != yyjson_get_len(value)) {
        return "a string without U+0000"; // cut off, or taken for absent, it would mean more
    } else {
        *member->text = yyjson_get_str(value);
    }
    return NULL;
}

// The texts live in *document, which the caller frees. False: the response says what is wrong.
static bool read_body(const struct weir_http_request *request, const struct member *members,
                      uint32_t member_count, yyjson_doc **document,
                      struct weir_http_response *response)
{
    struct weir_view body = request->body;
    *document =
        body.size_bytes == 0 ? yyjson_read("{}", 2, 0) : yyjson_read(body.data, body.size_bytes, 0);
    yyjson_val *root = yyjson_doc_get_root(*document);
    if (!yyjson_is_obj(root)) {
        weir_http_refuse(response, WEIR_HTTP_BAD_REQUEST, "the body is not a JSON object");
        return false;
    }
    size_t idx;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(root, idx, max, key, value)
    {
        const struct member *member = NULL;
        for (uint32_t i = 0; i < member_count; i++) {
            if (yyjson_equals_str(key, members[i].name)) {
                member = &members[i];
            }
        }
        if (member == NULL) {
            weir_http_refuse(response, WEIR_HTTP_BAD_REQUEST, "\"%.100s\" is not known here",
                             yyjson_get_str(key));
            return false;
        }
        const char *wanted = take_member(member, value);
        if (wanted != NULL) {
            weir_http_refuse(response, WEIR_HTTP_BAD_REQUEST, "\"%s\" wants %s", member->name,
                             wanted);
            return false;
        }
    }
    return true;
}

struct wait {
    struct weir_http_wait base; // first: the interface
    struct weir_request *request;
};

static void print_done(const struct weir_request_wish *wish, int64_t number,
                       struct weir_http_response *response)
{
    response->status = WEIR_HTTP_OK;
    response->content_type = WEIR_HTTP_JSON;
    weir_buffer_printf(&response->body, "{\"state\": \"committed\", \"checkpoint\": ");
    if (number >= 0) {
        weir_buffer_printf(&response->body, "%" PRId64, number);
    } else {
        weir_buffer_printf(&response->body, "null");
    }
    if (wish->path != NULL) {
        weir_buffer_printf(&response->body, ", \"path\": ");
        weir_http_append_json_text(&response->body, wish->path);
    }
    weir_buffer_printf(&response->body, "}\n");
}

static bool is_over(struct weir_http_wait *base, bool is_last, struct weir_http_response *response)
{
    struct weir_request *request = ((struct wait *)base)->request;
    struct weir_request_answer answer;
    if (!weir_request_wait(request, 0, &answer)) {
        if (is_last) {
            weir_http_refuse(response, WEIR_HTTP_UNAVAILABLE, "the process is ending");
        }
        return is_last;
    }
    switch (answer.state) {
    case WEIR_REQUEST_WAITING:
        return false;
    case WEIR_REQUEST_DONE:
        print_done(weir_request_wish(request), answer.number, response);
        return true;
    case WEIR_REQUEST_REFUSED:
        weir_http_refuse(response, WEIR_HTTP_CONFLICT, "%s", answer.text);
        return true;
    case WEIR_REQUEST_FAILED:
        weir_http_refuse(response, WEIR_HTTP_UNAVAILABLE, "%s", answer.text);
        return true;
    }
    return is_last;
}

static void destroy(struct weir_http_wait *base)
{
    weir_request_unref(((struct wait *)base)->request);
    free(base);
}

// Asks the job; the response is there at once or comes with its answer.
static void ask(const struct weir_http_site *site, const struct weir_http_request *request,
                const struct weir_request_wish *wish, struct weir_http_response *response)
{
    bool is_waiting = request->wait == NULL || strcmp(request->wait, "true") == 0;
    if (!is_waiting && strcmp(request->wait, "false") != 0) {
        weir_http_refuse(response, WEIR_HTTP_BAD_REQUEST, "?wait= wants true or false");
        return;
    }
    struct weir_request *asked = weir_request_create(wish);
    if (!weir_control_ask(site->control, asked)) {
        struct weir_request_answer answer;
        weir_request_wait(asked, 0, &answer);
        weir_http_refuse(response, WEIR_HTTP_UNAVAILABLE, "%s", answer.text);
        weir_request_unref(asked);
        return;
    }
    if (!is_waiting) {
        response->status = WEIR_HTTP_ACCEPTED;
        response->content_type = WEIR_HTTP_JSON;
        weir_buffer_printf(&response->body, "{\"state\": \"accepted\"}\n");
        weir_request_unref(asked);
        return;
    }
    struct wait *wait = weir_alloc_zero(sizeof *wait);
    wait->base = (struct weir_http_wait){.is_over = is_over, .destroy = destroy};
    wait->request = asked;
    response->wait = &wait->base;
}

void weir_http_post_checkpoints(const struct weir_http_site *site,
                                const struct weir_http_request *request,
                                struct weir_http_response *response)
{
    yyjson_doc *document;
    if (read_body(request, NULL, 0, &document, response)) {
        ask(site, request, &(struct weir_request_wish){.kind = WEIR_REQUEST_CHECKPOINT}, response);
    }
    yyjson_doc_free(document);
}

void weir_http_post_savepoints(const struct weir_http_site *site,
                               const struct weir_http_request *request,
                               struct weir_http_response *response)
{
    struct weir_request_wish wish = {.kind = WEIR_REQUEST_SAVEPOINT};
    const struct member members[] = {
        {.name = "path", .text = &wish.path},
        {.name = "stop", .flag = &wish.is_stop},
        {.name = "drain", .flag = &wish.is_drain},
    };
    yyjson_doc *document;
    if (read_body(request, members, 3, &document, response)) {
        if (wish.path == NULL || wish.path[0] == '\0') {
            weir_http_refuse(response, WEIR_HTTP_BAD_REQUEST,
                             "\"path\" is missing: the folder to be written, on weir's side");
        } else {
            wish.is_stop = wish.is_stop || wish.is_drain;
            ask(site, request, &wish, response);
        }
    }
    yyjson_doc_free(document);
}

void weir_http_post_stop(const struct weir_http_site *site, const struct weir_http_request *request,
                         struct weir_http_response *response)
{
    struct weir_request_wish wish = {.kind = WEIR_REQUEST_STOP, .is_stop = true};
    const struct member members[] = {{.name = "drain", .flag = &wish.is_drain}};
    yyjson_doc *document;
    if (read_body(request, members, 1, &document, response)) {
        ask(site, request, &wish, response);
    }
    yyjson_doc_free(document);
}

static void pause_or_resume(const struct weir_http_site *site,
                            const struct weir_http_request *request, bool is_paused,
                            struct weir_http_response *response)
{
    const char *table = NULL;
    int32_t partition = -1;
    const struct member members[] = {{.name = "table", .text = &table},
                                     {.name = "partition", .number = &partition}};
    yyjson_doc *document;
    if (read_body(request, members, 2, &document, response)) {
        int64_t count = weir_control_pause(site->control, table, partition, is_paused);
        if (count > 0) {
            response->status = WEIR_HTTP_OK;
            response->content_type = WEIR_HTTP_JSON;
            weir_buffer_printf(&response->body,
                               "{\"state\": \"%s\", \"partitions\": %" PRId64 "}\n",
                               is_paused ? "paused" : "resumed", count);
        } else if (count == 0) {
            weir_http_refuse(response, WEIR_HTTP_CONFLICT,
                             "there is no such partition among those that are read: "
                             "/api/v1/job lists them (what WEIR_QUARANTINE names is not read "
                             "before a start without it)");
        } else {
            weir_http_refuse(response, WEIR_HTTP_UNAVAILABLE, WEIR_CONTROL_ABSENT);
        }
    }
    yyjson_doc_free(document);
}

void weir_http_post_pause(const struct weir_http_site *site,
                          const struct weir_http_request *request,
                          struct weir_http_response *response)
{
    pause_or_resume(site, request, true, response);
}

void weir_http_post_resume(const struct weir_http_site *site,
                           const struct weir_http_request *request,
                           struct weir_http_response *response)
{
    pause_or_resume(site, request, false, response);
}
