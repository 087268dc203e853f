// SPDX-License-Identifier: Apache-2.0
// What must come out of the job without memory: each record once in `every`, each third value once
// in `third`, in the order of its partition.
#include "tests/sim/job_model.h"

#include <inttypes.h>
#include <string.h>

enum { TOPICS = 3, DEAD = 2 };

static const char *const names[TOPICS + 1] = {"every", "third", "dead", NULL};
static const char *const sql =
    "CREATE TABLE src (id bigint, k text, v bigint)\n"
    "  WITH (topic = 'in', on_error = 'dead_letter', dead_letter_topic = 'dead');\n"
    "CREATE TABLE every (id bigint, k text, v bigint) WITH (topic = 'every');\n"
    "CREATE TABLE third (id bigint, v bigint) WITH (topic = 'third');\n"
    "INSERT INTO every SELECT id, k, v FROM src;\n"
    "INSERT INTO third SELECT id, v FROM src WHERE v % 3 = 0;\n";
static struct {
    uint8_t taken[TOPICS][SIM_PARTITIONS_MAX][SIM_IDS_MAX]; // how often, by id
    uint64_t taken_count[TOPICS];
    uint64_t expected_count[TOPICS]; // up to `before`
    struct sim_positions before;
} model;

static struct sim_saved state(void)
{
    return (struct sim_saved){&model, sizeof model};
}

static bool is_wanted(int topic, const struct sim_row *row)
{
    return topic == DEAD ? row->is_bad : !row->is_bad && (topic == 0 || row->value % 3 == 0);
}

static const char *take_back(uint32_t partition, const struct sim_row *row)
{
    for (int t = 0; t < TOPICS; t++) {
        uint8_t *taken = &model.taken[t][partition][row->id % SIM_IDS_PER_PARTITION];
        model.taken_count[t] -= *taken;
        model.expected_count[t] -= *taken;
        *taken = 0;
    }
    return NULL;
}

// What is read again comes again.
static void rewind_to(const struct sim_positions *positions)
{
    sim_each_row(positions, &model.before, take_back);
    model.before = *positions;
}

static const char *take(const char *topic, const struct sim_record *record)
{
    int idx = strcmp(topic, names[0]) == 0 ? 0 : strcmp(topic, names[1]) == 0 ? 1 : DEAD;
    int64_t id;
    uint32_t partition;
    uint32_t number;
    if (!sim_read_number(record->value, "id", &id) || !sim_split_id(id, &partition, &number)) {
        return sim_wrong("topic %s: not a row of this job: %.*s", topic,
                         (int)record->value.size_bytes, record->value.data);
    }
    const struct sim_record *from = sim_record_of(id);
    bool is_former = from == NULL && sim_input.may_repeat; // of an input that was made anew
    if (idx == DEAD && !is_former &&
        (from == NULL || !weir_view_equal(record->value, from->value))) {
        return sim_wrong("topic %s: not the record of id %" PRId64 ": %.*s", topic, id,
                         (int)record->value.size_bytes, record->value.data);
    }
    if (model.taken[idx][partition][number] > 0 && sim_input.may_repeat) {
        return NULL;
    }
    if (++model.taken[idx][partition][number] > 1) {
        return sim_wrong("topic %s: the row of id %" PRId64 " is committed twice", topic, id);
    }
    model.taken_count[idx]++;
    return NULL;
}

static const char *expect_row(uint32_t partition, const struct sim_row *row)
{
    for (int t = 0; t < TOPICS; t++) {
        if (!is_wanted(t, row)) {
            continue;
        }
        model.expected_count[t]++;
        if (model.taken[t][partition][row->id % SIM_IDS_PER_PARTITION] == 0) {
            return sim_wrong("topic %s: the row of id %" PRId64
                             " is missing, although the position behind it in partition %u is "
                             "committed",
                             names[t], row->id, partition);
        }
    }
    return NULL;
}

static const char *compare(const struct sim_positions *positions, bool may_be_drained)
{
    (void)may_be_drained; // there is no time
    const char *wrong = sim_advance(&model.before, positions, expect_row);
    if (wrong != NULL) {
        return wrong;
    }
    for (int t = 0; t < TOPICS && !sim_input.may_repeat; t++) {
        if (model.taken_count[t] != model.expected_count[t]) {
            return sim_wrong("topic %s has %" PRIu64 " rows committed, of these %" PRIu64
                             " of records behind the committed positions",
                             names[t], model.taken_count[t],
                             model.taken_count[t] - model.expected_count[t]);
        }
    }
    return NULL;
}

struct order {
    const char *topic;
    int64_t last[SIM_PARTITIONS_MAX][SIM_PARTITIONS_MAX]; // by partition of output and input
};

static const char *follow(void *context, uint32_t to, const struct sim_record *record)
{
    struct order *order = context;
    int64_t id = 0;
    uint32_t partition;
    uint32_t number;
    if (!sim_read_number(record->value, "id", &id) || !sim_split_id(id, &partition, &number)) {
        return NULL; // was told when it was taken
    }
    int64_t *last = &order->last[to][partition];
    if (id <= *last) {
        return sim_wrong("topic %s partition %u: id %" PRId64 " comes behind %" PRId64,
                         order->topic, to, id, *last);
    }
    *last = id;
    return NULL;
}

static const char *compare_end(const struct sim_positions *positions)
{
    (void)positions; // the last commit has been compared
    const char *wrong = NULL;
    for (int t = 0; t < TOPICS && !sim_input.may_repeat && wrong == NULL; t++) {
        struct order order = {.topic = names[t]};
        memset(order.last, -1, sizeof order.last);
        wrong = sim_each_output(names[t], follow, &order);
    }
    return wrong;
}

const struct sim_job_model sim_pass = {
    .name = "pass-through",
    .outputs = names,
    .variants = &sql,
    .variant_count = 1,
    .state = state,
    .rewind = rewind_to,
    .take = take,
    .compare = compare,
    .compare_end = compare_end,
};
