// SPDX-License-Identifier: Apache-2.0
// SELECT: one column for each expression. Plain columns are passed through without a copy. Rows for
// which an expression fails are reported and left out. No state. Thread: the task's.
#ifndef WEIR_OPERATORS_PROJECT_H
#define WEIR_OPERATORS_PROJECT_H

#include "operators/expr.h"
#include "runtime/operator.h"

// schema: of what comes out, one column for each of exprs. All arguments live as long as the
// operator.
struct weir_operator *weir_project_create(const char *id, const char *name,
                                          const struct weir_schema *schema,
                                          const struct weir_expr *const *exprs);

#endif
