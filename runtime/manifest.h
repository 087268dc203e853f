// SPDX-License-Identifier: Apache-2.0
// The manifest of a checkpoint: one small checksummed file that says what checkpoint n consists of.
// It is durable before the transaction that points at it commits. Text, so that an operator can
// read it: a head line with format, checksum and length, then JSON.
#ifndef WEIR_RUNTIME_MANIFEST_H
#define WEIR_RUNTIME_MANIFEST_H

#include "runtime/base/limits.h"
#include "runtime/operator_state.h"
#include "runtime/snapshot.h"
#include "runtime/state.h"

enum { WEIR_MANIFEST_FORMAT = 1 };

// An attempt: one life of one owner, from recovery to recovery. Hex, NUL-terminated.
struct weir_attempt {
    char text[2 * WEIR_ATTEMPT_BYTES + 1];
};

struct weir_attempt weir_attempt_random(void);
static inline bool weir_attempt_equal(const struct weir_attempt *a, const struct weir_attempt *b)
{
    return strcmp(a->text, b->text) == 0;
}

struct weir_manifest_position {
    struct weir_position_entry entry;
    const char *topic_id; // "" where the client cannot tell
};

// One value that an operator keeps in each of its entries (an aggregate of a group), found again by
// what it computes, wherever it stands.
struct weir_manifest_slot {
    uint32_t number;      // its own among all that the operator ever had: names of states have it
    const char *what;     // it computes, as SQL
    const char *argument; // the argument's type; "": none
    const char *form;     // how it lies in an entry; known to the operator
};

// An operator with keyed state, so that a job that has changed since finds its state again, or is
// told what it would lose.
struct weir_manifest_operator {
    const char *stage;  // that its state is a part of
    const char *id;     // stable
    const char *name;   // for people
    const char *layout; // what it keeps, in order: another one cannot read it
    // What of it can be told apart, in the order in which it lies in an entry.
    bool has_slots; // false: an early version did not record them, or it keeps whole rows
    uint32_t slot_count;
    const struct weir_manifest_slot *slots;
};

struct weir_manifest {
    int64_t number;
    struct weir_attempt attempt; // who wrote it
    const char *job_id;
    int32_t instance_id;
    const char *cluster_id;
    const char *kind;    // "start", "checkpoint", "savepoint", "final"
    const char *restore; // WEIR_RESTORE of the run that made it: not obeyed twice
    const char *weir_version;
    int64_t created_ms; // Unix epoch; when its barrier was triggered
    uint32_t parallelism;
    uint32_t position_count;
    const struct weir_manifest_position *positions;
    uint32_t state_count; // one for each task of a keyed stage
    const struct weir_state_handle *states;
    uint32_t operator_count; // 0 also where an early version did not record them
    const struct weir_manifest_operator *operators;
    uint32_t operator_state_count; // 0 also where an early version did not know of them
    const struct weir_operator_state_part *operator_states;
};

struct weir_completed;

// Sets the states, keyed ones and those of operators, to what the tasks have handed in: arrays in
// the arena, whose texts and bytes are those of `completed`.
void weir_manifest_collect_states(struct weir_manifest *manifest,
                                  const struct weir_completed *completed, struct weir_arena *arena);

// Appends the file's bytes.
void weir_manifest_encode(const struct weir_manifest *manifest, struct weir_buffer *out);

// Error (domain STORE, REFUSE): cut, flipped, not a manifest, of a newer format; says which, with
// expected and found values. Strings go to the arena. `name` is for the message.
enum weir_status weir_manifest_decode(const char *name, struct weir_view bytes,
                                      struct weir_arena *arena, struct weir_manifest *manifest,
                                      struct weir_error *error);

#endif
