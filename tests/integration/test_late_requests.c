// SPDX-License-Identifier: Apache-2.0
// Requests of the commit protocol that a proxy holds, loses or cuts off: their retry succeeds, the
// job goes on, and what was held reaches the broker in the middle of a later transaction of the
// same handle. Nothing may be lost or doubled. The same with the rule of used-up handles switched
// off (a failpoint) must be found wrong: else these tests would prove nothing.
//
// How a late request meets its victim at an exact moment: rule `late` holds a request of epoch n
// beyond librdkafka's time-out for it; rule `victim` stops the next transaction of that handle
// (n + 4) at a step of its own; then `late` is let go and answered before `victim` is.
//
// WEIR_TEST_ROUNDS sets how many faults the long test makes.
#include "tests/integration/cluster_util.h"
#include "tests/integration/job_util.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    FAULTS_DEFAULT = 24,
    UNDELIVERED_ROUNDS = 4,
    MANIFESTS_AHEAD_MAX = 4,
    WAIT_MS_MAX = 60000,
    EXIT_FENCED = 3,
};

// Requests of producers are given up after 1.5 s; what was lost is asked again at once.
static const char short_socket[] = "WEIR_KAFKA_PRODUCER_SOCKET_TIMEOUT_MS=1500";
static const char rule_is_off[] = "WEIR_FAILPOINTS=handles.keep_used_up=error@0";

static struct weir_test_proxy *proxy;
static const char *through_proxy; // the variable with its value

static int start(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){.is_proxied = true});
    proxy = weir_test_cluster_proxy(cluster);
    through_proxy =
        weir_test_format("WEIR_KAFKA_BOOTSTRAP_SERVERS=%s", weir_test_cluster_bootstrap(cluster));
    return 0;
}

static struct job *create(const char *name)
{
    return job_create(weir_test_cluster_direct_bootstrap(cluster), name);
}

static struct weir_test_process *start_through_proxy(struct job *job, bool own_state_dir,
                                                     const char *more, const char *even_more)
{
    const char *extra[] = {through_proxy,
                           "WEIR_RESTART_ATTEMPTS=1000",
                           "WEIR_RESTART_BACKOFF=100ms",
                           "WEIR_RESTART_BACKOFF_MAX=200ms",
                           more,
                           more != NULL ? even_more : NULL,
                           NULL};
    return job_start(job, own_state_dir, extra);
}

static struct weir_test_proxy_rule *rule_once(enum weir_test_proxy_action action,
                                              enum weir_test_api api_key, const char *id,
                                              const char *client)
{
    return weir_test_proxy_add_rule(proxy,
                                    &(struct weir_test_proxy_rule_options){.action = action,
                                                                           .api_key = api_key,
                                                                           .transactional_id = id,
                                                                           .client_id = client,
                                                                           .count = 1});
}

// One record for each partition, again and again: epochs follow each other until the rule is hit.
static void feed_until_hit(struct job *job, struct weir_test_process *process,
                           struct weir_test_proxy_rule *rule)
{
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    do {
        if (!weir_test_process_is_running(process) || weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("the request never came:\n%s", weir_test_process_output(process));
        }
        job_feed(job, JOB_PARTITIONS);
    } while (!weir_test_proxy_wait_hit(rule, 1, 100));
}

static void wait_answered(struct weir_test_proxy_rule *rule)
{
    if (!weir_test_proxy_wait_answered(rule, 1, WAIT_MS_MAX)) {
        WEIR_TEST_FAIL("the held request was not answered");
    }
}

// What a reader or a restart would find wrong; for free(), NULL: nothing.
static char *find_violation(struct job *job)
{
    const char *extra[] = {"WEIR_BOUNDED=true", NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    struct weir_test_exit how;
    if (!weir_test_process_wait(process, WAIT_MS_MAX, &how)) {
        WEIR_TEST_FAIL("does not end:\n%s", weir_test_process_output(process));
    }
    char *output = weir_test_process_output(process);
    weir_test_process_destroy(process);
    return how.is_signalled || how.code != 0 ? output : job_fault(job);
}

// --- one late request at an exact moment ---------------------------------------------------------

struct late_case {
    const char *name;
    enum weir_test_api late;
    enum weir_test_api victim; // where the later transaction is stopped meanwhile
};

// An EndTxn does harm while rows are there and offsets are not; a TxnOffsetCommit once the
// transaction's own offsets are there.
static const struct late_case late_cases[] = {
    {"end", WEIR_TEST_API_END_TXN, WEIR_TEST_API_ADD_OFFSETS_TO_TXN},
    {"commit", WEIR_TEST_API_TXN_OFFSET_COMMIT, WEIR_TEST_API_END_TXN},
    {"offsets", WEIR_TEST_API_ADD_OFFSETS_TO_TXN, WEIR_TEST_API_END_TXN},
    {"partitions", WEIR_TEST_API_ADD_PARTITIONS_TO_TXN, WEIR_TEST_API_END_TXN},
};
enum { LATE_CASE_COUNT = sizeof late_cases / sizeof late_cases[0] };

struct late_outcome {
    int error;            // the broker's answer to the late request
    int moved_back_count; // partitions whose committed offset is lower than before
    char *violation;      // NULL: none
};

static void read_offsets(const struct job *job, int64_t offsets[JOB_PARTITIONS])
{
    char *topic = weir_test_format("%s-in", job->name);
    int32_t count;
    struct weir_test_committed *committed =
        weir_test_group_committed(job->bootstrap, job->name, topic, true, &count);
    assert_int_equal(count, JOB_PARTITIONS);
    for (int32_t p = 0; p < count; p++) {
        offsets[p] = committed[p].offset;
    }
    weir_test_committed_destroy(committed, count);
    free(topic);
}

static int count_moved_back(const struct job *job, const int64_t before[JOB_PARTITIONS])
{
    int64_t after[JOB_PARTITIONS];
    int moved_back_count = 0;
    read_offsets(job, after);
    for (int32_t p = 0; p < JOB_PARTITIONS; p++) {
        moved_back_count += after[p] < before[p];
    }
    return moved_back_count;
}

static struct late_outcome run_late_case(const struct late_case *late_case, bool is_killed,
                                         const char *failpoint)
{
    char *name = weir_test_format("%s%s%s", late_case->name, is_killed ? "-kill" : "",
                                  failpoint != NULL ? "-canary" : "");
    struct job *job = create(name);
    struct weir_test_process *process = start_through_proxy(job, false, short_socket, failpoint);
    job_wait_running(process);
    job_feed(job, JOB_PARTITIONS);
    job_wait_read(job, process, WAIT_MS_MAX);

    char *id = job_transactional_id(job, job_pointer(job).number + 1);
    struct weir_test_proxy_rule *late = rule_once(WEIR_TEST_PROXY_HOLD, late_case->late, id, NULL);
    feed_until_hit(job, process, late);
    struct weir_test_proxy_rule *victim = weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){
                   .action = WEIR_TEST_PROXY_HOLD,
                   .api_key = late_case->victim,
                   .transactional_id = id,
                   .skip_count = late_case->late != WEIR_TEST_API_END_TXN, // that of n itself
                   .count = 1});
    feed_until_hit(job, process, victim);

    struct late_outcome outcome = {0};
    int64_t before[JOB_PARTITIONS];
    read_offsets(job, before);
    weir_test_proxy_end_rule(late);
    wait_answered(late);
    outcome.error = weir_test_proxy_answer_error(late);
    if (is_killed) {
        weir_test_process_kill(process);
    }
    // No later commit hides what became of this one.
    struct weir_test_proxy_rule *later = weir_test_proxy_add_rule(
        proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_DROP,
                                                      .api_key = WEIR_TEST_API_END_TXN,
                                                      .transactional_id = name});
    weir_test_proxy_end_rule(victim);
    if (!is_killed) {
        wait_answered(victim);
        weir_test_sleep_ms(500); // until its markers are written
    }
    outcome.moved_back_count = count_moved_back(job, before);
    weir_test_process_kill(process);
    weir_test_process_destroy(process);
    weir_test_proxy_end_rule(later);
    outcome.violation = find_violation(job);
    free(id);
    free(name);
    return outcome;
}

static void test_late_requests_are_refused(void **state)
{
    (void)state;
    bool is_thorough = number_from("WEIR_TEST_ROUNDS", 0) > 0; // else killed in every second case
    for (int i = 0; i < 2 * LATE_CASE_COUNT; i++) {
        const struct late_case *late_case = &late_cases[i % LATE_CASE_COUNT];
        bool is_killed = i % 2 == (i < LATE_CASE_COUNT ? 0 : 1);
        if (i >= LATE_CASE_COUNT && !is_thorough) {
            break;
        }
        struct late_outcome outcome = run_late_case(late_case, is_killed, NULL);
        print_message("%s: the late request was answered with error %d\n", late_case->name,
                      outcome.error);
        assert_int_not_equal(outcome.error, 0);
        assert_int_equal(outcome.moved_back_count, 0);
        if (outcome.violation != NULL) {
            WEIR_TEST_FAIL("late %s: %s", late_case->name, outcome.violation);
        }
    }
}

// Canaries: without the rule of used-up handles the same two requests do harm, and it is seen.

static void test_without_the_rule_a_late_end_doubles_rows(void **state)
{
    (void)state;
    struct late_outcome outcome = run_late_case(&late_cases[0], true, rule_is_off);
    assert_int_equal(outcome.error, 0);
    assert_non_null(outcome.violation);
    print_message("as it must be: %s\n", outcome.violation);
    assert_non_null(strstr(outcome.violation, "twice"));
}

static void test_without_the_rule_a_late_offset_commit_moves_the_pointer_back(void **state)
{
    (void)state;
    struct late_outcome outcome = run_late_case(&late_cases[1], false, rule_is_off);
    assert_int_equal(outcome.error, 0);
    assert_non_null(outcome.violation);
    print_message("as it must be: %d offsets were moved back\n", outcome.moved_back_count);
    assert_int_not_equal(outcome.moved_back_count, 0);
}

static void test_late_init_only_costs_a_replay(void **state)
{
    (void)state;
    struct job *job = create("init");
    struct weir_test_proxy_rule *late =
        rule_once(WEIR_TEST_PROXY_HOLD, WEIR_TEST_API_INIT_PRODUCER_ID, "init-0-", NULL);
    struct weir_test_process *process = start_through_proxy(job, false, short_socket, NULL);
    job_wait_running(process);
    assert_int_equal(weir_test_proxy_hit_count(late), 1);
    for (int i = 0; i < 10; i++) { // all four handles
        job_feed(job, JOB_PARTITIONS);
        weir_test_sleep_ms(100);
    }
    weir_test_proxy_end_rule(late);
    wait_answered(late);
    for (int i = 0; i < 10; i++) {
        job_feed(job, JOB_PARTITIONS);
        weir_test_sleep_ms(100);
    }
    job_end_and_check(job, process, WAIT_MS_MAX);
}

// --- slow deliveries -----------------------------------------------------------------------------

static bool has_manifest_above(const struct job *job, int64_t number)
{
    char *listing = job_store_listing(job);
    bool is_found = false;
    for (int64_t n = number + 1; n <= number + MANIFESTS_AHEAD_MAX; n++) {
        char name[64];
        snprintf(name, sizeof name, "manifest-%020lld-", (long long)n);
        is_found = is_found || strstr(listing, name) != NULL;
    }
    free(listing);
    return is_found;
}

// C133: checkpoints begin while a row is on its way. None is acknowledged, and so has a manifest,
// before the broker has the row. (The commit itself would wait for it too.)
static void test_epoch_waits_for_its_undelivered_row(void **state)
{
    (void)state;
    struct job *job = create("undelivered");
    struct weir_test_process *process =
        start_through_proxy(job, false, "WEIR_CHECKPOINT_INTERVAL=10ms", NULL);
    job_wait_running(process);
    int rounds = number_from("WEIR_TEST_ROUNDS", UNDELIVERED_ROUNDS);
    for (int i = 0; i < rounds; i++) {
        struct weir_test_proxy_rule *held =
            rule_once(WEIR_TEST_PROXY_HOLD, WEIR_TEST_API_PRODUCE, NULL, NULL);
        feed_until_hit(job, process, held);
        weir_test_sleep_ms(300); // thirty intervals
        assert_false(has_manifest_above(job, job_pointer(job).number));
        weir_test_proxy_end_rule(held);
        job_wait_read(job, process, WAIT_MS_MAX);
    }
    job_end_and_check(job, process, WAIT_MS_MAX);
}

// --- an old owner that makes a handle anew during a takeover -------------------------------------

// The new owner fences the old one, handle by handle; meanwhile the old one makes the handle of its
// epoch n + 1 anew and so has it to itself again. It commits up to n on handles that are not fenced
// yet; the new owner fences those, reads the pointer n and is about to claim n; the old one commits
// n + 1. A claim that went through now would take n + 1 back, and its rows would come twice.
static void test_claim_fails_when_the_old_owner_still_commits(void **state)
{
    (void)state;
    static const char old_name[] = "WEIR_KAFKA_CLIENT_ID=old-owner";
    static const char new_name[] = "WEIR_KAFKA_CLIENT_ID=new-owner";
    struct job *job = create("claim");
    struct weir_test_process *old = start_through_proxy(job, true, short_socket, old_name);
    job_wait_running(old);
    job_feed(job, JOB_PARTITIONS);
    job_wait_read(job, old, WAIT_MS_MAX);

    // The old owner's commit of m + 1 loses a request: its handle is used up.
    int64_t m = job_pointer(job).number;
    char *id = job_transactional_id(job, m + 1);
    struct weir_test_proxy_rule *anew =
        rule_once(WEIR_TEST_PROXY_HOLD, WEIR_TEST_API_INIT_PRODUCER_ID, id, "old-owner");
    struct weir_test_proxy_rule *lost =
        rule_once(WEIR_TEST_PROXY_DROP, WEIR_TEST_API_END_TXN, id, "old-owner");
    feed_until_hit(job, old, lost);

    // The new owner comes, and its fencing is held, handle by handle.
    struct weir_test_proxy_rule *fences[4];
    for (int i = 0; i < 4; i++) {
        char *fenced_id = job_transactional_id(job, m + 1 + i);
        fences[i] = weir_test_proxy_add_rule(
            proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_HOLD,
                                                          .api_key = WEIR_TEST_API_INIT_PRODUCER_ID,
                                                          .transactional_id = fenced_id,
                                                          .client_id = "new-owner"});
        free(fenced_id);
    }
    struct weir_test_process *new = start_through_proxy(job, true, new_name, NULL);
    for (int i = 0; i < 4; i++) {
        assert_true(weir_test_proxy_wait_hit(fences[i], 1, WAIT_MS_MAX));
    }
    assert_true(weir_test_proxy_wait_hit(anew, 1, WAIT_MS_MAX));
    weir_test_proxy_end_rule(fences[0]);
    wait_answered(fences[0]);
    weir_test_proxy_end_rule(anew); // after the new owner's: the handle is the old owner's again
    wait_answered(anew);

    // The old owner commits m + 2 to m + 4 and comes to the offsets of m + 5 = n + 1.
    struct weir_test_proxy_rule *offsets =
        rule_once(WEIR_TEST_PROXY_HOLD, WEIR_TEST_API_ADD_OFFSETS_TO_TXN, id, "old-owner");
    feed_until_hit(job, old, offsets);
    int64_t n = job_pointer(job).number;
    assert_int_equal(n, m + 4);
    struct weir_test_proxy_rule *claim =
        rule_once(WEIR_TEST_PROXY_HOLD, WEIR_TEST_API_ADD_OFFSETS_TO_TXN, "claim-0-", "new-owner");
    for (int i = 1; i < 4; i++) {
        weir_test_proxy_end_rule(fences[i]);
    }
    assert_true(weir_test_proxy_wait_hit(claim, 1, WAIT_MS_MAX));
    weir_test_proxy_end_rule(offsets);
    job_wait_committed(job, old, n + 1, WAIT_MS_MAX);
    weir_test_proxy_end_rule(claim);
    wait_answered(claim);

    // One of them goes on, and nothing has been taken back.
    job_feed(job, 100);
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    bool is_old_over;
    bool is_new_over;
    do {
        is_old_over = weir_test_process_wait(old, 50, NULL);
        is_new_over = weir_test_process_wait(new, 50, NULL);
    } while (!is_old_over && !is_new_over && weir_test_now_ms() < deadline_ms);
    assert_true(is_old_over != is_new_over);
    job_expect_end(is_old_over ? old : new, EXIT_FENCED, 1000, "a newer instance owns the job");
    job_feed(job, 100);
    job_wait_read(job, is_old_over ? new : old, WAIT_MS_MAX);
    weir_test_process_kill(old);
    weir_test_process_kill(new);
    weir_test_process_destroy(old);
    weir_test_process_destroy(new);
    free(id);
    job_finish(job);
    job_check(job);
}

// --- all kinds of faults, one after the other ----------------------------------------------------

// Requests that arrive twice without an error on their connection are left out, but for two in a
// row: TCP does not double them, only a client that has seen an error does.
static const enum weir_test_proxy_action actions[] = {
    WEIR_TEST_PROXY_HOLD,        WEIR_TEST_PROXY_DROP,        WEIR_TEST_PROXY_DOUBLE,
    WEIR_TEST_PROXY_CUT_BEFORE,  WEIR_TEST_PROXY_CUT_AFTER,   WEIR_TEST_PROXY_CUT_ANSWER,
    WEIR_TEST_PROXY_DROP_ANSWER, WEIR_TEST_PROXY_HOLD_ANSWER,
};
static const enum weir_test_api requests[] = {
    WEIR_TEST_API_PRODUCE,
    WEIR_TEST_API_INIT_PRODUCER_ID,
    WEIR_TEST_API_ADD_PARTITIONS_TO_TXN,
    WEIR_TEST_API_ADD_OFFSETS_TO_TXN,
    WEIR_TEST_API_TXN_OFFSET_COMMIT,
    WEIR_TEST_API_END_TXN,
};
enum {
    ACTION_COUNT = sizeof actions / sizeof actions[0],
    REQUEST_COUNT = sizeof requests / sizeof requests[0],
    FAULT_COUNT = ACTION_COUNT * REQUEST_COUNT,
};

static void test_lost_doubled_held_and_cut_requests_neither_lose_nor_double(void **state)
{
    (void)state;
    choose_seed();
    struct job *job = create("faults");
    struct weir_test_process *process = start_through_proxy(job, false, short_socket, NULL);
    job_wait_running(process);
    int fault_count = number_from("WEIR_TEST_ROUNDS", FAULTS_DEFAULT);
    int first = rand();
    for (int i = 0; i < fault_count; i++) {
        // A step that is prime to their number: every fault once before one comes again.
        int fault = (first % FAULT_COUNT + i * 31) % FAULT_COUNT;
        struct weir_test_proxy_rule *rule = weir_test_proxy_add_rule(
            proxy,
            &(struct weir_test_proxy_rule_options){.action = actions[fault / REQUEST_COUNT],
                                                   .api_key = requests[fault % REQUEST_COUNT],
                                                   .transactional_id = "faults-0-",
                                                   .skip_count = rand() % 3,
                                                   .count = 1,
                                                   .duration_ms = 500 + rand() % 4000});
        // InitProducerId comes only when a handle is made anew: its rule waits for that.
        int64_t deadline_ms = weir_test_now_ms() + 2000;
        do {
            if (!weir_test_process_is_running(process)) {
                WEIR_TEST_FAIL("has ended:\n%s", weir_test_process_output(process));
            }
            job_feed(job, 3 * JOB_PARTITIONS);
        } while (!weir_test_proxy_wait_hit(rule, 1, 20) && weir_test_now_ms() < deadline_ms);
    }
    job_wait_read(job, process, 2 * WAIT_MS_MAX);
    int replay_count = job_count_text(process, "going back to the last committed checkpoint");
    int anew_count = job_count_text(process, "making the handle anew");
    job_end_and_check(job, process, WAIT_MS_MAX);
    print_message("%d faults, %d handles made anew, %d replays, %lld records: exact\n", fault_count,
                  anew_count, replay_count, (long long)job->fed_count);
}

// An argument is a pattern of test names.
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_requests_are_refused),
        cmocka_unit_test(test_without_the_rule_a_late_end_doubles_rows),
        cmocka_unit_test(test_without_the_rule_a_late_offset_commit_moves_the_pointer_back),
        cmocka_unit_test(test_late_init_only_costs_a_replay),
        cmocka_unit_test(test_epoch_waits_for_its_undelivered_row),
        cmocka_unit_test(test_claim_fails_when_the_old_owner_still_commits),
        cmocka_unit_test(test_lost_doubled_held_and_cut_requests_neither_lose_nor_double),
    };
    return cmocka_run_group_tests_name("integration/test_late_requests", tests, start,
                                       cluster_stop);
}
