// SPDX-License-Identifier: Apache-2.0
// The source: reads some partitions of one topic, turns records into batches and pushes them into
// its chain. It is the first node of a task; its positions are the checkpoint's.
#ifndef WEIR_KAFKA_SOURCE_H
#define WEIR_KAFKA_SOURCE_H

#include "kafka/client.h"
#include "kafka/format.h"
#include "runtime/task.h"

struct weir_source_partition {
    int32_t partition;
    int64_t offset;     // the next record to read
    int64_t end_offset; // bounded: read up to here; -1: no end
    // Of the record before `offset`, from the checkpoint; last_offset -1: none.
    int64_t last_offset;
    int64_t last_timestamp_ms;
    uint32_t last_crc32;
    int64_t event_time_us; // the largest one seen before; INT64_MIN: none
    bool is_moved; // not where the checkpoint left it: the first epoch has something to commit
    bool is_quarantined; // not read: its position stays as it is, and no time is waited for
    bool is_left_out;    // quarantined in a run that has an end, which does not wait for it
};

struct weir_source_config {
    const char *id;
    const char *name;
    const char *table;
    const char *topic;
    const struct weir_schema *schema; // the columns that are decoded
    struct weir_decoder *decoder;     // taken over
    struct weir_consumer *consumer;   // taken over
    struct weir_mailbox *mailbox;     // of the task: woken by data
    struct weir_row_error_policy *row_errors;
    uint32_t partition_count;
    const struct weir_source_partition *partitions; // copied
};

// Error: the partitions could not be assigned; what was to be taken over is destroyed.
enum weir_status weir_source_create(const struct weir_source_config *config,
                                    struct weir_source **source, struct weir_error *error);

// Figures of one source. Thread: any.
struct weir_source_stats {
    uint64_t record_count;
    uint64_t byte_count; // keys and values
    uint64_t null_value_count;
};
struct weir_source_stats weir_source_stats(const struct weir_source *source);

// The next offset that is read. Thread: any.
int64_t weir_source_position(const struct weir_source *source, uint32_t partition_idx);

// Is it read up to an end that is known already? Thread: any.
bool weir_source_is_bounded(const struct weir_source *source, uint32_t partition_idx);

// From the next poll on the partition is not read (or is again, from its position), which holds its
// event time back; what was fetched of it is given back. Checkpoints go on. Thread: any.
void weir_source_pause(struct weir_source *source, uint32_t partition_idx, bool is_paused);
bool weir_source_is_paused(const struct weir_source *source, uint32_t partition_idx);

// Is it left alone for as long as the source lives? Thread: any.
bool weir_source_is_quarantined(const struct weir_source *source, uint32_t partition_idx);

// Offsets between the position and the end: where the partition was read to its end, that of what
// is committed upstream, as long as nothing has come since. -1: no broker has told yet.
// Thread: any.
int64_t weir_source_lag(const struct weir_source *source, uint32_t partition_idx);

#endif
