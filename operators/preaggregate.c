// SPDX-License-Identifier: Apache-2.0
// See preaggregate.h. A table of groups that is sent on when it is full, before a barrier, and
// before time passes that could matter to a row in it.
//
// Invariants
// 1. Nothing is held across a barrier: what the snapshot says was read has been sent.
// 2. What is held could be sent later without another outcome: with a window only rows whose window
//    this task's time has not reached, and only while the task is not idle, for time behind the
//    exchange is never past that of a task that is not idle; without one nothing across any time.
// 3. A group has one partial at a time, in the order of its rows.
#include "operators/preaggregate.h"

#include "operators/aggregate_internal.h"
#include "runtime/types/hash.h"

#include <stdlib.h>

enum {
    GROUPS_MAX = 4096,            // held: their keys and values stay in the processor's cache
    VALUES_BYTES_MAX = 256 << 10, // of all of them
    ROWS_PER_ROOM = 2,            // rooms of the table for each group: a power of two
    ROWS_HELD_MAX = 1 << 30,      // so that no sum overflows
    ROWS_PER_DECISION = 8192,     // looked at before it is decided whether folding pays
    ROWS_RESTED = 1 << 19,        // passed on as they are before it is tried again
};

struct preaggregate {
    struct weir_operator op;   // first: the interface
    int32_t window_end_column; // -1: no window
    const struct weir_schema *input;
    struct weir_group_keys keys;
    uint32_t part_count;
    struct weir_part *parts; // with the offsets of their slots in a partial's value
    uint32_t value_bytes;
    uint32_t capacity; // groups
    uint32_t room_count;

    uint16_t *rooms; // by hash: a group's number + 1; 0: none
    uint32_t count;  // groups that are held
    uint64_t *hashes;
    // Keys of integers and times only are looked for by their values, one word each and one for
    // what is NULL; only those of new groups are encoded. NULL: by their bytes.
    uint64_t *words;
    uint64_t *batch_words; // of the selected rows of the batch under way
    uint32_t word_count;   // of a key
    struct weir_state_key *held;
    char *values;
    struct weir_arena *key_bytes; // of the groups that are held
    uint32_t row_count;           // that they hold
    int64_t first_end_us;         // of their windows
    struct weir_time time;        // as last passed on

    // Of the rows looked at since the last decision, and what they were sent as.
    uint64_t rows_in;
    uint64_t groups_out;
    uint64_t rest_count; // rows to be passed on as they are
    struct weir_arena *arena;
};

// --- sending ------------------------------------------------------------------------------------

static void decide(struct preaggregate *pre)
{
    pre->groups_out += pre->count;
    if (pre->rows_in < ROWS_PER_DECISION) {
        return;
    }
    // A partial costs more than a row: it has to stand for one and a half at least.
    if (3 * pre->groups_out > 2 * pre->rows_in) {
        pre->rest_count = ROWS_RESTED;
    }
    pre->rows_in = 0;
    pre->groups_out = 0;
}

static enum weir_status flush(struct preaggregate *pre, struct weir_error *error)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t at = 0; at < pre->count && status == WEIR_OK; at += WEIR_BATCH_ROWS_MAX) {
        uint32_t rest = pre->count - at;
        uint32_t some = rest < WEIR_BATCH_ROWS_MAX ? rest : WEIR_BATCH_ROWS_MAX;
        struct weir_partials partials = {.keys = pre->held + at,
                                         .values = pre->values + (size_t)at * pre->value_bytes,
                                         .value_bytes = pre->value_bytes};
        struct weir_batch batch = {.schema = pre->input,
                                   .row_count = some,
                                   .selected_count = some,
                                   .partials = &partials,
                                   .arena = pre->key_bytes};
        status = weir_operator_push(&pre->op, &batch, error);
    }
    decide(pre);
    if (pre->count > 0) {
        memset(pre->rooms, 0, pre->room_count * sizeof *pre->rooms);
        weir_arena_reset(pre->key_bytes);
    }
    pre->count = 0;
    pre->row_count = 0;
    pre->first_end_us = INT64_MAX;
    return status;
}

// --- rows ---------------------------------------------------------------------------------------

static uint32_t begin_group(struct preaggregate *pre, const struct weir_batch *batch, uint32_t row,
                            struct weir_view key, uint64_t hash)
{
    uint32_t idx = pre->count++;
    pre->hashes[idx] = hash;
    pre->held[idx].key_group = weir_group_keys_group(&pre->keys, row, key);
    pre->held[idx].bytes = weir_arena_copy(pre->key_bytes, key);
    char *value = pre->values + (size_t)idx * pre->value_bytes;
    memset(value, 0, pre->value_bytes);
    memcpy(value, &(struct weir_partial_header){.event_time_us = INT64_MIN},
           sizeof(struct weir_partial_header));
    if (pre->window_end_column >= 0) {
        int64_t end_us = batch->columns[pre->window_end_column].i64[row];
        pre->first_end_us = end_us < pre->first_end_us ? end_us : pre->first_end_us;
    }
    return idx;
}

// The number of the row's group, found by the bytes of its key.
static uint32_t group_by_bytes(struct preaggregate *pre, const struct weir_batch *batch,
                               uint32_t row)
{
    struct weir_view key = weir_row_key_encode(&pre->keys.key, row);
    uint64_t hash = weir_hash_bytes(key.data, key.size_bytes);
    uint32_t at = (uint32_t)hash & (pre->room_count - 1);
    for (; pre->rooms[at] != 0; at = (at + 1) & (pre->room_count - 1)) {
        uint32_t idx = pre->rooms[at] - 1u;
        if (pre->hashes[idx] == hash && weir_view_equal(pre->held[idx].bytes, key)) {
            return idx;
        }
    }
    pre->rooms[at] = (uint16_t)(pre->count + 1);
    return begin_group(pre, batch, row, key, hash);
}

static bool are_words_equal(const uint64_t *a, const uint64_t *b, uint32_t count)
{
    uint64_t difference = 0;
    for (uint32_t i = 0; i < count; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference == 0;
}

// The same, by the words of the key.
static uint32_t group_by_words(struct preaggregate *pre, const struct weir_batch *batch,
                               uint32_t row, const uint64_t *words)
{
    uint64_t hash = WEIR_HASH_START;
    for (uint32_t w = 0; w < pre->word_count; w++) {
        hash = weir_hash_combine(hash, words[w]);
    }
    uint32_t at = (uint32_t)hash & (pre->room_count - 1);
    for (; pre->rooms[at] != 0; at = (at + 1) & (pre->room_count - 1)) {
        uint32_t idx = pre->rooms[at] - 1u;
        if (are_words_equal(&pre->words[idx * pre->word_count], words, pre->word_count)) {
            return idx;
        }
    }
    pre->rooms[at] = (uint16_t)(pre->count + 1);
    memcpy(&pre->words[pre->count * pre->word_count], words, pre->word_count * sizeof *words);
    return begin_group(pre, batch, row, weir_row_key_encode(&pre->keys.key, row), hash);
}

#define PUT_WORDS(field)                                                                           \
    for (uint32_t i = 0; i < batch->selected_count; i++) {                                         \
        words[(size_t)i * pre->word_count] = (uint64_t)column->field[weir_batch_row(batch, i)];    \
    }

// The words of all selected rows.
static void put_words(struct preaggregate *pre, const struct weir_batch *batch)
{
    uint64_t *nulls = pre->batch_words + pre->word_count - 1;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        nulls[(size_t)i * pre->word_count] = 0;
    }
    for (uint32_t c = 0; c < pre->keys.key.count; c++) {
        const struct weir_column *column = &pre->keys.key.input[c];
        uint64_t *words = pre->batch_words + c;
        enum weir_layout layout = weir_type_layout(column->type.kind);
        if (layout == WEIR_LAYOUT_I64) {
            PUT_WORDS(i64)
        } else if (layout == WEIR_LAYOUT_I32) {
            PUT_WORDS(i32)
        } else {
            PUT_WORDS(i16)
        }
        for (uint32_t i = 0; column->validity != NULL && i < batch->selected_count; i++) {
            if (!weir_column_is_valid(column, weir_batch_row(batch, i))) {
                words[(size_t)i * pre->word_count] = 0;
                nulls[(size_t)i * pre->word_count] |= UINT64_C(1) << c;
            }
        }
    }
}

static void apply(const struct weir_batch *batch, const struct weir_part *part, uint32_t count,
                  const uint16_t *rows, char *const *values)
{
    const struct weir_column *arg =
        part->arg_column >= 0 ? &batch->columns[part->arg_column] : NULL;
    uint16_t taken_rows[WEIR_BATCH_ROWS_MAX];
    char *taken_values[WEIR_BATCH_ROWS_MAX];
    if (part->filter_column < 0 && (arg == NULL || arg->validity == NULL)) {
        weir_accumulator_apply_rows(&part->accumulator, arg, count, rows, values,
                                    part->slot_offset);
        return;
    }
    uint32_t taken_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (weir_part_takes(part, batch, rows[i])) {
            taken_rows[taken_count] = rows[i];
            taken_values[taken_count++] = values[i];
        }
    }
    weir_accumulator_apply_rows(&part->accumulator, arg, taken_count, taken_rows, taken_values,
                                part->slot_offset);
}

static void fold(struct preaggregate *pre, const struct weir_batch *batch)
{
    uint16_t rows[WEIR_BATCH_ROWS_MAX];
    char *values[WEIR_BATCH_ROWS_MAX];
    weir_group_keys_begin(&pre->keys, batch);
    if (pre->words != NULL) {
        put_words(pre, batch);
    }
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        uint32_t idx =
            pre->words != NULL
                ? group_by_words(pre, batch, row, &pre->batch_words[(size_t)i * pre->word_count])
                : group_by_bytes(pre, batch, row);
        rows[i] = (uint16_t)row;
        values[i] = pre->values + (size_t)idx * pre->value_bytes;
    }
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        struct weir_partial_header header;
        memcpy(&header, values[i], sizeof header);
        int64_t time_us = batch->event_time_us[rows[i]];
        header.row_count++;
        header.event_time_us = time_us > header.event_time_us ? time_us : header.event_time_us;
        memcpy(values[i], &header, sizeof header);
    }
    for (uint32_t p = 0; p < pre->part_count; p++) {
        apply(batch, &pre->parts[p], batch->selected_count, rows, values);
    }
    pre->row_count += batch->selected_count;
    pre->rows_in += batch->selected_count;
}

// Could time behind the exchange reach a window of a row that is held?
static bool is_time_short(const struct preaggregate *pre, const struct weir_time *time)
{
    return pre->window_end_column < 0 || time->is_idle || time->watermark_us >= pre->first_end_us;
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct preaggregate *pre = (struct preaggregate *)op;
    if ((pre->count + batch->selected_count > pre->capacity ||
         pre->row_count + batch->selected_count > ROWS_HELD_MAX) &&
        flush(pre, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (pre->rest_count > 0) {
        pre->rest_count -=
            batch->selected_count < pre->rest_count ? batch->selected_count : pre->rest_count;
        return weir_operator_push(op, batch, error);
    }
    fold(pre, batch);
    bool is_due = pre->window_end_column >= 0 && is_time_short(pre, &pre->time);
    return is_due ? flush(pre, error) : WEIR_OK;
}

// --- time and barriers --------------------------------------------------------------------------

static enum weir_status time_passed(struct weir_operator *op, const struct weir_time *time,
                                    struct weir_error *error)
{
    struct preaggregate *pre = (struct preaggregate *)op;
    if (is_time_short(pre, time) && flush(pre, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    pre->time = *time;
    return weir_operator_push_time(op, time, error);
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)at;
    (void)snapshot;
    return flush((struct preaggregate *)op, error);
}

// --- life ---------------------------------------------------------------------------------------

static void destroy(struct weir_operator *op)
{
    struct preaggregate *pre = (struct preaggregate *)op;
    weir_group_keys_deinit(&pre->keys);
    weir_arena_destroy(pre->key_bytes);
    weir_arena_destroy(pre->arena);
    free(pre);
}

bool weir_preaggregate_is_exact(const struct weir_aggregate_config *config)
{
    struct weir_arena *arena = weir_arena_create(4 << 10);
    struct weir_group_keys keys;
    weir_group_keys_init(&keys, config, arena);
    bool is_exact = !config->is_input_changing && !keys.has_spelling;
    for (uint32_t i = 0; i < config->aggregate_count; i++) {
        struct weir_part part;
        weir_part_init(&part, config, i);
        is_exact = is_exact && weir_accumulator_can_merge(&part.accumulator) &&
                   !weir_part_needs_entries(&part);
    }
    weir_group_keys_deinit(&keys);
    weir_arena_destroy(arena);
    return is_exact;
}

static bool has_words(const struct weir_row_key *keys, const struct weir_schema *input)
{
    bool has = keys->count <= 8;
    for (uint32_t i = 0; i < keys->count; i++) {
        enum weir_layout layout = weir_type_layout(input->columns[keys->columns[i]].type.kind);
        has = has &&
              (layout == WEIR_LAYOUT_I16 || layout == WEIR_LAYOUT_I32 || layout == WEIR_LAYOUT_I64);
    }
    return has;
}

static void init_table(struct preaggregate *pre)
{
    pre->capacity = VALUES_BYTES_MAX / pre->value_bytes;
    pre->capacity = pre->capacity < GROUPS_MAX ? pre->capacity : GROUPS_MAX;
    pre->capacity = pre->capacity > WEIR_BATCH_ROWS_MAX ? pre->capacity : WEIR_BATCH_ROWS_MAX;
    pre->room_count = GROUPS_MAX * ROWS_PER_ROOM;
    struct weir_arena *arena = pre->arena;
    pre->rooms = weir_arena_alloc_zero(arena, pre->room_count * sizeof *pre->rooms);
    pre->hashes = weir_arena_alloc(arena, pre->capacity * sizeof *pre->hashes);
    pre->held = weir_arena_alloc(arena, pre->capacity * sizeof *pre->held);
    pre->values = weir_arena_alloc(arena, (size_t)pre->capacity * pre->value_bytes);
    if (has_words(&pre->keys.key, pre->input)) {
        pre->word_count = pre->keys.key.count + 1;
        size_t words_bytes = pre->word_count * sizeof *pre->words;
        pre->words = weir_arena_alloc(arena, pre->capacity * words_bytes);
        pre->batch_words = weir_arena_alloc(arena, WEIR_BATCH_ROWS_MAX * words_bytes);
    }
}

struct weir_operator *weir_preaggregate_create(const char *id, const char *name,
                                               const struct weir_aggregate_config *config)
{
    static const struct weir_operator_ops OPS = {.kind = "preaggregate",
                                                 .process = process,
                                                 .time_passed = time_passed,
                                                 .barrier = barrier,
                                                 .destroy = destroy};
    WEIR_ASSERT(weir_preaggregate_is_exact(config));
    struct preaggregate *pre = weir_alloc_zero(sizeof *pre);
    pre->op.ops = &OPS;
    pre->op.id = id;
    pre->op.name = name;
    pre->window_end_column = config->window_end_column;
    pre->input = config->input;
    pre->arena = weir_arena_create(4 << 10);
    pre->key_bytes = weir_arena_create(64 << 10);
    pre->first_end_us = INT64_MAX;
    pre->time.watermark_us = INT64_MIN;
    weir_group_keys_init(&pre->keys, config, pre->arena);
    pre->part_count = config->aggregate_count;
    pre->parts = weir_arena_alloc(pre->arena, (pre->part_count + 1) * sizeof *pre->parts);
    uint32_t value_bytes = sizeof(struct weir_partial_header);
    for (uint32_t i = 0; i < pre->part_count; i++) {
        weir_part_init(&pre->parts[i], config, i);
        pre->parts[i].slot_offset = value_bytes;
        value_bytes += pre->parts[i].accumulator.slot_bytes;
    }
    pre->value_bytes = (value_bytes + 7) / 8 * 8;
    init_table(pre);
    return &pre->op;
}
