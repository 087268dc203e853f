// SPDX-License-Identifier: Apache-2.0
// A list of everything that is wrong, so that an operator sees all of it in one run: one text a
// fault, in the order found. Thread: one.
#ifndef WEIR_APP_FAULTS_H
#define WEIR_APP_FAULTS_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"

#include <stdio.h>

struct weir_faults {
    struct weir_arena *arena; // texts and the list live here
    uint32_t count;
    uint32_t capacity;
    const char **texts; // no newline at the end; an SQL fault has several lines
};

void weir_faults_init(struct weir_faults *faults, struct weir_arena *arena);

void weir_faults_add(struct weir_faults *faults, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// "weir: <text>", a line each.
void weir_faults_print(const struct weir_faults *faults, FILE *out);

#endif
