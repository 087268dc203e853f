// SPDX-License-Identifier: Apache-2.0
// The recovery table, line by line, with the real program and a real broker: what a start finds,
// what it does, and what a refused one says and leaves alone. What becomes of topics that are
// enlarged, cut or made anew: test_recovery_topics.c.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_SQL                                                                                   \
    "CREATE TABLE input (n int) WITH (topic = '$-in');\n"                                          \
    "CREATE TABLE output (n int) WITH (topic = '$-out');\n"                                        \
    "INSERT INTO output SELECT n FROM input;\n"

// A job that copies "in" to "out".
static struct sql_job *create_copy(const char *name, int32_t partition_count)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, COPY_SQL);
    sql_job_topic_create(job, "in", partition_count);
    sql_job_topic_create(job, "out", 1);
    return job;
}

// The same, with five numbers read, written and committed.
static struct sql_job *create_with_history(const char *name)
{
    struct sql_job *job = create_copy(name, 1);
    sql_job_feed_numbers(job, "in", 0, 0, 5);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 5);
    return job;
}

static void expect_killed(struct weir_test_process *process)
{
    struct weir_test_exit how;
    if (!weir_test_process_wait(process, 60000, &how) || !how.is_signalled) {
        WEIR_TEST_FAIL("it was not killed:\n%s", weir_test_process_output(process));
    }
    weir_test_process_destroy(process);
}

static void test_fresh_start_reads_from_start_on(void **state)
{
    (void)state;
    struct sql_job *job = create_with_history("fresh");
    // Committed with the pointer, position by position.
    assert_int_equal(sql_job_committed(job, "in", 0), 5);
    assert_true(sql_job_pointer(job, "in") > 0);
    sql_job_feed_numbers(job, "in", 0, 5, 3);
    sql_job_run(job, SQL_JOB_BOUNDED, 0, SQL_JOB_TEXTS("job fresh goes on from checkpoint"));
    sql_job_expect_numbers(job, "out", 0, 0, 8);
}

// The start positions of a job are decided once, also when it dies before it has claimed them.
static void test_start_that_was_killed_before_its_claim_begins_at_the_same_place(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("unclaimed", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 10);
    // No manifest yet: what "latest" means is open.
    expect_killed(sql_job_start(
        job, SQL_JOB_EXTRA("WEIR_START=latest", "WEIR_FAILPOINTS=recover.fenced=kill")));
    assert_null(sql_job_manifests(job)[0]);
    sql_job_feed_numbers(job, "in", 0, 10, 10);
    expect_killed(sql_job_start(
        job, SQL_JOB_EXTRA("WEIR_START=latest", "WEIR_FAILPOINTS=claim.before=kill")));
    assert_non_null(sql_job_manifests(job)[0]);
    assert_int_equal(sql_job_committed(job, "in", 0), -1);
    // Written behind the end that was decided on.
    sql_job_feed_numbers(job, "in", 0, 20, 10);
    expect_killed(
        sql_job_start(job, SQL_JOB_EXTRA("WEIR_START=latest", "WEIR_FAILPOINTS=claim.after=kill")));
    sql_job_feed_numbers(job, "in", 0, 30, 10);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_START=latest", "WEIR_BOUNDED=true"), 0,
                SQL_JOB_TEXTS("goes on from checkpoint 0 "));
    sql_job_expect_numbers(job, "out", 0, 20, 20);
}

static void test_lost_pointer_is_refused_and_discard_begins_anew_once_a_word(void **state)
{
    (void)state;
    struct sql_job *job = create_with_history("expired");
    weir_test_group_delete(job->bootstrap, job->name);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS("consumer group \"expired\" has no committed offsets",
                                         "offsets.retention.minutes",
                                         "WEIR_RESTORE=discard:<word>"));
    const char *const *first = SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_RESTORE=discard:first");
    const char *const *second = SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_RESTORE=discard:second");
    sql_job_run(job, first, 0, SQL_JOB_TEXTS("begins with empty state"));
    sql_job_wait_count(job, "out", 10);
    sql_job_feed_numbers(job, "in", 0, 5, 1);
    sql_job_run(job, first, 0, SQL_JOB_TEXTS("goes on from checkpoint"));
    sql_job_wait_count(job, "out", 11);
    sql_job_run(job, second, 0, SQL_JOB_TEXTS("begins with empty state"));
    sql_job_wait_count(job, "out", 17);
    sql_job_run(job, second, 0, SQL_JOB_TEXTS("goes on from checkpoint"));
    sql_job_run(job, SQL_JOB_BOUNDED, 0, SQL_JOB_TEXTS("goes on from checkpoint"));
    sql_job_wait_count(job, "out", 17);
    sql_job_expect_values(
        job, "out", 0,
        SQL_JOB_TEXTS("{\"n\":0}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}", "{\"n\":0}",
                      "{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}", "{\"n\":5}", "{\"n\":0}",
                      "{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}", "{\"n\":5}"));
}

// Numbers never go back, and a discard that died on the way is obeyed by the next start.
static void test_discard_that_is_killed_is_obeyed_later(void **state)
{
    (void)state;
    struct sql_job *job = create_with_history("discarded");
    long long before = sql_job_pointer(job, "in");
    const char *const *word = SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_RESTORE=discard:x");
    expect_killed(sql_job_start(
        job, SQL_JOB_EXTRA("WEIR_RESTORE=discard:x", "WEIR_FAILPOINTS=claim.before=kill")));
    assert_int_equal(sql_job_pointer(job, "in"), before);
    sql_job_run(job, word, 0, SQL_JOB_TEXTS("begins with empty state"));
    assert_true(sql_job_pointer(job, "in") > before + 1);
    sql_job_run(job, word, 0, SQL_JOB_TEXTS("goes on from checkpoint"));
    sql_job_wait_count(job, "out", 10);
}

static void test_store_without_the_checkpoint_leaves_the_owner_alone(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("elsewhere", 1);
    struct weir_test_process *owner = sql_job_start(job, NULL);
    sql_job_feed_numbers(job, "in", 0, 0, 5);
    sql_job_wait_count(job, "out", 5);
    sql_job_run(job,
                SQL_JOB_EXTRA(weir_test_format("WEIR_STATE_DIR=%s/state-2", job->dir),
                              weir_test_format("WEIR_CHECKPOINT_DIR=%s/store-2", job->dir)),
                2,
                SQL_JOB_TEXTS("group \"elsewhere\" points at checkpoint", "/store-2/elsewhere/0",
                              "was left alone", "WEIR_CHECKPOINT_DIR"));
    sql_job_feed_numbers(job, "in", 0, 5, 5);
    sql_job_wait_count(job, "out", 10);
    assert_null(strstr(weir_test_process_output(owner), "looking who owns"));
    sql_job_stop(owner);

    char *away = weir_test_format("%s/away", job->dir);
    assert_int_equal(rename(job->store_dir, away), 0);
    sql_job_run(job, NULL, 2, SQL_JOB_TEXTS("which is not in", "WEIR_CHECKPOINT_DIR"));
    sql_job_run(job, NULL, 2, SQL_JOB_TEXTS("which is not in"));
    char *made = weir_test_format("%s/%s/0", job->store_dir, job->name);
    assert_int_equal(rmdir(made), 0); // empty
    assert_int_equal(rmdir(weir_test_format("%s/%s", job->store_dir, job->name)), 0);
    assert_int_equal(rename(away, job->store_dir), 0);
    sql_job_feed_numbers(job, "in", 0, 10, 5);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 15);
}

static void write_bytes(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

// C149, the manifest.
static void test_damaged_manifest_is_refused_until_it_is_put_back(void **state)
{
    (void)state;
    struct sql_job *job = create_with_history("damaged");
    char *path = sql_job_pointed_manifest(job, "in");
    size_t bytes = 0;
    char *good = weir_test_read_file(path, &bytes);
    char *bad = weir_test_read_file(path, &bytes);
    assert_true(bytes > 200);

    bad[bytes - 20] ^= 0x20;
    write_bytes(path, bad, bytes);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS(path, "is damaged: its checksum is", ", expected ",
                                         "put the file back", "WEIR_RESTORE=savepoint:<path>",
                                         "WEIR_RESTORE=discard:<word>"));
    write_bytes(path, good, bytes / 2);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS(path, "is damaged", "put the file back"));
    write_bytes(path, "", 0);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS(path, "is damaged", "put the file back"));
    char *newer = weir_test_format("weir-manifest 2%s", good + strlen("weir-manifest 1"));
    write_bytes(path, newer, bytes);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED, SQL_JOB_TEXTS(path, "format 2", "newer"));
    assert_int_equal(unlink(path), 0); // older ones are there, and are not taken instead
    assert_non_null(sql_job_manifests(job)[0]);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED, SQL_JOB_TEXTS("which is not in"));

    write_bytes(path, good, bytes);
    sql_job_feed_numbers(job, "in", 0, 5, 1);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 6);
}

#define COUNT_SQL                                                                                  \
    "CREATE TABLE input (k int, v int) WITH (topic = '$-in');\n"                                   \
    "CREATE TABLE output (k int PRIMARY KEY, n bigint, s bigint) WITH (topic = '$-out');\n"        \
    "INSERT INTO output SELECT k, count(*), sum(v) FROM input GROUP BY k;\n"

// Ten keys, each of them once more with value v.
static void feed_keys(const struct sql_job *job, int v)
{
    for (int k = 0; k < 10; k++) {
        sql_job_feed(job, "in", 0, weir_test_format("{\"k\":%d,\"v\":%d}", k, v));
    }
}

// The last row of each key.
static void expect_sums(const struct sql_job *job, int count, int sum)
{
    struct weir_test_log *log = sql_job_read(job, "out");
    char *last[10] = {NULL};
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        char *text = sql_job_text(&log->partitions[0].records[i]);
        int k = -1;
        assert_int_equal(sscanf(text, "{\"k\":%d,", &k), 1);
        assert_in_range(k, 0, 9);
        last[k] = text;
    }
    for (int k = 0; k < 10; k++) {
        char *expected = weir_test_format("{\"k\":%d,\"n\":%d,\"s\":%d}", k, count, sum);
        assert_non_null(last[k]);
        assert_string_equal(last[k], expected);
    }
    weir_test_log_destroy(log);
}

static const char *const one_task[] = {"WEIR_BOUNDED=true", "WEIR_PARALLELISM=1", NULL};

// Refused, with the file's name, what was expected and found, and what can be done about it; and
// neither an older checkpoint nor an empty one taken instead.
static void expect_damage(struct sql_job *job, const char *name, const char *expected,
                          const char *found)
{
    sql_job_run(job, one_task, 2,
                SQL_JOB_TEXTS(name, expected, found, "put the file back from a copy",
                              "WEIR_RESTORE=savepoint:<path>", "WEIR_RESTORE=discard:<word>"));
}

static void damage_each_way(struct sql_job *job, const char *path, bool is_all)
{
    const char *name = strrchr(path, '/') + 1;
    size_t bytes = 0;
    char *good = weir_test_read_file(path, &bytes);
    char *bad = weir_test_read_file(path, &bytes);
    bad[bytes / 2] ^= 0x10;
    write_bytes(path, bad, bytes);
    expect_damage(job, name, "is damaged: expected checksum", ", found ");
    if (is_all) {
        write_bytes(path, good, bytes / 2);
        expect_damage(job, name, "is damaged: expected", "bytes, found");
        assert_int_equal(unlink(path), 0);
        expect_damage(job, name, "cannot be found", "checksum");
    }
    write_bytes(path, good, bytes);
    free(good);
    free(bad);
}

// How many of the manifests name the file.
static int manifests_with(char *const *manifests, const char *name)
{
    int count = 0;
    for (size_t i = 0; manifests[i] != NULL; i++) {
        char *text = weir_test_read_file(manifests[i], NULL);
        count += strstr(text, name) != NULL ? 1 : 0;
        free(text);
    }
    return count;
}

// C149. Every file of keyed state that the checkpoint consists of, one damage at a time.
static void test_damaged_state_is_refused_until_it_is_put_back(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "state", COUNT_SQL);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "out", 1);
    feed_keys(job, 1);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_PARALLELISM=2"), 0, NULL);
    // Of two tasks' state one: the next checkpoint begins with tables of RocksDB; and two share
    // them.
    for (int i = 1; i <= 2; i++) {
        feed_keys(job, i * 10);
        sql_job_run(job, one_task, 0, NULL);
    }
    expect_sums(job, 3, 31);
    char **paths = sql_job_files(job, "state");
    char **manifests = sql_job_manifests(job);
    char *manifest = weir_test_read_file(sql_job_pointed_manifest(job, "in"), NULL);
    int table_count = 0;
    int log_count = 0;
    int shared_count = 0;
    for (size_t i = 0; paths[i] != NULL; i++) {
        const char *name = strrchr(paths[i], '/') + 1;
        if (strstr(manifest, name) == NULL) {
            continue; // of an older checkpoint
        }
        bool is_table = strstr(name, ".sst") != NULL;
        bool is_log = strstr(name, ".log") != NULL && strstr(name, ".db.") == NULL;
        size_t bytes = 0;
        char *content = weir_test_read_file(paths[i], &bytes);
        if (strstr(name, ".db.CURRENT") != NULL) { // that of another checkpoint
            char *other = weir_test_format("%s", content);
            other[bytes - 2] = other[bytes - 2] == '9' ? '8' : '9';
            write_bytes(paths[i], other, bytes);
            expect_damage(job, name, "is damaged: expected checksum", ", found ");
            write_bytes(paths[i], content, bytes);
        } else if (bytes > 0) {
            damage_each_way(job, paths[i], (is_table && table_count == 0) || is_log);
        }
        free(content);
        table_count += is_table ? 1 : 0;
        log_count += is_log ? 1 : 0;
        shared_count += is_table && manifests_with(manifests, name) > 1 ? 1 : 0;
    }
    assert_true(table_count > 0);
    assert_true(log_count > 0);
    assert_true(shared_count > 0);
    feed_keys(job, 100);
    sql_job_run(job, one_task, 0, NULL);
    expect_sums(job, 4, 131);
}

static void test_offsets_that_another_tool_reset_are_refused(void **state)
{
    (void)state;
    struct sql_job *job = create_with_history("reset");
    const char *in = sql_job_topic(job, "in");
    int32_t count;
    struct weir_test_committed *ours =
        weir_test_group_committed(job->bootstrap, job->name, in, false, &count);
    weir_test_group_commit(job->bootstrap, job->name, in, 0, 2, NULL);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS("consumer group \"reset\"", "topic reset-in partition 0",
                                         "weir did not write", "WEIR_RESTORE=discard:<word>"));
    weir_test_group_commit(job->bootstrap, job->name, in, 0, 2, ours[0].metadata);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS("topic reset-in partition 0",
                                         "has committed offset 2, checkpoint", "is at 5",
                                         "reset by hand", "WEIR_RESTORE=discard:<word>"));
    weir_test_group_commit(job->bootstrap, job->name, in, 0, 5, ours[0].metadata);
    sql_job_feed_numbers(job, "in", 0, 5, 1);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 6);
    weir_test_committed_destroy(ours, count);
}

// A group of that name that belongs to something else is not taken over.
static void test_group_of_another_program_is_refused(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("foreign", 1);
    sql_job_feed_numbers(job, "in", 0, 0, 5);
    weir_test_group_commit(job->bootstrap, job->name, sql_job_topic(job, "in"), 0, 3, NULL);
    sql_job_expect_refused(job, SQL_JOB_BOUNDED,
                           SQL_JOB_TEXTS("topic foreign-in partition 0", "WEIR_JOB_ID"));
    assert_null(sql_job_manifests(job)[0]);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_RESTORE=discard:them"), 0, NULL);
    sql_job_expect_numbers(job, "out", 0, 0, 5);
}

static void test_job_id_of_another_job_is_refused(void **state)
{
    (void)state;
    struct sql_job *job = create_copy("twice", 1);
    sql_job_topic_create(job, "other", 1);
    struct weir_test_process *owner = sql_job_start(job, NULL);
    sql_job_feed_numbers(job, "in", 0, 0, 5);
    sql_job_wait_count(job, "out", 5);
    // The same id and store, but another job.
    char *others = weir_test_format("%s/other.sql", job->dir);
    weir_test_write_file(others, "CREATE TABLE input (n int) WITH (topic = 'twice-other');\n"
                                 "CREATE TABLE output (n int) WITH (topic = 'twice-out');\n"
                                 "INSERT INTO output SELECT n FROM input;\n");
    const char *const *as_other =
        SQL_JOB_EXTRA(weir_test_format("WEIR_SQL_FILE=%s", others),
                      weir_test_format("WEIR_STATE_DIR=%s/state-2", job->dir));
    sql_job_run(job, as_other, 2,
                SQL_JOB_TEXTS("reads other topics", "\"twice-in\"", "WEIR_JOB_ID=twice"));
    sql_job_feed_numbers(job, "in", 0, 5, 5);
    sql_job_wait_count(job, "out", 10);
    assert_null(strstr(weir_test_process_output(owner), "looking who owns"));
    sql_job_stop(owner);
    sql_job_expect_refused(job, as_other, SQL_JOB_TEXTS("reads other topics"));
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 10);
}

static void test_other_cluster_is_refused(void **state)
{
    (void)state;
    struct sql_job *job = create_with_history("moved");
    struct weir_test_cluster *other = weir_test_cluster_start(NULL);
    const char *bootstrap = weir_test_cluster_bootstrap(other);
    weir_test_topic_create(bootstrap, "moved-in", 1, NULL);
    weir_test_topic_create(bootstrap, "moved-out", 1, NULL);
    sql_job_expect_refused(
        job,
        SQL_JOB_EXTRA("WEIR_BOUNDED=true",
                      weir_test_format("WEIR_KAFKA_BOOTSTRAP_SERVERS=%s", bootstrap)),
        SQL_JOB_TEXTS("was made on Kafka cluster", "WEIR_KAFKA_BOOTSTRAP_SERVERS"));
    weir_test_cluster_destroy(other);
    sql_job_feed_numbers(job, "in", 0, 5, 1);
    sql_job_run_bounded(job);
    sql_job_expect_numbers(job, "out", 0, 0, 6);
}

static void test_missing_topic_is_refused(void **state)
{
    (void)state;
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster), "topicless", COPY_SQL);
    sql_job_run(job, NULL, 2, SQL_JOB_TEXTS("table input", "\"topicless-in\" does not exist"));
    sql_job_topic_create(job, "in", 1);
    sql_job_run(job, NULL, 2,
                SQL_JOB_TEXTS("table output", "\"topicless-out\" does not exist", "partitions"));
    sql_job_topic_create(job, "out", 1);
    sql_job_run_bounded(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh_start_reads_from_start_on),
        cmocka_unit_test(test_start_that_was_killed_before_its_claim_begins_at_the_same_place),
        cmocka_unit_test(test_lost_pointer_is_refused_and_discard_begins_anew_once_a_word),
        cmocka_unit_test(test_discard_that_is_killed_is_obeyed_later),
        cmocka_unit_test(test_store_without_the_checkpoint_leaves_the_owner_alone),
        cmocka_unit_test(test_damaged_manifest_is_refused_until_it_is_put_back),
        cmocka_unit_test(test_damaged_state_is_refused_until_it_is_put_back),
        cmocka_unit_test(test_offsets_that_another_tool_reset_are_refused),
        cmocka_unit_test(test_group_of_another_program_is_refused),
        cmocka_unit_test(test_job_id_of_another_job_is_refused),
        cmocka_unit_test(test_other_cluster_is_refused),
        cmocka_unit_test(test_missing_topic_is_refused),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
