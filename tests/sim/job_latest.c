// SPDX-License-Identifier: Apache-2.0
// What must come out of sums over a changelog, a topic whose records replace what their key had, or
// delete it: at each commit, for each group whose rows have changed since the one before, one row
// with what the rows are that the changelog leaves at the committed positions, or a deletion where
// it leaves none. Keys are of one partition each, as in a topic that is written by key.
#include "tests/sim/job_model.h"

#include <inttypes.h>
#include <string.h>

#define TABLES                                                                                     \
    "CREATE TABLE src (k text PRIMARY KEY, g bigint, v bigint) WITH (topic = 'in');\n"             \
    "CREATE TABLE sums (g bigint PRIMARY KEY, c bigint, s numeric, m bigint)\n"                    \
    "  WITH (topic = 'sums');\n"

// Over rows that are taken back nothing can be kept from now on only: another order is all there
// is.
static const char *const sql[] = {
    TABLES "INSERT INTO sums SELECT g, count(*), sum(v), max(v) FROM src GROUP BY g;\n",
    TABLES
    "INSERT INTO sums (m, c, g, s) SELECT max(v), count(*), g, sum(v) FROM src GROUP BY g;\n",
};

static const char *const outputs[] = {"sums", NULL};

struct kept {
    bool is_there;
    uint32_t group;
    int64_t value;
};

struct total {
    int64_t count; // 0: there is no row
    int64_t sum;
    int64_t most;
};

static struct {
    struct kept kept[SIM_KEYS_MAX];     // up to `before`
    struct total committed[SIM_GROUPS]; // the last rows that were taken
    struct total compared[SIM_GROUPS];  // at the last commit
    uint32_t taken_count[SIM_GROUPS];   // since then
    struct sim_positions before;
} model;

static struct sim_saved state(void)
{
    return (struct sim_saved){&model, sizeof model};
}

// What is read again is what its keys have again.
static void rewind_to(const struct sim_positions *positions)
{
    model.before = *positions;
}

static const char *read_row(const struct sim_record *record, int64_t *group, struct total *total)
{
    bool is_deleted = record->value.data == NULL;
    if (record->key.data == NULL || !sim_read_number(record->key, "g", group) || *group < 0 ||
        *group >= SIM_GROUPS ||
        (!is_deleted && (!sim_read_number(record->value, "c", &total->count) ||
                         !sim_read_number(record->value, "s", &total->sum) ||
                         !sim_read_number(record->value, "m", &total->most)))) {
        return sim_wrong("not a row of this job: %.*s => %.*s", (int)record->key.size_bytes,
                         record->key.data != NULL ? record->key.data : "",
                         (int)record->value.size_bytes, is_deleted ? "" : record->value.data);
    }
    return NULL;
}

static const char *take(const char *topic, const struct sim_record *record)
{
    (void)topic; // there is one
    int64_t group = 0;
    struct total total = {0};
    const char *wrong = read_row(record, &group, &total);
    if (wrong == NULL) {
        model.committed[group] = total;
        model.taken_count[group]++;
    }
    return wrong;
}

static const char *keep_row(uint32_t partition, const struct sim_row *row)
{
    (void)partition;
    model.kept[row->key] =
        row->is_deleted
            ? (struct kept){0}
            : (struct kept){.is_there = true, .group = sim_group_of(row), .value = row->value};
    return NULL;
}

static bool is_same(const struct total *a, const struct total *b)
{
    return a->count == b->count && a->sum == b->sum && a->most == b->most;
}

static const char *compare_group(uint32_t group)
{
    struct total expected = {0};
    for (uint32_t key = 0; key < SIM_KEYS_MAX; key++) {
        const struct kept *kept = &model.kept[key];
        if (kept->is_there && kept->group == group) {
            bool is_most = expected.count == 0 || kept->value > expected.most;
            expected.most = is_most ? kept->value : expected.most;
            expected.count++;
            expected.sum += kept->value;
        }
    }
    uint32_t wanted_count = is_same(&expected, &model.compared[group]) ? 0 : 1;
    if (model.taken_count[group] != wanted_count) {
        return sim_wrong("group %u has %u rows in one commit, expected %u", group,
                         model.taken_count[group], wanted_count);
    }
    const struct total *committed = &model.committed[group];
    if (!is_same(&expected, committed)) {
        return sim_wrong("group %u is committed with %" PRId64 " rows, sum %" PRId64
                         " and maximum %" PRId64 ", expected %" PRId64 ", %" PRId64 ", %" PRId64,
                         group, committed->count, committed->sum, committed->most, expected.count,
                         expected.sum, expected.most);
    }
    model.taken_count[group] = 0;
    model.compared[group] = expected;
    return NULL;
}

// At least once, an old row of a key may come again behind a newer one: nothing is held until all
// is read.
static const char *compare(const struct sim_positions *positions, bool may_be_drained)
{
    (void)may_be_drained; // there is no time
    const char *wrong = sim_advance(&model.before, positions, keep_row);
    for (uint32_t g = 0; wrong == NULL && g < SIM_GROUPS && !sim_input.may_repeat; g++) {
        wrong = compare_group(g);
    }
    return wrong;
}

static const char *keep_last(void *context, uint32_t partition, const struct sim_record *record)
{
    (void)partition;
    struct total *last = context;
    int64_t group = 0;
    struct total total = {0};
    const char *wrong = read_row(record, &group, &total);
    if (wrong == NULL) {
        last[group] = total;
    }
    return wrong;
}

// In the order of the log the last row of a group is the one that was committed last.
static const char *compare_end(const struct sim_positions *positions)
{
    (void)positions; // the last commit has been compared
    struct total last[SIM_GROUPS];
    memcpy(last, model.committed, sizeof last);
    const char *wrong = sim_input.may_repeat ? NULL : sim_each_output("sums", keep_last, last);
    if (wrong != NULL) {
        return wrong;
    }
    for (uint32_t g = 0; g < SIM_GROUPS; g++) {
        if (!is_same(&last[g], &model.committed[g])) {
            return sim_wrong("group %u ends with %" PRId64 " rows and not %" PRId64, g,
                             last[g].count, model.committed[g].count);
        }
    }
    return NULL;
}

const struct sim_job_model sim_latest = {
    .name = "latest",
    .outputs = outputs,
    .variants = sql,
    .variant_count = sizeof sql / sizeof sql[0],
    .has_own_keys = true,
    .is_changelog = true,
    .state = state,
    .rewind = rewind_to,
    .take = take,
    .compare = compare,
    .compare_end = compare_end,
};
