// SPDX-License-Identifier: Apache-2.0
// Functions that look at the record a row descends from (kafka_topic(), …) and at the time of the
// last barrier (now()). The planner lets them stand only where a row has one record.
// Thread: the task's.
#include "operators/function.h"

static const struct weir_record *record_of(const struct weir_kernel *kernel, uint32_t row)
{
    return &kernel->batch->records[row];
}

static void set_view(struct weir_kernel *kernel, uint32_t row, struct weir_view view)
{
    kernel->out->view[row] = view;
    if (view.data == NULL) {
        weir_kernel_set_null(kernel, row);
    }
}

static void kernel_topic(struct weir_kernel *kernel)
{
    WEIR_ASSERT(kernel->batch->records != NULL);
    WEIR_KERNEL_EACH(kernel, row,
                     kernel->out->view[row] = weir_view_of(record_of(kernel, row)->topic));
}

static void kernel_partition(struct weir_kernel *kernel)
{
    WEIR_ASSERT(kernel->batch->records != NULL);
    WEIR_KERNEL_EACH(kernel, row, kernel->out->i32[row] = record_of(kernel, row)->partition);
}

static void kernel_offset(struct weir_kernel *kernel)
{
    WEIR_ASSERT(kernel->batch->records != NULL);
    WEIR_KERNEL_EACH(kernel, row, kernel->out->i64[row] = record_of(kernel, row)->offset);
}

static void timestamp_row(struct weir_kernel *kernel, uint32_t row)
{
    int64_t timestamp_ms = record_of(kernel, row)->timestamp_ms;
    int64_t us;
    if (timestamp_ms < 0) {
        weir_kernel_set_null(kernel, row);
    } else if (__builtin_mul_overflow(timestamp_ms - WEIR_EPOCH_SHIFT_MS, 1000, &us)) {
        weir_kernel_fail(kernel, row, "timestamp out of range");
    } else {
        kernel->out->i64[row] = us;
    }
}

static void kernel_timestamp(struct weir_kernel *kernel)
{
    WEIR_ASSERT(kernel->batch->records != NULL);
    WEIR_KERNEL_EACH(kernel, row, timestamp_row(kernel, row));
}

static void kernel_key(struct weir_kernel *kernel)
{
    WEIR_ASSERT(kernel->batch->records != NULL);
    WEIR_KERNEL_EACH(kernel, row, set_view(kernel, row, record_of(kernel, row)->key));
}

static void header_row(struct weir_kernel *kernel, uint32_t row, const char *name)
{
    const struct weir_record *record = record_of(kernel, row);
    struct weir_view value = {0};
    if (record->ops == NULL || !record->ops->header_last(record, name, &value)) {
        value.data = NULL;
    }
    set_view(kernel, row, value);
}

static const char *name_at(struct weir_kernel *kernel, uint32_t row)
{
    const struct weir_vector *arg = &kernel->args[0];
    return weir_arena_copy(kernel->arena, arg->column.view[row & arg->row_mask]).data;
}

static void kernel_header(struct weir_kernel *kernel)
{
    WEIR_ASSERT(kernel->batch->records != NULL);
    if (weir_vector_is_constant(&kernel->args[0])) {
        const char *name = name_at(kernel, 0);
        WEIR_KERNEL_EACH(kernel, row, header_row(kernel, row, name));
        return;
    }
    WEIR_KERNEL_EACH(kernel, row, header_row(kernel, row, name_at(kernel, row)));
}

static void kernel_now(struct weir_kernel *kernel)
{
    int64_t now_us = weir_kernel_now(kernel);
    WEIR_KERNEL_EACH(kernel, row, kernel->out->i64[row] = now_us);
}

// --- table -----------------------------------------------------------------------------------

#define RECORD(the_name, type, the_kernel)                                                         \
    {                                                                                              \
        .name = the_name, .result = WEIR_ARG_##type, .flags = WEIR_FUNCTION_NEEDS_RECORD,          \
        .kernel = the_kernel                                                                       \
    }

static const struct weir_function FUNCTIONS[] = {
    RECORD("kafka_topic", TEXT, kernel_topic),
    RECORD("kafka_partition", INTEGER, kernel_partition),
    RECORD("kafka_offset", BIGINT, kernel_offset),
    RECORD("kafka_timestamp", TIMESTAMPTZ, kernel_timestamp),
    RECORD("kafka_key", BYTEA, kernel_key),
    {.name = "kafka_header",
     .arg_count = 1,
     .args = {WEIR_ARG_TEXT},
     .result = WEIR_ARG_BYTEA,
     .flags = WEIR_FUNCTION_NEEDS_RECORD,
     .kernel = kernel_header},
    {.name = "now",
     .result = WEIR_ARG_TIMESTAMPTZ,
     .flags = WEIR_FUNCTION_NEEDS_NOW,
     .kernel = kernel_now},
};

const struct weir_function_table weir_functions_record = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
