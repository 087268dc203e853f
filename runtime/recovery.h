// SPDX-License-Identifier: Apache-2.0
// The recovery decision: from what was found in Kafka and in the checkpoint store to what is done,
// as one pure function (the table of docs/commit.md, line by line). It asks nobody, changes
// nothing and never guesses: what does not fit is refused with the way out.
#ifndef WEIR_RUNTIME_RECOVERY_H
#define WEIR_RUNTIME_RECOVERY_H

#include "runtime/manifest.h"
#include "runtime/store.h"

// The pointer: committed together with an offset, it names the checkpoint that the offset is of.
struct weir_pointer {
    int64_t number;
    struct weir_attempt manifest_attempt; // whose manifest of that number
    struct weir_attempt owner_attempt;    // who committed it: tells owners apart
};

enum weir_pointer_state {
    WEIR_POINTER_ABSENT,  // nothing is committed for this partition
    WEIR_POINTER_PRESENT, //
    WEIR_POINTER_FOREIGN, // an offset is committed, but not by weir
};

enum weir_last_record {
    WEIR_LAST_RECORD_UNKNOWN,   // nothing was read yet, or it is gone (retention, compaction)
    WEIR_LAST_RECORD_SAME,      // offset, timestamp and checksum as in the manifest
    WEIR_LAST_RECORD_DIFFERENT, // another record is at that offset
};

// One partition of one source table of the job.
struct weir_found_partition {
    const char *table;
    const char *topic;
    int32_t partition;
    bool can_skip_missing; // on_missing = 'continue'
    bool is_reset;         // its position is given up on purpose: what is there does not matter
    enum weir_pointer_state pointer_state;
    struct weir_pointer pointer;
    int64_t committed_offset;
    int64_t low_offset;   // first record that is there
    int64_t high_offset;  // end of the partition; INT64_MAX: in quarantine, nobody was asked
    const char *topic_id; // "" where the client cannot tell
    enum weir_last_record last_record;
};

enum weir_manifest_state {
    WEIR_MANIFEST_INTACT,
    WEIR_MANIFEST_BROKEN, // damaged, of a newer format, unreadable: error_text says which
};

struct weir_found_manifest {
    int64_t number;
    struct weir_attempt attempt;
    enum weir_manifest_state state;
    const char *error_text;
    const struct weir_manifest *manifest; // INTACT only
};

struct weir_found {
    const char *job_id;
    int32_t instance_id;
    const char *cluster_id;
    const char *store_path;
    const char *restore; // WEIR_RESTORE: "auto", "discard:<word>" or "savepoint:<path>"
    const struct weir_manifest *savepoint; // of WEIR_RESTORE, where it is still to be obeyed
    bool is_reset; // a position is: the checkpoint is gone on from under a new number
    uint32_t partition_count;
    const struct weir_found_partition *partitions;
    uint32_t manifest_count; // sorted as weir_store_list gives them
    const struct weir_found_manifest *manifests;
};

enum weir_recovery_kind {
    WEIR_RECOVERY_FRESH,   // resolve positions, write the start manifest `number`, claim it
    WEIR_RECOVERY_RESTORE, // claim manifest `number` of `attempt`, go on with number + 1
    // Write the start manifest `number`, claim it: the state is that of `manifest`, a savepoint's
    // or (is_reset) the pointer's.
    WEIR_RECOVERY_REWIND,
    WEIR_RECOVERY_REFUSE, // exit 2 with the error
};

// Why it is refused (closed set).
enum weir_recovery_refusal {
    WEIR_REFUSAL_NONE,
    WEIR_REFUSAL_POINTER_LOST,     // later checkpoints, but no pointer
    WEIR_REFUSAL_OFFSETS_FOREIGN,  // offsets that weir did not commit
    WEIR_REFUSAL_MANIFEST_MISSING, // the pointer names a checkpoint that is not here
    WEIR_REFUSAL_MANIFEST_BROKEN,
    WEIR_REFUSAL_OTHER_CLUSTER,
    WEIR_REFUSAL_OTHER_JOB,        // none of the manifest's topics is one of the job's
    WEIR_REFUSAL_POSITION_DIFFERS, // committed offset and manifest disagree
    WEIR_REFUSAL_PARTITION_POINTER_LOST,
    WEIR_REFUSAL_PARTITION_GONE,  // known to the manifest, no longer in the topic
    WEIR_REFUSAL_TOPIC_ANEW,      // position beyond the end, another last record, another topic id
    WEIR_REFUSAL_RECORDS_MISSING, // removed before they were read
};

enum weir_start_kind {
    WEIR_START_AT_OFFSET, // `offset`
    WEIR_START_EARLIEST,  // a partition that appeared after the job's first start
    WEIR_START_TABLE,     // a table that the checkpoint does not know: its own `start`
    WEIR_START_RESET,     // where the one who resets it says
};

struct weir_partition_decision {
    enum weir_start_kind kind;
    int64_t offset;
    int64_t missing_count; // records that are skipped (on_missing = 'continue')
    const struct weir_manifest_position *position; // of the manifest; NULL: it does not know it
};

struct weir_recovery {
    enum weir_recovery_kind kind;
    enum weir_recovery_refusal refusal;
    bool is_discarded;           // FRESH because of WEIR_RESTORE=discard
    int64_t number;              // FRESH, REWIND: of the start manifest; RESTORE: of the checkpoint
    struct weir_attempt attempt; // RESTORE: of its manifest
    const struct weir_manifest *manifest; // RESTORE; REWIND: the savepoint's
};

// decisions: partition_count of them, filled for RESTORE and REWIND (FRESH: every partition by its
// table's start). On REFUSE *error (domain STORE or KAFKA, action REFUSE) says what was found and
// what the operator can do, and WEIR_ERROR is returned.
enum weir_status weir_recovery_decide(const struct weir_found *found,
                                      struct weir_recovery *recovery,
                                      struct weir_partition_decision *decisions,
                                      struct weir_error *error);

// Is the manifest one of this job on this cluster? Part of the decision, and of the look before it:
// asks only for cluster id, store path, job id and the tables' topics. Fills recovery on REFUSE.
enum weir_status weir_recovery_check_identity(const struct weir_found *found,
                                              const struct weir_manifest *manifest,
                                              struct weir_recovery *recovery,
                                              struct weir_error *error);

// Is WEIR_RESTORE still to be obeyed? Not when the manifest that the pointer names was made by a
// run that has obeyed it. Without a pointer (NULL), and with a manifest that cannot be read (NULL),
// the operator's word counts.
bool weir_restore_is_due(const char *restore, const struct weir_manifest *pointed);

// The greatest pointer of all partitions; NULL: there is none.
const struct weir_pointer *weir_pointer_greatest(const struct weir_found *found);

// The manifest entry of a partition: of the same table, else of any table with that topic.
const struct weir_manifest_position *
weir_manifest_find_position(const struct weir_manifest *manifest, const char *table,
                            const char *topic, int32_t partition);

// What is committed to Kafka for a topic's partition: the least position of all tables that read
// it.
int64_t weir_manifest_committed_offset(const struct weir_manifest *manifest, const char *topic,
                                       int32_t partition);

const char *weir_recovery_refusal_name(enum weir_recovery_refusal refusal);

#endif
