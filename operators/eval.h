// SPDX-License-Identifier: Apache-2.0
// The inside of an evaluation: its scratch, and what the files that evaluate nodes share. eval.c
// leads and does columns, constants and calls; eval_logic.c AND, OR, NOT and tests; eval_choice.c
// CASE, COALESCE, GREATEST and IN; eval_rows.c selections and columns. Private to operators/.
// Thread: its task's.
#ifndef WEIR_OPERATORS_EVAL_H
#define WEIR_OPERATORS_EVAL_H

#include "operators/node.h"

struct weir_eval {
    const struct weir_batch *batch;
    struct weir_arena *arena; // the batch's
    int64_t now_us;
    bool is_assignment; // the running kernel is an assignment cast
    char *text;         // room for text results: a piece of the arena, filled from the front
    char *text_end;
    struct weir_buffer scratch; // for texts that are written before their size is known
    uint64_t failed[WEIR_BATCH_ROWS_MAX / 64];
    uint32_t error_count;
    struct weir_eval_error errors[WEIR_BATCH_ROWS_MAX];
};

// --- nodes: out is filled for the rows of the selection ----------------------------------------

void weir_eval_vector(const struct weir_expr *expr, struct weir_eval *eval,
                      struct weir_selection selection, struct weir_vector *out);
void weir_eval_and_or(const struct weir_expr *expr, struct weir_eval *eval,
                      struct weir_selection selection, struct weir_vector *out);
void weir_eval_not(const struct weir_expr *expr, struct weir_eval *eval,
                   struct weir_selection selection, struct weir_vector *out);
void weir_eval_test(const struct weir_expr *expr, struct weir_eval *eval,
                    struct weir_selection selection, struct weir_vector *out);
void weir_eval_distinct(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out);
void weir_eval_case(const struct weir_expr *expr, struct weir_eval *eval,
                    struct weir_selection selection, struct weir_vector *out);
void weir_eval_coalesce(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out);
void weir_eval_greatest(const struct weir_expr *expr, struct weir_eval *eval,
                        struct weir_selection selection, struct weir_vector *out);
void weir_eval_in(const struct weir_expr *expr, struct weir_eval *eval,
                  struct weir_selection selection, struct weir_vector *out);

// first: the value of args[0] if it is known already, else NULL.
void weir_eval_call(const struct weir_expr *expr, struct weir_eval *eval,
                    const struct weir_vector *first, struct weir_selection selection,
                    struct weir_vector *out);
void weir_eval_call_function(const struct weir_function *function, const struct weir_type *type,
                             struct weir_eval *eval, uint32_t arg_count,
                             const struct weir_vector *args, struct weir_selection selection,
                             struct weir_vector *out);

// --- selections ------------------------------------------------------------------------------

static inline uint32_t weir_selection_row(struct weir_selection selection, uint32_t i)
{
    return selection.rows != NULL ? selection.rows[i] : i;
}

uint16_t *weir_eval_alloc_rows(struct weir_eval *eval, uint32_t count);
// The rows of the selection whose bit is set.
struct weir_selection weir_eval_select_bits(struct weir_eval *eval, const uint64_t *bits,
                                            struct weir_selection selection);
// Splits a selection by a boolean vector: rows that are `value`, and the rest (NULLs included).
void weir_eval_split(struct weir_eval *eval, const struct weir_vector *vector, uint8_t value,
                     struct weir_selection selection, struct weir_selection *equal,
                     struct weir_selection *rest);

// --- columns ---------------------------------------------------------------------------------

uint32_t weir_eval_validity_words(const struct weir_eval *eval);
// A column without bitmap (every row valid until weir_kernel_set_null); one of NULLs.
void weir_eval_start(struct weir_eval *eval, const struct weir_type *type, struct weir_vector *out);
void weir_eval_start_null(struct weir_eval *eval, const struct weir_type *type,
                          struct weir_vector *out);
// The rows of the selection from one column into another that has a bitmap.
void weir_eval_copy_rows(struct weir_column *out, const struct weir_vector *in,
                         struct weir_selection selection);
// The bitmap of rows in which every argument has a value; NULL: all. A constant NULL clears it.
uint64_t *weir_eval_combine_validity(struct weir_eval *eval, uint32_t arg_count,
                                     const struct weir_vector *args);

#endif
