// SPDX-License-Identifier: Apache-2.0
// The client of a schema registry (Confluent's API). Schemas of records are fetched by a thread of
// its own: a task asks, is told "pending", goes on with other partitions, and is woken when the
// answer is there. What was fetched once is kept on disk, so that a job goes on, and starts again,
// without the registry.
//
// What may go wrong with an id is told apart: the registry says that there is none (REFUSED), its
// schema cannot be used (REFUSED), the registry does not answer or is not well (stays pending; it
// is asked again, with back-off, until it answers).
#ifndef WEIR_KAFKA_REGISTRY_H
#define WEIR_KAFKA_REGISTRY_H

#include "kafka/avro_decode.h"
#include "runtime/base/clock.h"

struct weir_registry_config {
    const char *url;              // base; may have a path, and user:password@
    const char *username;         // NULL: none, or the URL's
    const char *password;         // NULL: none, or the URL's
    const char *token;            // bearer; NULL: none. Wins over a user in the URL
    const char *ca_path;          // file of certificates; NULL: the system's
    const char *certificate_path; // of the client, PEM; NULL: none
    const char *key_path;         // its private key, PEM; NULL: in the same file
    const char *key_password;     // NULL: none
    const char *cache_folder;     // made if missing; NULL: nothing is kept
};

struct weir_registry;

// Texts are copied. Does not connect. Error (REFUSE): not a URL. Thread: any.
enum weir_status weir_registry_create(const struct weir_registry_config *config,
                                      struct weir_registry **registry, struct weir_error *error);
void weir_registry_destroy(struct weir_registry *registry); // accepts NULL; ends a running request

// The URL without user and password, for messages.
const char *weir_registry_url(const struct weir_registry *registry);

// Records wait for the registry's answer: true, and a line in *out says for which ids and why.
// Thread: any. Does not block on the registry.
bool weir_registry_is_waited_for(struct weir_registry *registry, struct weir_buffer *out);

// Schemas by id. Lives as long as the registry.
struct weir_avro_schemas *weir_registry_schemas(struct weir_registry *registry);

// --- at a start: these block for one request -------------------------------------------------

struct weir_registry_schema {
    uint32_t id;
    const struct weir_avro_type *type; // lives as long as the registry
};

// The latest version of a subject; *is_found false: there is no such subject (where there was one
// before, this is believed after a quarter of a minute: until then it is asked again). Where the
// registry does not answer: what is kept on disk, else an error. Errors: RETRY (does not answer),
// REFUSE.
enum weir_status weir_registry_latest(struct weir_registry *registry, const char *subject,
                                      bool *is_found, struct weir_registry_schema *schema,
                                      struct weir_error *error);

// Registers a schema (again: the same id). Where the registry does not answer and this schema was
// registered before, its id as kept on disk. Errors: RETRY (does not answer), REFUSE (with the
// registry's own words: incompatible, not allowed).
enum weir_status weir_registry_register(struct weir_registry *registry, const char *subject,
                                        const char *text, uint32_t *id, struct weir_error *error);

#endif
