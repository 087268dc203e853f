// SPDX-License-Identifier: Apache-2.0
// See project.h.
#include "operators/project.h"

#include "operators/row_operator.h"

struct project {
    struct weir_row_operator base;
    const struct weir_schema *schema;
    const struct weir_expr *const *exprs;
};

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct project *project = (struct project *)op;
    struct weir_batch kept = *batch;
    uint32_t count = project->schema->column_count;
    struct weir_column *columns = weir_arena_alloc(batch->arena, count * sizeof *columns);
    weir_eval_begin(project->base.eval, batch);
    for (uint32_t i = 0; i < count; i++) {
        weir_expr_eval(project->exprs[i], project->base.eval, batch, weir_batch_selection(batch),
                       &columns[i]);
    }
    if (weir_row_operator_drop_failed(&project->base, &kept, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (kept.selected_count == 0) {
        return WEIR_OK;
    }
    kept.schema = project->schema;
    kept.columns = columns;
    return weir_operator_push(op, &kept, error);
}

static void destroy(struct weir_operator *op)
{
    weir_row_operator_deinit((struct weir_row_operator *)op);
    free(op);
}

struct weir_operator *weir_project_create(const char *id, const char *name,
                                          const struct weir_schema *schema,
                                          const struct weir_expr *const *exprs)
{
    static const struct weir_operator_ops OPS = {.kind = "project",
                                                 .process = process,
                                                 .barrier = weir_row_operator_barrier,
                                                 .destroy = destroy};
    struct project *project = weir_alloc_zero(sizeof *project);
    weir_row_operator_init(&project->base, &OPS, id, name);
    project->schema = schema;
    project->exprs = exprs;
    return &project->base.op;
}
