// SPDX-License-Identifier: Apache-2.0
// A list of everything that is wrong, so that an operator sees all of it in one run: one text a
// fault, in the order found. Thread: one.
#ifndef WEIR_APP_FAULT_LIST_H
#define WEIR_APP_FAULT_LIST_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"

#include <stdio.h>

struct weir_fault_list {
    struct weir_arena *arena; // texts and the list live here
    uint32_t count;
    uint32_t
        unreachable_count; // of them: somebody did not answer, nothing is wrong with what is given
    uint32_t capacity;
    const char **texts; // no newline at the end; an SQL fault has several lines
};

void weir_fault_list_init(struct weir_fault_list *faults, struct weir_arena *arena);

void weir_fault_list_add(struct weir_fault_list *faults, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// "weir: <text>", a line each.
void weir_fault_list_print(const struct weir_fault_list *faults, FILE *out);

#endif
