// SPDX-License-Identifier: Apache-2.0
// A disk that is full, or that fails, while state, its copies or a manifest are written: the
// checkpoint fails with the reason, the job is not ready and says why, and once there is room it
// goes on by itself; nothing is lost, nothing doubled. The disk is a small file system in memory,
// mounted where only this program and its children see it; where that is not allowed, the tests
// that need it are skipped.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/sql_job_util.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { KEYS = 500, WAIT_MS_MAX = 60000, FULL_MS = 4000, DISK_MB = 24 };

static bool can_mount;

static int start(void **state)
{
    can_mount = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    return cluster_start(state);
}

// Counts and sums by key; record n has key n mod KEYS and value n.
static struct sql_job *create(const char *name, int64_t *fed_count)
{
    struct sql_job *job = sql_job_create(
        weir_test_cluster_bootstrap(cluster), name,
        "CREATE TABLE input (k int, v bigint) WITH (topic = '$-in');\n"
        "CREATE TABLE output (k int PRIMARY KEY, n bigint, s numeric) WITH (topic = '$-out');\n"
        "CREATE TABLE copies (k int, v bigint) WITH (topic = '$-copies');\n"
        "INSERT INTO output SELECT k, count(*), sum(v) FROM input GROUP BY k;\n"
        "INSERT INTO copies SELECT k, v FROM input;\n");
    sql_job_topic_create(job, "in", 2);
    sql_job_topic_create(job, "out", 1);
    sql_job_topic_create(job, "copies", 2);
    *fed_count = 0;
    return job;
}

static void feed(const struct sql_job *job, int64_t *fed_count, int64_t count)
{
    struct weir_test_record *records = weir_test_alloc((size_t)count * sizeof *records);
    for (int64_t i = 0; i < count; i++) {
        long long n = (long long)(*fed_count + i);
        records[i] = weir_test_record_of((int32_t)(n % 2), NULL,
                                         weir_test_format("{\"k\":%lld,\"v\":%lld}", n % KEYS, n));
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        free((void *)records[i].value);
    }
    free(records);
    *fed_count += count;
}

static bool is_all_read(const struct sql_job *job)
{
    for (int32_t p = 0; p < 2; p++) {
        if (sql_job_committed(job, "in", p) !=
            weir_test_topic_end_offset(job->bootstrap, sql_job_topic(job, "in"), p)) {
            return false;
        }
    }
    return true;
}

// Counts only grow and end at the truth; every record was copied once, in order.
static void check(const struct sql_job *job, int64_t fed_count)
{
    long long counts[KEYS] = {0};
    long long sums[KEYS] = {0};
    struct weir_test_log *log = sql_job_read(job, "out");
    for (size_t i = 0; i < log->record_count; i++) {
        int k = -1;
        long long count = 0;
        long long sum = 0;
        char *text = sql_job_text(&log->partitions[0].records[i]);
        assert_int_equal(sscanf(text, "{\"k\":%d,\"n\":%lld,\"s\":%lld}", &k, &count, &sum), 3);
        assert_in_range(k, 0, KEYS - 1);
        assert_true(count > counts[k]);
        counts[k] = count;
        sums[k] = sum;
        free(text);
    }
    weir_test_log_destroy(log);
    for (int k = 0; k < KEYS; k++) {
        long long count = (fed_count - k + KEYS - 1) / KEYS;
        assert_int_equal(counts[k], count);
        assert_int_equal(sums[k], count * k + KEYS * (count * (count - 1) / 2));
    }
    log = sql_job_read(job, "copies");
    assert_int_equal(log->record_count, fed_count);
    for (int32_t p = 0; p < 2; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *expected = weir_test_format("{\"k\":%lld,\"v\":%lld}",
                                              ((long long)i * 2 + p) % KEYS, (long long)i * 2 + p);
            assert_true(weir_test_value_is(&log->partitions[p].records[i], expected));
            free(expected);
        }
    }
    weir_test_log_destroy(log);
}

// --- a small disk --------------------------------------------------------------------------------

static char *mount_disk(const struct sql_job *job)
{
    char *path = weir_test_format("%s/disk", job->dir);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(mount("weir-test", path, "tmpfs", 0, weir_test_format("size=%dm", DISK_MB)),
                     0);
    return path;
}

// Until not a byte more goes in.
static void fill(const char *disk)
{
    static const char block[1 << 12];
    int file = open(weir_test_format("%s/filler", disk), O_WRONLY | O_CREAT | O_APPEND, 0644);
    assert_true(file >= 0);
    while (write(file, block, sizeof block) > 0) {
    }
    assert_int_equal(errno, ENOSPC);
    close(file);
}

static void make_room(const char *disk)
{
    assert_int_equal(unlink(weir_test_format("%s/filler", disk)), 0);
}

static void expect_ready(struct weir_test_process *process)
{
    int status = 0;
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    do {
        weir_test_sleep_ms(50);
        free(live_util_get(process, "/readyz", &status));
    } while (status != 200 && weir_test_now_ms() < deadline_ms);
    assert_int_equal(status, 200);
}

// Not ready, with the cause, before the time is over.
static void expect_unready(struct weir_test_process *process)
{
    int status = 0;
    int64_t deadline_ms = weir_test_now_ms() + WAIT_MS_MAX;
    for (;;) {
        char *body = live_util_get(process, "/readyz", &status);
        if (status == 503 && strstr(body, "No space left on device") != NULL) {
            free(body);
            return;
        }
        if (weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("/readyz: %d %s", status, body);
        }
        free(body);
        weir_test_sleep_ms(20);
    }
}

// Full while the job writes, for a while; twice.
static void run_on_disk(struct sql_job *job, int64_t *fed_count, const char *disk,
                        const char *const *extra)
{
    struct weir_test_process *process = sql_job_start(job, extra);
    feed(job, fed_count, 4 * KEYS);
    sql_job_wait_running(process);
    for (int round = 0; round < 2; round++) {
        WEIR_TEST_WAIT_UNTIL(is_all_read(job), WAIT_MS_MAX);
        expect_ready(process);
        fill(disk);
        int64_t full_ms = weir_test_now_ms();
        feed(job, fed_count, 4 * KEYS);
        expect_unready(process);
        while (weir_test_now_ms() < full_ms + FULL_MS) {
            weir_test_sleep_ms(20);
        }
        assert_true(weir_test_process_is_running(process));
        assert_false(is_all_read(job));
        make_room(disk);
        feed(job, fed_count, KEYS);
        WEIR_TEST_WAIT_UNTIL(is_all_read(job), WAIT_MS_MAX);
        expect_ready(process);
    }
    sql_job_stop(process);
    check(job, *fed_count);
}

static void test_c150_full_disk_of_state_and_store(void **state)
{
    (void)state;
    if (!can_mount) {
        print_message("skipped: a file system cannot be mounted here\n");
        skip();
    }
    int64_t fed_count;
    struct sql_job *job = create("full", &fed_count);
    char *disk = mount_disk(job);
    // WEIR_TEST_DISK=store: only the checkpoint store lies there, so that materialisations are
    // copied; one comes after the other.
    const char *which = getenv("WEIR_TEST_DISK");
    bool is_store_alone = which != NULL && strcmp(which, "store") == 0;
    run_on_disk(
        job, &fed_count, disk,
        SQL_JOB_EXTRA(HTTP_LISTEN,
                      weir_test_format("WEIR_STATE_DIR=%s/state", is_store_alone ? job->dir : disk),
                      weir_test_format("WEIR_CHECKPOINT_DIR=%s/store", disk),
                      is_store_alone ? "WEIR_FAILPOINTS=state.materialise=error@0"
                                     : "WEIR_FAILPOINTS=none=error"));
}

// --- writes that fail once -----------------------------------------------------------------------

static void test_c150_failed_writes_cost_a_replay_at_most(void **state)
{
    (void)state;
    static const char *const points[] = {"store.write", "state.log.write", "state.live.write",
                                         "state.publish"};
    int64_t fed_count;
    struct sql_job *job = create("fails", &fed_count);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct weir_test_process *process =
            sql_job_start(job, SQL_JOB_EXTRA(weir_test_format("WEIR_FAILPOINTS=%s=error@%d",
                                                              points[i], i == 3 ? 1 : 3),
                                             "WEIR_CHECKPOINT_INTERVAL=50ms"));
        for (int j = 0; j < 20; j++) {
            feed(job, &fed_count, KEYS);
            weir_test_sleep_ms(20);
        }
        WEIR_TEST_WAIT_UNTIL(is_all_read(job), WAIT_MS_MAX);
        sql_job_stop(process);
    }
    sql_job_run_bounded(job);
    check(job, fed_count);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c150_full_disk_of_state_and_store),
        cmocka_unit_test(test_c150_failed_writes_cost_a_replay_at_most),
    };
    return cmocka_run_group_tests(tests, start, cluster_stop);
}
