// SPDX-License-Identifier: Apache-2.0
// The lines of the recovery table about topics that change under a job: enlarged, cut at the front,
// deleted, made anew; while the job is stopped and while it runs. The other lines: test_recovery.c.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/sql_job_util.h"

#include "kafka/client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define COPY_SQL                                                                                   \
    "CREATE TABLE input (n int) WITH (topic = '$-in');\n"                                          \
    "CREATE TABLE output (n int) WITH (topic = '$-out');\n"                                        \
    "INSERT INTO output SELECT n FROM input;\n"

#define COPY_LATEST_SQL                                                                            \
    "CREATE TABLE input (n int) WITH (topic = '$-in', start = 'latest');\n"                        \
    "CREATE TABLE output (n int) WITH (topic = '$-out');\n"                                        \
    "INSERT INTO output SELECT n FROM input;\n"

#define COPY_GAPS_SQL                                                                              \
    "CREATE TABLE input (n int) WITH (topic = '$-in', on_missing = 'continue');\n"                 \
    "CREATE TABLE output (n int) WITH (topic = '$-out');\n"                                        \
    "INSERT INTO output SELECT n FROM input;\n"

static struct sql_job *create_copy(const char *name, const char *sql, int32_t partition_count)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, sql);
    sql_job_topic_create(job, "in", partition_count);
    sql_job_topic_create(job, "out", 1);
    return job;
}

// Deletes "in" and makes it anew with so many partitions and records.
static void make_anew(const struct sql_job *job, int32_t partition_count, int record_count)
{
    weir_test_topic_delete(job->bootstrap, sql_job_topic(job, "in"));
    sql_job_topic_create(job, "in", partition_count);
    if (record_count > 0) {
        sql_job_feed_numbers(job, "in", 0, 1000, record_count);
    }
}

// Do clients know topic ids (librdkafka 2.3 and later)? Else a longer topic made anew looks the
// same while it is read.
static bool are_topic_ids_known(void)
{
    int major = 0;
    int minor = 0;
    assert_int_equal(sscanf(weir_rdkafka_version(), "%d.%d", &major, &minor), 2);
    return major > 2 || (major == 2 && minor >= 3);
}

static void test_partition_added_while_stopped_is_read_from_its_first_record(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("grown", COPY_LATEST_SQL, 1);
    sql_job_feed_numbers(job, "in", 0, 0, 5);
    sql_job_run_bounded(job);
    weir_test_topic_grow(job->bootstrap, sql_job_topic(job, "in"), 3);
    sql_job_feed_numbers(job, "in", 2, 0, 10);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 10);
    assert_int_equal(sql_job_committed(job, "in", 2), 10);
}

// C138.
static void test_partition_added_while_running_is_read_from_its_first_record(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("growing", COPY_LATEST_SQL, 1);
    sql_job_feed_numbers(job, "in", 0, 100, 5);
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_running(process);
    weir_test_topic_grow(job->bootstrap, sql_job_topic(job, "in"), 3);
    sql_job_feed_numbers(job, "in", 2, 0, 10);
    assert_true(weir_test_process_wait_text(process, "has 3 partitions, 1 before", 30000, NULL));
    sql_job_feed_numbers(job, "in", 2, 10, 10);
    sql_job_wait_count(job, "out", 20);
    WEIR_TEST_WAIT_UNTIL(sql_job_committed(job, "in", 2) == 20, 10000);
    // Also the one that has no record.
    assert_int_equal(sql_job_committed(job, "in", 1), 0);
    sql_job_kill(process);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 20);
}

// C141.
static void test_records_removed_while_stopped(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("cut", COPY_SQL, 1);
    sql_job_feed_numbers(job, "in", 0, 0, 250);
    sql_job_run_bounded(job);
    sql_job_feed_numbers(job, "in", 0, 250, 950);
    weir_test_topic_delete_records(job->bootstrap, sql_job_topic(job, "in"), 0, 700);
    const char *log = sql_job_expect_refused(
        job, SQL_JOB_BOUNDED,
        SQL_JOB_TEXTS("topic cut-in partition 0: wanted offset 250, the first record there has "
                      "offset 700: 450 records were removed",
                      "on_missing = 'continue'"));
    assert_null(strstr(strstr(log, "wanted offset") + 1, "wanted offset")); // said once
    sql_job_set_sql(job, COPY_GAPS_SQL);
    sql_job_run(job, SQL_JOB_BOUNDED, 0,
                SQL_JOB_TEXTS("warn", "topic cut-in partition 0: 450 records, from offset 250 to "
                                      "699, were removed"));
    struct weir_test_log *rows = sql_job_read(job, "out");
    assert_int_equal(rows->record_count, 250 + 500);
    assert_true(weir_test_value_is(&rows->partitions[0].records[249], "{\"n\":249}"));
    assert_true(weir_test_value_is(&rows->partitions[0].records[250], "{\"n\":700}"));
    assert_true(weir_test_value_is(&rows->partitions[0].records[749], "{\"n\":1199}"));
    weir_test_log_destroy(rows);
    // Once: the new position is committed.
    assert_null(strstr(sql_job_run_bounded(job), "were removed"));
}

// Records that were read may go.
static void test_records_removed_behind_the_position_are_not_missed(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("expired", COPY_SQL, 1);
    sql_job_feed_numbers(job, "in", 0, 0, 250);
    sql_job_run_bounded(job);
    weir_test_topic_delete_records(job->bootstrap, sql_job_topic(job, "in"), 0, 250);
    sql_job_run_bounded(job);
    sql_job_feed_numbers(job, "in", 0, 250, 10);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 260);
}

// Stands still while `count` records come and those before `first` go, then goes on.
static void cut_while_frozen(struct weir_test_process *process, const struct sql_job *job, int from,
                             int count, int first)
{
    weir_test_process_signal(process, SIGSTOP);
    weir_test_sleep_ms(1500); // the fetch that is under way ends empty
    sql_job_feed_numbers(job, "in", 0, from, count);
    weir_test_topic_delete_records(job->bootstrap, sql_job_topic(job, "in"), 0, first);
    weir_test_process_signal(process, SIGCONT);
}

// C141, running.
static void test_records_removed_while_running(void **state)
{
    (void)state;
    struct sql_job *strict = create_copy("cutting", COPY_SQL, 1);
    struct sql_job *lenient = create_copy("skipping", COPY_GAPS_SQL, 1);
    struct weir_test_process *processes[] = {sql_job_start(strict, NULL),
                                             sql_job_start(lenient, SQL_JOB_EXTRA(HTTP_LISTEN))};
    struct sql_job *jobs[] = {strict, lenient};
    for (int i = 0; i < 2; i++) {
        sql_job_feed_numbers(jobs[i], "in", 0, 0, 250);
        sql_job_wait_count(jobs[i], "out", 250);
        cut_while_frozen(processes[i], jobs[i], 250, 950, 700);
    }
    sql_job_expect_exit(
        processes[0], 1,
        SQL_JOB_TEXTS("topic cutting-in partition 0: wanted offset 250, the first record there has "
                      "offset 700: 450 records were removed",
                      "on_missing = 'continue'"));
    sql_job_expect_numbers(strict, "out", 0, 0, 250);
    sql_job_wait_count(lenient, "out", 750);
    assert_non_null(strstr(weir_test_process_output(processes[1]),
                           "topic skipping-in partition 0: 450 records, from offset 250 to 699"));
    assert_int_equal(
        (int)live_util_metric(processes[1], "weir_rows_dropped_total", "reason=\"missing\""), 450);
    sql_job_stop(processes[1]);
}

// C143, stopped: with 20 records read, a shorter and a longer topic of the same name.
static void test_topic_made_anew_while_stopped(void **state)
{
    (void)state;
    const int counts[] = {12, 150};
    for (int i = 0; i < 2; i++) {
        struct sql_job *job = create_copy(weir_test_format("anew-%d", counts[i]), COPY_SQL, 2);
        sql_job_feed_numbers(job, "in", 0, 0, 20);
        sql_job_run_bounded(job);
        make_anew(job, 2, counts[i]);
        sql_job_expect_refused(
            job, SQL_JOB_BOUNDED,
            SQL_JOB_TEXTS(weir_test_format("topic %s-in partition 0", job->name), "position 20",
                          "created anew", "belongs to the old one", "WEIR_RESTORE=discard:<word>"));
        // The way out: the new topic's records come behind the old one's.
        sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_RESTORE=discard:anew"), 0, NULL);
        sql_job_wait_count(job, "out", 20 + (size_t)counts[i]);
    }
}

// One of two topics: the other one's pointer is still there.
static void test_one_topic_of_two_made_anew_while_stopped(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "half",
                       "CREATE TABLE input (n int) WITH (topic = '$-in');\n"
                       "CREATE TABLE more (n int) WITH (topic = '$-more');\n"
                       "CREATE TABLE output (n int) WITH (topic = '$-out');\n"
                       "INSERT INTO output SELECT n FROM input UNION ALL SELECT n FROM more;\n");
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "more", 1);
    sql_job_topic_create(job, "out", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 20);
    sql_job_feed_numbers(job, "more", 0, 100, 5);
    sql_job_run_bounded(job);
    make_anew(job, 1, 150);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS("topic half-in partition 0 at offset 20",
                                         "no committed offset there", "created anew",
                                         "WEIR_RESTORE=discard:<word>"));
}

// Fewer partitions than before.
static void test_topic_made_anew_smaller_while_stopped(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("smaller", COPY_SQL, 2);
    sql_job_feed_numbers(job, "in", 1, 0, 20);
    sql_job_run_bounded(job);
    make_anew(job, 1, 0);
    sql_job_expect_refused(
        job, SQL_JOB_BOUNDED,
        SQL_JOB_TEXTS("smaller-in partition 1", "no longer there", "created anew"));
}

// C143, running. All at once, since each takes some seconds to be noticed.
static void test_topic_made_anew_while_running(void **state)
{
    (void)state;
    struct sql_job *shorter = create_copy("shorter", COPY_SQL, 1);
    struct sql_job *longer = create_copy("longer", COPY_SQL, 1);
    struct sql_job *gone = create_copy("gone", COPY_SQL, 1);
    struct sql_job *jobs[] = {shorter, longer, gone};
    struct weir_test_process *processes[3];
    for (int i = 0; i < 3; i++) {
        processes[i] = sql_job_start(jobs[i], NULL);
        sql_job_feed_numbers(jobs[i], "in", 0, 0, 20);
    }
    for (int i = 0; i < 3; i++) {
        sql_job_wait_count(jobs[i], "out", 20);
        weir_test_process_signal(processes[i], SIGSTOP);
    }
    make_anew(shorter, 1, 12);
    make_anew(longer, 1, 150);
    weir_test_topic_delete(gone->bootstrap, sql_job_topic(gone, "in"));
    for (int i = 0; i < 3; i++) {
        weir_test_process_signal(processes[i], SIGCONT);
    }
    sql_job_expect_exit(
        processes[0], 1,
        SQL_JOB_TEXTS("topic shorter-in", "position 20", "created anew", "to the old one"));
    const char *log = sql_job_expect_exit(processes[2], 1, SQL_JOB_TEXTS("gone-in"));
    assert_true(strlen(log) < 60000); // no busy loop
    if (are_topic_ids_known()) {
        sql_job_expect_exit(processes[1], 1,
                            SQL_JOB_TEXTS("topic longer-in", "created anew", "to the old one"));
    } else {
        sql_job_kill(processes[1]);
    }
    // Nothing of the new topics was taken for the rest of the old ones.
    sql_job_expect_numbers(shorter, "out", 0, 0, 20);
    sql_job_expect_numbers(gone, "out", 0, 0, 20);
    if (are_topic_ids_known()) {
        sql_job_expect_numbers(longer, "out", 0, 0, 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_added_while_stopped_is_read_from_its_first_record),
        cmocka_unit_test(test_partition_added_while_running_is_read_from_its_first_record),
        cmocka_unit_test(test_records_removed_while_stopped),
        cmocka_unit_test(test_records_removed_behind_the_position_are_not_missed),
        cmocka_unit_test(test_records_removed_while_running),
        cmocka_unit_test(test_topic_made_anew_while_stopped),
        cmocka_unit_test(test_one_topic_of_two_made_anew_while_stopped),
        cmocka_unit_test(test_topic_made_anew_smaller_while_stopped),
        cmocka_unit_test(test_topic_made_anew_while_running),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
