// SPDX-License-Identifier: Apache-2.0
// The WEIR_ variables of the process, and the rule that NAME_FILE reads the value of NAME from a
// file. Private to the files app/config*.c. Thread: one. Blocks on reading files.
#ifndef WEIR_APP_CONFIG_ENVIRONMENT_H
#define WEIR_APP_CONFIG_ENVIRONMENT_H

#include "app/fault_list.h"
#include "runtime/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct weir_environment_entry {
    const char *name;
    const char *value;
    bool is_used; // by a lookup: what stays unused is unknown
};

struct weir_environment {
    struct weir_arena *arena;
    struct weir_fault_list *faults;
    uint32_t count;
    struct weir_environment_entry *entries; // sorted by name, each name once
};

// A value and where it comes from.
struct weir_given {
    const char *value;  // NULL: not given, or a fault has been added
    const char *source; // "environment" or a path
    const char *label;  // the variable that gave it, for messages: NAME or NAME_FILE
    bool is_faulty;
};

// Takes every variable that begins with WEIR_. A name that is there twice is a fault.
void weir_environment_init(struct weir_environment *environment, char *const *variables,
                           struct weir_arena *arena, struct weir_fault_list *faults);

struct weir_environment_entry *weir_environment_find(struct weir_environment *environment,
                                                     const char *name);

// The value of NAME or of the file that NAME_FILE names, without one newline at its end; marks both
// as used. Both given, a file that cannot be read, and, unless may_be_empty, an empty value are
// faults.
struct weir_given weir_environment_lookup(struct weir_environment *environment, const char *name,
                                          bool may_be_empty);

// The text of a file, up to 16 MiB without NUL bytes. On failure *reason says why and NULL is
// returned.
const char *weir_file_read(const char *path, struct weir_arena *arena, const char **reason);

#endif
