// SPDX-License-Identifier: Apache-2.0
// The kill test with a time to live: counts, sums and different values per key, of keys that are
// forgotten when no row has come for three seconds of event time, while weir is killed at named
// points and at random and comes back with another parallelism. The oracle knows the rule alone: a
// row that comes a ttl or more after all rows of its key before it begins the key anew. Each row of
// the output must be what its key amounted to behind one of its records, later ones behind later
// ones, and the last one behind the last. WEIR_TEST_KILLS sets how many kills (9 by default).
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include "runtime/types/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KILLS_DEFAULT = 9,
    PARTITIONS = 4,
    KEYS_PER_PARTITION = 75,
    KEYS = PARTITIONS * KEYS_PER_PARTITION,
    GROUPS = 7,
    FED_BEFORE = 3000,
    FED_PER_PART = 300,
    RECORDS_MAX = 1000000,
    STEP_MS = 10, // of event time, between a record and the next
    EARLY_MS_MAX = 500,
    TTL_MS = 3000, // in which a key has a row in two cases of three
    ROUND_MS_MAX = 20000,
    LIFE_MS_MAX = 2000,
};

// Time of the table comes a second behind its records, so that none is behind the watermark; no
// partition is ever idle, for the time of the others would pass it.
static const char *const job_sql =
    "CREATE TABLE input (n bigint, k int, g int, ts timestamptz)\n"
    "  WITH (topic = '$-in', event_time = 'ts', watermark_delay = '1 second',\n"
    "        idle_timeout = '1 hour');\n"
    "CREATE TABLE counts (k int, c bigint, s numeric, d bigint, PRIMARY KEY (k))\n"
    "  WITH (topic = '$-counts');\n"
    "SET weir.state_ttl = '3 seconds';\n"
    "INSERT INTO counts SELECT k, count(*), sum(n), count(DISTINCT g) FROM input GROUP BY k;\n";

// Places to die at. A life passes the last two once, the others once an epoch or now and then.
static const char *const points[] = {
    "task.barrier",       "state.log.write",  "state.log.renamed", "state.live.write",
    "state.checkpointed", "state.published",  "task.sending",      "store.renamed",
    "commit.before_end",  "commit.after_end", "claim.after",       "state.restore.verified",
};
enum { POINT_COUNT = sizeof points / sizeof points[0], ONCE_COUNT = 2 };

struct fed {
    struct sql_job *job;
    int64_t count; // records so far: 0, 1, …
};

// --- records and the rule ------------------------------------------------------------------------

static int key_of(int64_t n)
{
    return (int)(n % PARTITIONS) +
           PARTITIONS * (int)(weir_hash_mix((uint64_t)n) % KEYS_PER_PARTITION);
}

static int group_of(int64_t n)
{
    return (int)(n % GROUPS);
}

static int64_t time_of(int64_t n)
{
    uint64_t random = weir_hash_mix((uint64_t)n + RECORDS_MAX);
    return EARLY_MS_MAX + n * STEP_MS -
           (random % 4 == 0 ? (int64_t)(random / 4 % EARLY_MS_MAX) : 0);
}

struct amount {
    int64_t count;
    int64_t sum;
    int64_t last_ms;
    uint32_t groups; // a bit each
};

// What the key of record n amounts to behind it. True: it was forgotten.
static bool take(struct amount *amount, int64_t n)
{
    bool is_over = amount->count > 0 && time_of(n) >= amount->last_ms + TTL_MS;
    if (is_over) {
        *amount = (struct amount){0};
    }
    if (amount->count == 0 || time_of(n) > amount->last_ms) {
        amount->last_ms = time_of(n);
    }
    amount->count++;
    amount->sum += n;
    amount->groups |= UINT32_C(1) << group_of(n);
    return is_over;
}

static struct weir_test_record record_of(const void *context, int64_t n)
{
    (void)context;
    return weir_test_record_of((int32_t)(n % PARTITIONS), NULL,
                               weir_test_format("{\"n\":%" PRId64
                                                ",\"k\":%d,\"g\":%d,\"ts\":%" PRId64 "}",
                                                n, key_of(n), group_of(n), time_of(n)));
}

static void feed(struct fed *fed, int64_t count)
{
    assert_true(fed->count + count <= RECORDS_MAX);
    sql_job_feed_each(fed->job, "in", fed->count, count, record_of, NULL);
    fed->count += count;
}

// --- what came out -------------------------------------------------------------------------------

struct reading {
    struct amount amounts[KEYS];
    int64_t next[KEYS]; // the record that is looked at next
    int64_t forgotten_count;
};

// The key's next record; -1: there is none.
static int64_t next_of(const struct fed *fed, const struct reading *reading, int k)
{
    for (int64_t n = reading->next[k]; n < fed->count; n++) {
        if (key_of(n) == k) {
            return n;
        }
    }
    return -1;
}

static void step(struct reading *reading, int k, int64_t n)
{
    reading->forgotten_count += take(&reading->amounts[k], n);
    reading->next[k] = n + 1;
}

static void look_at_row(const struct fed *fed, struct reading *reading, const char *text)
{
    int k = -1;
    int64_t count = 0;
    int64_t sum = 0;
    int groups = 0;
    if (sscanf(text, "{\"k\":%d,\"c\":%" SCNd64 ",\"s\":%" SCNd64 ",\"d\":%d}", &k, &count, &sum,
               &groups) != 4 ||
        k < 0 || k >= KEYS) {
        WEIR_TEST_FAIL("counts holds %s", text);
    }
    const struct amount *amount = &reading->amounts[k];
    for (;;) {
        int64_t n = next_of(fed, reading, k);
        if (n < 0) {
            WEIR_TEST_FAIL("key %d never amounts to %s, or not behind the row before it", k, text);
        }
        step(reading, k, n);
        if (amount->count == count && amount->sum == sum &&
            __builtin_popcount(amount->groups) == groups) {
            return;
        }
    }
}

static void check(const struct fed *fed)
{
    struct reading *reading = weir_test_alloc(sizeof *reading);
    memset(reading, 0, sizeof *reading);
    struct weir_test_log *log = sql_job_read(fed->job, "counts");
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = sql_job_text(&log->partitions[p].records[i]);
            look_at_row(fed, reading, text);
            free(text);
        }
    }
    for (int k = 0; k < KEYS; k++) {
        int64_t n = next_of(fed, reading, k);
        if (n >= 0) {
            WEIR_TEST_FAIL("key %d ends with count %" PRId64 " and sum %" PRId64
                           ", before its record %" PRId64,
                           k, reading->amounts[k].count, reading->amounts[k].sum, n);
        }
    }
    print_message("%" PRId64 " records, %zu rows; keys were forgotten %" PRId64 " times\n",
                  fed->count, log->record_count, reading->forgotten_count);
    assert_true(reading->forgotten_count > fed->count / 10);
    weir_test_log_destroy(log);
    free(reading);
}

// --- the test ------------------------------------------------------------------------------------

// A life that ends at the point, or at random (-1).
static void die(struct fed *fed, int idx)
{
    const char *point = idx >= 0 ? points[idx] : NULL;
    bool is_once = idx >= POINT_COUNT - ONCE_COUNT;
    char *parallelism = weir_test_format("WEIR_PARALLELISM=%d", 1 + rand() % 3);
    char *failpoint =
        weir_test_format("WEIR_FAILPOINTS=state.materialise=error@0,%s=kill@%d",
                         point != NULL ? point : "none", is_once ? 1 : 1 + rand() % 4);
    struct weir_test_process *process =
        sql_job_start(fed->job, SQL_JOB_EXTRA(parallelism, failpoint));
    int64_t deadline_ms =
        weir_test_now_ms() + (point != NULL ? ROUND_MS_MAX : 100 + rand() % LIFE_MS_MAX);
    bool is_killed = false;
    while (!is_killed && weir_test_now_ms() < deadline_ms) {
        feed(fed, FED_PER_PART);
        is_killed = weir_test_process_wait_killed(process, 100);
    }
    if (point != NULL && !is_killed) {
        WEIR_TEST_FAIL("never came to %s", point);
    }
    sql_job_kill(process);
    free(parallelism);
    free(failpoint);
}

static void test_kill_keys_with_a_time_to_live(void **state)
{
    (void)state;
    struct fed fed = {
        .job = sql_job_create(weir_test_cluster_bootstrap(cluster), "ttl", job_sql),
    };
    sql_job_topic_create(fed.job, "in", PARTITIONS);
    sql_job_topic_create(fed.job, "counts", 3);
    feed(&fed, FED_BEFORE);
    // A first life that leaves state to be restored.
    struct weir_test_process *process = sql_job_start(fed.job, NULL);
    WEIR_TEST_WAIT_UNTIL(sql_job_pointer(fed.job, "in") > 0, 60000);
    sql_job_kill(process);

    int kill_count = number_from("WEIR_TEST_KILLS", KILLS_DEFAULT);
    int first = rand() % POINT_COUNT;
    for (int i = 0; i < kill_count; i++) {
        die(&fed, i % 3 == 2 ? -1 : (first + i) % POINT_COUNT);
    }
    sql_job_run_bounded(fed.job);
    check(&fed);
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill_keys_with_a_time_to_live),
    };
    return cmocka_run_group_tests(tests, cluster_start_seeded, cluster_stop);
}
