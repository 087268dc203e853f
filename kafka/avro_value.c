// SPDX-License-Identifier: Apache-2.0
// See avro_machine.h.
#include "kafka/avro_json.h"
#include "kafka/avro_machine.h"
#include "kafka/avro_wire.h"
#include "runtime/types/json_text.h"
#include "runtime/types/jsonb.h"

#include <stdio.h>

const uint8_t *weir_avro_fail(const struct weir_avro_machine *machine,
                              const struct weir_avro_op *op, const char *format, ...)
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
const uint8_t *weir_avro_fail_value(const struct weir_avro_machine *machine,
                                    const struct weir_avro_op *op)
{
    machine->fault->path = op->path;
    return NULL;
}

const uint8_t *weir_avro_fail_short(const struct weir_avro_machine *machine,
                                    const struct weir_avro_op *op)
{
    return weir_avro_fail(machine, op, "the record ends within a value, or a length is wrong");
}

static bool store_varchar(const struct weir_avro_machine *machine, const struct weir_avro_op *op,
                          struct weir_view text)
{
    struct weir_view *out = &((struct weir_view *)machine->slots[op->slot].data)[machine->row];
    if (!weir_text_validate(text, &machine->fault->error)) {
        return false;
    }
    if (!weir_varchar_fit(text, (int32_t)op->number, out, &machine->fault->error)) {
        machine->fault->reason = WEIR_ROW_ERROR_CONSTRAINT;
        return false;
    }
    return true;
}

bool weir_avro_store_numeric(const struct weir_avro_machine *machine, const struct weir_avro_op *op,
                             struct weir_numeric value)
{
    const struct weir_avro_slot *slot = &machine->slots[op->slot];
    struct weir_numeric *out = &((struct weir_numeric *)slot->data)[machine->row];
    *out = value;
    return slot->column->type.modifier < 0 ||
           weir_numeric_apply_modifier(value, slot->column->type.modifier, machine->arena, out,
                                       &machine->fault->error);
}

static bool store_decimal(const struct weir_avro_machine *machine, const struct weir_avro_op *op,
                          struct weir_view bytes)
{
    struct weir_numeric value;
    if (!weir_numeric_from_unscaled_bytes(bytes, (uint16_t)op->number, machine->arena, &value)) {
        return weir_value_error_set(&machine->fault->error, "a decimal has no bytes");
    }
    return weir_avro_store_numeric(machine, op, value);
}

static const uint8_t *store_json(const struct weir_avro_machine *machine,
                                 const struct weir_avro_op *op, const uint8_t *p)
{
    struct weir_buffer text = {0};
    const char *why = NULL;
    p = weir_avro_append_json(op->type, p, machine->end, &text, &why);
    struct weir_view *out = &((struct weir_view *)machine->slots[op->slot].data)[machine->row];
    if (p == NULL) {
        weir_avro_fail(machine, op, "%s", why);
    } else if (machine->slots[op->slot].column->type.kind == WEIR_TYPE_JSON) {
        *out = weir_arena_copy(machine->arena, (struct weir_view){text.data, text.size_bytes});
    } else if (!weir_jsonb_parse((struct weir_view){text.data, text.size_bytes}, machine->arena,
                                 out, &machine->fault->error)) {
        p = weir_avro_fail_value(machine, op);
    }
    weir_buffer_deinit(&text);
    return p;
}

static const uint8_t *read_float(const struct weir_avro_machine *machine,
                                 const struct weir_avro_op *op, const uint8_t *p)
{
    ptrdiff_t size_bytes = op->code == WEIR_AVRO_OP_F64 ? 8 : 4;
    if (machine->end - p < size_bytes) {
        return weir_avro_fail_short(machine, op);
    }
    if (op->code == WEIR_AVRO_OP_F64) {
        memcpy(&WEIR_AVRO_SLOT(double), p, sizeof(double));
        return p + size_bytes;
    }
    float value;
    memcpy(&value, p, sizeof value);
    if (op->code == WEIR_AVRO_OP_F32) {
        WEIR_AVRO_SLOT(float) = value;
    } else {
        WEIR_AVRO_SLOT(double) = (double)value;
    }
    return p + size_bytes;
}

static const uint8_t *read_enum(const struct weir_avro_machine *machine,
                                const struct weir_avro_op *op, const uint8_t *p)
{
    int64_t idx;
    p = weir_avro_read_short(p, machine->end, &idx);
    if (p == NULL) {
        return weir_avro_fail_short(machine, op);
    }
    if (idx < 0 || idx >= (int64_t)op->number) {
        return weir_avro_fail(machine, op, "symbol number %lld of an enum of %u", (long long)idx,
                              op->number);
    }
    if (op->symbols[idx].data == NULL) {
        return weir_avro_fail(machine, op,
                              "a symbol of the writer's enum (number %lld) is not among the "
                              "reader's, which has no default",
                              (long long)idx);
    }
    WEIR_AVRO_SLOT(struct weir_view) = op->symbols[idx];
    return p;
}

static const uint8_t *read_fixed(const struct weir_avro_machine *machine,
                                 const struct weir_avro_op *op, const uint8_t *p)
{
    size_t size_bytes = op->code == WEIR_AVRO_OP_FIXED ? op->number : op->size_bytes;
    struct weir_view bytes = {(const char *)p, size_bytes};
    if ((size_t)(machine->end - p) < size_bytes) {
        return weir_avro_fail_short(machine, op);
    }
    if (op->code == WEIR_AVRO_OP_FIXED) {
        WEIR_AVRO_SLOT(struct weir_view) = bytes;
    } else if (!store_decimal(machine, op, bytes)) {
        return weir_avro_fail_value(machine, op);
    }
    return p + size_bytes;
}

static const uint8_t *read_uuid_or_duration(const struct weir_avro_machine *machine,
                                            const struct weir_avro_op *op, const uint8_t *p)
{
    ptrdiff_t size_bytes = op->code == WEIR_AVRO_OP_UUID ? 16 : 12;
    if (machine->end - p < size_bytes) {
        return weir_avro_fail_short(machine, op);
    }
    if (op->code == WEIR_AVRO_OP_UUID) {
        memcpy(&WEIR_AVRO_SLOT(struct weir_uuid), p, sizeof(struct weir_uuid));
        return p + size_bytes;
    }
    uint32_t parts[3]; // months, days, milliseconds
    memcpy(parts, p, sizeof parts);
    if (parts[0] > INT32_MAX || parts[1] > INT32_MAX) {
        return weir_avro_fail(machine, op, "an interval has at most %d months and days", INT32_MAX);
    }
    WEIR_AVRO_SLOT(struct weir_interval) = (struct weir_interval){
        .months = (int32_t)parts[0], .days = (int32_t)parts[1], .us = (int64_t)parts[2] * 1000};
    return p + size_bytes;
}

// A length and bytes, for anything but text and bytea.
static const uint8_t *read_other_bytes(const struct weir_avro_machine *machine,
                                       const struct weir_avro_op *op, const uint8_t *p)
{
    struct weir_view bytes;
    p = weir_avro_read_bytes(p, machine->end, &bytes);
    if (p == NULL) {
        return weir_avro_fail_short(machine, op);
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
    return is_good ? p : weir_avro_fail_value(machine, op);
}

const uint8_t *weir_avro_read_value(const struct weir_avro_machine *machine,
                                    const struct weir_avro_op *op, const uint8_t *p)
{
    switch ((int)op->code) {
    case WEIR_AVRO_OP_BOOLEAN:
        if (p == machine->end || *p > 1) {
            return p == machine->end
                       ? weir_avro_fail_short(machine, op)
                       : weir_avro_fail(machine, op, "a boolean is 0 or 1, not %u", *p);
        }
        WEIR_AVRO_SLOT(uint8_t) = *p;
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
    case WEIR_AVRO_OP_UUID:
    case WEIR_AVRO_OP_DURATION:
        return read_uuid_or_duration(machine, op, p);
    case WEIR_AVRO_OP_VARCHAR:
    case WEIR_AVRO_OP_DECIMAL:
    case WEIR_AVRO_OP_PARSE:
        return read_other_bytes(machine, op, p);
    case WEIR_AVRO_OP_JSON:
        return store_json(machine, op, p);
    }
    WEIR_ASSERT(!"avro_program.c does these");
}
