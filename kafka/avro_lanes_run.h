// SPDX-License-Identifier: Apache-2.0
// See avro_lanes.h: the code, which is compiled once for every processor (avro_lanes.c) and once
// for those with wide vectors (avro_lanes_v3.c). Each instruction is taken once for all records, so
// that choosing what to do costs little a record, and the reads of one record do not wait for those
// of another: where a value begins is known only when the one before it has been read, and that
// waiting is most of what a record alone costs. Nothing here names a processor: vectors are those
// of the C compilers, loops over arrays are left to them.
//
// Invariants
// 1. at[i] never passes end[i]: every read is bounded by the record's own end. What is read in
//    blocks of eight bytes or more is so only where as many are left of the record.
// 2. What is not a number, a text or a NULL is read by weir_avro_run, record by record: this file
//    knows the frequent instructions a second time, no others.
// 3. A record that is bad makes the whole call false; which one, and why, is for
//    weir_avro_program_run to say.
#ifndef WEIR_KAFKA_AVRO_LANES_RUN_H
#define WEIR_KAFKA_AVRO_LANES_RUN_H

#include "kafka/avro_lanes.h"
#include "kafka/avro_number.h"
#include "kafka/avro_wire.h"
#include "runtime/base/assert.h"

#include <assert.h>

struct lanes {
    struct weir_avro_machine machine; // row and end: of the lane that is read
    uint32_t first_row;
    const uint8_t *at[WEIR_AVRO_LANES_MAX];
    const uint8_t *end[WEIR_AVRO_LANES_MAX];
    uintptr_t last_word[WEIR_AVRO_LANES_MAX]; // up to there eight bytes of the record are left
};

// The lanes that an instruction is for: all, or those whose value is not NULL.
struct active {
    uint32_t count;
    bool is_all;
    uint8_t idxs[WEIR_AVRO_LANES_MAX];
};

static_assert(WEIR_AVRO_LANES_MAX <= UINT8_MAX, "a lane's number is a byte");

// is_all is a constant wherever this is used: that all lanes are active is nearly always so, and
// saves an eighth of the instructions.
static inline uint32_t lane_of(const struct active *active, bool is_all, uint32_t k)
{
    return is_all ? k : active->idxs[k];
}

// --- numbers ---------------------------------------------------------------------------------

// The value of the active lane k to values[k], in two passes: where each varint ends, lane by lane;
// and what it says, which is arithmetic on arrays, that compilers do for several of them at once.
__attribute__((always_inline)) static inline bool read_longs_of(struct lanes *lanes,
                                                                const struct active *active,
                                                                bool is_all,
                                                                int64_t *restrict values)
{
    uint64_t groups[WEIR_AVRO_LANES_MAX];
    uint32_t slow_count = 0;
    uint8_t slow[WEIR_AVRO_LANES_MAX];
    int64_t slow_values[WEIR_AVRO_LANES_MAX];
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, is_all, k);
        const uint8_t *p = lanes->at[i];
        uint64_t stops = 0;
        if (__builtin_expect((uintptr_t)p <= lanes->last_word[i], 1)) {
            groups[k] = weir_avro_load_groups(p, &stops);
        }
        if (__builtin_expect(stops != 0, 1)) {
            lanes->at[i] = p + weir_avro_groups_bytes(stops);
            continue;
        }
        groups[k] = 0;
        slow[slow_count] = (uint8_t)k;
        lanes->at[i] = weir_avro_read_long_slow(p, lanes->end[i], &slow_values[slow_count++]);
        if (lanes->at[i] == NULL) {
            return false;
        }
    }
    for (uint32_t k = 0; k < active->count; k++) {
        values[k] = weir_avro_groups_value(groups[k]);
    }
    for (uint32_t j = 0; j < slow_count; j++) {
        values[slow[j]] = slow_values[j];
    }
    return true;
}

static bool read_longs(struct lanes *lanes, const struct active *active, int64_t *restrict values)
{
    return active->is_all ? read_longs_of(lanes, active, true, values)
                          : read_longs_of(lanes, active, false, values);
}

static bool store_timestamps(const struct lanes *lanes, const struct active *active,
                             const struct weir_avro_op *op, const int64_t *values)
{
    int64_t *us = (int64_t *)lanes->machine.slots[op->slot].data + lanes->first_row;
    const uint32_t digits = op->number;
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, active->is_all, k);
        if (__builtin_expect(!weir_timestamp_from_unix(values[k], digits, &us[i]), 0)) {
            return false;
        }
    }
    return true;
}

static bool read_numbers(struct lanes *lanes, const struct active *active,
                         const struct weir_avro_op *op)
{
    int64_t values[WEIR_AVRO_LANES_MAX];
    struct weir_avro_machine machine = lanes->machine;
    if (op->code == WEIR_AVRO_OP_I64 && !op->is_int && active->is_all) {
        return read_longs(lanes, active,
                          (int64_t *)machine.slots[op->slot].data + lanes->first_row);
    }
    if (!read_longs(lanes, active, values)) {
        return false;
    }
    if (op->code == WEIR_AVRO_OP_TIMESTAMP) {
        return store_timestamps(lanes, active, op, values);
    }
    for (uint32_t k = 0; k < active->count; k++) {
        machine.row = lanes->first_row + lane_of(active, active->is_all, k);
        if (__builtin_expect(!weir_avro_store_number(&machine, op, values[k]), 0)) {
            return false;
        }
    }
    return true;
}

static bool skip_longs(struct lanes *lanes, const struct active *active, uint32_t count)
{
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, active->is_all, k);
        const uint8_t *p = lanes->at[i];
        int64_t value;
        for (uint32_t j = 0; j < count && p != NULL; j++) {
            p = weir_avro_read_long(p, lanes->end[i], &value);
        }
        if (__builtin_expect(p == NULL, 0)) {
            return false;
        }
        lanes->at[i] = p;
    }
    return true;
}

// --- texts -----------------------------------------------------------------------------------

// The next text of lane i, of which WEIR_AVRO_PLAIN_BYTES may be read even if it is shorter. False:
// that is not so, or its length takes more than two bytes, or there is none. Whether it takes one
// or two is no branch, as that cannot be foreseen where texts are about 64 bytes long.
__attribute__((always_inline)) static inline bool read_text_fast(struct lanes *lanes, uint32_t i,
                                                                 struct weir_view *text)
{
    const uint8_t *p = lanes->at[i];
    ptrdiff_t left_bytes = lanes->end[i] - p;
    if (__builtin_expect(left_bytes < WEIR_AVRO_PLAIN_BYTES + 2, 0)) {
        return false;
    }
    uint32_t word = weir_avro_load_u16(p);
    uint32_t has_two = word >> 7 & 1;
    uint32_t zigzag = (word & 0x7fu) | (word >> 1 & 0x3f80u & -has_two);
    uint32_t size_bytes = zigzag >> 1 | zigzag << 31; // what is negative becomes too long
    p += 1 + has_two;
    left_bytes -= 1 + (ptrdiff_t)has_two;
    if (__builtin_expect((word & 0x8080) == 0x8080 || size_bytes > left_bytes, 0)) {
        return false;
    }
    *text = (struct weir_view){.data = (const char *)p, .size_bytes = size_bytes};
    lanes->at[i] = p + size_bytes;
    return true;
}

static bool read_text_slow(struct lanes *lanes, uint32_t i, struct weir_view *text)
{
    lanes->at[i] = weir_avro_read_bytes(lanes->at[i], lanes->end[i], text);
    return lanes->at[i] != NULL;
}

static inline bool read_text(struct lanes *lanes, uint32_t i, struct weir_view *text)
{
    return __builtin_expect(read_text_fast(lanes, i, text), 1) || read_text_slow(lanes, i, text);
}

// None of the active lanes has a text that is no UTF-8.
static bool check_texts(const struct lanes *lanes, const struct active *active,
                        const struct weir_view *values)
{
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, active->is_all, k);
        if (!weir_avro_is_plain(values[i], lanes->end[i]) &&
            !weir_text_validate(values[i], &lanes->machine.fault->error)) {
            return false;
        }
    }
    return true;
}

// All of them are looked at together whether they are plain, which nearly all are.
__attribute__((always_inline)) static inline bool read_texts_of(struct lanes *lanes,
                                                                const struct active *active,
                                                                bool is_all,
                                                                struct weir_view *values)
{
    weir_avro_plain is_plain = (weir_avro_plain){0} == 0;
    bool is_odd = false;
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, is_all, k);
        if (__builtin_expect(read_text_fast(lanes, i, &values[i]), 1)) {
            is_plain &= weir_avro_plain_text(values[i]);
            continue;
        }
        if (!read_text_slow(lanes, i, &values[i])) {
            return false;
        }
        is_odd |= !weir_avro_is_plain(values[i], lanes->end[i]);
    }
    return (!is_odd && weir_avro_is_all_plain(is_plain)) || check_texts(lanes, active, values);
}

static bool read_texts(struct lanes *lanes, const struct active *active,
                       const struct weir_avro_op *op)
{
    struct weir_view *values =
        (struct weir_view *)lanes->machine.slots[op->slot].data + lanes->first_row;
    return active->is_all ? read_texts_of(lanes, active, true, values)
                          : read_texts_of(lanes, active, false, values);
}

static bool read_bytes(struct lanes *lanes, const struct active *active,
                       const struct weir_avro_op *op)
{
    struct weir_view *values =
        (struct weir_view *)lanes->machine.slots[op->slot].data + lanes->first_row;
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, active->is_all, k);
        if (!read_text(lanes, i, &values[i])) {
            return false;
        }
    }
    return true;
}

static bool skip_texts(struct lanes *lanes, const struct active *active)
{
    for (uint32_t k = 0; k < active->count; k++) {
        struct weir_view text;
        if (!read_text(lanes, lane_of(active, active->is_all, k), &text)) {
            return false;
        }
    }
    return true;
}

// Instructions op … op_end - 1, record by record.
static bool run_each(struct lanes *lanes, const struct active *active,
                     const struct weir_avro_op *op, const struct weir_avro_op *op_end)
{
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, active->is_all, k);
        lanes->machine.row = lanes->first_row + i;
        lanes->machine.end = lanes->end[i];
        lanes->at[i] = weir_avro_run(&lanes->machine, op, op_end, lanes->at[i]);
        if (lanes->at[i] == NULL) {
            return false;
        }
    }
    return true;
}

// The lanes whose branch is not null.
static bool read_branches(struct lanes *lanes, const struct active *active,
                          const struct weir_avro_op *op, struct active *others)
{
    others->count = 0;
    others->is_all = false;
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = lane_of(active, active->is_all, k);
        int64_t branch;
        const uint8_t *p = weir_avro_read_short(lanes->at[i], lanes->end[i], &branch);
        if (__builtin_expect(p == NULL || (uint64_t)branch > 1, 0)) {
            return false;
        }
        lanes->at[i] = p;
        bool is_null = (uint32_t)branch == op->number;
        others->idxs[others->count] = (uint8_t)i;
        others->count += !is_null;
        if (is_null && op->slot != WEIR_AVRO_NO_SLOT) {
            weir_avro_set_null(lanes->machine.slots[op->slot].column, lanes->first_row + i);
        }
    }
    return true;
}

static void set_valid(const struct lanes *lanes, const struct active *active,
                      const struct weir_avro_op *op)
{
    uint64_t *validity = lanes->machine.slots[op->slot].validity;
    for (uint32_t k = 0; k < active->count; k++) {
        weir_bitmap_set(validity, lanes->first_row + lane_of(active, active->is_all, k));
    }
}

static bool run_lanes(struct lanes *lanes, const struct active *active,
                      const struct weir_avro_op *op, const struct weir_avro_op *op_end);

// One instruction, with what belongs to it up to `next`.
static bool step(struct lanes *lanes, const struct active *active, const struct weir_avro_op *op,
                 const struct weir_avro_op *next)
{
    struct active others;
    bool is_good;
    if (op->code >= WEIR_AVRO_OP_I64 && op->code <= WEIR_AVRO_OP_TIMESTAMP) {
        is_good = read_numbers(lanes, active, op);
    } else if (op->code == WEIR_AVRO_OP_TEXT) {
        is_good = read_texts(lanes, active, op);
    } else if (op->code == WEIR_AVRO_OP_BYTES) {
        is_good = read_bytes(lanes, active, op);
    } else if (op->code == WEIR_AVRO_OP_SKIP_TEXT) {
        return skip_texts(lanes, active);
    } else if (op->code == WEIR_AVRO_OP_SKIP_LONGS) {
        return skip_longs(lanes, active, op->number);
    } else if (op->code == WEIR_AVRO_OP_NULLABLE) {
        return read_branches(lanes, active, op, &others) && run_lanes(lanes, &others, op + 1, next);
    } else {
        return run_each(lanes, active, op, next); // sets the bits, too
    }
    if (is_good && op->sets_valid) {
        set_valid(lanes, active, op);
    }
    return is_good;
}

static bool run_lanes(struct lanes *lanes, const struct active *active,
                      const struct weir_avro_op *op, const struct weir_avro_op *op_end)
{
    while (op < op_end) {
        const struct weir_avro_op *next = op + (op->jump != 0 ? op->jump : 1);
        if (!step(lanes, active, op, next)) {
            return false;
        }
        op = next;
    }
    return true;
}

// The name of each compilation is what calls this.
static inline bool run_all(const struct weir_avro_program *program,
                           const struct weir_avro_slot *slots, uint32_t first_row, uint32_t count,
                           const struct weir_view *bodies, struct weir_arena *arena)
{
    struct weir_avro_fault fault; // not looked at
    struct lanes lanes;
    struct active all = {.count = count, .is_all = true};
    WEIR_ASSERT(count <= WEIR_AVRO_LANES_MAX);
    lanes.machine = (struct weir_avro_machine){.slots = slots, .arena = arena, .fault = &fault};
    lanes.first_row = first_row;
    for (uint32_t i = 0; i < count; i++) {
        lanes.at[i] = (const uint8_t *)bodies[i].data;
        lanes.end[i] = lanes.at[i] + bodies[i].size_bytes;
        lanes.last_word[i] = (uintptr_t)lanes.end[i] - 8;
    }
    if (!run_lanes(&lanes, &all, program->ops, program->ops + program->op_count)) {
        return false;
    }
    uint64_t left_bytes = 0; // of any
    for (uint32_t i = 0; i < count; i++) {
        left_bytes |= (uint64_t)(lanes.end[i] - lanes.at[i]);
    }
    return left_bytes == 0;
}

#endif
