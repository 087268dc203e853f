// SPDX-License-Identifier: Apache-2.0
// Several processes of one identity (job and instance): each has a state directory of its own, all
// share the checkpoint store and the brokers. Whatever happens, one of them goes on, every other
// one ends with exit code 3, and the output is exact. WEIR_TEST_ROUNDS sets how many contests there
// are.
#include "tests/integration/cluster_util.h"
#include "tests/integration/job_util.h"

#include "tests/unit/cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TWO_AT_ONCE_ROUNDS = 4,
    SIX_AT_ONCE_ROUNDS = 1,
    CONTESTANTS_MAX = 6,
    FED_PER_ROUND = 400,
    EXIT_FENCED = 3,
    // Fenced while running: 2 to 3 s before it looks; while starting: back-off below 4 s.
    FENCED_MS_MAX = 60000,
    STOPPED_MS = 8000, // longer than the transaction time-out below
    LOCK_WAIT_MS = 30000,
    ASLEEP_MS = 3000,
};

static const char newer_owner[] = "a newer instance owns the job";
static const char *const short_transactions[] = {"WEIR_KAFKA_TRANSACTION_TIMEOUT_MS=6000",
                                                 "WEIR_KAFKA_SOCKET_TIMEOUT_MS=5000", NULL};

// Two processes on one state directory: begun first, looked at last, since the second one waits for
// half a minute.
static struct {
    struct job *job;
    struct weir_test_process *owner;
    struct weir_test_process *second;
    int64_t started_ms;
} lock;

static struct job *create(const char *name)
{
    return job_create(weir_test_cluster_bootstrap(cluster), name);
}

static int start(void **state)
{
    cluster_start(state);
    lock.job = create("lock");
    job_feed(lock.job, FED_PER_ROUND);
    lock.owner = job_start(lock.job, false, NULL);
    job_wait_running(lock.owner);
    lock.started_ms = weir_test_now_ms();
    lock.second = job_start(lock.job, false, NULL);
    return 0;
}

// The message of exit code 3: who owns the job, and by which transactional ids.
static void expect_fenced(const struct job *job, struct weir_test_process *process)
{
    job_expect_end(process, EXIT_FENCED, FENCED_MS_MAX, newer_owner);
    char *ids = weir_test_format("transactional ids %s-0-0", job->name);
    assert_int_not_equal(job_count_text(process, ids), 0);
    free(ids);
    weir_test_process_destroy(process);
}

static void finish_and_check(struct job *job)
{
    job_finish(job);
    job_check(job);
}

static struct weir_test_process *take_survivor(struct job *job,
                                               struct weir_test_process **processes, int count)
{
    int left = count;
    int64_t deadline_ms = weir_test_now_ms() + FENCED_MS_MAX;
    while (left > 1 && weir_test_now_ms() < deadline_ms) {
        for (int i = 0; i < count && left > 1; i++) {
            if (processes[i] != NULL && weir_test_process_wait(processes[i], 20, NULL)) {
                expect_fenced(job, processes[i]);
                processes[i] = NULL;
                left--;
            }
        }
    }
    if (left > 1) {
        WEIR_TEST_FAIL("%d of %d still run; logs: %s", left, count, job->dir);
    }
    struct weir_test_process *survivor = NULL;
    for (int i = 0; i < count; i++) {
        survivor = processes[i] != NULL ? processes[i] : survivor;
    }
    return survivor;
}

// So many at once: one goes on with everything that is fed.
static void contest(struct job *job, int count)
{
    struct weir_test_process *processes[CONTESTANTS_MAX];
    for (int i = 0; i < count; i++) {
        processes[i] = job_start(job, true, NULL);
    }
    job_feed(job, FED_PER_ROUND);
    struct weir_test_process *survivor = take_survivor(job, processes, count);
    job_feed(job, FED_PER_ROUND);
    job_wait_read(job, survivor, FENCED_MS_MAX);
    weir_test_process_kill(survivor); // the next ones begin where a dead owner left off
    weir_test_process_destroy(survivor);
}

static void test_of_two_at_once_exactly_one_goes_on(void **state)
{
    (void)state;
    struct job *job = create("two");
    int rounds = number_from("WEIR_TEST_ROUNDS", TWO_AT_ONCE_ROUNDS);
    for (int i = 0; i < rounds; i++) {
        contest(job, 2);
    }
    finish_and_check(job);
    print_message("two at once, %d times: exact\n", rounds);
}

static void test_of_six_at_once_exactly_one_goes_on(void **state)
{
    (void)state;
    struct job *job = create("six");
    int rounds = number_from("WEIR_TEST_ROUNDS", SIX_AT_ONCE_ROUNDS);
    for (int i = 0; i < rounds; i++) {
        contest(job, CONTESTANTS_MAX);
    }
    finish_and_check(job);
    print_message("six at once, %d times: exact\n", rounds);
}

static void test_one_started_later_takes_over(void **state)
{
    (void)state;
    struct job *job = create("later");
    job_feed(job, FED_PER_ROUND);
    struct weir_test_process *owner = job_start(job, true, NULL);
    job_wait_running(owner);
    for (int i = 0; i < 3; i++) {
        job_feed(job, FED_PER_ROUND);
        if (i == 1) { // quiet: it sends nothing that could be fenced
            job_wait_read(job, owner, FENCED_MS_MAX);
        }
        struct weir_test_process *next = job_start(job, true, NULL);
        expect_fenced(job, owner);
        job_feed(job, FED_PER_ROUND);
        job_wait_read(job, next, FENCED_MS_MAX);
        owner = next;
    }
    job_end_and_check(job, owner, FENCED_MS_MAX);
}

// C129. Stopped for longer than its transactions live, while another one takes over and commits.
static void stop_and_take_over(struct job *job)
{
    struct weir_test_process *old = job_start(job, true, short_transactions);
    job_wait_running(old);
    job_feed(job, 4 * FED_PER_ROUND);
    weir_test_sleep_ms(rand() % 200); // anywhere in its work
    weir_test_process_signal(old, SIGSTOP);
    int64_t stopped_ms = weir_test_now_ms();
    struct weir_test_process *new = job_start(job, true, short_transactions);
    job_wait_running(new);
    job_feed(job, FED_PER_ROUND);
    job_wait_read(job, new, FENCED_MS_MAX);
    while (weir_test_now_ms() < stopped_ms + STOPPED_MS) {
        weir_test_sleep_ms(50);
    }
    // Nothing is fed meanwhile, so the new one writes nothing either.
    char *before = job_store_listing(job);
    weir_test_process_signal(old, SIGCONT);
    expect_fenced(job, old);
    char *after = job_store_listing(job);
    if (strcmp(before, after) != 0) {
        WEIR_TEST_FAIL("the old owner has changed the store; before:\n%safter:\n%s", before, after);
    }
    free(before);
    free(after);
    job_feed(job, FED_PER_ROUND);
    job_wait_read(job, new, FENCED_MS_MAX);
    weir_test_process_kill(new);
    weir_test_process_destroy(new);
}

static void test_one_that_wakes_after_a_takeover_changes_nothing(void **state)
{
    (void)state;
    struct job *job = create("wakes");
    int rounds = number_from("WEIR_TEST_ROUNDS", 1);
    for (int i = 0; i < rounds; i++) {
        stop_and_take_over(job);
    }
    finish_and_check(job);
}

static void test_one_that_was_stopped_without_a_successor_goes_on(void **state)
{
    (void)state;
    struct job *job = create("alone");
    struct weir_test_process *process = job_start(job, true, short_transactions);
    job_wait_running(process);
    job_feed(job, 4 * FED_PER_ROUND);
    weir_test_sleep_ms(30); // in the middle of them
    weir_test_process_signal(process, SIGSTOP);
    weir_test_sleep_ms(STOPPED_MS);
    weir_test_process_signal(process, SIGCONT);
    job_feed(job, FED_PER_ROUND);
    job_end_and_check(job, process, FENCED_MS_MAX);
}

// The old owner sleeps at a named place while the new one takes over and commits; then it goes on
// where it was. False: the new one was not running before the old one woke.
static bool sleep_and_take_over(struct job *job, const char *point)
{
    char *failpoint = weir_test_format("WEIR_FAILPOINTS=%s=sleep:%d", point, ASLEEP_MS);
    char *asleep = weir_test_format("failpoint %s: sleep", point);
    const char *extra[] = {failpoint, NULL};
    struct weir_test_process *old = job_start(job, true, extra);
    job_feed(job, FED_PER_ROUND);
    if (!weir_test_process_wait_text(old, asleep, FENCED_MS_MAX, NULL)) {
        WEIR_TEST_FAIL("never came to %s:\n%s", point, weir_test_process_output(old));
    }
    int64_t asleep_ms = weir_test_now_ms();
    struct weir_test_process *new = job_start(job, true, NULL);
    job_wait_running(new);
    bool is_in_time = weir_test_now_ms() < asleep_ms + ASLEEP_MS - ASLEEP_MS / 4;
    job_feed(job, FED_PER_ROUND);
    expect_fenced(job, old);
    job_feed(job, FED_PER_ROUND);
    job_wait_read(job, new, FENCED_MS_MAX);
    weir_test_process_kill(new);
    weir_test_process_destroy(new);
    free(asleep);
    free(failpoint);
    return is_in_time;
}

static void test_one_that_sleeps_at_a_named_point_harms_nobody(void **state)
{
    (void)state;
    static const char *const points[] = {
        "recover.before_fence", "recover.fenced",          "claim.before",
        "claim.after",          "store.written",           "commit.before_offsets",
        "commit.before_end",    "committer.before_delete",
    };
    struct job *job = create("sleeps");
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        if (!sleep_and_take_over(job, points[i])) {
            print_message("%s: the new one was slow\n", points[i]);
        }
    }
    finish_and_check(job);
}

static void test_second_process_on_a_state_directory_waits_and_ends(void **state)
{
    (void)state;
    int64_t left_ms = lock.started_ms + LOCK_WAIT_MS + 10000 - weir_test_now_ms();
    job_expect_end(lock.second, 1, left_ms > 1000 ? (int)left_ms : 1000,
                   "in use by another process");
    weir_test_process_destroy(lock.second);
    job_feed(lock.job, FED_PER_ROUND);
    job_end_and_check(lock.job, lock.owner, FENCED_MS_MAX);
}

// An argument is a pattern of test names.
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_two_at_once_exactly_one_goes_on),
        cmocka_unit_test(test_of_six_at_once_exactly_one_goes_on),
        cmocka_unit_test(test_one_started_later_takes_over),
        cmocka_unit_test(test_one_that_wakes_after_a_takeover_changes_nothing),
        cmocka_unit_test(test_one_that_was_stopped_without_a_successor_goes_on),
        cmocka_unit_test(test_one_that_sleeps_at_a_named_point_harms_nobody),
        cmocka_unit_test(test_second_process_on_a_state_directory_waits_and_ends),
    };
    return cmocka_run_group_tests_name("integration/test_fencing", tests, start, cluster_stop);
}
