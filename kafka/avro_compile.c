// SPDX-License-Identifier: Apache-2.0
// Makes decode programs (avro_program.h): one walk over the writer's schema beside the columns.
// What a single value can become: avro_compile_value.c.
//
// A branch of a union that cannot become the column becomes an instruction that fails. A value that
// is there in every row sets no bit of its own: see weir_avro_mark_rows.
#include "kafka/avro_compile.h"

#include <stdlib.h>

static bool compile_value(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                          const struct weir_avro_target *target);

// --- records ---------------------------------------------------------------------------------

static bool has_alias(const struct weir_avro_field *field, const char *name)
{
    for (uint32_t i = 0; i < field->alias_count; i++) {
        if (strcmp(field->aliases[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static const struct weir_avro_field *find_field(const struct weir_avro_type *record,
                                                const char *name)
{
    for (uint32_t i = 0; record != NULL && i < record->field_count; i++) {
        if (strcmp(record->fields[i].name, name) == 0) {
            return &record->fields[i];
        }
    }
    return NULL;
}

// The writer's field that a column is read from: of its name, or of an alias that the reader's
// schema gives it. -1: there is none.
static int32_t field_of(const struct weir_avro_type *writer, const struct weir_avro_type *reader,
                        const char *name)
{
    const struct weir_avro_field *named = find_field(writer, name);
    const struct weir_avro_field *of_reader = find_field(reader, name);
    for (uint32_t i = 0; named == NULL && of_reader != NULL && i < writer->field_count; i++) {
        if (has_alias(of_reader, writer->fields[i].name)) {
            named = &writer->fields[i];
        }
    }
    return named == NULL ? -1 : (int32_t)(named - writer->fields);
}

static bool compile_missing(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                            const struct weir_avro_target *target)
{
    const struct weir_avro_field *field = find_field(source->reader, target->field->name);
    uint32_t at = c->op_count;
    if (field == NULL || field->default_bytes.data == NULL) {
        weir_avro_emit(c, WEIR_AVRO_OP_SET_NULL, target->path)->slot = target->slot;
        return true;
    }
    weir_avro_emit(c, WEIR_AVRO_OP_DEFAULT, target->path)->bytes = &field->default_bytes;
    struct weir_avro_source of_default = {.writer = field->type,
                                          .reader = field->type,
                                          .path = target->path,
                                          .is_conditional = source->is_conditional};
    if (!compile_value(c, &of_default, target)) {
        return false;
    }
    c->ops[at].jump = c->op_count - at;
    return true;
}

static bool compile_fields(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                           uint32_t target_count, const struct weir_avro_target *targets)
{
    const struct weir_avro_type *writer = source->writer;
    const struct weir_avro_type *reader =
        source->reader != NULL && source->reader->kind == WEIR_AVRO_RECORD ? source->reader : NULL;
    int32_t *target_of = weir_alloc((writer->field_count + 1) * sizeof *target_of);
    bool is_good = true;
    for (uint32_t i = 0; i < writer->field_count; i++) {
        target_of[i] = -1;
    }
    for (uint32_t i = 0; i < target_count; i++) {
        int32_t field = field_of(writer, reader, targets[i].field->name);
        if (field >= 0) {
            target_of[field] = (int32_t)i;
        }
    }
    for (uint32_t i = 0; is_good && i < writer->field_count; i++) {
        const struct weir_avro_field *field = &writer->fields[i];
        if (target_of[i] < 0) {
            weir_avro_compile_skip(c, field->type, source->path);
            continue;
        }
        const struct weir_avro_target *target = &targets[target_of[i]];
        const struct weir_avro_field *of_reader = find_field(reader, target->field->name);
        struct weir_avro_source inner = {.writer = field->type,
                                         .reader = of_reader != NULL ? of_reader->type : NULL,
                                         .path = target->path,
                                         .is_conditional = source->is_conditional};
        is_good = compile_value(c, &inner, target);
    }
    struct weir_avro_source missing = *source;
    missing.reader = reader;
    for (uint32_t i = 0; is_good && i < target_count; i++) {
        bool is_read = false;
        for (uint32_t j = 0; j < writer->field_count; j++) {
            is_read = is_read || target_of[j] == (int32_t)i;
        }
        is_good = is_read || compile_missing(c, &missing, &targets[i]);
    }
    free(target_of);
    return is_good;
}

static bool compile_composite(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                              const struct weir_avro_target *target)
{
    weir_avro_emit_value(c, WEIR_AVRO_OP_VALID, source, target);
    return compile_fields(c, source, target->child_count, target->children);
}

// --- unions ----------------------------------------------------------------------------------

// What the reader's schema says about a value of that type: of a union the branch of its kind.
static const struct weir_avro_type *reader_of(const struct weir_avro_type *reader,
                                              const struct weir_avro_type *writer)
{
    if (reader == NULL || reader->kind != WEIR_AVRO_UNION) {
        return reader;
    }
    const struct weir_avro_type *found = NULL;
    for (uint32_t i = 0; i < reader->branch_count; i++) {
        const struct weir_avro_type *branch = reader->branches[i];
        if (branch->kind != writer->kind) {
            continue;
        }
        if (branch->name != NULL && writer->name != NULL &&
            strcmp(branch->name, writer->name) == 0) {
            return branch;
        }
        found = found == NULL ? branch : found;
    }
    return found;
}

static bool compile_array(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                          const struct weir_avro_target *target)
{
    uint32_t at = c->op_count;
    weir_avro_emit_value(c, WEIR_AVRO_OP_ARRAY, source, target)->type = source->writer;
    struct weir_avro_source inner = {.writer = source->writer->item,
                                     .reader = source->reader != NULL &&
                                                       source->reader->kind == WEIR_AVRO_ARRAY
                                                   ? source->reader->item
                                                   : NULL,
                                     .path = target->path,
                                     .is_conditional = true};
    if (!compile_value(c, &inner, target->children)) {
        return false;
    }
    c->ops[at].jump = c->op_count - at;
    return true;
}

static bool compile_nullable(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                             uint32_t null_branch, const struct weir_avro_target *target)
{
    uint32_t at = c->op_count;
    struct weir_avro_op *op = weir_avro_emit(c, WEIR_AVRO_OP_NULLABLE, target->path);
    op->number = null_branch;
    op->slot = target->slot;
    struct weir_avro_source inner = *source;
    inner.writer = source->writer->branches[1 - null_branch];
    inner.is_conditional = true;
    if (!compile_value(c, &inner, target)) {
        return false;
    }
    c->ops[at].jump = c->op_count - at;
    return true;
}

// Branch by branch through `compile`; one that cannot be becomes an instruction that fails. False:
// none of them can.
static bool compile_union(struct weir_avro_compiler *c, const struct weir_avro_source *source,
                          bool (*compile)(struct weir_avro_compiler *c,
                                          const struct weir_avro_source *source,
                                          const struct weir_avro_target *target),
                          const struct weir_avro_target *target)
{
    const struct weir_avro_type *writer = source->writer;
    uint32_t *targets = weir_arena_alloc(c->arena, writer->branch_count * sizeof *targets);
    uint32_t *jumps = weir_arena_alloc(c->arena, writer->branch_count * sizeof *jumps);
    uint32_t at = c->op_count;
    bool is_possible = false;
    const char *why = NULL;
    weir_avro_emit(c, WEIR_AVRO_OP_UNION, source->path)->number = writer->branch_count;
    for (uint32_t i = 0; i < writer->branch_count; i++) {
        targets[i] = c->op_count - at;
        struct weir_avro_source inner = *source;
        inner.writer = writer->branches[i];
        inner.is_conditional = true;
        inner.is_mixed = true;
        if (compile(c, &inner, target)) {
            is_possible = is_possible || inner.writer->kind != WEIR_AVRO_NULL;
        } else {
            why = why == NULL ? c->why : why;
            c->op_count = at + targets[i];
            weir_avro_emit(c, WEIR_AVRO_OP_FAIL, NULL)->text = c->why;
        }
        jumps[i] = c->op_count;
        weir_avro_emit(c, WEIR_AVRO_OP_JUMP, source->path);
    }
    for (uint32_t i = 0; i < writer->branch_count; i++) {
        c->ops[jumps[i]].jump = c->op_count - jumps[i];
    }
    c->ops[at].targets = targets;
    c->ops[at].jump = c->op_count - at;
    c->why = why;
    return is_possible || why == NULL;
}

// --- the whole -------------------------------------------------------------------------------

static bool compile_value(struct weir_avro_compiler *c, const struct weir_avro_source *given,
                          const struct weir_avro_target *target)
{
    uint32_t null_branch;
    struct weir_avro_source source = *given;
    if (source.writer->kind == WEIR_AVRO_NULL) {
        weir_avro_emit(c, WEIR_AVRO_OP_SET_NULL, target->path)->slot = target->slot;
        return true;
    }
    if (source.writer->kind == WEIR_AVRO_UNION) {
        return weir_avro_is_nullable(source.writer, &null_branch)
                   ? compile_nullable(c, given, null_branch, target)
                   : compile_union(c, given, compile_value, target);
    }
    source.reader = reader_of(source.reader, source.writer);
    if (source.writer->kind == WEIR_AVRO_RECORD &&
        target->field->type.kind == WEIR_TYPE_COMPOSITE) {
        return compile_composite(c, &source, target);
    }
    if (source.writer->kind == WEIR_AVRO_ARRAY && target->field->type.kind == WEIR_TYPE_ARRAY) {
        return compile_array(c, &source, target);
    }
    return weir_avro_compile_scalar(c, &source, target);
}

static struct weir_avro_target *make_targets(struct weir_avro_compiler *c, const char *parent,
                                             uint32_t count, const struct weir_field *fields)
{
    struct weir_avro_target *targets =
        weir_arena_alloc_zero(c->arena, (count + 1) * sizeof *targets);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_avro_target *target = &targets[i];
        target->slot = c->slot_count++;
        target->field = &fields[i];
        bool is_element = fields[i].name[0] == '\0';
        target->path = parent == NULL ? weir_arena_strdup(c->arena, fields[i].name)
                                      : weir_arena_printf(c->arena, "%s%s%s", parent,
                                                          is_element ? "[]" : ".", fields[i].name);
        const struct weir_composite *composite = fields[i].type.composite; // arrays have one, too
        if (composite != NULL) {
            target->child_count = composite->field_count;
            target->children =
                make_targets(c, target->path, composite->field_count, composite->fields);
        }
    }
    return targets;
}

// target: a made-up one, whose children are the columns.
static bool compile_row(struct weir_avro_compiler *c, const struct weir_avro_source *given,
                        const struct weir_avro_target *target)
{
    struct weir_avro_source source = *given;
    source.reader = reader_of(source.reader, source.writer);
    if (source.writer->kind == WEIR_AVRO_RECORD) {
        return compile_fields(c, &source, target->child_count, target->children);
    }
    if (c->config->is_single_column && target->child_count == 1) {
        return compile_value(c, given, target->children);
    }
    if (c->config->is_single_column && target->child_count == 0) {
        weir_avro_compile_skip(c, source.writer, source.path);
        return true;
    }
    if (source.writer->kind == WEIR_AVRO_UNION) {
        return compile_union(c, given, compile_row, target);
    }
    c->why = weir_arena_printf(c->arena,
                               "the schema is %s: only a record can become a row of several "
                               "columns",
                               weir_avro_type_name(source.writer, c->arena));
    return false;
}

static struct weir_avro_program *finish(struct weir_avro_compiler *c,
                                        const struct weir_avro_type *writer)
{
    struct weir_avro_program *program = weir_arena_alloc_zero(c->arena, sizeof *program);
    struct weir_avro_op *ops = weir_arena_alloc(c->arena, (c->op_count + 1) * sizeof *ops);
    uint32_t *always = weir_arena_alloc(c->arena, (c->slot_count + 1) * sizeof *always);
    memcpy(ops, c->ops, c->op_count * sizeof *ops);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        if (c->is_always[i]) {
            always[program->always_count++] = i;
        }
    }
    program->op_count = c->op_count;
    program->ops = ops;
    program->always = always;
    program->least_bytes = writer->least_bytes;
    return program;
}

enum weir_status weir_avro_program_create(struct weir_arena *arena,
                                          const struct weir_avro_program_config *config,
                                          const struct weir_avro_type *writer,
                                          struct weir_avro_program **program,
                                          struct weir_error *error)
{
    struct weir_avro_compiler c = {.config = config, .arena = arena};
    struct weir_avro_target all = {.slot = WEIR_AVRO_NO_SLOT,
                                   .child_count = config->schema->column_count};
    all.children = make_targets(&c, NULL, config->schema->column_count, config->schema->columns);
    c.is_always = weir_alloc_zero(c.slot_count + 1);
    struct weir_avro_source source = {.writer = writer, .reader = config->reader, .path = ""};
    bool is_good = compile_row(&c, &source, &all);
    if (is_good) {
        *program = finish(&c, writer);
    }
    free(c.is_always);
    free(c.ops);
    return is_good ? WEIR_OK
                   : weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, "%s", c.why);
}
