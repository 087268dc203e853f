// SPDX-License-Identifier: Apache-2.0
// What must not be shown. A setting is secret by its name; its value is then replaced by a mask
// wherever weir prints it, and masked inside messages that others wrote. Thread: any.
#ifndef WEIR_APP_SECRET_H
#define WEIR_APP_SECRET_H

#include "runtime/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define WEIR_SECRET_MASK "***"

// Whether a variable, a property of the Kafka client or a table option of that name holds a secret.
bool weir_name_is_secret(const char *name);

// The values that were found to be secret.
struct weir_secrets {
    struct weir_arena *arena; // texts and the list live here
    uint32_t count;
    uint32_t capacity;
    const char **texts;
};

void weir_secrets_init(struct weir_secrets *secrets, struct weir_arena *arena);
void weir_secrets_add(struct weir_secrets *secrets, const char *text);

// Adds what a text that is no secret as a whole carries with it: users and passwords of URLs, as
// written and with %XX decoded, and what stands in quotes behind a secret's name and '=' or ':'
// (options of a table in SQL).
void weir_secrets_add_from_text(struct weir_secrets *secrets, const char *text);

// `text` with the secrets that it carries blanked by asterisks, one a character, so that lines and
// columns stay: for whoever quotes it in messages. In the arena.
const char *weir_text_blank_secrets(struct weir_arena *arena, const char *text);

// Appends `text` with every secret in it replaced by the mask. Secrets shorter than four bytes are
// not looked for: they would tear holes into every message.
void weir_secrets_mask(const struct weir_secrets *secrets, const char *text,
                       struct weir_buffer *out);

// Appends `text` with control characters, newlines among them, written as escapes.
void weir_append_escaped(struct weir_buffer *out, const char *text);

#endif
