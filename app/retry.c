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
    weir_pause_ms(PAUSE_MS);
    return true;
}

void weir_pause_ms(int64_t ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

enum weir_status weir_ask_topic(struct weir_kafka *kafka, const struct weir_retry *retry,
                                const char *topic, struct weir_topic_info *info,
                                struct weir_error *error)
{
    while (kafka->ops->topic_info(kafka, topic, info, weir_retry_call_timeout_ms(retry), error) !=
           WEIR_OK) {
        if (!weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

enum weir_status weir_ask_offsets(struct weir_kafka *kafka, const struct weir_retry *retry,
                                  enum weir_offset_query query, int64_t timestamp_ms,
                                  uint32_t count, const struct weir_topic_partition *partitions,
                                  int64_t *offsets, struct weir_error *error)
{
    while (kafka->ops->offsets(kafka, query, timestamp_ms, count, partitions, offsets,
                               weir_retry_call_timeout_ms(retry), error) != WEIR_OK) {
        if (!weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

enum weir_status weir_ask_committed(struct weir_kafka *kafka, const struct weir_retry *retry,
                                    enum weir_isolation isolation, uint32_t count,
                                    const struct weir_topic_partition *partitions,
                                    struct weir_committed *committed, struct weir_error *error)
{
    while (kafka->ops->committed(kafka, isolation, count, partitions, committed,
                                 weir_retry_call_timeout_ms(retry), error) != WEIR_OK) {
        if (!weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}
