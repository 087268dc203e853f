// SPDX-License-Identifier: Apache-2.0
// See avro_compile.h: what a single value can become, and the emitters.
//
// What may become what
//   boolean                boolean
//   int, long              smallint, integer, bigint (range-checked), real, double precision,
//                          numeric; timestamp(tz) by the table's timestamp_unit
//   float, double          real (float only), double precision
//   string                 text, varchar; bytea: its bytes; others through their input function
//   bytes, fixed           bytea; bytes: text, varchar
//   enum                   text, varchar
//   decimal                numeric (rounded to its scale), else as bytes or fixed
//   date, time-*           date, time; timestamp-*, local-timestamp-*: timestamp, timestamptz
//   uuid, duration         uuid, interval
//   record, array          composite, field by field; array, item by item
//   union                  what its branches can become; null is NULL
//   anything               json, jsonb (a string is JSON text, but for a union's branch)
#include "kafka/avro_compile.h"

struct weir_avro_op *weir_avro_emit(struct weir_avro_compiler *c, enum weir_avro_op_code code,
                                    const char *path)
{
    if (c->op_count == c->op_capacity) {
        c->op_capacity = c->op_capacity * 2 + 32;
        c->ops = weir_realloc(c->ops, c->op_capacity * sizeof *c->ops);
    }
    struct weir_avro_op *op = &c->ops[c->op_count++];
    memset(op, 0, sizeof *op);
    op->code = (uint8_t)code;
    op->slot = WEIR_AVRO_NO_SLOT;
    op->path = path;
    return op;
}

struct weir_avro_op *weir_avro_emit_value(struct weir_avro_compiler *c, enum weir_avro_op_code code,
                                          const struct weir_avro_source *source,
                                          const struct weir_avro_target *target)
{
    struct weir_avro_op *op = weir_avro_emit(c, code, target->path);
    op->slot = target->slot;
    op->is_int = source->writer->kind == WEIR_AVRO_INT;
    op->sets_valid = source->is_conditional;
    if (!source->is_conditional) {
        c->is_always[target->slot] = true;
    }
    return op;
}

bool weir_avro_cannot(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                      const struct weir_avro_target *target)
{
    char type[128];
    c->why = weir_arena_printf(c->arena, "column \"%s\": %s cannot become %s", target->path,
                               weir_avro_type_name(source->writer, c->arena),
                               weir_type_name(&target->field->type, type, sizeof type));
    return false;
}

// --- values ----------------------------------------------------------------------------------

static bool is_text(enum weir_type_kind kind)
{
    return kind == WEIR_TYPE_TEXT || kind == WEIR_TYPE_VARCHAR;
}

static bool is_timestamp(enum weir_type_kind kind)
{
    return kind == WEIR_TYPE_TIMESTAMP || kind == WEIR_TYPE_TIMESTAMPTZ;
}

static bool compile_integer(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                            const struct weir_avro_target *target)
{
    static const struct {
        enum weir_type_kind kind;
        enum weir_avro_op_code code;
    } codes[] = {
        {WEIR_TYPE_SMALLINT, WEIR_AVRO_OP_I16},
        {WEIR_TYPE_INTEGER, WEIR_AVRO_OP_I32},
        {WEIR_TYPE_BIGINT, WEIR_AVRO_OP_I64},
        {WEIR_TYPE_REAL, WEIR_AVRO_OP_INTEGER_F32},
        {WEIR_TYPE_DOUBLE, WEIR_AVRO_OP_INTEGER_F64},
        {WEIR_TYPE_NUMERIC, WEIR_AVRO_OP_INTEGER_NUMERIC},
    };
    enum weir_type_kind kind = target->field->type.kind;
    enum weir_avro_logical logical = source->writer->logical;
    if (logical == WEIR_AVRO_DATE && kind == WEIR_TYPE_DATE) {
        weir_avro_emit_value(c, WEIR_AVRO_OP_DATE, source, target);
        return true;
    }
    if (is_timestamp(kind) && source->writer->kind == WEIR_AVRO_LONG) {
        bool is_ms = logical == WEIR_AVRO_TIMESTAMP_MS || logical == WEIR_AVRO_LOCAL_TIMESTAMP_MS;
        bool is_us = logical == WEIR_AVRO_TIMESTAMP_US || logical == WEIR_AVRO_LOCAL_TIMESTAMP_US;
        if (is_ms || is_us || logical == WEIR_AVRO_LOGICAL_NONE) {
            weir_avro_emit_value(c, WEIR_AVRO_OP_TIMESTAMP, source, target)->number =
                is_ms   ? 3
                : is_us ? 6
                        : c->config->timestamp_digits;
            return true;
        }
    }
    if (kind == WEIR_TYPE_TIME && (logical == WEIR_AVRO_TIME_MS || logical == WEIR_AVRO_TIME_US)) {
        weir_avro_emit_value(c, WEIR_AVRO_OP_TIME, source, target)->number =
            logical == WEIR_AVRO_TIME_MS ? 3 : 6;
        return true;
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].kind == kind) {
            weir_avro_emit_value(c, codes[i].code, source, target);
            return true;
        }
    }
    return weir_avro_cannot(c, source, target);
}

static bool compile_float(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                          const struct weir_avro_target *target)
{
    bool is_double = source->writer->kind == WEIR_AVRO_DOUBLE;
    enum weir_type_kind kind = target->field->type.kind;
    if (kind == WEIR_TYPE_DOUBLE) {
        weir_avro_emit_value(c, is_double ? WEIR_AVRO_OP_F64 : WEIR_AVRO_OP_F32_F64, source,
                             target);
        return true;
    }
    if (kind == WEIR_TYPE_REAL && !is_double) {
        weir_avro_emit_value(c, WEIR_AVRO_OP_F32, source, target);
        return true;
    }
    return weir_avro_cannot(c, source, target);
}

static void emit_text(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                      const struct weir_avro_target *target)
{
    int32_t modifier = target->field->type.modifier;
    if (target->field->type.kind == WEIR_TYPE_VARCHAR && modifier >= 0) {
        weir_avro_emit_value(c, WEIR_AVRO_OP_VARCHAR, source, target)->number = (uint32_t)modifier;
        return;
    }
    weir_avro_emit_value(c, WEIR_AVRO_OP_TEXT, source, target);
}

static bool compile_string(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                           const struct weir_avro_target *target)
{
    enum weir_type_kind kind = target->field->type.kind;
    if (is_text(kind)) {
        emit_text(c, source, target);
    } else if (kind == WEIR_TYPE_BYTEA) {
        weir_avro_emit_value(c, WEIR_AVRO_OP_BYTES, source, target);
    } else if (kind == WEIR_TYPE_COMPOSITE || kind == WEIR_TYPE_ARRAY) {
        return weir_avro_cannot(c, source, target);
    } else {
        weir_avro_emit_value(c, WEIR_AVRO_OP_PARSE, source, target)->parse =
            weir_text_parse_function(kind);
    }
    return true;
}

static bool compile_bytes(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                          const struct weir_avro_target *target)
{
    enum weir_type_kind kind = target->field->type.kind;
    const struct weir_avro_type *writer = source->writer;
    bool is_fixed = writer->kind == WEIR_AVRO_FIXED;
    if (writer->logical == WEIR_AVRO_DECIMAL && kind == WEIR_TYPE_NUMERIC) {
        struct weir_avro_op *op = weir_avro_emit_value(
            c, is_fixed ? WEIR_AVRO_OP_DECIMAL_FIXED : WEIR_AVRO_OP_DECIMAL, source, target);
        op->number = writer->scale;
        op->size_bytes = writer->size_bytes;
        return true;
    }
    if ((kind == WEIR_TYPE_UUID && writer->logical == WEIR_AVRO_UUID) ||
        (kind == WEIR_TYPE_INTERVAL && writer->logical == WEIR_AVRO_DURATION)) {
        weir_avro_emit_value(c, kind == WEIR_TYPE_UUID ? WEIR_AVRO_OP_UUID : WEIR_AVRO_OP_DURATION,
                             source, target);
        return true;
    }
    if (kind == WEIR_TYPE_BYTEA) {
        weir_avro_emit_value(c, is_fixed ? WEIR_AVRO_OP_FIXED : WEIR_AVRO_OP_BYTES, source, target)
            ->number = writer->size_bytes;
        return true;
    }
    if (is_text(kind) && !is_fixed && writer->logical == WEIR_AVRO_LOGICAL_NONE) {
        emit_text(c, source, target);
        return true;
    }
    return weir_avro_cannot(c, source, target);
}

// The symbols as texts: the writer's, or those of the reader that they become.
static bool compile_enum(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                         const struct weir_avro_target *target)
{
    const struct weir_avro_type *writer = source->writer;
    const struct weir_avro_type *reader = source->reader;
    const struct weir_type *type = &target->field->type;
    if (!is_text(type->kind)) {
        return weir_avro_cannot(c, source, target);
    }
    struct weir_view *symbols = weir_arena_alloc(c->arena, writer->symbol_count * sizeof *symbols);
    for (uint32_t i = 0; i < writer->symbol_count; i++) {
        struct weir_value_error error;
        symbols[i] = writer->symbols[i];
        if (reader != NULL && reader->kind == WEIR_AVRO_ENUM && c->config->is_reader_strict) {
            int32_t found = reader->default_symbol;
            for (uint32_t j = 0; j < reader->symbol_count; j++) {
                found = weir_view_equal(reader->symbols[j], symbols[i]) ? (int32_t)j : found;
            }
            symbols[i] = found >= 0 ? reader->symbols[found] : (struct weir_view){0};
        }
        if (symbols[i].data != NULL && type->modifier >= 0 &&
            !weir_varchar_fit(symbols[i], type->modifier, &symbols[i], &error)) {
            symbols[i] = (struct weir_view){0};
        }
    }
    struct weir_avro_op *op = weir_avro_emit_value(c, WEIR_AVRO_OP_ENUM, source, target);
    op->number = writer->symbol_count;
    op->symbols = symbols;
    return true;
}

bool weir_avro_compile_scalar(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                              const struct weir_avro_target *target)
{
    enum weir_type_kind kind = target->field->type.kind;
    if ((kind == WEIR_TYPE_JSONB || kind == WEIR_TYPE_JSON) &&
        (source->writer->kind != WEIR_AVRO_STRING || source->is_mixed)) {
        weir_avro_emit_value(c, WEIR_AVRO_OP_JSON, source, target)->type = source->writer;
        return true;
    }
    switch (source->writer->kind) {
    case WEIR_AVRO_BOOLEAN:
        if (target->field->type.kind != WEIR_TYPE_BOOLEAN) {
            return weir_avro_cannot(c, source, target);
        }
        weir_avro_emit_value(c, WEIR_AVRO_OP_BOOLEAN, source, target);
        return true;
    case WEIR_AVRO_INT:
    case WEIR_AVRO_LONG:
        return compile_integer(c, source, target);
    case WEIR_AVRO_FLOAT:
    case WEIR_AVRO_DOUBLE:
        return compile_float(c, source, target);
    case WEIR_AVRO_STRING:
        return compile_string(c, source, target);
    case WEIR_AVRO_BYTES:
    case WEIR_AVRO_FIXED:
        return compile_bytes(c, source, target);
    case WEIR_AVRO_ENUM:
        return compile_enum(c, source, target);
    case WEIR_AVRO_ARRAY:
    case WEIR_AVRO_MAP:
    case WEIR_AVRO_NULL:
    case WEIR_AVRO_RECORD:
    case WEIR_AVRO_UNION:
        break;
    }
    return weir_avro_cannot(c, source, target);
}
