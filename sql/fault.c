// SPDX-License-Identifier: Apache-2.0
// Collecting and printing the faults of a job (fault.h).
#include "sql/fault.h"

#include "runtime/base/assert.h"

#include <stdio.h>
#include <string.h>

static enum weir_status add(struct weir_faults *faults, int32_t offset, const char *hint,
                            const char *text)
{
    if (offset < 0) {
        offset = faults->statement_offset;
    }
    // What is bound twice (a WITH query named twice) fails twice.
    for (uint32_t i = 0; i < faults->count; i++) {
        if (faults->items[i].offset == offset && strcmp(faults->items[i].text, text) == 0) {
            return WEIR_ERROR;
        }
    }
    if (faults->count == faults->capacity) {
        uint32_t capacity = faults->capacity == 0 ? 8 : faults->capacity * 2;
        faults->items = weir_arena_realloc(faults->arena, faults->items,
                                           faults->capacity * sizeof(struct weir_fault),
                                           capacity * sizeof(struct weir_fault));
        faults->capacity = capacity;
    }
    faults->items[faults->count++] = (struct weir_fault){
        .statement_number = faults->statement_number,
        .offset = offset,
        .text = text,
        .hint = hint,
    };
    return WEIR_ERROR;
}

enum weir_status weir_fault_add(struct weir_faults *faults, int32_t offset, const char *hint,
                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct weir_buffer text = {0};
    char *room = weir_buffer_reserve(&text, WEIR_ERROR_TEXT_BYTES_MAX);
    vsnprintf(room, WEIR_ERROR_TEXT_BYTES_MAX, format, args);
    va_end(args);
    add(faults, offset, hint, weir_arena_strdup(faults->arena, room));
    weir_buffer_deinit(&text);
    return WEIR_ERROR;
}

enum weir_status weir_fault_add_error(struct weir_faults *faults, int32_t offset,
                                      const struct weir_error *error)
{
    return add(faults, offset, NULL, weir_arena_strdup(faults->arena, error->text));
}

const char *weir_fault_did_you_mean(struct weir_faults *faults, const char *nearest)
{
    return nearest == NULL ? NULL
                           : weir_arena_printf(faults->arena, "did you mean \"%s\"?", nearest);
}

void weir_fault_print(const struct weir_faults *faults, const struct weir_fault *fault,
                      struct weir_buffer *out)
{
    if (fault->statement_number != 0) {
        weir_buffer_printf(out, "statement %u, ", fault->statement_number);
    }
    if (fault->offset >= 0) {
        int32_t line_number;
        int32_t column_number;
        weir_sql_text_place(&faults->text, (size_t)fault->offset, &line_number, &column_number);
        weir_buffer_printf(out, "line %d, column %d: ", line_number, column_number);
    }
    weir_buffer_printf(out, "%s", fault->text);
    if (fault->offset >= 0) {
        weir_buffer_append_char(out, '\n');
        weir_sql_text_excerpt(&faults->text, (size_t)fault->offset, out);
        out->size_bytes--; // the newline behind the caret
    }
    if (fault->hint != NULL) {
        weir_buffer_printf(out, "\n  %s", fault->hint);
    }
}

enum weir_status weir_faults_to_error(const struct weir_faults *faults, struct weir_error *error)
{
    WEIR_ASSERT(faults->count != 0);
    struct weir_buffer text = {0};
    uint32_t printed_count = 0;
    for (; printed_count < faults->count; printed_count++) {
        size_t before_bytes = text.size_bytes;
        if (printed_count != 0) {
            weir_buffer_append_char(&text, '\n');
        }
        weir_fault_print(faults, &faults->items[printed_count], &text);
        // Room for the line that says how many more there are.
        if (printed_count != 0 && text.size_bytes > WEIR_ERROR_TEXT_BYTES_MAX - 64) {
            text.size_bytes = before_bytes;
            break;
        }
    }
    if (printed_count < faults->count) {
        weir_buffer_printf(&text, "\n… and %u more", faults->count - printed_count);
    }
    weir_error_set(error, WEIR_DOMAIN_SQL, WEIR_ACTION_REFUSE, "%s", weir_buffer_text(&text));
    const struct weir_fault *first = &faults->items[0];
    if (error != NULL && first->offset >= 0) {
        weir_sql_text_place(&faults->text, (size_t)first->offset, &error->line_number,
                            &error->column_number);
    }
    weir_buffer_deinit(&text);
    return WEIR_ERROR;
}
