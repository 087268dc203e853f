// SPDX-License-Identifier: Apache-2.0
// See job.h: jobs, input, and which check is whose.
#include "tests/sim/job_model.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "runtime/types/hash.h"
#include "tests/sim/fiber.h"
#include "tests/sim/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct sim_input sim_input;

static const struct sim_job_model *const models[SIM_JOB_KIND_COUNT] = {
    [SIM_JOB_PASS] = &sim_pass,
    [SIM_JOB_COUNT] = &sim_count,
    [SIM_JOB_TUMBLE] = &sim_tumble,
    [SIM_JOB_TTL] = &sim_ttl,
    [SIM_JOB_LATEST] = &sim_latest};

const char *sim_job_name(enum sim_job_kind kind)
{
    return models[kind]->name;
}

const char *sim_job_sql(uint32_t life)
{
    // Takes nothing from the run's chance.
    uint64_t mixed = weir_hash_mix(sim_input.key_count * UINT64_C(1000003) + life);
    return sim_input.model->variants[life == 0 ? 0 : mixed % sim_input.model->variant_count];
}

const char *const *sim_job_outputs(void)
{
    return sim_input.model->outputs;
}

void sim_job_init(enum sim_job_kind kind, uint32_t partition_count, uint32_t key_count)
{
    WEIR_ASSERT(partition_count <= SIM_PARTITIONS_MAX && key_count <= SIM_KEYS_MAX);
    sim_input.kind = kind;
    sim_input.model = models[kind];
    sim_input.key_count = key_count;
    sim_input.topic = sim_topic_create("in", partition_count);
    for (const char *const *output = sim_job_outputs(); *output != NULL; output++) {
        sim_topic_create(*output, 1 + sim_below(3));
    }
}

void sim_job_allow_repeats(void)
{
    sim_input.may_repeat = true;
}

struct sim_topic *sim_job_input(void)
{
    return sim_input.topic;
}

void sim_job_extend(uint32_t partition_count)
{
    WEIR_ASSERT(partition_count <= SIM_PARTITIONS_MAX);
    sim_topic_extend(sim_input.topic, partition_count);
}

bool sim_job_can_extend(void)
{
    return strstr(sim_input.model->variants[0], "event_time") == NULL;
}

static uint32_t key_in(uint32_t partition, uint32_t key)
{
    return sim_input.model->has_own_keys ? key / SIM_PARTITIONS_MAX * SIM_PARTITIONS_MAX + partition
                                         : key;
}

// Rows remember what they are by their offset.
static void feed(uint32_t partition, int64_t producer_id, const struct sim_row *row)
{
    struct sim_rows *rows = &sim_input.rows[partition];
    struct sim_partition *to = &sim_input.topic->partitions[partition];
    char value[256];
    char text[64];
    char key[32];
    sim_format_time(row->time_us, text, sizeof text);
    snprintf(value, sizeof value,
             "{\"id\":%" PRId64 ",\"k\":\"key%u\",\"g\":%u,\"v\":%" PRId64 "%s,\"ts\":\"%s\"}",
             row->id, row->key, sim_group_of(row), row->value, row->is_bad ? "bad" : "", text);
    snprintf(key, sizeof key, "{\"k\":\"key%u\"}", row->key);
    if (to->count >= rows->capacity) {
        rows->capacity = 2 * to->count + 64;
        rows->rows = weir_realloc(rows->rows, rows->capacity * sizeof *rows->rows);
    }
    rows->rows[to->count] = *row;
    sim_partition_append(to, producer_id, sim_input.model->is_changelog ? key : NULL,
                         row->is_deleted ? NULL : value, sim_wall_us() / 1000);
}

void sim_job_feed(uint32_t partition, int64_t producer_id)
{
    struct sim_rows *rows = &sim_input.rows[partition];
    // Time goes on, with rows that are early and some that are late.
    rows->time_us += (int64_t)sim_below(2000) * 1000;
    struct sim_row row = {.id = (int64_t)partition * SIM_IDS_PER_PARTITION + rows->next_id++,
                          .key = sim_below(sim_input.key_count),
                          .value = (int64_t)sim_below(1000) - 300,
                          .is_bad = sim_input.kind == SIM_JOB_PASS && sim_one_in(10),
                          .time_us = SIM_TIME_BEGIN_US + rows->time_us -
                                     (sim_one_in(6) ? (int64_t)sim_below(15000) * 1000 : 0)};
    row.key = key_in(partition, row.key);
    row.is_deleted = sim_input.model->is_changelog && sim_one_in(4);
    feed(partition, producer_id, &row);
}

void sim_job_remake(uint32_t record_count)
{
    sim_topic_remake(sim_input.topic);
    for (uint32_t i = 0; i < record_count; i++) {
        sim_job_feed(sim_below(sim_input.topic->partition_count), -1);
    }
}

void sim_job_feed_end(void)
{
    for (uint32_t i = 0; i < sim_input.topic->partition_count; i++) {
        struct sim_rows *rows = &sim_input.rows[i];
        struct sim_row row = {.id = (int64_t)i * SIM_IDS_PER_PARTITION + rows->next_id++,
                              .key = key_in(i, 0),
                              .value = 3,
                              .time_us = SIM_TIME_BEGIN_US + SIM_TIME_SPAN_US};
        feed(i, -1, &row);
    }
}

const struct sim_record *sim_record_of(int64_t id)
{
    uint32_t partition;
    uint32_t number;
    if (!sim_split_id(id, &partition, &number) || partition >= sim_input.topic->partition_count) {
        return NULL;
    }
    const struct sim_partition *from = &sim_input.topic->partitions[partition];
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->records[i].state != SIM_RECORD_MARKER &&
            sim_input.rows[partition].rows[i].id == id) {
            return &from->records[i];
        }
    }
    return NULL;
}

// --- texts -------------------------------------------------------------------------------------

void sim_format_time(int64_t time_us, char *text, size_t text_bytes)
{
    time_t seconds = (time_t)(time_us / 1000000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &utc);
    snprintf(text, text_bytes, "%s.%03d+00", date, (int)(time_us / 1000 % 1000));
}

bool sim_read_number(struct weir_view json, const char *name, int64_t *number)
{
    char label[32];
    int label_bytes = snprintf(label, sizeof label, "\"%s\":", name);
    const char *at = memmem(json.data, json.size_bytes, label, (size_t)label_bytes);
    if (at == NULL) {
        return false;
    }
    char digits[32] = {0};
    size_t left = json.size_bytes - (size_t)(at + label_bytes - json.data);
    memcpy(digits, at + label_bytes, left < sizeof digits - 1 ? left : sizeof digits - 1);
    const char *begin = digits;
    while (*begin == '"' || *begin == ' ') {
        begin++;
    }
    char *end;
    *number = strtoll(begin, &end, 10);
    return end != begin;
}

bool sim_read_key(struct weir_view json, uint32_t *key)
{
    const char label[] = "\"k\":\"key";
    const char *at = memmem(json.data, json.size_bytes, label, sizeof label - 1);
    if (at == NULL) {
        return false;
    }
    *key = 0;
    for (at += sizeof label - 1; *at >= '0' && *at <= '9'; at++) {
        *key = *key * 10 + (uint32_t)(*at - '0');
    }
    return *key < SIM_KEYS_MAX;
}

bool sim_read_time(struct weir_view json, const char *name, int64_t *time_us)
{
    char label[32];
    int label_bytes = snprintf(label, sizeof label, "\"%s\":\"", name);
    const char *at = memmem(json.data, json.size_bytes, label, (size_t)label_bytes);
    struct tm utc = {0};
    if (at == NULL ||
        sscanf(at + label_bytes, "%4d-%2d-%2d%*c%2d:%2d:%2d", &utc.tm_year, &utc.tm_mon,
               &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec) != 6) {
        return false;
    }
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    *time_us = (int64_t)timegm(&utc) * 1000000;
    return true;
}

const char *sim_wrong(const char *format, ...)
{
    static char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

// --- beginning anew ----------------------------------------------------------------------------

// Where in each output's log the rows begin that count.
static uint32_t begins[SIM_OUTPUTS_MAX][SIM_PARTITIONS_MAX];

struct sim_saved *sim_job_save(void)
{
    struct sim_saved state = sim_input.model->state();
    struct sim_saved *saved = weir_alloc(sizeof *saved);
    *saved = (struct sim_saved){weir_alloc(state.size_bytes), state.size_bytes};
    memcpy(saved->data, state.data, state.size_bytes);
    return saved;
}

static void begin_output(void)
{
    for (int i = 0; sim_job_outputs()[i] != NULL; i++) {
        const struct sim_topic *topic = sim_topic_find(sim_job_outputs()[i]);
        for (uint32_t p = 0; p < topic->partition_count; p++) {
            begins[i][p] = topic->partitions[p].count;
        }
    }
    if (sim_input.model->begin_output != NULL) {
        sim_input.model->begin_output();
    }
}

void sim_job_restore(const struct sim_saved *saved)
{
    struct sim_saved state = sim_input.model->state();
    memset(state.data, 0, state.size_bytes);
    if (saved != NULL) {
        memcpy(state.data, saved->data, saved->size_bytes);
    }
    begin_output();
}

bool sim_job_can_rewind(void)
{
    return sim_input.model->rewind != NULL;
}

// At least once, rows that a drain makes late are no loss, and nothing tells them from one.
bool sim_job_can_drain(void)
{
    return sim_input.kind != SIM_JOB_TUMBLE || !sim_input.may_repeat;
}

void sim_job_rewind(const struct sim_positions *positions)
{
    WEIR_ASSERT(sim_job_can_rewind());
    sim_input.model->rewind(positions);
    begin_output();
}

// --- the check -----------------------------------------------------------------------------------

// A row that readers of committed records see; NULL: none at this offset.
static const struct sim_row *visible_row(uint32_t partition, int64_t offset)
{
    return sim_input.topic->partitions[partition].records[offset].state == SIM_RECORD_COMMITTED
               ? &sim_input.rows[partition].rows[offset]
               : NULL;
}

const char *sim_each_row(const struct sim_positions *from, const struct sim_positions *to,
                         const char *(*visit)(uint32_t partition, const struct sim_row *row))
{
    for (uint32_t p = 0; p < to->count; p++) {
        for (int64_t offset = sim_position(from, p); offset < to->offsets[p]; offset++) {
            const struct sim_row *row = visible_row(p, offset);
            const char *wrong = row != NULL ? visit(p, row) : NULL;
            if (wrong != NULL) {
                return wrong;
            }
        }
    }
    return NULL;
}

const char *sim_advance(struct sim_positions *before, const struct sim_positions *positions,
                        const char *(*visit)(uint32_t partition, const struct sim_row *row))
{
    for (uint32_t p = 0; p < positions->count; p++) {
        int64_t from = sim_position(before, p);
        if (positions->offsets[p] < from) {
            return sim_wrong("partition %u: the committed position goes back from %" PRId64
                             " to %" PRId64,
                             p, from, positions->offsets[p]);
        }
    }
    const char *wrong = sim_each_row(before, positions, visit);
    *before = *positions;
    return wrong;
}

const char *sim_each_output(const char *topic,
                            const char *(*visit)(void *context, uint32_t partition,
                                                 const struct sim_record *record),
                            void *context)
{
    const struct sim_topic *output = sim_topic_find(topic);
    int idx = 0;
    while (strcmp(sim_job_outputs()[idx], topic) != 0) {
        idx++;
    }
    for (uint32_t p = 0; p < output->partition_count; p++) {
        for (uint32_t offset = begins[idx][p]; offset < output->partitions[p].count; offset++) {
            const struct sim_record *record = &output->partitions[p].records[offset];
            const char *wrong = record->is_decided ? visit(context, p, record) : NULL;
            if (wrong != NULL) {
                return wrong;
            }
        }
    }
    return NULL;
}

const char *sim_job_take(const char *topic, const struct sim_record *record)
{
    return sim_input.model->take(topic, record);
}

const char *sim_job_compare(const struct sim_positions *positions, bool may_be_drained)
{
    return sim_input.model->compare(positions, may_be_drained);
}

const char *sim_job_compare_end(const struct sim_positions *positions)
{
    return sim_input.model->compare_end(positions);
}
