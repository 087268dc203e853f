// SPDX-License-Identifier: Apache-2.0
// The columns of tables that are created without any, from the latest schema of their subject: what
// the planner asks (sql/plan.h). Each table is asked for once, so that the text of a job can be
// planned several times: with its secrets, with them blanked, and to be run. Thread: the main
// thread.
#ifndef WEIR_APP_REGISTRY_COLUMNS_H
#define WEIR_APP_REGISTRY_COLUMNS_H

#include "app/config.h"
#include "sql/plan.h"

// In the arena; both live as long as it, and all columns with them. Connects to nothing before it
// is asked; asking blocks for WEIR_CONNECT_TIMEOUT at most.
struct weir_sql_columns *weir_registry_columns_create(const struct weir_config *config,
                                                      struct weir_arena *arena);

// How many of the tables that were asked for got no answer in time; each is one fault of the SQL.
uint32_t weir_registry_columns_unreachable(const struct weir_sql_columns *columns);

#endif
