// SPDX-License-Identifier: Apache-2.0
// The socket that HTTP listens on.
#ifndef WEIR_APP_HTTP_LISTEN_H
#define WEIR_APP_HTTP_LISTEN_H

#include "runtime/base/error.h"

#include <stddef.h>

enum { WEIR_HTTP_ADDRESS_BYTES = 80 };

// address: "host:port", "[ipv6]:port"; port 0: one that is free. [::] takes IPv4 as well. On
// success *descriptor is a listening socket, the caller's, and `bound` says where in the same form.
// Error (REFUSE): not an address of this machine, the port is taken.
// May block on resolving a name.
enum weir_status weir_http_listen(const char *address, int *descriptor,
                                  char bound[WEIR_HTTP_ADDRESS_BYTES], struct weir_error *error);

// The URL at which this machine itself reaches what listens there: 0.0.0.0 and [::] become
// loopback. Into text; returns it.
const char *weir_http_local_url(const char *address, char *text, size_t text_bytes);

#endif
