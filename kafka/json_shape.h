// SPDX-License-Identifier: Apache-2.0
// What the scanner looks for in an object: the members that are wanted, each with a slot into which
// the place of its value is noted, and the names that it has met, linked in the order in which they
// came last time. Records of a topic mostly repeat the order of their members, so that a name is
// nearly always found by comparing it with the one expected. Private to the JSON format.
// Thread: the decoder's; a scan changes the links.
#ifndef WEIR_KAFKA_JSON_SHAPE_H
#define WEIR_KAFKA_JSON_SHAPE_H

#include "runtime/base/memory.h"
#include "runtime/batch.h"

enum {
    // Unwanted names that a shape remembers. Once it is full further ones are looked up in vain,
    // at some 10 ns a member.
    WEIR_JSON_LEARNED_MAX = 64,
    WEIR_JSON_LEARNED_NAME_BYTES_MAX = 64,
};

enum weir_json_kind {
    WEIR_JSON_ABSENT = 0,
    WEIR_JSON_NULL,
    WEIR_JSON_FALSE,
    WEIR_JSON_TRUE,
    WEIR_JSON_NUMBER,
    WEIR_JSON_STRING,
    WEIR_JSON_OBJECT,
    WEIR_JSON_ARRAY,
};

// Where a wanted value lies in the text of a record.
struct weir_json_slot {
    const char *data;    // strings: behind the opening quote; else the first byte of the value
    uint32_t size_bytes; // strings: up to the closing quote
    uint8_t kind;        // enum weir_json_kind
    bool is_plain;       // strings: nothing is escaped; numbers: `integer` holds the value
    int64_t integer;
};

struct weir_json_entry {
    uint64_t head;         // the first eight bytes of the name with its quotes, zeros behind
    uint64_t head_mask;    // which bytes of head count
    uint64_t tail;         // the last eight, of names longer than that
    const char *quoted;    // "name" with quotes
    uint32_t quoted_bytes; // UINT32_MAX: needs escapes, so it is not compared but looked up
    uint32_t name_bytes;
    int32_t member_idx;           // -1: not wanted
    struct weir_json_entry *next; // the entry that followed last time
};

struct weir_json_member {
    struct weir_json_shape *shape; // composites; NULL: the value is taken whole
    uint32_t slot_idx;
};

struct weir_json_shape {
    uint32_t member_count;
    struct weir_json_member *members;
    uint32_t slot_first; // slots of the members and of all below them: [slot_first, slot_end)
    uint32_t slot_end;
    struct weir_json_entry *first; // the entry that began the last object
    uint32_t entry_count;
    uint32_t entry_capacity;
    struct weir_json_entry *entries; // entries[0] is never met: it stands for "nothing expected"
    uint32_t table_mask;
    uint16_t *table; // number of the entry by hash of its name, open addressing; 0: free
    struct weir_arena *arena;
};

// The shape for objects with these fields; composites among them get shapes of their own. Slots are
// numbered from *slot_count on, depth first, and *slot_count raised. Memory is the arena's.
struct weir_json_shape *weir_json_shape_create(uint32_t field_count,
                                               const struct weir_field *fields,
                                               uint32_t *slot_count, struct weir_arena *arena);

// The entry of an unescaped name, entries[0] if there is none.
struct weir_json_entry *weir_json_shape_find(const struct weir_json_shape *shape,
                                             struct weir_view name);

// Remembers an unwanted name that stood in a text without escapes. Returns its entry, or entries[0]
// where there is no room.
struct weir_json_entry *weir_json_shape_learn(struct weir_json_shape *shape, struct weir_view name);

#endif
