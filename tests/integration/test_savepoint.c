// SPDX-License-Identifier: Apache-2.0
// Savepoints on a real job: taken over HTTP while it goes on, with a stop, with a drain; restored
// into another job and store, into the same one, with another parallelism, under kills; refused
// where they cannot be. The content of the outputs is checked, row by row.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 20 };

// The input is named apart, so that another job can go on with it.
#define JOB_SQL                                                                                    \
    "CREATE TABLE input (n int) WITH (topic = 'sp-input-%s');\n"                                   \
    "CREATE TABLE copy (n int) WITH (topic = '$-copy');\n"                                         \
    "CREATE TABLE counts (k int PRIMARY KEY, c bigint) WITH (topic = '$-counts');\n"               \
    "INSERT INTO copy SELECT n FROM input;\n"                                                      \
    "INSERT INTO counts SELECT n %% 20, count(*) FROM input GROUP BY n %% 20;\n"

#define WINDOW_SQL                                                                                 \
    "CREATE TABLE input (n int, ts timestamptz) WITH (topic = '$-in', event_time = 'ts',\n"        \
    "  watermark_delay = '1 minute', late_topic = '$-late');\n"                                    \
    "CREATE TABLE windows (w timestamptz, c bigint) WITH (topic = '$-windows');\n"                 \
    "INSERT INTO windows SELECT window_start, count(*)\n"                                          \
    "  FROM tumble(input, ts, interval '10 seconds') GROUP BY window_start;\n"

// A job of that name on the input of `input`.
static struct sql_job *create(const char *name, const char *input)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name,
                                         weir_test_format(JOB_SQL, input));
    if (strcmp(name, input) == 0) {
        weir_test_topic_create(job->bootstrap, weir_test_format("sp-input-%s", input), 2, NULL);
    }
    sql_job_topic_create(job, "copy", 1);
    sql_job_topic_create(job, "counts", 1);
    return job;
}

static void feed(const struct sql_job *job, const char *input, int first, int count)
{
    for (int n = first; n < first + count; n++) {
        struct weir_test_record record =
            weir_test_record_of(n % 2, NULL, weir_test_format("{\"n\":%d}", n));
        weir_test_produce(job->bootstrap, weir_test_format("sp-input-%s", input), &record, 1);
    }
}

static struct weir_test_process *start_http(struct sql_job *job)
{
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(HTTP_LISTEN));
    sql_job_wait_running(process);
    return process;
}

// A savepoint into that path, with more members of the request; its answer must have that status
// and hold the text.
static void ask_savepoint(struct weir_test_process *process, const char *path, const char *more,
                          int expected_status, const char *text)
{
    int status;
    char *body = live_util_post(process, "/api/v1/savepoints",
                                weir_test_format("{\"path\":\"%s\"%s}", path, more), &status);
    if (status != expected_status || strstr(body, text) == NULL) {
        WEIR_TEST_FAIL("answered %d %s:\n%s", status, body, weir_test_process_output(process));
    }
    free(body);
}

static void expect_savepoint(struct weir_test_process *process, const char *path, const char *more)
{
    ask_savepoint(process, path, more, 200, "\"committed\"");
}

// How often each number from 0 to `end` is in the copy: `first_times` below `split`, else
// `then_times`.
static void expect_copy(const struct sql_job *job, int split, int first_times, int end,
                        int then_times)
{
    int *times = weir_test_alloc((size_t)end * sizeof *times);
    memset(times, 0, (size_t)end * sizeof *times);
    struct weir_test_log *log = sql_job_read(job, "copy");
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        char *text = sql_job_text(&log->partitions[0].records[i]);
        int n = -1;
        if (sscanf(text, "{\"n\":%d}", &n) != 1 || n < 0 || n >= end) {
            WEIR_TEST_FAIL("copy holds %s", text);
        }
        times[n]++;
        free(text);
    }
    for (int n = 0; n < end; n++) {
        int expected = n < split ? first_times : then_times;
        if (times[n] != expected) {
            WEIR_TEST_FAIL("%d is there %d times instead of %d", n, times[n], expected);
        }
    }
    weir_test_log_destroy(log);
    free(times);
}

// The last count of each key is that of the numbers below `end`.
static void expect_counts(const struct sql_job *job, int end)
{
    long long last[KEYS] = {0};
    struct weir_test_log *log = sql_job_read(job, "counts");
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        char *text = sql_job_text(&log->partitions[0].records[i]);
        int k = -1;
        long long count = -1;
        if (sscanf(text, "{\"k\":%d,\"c\":%lld}", &k, &count) != 2 || k < 0 || k >= KEYS) {
            WEIR_TEST_FAIL("counts holds %s", text);
        }
        last[k] = count;
        free(text);
    }
    for (int k = 0; k < KEYS; k++) {
        if (last[k] != (end - k + KEYS - 1) / KEYS) {
            WEIR_TEST_FAIL("key %d ends at %lld", k, last[k]);
        }
    }
    weir_test_log_destroy(log);
}

static const char *path_of(const struct sql_job *job, const char *name)
{
    return weir_test_format("%s/%s", job->dir, name);
}

static const char *restore_of(const char *path)
{
    return weir_test_format("WEIR_RESTORE=savepoint:%s", path);
}

static void test_savepoint_is_taken_while_the_job_goes_on_and_restored_elsewhere(void **state)
{
    (void)state;
    struct sql_job *job = create("while", "while");
    feed(job, "while", 0, 100);
    struct weir_test_process *process = start_http(job);
    sql_job_wait_count(job, "copy", 100);
    expect_savepoint(process, path_of(job, "sp"), "");
    feed(job, "while", 100, 100);
    sql_job_wait_count(job, "copy", 200);
    ask_savepoint(process, path_of(job, "sp"), "", 409, "is not empty");
    sql_job_stop(process);
    expect_counts(job, 200);

    // Another job id, another store, the folder moved, and the first store gone.
    struct sql_job *other = create("elsewhere", "while");
    const char *moved = path_of(other, "moved");
    assert_int_equal(
        system(weir_test_format("mv %s %s && rm -r %s", path_of(job, "sp"), moved, job->store_dir)),
        0);
    sql_job_run(other, SQL_JOB_EXTRA("WEIR_BOUNDED=true", restore_of(moved), "WEIR_PARALLELISM=3"),
                0, SQL_JOB_TEXTS("goes on from the savepoint in"));
    expect_copy(other, 100, 0, 200, 1); // what came after it
    expect_counts(other, 200);          // and what had been counted before
    // The same value again goes on from the pointer; the folder is not needed any more.
    assert_int_equal(system(weir_test_format("rm -r %s", moved)), 0);
    feed(other, "while", 200, 50);
    sql_job_run(other, SQL_JOB_EXTRA("WEIR_BOUNDED=true", restore_of(moved)), 0, NULL);
    expect_copy(other, 100, 0, 250, 1);
    expect_counts(other, 250);
}

static void test_restore_rewinds_once_over_kills(void **state)
{
    (void)state;
    struct sql_job *job = create("once", "once");
    feed(job, "once", 0, 100);
    struct weir_test_process *process = start_http(job);
    sql_job_wait_count(job, "copy", 100);
    expect_savepoint(process, path_of(job, "sp"), ", \"stop\":true");
    sql_job_expect_exit(process, 0, SQL_JOB_TEXTS("stopped after a final checkpoint"));
    feed(job, "once", 100, 100);
    sql_job_run_bounded(job);
    expect_copy(job, 100, 1, 200, 1);
    static const char *const places[] = {
        "recover.fenced",    "recover.imported", "store.renamed", "claim.before",
        "commit.before_end", "commit.after_end", "claim.after",   "coordinator.triggered"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        sql_job_run(job,
                    SQL_JOB_EXTRA("WEIR_BOUNDED=true", restore_of(path_of(job, "sp")),
                                  weir_test_format("WEIR_FAILPOINTS=%s=kill", places[i])),
                    -9, NULL);
    }
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", restore_of(path_of(job, "sp"))), 0, NULL);
    expect_copy(job, 100, 1, 200, 2); // read again once, however often it was killed
    expect_counts(job, 200);          // its state was rewound with it
    // Taken back and given again: it was obeyed.
    sql_job_run_bounded(job);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", restore_of(path_of(job, "sp"))), 0, NULL);
    expect_copy(job, 100, 1, 200, 2);
}

static void feed_window(const struct sql_job *job, int n, const char *time)
{
    sql_job_feed(job, "in", 0, weir_test_format("{\"n\":%d,\"ts\":\"2024-05-01 %s+00\"}", n, time));
}

static void test_drain_closes_windows_and_none_comes_out_twice(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "drain", WINDOW_SQL);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "windows", 1);
    sql_job_topic_create(job, "late", 1);
    feed_window(job, 1, "12:00:01");
    feed_window(job, 2, "12:00:02");
    feed_window(job, 3, "12:00:13");
    struct weir_test_process *process = start_http(job);
    for (int i = 0; i < 600 && sql_job_committed(job, "in", 0) < 3; i++) {
        weir_test_sleep_ms(50);
    }
    assert_int_equal(sql_job_committed(job, "in", 0), 3);
    const char *listen = weir_test_format("WEIR_HTTP_LISTEN=127.0.0.1:%u", http_port(process));
    sql_job_run_command(job, SQL_JOB_TEXTS("savepoint", "relative"), SQL_JOB_EXTRA(listen), 2,
                        SQL_JOB_TEXTS("no savepoint was made (HTTP 409)", "no absolute path"));
    sql_job_run_command(job, SQL_JOB_TEXTS("savepoint", path_of(job, "sp"), "--drain"),
                        SQL_JOB_EXTRA(listen), 0, SQL_JOB_TEXTS("\"state\": \"committed\""));
    sql_job_expect_exit(process, 0, NULL);
    sql_job_run_command(job, SQL_JOB_TEXTS("savepoint", path_of(job, "sp2")), SQL_JOB_EXTRA(listen),
                        1, SQL_JOB_TEXTS("no weir answers on"));
    static const char *const drained[] = {"{\"w\":\"2024-05-01T12:00:00+00:00\",\"c\":2}",
                                          "{\"w\":\"2024-05-01T12:00:10+00:00\",\"c\":1}", NULL};
    sql_job_expect_values(job, "windows", 0, drained);
    // Rows of windows that are out are late; the one after them is open.
    feed_window(job, 4, "12:00:05");
    feed_window(job, 5, "12:00:15");
    feed_window(job, 6, "12:00:25");
    sql_job_run_bounded(job);
    static const char *const after[] = {"{\"w\":\"2024-05-01T12:00:00+00:00\",\"c\":2}",
                                        "{\"w\":\"2024-05-01T12:00:10+00:00\",\"c\":1}",
                                        "{\"w\":\"2024-05-01T12:00:20+00:00\",\"c\":1}", NULL};
    sql_job_expect_values(job, "windows", 0, after);
}

static void test_savepoint_that_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    struct sql_job *job = create("no", "no");
    feed(job, "no", 0, 100);
    struct weir_test_process *process = start_http(job);
    sql_job_wait_count(job, "copy", 100);
    ask_savepoint(process, "relative", "", 409, "no absolute path");
    ask_savepoint(process, "/proc/nothing/sp", "", 409, "");
    expect_savepoint(process, path_of(job, "sp"), ", \"stop\":true");
    sql_job_expect_exit(process, 0, NULL);
    const char *sp = path_of(job, "sp");
    const char *store = sql_job_store_print(job);
    sql_job_run(job, SQL_JOB_EXTRA(restore_of(path_of(job, "nothing"))), 2,
                SQL_JOB_TEXTS("No such file or directory"));
    // One byte of one file of state.
    assert_int_equal(system(weir_test_format("f=$(ls %s/state.* | head -1); printf X | "
                                             "dd of=$f bs=1 seek=9 conv=notrunc 2>/dev/null",
                                             sp)),
                     0);
    sql_job_run(job, SQL_JOB_EXTRA(restore_of(sp)), 2, SQL_JOB_TEXTS("is damaged: expected"));
    assert_int_equal(system(weir_test_format("rm %s/savepoint.json", sp)), 0);
    sql_job_run(job, SQL_JOB_EXTRA(restore_of(sp)), 2, SQL_JOB_TEXTS("was never finished"));
    assert_string_equal(sql_job_store_print(job), store); // nobody was fenced, nothing written
    sql_job_run_bounded(job);
    expect_copy(job, 100, 1, 100, 0);
}

static void test_state_moves_with_the_parallelism(void **state)
{
    (void)state;
    static const int parallelisms[] = {1, 4, 3, 1};
    struct sql_job *job = create("scale", "scale");
    for (int i = 0; i < 4; i++) {
        feed(job, "scale", i * 60, 60);
        sql_job_run(job,
                    SQL_JOB_EXTRA("WEIR_BOUNDED=true",
                                  weir_test_format("WEIR_PARALLELISM=%d", parallelisms[i])),
                    0, NULL);
        expect_copy(job, 0, 0, (i + 1) * 60, 1);
        expect_counts(job, (i + 1) * 60);
    }
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_savepoint_is_taken_while_the_job_goes_on_and_restored_elsewhere),
        cmocka_unit_test(test_restore_rewinds_once_over_kills),
        cmocka_unit_test(test_drain_closes_windows_and_none_comes_out_twice),
        cmocka_unit_test(test_savepoint_that_cannot_be_is_refused_by_name),
        cmocka_unit_test(test_state_moves_with_the_parallelism),
    };
    return cmocka_run_group_tests_name("integration/test_savepoint", tests, cluster_start,
                                       cluster_stop);
}
