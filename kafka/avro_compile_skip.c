// SPDX-License-Identifier: Apache-2.0
// See avro_compile.h: instructions that pass over a value, as few as there can be.
#include "kafka/avro_compile.h"

static void skip_number(struct weir_avro_compiler *c, enum weir_avro_op_code code, uint32_t number,
                        const char *path)
{
    struct weir_avro_op *last = c->op_count > 0 ? &c->ops[c->op_count - 1] : NULL;
    if (last != NULL && last->code == code && last->path == path) {
        last->number += number;
        return;
    }
    weir_avro_emit(c, code, path)->number = number;
}

static void compile_skip_union(struct weir_avro_compiler *c, const struct weir_avro_type *type,
                               const char *path)
{
    uint32_t null_branch;
    uint32_t at = c->op_count;
    if (weir_avro_is_nullable(type, &null_branch)) {
        weir_avro_emit(c, WEIR_AVRO_OP_NULLABLE, path)->number = null_branch;
        weir_avro_compile_skip(c, type->branches[1 - null_branch],
                               weir_arena_strdup(c->arena, path));
        c->ops[at].jump = c->op_count - at;
        return;
    }
    uint32_t *targets = weir_arena_alloc(c->arena, type->branch_count * sizeof *targets);
    uint32_t *jumps = weir_arena_alloc(c->arena, type->branch_count * sizeof *jumps);
    weir_avro_emit(c, WEIR_AVRO_OP_UNION, path)->number = type->branch_count;
    for (uint32_t i = 0; i < type->branch_count; i++) {
        targets[i] = c->op_count - at;
        // A path of its own: what is skipped in one branch must not run on into the next.
        weir_avro_compile_skip(c, type->branches[i], weir_arena_strdup(c->arena, path));
        jumps[i] = c->op_count;
        weir_avro_emit(c, WEIR_AVRO_OP_JUMP, path);
    }
    for (uint32_t i = 0; i < type->branch_count; i++) {
        c->ops[jumps[i]].jump = c->op_count - jumps[i];
    }
    c->ops[at].targets = targets;
    c->ops[at].jump = c->op_count - at;
}

void weir_avro_compile_skip(struct weir_avro_compiler *c, const struct weir_avro_type *type,
                            const char *path)
{
    uint32_t at = c->op_count;
    if (!type->has_variable_bytes) {
        if (type->least_bytes != 0) {
            weir_avro_emit(c, WEIR_AVRO_OP_SKIP_BYTES, path)->number = type->least_bytes;
        }
        return;
    }
    switch (type->kind) {
    case WEIR_AVRO_INT:
    case WEIR_AVRO_LONG:
    case WEIR_AVRO_ENUM:
        skip_number(c, WEIR_AVRO_OP_SKIP_LONGS, 1, path);
        return;
    case WEIR_AVRO_BYTES:
    case WEIR_AVRO_STRING:
        weir_avro_emit(c, WEIR_AVRO_OP_SKIP_TEXT, path);
        return;
    case WEIR_AVRO_RECORD:
        for (uint32_t i = 0; i < type->field_count; i++) {
            weir_avro_compile_skip(c, type->fields[i].type, path);
        }
        return;
    case WEIR_AVRO_ARRAY:
    case WEIR_AVRO_MAP:
        weir_avro_emit(c, WEIR_AVRO_OP_SKIP_ITEMS, path)->type = type;
        c->ops[at].number = type->kind == WEIR_AVRO_MAP ? 1 : 0;
        weir_avro_compile_skip(c, type->item, weir_arena_strdup(c->arena, path));
        c->ops[at].jump = c->op_count - at;
        return;
    case WEIR_AVRO_UNION:
        compile_skip_union(c, type, path);
        return;
    case WEIR_AVRO_NULL:
    case WEIR_AVRO_BOOLEAN:
    case WEIR_AVRO_FLOAT:
    case WEIR_AVRO_DOUBLE:
    case WEIR_AVRO_FIXED:
        return;
    }
}
