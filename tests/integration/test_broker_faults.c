// SPDX-License-Identifier: Apache-2.0
// Brokers that die, freeze and come back under a running job, transactions that time out or are
// left open, deliveries that take their time, a queue that is always full. Nothing may be lost or
// doubled, and what costs no more than waiting must not cost a restart. WEIR_TEST_ROUNDS: larger
// numbers.
#include "tests/integration/cluster_util.h"
#include "tests/integration/job_util.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    KILLS = 3,
    KILLS_OF_THREE = 5,
    SESSION_MS = 3000, // after so long without a sign of life another broker takes over
    FED_PER_ROUND = 3000,
    WAIT_MS_MAX = 120000,
    STABLE_MS_MAX = 10000,
    MANY_ROWS = 60000,
};

static const char replayed[] = "going back to the last committed checkpoint";
// A coordinator aborts what is older than 6 s.
static const char *const short_transactions[] = {"WEIR_KAFKA_TRANSACTION_TIMEOUT_MS=6000",
                                                 "WEIR_KAFKA_SOCKET_TIMEOUT_MS=5000", NULL};

static struct job *create(const char *name)
{
    return job_create(weir_test_cluster_bootstrap(cluster), name);
}

// --- brokers go and come -------------------------------------------------------------------------

// Sleeps at these points in turn; the broker is killed meanwhile. Not while it writes the markers
// of a commit: that a broker of its own can leave unfinished (seen once in some hundred kills of
// a 4.4.0: its coordinator had noted the commit as complete, no topic had a marker). Readers then
// stand still before rows that are committed. Of three brokers one is killed at any moment, see
// below.
static char *sleeping_points(int count)
{
    static const char *const points[] = {"commit.before_offsets", "commit.before_end",
                                         "coordinator.triggered"};
    char *list = weir_test_format("%s", "WEIR_FAILPOINTS=");
    for (int i = 0; i < count; i++) {
        char *longer = weir_test_format("%s%s%s=sleep:1000@%d", list, i > 0 ? "," : "",
                                        points[i % 3], 4 * (i + 1));
        free(list);
        list = longer;
    }
    return list;
}

static void test_broker_killed_and_started_again(void **state)
{
    (void)state;
    struct job *job = create("killed");
    int rounds = number_from("WEIR_TEST_ROUNDS", KILLS);
    char *points = sleeping_points(rounds);
    const char *extra[] = {points, NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    job_wait_running(process);
    for (int i = 0; i < rounds; i++) {
        int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
        while (job_count_text(process, ": sleep\n") <= i) {
            assert_true(weir_test_now_ms() < deadline_ms);
            job_feed(job, 10 * JOB_PARTITIONS);
        }
        job_feed(job, FED_PER_ROUND); // the epoch after it is under way
        weir_test_node_kill(cluster, 0);
        weir_test_sleep_ms(rand() % 2000);
        weir_test_node_start(cluster, 0);
    }
    job_feed(job, FED_PER_ROUND);
    job_wait_read(job, process, WAIT_MS_MAX);
    print_message("%d kills of the only broker, %d replays\n", rounds,
                  job_count_text(process, replayed));
    free(points);
    job_end_and_check(job, process, WAIT_MS_MAX);
}

static void freeze(int duration_ms)
{
    weir_test_node_freeze(cluster, 0);
    weir_test_sleep_ms(duration_ms);
    weir_test_node_continue(cluster, 0);
}

// C128. Two jobs at once: the transactions of the second one do not live as long as the longer
// frost. A whole minute only in a longer run.
static void test_broker_frozen(void **state)
{
    (void)state;
    struct job *job = create("frozen");
    struct job *short_job = create("frozen-short");
    // The first frost sets in while a commit is about to leave.
    const char *extra[] = {"WEIR_FAILPOINTS=commit.before_end=sleep:1000@3", NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    struct weir_test_process *short_process = job_start(short_job, false, short_transactions);
    job_wait_running(process);
    job_wait_running(short_process);
    job_feed(short_job, FED_PER_ROUND);
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    while (job_count_text(process, "failpoint commit.before_end: sleep") == 0) {
        assert_true(weir_test_now_ms() < deadline_ms);
        job_feed(job, JOB_PARTITIONS);
    }
    freeze(5000);
    job_feed(job, FED_PER_ROUND);
    job_feed(short_job, FED_PER_ROUND);
    freeze(20000);
    job_feed(job, FED_PER_ROUND);
    job_feed(short_job, FED_PER_ROUND);
    if (number_from("WEIR_TEST_ROUNDS", 1) > 1) {
        freeze(60000);
    }
    job_wait_read(job, process, WAIT_MS_MAX);
    job_wait_read(short_job, short_process, WAIT_MS_MAX);
    print_message("frozen for 5 s and 20 s: %d replays; with transactions of 6 s: %d\n",
                  job_count_text(process, replayed), job_count_text(short_process, replayed));
    job_end_and_check(job, process, WAIT_MS_MAX);
    job_end_and_check(short_job, short_process, WAIT_MS_MAX);
}

static int choose_victim(struct weir_test_cluster *three, const struct job *job, int round)
{
    int victim = -1;
    if (round % 3 == 0) {
        char *id = job_transactional_id(job, rand() % 4);
        victim = weir_test_cluster_transaction_coordinator(three, id);
        free(id);
    } else if (round % 3 == 1) {
        victim = weir_test_cluster_group_coordinator(three, job->name);
    }
    return victim >= 0 ? victim : rand() % 3;
}

static void test_one_of_three_brokers_killed_or_frozen(void **state)
{
    (void)state;
    struct weir_test_cluster *three =
        weir_test_cluster_start(&(struct weir_test_cluster_options){.node_count = 3});
    struct job *job = job_create(weir_test_cluster_bootstrap(three), "three");
    // Now and then it also has to recover, with leaders and coordinators that have moved.
    const char *extra[] = {
        "WEIR_FAILPOINTS=task.barrier=error@20,task.barrier=error@40,task.barrier=error@60,"
        "task.barrier=error@80,task.barrier=error@100,task.barrier=error@120,"
        "task.barrier=error@140,task.barrier=error@160,task.barrier=error@180",
        "WEIR_RESTART_BACKOFF=200ms", "WEIR_RESTART_BACKOFF_MAX=200ms", NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    job_wait_running(process);
    int rounds = number_from("WEIR_TEST_ROUNDS", KILLS_OF_THREE);
    for (int i = 0; i < rounds; i++) {
        job_feed(job, FED_PER_ROUND);
        weir_test_sleep_ms(rand() % 200);
        int victim = choose_victim(three, job, i);
        if (i % 2 == 0) {
            weir_test_node_kill(three, victim);
            job_feed(job, FED_PER_ROUND);
            weir_test_node_start(three, victim);
        } else { // it loses its leaderships and keeps its connections
            weir_test_node_freeze(three, victim);
            weir_test_sleep_ms(2 * SESSION_MS);
            weir_test_node_continue(three, victim);
            job_feed(job, FED_PER_ROUND);
        }
    }
    int replay_count = job_count_text(process, replayed);
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    while (job_count_text(process, replayed) == replay_count && weir_test_now_ms() < deadline_ms) {
        job_feed(job, JOB_PARTITIONS);
    }
    job_feed(job, FED_PER_ROUND);
    job_wait_read(job, process, WAIT_MS_MAX);
    print_message("one of three brokers killed or frozen %d times, %d replays\n", rounds,
                  job_count_text(process, replayed));
    job_end_and_check(job, process, WAIT_MS_MAX);
    weir_test_cluster_destroy(three);
}

// The store cannot be written for a while (a network file system, a full disk): checkpoints wait.
static void test_store_that_is_gone_for_a_while_is_waited_for(void **state)
{
    (void)state;
    struct job *job = create("store");
    struct weir_test_process *process = job_start(job, false, NULL);
    job_wait_running(process);
    char *aside = weir_test_format("%s-aside", job->store_dir);
    for (int i = 0; i < 2; i++) {
        job_feed(job, FED_PER_ROUND);
        assert_int_equal(rename(job->store_dir, aside), 0);
        job_feed(job, FED_PER_ROUND);
        weir_test_sleep_ms(2000);
        assert_int_equal(rename(aside, job->store_dir), 0);
    }
    job_wait_read(job, process, WAIT_MS_MAX);
    assert_int_equal(job_count_text(process, replayed), 0);
    assert_int_not_equal(job_count_text(process, "; trying again"), 0);
    job_end_and_check(job, process, WAIT_MS_MAX);
    free(aside);
}

// --- transactions left open ----------------------------------------------------------------------

static const char *const output_suffixes[] = {"all", "even", "dead"};

// Do read_committed readers see all output partitions to their ends?
static bool is_stable(const struct job *job)
{
    bool is_there = true;
    for (size_t i = 0; i < sizeof output_suffixes / sizeof output_suffixes[0]; i++) {
        char *topic = weir_test_format("%s-%s", job->name, output_suffixes[i]);
        int32_t count = weir_test_topic_partition_count(job->bootstrap, topic);
        for (int32_t p = 0; p < count && is_there; p++) {
            is_there = weir_test_topic_stable_offset(job->bootstrap, topic, p) ==
                       weir_test_topic_end_offset(job->bootstrap, topic, p);
        }
        free(topic);
    }
    return is_there;
}

// A life that ends at the named point, fed until it comes there.
static void die_at(struct job *job, const char *failpoint)
{
    char *variable = weir_test_format("WEIR_FAILPOINTS=%s", failpoint);
    const char *extra[] = {variable, short_transactions[0], short_transactions[1], NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    do {
        assert_true(weir_test_now_ms() < deadline_ms);
        job_feed(job, 10 * JOB_PARTITIONS);
    } while (!weir_test_process_wait_killed(process, 50));
    weir_test_process_destroy(process);
    free(variable);
}

// C125: recovery begins after the coordinator has aborted the transaction.
static void test_recovery_after_the_transaction_timed_out(void **state)
{
    (void)state;
    struct job *job = create("late-start");
    die_at(job, "commit.before_end=kill@4");
    struct job_pointer pointer = job_pointer(job);
    WEIR_TEST_WAIT_UNTIL(is_stable(job), WAIT_MS_MAX); // aborted by now
    assert_int_equal(job_pointer(job).number, pointer.number);
    struct weir_test_process *process = job_start(job, false, NULL);
    job_wait_running(process);
    char *line = weir_test_format("goes on from checkpoint %lld of attempt %s; 1 later checkpoints "
                                  "were not committed: discarded and replayed",
                                  (long long)pointer.number, pointer.manifest_attempt);
    assert_int_equal(job_count_text(process, line), 1);
    free(line);
    job_end_and_check(job, process, WAIT_MS_MAX);

    // The commit went through: its checkpoint is the one to go on from, nothing is repeated.
    die_at(job, "commit.after_end=kill@4");
    weir_test_sleep_ms(500); // a broker answers a commit before it is seen everywhere
    pointer = job_pointer(job);
    process = job_start(job, false, NULL);
    job_wait_running(process);
    line = weir_test_format("goes on from checkpoint %lld of attempt %s; 0 later",
                            (long long)pointer.number, pointer.manifest_attempt);
    assert_int_equal(job_count_text(process, line), 1);
    free(line);
    job_end_and_check(job, process, WAIT_MS_MAX);
}

// Killed with as many transactions open as the settings allow.
static void die_with_open_transactions(struct job *job, const char *concurrent)
{
    // While the committer sleeps, epochs pile up behind it.
    const char *extra[] = {"WEIR_FAILPOINTS=commit.before_offsets=sleep:60000@3", concurrent,
                           "WEIR_CHECKPOINT_INTERVAL=50ms", NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    job_wait_running(process);
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    while (job_count_text(process, "failpoint commit.before_offsets: sleep") == 0) {
        assert_true(weir_test_now_ms() < deadline_ms);
        job_feed(job, 10 * JOB_PARTITIONS);
    }
    for (int i = 0; i < 8; i++) {
        job_feed(job, 10 * JOB_PARTITIONS);
        weir_test_sleep_ms(60);
    }
    weir_test_process_kill(process);
    weir_test_process_destroy(process);
    assert_false(is_stable(job));
}

// C134: ids that the next run does not use are fenced all the same.
static void test_open_transactions_of_another_shape_hold_nobody_up(void **state)
{
    (void)state;
    struct job *job = create("shapes");
    static const char *const shapes[] = {"WEIR_CHECKPOINT_MAX_CONCURRENT=3",
                                         "WEIR_CHECKPOINT_MAX_CONCURRENT=1",
                                         "WEIR_CHECKPOINT_MAX_CONCURRENT=3"};
    for (int i = 0; i < 2; i++) {
        die_with_open_transactions(job, shapes[i]);
        const char *extra[] = {shapes[i + 1], NULL};
        int64_t started_ms = weir_test_now_ms();
        struct weir_test_process *process = job_start(job, false, extra);
        job_wait_read(job, process, STABLE_MS_MAX);
        WEIR_TEST_WAIT_UNTIL(is_stable(job), STABLE_MS_MAX);
        assert_true(weir_test_now_ms() - started_ms < STABLE_MS_MAX);
        weir_test_process_kill(process);
        weir_test_process_destroy(process);
    }
    job_finish(job);
    job_check(job);
}

// --- slow deliveries -----------------------------------------------------------------------------

// C164: a full queue slows down and restarts nothing.
static void test_full_producer_queue_is_back_pressure(void **state)
{
    (void)state;
    struct job *job = create("full");
    job_feed(job, MANY_ROWS);
    const char *extra[] = {"WEIR_KAFKA_QUEUE_BUFFERING_MAX_MESSAGES=500", "WEIR_LOG_LEVEL=info",
                           NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    job_wait_running(process);
    for (int i = 0; i < 5; i++) { // a slow broker
        freeze(300);
        weir_test_sleep_ms(100);
    }
    job_wait_read(job, process, WAIT_MS_MAX);
    assert_int_equal(job_count_text(process, replayed), 0);
    job_end_and_check(job, process, WAIT_MS_MAX);
}

// --- rows that are too large ---------------------------------------------------------------------

enum { TOPIC_LIMIT_BYTES = 20000, SMALL_ROWS = 3000, SMALL_BYTES = 4000, LARGE_BYTES = 30000 };

#define SIZES_SQL                                                                                  \
    "CREATE TABLE texts (k text, body text) WITH (topic = '%s-in'%s);\n"                           \
    "CREATE TABLE copies (k text, body text) WITH (topic = '%s-out', key = 'k',\n"                 \
    "    key_format = 'raw');\n"                                                                   \
    "INSERT INTO copies SELECT k, body FROM texts;\n"

// A job that copies texts into a topic whose messages are limited; job_check is not for it.
static struct job *create_sizes(const char *name, const char *input_options)
{
    const char *bootstrap = weir_test_cluster_bootstrap(cluster);
    const char *dir = weir_test_dir_create(name);
    struct job *job = weir_test_alloc(sizeof *job);
    *job = (struct job){.bootstrap = bootstrap,
                        .name = name,
                        .dir = dir,
                        .store_dir = weir_test_format("%s/store", dir),
                        .sql_path = weir_test_format("%s/job.sql", dir)};
    weir_test_write_file(job->sql_path, weir_test_format(SIZES_SQL, name, input_options, name));
    const char *limited[] = {"max.message.bytes", weir_test_format("%d", TOPIC_LIMIT_BYTES), NULL};
    weir_test_topic_create(bootstrap, weir_test_format("%s-in", name), 2, NULL);
    weir_test_topic_create(bootstrap, weir_test_format("%s-out", name), 2, limited);
    weir_test_topic_create(bootstrap, weir_test_format("%s-dead", name), 2, NULL);
    return job;
}

static void feed_text(struct job *job, int64_t count, int size_bytes)
{
    struct weir_test_record *records = weir_test_alloc((size_t)count * sizeof *records);
    for (int64_t i = 0; i < count; i++) {
        char *value = weir_test_format("{\"k\":\"key-%lld\",\"body\":\"%0*d\"}",
                                       (long long)(job->fed_count + i), size_bytes, 0);
        records[i] = weir_test_record_of((int32_t)(i % 2), NULL, value);
    }
    weir_test_produce(job->bootstrap, weir_test_format("%s-in", job->name), records, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        free((void *)records[i].value);
    }
    free(records);
    job->fed_count += count;
}

static size_t count_records(const struct job *job, const char *suffix)
{
    char *topic = weir_test_format("%s-%s", job->name, suffix);
    struct weir_test_log *log = weir_test_read(job->bootstrap, topic, NULL);
    size_t count = log->record_count;
    weir_test_log_destroy(log);
    free(topic);
    return count;
}

// C165: batches are made so that no small row is refused for its neighbours; a row that is too
// large by itself is one error that names everything, and no restart.
static void expect_too_large(const char *name, const char *setting, const char *limit)
{
    struct job *job = create_sizes(name, "");
    feed_text(job, SMALL_ROWS, SMALL_BYTES);
    const char *extra[] = {setting, NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    job_wait_read(job, process, WAIT_MS_MAX);
    feed_text(job, 1, LARGE_BYTES);
    job_expect_end(process, 1, WAIT_MS_MAX, "oversize");
    char *key = weir_test_format("key-%d", SMALL_ROWS);
    char *size = weir_test_format("%zu bytes", strlen("{\"k\":\"\",\"body\":\"\"}") +
                                                   2 * strlen(key) + LARGE_BYTES);
    const char *const said[] = {"sink copies", key, limit, size};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (job_count_text(process, said[i]) == 0) {
            WEIR_TEST_FAIL("its log does not say %s:\n%s", said[i],
                           weir_test_process_output(process));
        }
    }
    assert_int_equal(job_count_text(process, " error "), 1);
    assert_int_equal(job_count_text(process, replayed), 0);
    weir_test_process_destroy(process);
    assert_int_equal(count_records(job, "out"), SMALL_ROWS);
    free(key);
    free(size);
}

static void test_row_above_the_topic_limit_is_one_error(void **state)
{
    (void)state;
    expect_too_large("topic-limit", "WEIR_LOG_LEVEL=info", "max.message.bytes");
}

static void test_row_above_the_client_limit_is_one_error(void **state)
{
    (void)state;
    expect_too_large("client-limit", "WEIR_KAFKA_MESSAGE_MAX_BYTES=15000", "message.max.bytes");
}

// What a compressed row takes is for the broker to say; its refusal ends the job as well.
static void test_compressed_row_above_the_limit_is_one_error(void **state)
{
    (void)state;
    struct job *job = create_sizes("compressed", "");
    const char *extra[] = {"WEIR_KAFKA_COMPRESSION_TYPE=gzip", "WEIR_LOG_LEVEL=info", NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    feed_text(job, 1, LARGE_BYTES); // zeros: small on the wire
    job_wait_read(job, process, WAIT_MS_MAX);
    char body[4 * TOPIC_LIMIT_BYTES + 1];
    for (int i = 0; i < 4 * TOPIC_LIMIT_BYTES; i++) {
        body[i] = (char)('a' + rand() % 16); // half a byte each
    }
    body[4 * TOPIC_LIMIT_BYTES] = '\0';
    char *value = weir_test_format("{\"k\":\"random\",\"body\":\"%s\"}", body);
    struct weir_test_record record = weir_test_record_of(0, NULL, value);
    weir_test_produce(job->bootstrap, "compressed-in", &record, 1);
    job_expect_end(process, 1, WAIT_MS_MAX, "a row of");
    assert_int_not_equal(job_count_text(process, "key \"random\""), 0);
    assert_int_equal(job_count_text(process, replayed), 0);
    weir_test_process_destroy(process);
    assert_int_equal(count_records(job, "out"), 1);
    free(value);
}

// What a batch, a record and the JSON around a key of five letters and a body take.
enum {
    AROUND_BODY_BYTES = 61 + 11 + 5 + 18 + 5,
    FITTING_BYTES = TOPIC_LIMIT_BYTES - AROUND_BODY_BYTES,
};

static void test_row_above_the_limit_is_a_dead_letter_if_asked(void **state)
{
    (void)state;
    struct job *job = create_sizes("letters", ", on_error = 'dead_letter', "
                                              "dead_letter_topic = 'letters-dead'");
    feed_text(job, 1, FITTING_BYTES); // just fits
    feed_text(job, 1, FITTING_BYTES + 1);
    feed_text(job, 9, SMALL_BYTES);
    feed_text(job, 2, LARGE_BYTES);
    feed_text(job, 10, SMALL_BYTES);
    job_finish(job);
    assert_int_equal(count_records(job, "out"), 20);
    struct weir_test_log *log = weir_test_read(job->bootstrap, "letters-dead", NULL);
    assert_int_equal(log->record_count, 3);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const struct weir_test_header *why =
                weir_test_record_header(&log->partitions[p].records[i], "weir.error");
            assert_non_null(why);
            assert_true(weir_test_bytes_are(why->value, why->value_bytes, "oversize"));
        }
    }
    weir_test_log_destroy(log);
}

// An argument is a pattern of test names.
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broker_killed_and_started_again),
        cmocka_unit_test(test_broker_frozen),
        cmocka_unit_test(test_one_of_three_brokers_killed_or_frozen),
        cmocka_unit_test(test_store_that_is_gone_for_a_while_is_waited_for),
        cmocka_unit_test(test_recovery_after_the_transaction_timed_out),
        cmocka_unit_test(test_open_transactions_of_another_shape_hold_nobody_up),
        cmocka_unit_test(test_full_producer_queue_is_back_pressure),
        cmocka_unit_test(test_row_above_the_topic_limit_is_one_error),
        cmocka_unit_test(test_row_above_the_client_limit_is_one_error),
        cmocka_unit_test(test_compressed_row_above_the_limit_is_one_error),
        cmocka_unit_test(test_row_above_the_limit_is_a_dead_letter_if_asked),
    };
    return cmocka_run_group_tests_name("integration/test_broker_faults", tests,
                                       cluster_start_seeded, cluster_stop);
}
