// SPDX-License-Identifier: Apache-2.0
// See config_environment.h.
#include "app/config_environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 16 << 20 };

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct weir_environment_entry *)a)->name,
                  ((const struct weir_environment_entry *)b)->name);
}

void weir_environment_init(struct weir_environment *environment, char *const *variables,
                           struct weir_arena *arena, struct weir_fault_list *faults)
{
    uint32_t variable_count = 0;
    while (variables[variable_count] != NULL) {
        variable_count++;
    }
    *environment = (struct weir_environment){.arena = arena, .faults = faults};
    environment->entries =
        weir_arena_alloc(arena, (variable_count + 1) * sizeof *environment->entries);
    uint32_t count = 0;
    for (uint32_t i = 0; i < variable_count; i++) {
        if (strncmp(variables[i], "WEIR_", 5) != 0) {
            continue;
        }
        char *name = weir_arena_strdup(arena, variables[i]);
        char *equals = strchr(name, '=');
        if (equals != NULL) {
            *equals = '\0';
            environment->entries[count++] =
                (struct weir_environment_entry){.name = name, .value = equals + 1};
        }
    }
    qsort(environment->entries, count, sizeof *environment->entries, compare_entries);
    for (uint32_t i = 0; i < count; i++) {
        if (environment->count > 0 && strcmp(environment->entries[environment->count - 1].name,
                                             environment->entries[i].name) == 0) {
            weir_fault_list_add(faults, "%s: given twice; keep one", environment->entries[i].name);
            continue;
        }
        environment->entries[environment->count++] = environment->entries[i];
    }
}

struct weir_environment_entry *weir_environment_find(struct weir_environment *environment,
                                                     const char *name)
{
    struct weir_environment_entry key = {.name = name};
    if (environment->count == 0) {
        return NULL;
    }
    return bsearch(&key, environment->entries, environment->count, sizeof key, compare_entries);
}

const char *weir_file_read(const char *path, struct weir_arena *arena, const char **reason)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        *reason = strerror(errno);
        return NULL;
    }
    const char *text = NULL;
    char *memory = weir_alloc(FILE_BYTES_MAX + 1);
    size_t size = fread(memory, 1, FILE_BYTES_MAX + 1, file);
    if (ferror(file)) {
        *reason = strerror(errno);
    } else if (size > FILE_BYTES_MAX) {
        *reason = "larger than 16MiB";
    } else if (memchr(memory, '\0', size) != NULL) {
        *reason = "holds a NUL byte, so it is no text";
    } else {
        memory[size] = '\0';
        text = weir_arena_strdup(arena, memory);
    }
    free(memory);
    fclose(file);
    return text;
}

static const char *without_last_newline(struct weir_arena *arena, const char *text)
{
    size_t size = strlen(text);
    if (size > 0 && text[size - 1] == '\n') {
        size -= size > 1 && text[size - 2] == '\r' ? 2 : 1;
    }
    return weir_arena_printf(arena, "%.*s", (int)size, text);
}

// Fills value and source from the file that `entry` names, or adds the fault.
static void read_given_file(struct weir_environment *environment,
                            const struct weir_environment_entry *entry, struct weir_given *given)
{
    const char *reason = NULL;
    given->source = entry->value;
    given->is_faulty = true;
    if (entry->value[0] == '\0') {
        weir_fault_list_add(environment->faults, "%s: empty; give a path or leave the variable out",
                            entry->name);
        return;
    }
    const char *text = weir_file_read(entry->value, environment->arena, &reason);
    if (text == NULL) {
        weir_fault_list_add(environment->faults, "%s: cannot read \"%s\": %s", entry->name,
                            entry->value, reason);
        return;
    }
    given->is_faulty = false;
    given->value = without_last_newline(environment->arena, text);
}

struct weir_given weir_environment_lookup(struct weir_environment *environment, const char *name,
                                          bool may_be_empty)
{
    struct weir_given given = {.source = "environment", .label = name};
    struct weir_environment_entry *plain = weir_environment_find(environment, name);
    const char *file_name = weir_arena_printf(environment->arena, "%s_FILE", name);
    struct weir_environment_entry *file = weir_environment_find(environment, file_name);
    if (plain != NULL) {
        plain->is_used = true;
        given.value = plain->value;
    }
    if (file != NULL) {
        file->is_used = true;
        given.label = file->name;
    }
    if (plain != NULL && file != NULL) {
        weir_fault_list_add(environment->faults, "%s and %s are both given; keep one", name,
                            file_name);
        given.value = NULL;
        given.is_faulty = true;
        return given;
    }
    if (file != NULL) {
        read_given_file(environment, file, &given);
    }
    if (given.value != NULL && given.value[0] == '\0' && !may_be_empty) {
        if (file != NULL) {
            weir_fault_list_add(environment->faults, "%s: \"%s\" is empty", file_name, file->value);
        } else {
            weir_fault_list_add(environment->faults,
                                "%s: empty; give a value or leave the variable out", name);
        }
        given.value = NULL;
        given.is_faulty = true;
    }
    return given;
}
