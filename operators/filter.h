// SPDX-License-Identifier: Apache-2.0
// WHERE: keeps the rows for which a condition is true; NULL is not true. Rows for which it fails
// are reported and left out. No state. Thread: the task's.
#ifndef WEIR_OPERATORS_FILTER_H
#define WEIR_OPERATORS_FILTER_H

#include "operators/expr.h"
#include "runtime/operator.h"

// id, name and the tree live as long as the operator. condition: a boolean.
struct weir_operator *weir_filter_create(const char *id, const char *name,
                                         const struct weir_expr *condition);

#endif
