// SPDX-License-Identifier: Apache-2.0
// See retry.h.
#include "app/retry.h"

#include "app/board.h"

#include <time.h>

enum { PAUSE_MS = 200 };

int32_t weir_retry_call_timeout_ms(const struct weir_retry *retry)
{
    int64_t left_ms = retry->deadline_ms - weir_now_ms(retry->clock);
    if (left_ms > WEIR_CALL_TIMEOUT_MS) {
        return WEIR_CALL_TIMEOUT_MS;
    }
    return left_ms > PAUSE_MS ? (int32_t)left_ms : PAUSE_MS;
}

bool weir_retry_again(const struct weir_retry *retry, struct weir_error *error)
{
    if (error->action != WEIR_ACTION_RETRY) {
        return false;
    }
    if (*retry->stop_requests > 0 || weir_now_ms(retry->clock) >= retry->deadline_ms) {
        error->action = WEIR_ACTION_FAIL;
        weir_error_context(error, error->domain == WEIR_DOMAIN_KAFKA
                                      ? "gave up waiting for the brokers"
                                      : "gave up waiting");
        return false;
    }
    weir_board_set_state(retry->board, WEIR_JOB_RECOVERING, error->text);
    struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    nanosleep(&pause, NULL);
    return true;
}
