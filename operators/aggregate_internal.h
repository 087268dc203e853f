// SPDX-License-Identifier: Apache-2.0
// What the files of the aggregate operator share. aggregate.c takes rows in, aggregate_merge.c
// takes partials, aggregate_group.c reads and writes groups, aggregate_entry.c keeps single values
// of groups, aggregate_output.c sends results. Private to operators/. Thread: the task's.
//
// A group is one entry of the state "groups". Key: window_end if there is a window, then the other
// key columns. Value: struct weir_group_header, the accumulators' slots, without window once more
// the slots as they were at the last barrier before, then the tails of both, then the keys as the
// group's first row has spelt them, if a key does not say (2.50 and 2.5 are one numeric).
//
// What was sent last of a group is what it was at the barrier before it was changed: the first row
// of an epoch that changes a group keeps that (weir_group_begin_epoch), and sending it only reads.
//
// A part (one aggregate) that has to know single values (DISTINCT; min and max when values are
// taken back) keeps them in a state of its own, "distinct<n>" or "values<n>": the group's key and
// the value's (inverted for max, so that the greatest comes first) → struct weir_group_entry.
#ifndef WEIR_OPERATORS_AGGREGATE_INTERNAL_H
#define WEIR_OPERATORS_AGGREGATE_INTERNAL_H

#include "operators/accumulator.h"
#include "operators/aggregate_key.h"
#include "runtime/state_scan.h"

enum { WEIR_GROUP_EPOCH_MASK = 0x3fffffff };

struct weir_group_header {
    int64_t row_count;     // 0: empty
    int64_t event_time_us; // the largest one of its rows
    uint32_t spelling_bytes;
    uint32_t is_sent : 1;      // there is a row that was sent: what the slots "sent" say
    uint32_t is_unsettled : 1; // in the list of those to look at before the barrier
    uint32_t epoch : 30;       // in which it was last changed: enough of the number to tell it
};

// Behind it, for numerics: the value as it was spelt (row_codec.h).
struct weir_group_entry {
    int64_t count;
};

// One aggregate.
struct weir_part {
    struct weir_accumulator accumulator;
    int32_t arg_column;
    int32_t filter_column;
    uint32_t slot_offset;
    struct weir_state *entries; // NULL: needs no single values
    bool is_distinct;
    struct weir_column single;   // of one row: a value read back
    struct weir_state_key *keys; // of the batch's rows, for entries
    // What the row under way changes, done when all parts have taken it.
    int64_t pending_count;
    bool is_pending;
};

// All but what lies in the state: slot_offset, entries and what goes with them.
static inline void weir_part_init(struct weir_part *part,
                                  const struct weir_aggregate_config *config, uint32_t idx)
{
    const struct weir_aggregate *aggregate = &config->aggregates[idx];
    *part = (struct weir_part){.arg_column = aggregate->arg_column,
                               .filter_column = aggregate->filter_column,
                               .is_distinct = aggregate->is_distinct};
    weir_accumulator_init(
        &part->accumulator, aggregate,
        aggregate->arg_column >= 0 ? &config->input->columns[aggregate->arg_column].type : NULL,
        config->is_input_changing);
}

static inline bool weir_part_needs_entries(const struct weir_part *part)
{
    bool is_extreme = part->accumulator.kind == WEIR_ACCUMULATOR_EXTREME;
    return is_extreme ? part->accumulator.is_changing : part->is_distinct;
}

// A group taken out of the state to be worked on; bytes are the operator's own.
struct weir_group {
    struct weir_group_header header;
    char *slots;
    struct weir_view *tails; // by part
    char *sent_slots;        // NULL: windowed
    struct weir_view *sent_tails;
    struct weir_view spelling; // of the keys (row_codec.h); empty: as they are decoded
};

struct weir_output {
    struct weir_arena *arena;
    struct weir_column *columns; // NULL: no batch begun
    struct weir_column *keys;    // those of the keys, in the order of the state's key
    uint8_t *change;
    int64_t *event_time_us;
    uint32_t row_count;
};

struct weir_aggregator {
    struct weir_operator op; // first: the interface
    struct weir_aggregate_config config;
    struct weir_state *groups;
    uint32_t part_count;
    struct weir_part *parts;
    uint32_t slots_bytes; // of all parts
    uint32_t fixed_bytes; // of a value without its tails
    bool has_tails;
    bool has_entries;
    bool can_fail;
    bool is_in_place; // groups have nothing of varying size

    struct weir_group_keys keys;
    struct weir_state_room *rooms;

    struct weir_group group;
    struct weir_buffer value; // of the group that was loaded
    struct weir_buffer scratch;
    struct weir_buffer spelling;
    struct weir_buffer bound;
    struct weir_arena *arena;       // of the batch under way
    struct weir_arena *parts_arena; // of the operator
    char *backup;
    uint32_t epoch;               // as in a group's header
    struct weir_buffer unsettled; // keys of groups that are empty, or whose extremes are stale
    struct weir_time held_time;   // came while results were being sent
    bool is_time_held;

    // Windows, by key group.
    bool is_windowed;
    bool is_restored;
    bool is_closed_changed;
    struct weir_state *closed;
    int64_t *closed_us;   // windows up to here were sent: rows that come for them are late
    int64_t *next_end_us; // no window ends before; INT64_MIN: not known
    int64_t watermark_us;
    int64_t last_end_us; // of the windows sent

    struct weir_output output;
    struct weir_state_scan found;
    struct weir_state_scan found_entries;
};

// Does the row count for the part: its filter is true, its value not NULL?
static inline bool weir_part_takes(const struct weir_part *part, const struct weir_batch *batch,
                                   uint32_t row)
{
    if (part->filter_column >= 0) {
        const struct weir_column *filter = &batch->columns[part->filter_column];
        if (!weir_column_is_valid(filter, row) || filter->u8[row] == 0) {
            return false;
        }
    }
    return part->arg_column < 0 || weir_column_is_valid(&batch->columns[part->arg_column], row);
}

#define WEIR_GROUP_LATE_MESSAGE "the result of its window is out"

// count: negative for what is taken back.
static inline void weir_group_count_rows(struct weir_group_header *header, int64_t count,
                                         int64_t event_time_us)
{
    header->row_count += count;
    header->event_time_us =
        event_time_us > header->event_time_us ? event_time_us : header->event_time_us;
}

// --- aggregate.c --------------------------------------------------------------------------------

// Was the window sent? (Only a partition that was idle can bring a row for it.)
bool weir_group_is_late(struct weir_aggregator *aggregator, uint16_t key_group, int64_t end_us,
                        int64_t *late_by_ms);

// --- aggregate_merge.c --------------------------------------------------------------------------

// Takes what rows were folded into before the exchange (preaggregate.h).
enum weir_status weir_aggregate_merge(struct weir_aggregator *aggregator,
                                      const struct weir_partials *partials, uint32_t count,
                                      struct weir_error *error);

// --- aggregate_group.c --------------------------------------------------------------------------

// Takes a copy of value bytes apart (NULL data: a group that is not there yet).
void weir_group_load(struct weir_aggregator *aggregator, struct weir_view value);
// The value's bytes themselves, which are only read.
void weir_group_view(struct weir_aggregator *aggregator, struct weir_view value);
// Puts the group that was loaded under the key.
void weir_group_store(struct weir_aggregator *aggregator, const struct weir_state_key *key);

// Before a group is changed, not windowed. True: for the first time in this epoch, so that its
// slots (and tails) are what was sent last.
static inline bool weir_group_begin_epoch(const struct weir_aggregator *aggregator,
                                          struct weir_group_header *header, bool existed)
{
    if (existed && header->epoch == aggregator->epoch) {
        return false;
    }
    header->epoch = aggregator->epoch & WEIR_GROUP_EPOCH_MASK;
    header->is_sent = existed;
    header->is_unsettled = 0;
    return existed;
}

// Notes a group that must be looked at before the barrier, once.
void weir_group_note_unsettled(struct weir_aggregator *aggregator, const struct weir_state_key *key,
                               struct weir_group_header *header);

// --- aggregate_entry.c --------------------------------------------------------------------------

// Keys of the values of all rows of the batch, for every part that keeps them; prefetches.
void weir_entries_begin(struct weir_aggregator *aggregator, const struct weir_batch *batch);
// What the row's value does to the part: sign and column to apply, or nothing (false).
bool weir_entry_take(struct weir_aggregator *aggregator, struct weir_part *part,
                     const struct weir_batch *batch, uint32_t i, int32_t sign,
                     const struct weir_column **arg, uint32_t *arg_row);
// Writes what the row has changed.
void weir_entries_write(struct weir_aggregator *aggregator, const struct weir_batch *batch,
                        uint32_t i);
// Is there a min or max whose value was taken back, in the group that is loaded?
bool weir_entries_are_stale(const struct weir_aggregator *aggregator);
// Looks for what is left of these. False: there was none.
bool weir_entries_refresh(struct weir_aggregator *aggregator, const struct weir_state_key *key);
// Forgets all values of a group.
void weir_entries_remove(struct weir_aggregator *aggregator, const struct weir_state_key *key);

// --- aggregate_output.c -------------------------------------------------------------------------

// Before the barrier: settles what is noted, and begins to send what has changed (is_sending).
enum weir_status weir_aggregate_begin_changes(struct weir_aggregator *aggregator,
                                              struct weir_error *error);
// As in operator.h.
enum weir_status weir_aggregate_send_changes(struct weir_operator *op, struct weir_error *error);
// The end of the window of a group with that key.
int64_t weir_group_window_end_us(const struct weir_aggregator *aggregator,
                                 const struct weir_state_key *key);
enum weir_status weir_aggregate_send_windows(struct weir_aggregator *aggregator,
                                             int64_t watermark_us, struct weir_error *error);

#endif
