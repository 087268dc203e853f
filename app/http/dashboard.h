// SPDX-License-Identifier: Apache-2.0
// dashboard.html, as it stands in the program (cmake/WeirEmbed.cmake).
#ifndef WEIR_APP_HTTP_DASHBOARD_H
#define WEIR_APP_HTTP_DASHBOARD_H

#include <stddef.h>

extern const unsigned char weir_http_dashboard[];
extern const size_t weir_http_dashboard_bytes;

#endif
