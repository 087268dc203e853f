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

// The user and password of a URL ("https://user:pw@host"): their place in `text`, without the '@'.
// False: it has none.
bool weir_url_credentials(const char *text, const char **begin, size_t *size_bytes);

// Appends `text` with every secret in it replaced by the mask. Secrets shorter than four bytes are
// not looked for: they would tear holes into every message.
void weir_secrets_mask(const char *text, uint32_t secret_count, const char *const *secrets,
                       struct weir_buffer *out);

#endif
