// SPDX-License-Identifier: Apache-2.0
// See job.h: jobs, input, and which check is whose.
#include "tests/sim/job_model.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "runtime/types/hash.h"
#include "tests/sim/fiber.h"
#include "tests/sim/random.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WINDOW_S = SIM_WINDOW_US / 1000000 };

struct sim_input sim_input;

static const char pass_sql[] =
    "CREATE TABLE src (id bigint, k text, v bigint)\n"
    "  WITH (topic = 'in', on_error = 'dead_letter', dead_letter_topic = 'dead');\n"
    "CREATE TABLE every (id bigint, k text, v bigint) WITH (topic = 'every');\n"
    "CREATE TABLE third (id bigint, v bigint) WITH (topic = 'third');\n"
    "INSERT INTO every SELECT id, k, v FROM src;\n"
    "INSERT INTO third SELECT id, v FROM src WHERE v % 3 = 0;\n";

// Each job with state stands in three ways that give the same rows and keep other values for it, in
// another order: what is more starts from now, and is in a condition that holds whatever it is.
enum { VARIANT_COUNT = 3 };

#define COUNT_TABLES                                                                               \
    "CREATE TABLE src (id bigint, k text, v bigint) WITH (topic = 'in');\n"                        \
    "CREATE TABLE counts (k text, c bigint, s numeric, PRIMARY KEY (k))\n"                         \
    "  WITH (topic = 'counts');\n"

static const char *const count_sql[VARIANT_COUNT] = {
    COUNT_TABLES "INSERT INTO counts SELECT k, count(*), sum(v) FROM src GROUP BY k;\n",
    COUNT_TABLES "INSERT INTO counts (k, s, c) SELECT k, sum(v), count(*) FROM src GROUP BY k\n"
                 "  HAVING coalesce(max(v), 0) < 1000000;\n",
    COUNT_TABLES "INSERT INTO counts SELECT k, count(*), sum(v) FROM src GROUP BY k\n"
                 "  HAVING count(DISTINCT v) >= 0 AND coalesce(min(k), '') < 'z';\n",
};

#define TUMBLE_TABLES                                                                              \
    "CREATE TABLE src (id bigint, k text, v bigint, ts timestamptz)\n"                             \
    "  WITH (topic = 'in', event_time = 'ts', watermark_delay = '2 seconds',\n"                    \
    "        idle_timeout = '1 hour', late_topic = 'late');\n"                                     \
    "CREATE TABLE windows (w timestamptz, k text, c bigint, s numeric)\n"                          \
    "  WITH (topic = 'windows');\n"                                                                \
    "INSERT INTO windows "
#define TUMBLE "\n  FROM tumble(src, ts, interval '10 seconds') GROUP BY window_start, k"

static const char *const tumble_sql[VARIANT_COUNT] = {
    TUMBLE_TABLES "SELECT window_start, k, count(*), sum(v)" TUMBLE ";\n",
    TUMBLE_TABLES "(s, c, w, k) SELECT sum(v), count(*), window_start, k" TUMBLE
                  " HAVING coalesce(max(k), '') < 'z';\n",
    TUMBLE_TABLES "SELECT window_start, k, count(*), sum(v)" TUMBLE
                  " HAVING count(DISTINCT id) >= 0;\n",
};

static_assert(WINDOW_S == 10, "as in the job's text");

const char *sim_job_name(enum sim_job_kind kind)
{
    switch (kind) {
    case SIM_JOB_PASS:
        return "pass-through";
    case SIM_JOB_COUNT:
        return "count";
    case SIM_JOB_TUMBLE:
        return "tumble";
    case SIM_JOB_KIND_COUNT:
        break;
    }
    return "?";
}

const char *sim_job_sql(uint32_t life)
{
    // Takes nothing from the run's chance.
    uint64_t mixed = weir_hash_mix(sim_input.key_count * UINT64_C(1000003) + life);
    uint32_t variant = life == 0 ? 0 : (uint32_t)(mixed % VARIANT_COUNT);
    switch (sim_input.kind) {
    case SIM_JOB_PASS:
        return pass_sql;
    case SIM_JOB_COUNT:
        return count_sql[variant];
    case SIM_JOB_TUMBLE:
        return tumble_sql[variant];
    case SIM_JOB_KIND_COUNT:
        break;
    }
    return NULL;
}

void sim_job_init(enum sim_job_kind kind, uint32_t partition_count, uint32_t key_count)
{
    WEIR_ASSERT(partition_count <= SIM_PARTITIONS_MAX && key_count <= SIM_KEYS_MAX);
    sim_input.kind = kind;
    sim_input.key_count = key_count;
    sim_input.topic = sim_topic_create("in", partition_count);
    switch (kind) {
    case SIM_JOB_PASS:
        sim_topic_create("every", 1 + sim_below(3));
        sim_topic_create("third", 1 + sim_below(3));
        sim_topic_create("dead", 1 + sim_below(3));
        break;
    case SIM_JOB_COUNT:
        sim_topic_create("counts", 1 + sim_below(3));
        break;
    case SIM_JOB_TUMBLE:
        sim_topic_create("windows", 1 + sim_below(3));
        sim_topic_create("late", 1 + sim_below(3));
        break;
    case SIM_JOB_KIND_COUNT:
        break;
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

// Rows remember what they are by their offset.
static void feed(uint32_t partition, int64_t producer_id, const struct sim_row *row)
{
    struct sim_rows *rows = &sim_input.rows[partition];
    struct sim_partition *to = &sim_input.topic->partitions[partition];
    char value[256];
    char text[64];
    sim_format_time(row->time_us, text, sizeof text);
    snprintf(value, sizeof value,
             "{\"id\":%" PRId64 ",\"k\":\"key%u\",\"v\":%" PRId64 "%s,\"ts\":\"%s\"}", row->id,
             row->key, row->value, row->is_bad ? "bad" : "", text);
    if (to->count >= rows->capacity) {
        rows->capacity = 2 * to->count + 64;
        rows->rows = weir_realloc(rows->rows, rows->capacity * sizeof *rows->rows);
    }
    rows->rows[to->count] = *row;
    sim_partition_append(to, producer_id, NULL, value, sim_wall_us() / 1000);
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

const char *const sim_outputs[SIM_OUTPUTS] = {"every",  "third",   "dead",
                                              "counts", "windows", "late"};
static uint32_t begins[SIM_OUTPUTS][SIM_PARTITIONS_MAX];

uint32_t sim_output_begin(const struct sim_topic *topic, uint32_t partition)
{
    for (int i = 0; i < SIM_OUTPUTS; i++) {
        if (strcmp(sim_outputs[i], topic->name) == 0) {
            return begins[i][partition];
        }
    }
    return 0;
}

static struct sim_saved state_of_job(void)
{
    switch (sim_input.kind) {
    case SIM_JOB_PASS:
        return sim_pass_state();
    case SIM_JOB_COUNT:
        return sim_count_state();
    case SIM_JOB_TUMBLE:
        return sim_tumble_state();
    case SIM_JOB_KIND_COUNT:
        break;
    }
    WEIR_ASSERT(!"unreachable");
}

struct sim_saved *sim_job_save(void)
{
    struct sim_saved state = state_of_job();
    struct sim_saved *saved = weir_alloc(sizeof *saved);
    *saved = (struct sim_saved){weir_alloc(state.size_bytes), state.size_bytes};
    memcpy(saved->data, state.data, state.size_bytes);
    return saved;
}

static void begin_output(void)
{
    for (int i = 0; i < SIM_OUTPUTS; i++) {
        const struct sim_topic *topic = sim_topic_find(sim_outputs[i]);
        for (uint32_t p = 0; topic != NULL && p < topic->partition_count; p++) {
            begins[i][p] = topic->partitions[p].count;
        }
    }
    if (sim_input.kind == SIM_JOB_COUNT) {
        sim_count_begin_output();
    }
}

void sim_job_restore(const struct sim_saved *saved)
{
    struct sim_saved state = state_of_job();
    memset(state.data, 0, state.size_bytes);
    if (saved != NULL) {
        memcpy(state.data, saved->data, saved->size_bytes);
    }
    begin_output();
}

bool sim_job_can_rewind(void)
{
    return sim_input.kind != SIM_JOB_TUMBLE;
}

// At least once, rows that a drain makes late are no loss, and nothing tells them from one.
bool sim_job_can_drain(void)
{
    return sim_input.kind != SIM_JOB_TUMBLE || !sim_input.may_repeat;
}

void sim_job_rewind(const struct sim_positions *positions)
{
    WEIR_ASSERT(sim_job_can_rewind());
    if (sim_input.kind == SIM_JOB_PASS) {
        sim_pass_rewind(positions);
    } else {
        sim_count_rewind(positions);
    }
    begin_output();
}

const char *sim_positions_compare(const struct sim_positions *before,
                                  const struct sim_positions *positions)
{
    for (uint32_t p = 0; p < positions->count; p++) {
        int64_t from = sim_position(before, p);
        if (positions->offsets[p] < from) {
            return sim_wrong("partition %u: the committed position goes back from %" PRId64
                             " to %" PRId64,
                             p, from, positions->offsets[p]);
        }
    }
    return NULL;
}

// --- which check -------------------------------------------------------------------------------

const char *sim_job_take(const char *topic, const struct sim_record *record)
{
    switch (sim_input.kind) {
    case SIM_JOB_PASS:
        return sim_pass_take(topic, record);
    case SIM_JOB_COUNT:
        return sim_count_take(record);
    case SIM_JOB_TUMBLE:
        return sim_tumble_take(topic, record);
    case SIM_JOB_KIND_COUNT:
        break;
    }
    return "no job";
}

const char *sim_job_compare(const struct sim_positions *positions, bool may_be_drained)
{
    switch (sim_input.kind) {
    case SIM_JOB_PASS:
        return sim_pass_compare(positions);
    case SIM_JOB_COUNT:
        return sim_count_compare(positions);
    case SIM_JOB_TUMBLE:
        return sim_tumble_compare(positions, may_be_drained);
    case SIM_JOB_KIND_COUNT:
        break;
    }
    return "no job";
}

const char *sim_job_compare_end(const struct sim_positions *positions)
{
    switch (sim_input.kind) {
    case SIM_JOB_PASS:
        return sim_pass_compare_end();
    case SIM_JOB_COUNT:
        return sim_count_compare_end(positions);
    case SIM_JOB_TUMBLE:
        return sim_tumble_compare_end(positions);
    case SIM_JOB_KIND_COUNT:
        break;
    }
    return "no job";
}
