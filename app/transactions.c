// SPDX-License-Identifier: Apache-2.0
// See transactions.h.
#include "app/transactions.h"

#include "app/command.h"
#include "app/open_transaction.h"
#include "app/run.h"
#include "kafka/handles.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LOCK_TIMEOUT_MS = 1000 };

struct looking {
    struct weir_kafka *kafka;
    struct weir_retry retry;
    FILE *out;
    uint32_t held_count;
};

static void print_transaction(struct looking *looking, const struct weir_topic_partition *at,
                              int64_t offset)
{
    struct weir_open_transaction open = weir_open_transaction_at(offset);
    struct weir_buffer owner = {0};
    weir_open_transaction_ask(&open, looking->kafka, at);
    // By the clock of whoever wrote it, or its event time: a hint for people.
    if (open.record_ms >= 0) {
        char text[WEIR_UTC_BYTES];
        fprintf(looking->out, ", the first with timestamp %s", weir_utc_text(open.record_ms, text));
    }
    weir_open_transaction_describe_owner(&open, &owner);
    fprintf(looking->out, "%s\n", weir_buffer_text(&owner));
    weir_buffer_deinit(&owner);
}

static enum weir_status look_at(struct looking *looking, const char *topic,
                                struct weir_error *error)
{
    struct weir_topic_info info;
    enum weir_status status = weir_ask_topic(looking->kafka, &looking->retry, topic, &info, error);
    if (status != WEIR_OK || !info.exists) {
        return status;
    }
    struct weir_topic_partition *at = weir_alloc(info.partition_count * sizeof *at);
    int64_t *stable = weir_alloc(info.partition_count * sizeof *stable);
    int64_t *ends = weir_alloc(info.partition_count * sizeof *ends);
    for (uint32_t i = 0; i < info.partition_count; i++) {
        at[i] = (struct weir_topic_partition){.topic = topic, .partition = (int32_t)i};
    }
    // In this order: what is committed in between cannot look as if it were held back.
    status = weir_ask_offsets(looking->kafka, &looking->retry, WEIR_OFFSET_LATEST, 0,
                              info.partition_count, at, ends, error);
    if (status == WEIR_OK) {
        status = weir_ask_offsets(looking->kafka, &looking->retry, WEIR_OFFSET_STABLE, 0,
                                  info.partition_count, at, stable, error);
    }
    for (uint32_t i = 0; status == WEIR_OK && i < info.partition_count; i++) {
        if (stable[i] < ends[i]) {
            looking->held_count++;
            fprintf(looking->out,
                    "topic %s partition %u: open from offset %" PRId64 ", %" PRId64 " offsets held "
                    "back",
                    topic, i, stable[i], ends[i] - stable[i]);
            print_transaction(looking, &at[i], stable[i]);
        }
    }
    free(at);
    free(stable);
    free(ends);
    return status;
}

static enum weir_status take_over(const struct weir_job_context *context,
                                  const struct weir_retry *retry, struct weir_error *error)
{
    struct weir_handles *handles = NULL;
    if (weir_handles_open(context->kafka, context->config->job_id,
                          (int32_t)context->config->instance_id, context->config->is_at_least_once,
                          retry->clock, retry->deadline_ms, &handles, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    weir_handles_close(handles);
    return WEIR_OK;
}

static enum weir_status look(struct looking *looking, const struct weir_job_context *context,
                             struct weir_arena *arena, struct weir_error *error)
{
    struct weir_topic_wish *topics;
    uint32_t count;
    if (weir_topics_wanted(context->plan, context->config, arena, &topics, &count, error) !=
        WEIR_OK) {
        return WEIR_ERROR;
    }
    fprintf(looking->out, "transactional ids of the job:");
    for (int i = 0; i < WEIR_HANDLE_COUNT; i++) {
        fprintf(looking->out, " %s-%" PRIu32 "-%d", context->config->job_id,
                context->config->instance_id, i);
    }
    fputc('\n', looking->out);
    for (uint32_t i = 0; i < count; i++) {
        if (look_at(looking, topics[i].name, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    if (looking->held_count == 0) {
        fprintf(looking->out, "no transaction is open on the %u topics of the job\n", count);
    }
    return WEIR_OK;
}

enum weir_status weir_transactions(const struct weir_config *config, bool is_abort, FILE *out,
                                   struct weir_error *error)
{
    struct weir_arena *arena = weir_arena_create(64 << 10);
    struct weir_job_context context = {0};
    enum weir_status status =
        is_abort ? weir_job_prepare(config, LOCK_TIMEOUT_MS, arena, &context, error)
                 : weir_job_connect(config, arena, &context, error);
    if (status == WEIR_OK) {
        struct looking looking = {
            .kafka = context.kafka,
            .retry = {.clock = context.clock,
                      .deadline_ms = weir_now_ms(context.clock) + config->connect_timeout_ms,
                      .stop_requests = context.stop_requests},
            .out = out};
        if (is_abort) {
            status = take_over(&context, &looking.retry, error);
        }
        if (status == WEIR_OK) {
            status = look(&looking, &context, arena, error);
        }
    }
    weir_job_release(&context);
    weir_arena_destroy(arena);
    return status;
}
