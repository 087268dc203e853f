// SPDX-License-Identifier: Apache-2.0
// What must come out of the keyed count: at each commit, for each key that has changed since the
// one before, one row with count and sum up to the committed positions; and in the order of the
// log the last row of a key is the newest.
#include "tests/sim/job_model.h"

#include <inttypes.h>
#include <string.h>

#define TABLES                                                                                     \
    "CREATE TABLE src (id bigint, k text, v bigint) WITH (topic = 'in');\n"                        \
    "CREATE TABLE counts (k text, c bigint, s numeric, PRIMARY KEY (k))\n"                         \
    "  WITH (topic = 'counts');\n"

static const char *const sql[] = {
    TABLES "INSERT INTO counts SELECT k, count(*), sum(v) FROM src GROUP BY k;\n",
    TABLES "INSERT INTO counts (k, s, c) SELECT k, sum(v), count(*) FROM src GROUP BY k\n"
           "  HAVING coalesce(max(v), 0) < 1000000;\n",
    TABLES "INSERT INTO counts SELECT k, count(*), sum(v) FROM src GROUP BY k\n"
           "  HAVING count(DISTINCT v) >= 0 AND coalesce(min(k), '') < 'z';\n",
};

static const char *const outputs[] = {"counts", NULL};

struct total {
    int64_t count;
    int64_t sum;
};

static struct {
    struct total expected[SIM_KEYS_MAX]; // up to `before`
    struct total committed[SIM_KEYS_MAX];
    struct total first[SIM_KEYS_MAX];   // before the first row of the output that counts
    uint32_t taken_count[SIM_KEYS_MAX]; // since the last commit
    struct sim_positions before;
} model;

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
    model.expected[row->key].count++;
    model.expected[row->key].sum += row->value;
    return NULL;
}

static const char *compare(const struct sim_positions *positions, bool may_be_drained)
{
    (void)may_be_drained; // there is no time
    struct total before[SIM_KEYS_MAX];
    memcpy(before, model.expected, sizeof before);
    const char *wrong = sim_advance(&model.before, positions, expect_row);
    if (wrong != NULL) {
        return wrong;
    }
    for (uint32_t key = 0; key < SIM_KEYS_MAX; key++) {
        if (sim_input.may_repeat && model.committed[key].count >= model.expected[key].count) {
            continue;
        }
        uint32_t wanted_count = model.expected[key].count != before[key].count ? 1 : 0;
        if (model.taken_count[key] != wanted_count && !sim_input.may_repeat) {
            return sim_wrong("key%u has %u rows in one commit, expected %u", key,
                             model.taken_count[key], wanted_count);
        }
        model.taken_count[key] = 0;
        if (model.committed[key].count != model.expected[key].count ||
            model.committed[key].sum != model.expected[key].sum) {
            return sim_wrong("key%u is committed with count %" PRId64 " and sum %" PRId64
                             ", expected %" PRId64 " and %" PRId64,
                             key, model.committed[key].count, model.committed[key].sum,
                             model.expected[key].count, model.expected[key].sum);
        }
    }
    return NULL;
}

static const char *compare_end(const struct sim_positions *positions)
{
    (void)positions; // the last commit has been compared
    if (sim_input.may_repeat) {
        return NULL;
    }
    struct total last[SIM_KEYS_MAX];
    memcpy(last, model.first, sizeof last);
    const struct sim_topic *topic = sim_topic_find("counts");
    for (uint32_t p = 0; p < topic->partition_count; p++) {
        for (uint32_t offset = sim_output_begin(topic, p); offset < topic->partitions[p].count;
             offset++) {
            const struct sim_record *record = &topic->partitions[p].records[offset];
            uint32_t key = 0;
            struct total total = {0};
            if (record->state != SIM_RECORD_COMMITTED) {
                continue;
            }
            const char *wrong = read_row(record, &key, &total);
            if (wrong != NULL) {
                return wrong;
            }
            if (total.count <= last[key].count) {
                return sim_wrong("key%u: count %" PRId64 " comes behind %" PRId64, key, total.count,
                                 last[key].count);
            }
            last[key] = total;
        }
    }
    return NULL;
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
