// SPDX-License-Identifier: Apache-2.0
// The schema registries of a job: one client for each that a table in Avro names, and what a start
// asks of them. Thread: the main thread; what is found is read by all.
#ifndef WEIR_APP_REGISTRIES_H
#define WEIR_APP_REGISTRIES_H

#include "app/config.h"
#include "app/fault_list.h"
#include "app/retry.h"
#include "kafka/avro_given.h"
#include "kafka/registry.h"
#include "sql/plan.h"

struct weir_registries;

// What one table needs of its registry.
struct weir_table_schemas {
    const struct weir_table *table;
    struct weir_registry *registry; // NULL: the schema is given, and keys are not in Avro
    struct weir_avro_given *given;  // NULL: a registry has it
    const char *value_subject;      // NULL: its values are not in Avro
    const char *key_subject;        // NULL: its keys are not in Avro, or it has none
    // Sources: the subject's latest schema, for defaults and aliases; NULL: there is none.
    const struct weir_avro_type *value_reader;
    const struct weir_avro_type *key_reader;
    // Sinks: what values and keys are written as.
    struct weir_registry_schema value_writer;
    struct weir_registry_schema key_writer;
};

// How a table's registry is asked, but for the folder of what is kept. Error (REFUSE): neither the
// table nor the configuration names one.
enum weir_status weir_registry_settings(const struct weir_table *table,
                                        const struct weir_config *config,
                                        struct weir_registry_config *settings,
                                        struct weir_error *error);
// The subject of its values or keys; in the arena or the table's.
const char *weir_registry_subject(struct weir_arena *arena, const struct weir_table *table,
                                  bool is_key);
// weir_registry_latest, again and again while that can help. Blocks.
enum weir_status weir_registry_ask_latest(struct weir_registry *registry, const char *subject,
                                          const struct weir_retry *retry, bool *is_found,
                                          struct weir_registry_schema *schema,
                                          struct weir_error *error);

// Tables in Avro have a registry, others none: adds one fault a mistake.
void weir_registries_check(const struct weir_plan *plan, const struct weir_config *config,
                           struct weir_fault_list *faults);

// Does not connect. The plan outlives it. Error (REFUSE): not a URL.
enum weir_status weir_registries_create(const struct weir_plan *plan,
                                        const struct weir_config *config,
                                        struct weir_registries **registries,
                                        struct weir_error *error);
void weir_registries_destroy(struct weir_registries *registries); // accepts NULL

// Asks what has not been answered yet, until the retry's time is over. is_fresh: the job has no
// checkpoint yet, so that a schema that can never be read is refused; later on it makes bad
// records. Blocks.
enum weir_status weir_registries_ask(struct weir_registries *registries, bool is_fresh,
                                     const struct weir_retry *retry, struct weir_error *error);

// Records wait for one of them: true, and a line for each says why. Thread: any.
bool weir_registries_are_waited_for(const struct weir_registries *registries,
                                    struct weir_buffer *out);

// Never NULL for a table of which a format is Avro.
const struct weir_table_schemas *weir_registries_of(const struct weir_registries *registries,
                                                    const struct weir_table *table);

#endif
