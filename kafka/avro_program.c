// SPDX-License-Identifier: Apache-2.0
// See avro_program.h. One record, one instruction after the other: what is bad, and why; and for
// avro_lanes_run.h the instructions that are rarer than numbers, texts and NULLs.
//
// Invariants
// 1. p never passes machine->end: every read is bounded by it, whatever the bytes say.
// 2. A loop over items passes at least one byte an item, or skips them all at once: the time that a
//    record takes is bounded by its size.
// 3. Recursion is as deep as the writer's schema, which is bounded (WEIR_AVRO_DEPTH_MAX).
#include "kafka/avro_machine.h"
#include "kafka/avro_number.h"
#include "kafka/avro_wire.h"
#include "runtime/types/array.h"
#include "runtime/types/row_codec.h"

enum { EMPTY_ITEMS_MAX = 1024 }; // of one array

__attribute__((cold)) static const uint8_t *fail_range(const struct weir_avro_machine *machine,
                                                       const struct weir_avro_op *op, int64_t value)
{
    char type[128];
    if (op->slot == WEIR_AVRO_NO_SLOT) {
        return weir_avro_fail(machine, op, "%lld is no int", (long long)value);
    }
    return weir_avro_fail(
        machine, op, "value \"%lld\" is out of range for type %s", (long long)value,
        weir_type_name(&machine->slots[op->slot].column->type, type, sizeof type));
}

void weir_avro_set_null(struct weir_column *column, uint32_t row)
{
    if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            weir_avro_set_null(&column->children[i], row);
        }
        return;
    }
    size_t value_bytes = weir_layout_bytes(weir_type_layout(column->type.kind));
    memset((char *)column->data + row * value_bytes, 0, value_bytes);
}

// --- control ---------------------------------------------------------------------------------

static const uint8_t *skip_items(const struct weir_avro_machine *machine,
                                 const struct weir_avro_op *op, const uint8_t *p)
{
    bool is_map = op->number != 0;
    for (;;) {
        int64_t count;
        int64_t size_bytes;
        p = weir_avro_read_block(p, machine->end, &count, &size_bytes);
        if (p == NULL) {
            return weir_avro_fail_short(machine, op);
        }
        if (count == 0) {
            return p;
        }
        if (size_bytes >= 0) {
            p += size_bytes;
            continue;
        }
        // Items without bytes need no loop; all others have one byte at least.
        if (!is_map && op->type->item->least_bytes == 0 && !op->type->item->has_variable_bytes) {
            continue;
        }
        if (count > machine->end - p) {
            return weir_avro_fail_short(machine, op);
        }
        for (int64_t i = 0; i < count; i++) {
            struct weir_view key;
            p = is_map ? weir_avro_read_bytes(p, machine->end, &key) : p;
            if (p == NULL) {
                return weir_avro_fail_short(machine, op);
            }
            p = weir_avro_run(machine, op + 1, op + op->jump, p);
            if (p == NULL) {
                return NULL;
            }
        }
    }
}

static const uint8_t *run_default(const struct weir_avro_machine *machine,
                                  const struct weir_avro_op *op)
{
    const uint8_t *bytes = (const uint8_t *)op->bytes->data;
    struct weir_avro_machine inner = *machine;
    inner.end = bytes + op->bytes->size_bytes;
    return weir_avro_run(&inner, op + 1, op + op->jump, bytes);
}

static const uint8_t *skip_longs(const struct weir_avro_machine *machine,
                                 const struct weir_avro_op *op, const uint8_t *p)
{
    for (uint32_t i = 0; i < op->number; i++) {
        int64_t value;
        p = weir_avro_read_long(p, machine->end, &value);
        if (p == NULL) {
            return weir_avro_fail_short(machine, op);
        }
    }
    return p;
}

static void clear_element(struct weir_column *column)
{
    weir_bitmap_clear(column->validity, 0);
    for (uint32_t i = 0; column->children != NULL && i < column->type.composite->field_count; i++) {
        clear_element(&column->children[i]);
    }
}

// The items of one block, appended to *bytes as elements.
static const uint8_t *read_elements(const struct weir_avro_machine *machine,
                                    const struct weir_avro_op *op, int64_t count,
                                    struct weir_buffer *bytes, const uint8_t *p)
{
    struct weir_column *element = machine->slots[op->slot + 1].column;
    struct weir_avro_machine inner = *machine;
    inner.row = 0;
    for (int64_t i = 0; i < count && p != NULL; i++) {
        clear_element(element);
        p = weir_avro_run(&inner, op + 1, op + op->jump, p);
        if (p != NULL) {
            weir_row_encode(element, 1, 0, bytes);
        }
    }
    return p;
}

static const uint8_t *read_array(const struct weir_avro_machine *machine,
                                 const struct weir_avro_op *op, const uint8_t *p)
{
    struct weir_buffer elements = {0};
    struct weir_buffer value = {0};
    int64_t total = 0;
    int64_t count = 0;
    do {
        int64_t size_bytes;
        p = weir_avro_read_block(p, machine->end, &count, &size_bytes);
        const uint8_t *start = p;
        // Items without bytes are NULLs: a few are taken, not as many as a number can say.
        int64_t most =
            op->type->item->least_bytes == 0 ? EMPTY_ITEMS_MAX - total : machine->end - p;
        if (p == NULL || count > most) {
            p = weir_avro_fail_short(machine, op);
        } else {
            p = read_elements(machine, op, count, &elements, p);
            total += count;
        }
        if (p != NULL && size_bytes >= 0 && p - start != size_bytes) {
            p = weir_avro_fail(machine, op, "a block of items has another size than it says");
        }
    } while (p != NULL && count != 0);
    if (p != NULL && total > WEIR_ARRAY_ELEMENTS_MAX) {
        p = weir_avro_fail(machine, op, "an array has at most %u elements",
                           WEIR_ARRAY_ELEMENTS_MAX);
    }
    if (p != NULL) {
        struct weir_array array = {.dimension_count = total != 0,
                                   .lengths = {(uint32_t)total},
                                   .lower_bounds = {1},
                                   .element_count = (uint32_t)total};
        weir_array_append_header(&value, &array);
        weir_buffer_append(&value, elements.data, elements.size_bytes);
        WEIR_AVRO_SLOT(struct weir_view) =
            weir_arena_copy(machine->arena, (struct weir_view){value.data, value.size_bytes});
    }
    weir_buffer_deinit(&elements);
    weir_buffer_deinit(&value);
    return p;
}

// What is rarer than numbers and texts.
__attribute__((noinline)) static const uint8_t *
run_other(const struct weir_avro_machine *machine, const struct weir_avro_op *op, const uint8_t *p)
{
    switch ((enum weir_avro_op_code)op->code) {
    case WEIR_AVRO_OP_BOOLEAN:
    case WEIR_AVRO_OP_F32:
    case WEIR_AVRO_OP_F32_F64:
    case WEIR_AVRO_OP_F64:
    case WEIR_AVRO_OP_ENUM:
    case WEIR_AVRO_OP_FIXED:
    case WEIR_AVRO_OP_DECIMAL_FIXED:
    case WEIR_AVRO_OP_UUID:
    case WEIR_AVRO_OP_DURATION:
    case WEIR_AVRO_OP_VARCHAR:
    case WEIR_AVRO_OP_DECIMAL:
    case WEIR_AVRO_OP_PARSE:
    case WEIR_AVRO_OP_JSON:
        return weir_avro_read_value(machine, op, p);
    case WEIR_AVRO_OP_ARRAY:
        return read_array(machine, op, p);
    case WEIR_AVRO_OP_SKIP_BYTES:
        return machine->end - p < (ptrdiff_t)op->number ? weir_avro_fail_short(machine, op)
                                                        : p + op->number;
    case WEIR_AVRO_OP_SKIP_LONGS:
        return skip_longs(machine, op, p);
    case WEIR_AVRO_OP_SKIP_ITEMS:
        return skip_items(machine, op, p);
    case WEIR_AVRO_OP_FAIL:
        return weir_avro_fail(machine, op, "%s", op->text);
    case WEIR_AVRO_OP_SET_NULL:
        weir_avro_set_null(machine->slots[op->slot].column, machine->row);
        return p;
    case WEIR_AVRO_OP_DEFAULT:
        return run_default(machine, op) == NULL ? NULL : p;
    case WEIR_AVRO_OP_JUMP:
    case WEIR_AVRO_OP_VALID:
        return p;
    case WEIR_AVRO_OP_SKIP_TEXT:
    case WEIR_AVRO_OP_NULLABLE:
    case WEIR_AVRO_OP_UNION:
    case WEIR_AVRO_OP_I64:
    case WEIR_AVRO_OP_I32:
    case WEIR_AVRO_OP_I16:
    case WEIR_AVRO_OP_INTEGER_F32:
    case WEIR_AVRO_OP_INTEGER_F64:
    case WEIR_AVRO_OP_INTEGER_NUMERIC:
    case WEIR_AVRO_OP_DATE:
    case WEIR_AVRO_OP_TIME:
    case WEIR_AVRO_OP_TIMESTAMP:
    case WEIR_AVRO_OP_TEXT:
    case WEIR_AVRO_OP_BYTES:
        break;
    }
    WEIR_ASSERT(!"run does these");
}

// The number of a branch; NULL: there is none of that number.
static inline const uint8_t *read_branch(const struct weir_avro_machine *machine,
                                         const struct weir_avro_op *op, uint32_t branch_count,
                                         const uint8_t *p, int64_t *branch)
{
    p = weir_avro_read_short(p, machine->end, branch);
    if (__builtin_expect(p == NULL, 0)) {
        return weir_avro_fail_short(machine, op);
    }
    if (__builtin_expect(*branch < 0 || *branch >= (int64_t)branch_count, 0)) {
        return weir_avro_fail(machine, op, "branch %lld of a union of %u", (long long)*branch,
                              branch_count);
    }
    return p;
}

// A text or bytes, or what is passed over of these.
static inline const uint8_t *read_text(const struct weir_avro_machine *machine,
                                       const struct weir_avro_op *op, const uint8_t *p)
{
    struct weir_view text;
    p = weir_avro_read_bytes(p, machine->end, &text);
    if (__builtin_expect(p == NULL, 0)) {
        return weir_avro_fail_short(machine, op);
    }
    if (op->code == WEIR_AVRO_OP_SKIP_TEXT) {
        return p;
    }
    if (op->code == WEIR_AVRO_OP_TEXT &&
        __builtin_expect(!weir_avro_is_plain(text, machine->end), 0) &&
        !weir_text_validate(text, &machine->fault->error)) {
        return weir_avro_fail_value(machine, op);
    }
    WEIR_AVRO_SLOT(struct weir_view) = text;
    return p;
}

static inline const uint8_t *read_number(const struct weir_avro_machine *machine,
                                         const struct weir_avro_op *op, const uint8_t *p)
{
    int64_t number;
    p = weir_avro_read_long(p, machine->end, &number);
    if (__builtin_expect(p == NULL, 0)) {
        return weir_avro_fail_short(machine, op);
    }
    return __builtin_expect(weir_avro_store_number(machine, op, number), 1)
               ? p
               : fail_range(machine, op, number);
}

// How many instructions to go on by.
static inline uint32_t step_of(const struct weir_avro_machine *machine,
                               const struct weir_avro_op *op, int64_t branch)
{
    if (op->code == WEIR_AVRO_OP_UNION) {
        return op->targets[branch];
    }
    if ((uint32_t)branch != op->number) {
        return 1; // the value follows
    }
    if (op->slot != WEIR_AVRO_NO_SLOT) {
        weir_avro_set_null(machine->slots[op->slot].column, machine->row);
    }
    return op->jump;
}

const uint8_t *weir_avro_run(const struct weir_avro_machine *machine, const struct weir_avro_op *op,
                             const struct weir_avro_op *op_end, const uint8_t *p)
{
    int64_t number;
    while (op < op_end) {
        uint32_t step = 1;
        if (op->code <= WEIR_AVRO_OP_TIMESTAMP && op->code >= WEIR_AVRO_OP_I64) {
            p = read_number(machine, op, p);
        } else if (op->code == WEIR_AVRO_OP_TEXT || op->code == WEIR_AVRO_OP_BYTES ||
                   op->code == WEIR_AVRO_OP_SKIP_TEXT) {
            p = read_text(machine, op, p);
        } else if (op->code == WEIR_AVRO_OP_NULLABLE || op->code == WEIR_AVRO_OP_UNION) {
            p = read_branch(machine, op, op->code == WEIR_AVRO_OP_UNION ? op->number : 2, p,
                            &number);
            if (__builtin_expect(p == NULL, 0)) {
                return NULL;
            }
            step = step_of(machine, op, number);
        } else {
            p = run_other(machine, op, p);
            step = op->jump != 0 ? op->jump : 1;
        }
        if (__builtin_expect(p == NULL, 0)) {
            return NULL;
        }
        if (op->sets_valid) {
            weir_bitmap_set(machine->slots[op->slot].validity, machine->row);
        }
        op += step;
    }
    return p;
}

bool weir_avro_program_run(const struct weir_avro_program *program,
                           const struct weir_avro_slot *slots, uint32_t row, struct weir_view body,
                           struct weir_arena *arena, struct weir_avro_fault *fault)
{
    const uint8_t *p = (const uint8_t *)body.data;
    struct weir_avro_machine machine = {
        .end = p + body.size_bytes, .slots = slots, .row = row, .arena = arena, .fault = fault};
    fault->reason = WEIR_ROW_ERROR_DECODE;
    fault->error.detail[0] = '\0';
    fault->path = NULL;
    p = weir_avro_run(&machine, program->ops, program->ops + program->op_count, p);
    if (p == machine.end) {
        return true;
    }
    if (p != NULL) {
        weir_value_error_set(&fault->error,
                             "%zu bytes are left behind the record: it was written with another "
                             "schema than its id says",
                             (size_t)(machine.end - p));
    }
    return false;
}
