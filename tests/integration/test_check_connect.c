// SPDX-License-Identifier: Apache-2.0
// `weir check --connect` on a real broker: what a start would find, before and while the job runs,
// for edits that keep state, start from now and lose it; the same lines as the refusal of a start;
// and nothing is touched.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define INPUT "CREATE TABLE input (n int) WITH (topic = '$-in');\n"
#define SINKS                                                                                      \
    "CREATE TABLE wide (k int PRIMARY KEY, c bigint, s bigint) WITH (topic = '$-out');\n"          \
    "CREATE TABLE copy (n int) WITH (topic = '$-copy', partitions = '3');\n"
#define COUNTS                                                                                     \
    INPUT SINKS "INSERT INTO wide (k, c) SELECT n % 2, count(*) FROM input GROUP BY n % 2"
#define CHECK SQL_JOB_TEXTS("check", "--connect")

static struct sql_job *create(const char *name)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, COUNTS ";");
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 1);
    return job;
}

static void expect_says(struct sql_job *job, int code, const char *const *texts)
{
    sql_job_expect_untouched(job, CHECK, NULL, code, texts);
}

static void test_before_the_first_start(void **state)
{
    (void)state;
    struct sql_job *job = create("first");
    sql_job_set_sql(job, COUNTS ";\nINSERT INTO copy SELECT n FROM input;");
    expect_says(job, 0,
                 SQL_JOB_TEXTS("topic first-in (table input, topic, read): 2 partitions\n",
                               "topic first-out (table wide, topic, written): 1 partition\n",
                               "topic first-copy (table copy, topic, written): does not exist; a "
                               "start makes it, with 3 partitions\n",
                               "no checkpoint: the job begins with empty state\n",
                               "aggregate → wide begins empty\n", "ok: 1 source, 2 sinks\n"));
    assert_int_equal(weir_test_topic_partition_count(job->bootstrap, sql_job_topic(job, "copy")),
                     0);
    char *folder = weir_test_format("%s/first", job->store_dir);
    assert_int_not_equal(access(folder, F_OK), 0); // not made
    free(folder);
    // All that is missing at once.
    sql_job_set_sql(job, "CREATE TABLE a (n int) WITH (topic = '$-a');\n"
                         "CREATE TABLE b (n int) WITH (topic = '$-b');\n"
                         "INSERT INTO b SELECT n FROM a;");
    sql_job_run_command(job, CHECK, NULL, 2,
                        SQL_JOB_TEXTS("topic first-a (table a, topic, read): does not exist\n",
                                      "weir: table a: its topic \"first-a\" does not exist",
                                      "weir: table b: its topic \"first-b\" does not exist"));
    sql_job_run_command(
        job, CHECK,
        SQL_JOB_EXTRA("WEIR_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:1", "WEIR_CONNECT_TIMEOUT=1s"), 1,
        SQL_JOB_TEXTS("gave up waiting for the brokers"));
    sql_job_run_command(job, SQL_JOB_TEXTS("check", "--json"), NULL, 2,
                        SQL_JOB_TEXTS("--json is for check --connect"));
}

static void test_each_edit_is_shown_as_a_start_takes_it(void **state)
{
    (void)state;
    struct sql_job *job = create("edits");
    sql_job_feed_numbers(job, "in", 0, 0, 6);
    sql_job_feed_numbers(job, "in", 1, 0, 4);
    sql_job_run_bounded(job);
    sql_job_feed_numbers(job, "in", 1, 4, 3);
    expect_says(job, 0,
                 SQL_JOB_TEXTS("checkpoint ", " of attempt ", job->store_dir,
                               "  table input, topic edits-in, partition 0: offset 6 of 6\n",
                               "  table input, topic edits-in, partition 1: offset 4 of 7\n",
                               "  aggregate → wide keeps its state: ", " bytes of state, 2 rows\n",
                               "ok: 1 source, 1 sink\n"));
    // A sink, a condition, a column: all is kept.
    sql_job_set_sql(job, COUNTS " HAVING count(*) > 1;\nINSERT INTO copy SELECT n FROM input;");
    expect_says(job, 0, SQL_JOB_TEXTS("aggregate → wide keeps its state: ", " 2 rows\n"));
    sql_job_set_sql(job, INPUT SINKS "INSERT INTO wide SELECT n % 2, count(*), sum(n) FROM input "
                                     "GROUP BY n % 2;");
    expect_says(job, 0,
                 SQL_JOB_TEXTS("aggregate → wide keeps its state: ",
                               "  aggregate → wide: sum(n) is new and starts from now: NULL in "
                               "rows that are there (2 rows) until more come\n",
                               "ok: "));
    // What a start refuses, in its words.
    static const char *const lossy[] = {
        INPUT SINKS "INSERT INTO wide (k, s) SELECT n % 2, sum(n) FROM input GROUP BY n % 2;",
        INPUT SINKS "INSERT INTO wide (k, c) SELECT n % 2, count(*) FROM input WHERE n > 3 GROUP "
                    "BY n % 2;",
    };
    static const char *const says[] = {
        " aggregate → wide would no longer keep count(*): 16 bytes of state, 2 rows\n",
        " aggregate → wide is no longer there: ",
    };
    for (size_t i = 0; i < sizeof lossy / sizeof lossy[0]; i++) {
        sql_job_set_sql(job, lossy[i]);
        const char *const *texts =
            SQL_JOB_TEXTS("would lose state of checkpoint ", says[i], "WEIR_ALLOW=state_loss");
        expect_says(job, 2, texts);
        sql_job_expect_refused(job, NULL, texts);
    }
    sql_job_expect_untouched(job, CHECK, SQL_JOB_EXTRA("WEIR_ALLOW=state_loss"), 0,
                             SQL_JOB_TEXTS("aggregate → wide is no longer there: ", "ok: "));
    // Another store: the pointer names what is not there.
    sql_job_set_sql(job, COUNTS ";");
    char *elsewhere = weir_test_format("WEIR_CHECKPOINT_DIR=%s/elsewhere", job->dir);
    sql_job_expect_untouched(job, CHECK, SQL_JOB_EXTRA(elsewhere), 2,
                             SQL_JOB_TEXTS("points at checkpoint"));
    sql_job_expect_untouched(job, CHECK, SQL_JOB_EXTRA("WEIR_RESTORE=discard:all"), 0,
                             SQL_JOB_TEXTS("discard:all: the job begins with empty state\n"));
    free(elsewhere);
}

static void test_beside_a_job_that_runs(void **state)
{
    (void)state;
    struct sql_job *job = create("beside");
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_running(process);
    for (int i = 0; i < 4; i++) {
        sql_job_feed_numbers(job, "in", 0, 10 * i, 10);
        sql_job_run_command(job, CHECK, NULL, 0, SQL_JOB_TEXTS("checkpoint ", "ok: "));
    }
    // It is still the owner: nobody was fenced, and its rows go on being committed.
    sql_job_feed_numbers(job, "in", 0, 40, 2);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 0) >= 42, 20000);
    assert_false(weir_test_process_wait_text(process, "looking who owns the job", 0, NULL));
    assert_false(weir_test_process_wait_text(process, "going back", 0, NULL));
    sql_job_stop(process);
}

static void test_as_json(void **state)
{
    (void)state;
    struct sql_job *job = create("json");
    sql_job_feed_numbers(job, "in", 0, 0, 6);
    sql_job_run_bounded(job);
    sql_job_set_sql(job, INPUT SINKS "INSERT INTO wide (k, s) SELECT n % 2, sum(n) FROM input "
                                     "GROUP BY n % 2;");
    const char *output =
        sql_job_expect_untouched(job, SQL_JOB_TEXTS("check", "--connect", "--json"),
                                 SQL_JOB_EXTRA("WEIR_LOG_LEVEL=error"), 2, NULL);
    json_error_t error;
    const char *begin = strstr(output, "{\n"); // what is wrong is a message, too
    json_t *root = begin != NULL ? json_loads(begin, JSON_DISABLE_EOF_CHECK, &error) : NULL;
    if (root == NULL) {
        WEIR_TEST_FAIL("%s:\n%s", error.text, output);
    }
    assert_false(json_is_true(json_object_get(root, "ok")));
    assert_int_equal(json_array_size(json_object_get(root, "faults")), 1);
    assert_true(json_is_string(json_object_get(root, "cluster")));
    json_t *topic = json_array_get(json_object_get(root, "topics"), 0);
    assert_string_equal(json_string_value(json_object_get(topic, "name")), "json-in");
    assert_int_equal(json_integer_value(json_object_get(topic, "partitions")), 2);
    json_t *checkpoint = json_object_get(root, "checkpoint");
    assert_true(json_integer_value(json_object_get(checkpoint, "number")) > 0);
    json_t *position = json_array_get(json_object_get(checkpoint, "positions"), 0);
    assert_int_equal(json_integer_value(json_object_get(position, "offset")), 6);
    static const char *const fates[] = {"kept", "lost", "from_now"};
    json_t *items = json_object_get(root, "state");
    assert_int_equal(json_array_size(items), 3);
    for (size_t i = 0; i < 3; i++) {
        json_t *item = json_array_get(items, i);
        assert_string_equal(json_string_value(json_object_get(item, "operator")),
                            "aggregate → wide");
        assert_string_equal(json_string_value(json_object_get(item, "fate")), fates[i]);
        assert_int_equal(json_integer_value(json_object_get(item, "rows")), 2);
    }
    json_decref(root);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_the_first_start),
        cmocka_unit_test(test_each_edit_is_shown_as_a_start_takes_it),
        cmocka_unit_test(test_beside_a_job_that_runs),
        cmocka_unit_test(test_as_json),
    };
    return cmocka_run_group_tests_name("integration/test_check_connect", tests, cluster_start,
                                       cluster_stop);
}
