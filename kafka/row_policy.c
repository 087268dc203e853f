// SPDX-License-Identifier: Apache-2.0
// See row_policy.h. Every report is counted; the log gets the first of each reason and then one a
// power of two, so that a topic full of rubbish does not fill a disk.
#include "kafka/row_policy.h"

#include "runtime/base/clock.h"
#include "runtime/base/log.h"

#include <inttypes.h>
#include <stdio.h>

struct policy {
    struct weir_row_policy base; // first: the interface
    struct weir_row_policy_config config;
    _Atomic uint64_t counts[WEIR_ROW_ERROR_REASON_COUNT];
    struct weir_header *headers; // the record's own, then ours; grows
    uint32_t header_capacity;
};

enum { NUMBER_BYTES_MAX = 24 };

static void describe(const struct weir_row_error *row_error,
                     char *text, size_t size_bytes)
{
    const char *reason = weir_row_error_reason_name(row_error->reason);
    if (row_error->record != NULL) {
        snprintf(text, size_bytes, "topic %s partition %" PRId32 " offset %" PRId64 ": %s (%s%s%s)",
                 row_error->record->topic, row_error->record->partition, row_error->record->offset,
                 row_error->message, reason, row_error->operator_name != NULL ? ", " : "",
                 row_error->operator_name != NULL ? row_error->operator_name : "");
    } else {
        snprintf(text, size_bytes, "a row at %s: %s (%s)", row_error->operator_name,
                 row_error->message, reason);
    }
}

static void add_header(struct policy *policy, uint32_t *count, const char *name,
                       struct weir_view value)
{
    if (*count == policy->header_capacity) {
        policy->header_capacity = policy->header_capacity * 2 + 16;
        policy->headers = weir_realloc(policy->headers,
                                       policy->header_capacity * sizeof *policy->headers);
    }
    policy->headers[(*count)++] = (struct weir_header){.name = name, .value = value};
}

static struct weir_view number_view(char text[NUMBER_BYTES_MAX], int64_t number)
{
    snprintf(text, NUMBER_BYTES_MAX, "%" PRId64, number);
    return weir_view_of(text);
}

static enum weir_status write_dead_letter(struct policy *policy,
                                          const struct weir_row_error *row_error,
                                          struct weir_error *error)
{
    const struct weir_record *record = row_error->record;
    char partition[NUMBER_BYTES_MAX];
    char offset[NUMBER_BYTES_MAX];
    char timestamp[NUMBER_BYTES_MAX];
    uint32_t count = 0;
    struct weir_header header;
    for (uint32_t i = 0; record != NULL && record->ops->header_at(record, i, &header); i++) {
        add_header(policy, &count, header.name, header.value);
    }
    add_header(policy, &count, "weir.error",
               weir_view_of(weir_row_error_reason_name(row_error->reason)));
    add_header(policy, &count, "weir.message", weir_view_of(row_error->message));
    if (record != NULL) {
        add_header(policy, &count, "weir.topic", weir_view_of(record->topic));
        add_header(policy, &count, "weir.partition", number_view(partition, record->partition));
        add_header(policy, &count, "weir.offset", number_view(offset, record->offset));
        add_header(policy, &count, "weir.timestamp", number_view(timestamp, record->timestamp_ms));
    } else {
        add_header(policy, &count, "weir.operator", weir_view_of(row_error->operator_name));
    }
    add_header(policy, &count, "weir.job", weir_view_of(policy->config.job_id));

    uint32_t partition_count = weir_writer_partition_count(policy->config.writer);
    bool has_time = record != NULL && record->timestamp_ms > 0;
    struct weir_message message = {
        .partition = record != NULL ? (int32_t)((uint32_t)record->partition % partition_count) : 0,
        .timestamp_ms = has_time ? record->timestamp_ms : weir_wall_ms(&weir_system_clock),
        .key = record != NULL ? record->key : (struct weir_view){0},
        .value = record != NULL ? record->value : row_error->row_json,
        .header_count = count,
        .headers = policy->headers,
    };
    enum weir_status status = weir_writer_write(policy->config.writer, &message, error);
    policy->base.op.is_blocked = weir_writer_is_full(policy->config.writer);
    policy->base.op.is_waiting = weir_writer_is_waiting(policy->config.writer);
    return status;
}

static enum weir_status report(struct weir_row_error_policy *interface,
                               const struct weir_row_error *row_error, struct weir_error *error)
{
    struct policy *policy =
        (struct policy *)((char *)interface - offsetof(struct policy, base.policy));
    uint64_t count = atomic_fetch_add(&policy->counts[row_error->reason], 1) + 1;
    char text[1024];
    describe(row_error, text, sizeof text);
    switch (policy->config.kind) {
    case WEIR_ROW_POLICY_FAIL:
        return weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL,
                              "table %s: %s; on_error = 'skip' or 'dead_letter' goes on without it",
                              policy->config.table, text);
    case WEIR_ROW_POLICY_SKIP:
    case WEIR_ROW_POLICY_DEAD_LETTER:
        break;
    }
    if ((count & (count - 1)) == 0) {
        weir_log(WEIR_LOG_WARN, "table %s: %s: %s (%" PRIu64 " with this reason so far)",
                 policy->config.table,
                 policy->config.kind == WEIR_ROW_POLICY_SKIP ? "skipped" : "dead letter", text,
                 count);
    }
    return policy->config.kind == WEIR_ROW_POLICY_SKIP
               ? WEIR_OK
               : write_dead_letter(policy, row_error, error);
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)error;
    struct policy *policy = (struct policy *)op;
    if (policy->config.writer != NULL) {
        weir_writer_barrier(policy->config.writer, at, snapshot);
    }
    return WEIR_OK;
}

static enum weir_status resume(struct weir_operator *op, struct weir_error *error)
{
    struct policy *policy = (struct policy *)op;
    if (policy->config.writer == NULL) {
        return WEIR_OK;
    }
    enum weir_status status = weir_writer_resume(policy->config.writer, error);
    op->is_blocked = weir_writer_is_full(policy->config.writer);
    op->is_waiting = weir_writer_is_waiting(policy->config.writer);
    return status;
}

static void destroy(struct weir_operator *op)
{
    struct policy *policy = (struct policy *)op;
    weir_writer_destroy(policy->config.writer);
    free(policy->headers);
    free(policy);
}

static const struct weir_operator_ops policy_ops = {
    .kind = "row policy",
    .barrier = barrier,
    .resume = resume,
    .destroy = destroy,
};

struct weir_row_policy *weir_row_policy_create(const struct weir_row_policy_config *config)
{
    WEIR_ASSERT((config->kind == WEIR_ROW_POLICY_DEAD_LETTER) == (config->writer != NULL));
    struct policy *policy = weir_alloc_zero(sizeof *policy);
    policy->config = *config;
    policy->base.op.ops = &policy_ops;
    policy->base.op.name = config->table;
    policy->base.policy.report = report;
    return &policy->base;
}

uint64_t weir_row_policy_count(const struct weir_row_policy *policy,
                               enum weir_row_error_reason reason)
{
    return atomic_load(&((const struct policy *)policy)->counts[reason]);
}
