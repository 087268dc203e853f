// SPDX-License-Identifier: Apache-2.0
// See time_field.h.
#include "operators/time_field.h"

#include "operators/node.h"

bool weir_time_field_refuse(struct weir_value_error *error, struct weir_view name, const char *why,
                            enum weir_arg arg)
{
    char lower[64];
    uint32_t size = 0;
    for (; size < sizeof lower - 1 && size < name.size_bytes; size++) {
        char c = name.data[size];
        lower[size] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    lower[size] = '\0';
    return weir_value_error_set(error, "unit \"%s\" not %s for type %s", lower, why,
                                weir_arg_name(arg));
}

bool weir_field_of(struct weir_field_reader *reader, struct weir_kernel *kernel, uint32_t row)
{
    if (reader->is_read) {
        return true;
    }
    struct weir_value_error error;
    const struct weir_vector *names = &kernel->args[0];
    if (!reader->read(names->column.view[row & names->row_mask], reader->arg, &reader->field,
                      &error)) {
        weir_kernel_fail_value(kernel, row, &error);
        return false;
    }
    reader->is_read = weir_vector_is_constant(names);
    return true;
}

bool weir_field_check(weir_field_read_fn read, const struct weir_expr *name, enum weir_arg arg,
                      struct weir_value_error *error)
{
    enum weir_time_field field;
    return name->kind != WEIR_EXPR_CONSTANT || weir_expr_is_null_constant(name) ||
           read(name->constant.view[0], arg, &field, error);
}
