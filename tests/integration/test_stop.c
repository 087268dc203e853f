// SPDX-License-Identifier: Apache-2.0
// Stopping: SIGTERM and SIGINT in the middle of the work, with brokers that are frozen or gone,
// before the first connection, twice. Exit code 0 after a final checkpoint; else 1 with a line that
// says that there was none, within 30 s; and the next start loses and repeats nothing (C157).
#include "tests/integration/cluster_util.h"
#include "tests/integration/job_util.h"

#include "tests/unit/cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STOPS_IN_THE_MIDDLE = 8,
    FED_PER_ROUND = 1500,
    WAIT_MS_MAX = 60000,
    STOP_MS_MAX = 30000,
    AT_ONCE_MS = 3000,
};

// Without a final checkpoint nothing at all is committed.
static const char *const no_checkpoints[] = {"WEIR_CHECKPOINT_INTERVAL=5min", NULL};
static const char final_made[] = "stopped after a final checkpoint";
static const char final_missed[] = "the final checkpoint could not be committed in time";

static struct job *create(const char *name)
{
    return job_create(weir_test_cluster_bootstrap(cluster), name);
}

// The next start goes on from exactly where the last one stopped.
static void test_stop_in_the_middle_loses_and_repeats_nothing(void **state)
{
    (void)state;
    struct job *job = create("middle");
    int rounds = number_from("WEIR_TEST_ROUNDS", STOPS_IN_THE_MIDDLE);
    for (int i = 0; i < rounds; i++) {
        struct weir_test_process *process =
            job_start(job, false, i % 2 == 0 ? no_checkpoints : NULL);
        job_wait_running(process);
        job_feed(job, FED_PER_ROUND);
        weir_test_sleep_ms(rand() % 100);
        weir_test_process_signal(process, i % 3 == 0 ? SIGINT : SIGTERM);
        job_expect_end(process, 0, STOP_MS_MAX, final_made);
        weir_test_process_destroy(process);
        char *fault = job_fault(job); // what is there so far is in order
        if (fault != NULL && strstr(fault, "lost") == NULL) {
            WEIR_TEST_FAIL("%s", fault);
        }
        free(fault);
    }
    struct weir_test_process *process = job_start(job, false, NULL);
    job_wait_running(process);
    assert_int_equal(job_count_text(process, "; 0 later checkpoints"), 1);
    weir_test_process_signal(process, SIGTERM);
    job_expect_end(process, 0, STOP_MS_MAX, final_made);
    weir_test_process_destroy(process);
    job_finish(job);
    job_check(job);
}

// No broker answers: the final checkpoint cannot be committed.
static void expect_missed(struct weir_test_process *process, int64_t signalled_ms)
{
    int64_t left_ms = signalled_ms + STOP_MS_MAX - weir_test_now_ms();
    job_expect_end(process, 1, left_ms > 1 ? (int)left_ms : 1, final_missed);
    weir_test_process_destroy(process);
}

// A running job with rows that it has read and not committed.
static struct weir_test_process *start_uncommitted(struct job *job)
{
    struct weir_test_process *process = job_start(job, false, no_checkpoints);
    job_wait_running(process);
    job_feed(job, FED_PER_ROUND);
    char *topic = weir_test_format("%s-all", job->name);
    WEIR_TEST_WAIT_UNTIL(weir_test_topic_end_offset(job->bootstrap, topic, 0) > 0, WAIT_MS_MAX);
    free(topic);
    return process;
}

// The final checkpoint is committed; that the broker freezes then is no reason to say that it is
// not.
static void test_stop_with_a_final_checkpoint_ends_well_although_the_broker_freezes(void **state)
{
    (void)state;
    struct job *job = create("freezes");
    // The claim is the first commit.
    const char *extra[] = {no_checkpoints[0], "WEIR_FAILPOINTS=commit.after_end=sleep:1500@2",
                           NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    job_wait_running(process);
    job_feed(job, FED_PER_ROUND);
    weir_test_process_signal(process, SIGTERM);
    assert_true(weir_test_process_wait_text(process, "failpoint commit.after_end: sleep",
                                            WAIT_MS_MAX, NULL));
    weir_test_node_freeze(cluster, 0);
    job_expect_end(process, 0, STOP_MS_MAX, final_made);
    weir_test_process_destroy(process);
    weir_test_node_continue(cluster, 0);
    job_finish(job);
    job_check(job);
}

static void test_stop_before_the_first_connection_ends_at_once(void **state)
{
    (void)state;
    struct job *job = create("nobody");
    int port;
    int reserved = weir_test_port_reserve(&port); // nobody listens there
    char *refused = weir_test_format("WEIR_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:%d", port);
    const char *addresses[] = {refused, "WEIR_KAFKA_BOOTSTRAP_SERVERS=no-such-host.invalid:9092",
                               "WEIR_KAFKA_BOOTSTRAP_SERVERS=192.0.2.1:9092"};
    for (int i = 0; i < 3; i++) {
        const char *extra[] = {addresses[i], NULL};
        struct weir_test_process *process = job_start(job, false, extra);
        weir_test_sleep_ms(700);
        weir_test_process_signal(process, i % 2 == 0 ? SIGTERM : SIGINT);
        job_expect_end(process, 1, AT_ONCE_MS, "no final checkpoint was made");
        weir_test_process_destroy(process);
    }
    close(reserved);
    free(refused);
}

static void test_no_broker_ends_with_what_the_connections_failed_of(void **state)
{
    (void)state;
    struct job *job = create("unreachable");
    int port;
    int reserved = weir_test_port_reserve(&port); // nobody listens there
    char *refused = weir_test_format("WEIR_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:%d", port);
    const char *extra[] = {refused, "WEIR_CONNECT_TIMEOUT=1s", NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    job_expect_end(process, 1, AT_ONCE_MS, "gave up waiting for the brokers");
    char *output = weir_test_process_output(process);
    const char *last = strstr(output, "gave up waiting");
    assert_non_null(last);
    assert_non_null(strstr(last, "Connection refused"));
    free(output);
    weir_test_process_destroy(process);
    close(reserved);
    free(refused);
}

static void finish_and_check(struct job *job)
{
    job_finish(job);
    job_check(job);
}

// Two clusters, so that both are waited for at once.
static void test_stop_ends_although_brokers_are_frozen_or_gone(void **state)
{
    (void)state;
    struct weir_test_cluster *other = weir_test_cluster_start(NULL);
    struct job *gone_job = job_create(weir_test_cluster_bootstrap(other), "gone");
    struct job *frozen_job = create("frozen");
    struct job *impatient_job = create("impatient");
    struct job *starting_job = create("starting");
    struct weir_test_process *gone = start_uncommitted(gone_job);
    struct weir_test_process *frozen = start_uncommitted(frozen_job);
    struct weir_test_process *impatient = start_uncommitted(impatient_job);
    job_feed(starting_job, FED_PER_ROUND);
    weir_test_node_kill(other, 0);
    weir_test_node_freeze(cluster, 0);
    struct weir_test_process *starting = job_start(starting_job, false, NULL);
    weir_test_sleep_ms(1000);

    int64_t signalled_ms = weir_test_now_ms();
    weir_test_process_signal(gone, SIGTERM);
    weir_test_process_signal(frozen, SIGTERM);
    weir_test_process_signal(impatient, SIGTERM);
    weir_test_process_signal(starting, SIGTERM);
    // In a restore, or before it: there is nothing to commit.
    job_expect_end(starting, 1, AT_ONCE_MS, "no final checkpoint was made");
    weir_test_process_destroy(starting);
    weir_test_sleep_ms(500);
    assert_true(weir_test_process_is_running(impatient));
    weir_test_process_signal(impatient, SIGINT);
    job_expect_end(impatient, 1, AT_ONCE_MS, "second stop signal");
    weir_test_process_destroy(impatient);
    expect_missed(gone, signalled_ms);
    expect_missed(frozen, signalled_ms);

    weir_test_node_continue(cluster, 0);
    weir_test_node_start(other, 0);
    finish_and_check(frozen_job);
    finish_and_check(impatient_job);
    finish_and_check(starting_job);
    finish_and_check(gone_job);
    weir_test_cluster_destroy(other);
}

static void test_stop_waits_for_a_broker_that_comes_back_in_time(void **state)
{
    (void)state;
    struct job *job = create("back");
    struct weir_test_process *process = start_uncommitted(job);
    weir_test_node_kill(cluster, 0);
    weir_test_process_signal(process, SIGTERM);
    int64_t killed_ms = weir_test_now_ms();
    weir_test_node_start(cluster, 0);
    // On a machine too busy to start a broker it was not in time; nothing may be lost even so.
    bool is_in_time = weir_test_now_ms() - killed_ms < STOP_MS_MAX / 3;
    struct weir_test_exit how;
    assert_true(weir_test_process_wait(process, STOP_MS_MAX, &how));
    if (is_in_time || how.code == 0) {
        job_expect_end(process, 0, STOP_MS_MAX, final_made);
    } else {
        job_expect_end(process, 1, STOP_MS_MAX, final_missed);
    }
    weir_test_process_destroy(process);
    finish_and_check(job);
}

// An argument is a pattern of test names.
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_in_the_middle_loses_and_repeats_nothing),
        cmocka_unit_test(test_stop_before_the_first_connection_ends_at_once),
        cmocka_unit_test(test_no_broker_ends_with_what_the_connections_failed_of),
        cmocka_unit_test(test_stop_with_a_final_checkpoint_ends_well_although_the_broker_freezes),
        cmocka_unit_test(test_stop_ends_although_brokers_are_frozen_or_gone),
        cmocka_unit_test(test_stop_waits_for_a_broker_that_comes_back_in_time),
    };
    return cmocka_run_group_tests_name("integration/test_stop", tests, cluster_start_seeded,
                                       cluster_stop);
}
