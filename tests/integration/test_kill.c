// SPDX-License-Identifier: Apache-2.0
// The kill test: weir is killed again and again, at every named point of the way of an epoch and at
// random, while records keep coming; at the end a read_committed reader must find every result
// exactly once and in order. WEIR_TEST_KILLS sets how many kills (40 by default, which CI runs).
#include "tests/integration/cluster_util.h"
#include "tests/integration/job_util.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

enum { KILLS_DEFAULT = 40, FED_BEFORE = 2000, FED_PER_ROUND = 1500, ROUND_MS_MAX = 20000 };

// At which pass through the point (drawn at random up to that).
struct point {
    const char *name;
    int hit_max;
};

static const struct point points[] = {
    {"recover.before_fence", 1},
    {"recover.fenced", 1},
    {"claim.before", 1},
    {"claim.after", 1},
    {"coordinator.triggered", 8},
    {"task.barrier", 8},
    {"store.written", 6},
    {"store.renamed", 6},
    {"commit.before_offsets", 6},
    {"commit.before_end", 6},
    {"commit.after_end", 6},
    {"committer.before_delete", 1}, // later in a life only when something is old enough
    {"kafka.sent.InitProducerId", 4},
    {"kafka.answered.InitProducerId", 4},
    {"kafka.sent.AddPartitionsToTxn", 6},
    {"kafka.answered.AddPartitionsToTxn", 6},
    {"kafka.sent.AddOffsetsToTxn", 6},
    {"kafka.answered.AddOffsetsToTxn", 6},
    {"kafka.sent.TxnOffsetCommit", 6},
    {"kafka.answered.TxnOffsetCommit", 6},
    {"kafka.sent.EndTxn", 6},
    {"kafka.answered.EndTxn", 6},
};
enum { POINT_COUNT = sizeof points / sizeof points[0] };

// One life that ends at a named point; false: it never came there, and was killed by hand.
static bool die_at(struct job *job, const struct point *point, const char *const *more)
{
    char *failpoint = weir_test_format("WEIR_FAILPOINTS=%s=kill@%d", point->name,
                                       1 + rand() % point->hit_max);
    const char *extra[8] = {failpoint};
    for (int i = 0; more != NULL && more[i] != NULL; i++) {
        extra[i + 1] = more[i];
    }
    struct weir_test_process *process = job_start(job, false, extra);
    bool was_there = false;
    int64_t deadline_ms = weir_test_now_ms() + ROUND_MS_MAX;
    while (!was_there && weir_test_now_ms() < deadline_ms) {
        // Fed while it runs, so that no epoch is quiet.
        job_feed(job, FED_PER_ROUND / 10);
        was_there = weir_test_process_wait_killed(process, 50);
    }
    weir_test_process_kill(process);
    weir_test_process_destroy(process);
    free(failpoint);
    return was_there;
}

static void die_at_random(struct job *job, const char *const *more)
{
    struct weir_test_process *process = job_start(job, false, more);
    int64_t deadline_ms = weir_test_now_ms() + rand() % 1500;
    while (weir_test_now_ms() < deadline_ms) {
        job_feed(job, FED_PER_ROUND / 10);
        weir_test_sleep_ms(20);
    }
    struct weir_test_exit how;
    if (weir_test_process_wait(process, 0, &how)) {
        WEIR_TEST_FAIL("ended with %d by itself:\n%s", how.code, weir_test_process_output(process));
    }
    weir_test_process_kill(process);
    weir_test_process_destroy(process);
}

static void kill_and_check(struct job *job, int kill_count, const char *const *more)
{
    choose_seed();
    job_feed(job, FED_BEFORE);
    int missed_count = 0;
    for (int i = 0; i < kill_count; i++) {
        // Every named point once in the first rounds, then named points and random moments in turn.
        if (i < POINT_COUNT || i % 2 == 0) {
            const struct point *point = &points[i < POINT_COUNT ? i : rand() % POINT_COUNT];
            if (!die_at(job, point, more)) {
                print_message("never came to %s\n", point->name);
                missed_count++;
            }
        } else {
            die_at_random(job, more);
        }
    }
    assert_int_equal(missed_count, 0);
    job_finish(job);
    job_check(job);
    print_message("%d kills, %lld records, nothing lost, nothing twice\n", kill_count,
                  (long long)job->fed_count);
}

// C124.
static void test_kill_every_point_and_at_random(void **state)
{
    (void)state;
    struct job *job = job_create(weir_test_cluster_bootstrap(cluster), "kill");
    kill_and_check(job, number_from("WEIR_TEST_KILLS", KILLS_DEFAULT), NULL);
}

static void test_kill_with_three_concurrent_checkpoints(void **state)
{
    (void)state;
    struct job *job = job_create(weir_test_cluster_bootstrap(cluster), "kill3");
    const char *more[] = {"WEIR_CHECKPOINT_MAX_CONCURRENT=3", "WEIR_CHECKPOINT_INTERVAL=20ms",
                          NULL};
    kill_and_check(job, number_from("WEIR_TEST_KILLS", KILLS_DEFAULT) / 2, more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kill_every_point_and_at_random, cluster_start,
                                        cluster_stop),
        cmocka_unit_test_setup_teardown(test_kill_with_three_concurrent_checkpoints, cluster_start,
                                        cluster_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
