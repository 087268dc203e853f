// SPDX-License-Identifier: Apache-2.0
// A schema with all that it refers to, from the registry or from the disk. Private to the
// registry's client. Thread: as the handle.
#ifndef WEIR_KAFKA_REGISTRY_FETCH_H
#define WEIR_KAFKA_REGISTRY_FETCH_H

#include "kafka/registry_http.h"

enum { WEIR_REGISTRY_TEXT_BYTES_MAX = 512 };

// A schema as text: what it is parsed from, and what is kept on disk.
struct weir_registry_bundle {
    uint32_t id;
    uint32_t reference_count; // those that others need first
    struct weir_view *references;
    struct weir_view text;
};

// By "/schemas/ids/12" or "/subjects/s/versions/latest". Everything in the arena. REFUSED: not
// Avro; references without end. text (of the above size) says why.
enum weir_registry_answer weir_registry_fetch(struct weir_registry_handle *handle, const char *path,
                                              struct weir_arena *arena,
                                              struct weir_registry_bundle *bundle, char *text);

// Registers a schema at "/subjects/s/versions".
enum weir_registry_answer weir_registry_post_schema(struct weir_registry_handle *handle,
                                                    const char *path, const char *schema,
                                                    uint32_t *id, char *text);

// A subject as it stands in a path.
char *weir_registry_escape(struct weir_arena *arena, const char *subject);

// What is kept on disk; folder NULL: nothing is. name: of the file, without folder. A file that
// cannot be read is not there, one that cannot be written is only logged.
bool weir_registry_load(const char *folder, const char *name, struct weir_arena *arena,
                        struct weir_registry_bundle *bundle);
void weir_registry_keep(const char *folder, const char *name,
                        const struct weir_registry_bundle *bundle);

#endif
