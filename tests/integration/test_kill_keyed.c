// SPDX-License-Identifier: Apache-2.0
// The kill test with keyed state: counts, sums and different values per key into a keyed topic,
// tumbling windows, and a changelog with deletes, copied and summed by group; while weir is killed
// at named points and at random and comes back with another parallelism. Counts strictly increase
// per key and end at the truth; each window comes out once, with the right sum; of the changelog
// nothing is written twice in a row, and what is left at the end is what must be. WEIR_TEST_KILLS
// sets how many kills (16 by default), WEIR_TEST_KEYS how many keys. C147: see the second test.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PARTITIONS = 4,
    GROUPS = 7,       // of the windows
    WINDOW_MS = 1000, // record n has event time n ms
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

static const char *const job_sql =
    "CREATE TABLE input (n bigint, k int, g int, ts timestamptz)\n"
    "  WITH (topic = '$-in', event_time = 'ts', watermark_delay = '0 seconds');\n"
    "CREATE TABLE counts (k int, c bigint, s numeric, d bigint, PRIMARY KEY (k))\n"
    "  WITH (topic = '$-counts');\n"
    "CREATE TABLE windows (w timestamptz, g int, c bigint, s numeric) WITH (topic = '$-windows');\n"
    "CREATE TABLE latest (k int PRIMARY KEY, g int, v bigint) WITH (topic = '$-latest');\n"
    "CREATE TABLE copies (k int PRIMARY KEY, g int, v bigint) WITH (topic = '$-copies');\n"
    "CREATE TABLE sums (g int PRIMARY KEY, c bigint, s numeric) WITH (topic = '$-sums');\n"
    "INSERT INTO copies SELECT k, g, v FROM latest;\n"
    "INSERT INTO sums SELECT g, count(*), sum(v) FROM latest GROUP BY g;\n"
    "INSERT INTO counts SELECT k, count(*), sum(n), count(DISTINCT g) FROM input GROUP BY k;\n"
    "INSERT INTO windows SELECT window_start, g, count(*), sum(n)\n"
    "  FROM tumble(input, ts, interval '1 second') GROUP BY window_start, g;\n";

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
    struct sql_job *job;
    int64_t count;        // records so far; number n is in partition n mod 4
    int64_t change_count; // of the changelog
    int key_count;
    int interval_ms;
    int life_ms_max; // of a life that ends at random
};

static int number_from(const char *variable, int default_number)
{
    const char *text = getenv(variable);
    return text != NULL ? atoi(text) : default_number;
}

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

static void feed_changes(struct fed *fed, int64_t count)
{
    struct weir_test_record *records = weir_test_alloc((size_t)count * sizeof *records);
    for (int64_t i = 0; i < count; i++) {
        int64_t m = fed->change_count + i;
        int k = key_of_change(m);
        records[i] =
            weir_test_record_of(k % PARTITIONS, weir_test_format("{\"k\":%d}", k),
                                is_delete(m) ? NULL
                                             : weir_test_format("{\"g\":%d,\"v\":%" PRId64 "}",
                                                                (int)(m % LATEST_GROUPS), m));
    }
    weir_test_produce(fed->job->bootstrap, sql_job_topic(fed->job, "latest"), records,
                      (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        free((void *)records[i].key);
        free((void *)records[i].value);
    }
    free(records);
    fed->change_count += count;
}

static void feed(struct fed *fed, int64_t count)
{
    struct weir_test_record *records = weir_test_alloc((size_t)count * sizeof *records);
    for (int64_t i = 0; i < count; i++) {
        int64_t n = fed->count + i;
        char *text = weir_test_format("{\"n\":%" PRId64 ",\"k\":%d,\"g\":%d,\"ts\":%" PRId64 "}", n,
                                      (int)(n % fed->key_count), (int)(n % GROUPS), n);
        records[i] = weir_test_record_of((int32_t)(n % PARTITIONS), NULL, text);
    }
    weir_test_produce(fed->job->bootstrap, sql_job_topic(fed->job, "in"), records, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        free((void *)records[i].value);
    }
    free(records);
    fed->count += count;
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
    struct weir_test_exit how;
    // Many keys take their time.
    int64_t life_ms = point == NULL      ? rand() % fed->life_ms_max
                      : point->is_unsure ? UNSURE_MS
                                         : ROUND_MS_MAX + fed->key_count;
    int64_t deadline_ms = weir_test_now_ms() + life_ms;
    bool has_ended = false;
    while (!has_ended && weir_test_now_ms() < deadline_ms) {
        feed(fed, FED_PER_PART);
        has_ended = weir_test_process_wait(process, 50, &how);
    }
    if (has_ended && !(how.is_signalled && how.code == 9)) {
        WEIR_TEST_FAIL("ended with %d by itself:\n%s", how.code, weir_test_process_output(process));
    }
    if (point != NULL && !point->is_unsure && !has_ended) {
        WEIR_TEST_FAIL("never came to %s", point->name);
    }
    sql_job_kill(process);
    free(parallelism);
    free(failpoint);
    free(interval);
}

static int64_t different_groups(const struct fed *fed, int64_t count)
{
    int64_t most = fed->key_count % GROUPS == 0 ? 1 : GROUPS; // seven is a prime
    return count < most ? count : most;
}

static void check_counts(const struct fed *fed)
{
    struct weir_test_log *log =
        weir_test_read(fed->job->bootstrap, sql_job_topic(fed->job, "counts"), NULL);
    int64_t *last_counts = weir_test_alloc((size_t)fed->key_count * sizeof *last_counts);
    int64_t *last_sums = weir_test_alloc((size_t)fed->key_count * sizeof *last_sums);
    memset(last_counts, 0, (size_t)fed->key_count * sizeof *last_counts);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = sql_job_text(&log->partitions[p].records[i]);
            int k = -1;
            int64_t count = -1;
            int64_t sum = -1;
            int64_t distinct = -1;
            if (sscanf(text, "{\"k\":%d,\"c\":%" SCNd64 ",\"s\":%" SCNd64 ",\"d\":%" SCNd64 "}", &k,
                       &count, &sum, &distinct) != 4 ||
                k < 0 || k >= fed->key_count) {
                WEIR_TEST_FAIL("counts partition %d holds %s", p, text);
            }
            if (count <= last_counts[k]) {
                WEIR_TEST_FAIL("key %d: count %" PRId64 " after %" PRId64, k, count,
                               last_counts[k]);
            }
            if (distinct != different_groups(fed, count)) {
                WEIR_TEST_FAIL("key %d: %" PRId64 " different values in %" PRId64, k, distinct,
                               count);
            }
            last_counts[k] = count;
            last_sums[k] = sum;
            free(text);
        }
    }
    for (int k = 0; k < fed->key_count; k++) {
        int64_t count = (fed->count - k + fed->key_count - 1) / fed->key_count;
        int64_t sum = count * k + fed->key_count * (count * (count - 1) / 2);
        if (last_counts[k] != count || last_sums[k] != sum) {
            WEIR_TEST_FAIL("key %d ends at count %" PRId64 " and sum %" PRId64
                           ", it should be %" PRId64 " and %" PRId64,
                           k, last_counts[k], last_sums[k], count, sum);
        }
    }
    free(last_counts);
    free(last_sums);
    weir_test_log_destroy(log);
}

static void check_windows(const struct fed *fed)
{
    struct weir_test_log *log =
        weir_test_read(fed->job->bootstrap, sql_job_topic(fed->job, "windows"), NULL);
    int64_t window_count = (fed->count + WINDOW_MS - 1) / WINDOW_MS;
    bool *is_seen = weir_test_alloc((size_t)(window_count * GROUPS) * sizeof *is_seen);
    memset(is_seen, 0, (size_t)(window_count * GROUPS) * sizeof *is_seen);
    int64_t seen_count = 0;
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = sql_job_text(&log->partitions[p].records[i]);
            int hour = -1;
            int minute = -1;
            int second = -1;
            int g = -1;
            int64_t count = -1;
            int64_t sum = -1;
            if (sscanf(text,
                       "{\"w\":\"1970-01-01T%d:%d:%d+00:00\",\"g\":%d,\"c\":%" SCNd64
                       ",\"s\":%" SCNd64 "}",
                       &hour, &minute, &second, &g, &count, &sum) != 6) {
                WEIR_TEST_FAIL("windows partition %d holds %s", p, text);
            }
            int64_t window = (hour * 60 + minute) * 60 + second;
            int64_t expected_count = 0;
            int64_t expected_sum = 0;
            for (int64_t n = window * WINDOW_MS; n < (window + 1) * WINDOW_MS && n < fed->count;
                 n++) {
                expected_count += n % GROUPS == g ? 1 : 0;
                expected_sum += n % GROUPS == g ? n : 0;
            }
            if (window >= window_count || g < 0 || g >= GROUPS || is_seen[window * GROUPS + g] ||
                count != expected_count || sum != expected_sum) {
                WEIR_TEST_FAIL("window %s: expected count %" PRId64 " and sum %" PRId64 ", once",
                               text, expected_count, expected_sum);
            }
            is_seen[window * GROUPS + g] = true;
            seen_count++;
            free(text);
        }
    }
    int64_t expected_windows = 0;
    for (int64_t i = 0; i < window_count * GROUPS; i++) {
        int64_t first = i / GROUPS * WINDOW_MS;
        int64_t offset = (i % GROUPS - first % GROUPS + GROUPS) % GROUPS;
        expected_windows += first + offset < fed->count ? 1 : 0;
    }
    assert_int_equal(seen_count, expected_windows);
    free(is_seen);
    weir_test_log_destroy(log);
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
    check_counts(fed);
    check_windows(fed);
    check_latest(fed);
}

static struct fed create(const char *name, int interval_ms, int life_ms_max)
{
    struct fed fed = {
        .job = sql_job_create(weir_test_cluster_bootstrap(cluster), name, job_sql),
        .key_count = number_from("WEIR_TEST_KEYS", KEYS_DEFAULT),
        .interval_ms = interval_ms,
        .life_ms_max = life_ms_max,
    };
    sql_job_topic_create(fed.job, "in", PARTITIONS);
    sql_job_topic_create(fed.job, "latest", PARTITIONS);
    sql_job_topic_create(fed.job, "counts", 3);
    sql_job_topic_create(fed.job, "windows", 2);
    sql_job_topic_create(fed.job, "copies", 3);
    sql_job_topic_create(fed.job, "sums", 1);
    feed(&fed, 2 * fed.key_count > FED_BEFORE ? 2 * fed.key_count : FED_BEFORE);
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
                  fed.count);
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
