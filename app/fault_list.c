// SPDX-License-Identifier: Apache-2.0
// See fault_list.h.
#include "app/fault_list.h"

#include <stdarg.h>

void weir_fault_list_init(struct weir_fault_list *faults, struct weir_arena *arena)
{
    *faults = (struct weir_fault_list){.arena = arena};
}

void weir_fault_list_add(struct weir_fault_list *faults, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *memory = weir_arena_alloc(faults->arena, (size_t)length + 1);
    vsnprintf(memory, (size_t)length + 1, format, again);
    va_end(again);

    if (faults->count == faults->capacity) {
        uint32_t capacity = faults->capacity != 0 ? faults->capacity * 2 : 8;
        faults->texts =
            weir_arena_realloc(faults->arena, faults->texts, faults->capacity * sizeof(char *),
                               capacity * sizeof(char *));
        faults->capacity = capacity;
    }
    faults->texts[faults->count++] = memory;
}

void weir_fault_list_print(const struct weir_fault_list *faults, FILE *out)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        fprintf(out, "weir: %s\n", faults->texts[i]);
    }
}
