// SPDX-License-Identifier: Apache-2.0
// See avro_program.h. The innermost loop of reading Avro: one instruction a field.
//
// Invariants
// 1. p never passes machine->end: every read is bounded by it, whatever the bytes say.
// 2. A loop over items passes at least one byte an item, or skips them all at once: the time that a
//    record takes is bounded by its size.
// 3. Recursion is as deep as the writer's schema, which is bounded (WEIR_AVRO_DEPTH_MAX).
#include "kafka/avro_json.h"
#include "kafka/avro_op.h"
#include "kafka/avro_wire.h"
#include "runtime/types/datetime.h"
#include "runtime/types/jsonb.h"

enum { DATE_SHIFT_DAYS = 10957 }; // from 1970-01-01 to 2000-01-01

struct machine {
    const uint8_t *end;
    const struct weir_avro_slot *slots;
    uint32_t row;
    struct weir_arena *arena;
    struct weir_avro_fault *fault;
};

__attribute__((cold, format(printf, 3, 4))) static const uint8_t *
fail(const struct machine *machine, const struct weir_avro_op *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[WEIR_VALUE_ERROR_TEXT_BYTES_MAX];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    machine->fault->path = op->path;
    weir_value_error_set(&machine->fault->error, "%s", text);
    return NULL;
}

// The value error is set already.
__attribute__((cold)) static const uint8_t *fail_value(const struct machine *machine,
                                                       const struct weir_avro_op *op)
{
    machine->fault->path = op->path;
    return NULL;
}

__attribute__((cold)) static const uint8_t *fail_short(const struct machine *machine,
                                                       const struct weir_avro_op *op)
{
    return fail(machine, op, "the record ends within a value, or a length is wrong");
}

__attribute__((cold)) static const uint8_t *fail_range(const struct machine *machine,
                                                       const struct weir_avro_op *op, int64_t value)
{
    char type[128];
    if (op->slot == WEIR_AVRO_NO_SLOT) {
        return fail(machine, op, "%lld is no int", (long long)value);
    }
    return fail(machine, op, "value \"%lld\" is out of range for type %s", (long long)value,
                weir_type_name(&machine->slots[op->slot].column->type, type, sizeof type));
}

static void set_null(struct weir_column *column, uint32_t row)
{
    if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            set_null(&column->children[i], row);
        }
        return;
    }
    size_t value_bytes = weir_layout_bytes(weir_type_layout(column->type.kind));
    memset((char *)column->data + row * value_bytes, 0, value_bytes);
}

// --- values ----------------------------------------------------------------------------------

static bool store_text(const struct machine *machine, const struct weir_avro_op *op,
                       struct weir_view text)
{
    if (__builtin_expect(!weir_avro_is_plain(text), 0) &&
        !weir_text_validate(text, &machine->fault->error)) {
        return false;
    }
    ((struct weir_view *)machine->slots[op->slot].data)[machine->row] = text;
    return true;
}

static bool store_varchar(const struct machine *machine, const struct weir_avro_op *op,
                          struct weir_view text)
{
    struct weir_view *out = &((struct weir_view *)machine->slots[op->slot].data)[machine->row];
    if (!store_text(machine, op, text)) {
        return false;
    }
    if (!weir_varchar_fit(text, (int32_t)op->number, out, &machine->fault->error)) {
        machine->fault->reason = WEIR_ROW_ERROR_CONSTRAINT;
        return false;
    }
    return true;
}

static bool store_numeric(const struct machine *machine, const struct weir_avro_op *op,
                          struct weir_numeric value)
{
    const struct weir_avro_slot *slot = &machine->slots[op->slot];
    struct weir_numeric *out = &((struct weir_numeric *)slot->data)[machine->row];
    *out = value;
    return slot->column->type.modifier < 0 ||
           weir_numeric_apply_modifier(value, slot->column->type.modifier, machine->arena, out,
                                       &machine->fault->error);
}

static bool store_decimal(const struct machine *machine, const struct weir_avro_op *op,
                          struct weir_view bytes)
{
    struct weir_numeric value;
    if (!weir_numeric_from_unscaled_bytes(bytes, (uint16_t)op->number, machine->arena, &value)) {
        return weir_value_error_set(&machine->fault->error, "a decimal has no bytes");
    }
    return store_numeric(machine, op, value);
}

static bool store_date(const struct machine *machine, const struct weir_avro_op *op, int64_t days)
{
    int64_t shifted = days - DATE_SHIFT_DAYS;
    if (days < INT32_MIN || days > INT32_MAX || shifted < WEIR_DATE_MIN_DAYS ||
        shifted >= WEIR_DATE_END_DAYS) {
        return false;
    }
    ((int32_t *)machine->slots[op->slot].data)[machine->row] = (int32_t)shifted;
    return true;
}

static inline bool store_timestamp(const struct machine *machine, const struct weir_avro_op *op,
                                   int64_t value)
{
    static const int64_t factors[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    int64_t us;
    if (op->number > 6) { // nanoseconds: halves away from zero, as JSON has it
        int64_t half = value < 0 ? -500 : 500;
        us = value / 1000 + (value % 1000 + half) / 1000;
    } else if (__builtin_mul_overflow(value, factors[op->number], &us)) {
        return false;
    }
    if (__builtin_sub_overflow(us, WEIR_EPOCH_SHIFT_US, &us) || !weir_timestamp_is_valid(us)) {
        return false;
    }
    ((int64_t *)machine->slots[op->slot].data)[machine->row] = us;
    return true;
}

static const uint8_t *store_json(const struct machine *machine, const struct weir_avro_op *op,
                                 const uint8_t *p)
{
    struct weir_buffer text = {0};
    const char *why = NULL;
    p = weir_avro_append_json(op->type, p, machine->end, &text, &why);
    struct weir_view *out = &((struct weir_view *)machine->slots[op->slot].data)[machine->row];
    if (p == NULL) {
        fail(machine, op, "%s", why);
    } else if (!weir_jsonb_parse((struct weir_view){text.data, text.size_bytes}, machine->arena,
                                 out, &machine->fault->error)) {
        p = fail_value(machine, op);
    }
    weir_buffer_deinit(&text);
    return p;
}

// --- control ---------------------------------------------------------------------------------

static const uint8_t *run(const struct machine *machine, const struct weir_avro_op *op,
                          const struct weir_avro_op *op_end, const uint8_t *p);

static const uint8_t *skip_items(const struct machine *machine, const struct weir_avro_op *op,
                                 const uint8_t *p)
{
    bool is_map = op->number != 0;
    for (;;) {
        int64_t count;
        int64_t size_bytes;
        p = weir_avro_read_block(p, machine->end, &count, &size_bytes);
        if (p == NULL) {
            return fail_short(machine, op);
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
            return fail_short(machine, op);
        }
        for (int64_t i = 0; i < count; i++) {
            struct weir_view key;
            p = is_map ? weir_avro_read_bytes(p, machine->end, &key) : p;
            if (p == NULL) {
                return fail_short(machine, op);
            }
            p = run(machine, op + 1, op + op->jump, p);
            if (p == NULL) {
                return NULL;
            }
        }
    }
}

static const uint8_t *run_default(const struct machine *machine, const struct weir_avro_op *op)
{
    const uint8_t *bytes = (const uint8_t *)op->bytes->data;
    struct machine inner = *machine;
    inner.end = bytes + op->bytes->size_bytes;
    return run(&inner, op + 1, op + op->jump, bytes);
}

#define SLOT(type) ((type *)machine->slots[op->slot].data)[machine->row]

// Numbers: all of them are read as a varint.
static inline bool store_number(const struct machine *machine, const struct weir_avro_op *op,
                                int64_t value)
{
    if (op->is_int && value != (int32_t)value) {
        return false;
    }
    switch ((int)op->code) {
    case WEIR_AVRO_OP_I64:
        SLOT(int64_t) = value;
        return true;
    case WEIR_AVRO_OP_I32:
        SLOT(int32_t) = (int32_t)value;
        return value == (int32_t)value;
    case WEIR_AVRO_OP_I16:
        SLOT(int16_t) = (int16_t)value;
        return value == (int16_t)value;
    case WEIR_AVRO_OP_INTEGER_F32:
        SLOT(float) = (float)value;
        return true;
    case WEIR_AVRO_OP_INTEGER_F64:
        SLOT(double) = (double)value;
        return true;
    case WEIR_AVRO_OP_INTEGER_NUMERIC:
        return store_numeric(machine, op, weir_numeric_from_int64(value, machine->arena));
    case WEIR_AVRO_OP_DATE:
        return store_date(machine, op, value);
    }
    return store_timestamp(machine, op, value);
}

static const uint8_t *read_float(const struct machine *machine, const struct weir_avro_op *op,
                                 const uint8_t *p)
{
    ptrdiff_t size_bytes = op->code == WEIR_AVRO_OP_F64 ? 8 : 4;
    if (machine->end - p < size_bytes) {
        return fail_short(machine, op);
    }
    if (op->code == WEIR_AVRO_OP_F64) {
        memcpy(&SLOT(double), p, sizeof(double));
        return p + size_bytes;
    }
    float value;
    memcpy(&value, p, sizeof value);
    if (op->code == WEIR_AVRO_OP_F32) {
        SLOT(float) = value;
    } else {
        SLOT(double) = (double)value;
    }
    return p + size_bytes;
}

static const uint8_t *read_enum(const struct machine *machine, const struct weir_avro_op *op,
                                const uint8_t *p)
{
    int64_t idx;
    p = weir_avro_read_short(p, machine->end, &idx);
    if (p == NULL) {
        return fail_short(machine, op);
    }
    if (idx < 0 || idx >= (int64_t)op->number) {
        return fail(machine, op, "symbol number %lld of an enum of %u", (long long)idx, op->number);
    }
    if (op->symbols[idx].data == NULL) {
        return fail(machine, op,
                    "a symbol of the writer's enum (number %lld) is not among the "
                    "reader's, which has no default",
                    (long long)idx);
    }
    SLOT(struct weir_view) = op->symbols[idx];
    return p;
}

static const uint8_t *read_fixed(const struct machine *machine, const struct weir_avro_op *op,
                                 const uint8_t *p)
{
    size_t size_bytes = op->code == WEIR_AVRO_OP_FIXED ? op->number : op->size_bytes;
    struct weir_view bytes = {(const char *)p, size_bytes};
    if ((size_t)(machine->end - p) < size_bytes) {
        return fail_short(machine, op);
    }
    if (op->code == WEIR_AVRO_OP_FIXED) {
        SLOT(struct weir_view) = bytes;
    } else if (!store_decimal(machine, op, bytes)) {
        return fail_value(machine, op);
    }
    return p + size_bytes;
}

// A length and bytes, for anything but text and bytea.
static const uint8_t *read_other_bytes(const struct machine *machine, const struct weir_avro_op *op,
                                       const uint8_t *p)
{
    struct weir_view bytes;
    p = weir_avro_read_bytes(p, machine->end, &bytes);
    if (p == NULL) {
        return fail_short(machine, op);
    }
    bool is_good;
    if (op->code == WEIR_AVRO_OP_VARCHAR) {
        is_good = store_varchar(machine, op, bytes);
    } else if (op->code == WEIR_AVRO_OP_DECIMAL) {
        is_good = store_decimal(machine, op, bytes);
    } else {
        struct weir_column *column = machine->slots[op->slot].column;
        is_good = weir_text_validate(bytes, &machine->fault->error) &&
                  op->parse(column, machine->row, bytes, machine->arena, &machine->fault->error);
    }
    return is_good ? p : fail_value(machine, op);
}

static const uint8_t *skip_longs(const struct machine *machine, const struct weir_avro_op *op,
                                 const uint8_t *p)
{
    for (uint32_t i = 0; i < op->number; i++) {
        int64_t value;
        p = weir_avro_read_long(p, machine->end, &value);
        if (p == NULL) {
            return fail_short(machine, op);
        }
    }
    return p;
}

// What is rarer than numbers and texts.
static const uint8_t *run_other(const struct machine *machine, const struct weir_avro_op *op,
                                const uint8_t *p)
{
    struct weir_view view;
    switch ((enum weir_avro_op_code)op->code) {
    case WEIR_AVRO_OP_BOOLEAN:
        if (p == machine->end || *p > 1) {
            return p == machine->end ? fail_short(machine, op)
                                     : fail(machine, op, "a boolean is 0 or 1, not %u", *p);
        }
        SLOT(uint8_t) = *p;
        return p + 1;
    case WEIR_AVRO_OP_F32:
    case WEIR_AVRO_OP_F32_F64:
    case WEIR_AVRO_OP_F64:
        return read_float(machine, op, p);
    case WEIR_AVRO_OP_ENUM:
        return read_enum(machine, op, p);
    case WEIR_AVRO_OP_FIXED:
    case WEIR_AVRO_OP_DECIMAL_FIXED:
        return read_fixed(machine, op, p);
    case WEIR_AVRO_OP_VARCHAR:
    case WEIR_AVRO_OP_DECIMAL:
    case WEIR_AVRO_OP_PARSE:
        return read_other_bytes(machine, op, p);
    case WEIR_AVRO_OP_JSON:
        return store_json(machine, op, p);
    case WEIR_AVRO_OP_SKIP_BYTES:
        return machine->end - p < (ptrdiff_t)op->number ? fail_short(machine, op) : p + op->number;
    case WEIR_AVRO_OP_SKIP_LONGS:
        return skip_longs(machine, op, p);
    case WEIR_AVRO_OP_SKIP_TEXT:
        p = weir_avro_read_bytes(p, machine->end, &view);
        return p == NULL ? fail_short(machine, op) : p;
    case WEIR_AVRO_OP_SKIP_ITEMS:
        return skip_items(machine, op, p);
    case WEIR_AVRO_OP_FAIL:
        return fail(machine, op, "%s", op->text);
    case WEIR_AVRO_OP_SET_NULL:
        set_null(machine->slots[op->slot].column, machine->row);
        return p;
    case WEIR_AVRO_OP_DEFAULT:
        return run_default(machine, op) == NULL ? NULL : p;
    case WEIR_AVRO_OP_JUMP:
    case WEIR_AVRO_OP_VALID:
        return p;
    case WEIR_AVRO_OP_NULLABLE:
    case WEIR_AVRO_OP_UNION:
    case WEIR_AVRO_OP_I64:
    case WEIR_AVRO_OP_I32:
    case WEIR_AVRO_OP_I16:
    case WEIR_AVRO_OP_INTEGER_F32:
    case WEIR_AVRO_OP_INTEGER_F64:
    case WEIR_AVRO_OP_INTEGER_NUMERIC:
    case WEIR_AVRO_OP_DATE:
    case WEIR_AVRO_OP_TIMESTAMP:
    case WEIR_AVRO_OP_TEXT:
    case WEIR_AVRO_OP_BYTES:
        break;
    }
    WEIR_ASSERT(!"run does these");
}

// The number of a branch; NULL: there is none of that number.
static inline const uint8_t *read_branch(const struct machine *machine,
                                         const struct weir_avro_op *op, uint32_t branch_count,
                                         const uint8_t *p, int64_t *branch)
{
    p = weir_avro_read_short(p, machine->end, branch);
    if (__builtin_expect(p == NULL, 0)) {
        return fail_short(machine, op);
    }
    if (__builtin_expect(*branch < 0 || *branch >= (int64_t)branch_count, 0)) {
        return fail(machine, op, "branch %lld of a union of %u", (long long)*branch, branch_count);
    }
    return p;
}

static const uint8_t *run(const struct machine *machine, const struct weir_avro_op *op,
                          const struct weir_avro_op *op_end, const uint8_t *p)
{
    const uint8_t *end = machine->end;
    int64_t number;
    struct weir_view view;
    while (op < op_end) {
        uint32_t step = 1;
        if (op->code >= WEIR_AVRO_OP_I64 && op->code <= WEIR_AVRO_OP_TIMESTAMP) {
            p = weir_avro_read_long(p, end, &number);
            if (__builtin_expect(p == NULL, 0)) {
                return fail_short(machine, op);
            }
            if (__builtin_expect(!store_number(machine, op, number), 0)) {
                return fail_range(machine, op, number);
            }
        } else if (op->code == WEIR_AVRO_OP_TEXT) {
            p = weir_avro_read_bytes(p, end, &view);
            if (__builtin_expect(p == NULL, 0)) {
                return fail_short(machine, op);
            }
            if (__builtin_expect(!store_text(machine, op, view), 0)) {
                return fail_value(machine, op);
            }
        } else if (op->code == WEIR_AVRO_OP_BYTES) {
            p = weir_avro_read_bytes(p, end, &SLOT(struct weir_view));
            if (__builtin_expect(p == NULL, 0)) {
                return fail_short(machine, op);
            }
        } else if (op->code == WEIR_AVRO_OP_NULLABLE) {
            p = read_branch(machine, op, 2, p, &number);
            if (__builtin_expect(p == NULL, 0)) {
                return NULL;
            }
            if ((uint32_t)number == op->number) {
                if (op->slot != WEIR_AVRO_NO_SLOT) {
                    set_null(machine->slots[op->slot].column, machine->row);
                }
                step = op->jump;
            }
        } else if (op->code == WEIR_AVRO_OP_UNION) {
            p = read_branch(machine, op, op->number, p, &number);
            if (__builtin_expect(p == NULL, 0)) {
                return NULL;
            }
            step = op->targets[number];
        } else {
            p = run_other(machine, op, p);
            if (__builtin_expect(p == NULL, 0)) {
                return NULL;
            }
            step = op->jump != 0 ? op->jump : 1;
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
    struct machine machine = {
        .end = p + body.size_bytes, .slots = slots, .row = row, .arena = arena, .fault = fault};
    fault->reason = WEIR_ROW_ERROR_DECODE;
    fault->error.detail[0] = '\0';
    fault->path = NULL;
    p = run(&machine, program->ops, program->ops + program->op_count, p);
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

// --- binding ---------------------------------------------------------------------------------

static uint32_t slots_of(uint32_t field_count, const struct weir_field *fields)
{
    uint32_t count = field_count;
    for (uint32_t i = 0; i < field_count; i++) {
        if (fields[i].type.kind == WEIR_TYPE_COMPOSITE) {
            const struct weir_composite *composite = fields[i].type.composite;
            count += slots_of(composite->field_count, composite->fields);
        }
    }
    return count;
}

uint32_t weir_avro_slot_count(const struct weir_schema *schema)
{
    return slots_of(schema->column_count, schema->columns);
}

static struct weir_avro_slot *bind(uint32_t count, struct weir_column *columns,
                                   struct weir_avro_slot *slots)
{
    for (uint32_t i = 0; i < count; i++) {
        struct weir_column *column = &columns[i];
        *slots++ = (struct weir_avro_slot){
            .data = column->data, .validity = column->validity, .column = column};
        if (column->type.kind == WEIR_TYPE_COMPOSITE) {
            slots = bind(column->type.composite->field_count, column->children, slots);
        }
    }
    return slots;
}

void weir_avro_bind(const struct weir_schema *schema, struct weir_column *columns,
                    struct weir_avro_slot *slots)
{
    bind(schema->column_count, columns, slots);
}

static void set_bits(uint64_t *bitmap, uint32_t first, uint32_t end)
{
    for (; first < end && first % 64 != 0; first++) {
        weir_bitmap_set(bitmap, first);
    }
    for (; first + 64 <= end; first += 64) {
        bitmap[first / 64] = UINT64_MAX;
    }
    for (; first < end; first++) {
        weir_bitmap_set(bitmap, first);
    }
}

void weir_avro_mark_rows(const struct weir_avro_program *program,
                         const struct weir_avro_slot *slots, uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < program->always_count; i++) {
        set_bits(slots[program->always[i]].validity, first, end);
    }
}
