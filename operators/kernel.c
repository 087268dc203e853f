// SPDX-License-Identifier: Apache-2.0
// What kernels call: failed rows, rows without result, room for text. See kernel.h.
#include "operators/kernel.h"

#include "operators/eval.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_ROOM_BYTES = 16 << 10 };

// The fields of a NULL composite are NULL.
static void clear_fields(struct weir_column *composite, uint32_t row)
{
    for (uint32_t i = 0; i < composite->type.composite->field_count; i++) {
        struct weir_column *field = &composite->children[i];
        weir_bitmap_clear(field->validity, row);
        if (field->children != NULL) {
            clear_fields(field, row);
        }
    }
}

void weir_kernel_set_null(struct weir_kernel *kernel, uint32_t row)
{
    struct weir_column *out = kernel->out;
    if (out->validity == NULL) {
        size_t size_bytes = (kernel->batch->row_count + 63) / 64 * sizeof(uint64_t);
        out->validity = weir_arena_alloc(kernel->arena, size_bytes);
        memset(out->validity, 0xff, size_bytes);
    }
    weir_bitmap_clear(out->validity, row);
    if (out->children != NULL) {
        clear_fields(out, row);
    }
}

void weir_kernel_fail(struct weir_kernel *kernel, uint32_t row, const char *message)
{
    struct weir_eval *eval = kernel->eval;
    weir_kernel_set_null(kernel, row);
    if (weir_bitmap_get(eval->failed, row)) {
        return;
    }
    weir_bitmap_set(eval->failed, row);
    eval->errors[eval->error_count++] = (struct weir_eval_error){
        .row = (uint16_t)row, .is_constraint = eval->is_assignment, .message = message};
}

void weir_kernel_fail_format(struct weir_kernel *kernel, uint32_t row, const char *format, ...)
{
    char text[WEIR_ERROR_TEXT_BYTES_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    weir_kernel_fail(kernel, row, weir_arena_strdup(kernel->arena, text));
}

void weir_kernel_fail_value(struct weir_kernel *kernel, uint32_t row,
                            const struct weir_value_error *error)
{
    const char *separator = error->detail[0] != '\0' ? ": " : "";
    weir_kernel_fail_format(kernel, row, "%s%s%s", error->text, separator, error->detail);
}

int64_t weir_kernel_now(const struct weir_kernel *kernel)
{
    return kernel->eval->now_us;
}

struct weir_buffer *weir_kernel_scratch(struct weir_kernel *kernel)
{
    kernel->eval->scratch.size_bytes = 0;
    return &kernel->eval->scratch;
}

struct weir_view weir_kernel_scratch_text(struct weir_kernel *kernel)
{
    const struct weir_buffer *scratch = &kernel->eval->scratch;
    char *text = weir_kernel_text(kernel, scratch->size_bytes);
    if (scratch->size_bytes != 0) {
        memcpy(text, scratch->data, scratch->size_bytes);
    }
    return (struct weir_view){.data = text, .size_bytes = scratch->size_bytes};
}

char *weir_kernel_text(struct weir_kernel *kernel, size_t size_bytes)
{
    struct weir_eval *eval = kernel->eval;
    // Never NULL: an empty text is a value.
    if (eval->text == NULL || size_bytes > (size_t)(eval->text_end - eval->text)) {
        size_t room_bytes = size_bytes > TEXT_ROOM_BYTES ? size_bytes : TEXT_ROOM_BYTES;
        eval->text = weir_arena_alloc(kernel->arena, room_bytes);
        eval->text_end = eval->text + room_bytes;
    }
    char *text = eval->text;
    eval->text += size_bytes;
    return text;
}

void weir_kernel_text_trim(struct weir_kernel *kernel, char *end)
{
    WEIR_DASSERT(end <= kernel->eval->text);
    kernel->eval->text = end;
}
