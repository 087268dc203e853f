// SPDX-License-Identifier: Apache-2.0
// See avro_program.h: records of one program, several at a time. Each instruction is taken once for
// all of them, so that choosing what to do costs little a record, and the reads of one record do
// not wait for those of another: where a value begins is known only when the one before it has been
// read, and that waiting is most of what a record alone costs.
//
// Invariants
// 1. at[i] never passes end[i]: every read is bounded by the record's own end.
// 2. What is not a number, a text or a NULL is read by weir_avro_run, record by record: this file
//    knows the frequent instructions a second time, no others.
// 3. A record that is bad makes the whole call false; which one, and why, is for
//    weir_avro_program_run to say.
#include "kafka/avro_number.h"
#include "kafka/avro_wire.h"
#include "runtime/base/assert.h"
#include <assert.h>

struct lanes {
    struct weir_avro_machine machine; // row and end: of the lane that is read
    uint32_t first_row;
    const uint8_t *at[WEIR_AVRO_LANES_MAX];
    const uint8_t *end[WEIR_AVRO_LANES_MAX];
};

// The lanes that an instruction is for: all, or those whose value is not NULL.
struct active {
    uint32_t count;
    uint8_t idxs[WEIR_AVRO_LANES_MAX];
};

static_assert(WEIR_AVRO_LANES_MAX <= UINT8_MAX, "a lane's number is a byte");

static bool read_longs(struct lanes *lanes, const struct active *active,
                       const struct weir_avro_op *op)
{
    int64_t *values = (int64_t *)lanes->machine.slots[op->slot].data + lanes->first_row;
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = active->idxs[k];
        const uint8_t *p = weir_avro_read_long(lanes->at[i], lanes->end[i], &values[i]);
        if (__builtin_expect(p == NULL, 0)) {
            return false;
        }
        lanes->at[i] = p;
    }
    return true;
}

static bool read_numbers(struct lanes *lanes, const struct active *active,
                         const struct weir_avro_op *op)
{
    struct weir_avro_machine machine = lanes->machine;
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = active->idxs[k];
        int64_t value;
        machine.row = lanes->first_row + i;
        const uint8_t *p = weir_avro_read_long(lanes->at[i], lanes->end[i], &value);
        if (__builtin_expect(p == NULL || !weir_avro_store_number(&machine, op, value), 0)) {
            return false;
        }
        lanes->at[i] = p;
    }
    return true;
}

static bool skip_longs(struct lanes *lanes, const struct active *active, uint32_t count)
{
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = active->idxs[k];
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

static bool read_texts(struct lanes *lanes, const struct active *active,
                       const struct weir_avro_op *op)
{
    struct weir_view *values =
        (struct weir_view *)lanes->machine.slots[op->slot].data + lanes->first_row;
    bool is_text = op->code == WEIR_AVRO_OP_TEXT;
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = active->idxs[k];
        struct weir_view text;
        const uint8_t *end = lanes->end[i];
        const uint8_t *p = weir_avro_read_text(lanes->at[i], end, &text);
        if (__builtin_expect(p == NULL, 0)) {
            return false;
        }
        if (is_text && __builtin_expect(!weir_avro_is_plain(text, end), 0) &&
            !weir_text_validate(text, &lanes->machine.fault->error)) {
            return false;
        }
        values[i] = text;
        lanes->at[i] = p;
    }
    return true;
}

static bool skip_texts(struct lanes *lanes, const struct active *active)
{
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = active->idxs[k];
        struct weir_view text;
        const uint8_t *p = weir_avro_read_text(lanes->at[i], lanes->end[i], &text);
        if (__builtin_expect(p == NULL, 0)) {
            return false;
        }
        lanes->at[i] = p;
    }
    return true;
}

// Instructions op … op_end - 1, record by record.
static bool run_each(struct lanes *lanes, const struct active *active,
                     const struct weir_avro_op *op, const struct weir_avro_op *op_end)
{
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = active->idxs[k];
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
    for (uint32_t k = 0; k < active->count; k++) {
        uint32_t i = active->idxs[k];
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
        weir_bitmap_set(validity, lanes->first_row + active->idxs[k]);
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
        is_good = op->code == WEIR_AVRO_OP_I64 && !op->is_int ? read_longs(lanes, active, op)
                                                              : read_numbers(lanes, active, op);
    } else if (op->code == WEIR_AVRO_OP_TEXT || op->code == WEIR_AVRO_OP_BYTES) {
        is_good = read_texts(lanes, active, op);
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

bool weir_avro_program_run_lanes(const struct weir_avro_program *program,
                                 const struct weir_avro_slot *slots, uint32_t first_row,
                                 uint32_t count, const struct weir_view *bodies,
                                 struct weir_arena *arena)
{
    struct weir_avro_fault fault; // not looked at
    struct lanes lanes;
    struct active all = {.count = count};
    WEIR_ASSERT(count <= WEIR_AVRO_LANES_MAX);
    lanes.machine = (struct weir_avro_machine){.slots = slots, .arena = arena, .fault = &fault};
    lanes.first_row = first_row;
    for (uint32_t i = 0; i < count; i++) {
        all.idxs[i] = (uint8_t)i;
        lanes.at[i] = (const uint8_t *)bodies[i].data;
        lanes.end[i] = lanes.at[i] + bodies[i].size_bytes;
    }
    if (!run_lanes(&lanes, &all, program->ops, program->ops + program->op_count)) {
        return false;
    }
    bool is_good = true;
    for (uint32_t i = 0; i < count; i++) {
        is_good = is_good && lanes.at[i] == lanes.end[i];
    }
    return is_good;
}
