// SPDX-License-Identifier: Apache-2.0
// An answer that comes later: what a handler leaves behind when the job has to do something first.
// The server asks it now and then, so that nobody's thread is held by a client that waits.
#ifndef WEIR_APP_HTTP_WAIT_H
#define WEIR_APP_HTTP_WAIT_H

#include "app/http/http.h"

struct weir_http_wait {
    // True: the response is filled. is_last: there will be no other time, answer in any case.
    // Thread: the server's waiting one. Does not block.
    bool (*is_over)(struct weir_http_wait *wait, bool is_last, struct weir_http_response *response);
    void (*destroy)(struct weir_http_wait *wait);
};

#endif
