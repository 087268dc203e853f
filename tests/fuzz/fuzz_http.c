// SPDX-License-Identifier: Apache-2.0
// Any request to the HTTP interface, behind the library that reads it from the socket. The first
// byte chooses the route, a line each is Authorization, Host, Origin, the query's wait, and the
// rest is the body. Nobody may change anything without the token or from another machine; every
// answer is what its content type says.
#include "app/board.h"
#include "app/config.h"
#include "app/control.h"
#include "app/http/routes.h"
#include "app/http/wait.h"
#include "fuzz.h"
#include "sql/plan.h"

#include <yyjson.h>

static struct weir_control control;
static struct weir_http_site site = {.control = &control};

static void prepare(void)
{
    static char *environment[] = {"WEIR_SQL=SELECT 1", "WEIR_JOB_ID=flights",
                                  "WEIR_KAFKA_BOOTSTRAP_SERVERS=broker:9092", NULL};
    static struct weir_config config;
    static struct weir_arena *arena; // stays, and the configuration in it
    arena = weir_arena_create(64 * 1024);
    struct weir_fault_list faults;
    weir_fault_list_init(&faults, arena);
    const struct weir_config_input input = {.environment = environment, .root_dir = "/nowhere"};
    weir_config_load(&input, arena, &config, &faults);
    weir_control_init(&control);
    const struct weir_plan *plan;
    struct weir_error error;
    require(weir_sql_plan("CREATE TABLE a (n int); CREATE TABLE b (n int);"
                          "INSERT INTO b SELECT n FROM a",
                          arena, &plan, &error) == WEIR_OK,
            error.text);
    site.board = weir_board_create(&config, plan, &weir_system_clock);
}

// The next line; NULL where it is empty: the header is not there.
static const char *take_line(struct weir_view *rest, struct weir_arena *arena)
{
    const char *end = memchr(rest->data, '\n', rest->size_bytes);
    size_t size_bytes = end != NULL ? (size_t)(end - rest->data) : rest->size_bytes;
    size_t taken_bytes = size_bytes + (end != NULL);
    const char *line = weir_arena_printf(arena, "%.*s", (int)size_bytes, rest->data);
    rest->data += taken_bytes;
    rest->size_bytes -= taken_bytes;
    return line[0] != '\0' ? line : NULL;
}

static void check_answer(const struct weir_http_route *route,
                         const struct weir_http_response *response)
{
    require(response->status >= 200 && response->status < 600, "an answer without status");
    require(response->status != WEIR_HTTP_ERROR, "a fault of the server's own");
    require(response->content_type != NULL, "an answer without type");
    if (strcmp(response->content_type, WEIR_HTTP_JSON) == 0) {
        yyjson_doc *document = yyjson_read(response->body.data, response->body.size_bytes, 0);
        require(document != NULL, "an answer that is not the JSON that it says it is");
        yyjson_doc_free(document);
    }
    // No life of the job is running here.
    require(route == NULL || !route->is_changing || response->status >= 400,
            "something is changed where there is no job");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) {
        return 0;
    }
    if (site.board == NULL) {
        prepare();
    }
    struct weir_arena *arena = weir_arena_create(16 * 1024);
    struct weir_view rest = {(const char *)data + 1, size_bytes - 1};
    uint32_t chosen = data[0] % (2 * weir_http_route_count);
    const struct weir_http_route *wanted = &weir_http_routes[chosen / 2];
    const char *token = chosen % 2 == 0 ? NULL : "s3cret";
    struct weir_http_request request = {.method = wanted->method,
                                        .path = wanted->path,
                                        .authorization = take_line(&rest, arena),
                                        .host = take_line(&rest, arena),
                                        .origin = take_line(&rest, arena),
                                        .wait = take_line(&rest, arena),
                                        .is_loopback = data[0] < 128};
    char *block = copy_exactly(rest.data, rest.size_bytes);
    request.body = (struct weir_view){block, rest.size_bytes};
    struct weir_http_response response = {0};
    const struct weir_http_route *route = weir_http_find_route(token, &request, &response);
    if (route != NULL) {
        bool is_known = token != NULL ? request.authorization != NULL &&
                                            strstr(request.authorization, token) != NULL
                                      : request.is_loopback;
        require(!route->is_changing || is_known, "anybody may change something");
        route->handler(&site, &request, &response);
    }
    if (response.wait != NULL) {
        response.wait->is_over(response.wait, true, &response);
        response.wait->destroy(response.wait);
    }
    check_answer(route, &response);
    weir_buffer_deinit(&response.body);
    free(block);
    weir_arena_destroy(arena);
    return 0;
}
