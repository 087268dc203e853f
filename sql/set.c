// SPDX-License-Identifier: Apache-2.0
// SET weir.<option> (planner.h): what holds for the statements after it.
#include "sql/interval.h"
#include "sql/nearest.h"
#include "sql/planner.h"

#include <string.h>

enum weir_status weir_sql_set(struct weir_planner *planner,
                              const struct weir_ast_statement *statement)
{
    const struct weir_ast_option *option = &statement->options[0];
    struct weir_faults *faults = &planner->faults;
    if (strcmp(option->name, "state_ttl") != 0) {
        struct weir_nearest nearest = weir_nearest_start(option->name);
        weir_nearest_offer(&nearest, "state_ttl");
        const char *hint =
            nearest.best == NULL ? "known: weir.state_ttl" : "did you mean \"weir.state_ttl\"?";
        return weir_fault_add(faults, option->offset, hint, "unknown option \"weir.%s\"",
                              option->name);
    }
    int64_t us;
    const char *why;
    if (strcmp(option->value, "infinity") == 0) {
        planner->state_ttl_us = INT64_MAX;
        return WEIR_OK;
    }
    if (!weir_sql_length_parse(option->value, &us, &why)) {
        return weir_fault_add(faults, option->value_offset, "for example '1 day', or 'infinity'",
                              "option weir.state_ttl: \"%s\" cannot be used: %s", option->value,
                              why);
    }
    if (us <= 0) {
        return weir_fault_add(faults, option->value_offset, NULL,
                              "option weir.state_ttl: \"%s\" is not above 0", option->value);
    }
    planner->state_ttl_us = us;
    return WEIR_OK;
}
