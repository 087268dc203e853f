// SPDX-License-Identifier: Apache-2.0
// The kill test with keyed state: counts, sums and different values per key into a keyed topic,
// tumbling windows, and a changelog with deletes, copied and summed by group; while weir is killed
// at named points and at random and comes back with another parallelism. Counts strictly increase
// per key and end at the truth; each window comes out once, with the right sum; of the changelog
// nothing is written twice in a row, and what is left at the end is what must be. WEIR_TEST_KILLS
// sets how many kills (16 by default), WEIR_TEST_KEYS how many keys. C147: see the second test.
#include "tests/integration/cluster_util.h"
#include "tests/integration/numbered_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KILLS_DEFAULT = 16,
    KEYS_DEFAULT = 500,
    FED_BEFORE = 4000,
    FED_PER_PART = 400,
    ROUND_MS_MAX = 20000,
    UNSURE_MS = 2000,
    LATEST_KEYS = 200, // of the changelog
    LATEST_GROUPS = 11,
    RECORDS_PER_CHANGE = 10,
    // C147: kills between checkpoints that are far apart.
    FAR_KILLS_DEFAULT = 3,
    FAR_INTERVAL_MS_DEFAULT = 800,
};

static const char *const job_sql = NUMBERED_INPUT NUMBERED_COUNTS NUMBERED_WINDOWS
    "CREATE TABLE latest (k int PRIMARY KEY, g int, v bigint) WITH (topic = '$-latest');\n"
    "CREATE TABLE copies (k int PRIMARY KEY, g int, v bigint) WITH (topic = '$-copies');\n"
    "CREATE TABLE sums (g int PRIMARY KEY, c bigint, s numeric) WITH (topic = '$-sums');\n"
    "INSERT INTO copies SELECT k, g, v FROM latest;\n"
    "INSERT INTO sums SELECT g, count(*), sum(v) FROM latest GROUP BY g;\n";

// A place to die at. A life passes some of them once, others once an epoch; some it may not come
// to.
static const struct point {
    const char *name;
    bool is_once;
    bool is_unsure;
} points[] = {
    {"task.barrier", false, false},
    {"state.log.write", false, false},
    {"state.log.written", false, false},
    {"state.log.renamed", false, false},
    {"state.live.write", false, false},
    {"state.checkpointed", false, false},
    {"state.publish", false, false},
    {"state.published", false, false},
    {"state.restore.verified", true, false},
    {"state.restore.laid_out", true, true},
    {"state.restore.applied", true, true},
    {"task.sending", false, false},
    {"store.written", false, false},
    {"store.renamed", false, false},
    {"commit.before_offsets", false, false},
    {"commit.before_end", false, false},
    {"commit.after_end", false, false},
    {"kafka.sent.EndTxn", false, false},
    {"kafka.answered.EndTxn", false, false},
    {"claim.before", true, false},
    {"claim.after", true, false},
    {"coordinator.triggered", false, false},
    {"committer.before_delete", true, false},
};
enum { POINT_COUNT = sizeof points / sizeof points[0] };

struct fed {
    struct numbered numbered;
    struct sql_job *job;  // that of `numbered`
    int64_t change_count; // of the changelog
    int interval_ms;
    int life_ms_max; // of a life that ends at random
};

// Change m of the changelog: which key, and whether the key's row goes. Otherwise its value is m,
// and its group m mod 11.
static int key_of_change(int64_t m)
{
    return (int)(m * 17 % LATEST_KEYS);
}

static bool is_delete(int64_t m)
{
    return (m + m / LATEST_KEYS) % 5 == 4;
}

static struct weir_test_record record_of_change(const void *context, int64_t m)
{
    (void)context;
    int k = key_of_change(m);
    return weir_test_record_of(k % NUMBERED_PARTITIONS, weir_test_format("{\"k\":%d}", k),
                               is_delete(m) ? NULL
                                            : weir_test_format("{\"g\":%d,\"v\":%" PRId64 "}",
                                                               (int)(m % LATEST_GROUPS), m));
}

static void feed_changes(struct fed *fed, int64_t count)
{
    sql_job_feed_each(fed->job, "latest", fed->change_count, count, record_of_change, NULL);
    fed->change_count += count;
}

static void feed(struct fed *fed, int64_t count)
{
    numbered_feed(&fed->numbered, count);
    feed_changes(fed, count / RECORDS_PER_CHANGE);
}

static void die(struct fed *fed, const struct point *point)
{
    char *parallelism = weir_test_format("WEIR_PARALLELISM=%d", 1 + rand() % 3);
    // Materialisations come one after the other.
    char *failpoint = weir_test_format("WEIR_FAILPOINTS=state.materialise=error@0,%s=kill@%d",
                                       point != NULL ? point->name : "none",
                                       point != NULL && point->is_once ? 1 : 1 + rand() % 5);
    char *interval = weir_test_format("WEIR_CHECKPOINT_INTERVAL=%dms", fed->interval_ms);
    struct weir_test_process *process =
        sql_job_start(fed->job, SQL_JOB_EXTRA(parallelism, failpoint, interval));
    // Many keys take their time.
    int64_t life_ms = point == NULL      ? rand() % fed->life_ms_max
                      : point->is_unsure ? UNSURE_MS
                                         : ROUND_MS_MAX + fed->numbered.key_count;
    int64_t deadline_ms = weir_test_now_ms() + life_ms;
    bool is_killed = false;
    while (!is_killed && weir_test_now_ms() < deadline_ms) {
        feed(fed, FED_PER_PART);
        is_killed = weir_test_process_wait_killed(process, 50);
    }
    if (point != NULL && !point->is_unsure && !is_killed) {
        WEIR_TEST_FAIL("never came to %s", point->name);
    }
    sql_job_kill(process);
    free(parallelism);
    free(failpoint);
    free(interval);
}

struct latest_row {
    bool is_there;
    int64_t group;
    int64_t value;
};

// What a compacting reader of "copies" ends with, in rows of the keys; no row stands there twice in
// a row, since every change is another one.
static void read_copies(const struct fed *fed, struct latest_row *rows)
{
    struct weir_test_log *log =
        weir_test_read(fed->job->bootstrap, sql_job_topic(fed->job, "copies"), NULL);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            char *key = weir_test_format("%.*s", (int)record->key_bytes, (const char *)record->key);
            char *value = sql_job_text(record);
            struct latest_row row = {.is_there = record->value != NULL};
            int k = -1;
            int same = -1;
            assert_int_equal(sscanf(key, "{\"k\":%d}", &k), 1);
            assert_in_range(k, 0, LATEST_KEYS - 1);
            if (row.is_there && (sscanf(value, "{\"k\":%d,\"g\":%" SCNd64 ",\"v\":%" SCNd64 "}",
                                        &same, &row.group, &row.value) != 3 ||
                                 same != k)) {
                WEIR_TEST_FAIL("copies partition %d holds %s => %s", p, key, value);
            }
            if (rows[k].is_there == row.is_there && rows[k].value >= row.value) {
                WEIR_TEST_FAIL("copies partition %d holds %s => %s after %" PRId64, p, key, value,
                               rows[k].value);
            }
            rows[k] = row;
            free(key);
            free(value);
        }
    }
    weir_test_log_destroy(log);
}

static void check_latest(const struct fed *fed)
{
    struct latest_row expected[LATEST_KEYS] = {0};
    struct latest_row found[LATEST_KEYS] = {0};
    for (int64_t m = 0; m < fed->change_count; m++) {
        expected[key_of_change(m)] =
            is_delete(m)
                ? (struct latest_row){0}
                : (struct latest_row){.is_there = true, .group = m % LATEST_GROUPS, .value = m};
    }
    read_copies(fed, found);
    int64_t counts[LATEST_GROUPS] = {0};
    int64_t sums[LATEST_GROUPS] = {0};
    for (int k = 0; k < LATEST_KEYS; k++) {
        if (found[k].is_there != expected[k].is_there || found[k].group != expected[k].group ||
            found[k].value != expected[k].value) {
            WEIR_TEST_FAIL("key %d of the changelog ends at %" PRId64 ", it should be %" PRId64, k,
                           found[k].value, expected[k].value);
        }
        counts[expected[k].group] += expected[k].is_there ? 1 : 0;
        sums[expected[k].group] += expected[k].value;
    }
    char *text = sql_job_compacted(fed->job, "sums");
    for (int g = 0; g < LATEST_GROUPS; g++) {
        char *line = weir_test_format("{\"g\":%d,\"c\":%" PRId64 ",\"s\":%" PRId64 "}\n", g,
                                      counts[g], sums[g]);
        if (counts[g] > 0 && strstr(text, line) == NULL) {
            WEIR_TEST_FAIL("of the groups there are\n%sand not %s", text, line);
        }
        free(line);
    }
    free(text);
}

static void check(const struct fed *fed)
{
    struct numbered_found found = {0};
    numbered_check_counts(&fed->numbered, &found);
    numbered_check_windows(&fed->numbered, &found);
    if (found.fault != NULL) {
        WEIR_TEST_FAIL("%s; %" PRId64 " lost, %" PRId64 " double", found.fault, found.lost_count,
                       found.double_count);
    }
    check_latest(fed);
}

static struct fed create(const char *name, int interval_ms, int life_ms_max)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, job_sql);
    struct fed fed = {
        .numbered = {.job = job, .key_count = number_from("WEIR_TEST_KEYS", KEYS_DEFAULT)},
        .job = job,
        .interval_ms = interval_ms,
        .life_ms_max = life_ms_max,
    };
    sql_job_topic_create(fed.job, "in", NUMBERED_PARTITIONS);
    sql_job_topic_create(fed.job, "latest", NUMBERED_PARTITIONS);
    sql_job_topic_create(fed.job, "counts", 3);
    sql_job_topic_create(fed.job, "windows", 2);
    sql_job_topic_create(fed.job, "copies", 3);
    sql_job_topic_create(fed.job, "sums", 1);
    feed(&fed, 2 * fed.numbered.key_count > FED_BEFORE ? 2 * fed.numbered.key_count : FED_BEFORE);
    // A first life that leaves state to be restored, which some of the points lie in.
    struct weir_test_process *process = sql_job_start(fed.job, NULL);
    WEIR_TEST_WAIT_UNTIL(sql_job_pointer(fed.job, "in") > 0, 60000);
    sql_job_kill(process);
    return fed;
}

static void test_kill_keyed_counts_windows_and_changes(void **state)
{
    (void)state;
    struct fed fed = create("keyed", 100, 2000);
    int kill_count = number_from("WEIR_TEST_KILLS", KILLS_DEFAULT);
    int first = rand() % POINT_COUNT; // all points in turn, then any or none
    for (int i = 0; i < kill_count; i++) {
        int idx = i < POINT_COUNT ? (first + i) % POINT_COUNT : rand() % (2 * POINT_COUNT);
        die(&fed, idx < POINT_COUNT ? &points[idx] : NULL);
    }
    sql_job_run_bounded(fed.job);
    check(&fed);
    print_message("%d kills, %" PRId64 " records: everything is as it should be\n", kill_count,
                  fed.numbered.count);
}

// C147: what an epoch that is never committed has changed is in memory and perhaps in RocksDB's
// files; with checkpoints far apart a kill finds much of it. WEIR_TEST_FAR_KILLS=30
// WEIR_TEST_FAR_MS=8000 WEIR_TEST_KEYS=100000 is the long form.
static void test_kill_between_checkpoints_that_are_far_apart(void **state)
{
    (void)state;
    int interval_ms = number_from("WEIR_TEST_FAR_MS", FAR_INTERVAL_MS_DEFAULT);
    struct fed fed = create("far", interval_ms, 3 * interval_ms);
    int kill_count = number_from("WEIR_TEST_FAR_KILLS", FAR_KILLS_DEFAULT);
    for (int i = 0; i < kill_count; i++) {
        die(&fed, NULL);
    }
    sql_job_run_bounded(fed.job);
    check(&fed);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill_keyed_counts_windows_and_changes),
        cmocka_unit_test(test_kill_between_checkpoints_that_are_far_apart),
    };
    return cmocka_run_group_tests(tests, cluster_start_seeded, cluster_stop);
}
