// SPDX-License-Identifier: Apache-2.0
// The WITH options of tables in Avro: where their schemas are registered, and how (planner.h).
#include "sql/planner.h"

#include <string.h>

enum weir_status weir_sql_registry_option(struct weir_planner *planner,
                                          const struct weir_ast_option *option,
                                          struct weir_table *table)
{
    const char *value = option->value;
    if (strcmp(option->name, "schema_registry") == 0) {
        table->schema_registry = value;
        if (strncmp(value, "http://", 7) != 0 && strncmp(value, "https://", 8) != 0) {
            return weir_fault_add(&planner->faults, option->value_offset,
                                  "for example 'http://registry:8081'",
                                  "option schema_registry: not a URL of http or https");
        }
    } else if (strcmp(option->name, "schema_registry_username") == 0) {
        table->schema_registry_username = value;
    } else if (strcmp(option->name, "schema_registry_password") == 0) {
        table->schema_registry_password = value;
    } else if (strcmp(option->name, "subject") == 0) {
        table->subject = value;
    } else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        table->is_registering = value[0] == 't';
    } else {
        return weir_fault_add(&planner->faults, option->value_offset, "allowed: true, false",
                              "option auto_register: \"%s\" is not one of its values", value);
    }
    return WEIR_OK;
}
