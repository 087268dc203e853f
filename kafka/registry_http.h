// SPDX-License-Identifier: Apache-2.0
// One request to a schema registry and its answer. Private to the registry's client.
// Thread: a handle belongs to one thread.
#ifndef WEIR_KAFKA_REGISTRY_HTTP_H
#define WEIR_KAFKA_REGISTRY_HTTP_H

#include "kafka/registry.h"

#include <stdatomic.h>

// Where and how: shared by all handles, immutable but for is_stopping.
struct weir_registry_place {
    char *url; // without user, password and a slash at its end
    char *username;
    char *password;
    char *token;
    char *ca_path;
    char *certificate_path;
    char *key_path;
    char *key_password;
    atomic_bool is_stopping; // ends running requests
};

enum weir_registry_answer {
    WEIR_REGISTRY_OK,
    WEIR_REGISTRY_NOT_FOUND, // 404, and it is the registry that says so
    WEIR_REGISTRY_REFUSED,   // the request was understood, and the answer is no
    WEIR_REGISTRY_DENIED,    // not with this user, token or certificate
    WEIR_REGISTRY_DOWN,      // no answer, or one that says nothing about the question
};

struct weir_registry_handle;

struct weir_registry_handle *weir_registry_handle_create(const struct weir_registry_place *place);
void weir_registry_handle_destroy(struct weir_registry_handle *handle); // accepts NULL

// GET of url + path, or POST where there is a body. The answer's body is put into *out (emptied
// before); text says what went wrong, without secrets. Blocks for some seconds at most.
enum weir_registry_answer weir_registry_request(struct weir_registry_handle *handle,
                                                const char *path, const char *body,
                                                struct weir_buffer *out, char *text,
                                                size_t text_bytes);

// url: user and password are taken out of it. False: not a URL of http or https.
bool weir_registry_place_init(struct weir_registry_place *place,
                              const struct weir_registry_config *config);
void weir_registry_place_deinit(struct weir_registry_place *place);

#endif
