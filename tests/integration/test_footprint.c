// SPDX-License-Identifier: Apache-2.0
// What a job that has nothing to do holds: threads and open files do not grow with the number of
// partitions, and not from one life to the next.
#include "tests/integration/cluster_util.h"
#include "tests/integration/footprint_util.h"
#include "tests/integration/sql_job_util.h"

enum {
    PARTITION_COUNT = 100,
    THREADS_MAX = 80, // some 10 of weir's, and those of 8 client handles and a broker
    FILES_MAX = 140,
    RESIDENT_MIB_MAX = 48, // a build without optimisation included
};

#define COUNT_SQL                                                                                  \
    "CREATE TABLE a (n int) WITH (topic = '$-a');\n"                                               \
    "CREATE TABLE counts (n int PRIMARY KEY, count bigint)\n"                                      \
    "    WITH (topic = '$-counts', partitions = 100, replicas = 1);\n"                             \
    "INSERT INTO counts SELECT n, count(*) FROM a GROUP BY n;\n"

static void test_footprint_is_bounded_with_many_partitions_and_lives(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "footprint", COUNT_SQL);
    sql_job_topic_create(job, "a", PARTITION_COUNT);
    for (int p = 0; p < PARTITION_COUNT; p += 9) {
        sql_job_feed_numbers(job, "a", p, p, 3);
    }
    struct weir_test_process *process = sql_job_start(job, NULL);
    sql_job_wait_running(process);
    sql_job_wait_count(job, "counts", 36);
    struct footprint first = footprint_look(process);
    assert_in_range(first.threads, 1, THREADS_MAX);
    assert_in_range(first.files, 1, FILES_MAX);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_in_range(first.resident_mib, 1, RESIDENT_MIB_MAX);
#endif
    // New partitions are a reason to build the job anew in the same process.
    for (int life = 1; life <= 2; life++) {
        int32_t count = PARTITION_COUNT + life;
        weir_test_topic_grow(job->bootstrap, sql_job_topic(job, "a"), count);
        sql_job_feed_numbers(job, "a", count - 1, 1000 * life, 1);
        sql_job_wait_count(job, "counts", (size_t)(36 + life));
    }
    struct footprint last = footprint_look(process);
    assert_in_range(last.threads, 1, first.threads + 2);
    assert_in_range(last.files, 1, first.files + 6);
    sql_job_stop(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_footprint_is_bounded_with_many_partitions_and_lives),
    };
    return cmocka_run_group_tests_name("integration/test_footprint", tests, cluster_start,
                                       cluster_stop);
}
