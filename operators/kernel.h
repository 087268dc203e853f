// SPDX-License-Identifier: Apache-2.0
// Kernels: typed loops that compute one function for the rows of a batch. A kernel is called with
// the rows for which every argument has a value (all rows when it takes NULLs) and writes its
// results by row number. Private to operators/. Thread: the task that evaluates.
//
// Invariants
//   1. A kernel writes out->data[row] for the rows it was given and for no other.
//   2. It marks a row that fails (weir_kernel_fail) or that has no result (weir_kernel_set_null)
//   and
//      goes on with the next one; what it wrote there is never read.
//   3. Memory of results comes from the batch's arena (weir_kernel_text) or from the arguments.
#ifndef WEIR_OPERATORS_KERNEL_H
#define WEIR_OPERATORS_KERNEL_H

#include "operators/expr.h"
#include "runtime/types/value_error.h"

// A column, or one value that stands for all rows.
struct weir_vector {
    struct weir_column column;
    // What a row number is masked with: all ones for a column, 0 for one value (of row 0).
    uint32_t row_mask;
};

static inline bool weir_vector_is_constant(const struct weir_vector *vector)
{
    return vector->row_mask == 0;
}

static inline bool weir_vector_is_valid(const struct weir_vector *vector, uint32_t row)
{
    return weir_column_is_valid(&vector->column, row & vector->row_mask);
}

struct weir_kernel {
    struct weir_eval *eval;
    const struct weir_batch *batch;
    struct weir_arena *arena;     // the batch's
    const struct weir_type *type; // of the result, with its modifier
    uint32_t arg_count;
    const struct weir_vector *args;
    struct weir_column *out; // data allocated for batch->row_count rows
    struct weir_selection rows;
};

typedef void (*weir_kernel_fn)(struct weir_kernel *kernel);

// The row fails: reported once, with the first message. message: static or in the arena.
void weir_kernel_fail(struct weir_kernel *kernel, uint32_t row, const char *message)
    __attribute__((cold));
void weir_kernel_fail_format(struct weir_kernel *kernel, uint32_t row, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));
void weir_kernel_fail_value(struct weir_kernel *kernel, uint32_t row,
                            const struct weir_value_error *error) __attribute__((cold));
// The row's result is NULL.
void weir_kernel_set_null(struct weir_kernel *kernel, uint32_t row);
int64_t weir_kernel_now(const struct weir_kernel *kernel);
// An empty buffer to write a text to, and what was written as a result.
struct weir_buffer *weir_kernel_scratch(struct weir_kernel *kernel);
struct weir_view weir_kernel_scratch_text(struct weir_kernel *kernel);

// Room for the bytes of one row's result. weir_kernel_text_trim gives back what was not needed of
// the newest one.
char *weir_kernel_text(struct weir_kernel *kernel, size_t size_bytes);
void weir_kernel_text_trim(struct weir_kernel *kernel, char *end);

// Results longer than this fail as PostgreSQL's do past 1 GB ("requested length too large"): a
// message of Kafka cannot hold more, and a batch has up to 1,024 of them.
enum { WEIR_TEXT_RESULT_BYTES_MAX = 64 << 20 };

// The statement for each row of the kernel; once for dense rows, which compilers vectorise, and
// once for a selection.
#define WEIR_KERNEL_EACH(kernel, row, statement)                                                   \
    do {                                                                                           \
        const uint16_t *const rows_ = (kernel)->rows.rows;                                         \
        const uint32_t count_ = (kernel)->rows.count;                                              \
        if (rows_ == NULL) {                                                                       \
            for (uint32_t row = 0; row < count_; row++) {                                          \
                statement;                                                                         \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t i_ = 0; i_ < count_; i_++) {                                             \
                const uint32_t row = rows_[i_];                                                    \
                statement;                                                                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)

// Kernels from a function of one row: `out_type function(kernel, row, a, b)`. The common shapes of
// arguments have loops of their own, in which nothing but the function is left.
#define WEIR_KERNEL_1(name, out_type, a_type, function)                                            \
    static void name(struct weir_kernel *kernel)                                                   \
    {                                                                                              \
        out_type *restrict out = kernel->out->data;                                                \
        const a_type *a = kernel->args[0].column.data;                                             \
        const uint32_t a_mask = kernel->args[0].row_mask;                                          \
        if (a_mask != 0) {                                                                         \
            WEIR_KERNEL_EACH(kernel, row, out[row] = function(kernel, row, a[row]));               \
        } else {                                                                                   \
            WEIR_KERNEL_EACH(kernel, row, out[row] = function(kernel, row, a[0]));                 \
        }                                                                                          \
    }

#define WEIR_KERNEL_2(name, out_type, a_type, b_type, function)                                    \
    static void name(struct weir_kernel *kernel)                                                   \
    {                                                                                              \
        out_type *restrict out = kernel->out->data;                                                \
        const a_type *a = kernel->args[0].column.data;                                             \
        const b_type *b = kernel->args[1].column.data;                                             \
        const uint32_t a_mask = kernel->args[0].row_mask;                                          \
        const uint32_t b_mask = kernel->args[1].row_mask;                                          \
        if (a_mask != 0 && b_mask != 0) {                                                          \
            WEIR_KERNEL_EACH(kernel, row, out[row] = function(kernel, row, a[row], b[row]));       \
        } else if (a_mask != 0) {                                                                  \
            const b_type b_value = b[0];                                                           \
            WEIR_KERNEL_EACH(kernel, row, out[row] = function(kernel, row, a[row], b_value));      \
        } else {                                                                                   \
            WEIR_KERNEL_EACH(kernel, row,                                                          \
                             out[row] = function(kernel, row, a[0], b[row & b_mask]));             \
        }                                                                                          \
    }

#define WEIR_KERNEL_3(name, out_type, a_type, b_type, c_type, function)                            \
    static void name(struct weir_kernel *kernel)                                                   \
    {                                                                                              \
        out_type *restrict out = kernel->out->data;                                                \
        const a_type *a = kernel->args[0].column.data;                                             \
        const b_type *b = kernel->args[1].column.data;                                             \
        const c_type *c = kernel->args[2].column.data;                                             \
        const uint32_t a_mask = kernel->args[0].row_mask;                                          \
        const uint32_t b_mask = kernel->args[1].row_mask;                                          \
        const uint32_t c_mask = kernel->args[2].row_mask;                                          \
        WEIR_KERNEL_EACH(                                                                          \
            kernel, row,                                                                           \
            out[row] = function(kernel, row, a[row & a_mask], b[row & b_mask], c[row & c_mask]));  \
    }

#define WEIR_KERNEL_4(name, out_type, a_type, b_type, c_type, d_type, function)                    \
    static void name(struct weir_kernel *kernel)                                                   \
    {                                                                                              \
        out_type *restrict out = kernel->out->data;                                                \
        const a_type *a = kernel->args[0].column.data;                                             \
        const b_type *b = kernel->args[1].column.data;                                             \
        const c_type *c = kernel->args[2].column.data;                                             \
        const d_type *d = kernel->args[3].column.data;                                             \
        const uint32_t a_mask = kernel->args[0].row_mask;                                          \
        const uint32_t b_mask = kernel->args[1].row_mask;                                          \
        const uint32_t c_mask = kernel->args[2].row_mask;                                          \
        const uint32_t d_mask = kernel->args[3].row_mask;                                          \
        WEIR_KERNEL_EACH(kernel, row,                                                              \
                         out[row] = function(kernel, row, a[row & a_mask], b[row & b_mask],        \
                                             c[row & c_mask], d[row & d_mask]));                   \
    }

#endif
