// SPDX-License-Identifier: Apache-2.0
// What must come out of the keyed count: at each commit, for each key that has changed since the
// one before, one row with count and sum up to the committed positions; and in the order of the
// log the last row of a key is the newest.
//
// And of the same with a time to live, where a row that comes a ttl or more after all rows of its
// key before it begins the key's count anew. Its keys are of one partition each, so that their rows
// have one order, and rows are never behind the watermark, so that it does not matter whether a key
// was swept before its next row came.
#include "tests/sim/job_model.h"

#include <inttypes.h>
#include <string.h>

#define SINK                                                                                       \
    "CREATE TABLE counts (k text, c bigint, s numeric, PRIMARY KEY (k))\n"                         \
    "  WITH (topic = 'counts');\n"
#define TABLES "CREATE TABLE src (id bigint, k text, v bigint) WITH (topic = 'in');\n" SINK
#define TTL_TABLES                                                                                 \
    "CREATE TABLE src (id bigint, k text, v bigint, ts timestamptz)\n"                             \
    "  WITH (topic = 'in', event_time = 'ts', watermark_delay = '16 seconds',\n"                   \
    "        idle_timeout = '1 hour');\n" SINK "SET weir.state_ttl = '20 seconds';\n"
#define PLAIN "INSERT INTO counts SELECT k, count(*), sum(v) FROM src GROUP BY k;\n"
#define WITH_MAX                                                                                   \
    "INSERT INTO counts (k, s, c) SELECT k, sum(v), count(*) FROM src GROUP BY k\n"                \
    "  HAVING coalesce(max(v), 0) < 1000000;\n"
// Keeps entries of its own for each key and value, which a ttl must take along.
#define WITH_DISTINCT                                                                              \
    "INSERT INTO counts SELECT k, count(*), sum(v) FROM src GROUP BY k\n"                          \
    "  HAVING count(DISTINCT v) >= 0"

static const char *const sql[] = {
    TABLES PLAIN,
    TABLES WITH_MAX,
    TABLES WITH_DISTINCT " AND coalesce(min(k), '') < 'z';\n",
};
static const char *const ttl_sql[] = {
    TTL_TABLES PLAIN,
    TTL_TABLES WITH_MAX,
    TTL_TABLES WITH_DISTINCT ";\n",
};
enum { TTL_US = 20000000 };

static const char *const outputs[] = {"counts", NULL};

struct total {
    int64_t count;
    int64_t sum;
};

struct life {
    struct total total;
    int64_t last_us; // the latest time of its rows
    bool is_changed; // since the last commit
};

static struct {
    struct life expected[SIM_KEYS_MAX]; // up to `before`
    struct total committed[SIM_KEYS_MAX];
    struct total first[SIM_KEYS_MAX];   // before the first row of the output that counts
    uint32_t taken_count[SIM_KEYS_MAX]; // since the last commit
    struct sim_positions before;
} model;

static bool has_ttl(void)
{
    return sim_input.model == &sim_ttl;
}

static struct sim_saved state(void)
{
    return (struct sim_saved){&model, sizeof model};
}

// What is read again counts again.
static void rewind_to(const struct sim_positions *positions)
{
    model.before = *positions;
}

static void begin_output(void)
{
    memcpy(model.first, model.committed, sizeof model.first);
}

static const char *read_row(const struct sim_record *record, uint32_t *key, struct total *total)
{
    if (record->value.data == NULL || !sim_read_key(record->value, key) ||
        !sim_read_number(record->value, "c", &total->count) ||
        !sim_read_number(record->value, "s", &total->sum)) {
        return sim_wrong("not a row of this job: %.*s", (int)record->value.size_bytes,
                         record->value.data != NULL ? record->value.data : "");
    }
    return NULL;
}

// At least once, rows come again, and what is counted is ahead of the positions: only the largest
// count of a key says something.
static const char *take(const char *topic, const struct sim_record *record)
{
    (void)topic; // there is one
    uint32_t key = 0;
    struct total total = {0};
    const char *wrong = read_row(record, &key, &total);
    if (wrong == NULL && (!sim_input.may_repeat || total.count > model.committed[key].count)) {
        model.committed[key] = total;
        model.taken_count[key]++;
    }
    return wrong;
}

static const char *expect_row(uint32_t partition, const struct sim_row *row)
{
    (void)partition;
    struct life *life = &model.expected[row->key];
    if (has_ttl() && life->total.count > 0 && row->time_us >= life->last_us + TTL_US) {
        life->total = (struct total){0};
    }
    if (life->total.count == 0 || row->time_us > life->last_us) {
        life->last_us = row->time_us;
    }
    life->total.count++;
    life->total.sum += row->value;
    life->is_changed = true;
    return NULL;
}

static const char *compare_key(uint32_t key)
{
    struct life *life = &model.expected[key];
    const struct total *committed = &model.committed[key];
    bool is_right = committed->count == life->total.count && committed->sum == life->total.sum;
    if (model.taken_count[key] != (life->is_changed ? 1 : 0)) {
        return sim_wrong("key%u has %u rows in one commit, expected %d", key,
                         model.taken_count[key], life->is_changed);
    }
    model.taken_count[key] = 0;
    life->is_changed = false;
    return is_right ? NULL
                    : sim_wrong("key%u is committed with count %" PRId64 " and sum %" PRId64
                                ", expected %" PRId64 " and %" PRId64,
                                key, committed->count, committed->sum, life->total.count,
                                life->total.sum);
}

static const char *compare_repeated(void)
{
    for (uint32_t key = 0; key < SIM_KEYS_MAX; key++) {
        if (model.committed[key].count < model.expected[key].total.count) {
            return sim_wrong("key%u: of %" PRId64 " rows %" PRId64 " are counted", key,
                             model.expected[key].total.count, model.committed[key].count);
        }
    }
    return NULL;
}

// Of a count that begins anew it is known only at the end that nothing is missing.
static const char *compare(const struct sim_positions *positions, bool may_be_drained)
{
    (void)may_be_drained; // the end of the input makes nothing older
    const char *wrong = sim_advance(&model.before, positions, expect_row);
    if (wrong == NULL && sim_input.may_repeat) {
        return has_ttl() ? NULL : compare_repeated();
    }
    for (uint32_t key = 0; wrong == NULL && key < SIM_KEYS_MAX; key++) {
        wrong = compare_key(key);
    }
    return wrong;
}

static const char *follow(void *context, uint32_t partition, const struct sim_record *record)
{
    (void)partition;
    struct total *last = context;
    uint32_t key = 0;
    struct total total = {0};
    const char *wrong = read_row(record, &key, &total);
    if (wrong != NULL) {
        return wrong;
    }
    if (!has_ttl() && total.count <= last[key].count) {
        return sim_wrong("key%u: count %" PRId64 " comes behind %" PRId64, key, total.count,
                         last[key].count);
    }
    last[key] = total;
    return NULL;
}

// In the order of the log the last row of a key is the one that was committed last.
static const char *compare_end(const struct sim_positions *positions)
{
    (void)positions; // the last commit has been compared
    if (sim_input.may_repeat) {
        return compare_repeated();
    }
    struct total last[SIM_KEYS_MAX];
    memcpy(last, model.first, sizeof last);
    const char *wrong = sim_each_output("counts", follow, last);
    for (uint32_t key = 0; wrong == NULL && key < SIM_KEYS_MAX; key++) {
        if (memcmp(&last[key], &model.committed[key], sizeof last[key]) != 0) {
            wrong = sim_wrong("key%u ends with count %" PRId64 " and not %" PRId64, key,
                              last[key].count, model.committed[key].count);
        }
    }
    return wrong;
}

const struct sim_job_model sim_count = {
    .name = "count",
    .outputs = outputs,
    .variants = sql,
    .variant_count = sizeof sql / sizeof sql[0],
    .state = state,
    .rewind = rewind_to,
    .begin_output = begin_output,
    .take = take,
    .compare = compare,
    .compare_end = compare_end,
};

const struct sim_job_model sim_ttl = {
    .name = "ttl",
    .outputs = outputs,
    .variants = ttl_sql,
    .variant_count = sizeof ttl_sql / sizeof ttl_sql[0],
    .has_own_keys = true,
    .state = state,
    .begin_output = begin_output,
    .take = take,
    .compare = compare,
    .compare_end = compare_end,
};
