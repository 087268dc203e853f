// SPDX-License-Identifier: Apache-2.0
// WEIR_GUARANTEE=at_least_once on real brokers: killed again and again, nothing is lost (duplicates
// are allowed, and counted here); two owners fence each other all the same; a store that takes
// nothing for a while costs checkpoints and not the run; the mode can be changed at a restart.
// WEIR_TEST_KILLS sets how many kills (7 by default).
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/sql_job_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTITIONS = 4, KEYS = 50, KILLS_DEFAULT = 7, FED_PER_PART = 200, ROUND_MS_MAX = 20000 };

static const char *const job_sql =
    "CREATE TABLE input (n int) WITH (topic = '$-in');\n"
    "CREATE TABLE copy (n int) WITH (topic = '$-copy');\n"
    "CREATE TABLE counts (k int PRIMARY KEY, c bigint) WITH (topic = '$-counts');\n"
    "INSERT INTO copy SELECT n FROM input;\n"
    "INSERT INTO counts SELECT n % 50, count(*) FROM input GROUP BY n % 50;\n";

static const char *const points[] = {
    "coordinator.triggered", "task.barrier",          "store.renamed", "commit.before_offsets",
    "commit.before_end",     "commit.after_end",      "claim.after",   "kafka.sent.TxnOffsetCommit",
    "kafka.sent.EndTxn",     "kafka.answered.EndTxn",
};
enum { POINT_COUNT = sizeof points / sizeof points[0] };

static const char mode[] = "WEIR_GUARANTEE=at_least_once";

static int fed_count;

static struct sql_job *create(const char *name)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, job_sql);
    sql_job_topic_create(job, "in", PARTITIONS);
    sql_job_topic_create(job, "copy", PARTITIONS);
    sql_job_topic_create(job, "counts", 2);
    fed_count = 0;
    return job;
}

static void feed(const struct sql_job *job)
{
    for (int p = 0; p < PARTITIONS; p++) {
        sql_job_feed_numbers(job, "in", p, fed_count, FED_PER_PART / PARTITIONS);
        fed_count += FED_PER_PART / PARTITIONS;
    }
}

static void die(struct sql_job *job, const char *point)
{
    bool is_once = point != NULL && strncmp(point, "claim.", 6) == 0;
    const char *failpoint = weir_test_format(
        "WEIR_FAILPOINTS=%s=kill@%d", point != NULL ? point : "none", is_once ? 1 : 1 + rand() % 4);
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA(mode, failpoint, "WEIR_CHECKPOINT_MAX_CONCURRENT=2"));
    int64_t deadline_ms = weir_test_now_ms() + (point != NULL ? ROUND_MS_MAX : 500 + rand() % 1000);
    bool is_killed = false;
    while (!is_killed && weir_test_now_ms() < deadline_ms) {
        feed(job);
        is_killed = weir_test_process_wait_killed(process, 50);
    }
    if (point != NULL && !is_killed) {
        WEIR_TEST_FAIL("never came to %s:\n%s", point, weir_test_process_output(process));
    }
    sql_job_kill(process);
}

// Every number at least once; how many were there more often.
static int check_copy(const struct sql_job *job)
{
    struct weir_test_log *log = sql_job_read(job, "copy");
    int *seen = weir_test_alloc((size_t)fed_count * sizeof *seen);
    memset(seen, 0, (size_t)fed_count * sizeof *seen);
    int duplicate_count = 0;
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = sql_job_text(&log->partitions[p].records[i]);
            int n = -1;
            if (sscanf(text, "{\"n\":%d}", &n) != 1 || n < 0 || n >= fed_count) {
                WEIR_TEST_FAIL("copy holds %s", text);
            }
            duplicate_count += seen[n]++ > 0 ? 1 : 0;
            free(text);
        }
    }
    for (int n = 0; n < fed_count; n++) {
        if (seen[n] == 0) {
            WEIR_TEST_FAIL("%d of %d is lost", n, fed_count);
        }
    }
    free(seen);
    weir_test_log_destroy(log);
    return duplicate_count;
}

// The last count of every key is the truth, or more.
static void check_counts(const struct sql_job *job, bool is_exact)
{
    struct weir_test_log *log = sql_job_read(job, "counts");
    long long last[KEYS] = {0};
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = sql_job_text(&log->partitions[p].records[i]);
            int k = -1;
            long long count = -1;
            if (sscanf(text, "{\"k\":%d,\"c\":%lld}", &k, &count) != 2 || k < 0 || k >= KEYS) {
                WEIR_TEST_FAIL("counts holds %s", text);
            }
            last[k] = count;
            free(text);
        }
    }
    for (int k = 0; k < KEYS; k++) {
        long long truth = (fed_count - k + KEYS - 1) / KEYS;
        if (last[k] < truth || (is_exact && last[k] != truth)) {
            WEIR_TEST_FAIL("key %d ends at %lld instead of %lld", k, last[k], truth);
        }
    }
    weir_test_log_destroy(log);
}

static void test_kills_lose_nothing(void **state)
{
    (void)state;
    struct sql_job *job = create("alokill");
    int kill_count = number_from("WEIR_TEST_KILLS", KILLS_DEFAULT);
    for (int i = 0; i < kill_count; i++) {
        die(job, i < POINT_COUNT   ? points[i]
                 : rand() % 2 == 0 ? points[rand() % POINT_COUNT]
                                   : NULL);
    }
    sql_job_run(job, SQL_JOB_EXTRA(mode, "WEIR_BOUNDED=true"), 0, NULL);
    int duplicate_count = check_copy(job);
    check_counts(job, false);
    print_message("%d kills, %d records, nothing lost, %d twice\n", kill_count, fed_count,
                  duplicate_count);
}

// Without a crash nothing comes twice, and the modes can follow each other.
static void test_mode_changes_at_a_restart(void **state)
{
    (void)state;
    struct sql_job *job = create("alomode");
    for (int i = 0; i < 4; i++) {
        feed(job);
        sql_job_run(
            job,
            SQL_JOB_EXTRA(i % 2 == 0 ? mode : "WEIR_GUARANTEE=exactly_once", "WEIR_BOUNDED=true"),
            0, NULL);
    }
    assert_int_equal(check_copy(job), 0);
    check_counts(job, true);
}

static void test_rows_are_visible_before_their_checkpoint(void **state)
{
    (void)state;
    struct sql_job *job = create("alonow");
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA(mode, "WEIR_CHECKPOINT_INTERVAL=5min"));
    sql_job_wait_running(process);
    feed(job);
    sql_job_wait_count(job, "copy", FED_PER_PART);
    assert_int_equal(sql_job_committed(job, "in", 0), 0); // as the claim left it
    sql_job_stop(process);
    assert_int_equal(sql_job_committed(job, "in", 0), FED_PER_PART / PARTITIONS);
    assert_int_equal(check_copy(job), 0);
}

static void test_later_owner_fences_the_earlier_one(void **state)
{
    (void)state;
    struct sql_job *job = create("alofence");
    struct weir_test_process *first = sql_job_start(job, SQL_JOB_EXTRA(mode));
    sql_job_wait_running(first);
    feed(job);
    struct weir_test_process *second = sql_job_start(
        job, SQL_JOB_EXTRA(mode, weir_test_format("WEIR_STATE_DIR=%s/second", job->dir)));
    sql_job_wait_running(second);
    feed(job);
    sql_job_expect_exit(first, 3, SQL_JOB_TEXTS("a newer instance owns the job"));
    feed(job);
    sql_job_stop(second);
    sql_job_run(job, SQL_JOB_EXTRA(mode, "WEIR_BOUNDED=true"), 0, NULL);
    check_copy(job);
}

static int job_says(struct weir_test_process *process, const char *text)
{
    char *output = weir_test_process_output(process);
    int count = 0;
    for (const char *at = strstr(output, text); at != NULL; at = strstr(at + 1, text)) {
        count++;
    }
    free(output);
    return count;
}

// The store's refusals are tolerated, up to a bound.
static void test_store_that_takes_nothing_for_a_while(void **state)
{
    (void)state;
    struct sql_job *job = create("alostore");
    // From the sixth write on six are refused: the owner's and the start's come first, and each
    // manifest is tried again until its checkpoint's time is out.
    static const char fail[] = "store.write=error@6";
    struct weir_test_process *process =
        sql_job_start(job, SQL_JOB_EXTRA(mode,
                                         weir_test_format("WEIR_FAILPOINTS=%s,%s,%s,%s,%s,%s", fail,
                                                          fail, fail, fail, fail, fail),
                                         HTTP_LISTEN, "WEIR_CHECKPOINT_TIMEOUT=1s",
                                         "WEIR_CHECKPOINT_TOLERABLE_FAILURES=9"));
    sql_job_wait_running(process);
    int64_t deadline_ms = weir_test_now_ms() + ROUND_MS_MAX;
    while (job_says(process, "such failures in a row") < 2) {
        assert_true(weir_test_now_ms() < deadline_ms);
        feed(job);
        weir_test_sleep_ms(200);
    }
    feed(job);
    for (int i = 0; i < 400 && sql_job_committed(job, "in", 0) < fed_count / PARTITIONS; i++) {
        weir_test_sleep_ms(50);
    }
    assert_int_equal(sql_job_committed(job, "in", 0), fed_count / PARTITIONS);
    assert_int_equal(job_says(process, "going back to the last committed checkpoint"), 0);
    // Each failure has its reason, none of them another than what was done here.
    double failed = live_util_metric(process, "weir_checkpoints_total", "\"failed\"");
    assert_true(failed >= 2);
    assert_true(live_util_metric(process, "weir_checkpoint_failures_total", NULL) == failed);
    assert_true(live_util_metric(process, "weir_checkpoint_failures_total", "\"expired\"") +
                    live_util_metric(process, "weir_checkpoint_failures_total", "\"store\"") +
                    live_util_metric(process, "weir_checkpoint_failures_total", "\"subsumed\"") ==
                failed);
    char *checkpoints = live_util_get(process, "/api/v1/checkpoints", NULL);
    assert_non_null(strstr(checkpoints, "\"state\": \"failed\""));
    assert_non_null(strstr(checkpoints, "\"reason\": \""));
    free(checkpoints);
    sql_job_stop(process);
    assert_int_equal(check_copy(job), 0);
    check_counts(job, true);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kills_lose_nothing),
        cmocka_unit_test(test_mode_changes_at_a_restart),
        cmocka_unit_test(test_rows_are_visible_before_their_checkpoint),
        cmocka_unit_test(test_later_owner_fences_the_earlier_one),
        cmocka_unit_test(test_store_that_takes_nothing_for_a_while),
    };
    return cmocka_run_group_tests_name("integration/test_at_least_once", tests,
                                       cluster_start_seeded, cluster_stop);
}
