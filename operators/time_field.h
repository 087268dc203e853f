// SPDX-License-Identifier: Apache-2.0
// The first argument of extract, date_part and date_trunc: the name of a field, mostly a constant
// that is read once a batch. Private to operators/. Thread: the task's; checks: any.
#ifndef WEIR_OPERATORS_TIME_FIELD_H
#define WEIR_OPERATORS_TIME_FIELD_H

#include "operators/function.h"
#include "runtime/types/datetime.h"

// Reads a name for a value of type `arg`. False: there is no such field there.
typedef bool (*weir_field_read_fn)(struct weir_view name, enum weir_arg arg,
                                   enum weir_time_field *field, struct weir_value_error *error);

// The field of a row, read once when it is a constant.
struct weir_field_reader {
    weir_field_read_fn read;
    enum weir_arg arg;
    bool is_read;
    enum weir_time_field field;
};

// false: the row failed.
bool weir_field_of(struct weir_field_reader *reader, struct weir_kernel *kernel, uint32_t row);

// `unit "x" not recognized for type date`; why: "recognized", "supported". Returns false.
bool weir_time_field_refuse(struct weir_value_error *error, struct weir_view name, const char *why,
                            enum weir_arg arg);

// At plan time: a name that is no constant is looked at later.
bool weir_field_check(weir_field_read_fn read, const struct weir_expr *name, enum weir_arg arg,
                      struct weir_value_error *error);

#define WEIR_FIELD_KERNEL(name, row_function, read_function, type)                                 \
    static void name(struct weir_kernel *kernel)                                                   \
    {                                                                                              \
        struct weir_field_reader reader = {.read = read_function, .arg = WEIR_ARG_##type};         \
        WEIR_KERNEL_EACH(kernel, row, row_function(kernel, row, &reader));                         \
    }

#endif
