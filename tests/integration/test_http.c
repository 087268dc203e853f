// SPDX-License-Identifier: Apache-2.0
// HTTP beside a real broker: metrics say exactly what was done, readiness says what is missing,
// requests are committed when they are answered, and rude clients do not disturb the job.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/job_util.h"
#include "tests/integration/metrics_util.h"
#include "tests/integration/openapi_util.h"
#include "tests/integration/sql_job_util.h"

#include "app/http/routes.h"
#include "runtime/base/metrics.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONG_MS = 60000 };

static int start(void **state)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &limit);
    signal(SIGPIPE, SIG_IGN);
    return cluster_start(state);
}

static struct metrics_page *metrics_of(uint16_t port)
{
    char *text = http_get(port, "/metrics");
    struct metrics_page *page = metrics_read(text);
    free(text);
    return page;
}

static void expect(const struct metrics_page *page, const char *name, const char *labels,
                   double value)
{
    size_t count;
    double sum = metrics_sum(page, name, labels, &count);
    if (count == 0 || sum != value) {
        WEIR_TEST_FAIL("%s{%s} is %.17g in %zu series instead of %.17g", name, labels, sum, count,
                       value);
    }
}

static void wait_for(uint16_t port, const char *name, const char *labels, double value)
{
    int64_t deadline_ms = weir_test_now_ms() + LONG_MS;
    for (;;) {
        struct metrics_page *page = metrics_of(port);
        size_t count;
        double sum = metrics_sum(page, name, labels, &count);
        metrics_free(page);
        if (count > 0 && sum == value) {
            return;
        }
        if (weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("%s{%s} stays %.17g in %zu series instead of %.17g", name, labels, sum,
                           count, value);
        }
        weir_test_sleep_ms(20);
    }
}

#define COUNTED_SQL                                                                                \
    "CREATE TABLE events (id bigint NOT NULL, grp text, ts timestamptz)\n"                         \
    "  WITH (topic = '$-in', event_time = 'ts', watermark_delay = '5 seconds',\n"                  \
    "        on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"                           \
    "CREATE TABLE skipped (n int) WITH (topic = '$-skip', on_error = 'skip');\n"                   \
    "CREATE TABLE copies (id bigint) WITH (topic = '$-out');\n"                                    \
    "CREATE TABLE numbers (n int) WITH (topic = '$-numbers');\n"                                   \
    "CREATE TABLE groups (grp text PRIMARY KEY, n bigint) WITH (topic = '$-groups');\n"            \
    "CREATE TABLE minutes (grp text, t timestamptz, n bigint) WITH (topic = '$-minutes');\n"       \
    "INSERT INTO copies SELECT id FROM events;\n"                                                  \
    "INSERT INTO numbers SELECT n FROM skipped;\n"                                                 \
    "INSERT INTO groups SELECT grp, count(*) FROM events GROUP BY grp;\n"                          \
    "INSERT INTO minutes SELECT grp, window_start, count(*)\n"                                     \
    "  FROM tumble(events, ts, interval '1 minute') GROUP BY grp, window_start;\n"

enum { GOOD_COUNT = 500, GROUP_COUNT = 7, RUBBISH_COUNT = 3, NULL_COUNT = 2, LATE_COUNT = 4 };

// Returns the bytes of all values.
static size_t feed_events(const struct sql_job *job)
{
    size_t bytes = 0;
    for (int i = 0; i < GOOD_COUNT; i++) {
        char *text =
            weir_test_format("{\"id\":%d,\"grp\":\"g%d\",\"ts\":\"2026-01-01T00:%02d:%02dZ\"}", i,
                             i % GROUP_COUNT, i / 60, i % 60);
        sql_job_feed(job, "in", 0, text);
        bytes += strlen(text);
        free(text);
    }
    for (int i = 0; i < RUBBISH_COUNT; i++) {
        sql_job_feed(job, "in", 0, "rubbish");
        bytes += strlen("rubbish");
    }
    for (int i = 0; i < NULL_COUNT; i++) {
        sql_job_feed(job, "in", 0, NULL);
    }
    for (int i = 0; i < LATE_COUNT; i++) {
        static const char late[] = "{\"id\":0,\"grp\":\"g0\",\"ts\":\"2026-01-01T00:00:00Z\"}";
        sql_job_feed(job, "in", 0, late);
        bytes += strlen(late);
    }
    return bytes;
}

static void check_families(const struct metrics_page *page)
{
    assert_int_equal(page->family_count, WEIR_METRIC_COUNT);
    for (int i = 0; i < WEIR_METRIC_COUNT; i++) {
        assert_non_null(metrics_type(page, weir_metric_families[i].name));
    }
}

static void check_counts(const struct metrics_page *page, const struct sql_job *job, size_t bytes)
{
    const char *in =
        weir_test_format("table=\"events\";topic=\"%s\";partition=\"0\"", sql_job_topic(job, "in"));
    expect(page, "weir_source_records_total", in,
           GOOD_COUNT + RUBBISH_COUNT + NULL_COUNT + LATE_COUNT);
    expect(page, "weir_source_bytes_total", in, (double)bytes);
    expect(page, "weir_source_records_total", "table=\"events\";partition=\"1\"", 0);
    expect(page, "weir_source_lag_records", "table=\"events\"", 0);
    expect(page, "weir_sink_records_total", "table=\"copies\"", GOOD_COUNT + LATE_COUNT);
    expect(page, "weir_sink_records_total", "table=\"numbers\"", 5);
    expect(page, "weir_sink_bytes_total", "table=\"numbers\"", 5 * strlen("{\"n\":1}"));
    expect(page, "weir_dead_letters_total", "table=\"events\";reason=\"decode\"", RUBBISH_COUNT);
    expect(page, "weir_dead_letters_total", "table=\"events\";reason=\"oversize\"", 0);
    expect(page, "weir_rows_dropped_total", "operator=\"source events\";reason=\"null_value\"",
           NULL_COUNT);
    expect(page, "weir_rows_dropped_total", "operator=\"source skipped\";reason=\"decode\"", 2);
    expect(page, "weir_late_rows_total", "", LATE_COUNT);
    expect(page, "weir_rows_dropped_total", "reason=\"late\"", LATE_COUNT); // no late_topic
    // 2026-01-01T00:08:19Z minus the delay.
    expect(page, "weir_watermark_seconds", "table=\"events\";partition=\"0\"",
           1767225600 + 499 - 5);
    expect(page, "weir_timestamps_clamped_total", "table=\"copies\"", 0);
}

static void check_state(const struct metrics_page *page)
{
    expect(page, "weir_state_entries", "groups", GROUP_COUNT);
    expect(page, "weir_operator_records_total", "operator=\"sink numbers\";direction=\"in\"", 5);
    expect(page, "weir_source_open_transaction_seconds", "", 0);
    expect(page, "weir_source_partitions_quarantined", "", 0);
    assert_true(metrics_sum(page, "weir_open_files", "", NULL) > 5);
    assert_true(metrics_sum(page, "weir_threads", "", NULL) > 5);
    assert_true(metrics_sum(page, "weir_memory_bytes", "pool=\"send_queue\"", NULL) >= 0);
    expect(page, "weir_job_state", "state=\"running\"", 1);
    expect(page, "weir_job_state", "", 1);
    expect(page, "weir_ready", "", 1);
    expect(page, "weir_restarts_total", "", 0);
    expect(page, "weir_build_info", "version=\"0.1.0\"", 1);
    assert_true(metrics_sum(page, "weir_memory_bytes", "pool=\"budget\"", NULL) >= 128 << 20);
    assert_true(metrics_sum(page, "weir_memory_bytes", "pool=\"resident\"", NULL) > 1 << 20);
    size_t count;
    double busy = metrics_sum(page, "weir_task_busy_ratio", "", &count);
    assert_true(count >= 4 && busy >= 0 && busy <= (double)count);
    double blocked = metrics_sum(page, "weir_task_backpressure_ratio", "", &count);
    assert_true(count >= 4 && blocked >= 0 && blocked <= (double)count);
}

static void check_checkpoints(uint16_t port, const struct sql_job *job)
{
    struct http_answer answer = http_ask(port, "POST", "/api/v1/checkpoints", NULL, NULL);
    long long number = -1;
    assert_int_equal(answer.status, 200);
    assert_int_equal(
        sscanf(answer.body, "{\"state\": \"committed\", \"checkpoint\": %lld}", &number), 1);
    free(answer.body);
    // Committed when it is answered. A commit carries the pointer with the positions that changed.
    assert_true(sql_job_pointer(job, "in") >= number || sql_job_pointer(job, "skip") >= number);
    struct metrics_page *page = metrics_of(port);
    assert_true(metrics_sum(page, "weir_checkpoint_last_completed", "", NULL) >= (double)number);
    assert_true(metrics_sum(page, "weir_checkpoints_total", "result=\"completed\"", NULL) >= 1);
    expect(page, "weir_checkpoints_total", "result=\"failed\"", 0);
    size_t reasons;
    assert_true(metrics_sum(page, "weir_checkpoint_failures_total", "", &reasons) == 0);
    assert_int_equal(reasons, 6);
    metrics_sum(page, "weir_checkpoint_refusals_total", "", &reasons);
    assert_int_equal(reasons, 6);
    assert_true(metrics_sum(page, "weir_checkpoint_acknowledgements_total", "result=\"success\"",
                            NULL) >= 1);
    assert_true(
        metrics_sum(page, "weir_checkpoint_acknowledgements_total", "", &reasons) ==
        metrics_sum(page, "weir_checkpoint_acknowledgements_total", "result=\"success\"", NULL));
    assert_int_equal(reasons, 4);
    assert_true(metrics_sum(page, "weir_checkpoint_duration_seconds_count", "", NULL) ==
                metrics_sum(page, "weir_checkpoints_total", "result=\"completed\"", NULL));
    assert_true(metrics_sum(page, "weir_checkpoint_duration_seconds_sum", "", NULL) > 0);
    assert_true(metrics_sum(page, "weir_checkpoint_phase_seconds", "phase=\"commit\"", NULL) > 0);
    size_t count;
    metrics_sum(page, "weir_checkpoint_phase_seconds", "", &count);
    assert_int_equal(count, 5);
    assert_true(metrics_sum(page, "weir_checkpoint_bytes", "", NULL) > 0);
    assert_true(metrics_sum(page, "weir_checkpoint_age_seconds", "", NULL) < 30);
    metrics_free(page);
}

static void test_metrics_say_exactly_what_was_done(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "counted", COUNTED_SQL);
    static const char *const topics[] = {"in",     "skip",    "out", "numbers",
                                         "groups", "minutes", "dead"};
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        sql_job_topic_create(job, topics[i], i == 0 ? 2 : 1);
    }
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN));
    uint16_t port = http_port(process);
    http_wait_ready(port, 200, "ready", LONG_MS);
    struct metrics_page *before = metrics_of(port);
    check_families(before);
    expect(before, "weir_source_records_total", "", 0);
    metrics_free(before);
    size_t bytes = feed_events(job);
    sql_job_feed_numbers(job, "skip", 0, 1, 5);
    sql_job_feed(job, "skip", 0, "{\"n\":");
    sql_job_feed(job, "skip", 0, "{\"n\":\"x\"}");
    wait_for(port, "weir_source_records_total", "",
             GOOD_COUNT + RUBBISH_COUNT + NULL_COUNT + LATE_COUNT + 7);
    wait_for(port, "weir_source_lag_records", "", 0);
    check_checkpoints(port, job);
    struct metrics_page *page = metrics_of(port);
    check_families(page);
    check_counts(page, job, bytes);
    check_state(page);
    metrics_free(page);
    struct http_answer answer = http_ask(port, "POST", "/api/v1/stop", "{}", NULL);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    sql_job_expect_exit(process, 0, SQL_JOB_TEXTS("stopped after a final checkpoint"));
}

// Every route is described, and everything that is described is a route.
static void check_routes(const json_t *description)
{
    const char *path;
    json_t *operations;
    size_t count = 0;
    json_object_foreach(json_object_get(description, "paths"), path, operations)
    {
        count += json_object_size(operations);
    }
    assert_int_equal(count, weir_http_route_count);
    for (uint32_t i = 0; i < weir_http_route_count; i++) {
        const struct weir_http_route *route = &weir_http_routes[i];
        json_t *described = json_object_get(json_object_get(description, "paths"), route->path);
        const char *method = strcmp(route->method, "GET") == 0 ? "get" : "post";
        if (json_object_get(described, method) == NULL) {
            WEIR_TEST_FAIL("%s %s is not described", route->method, route->path);
        }
    }
}

// The description holds for what is answered now.
static void check_answers(const json_t *description, uint16_t port, const char *token)
{
    for (uint32_t i = 0; i < weir_http_route_count; i++) {
        const struct weir_http_route *route = &weir_http_routes[i];
        bool is_get = strcmp(route->method, "GET") == 0;
        if (strcmp(route->path, "/api/v1/stop") == 0) {
            continue; // that would be the end
        }
        struct http_answer answer =
            http_ask(port, route->method, route->path, is_get ? NULL : "{}", token);
        openapi_check(description, route->path, is_get ? "get" : "post", answer.status,
                      answer.body);
        free(answer.body);
        if (!is_get) {
            char *path = weir_test_format("%s?wait=false", route->path);
            answer = http_ask(port, "POST", path, "{}", NULL);
            openapi_check(description, route->path, "post", answer.status, answer.body);
            free(answer.body);
            answer = http_ask(port, "POST", path, "[", token);
            assert_int_equal(answer.status, 400);
            openapi_check(description, route->path, "post", answer.status, answer.body);
            free(answer.body);
            free(path);
        }
    }
}

static json_t *json_of(uint16_t port, const char *path)
{
    char *text = http_get(port, path);
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) {
        WEIR_TEST_FAIL("%s: line %d: %s\n%s", path, error.line, error.text, text);
    }
    free(text);
    return json;
}

// A task is named for each phase of a checkpoint that took time, and for no other.
static void check_slowest(const json_t *checkpoint, const char *task_names)
{
    static const char *const phases[] = {"trigger", "align", "snapshot", "flush"};
    json_t *slowest = json_object_get(checkpoint, "slowest_tasks");
    size_t named_count = 0;
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        const char *name = json_string_value(json_object_get(slowest, phases[i]));
        json_t *took = json_object_get(json_object_get(checkpoint, "phases_ms"), phases[i]);
        assert_true((name != NULL) == (json_real_value(took) > 0));
        if (name != NULL) {
            char *quoted = weir_test_format("\"%s\"", name);
            assert_non_null(strstr(task_names, quoted));
            free(quoted);
            named_count++;
        }
    }
    assert_true(named_count > 0);
}

// Job id and state of /api/v1/job, what weir status makes of it, and a savepoint by HTTP.
static void test_what_the_job_does_is_told(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "told",
                                         "CREATE TABLE a (n int) WITH (topic = '$-in');\n"
                                         "CREATE TABLE b (n int) WITH (topic = '$-out');\n"
                                         "INSERT INTO b SELECT n FROM a;\n");
    sql_job_topic_create(job, "in", 3);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed_numbers(job, "in", 1, 0, 50);
    const char *token = "WEIR_HTTP_TOKEN=Zx9-token";
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN, token));
    uint16_t port = http_port(process);
    http_wait_ready(port, 200, NULL, LONG_MS);
    wait_for(port, "weir_sink_records_total", "table=\"b\"", 50);
    wait_for(port, "weir_source_lag_records", "", 0);
    json_t *told = json_of(port, "/api/v1/job");
    assert_string_equal(json_string_value(json_object_get(told, "job")), "told");
    assert_string_equal(json_string_value(json_object_get(told, "state")), "running");
    assert_true(json_is_true(json_object_get(told, "ready")));
    assert_int_equal(json_array_size(json_object_get(told, "missing")), 0);
    json_t *partitions = json_object_get(told, "partitions");
    assert_int_equal(json_array_size(partitions), 3);
    json_int_t records = 0;
    for (size_t i = 0; i < 3; i++) {
        json_t *partition = json_array_get(partitions, i);
        records += json_integer_value(json_object_get(partition, "records"));
        assert_int_equal(json_integer_value(json_object_get(partition, "lag")), 0);
    }
    assert_int_equal(records, 50);
    char *tasks = json_dumps(json_object_get(told, "tasks"), 0);
    json_decref(told);

    char *listen = weir_test_format("WEIR_HTTP_LISTEN=127.0.0.1:%u", port);
    sql_job_run_command(job, SQL_JOB_TEXTS("status"), SQL_JOB_EXTRA(listen, token), 0,
                        SQL_JOB_TEXTS("job told: ready, running; for ",
                                      "source a (topic told-in, 3 partitions): 50 records read, "
                                      "lag 0\n",
                                      "sink b (topic told-out): 50 rows written\n"));
    sql_job_run_command(job, SQL_JOB_TEXTS("top", "--interval", "0.2", "--count", "2"),
                        SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("job told: ready, running; for ", "caught up\n",
                                      "told-in                       3           0      0.0"
                                      "            0  caught up\n"));
    sql_job_run_command(job, SQL_JOB_TEXTS("status", "--live"), SQL_JOB_EXTRA(listen), 0,
                        SQL_JOB_TEXTS("alive: running"));

    struct http_answer answer = http_ask(port, "POST", "/api/v1/checkpoints", "{}", NULL);
    assert_int_equal(answer.status, 401);
    free(answer.body);
    answer = http_ask(port, "POST", "/api/v1/checkpoints", "{}", "Zx9-token");
    assert_int_equal(answer.status, 200); // also when nothing has changed
    free(answer.body);
    json_t *checkpoints = json_of(port, "/api/v1/checkpoints");
    json_t *newest = json_array_get(json_object_get(checkpoints, "checkpoints"), 0);
    assert_string_equal(json_string_value(json_object_get(newest, "state")), "committed");
    assert_true(json_real_value(json_object_get(newest, "duration_ms")) > 0);
    check_slowest(newest, tasks);
    free(tasks);
    json_decref(checkpoints);
    char *config = http_get(port, "/api/v1/config");
    assert_null(strstr(config, "Zx9-"));
    assert_non_null(strstr(config, "INSERT INTO b SELECT n FROM a;"));
    free(config);
    json_t *description = openapi_load();
    check_routes(description);
    check_answers(description, port, "Zx9-token");
    json_decref(description);
    char *graph = http_get(port, "/api/v1/graph");
    assert_non_null(strstr(graph, "\"kind\": \"sink\""));
    free(graph);
    sql_job_stop(process);
    sql_job_run_command(job, SQL_JOB_TEXTS("status"), SQL_JOB_EXTRA(listen), 1,
                        SQL_JOB_TEXTS("/api/v1/job: "));
    sql_job_run_command(job, SQL_JOB_TEXTS("top"), SQL_JOB_EXTRA(listen), 1,
                        SQL_JOB_TEXTS("/api/v1/job: "));
    sql_job_run_command(job, SQL_JOB_TEXTS("top", "--interval", "0"), SQL_JOB_EXTRA(listen), 2,
                        SQL_JOB_TEXTS("--interval takes a number from 0.1 to 3600, not \"0\""));
}

// Alive but not ready while there is no broker; not ready while the broker is frozen; ready again.
static void test_readiness_says_what_is_missing(void **state)
{
    (void)state;
    struct job *job = job_create(weir_test_cluster_bootstrap(cluster), "missing");
    struct weir_test_process *process =
        job_start(job, false,
                  (const char *const[]){HTTP_LISTEN, "WEIR_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:1",
                                        "WEIR_CONNECT_TIMEOUT=5s", NULL});
    uint16_t port = http_port(process);
    http_wait_ready(port, 503, "the job is recovering", 5000);
    char *live = http_get(port, "/livez");
    assert_string_equal(live, "alive: recovering\n");
    free(live);
    struct http_answer answer = http_ask(port, "POST", "/api/v1/checkpoints", NULL, NULL);
    assert_int_equal(answer.status, 503);
    free(answer.body);
    job_expect_end(process, 1, LONG_MS, NULL);
    weir_test_process_destroy(process);

    process = job_start(job, false,
                        (const char *const[]){HTTP_LISTEN, "WEIR_CHECKPOINT_TIMEOUT=10s", NULL});
    port = http_port(process);
    http_wait_ready(port, 200, "ready", LONG_MS);
    weir_test_node_freeze(cluster, 0);
    http_wait_ready(port, 503, NULL, LONG_MS);
    live = http_get(port, "/livez");
    free(live);
    weir_test_node_continue(cluster, 0);
    http_wait_ready(port, 200, "ready", LONG_MS);
    weir_test_process_signal(process, SIGTERM);
    job_expect_end(process, 0, LONG_MS, "stopped after a final checkpoint");
    weir_test_process_destroy(process);
}

struct attack {
    uint16_t port;
    atomic_bool is_over;
    atomic_int count; // of what was sent
};

// Half lines, rubbish, huge bodies, hung up early, and silence, a thousand at a time.
static void *attack(void *argument)
{
    enum { OPEN_COUNT = 1000 };
    struct attack *attack = argument;
    static const char *const texts[] = {
        "GET /met",
        "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /api/v1/stop HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000\r\n\r\nxxxx",
        ("POST /api/v1/checkpoints HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
         "chunked\r\n\r\nffffffff\r\n"),
        "\x16\x03\x01\xff\xff\x00\x01\x02\x03",
        "GET /livez HTTP/1.1\r\nX: "};
    int *open = weir_test_alloc(OPEN_COUNT * sizeof *open);
    size_t open_count = 0;
    unsigned seed = 1;
    while (!atomic_load(&attack->is_over)) {
        int descriptor = http_dial(attack->port);
        const char *text = texts[rand_r(&seed) % 6];
        ssize_t sent = send(descriptor, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent;
        atomic_fetch_add(&attack->count, 1);
        if (open_count == OPEN_COUNT) {
            size_t idx = (size_t)rand_r(&seed) % OPEN_COUNT;
            close(open[idx]);
            open[idx] = descriptor;
        } else {
            open[open_count++] = descriptor;
        }
    }
    for (size_t i = 0; i < open_count; i++) {
        close(open[i]);
    }
    free(open);
    return NULL;
}

// While they try, the job loses and repeats nothing, and others are served.
static void test_rude_clients_do_not_disturb_the_job(void **state)
{
    (void)state;
    struct job *job = job_create(weir_test_cluster_bootstrap(cluster), "attacked");
    struct weir_test_process *process =
        job_start(job, false, (const char *const[]){HTTP_LISTEN, "WEIR_LOG_LEVEL=info", NULL});
    struct attack attacked = {.port = http_port(process)};
    http_wait_ready(attacked.port, 200, NULL, LONG_MS);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, attack, &attacked), 0);
    for (int i = 0; i < 5; i++) {
        job_feed(job, 2000);
        char *live = http_get(attacked.port, "/livez");
        free(live);
        struct metrics_page *page = metrics_of(attacked.port);
        metrics_free(page);
    }
    WEIR_TEST_WAIT_UNTIL(atomic_load(&attacked.count) > 1200, LONG_MS);
    job_wait_read(job, process, LONG_MS);
    atomic_store(&attacked.is_over, true);
    pthread_join(thread, NULL);
    http_wait_ready(attacked.port, 200, NULL, LONG_MS);
    struct metrics_page *page = metrics_of(attacked.port);
    expect(page, "weir_source_records_total", "", 10000);
    expect(page, "weir_restarts_total", "", 0);
    assert_true(metrics_sum(page, "weir_memory_bytes", "pool=\"resident\"", NULL) < 512 << 20);
    metrics_free(page);
    weir_test_process_signal(process, SIGTERM);
    job_expect_end(process, 0, LONG_MS, "stopped after a final checkpoint");
    weir_test_process_destroy(process);
    job_check(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_say_exactly_what_was_done),
        cmocka_unit_test(test_what_the_job_does_is_told),
        cmocka_unit_test(test_readiness_says_what_is_missing),
        cmocka_unit_test(test_rude_clients_do_not_disturb_the_job),
    };
    return cmocka_run_group_tests(tests, start, cluster_stop);
}
