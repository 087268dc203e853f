// SPDX-License-Identifier: Apache-2.0
// What must come out of the job without memory: each record once in `every`, each third value once
// in `third`, in the order of its partition.
#include "tests/sim/job_model.h"

#include <inttypes.h>
#include <string.h>

enum { TOPICS = 3, DEAD = 2 };

static const char *const names[TOPICS] = {"every", "third", "dead"};
static struct {
    uint8_t taken[TOPICS][SIM_PARTITIONS_MAX][SIM_IDS_MAX]; // how often, by id
    uint64_t taken_count[TOPICS];
    uint64_t expected_count[TOPICS]; // up to `before`
    struct sim_positions before;
} model;

struct sim_saved sim_pass_state(void)
{
    return (struct sim_saved){&model, sizeof model};
}

static bool is_wanted(int topic, const struct sim_row *row)
{
    return topic == DEAD ? row->is_bad : !row->is_bad && (topic == 0 || row->value % 3 == 0);
}

// What is read again comes again.
void sim_pass_rewind(const struct sim_positions *positions)
{
    for (uint32_t p = 0; p < positions->count; p++) {
        for (int64_t offset = positions->offsets[p]; offset < sim_position(&model.before, p);
             offset++) {
            const struct sim_row *row = sim_visible_row(p, offset);
            for (int t = 0; row != NULL && t < TOPICS; t++) {
                uint8_t *taken = &model.taken[t][p][row->id % SIM_IDS_PER_PARTITION];
                model.taken_count[t] -= *taken;
                model.expected_count[t] -= *taken;
                *taken = 0;
            }
        }
    }
    model.before = *positions;
}

const char *sim_pass_take(const char *topic, const struct sim_record *record)
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

const char *sim_pass_compare(const struct sim_positions *positions)
{
    const char *wrong = sim_positions_compare(&model.before, positions);
    if (wrong != NULL) {
        return wrong;
    }
    for (uint32_t p = 0; p < positions->count; p++) {
        for (int64_t offset = sim_position(&model.before, p); offset < positions->offsets[p];
             offset++) {
            const struct sim_row *row = sim_visible_row(p, offset);
            for (int t = 0; row != NULL && t < TOPICS; t++) {
                if (!is_wanted(t, row)) {
                    continue;
                }
                model.expected_count[t]++;
                if (model.taken[t][p][row->id % SIM_IDS_PER_PARTITION] == 0) {
                    return sim_wrong("topic %s: the row of id %" PRId64
                                     " is missing, although position %" PRId64
                                     " of partition %u is committed",
                                     names[t], row->id, positions->offsets[p], p);
                }
            }
        }
    }
    model.before = *positions;
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

const char *sim_pass_compare_end(void)
{
    for (int t = 0; t < TOPICS && !sim_input.may_repeat; t++) {
        const struct sim_topic *topic = sim_topic_find(names[t]);
        for (uint32_t p = 0; p < topic->partition_count; p++) {
            int64_t last[SIM_PARTITIONS_MAX];
            memset(last, -1, sizeof last);
            for (uint32_t offset = sim_output_begin(topic, p); offset < topic->partitions[p].count;
                 offset++) {
                const struct sim_record *record = &topic->partitions[p].records[offset];
                int64_t id = 0;
                uint32_t partition;
                uint32_t number;
                if (record->state != SIM_RECORD_COMMITTED ||
                    !sim_read_number(record->value, "id", &id) ||
                    !sim_split_id(id, &partition, &number)) {
                    continue;
                }
                if (id <= last[partition]) {
                    return sim_wrong("topic %s partition %u: id %" PRId64 " comes behind %" PRId64,
                                     names[t], p, id, last[partition]);
                }
                last[partition] = id;
            }
        }
    }
    return NULL;
}
