// SPDX-License-Identifier: Apache-2.0
// What the value of an option says: one of some words, a column (planner.h).
#include "sql/nearest.h"
#include "sql/planner.h"

#include <ctype.h>
#include <string.h>

int32_t weir_sql_option_word(struct weir_planner *planner, const struct weir_ast_option *option,
                             const char *const *allowed, uint32_t allowed_count)
{
    struct weir_buffer list = {0};
    for (uint32_t i = 0; i < allowed_count; i++) {
        if (strcmp(option->value, allowed[i]) == 0) {
            weir_buffer_deinit(&list);
            return (int32_t)i;
        }
        weir_buffer_printf(&list, "%s%s", i == 0 ? "" : ", ", allowed[i]);
    }
    weir_fault_add(&planner->faults, option->value_offset,
                   weir_arena_printf(planner->arena, "allowed: %s", weir_buffer_text(&list)),
                   "option %s: \"%s\" is not one of its values", option->name, option->value);
    weir_buffer_deinit(&list);
    return -1;
}

int32_t weir_sql_option_column(struct weir_arena *arena, const struct weir_table *table,
                               const char *name, const char **wanted, const char **nearest)
{
    size_t bytes = strlen(name);
    bool is_quoted = bytes > 2 && name[0] == '"' && name[bytes - 1] == '"';
    *wanted =
        weir_arena_printf(arena, "%.*s", (int)(is_quoted ? bytes - 2 : bytes), name + is_quoted);
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, *wanted) == 0) {
            return (int32_t)i;
        }
    }
    struct weir_nearest found = weir_nearest_start(*wanted);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const char *column = table->columns[i].name;
        bool is_folded = true;
        for (size_t j = 0; is_folded && ((*wanted)[j] != '\0' || column[j] != '\0'); j++) {
            is_folded = tolower((unsigned char)(*wanted)[j]) == column[j];
        }
        if (is_folded && !is_quoted) {
            return (int32_t)i;
        }
        weir_nearest_offer(&found, column);
    }
    *nearest = found.best;
    return -1;
}
