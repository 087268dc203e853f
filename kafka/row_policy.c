// SPDX-License-Identifier: Apache-2.0
// See row_policy.h. Every report is counted; the log gets the first of each reason and then one a
// power of two, so that a topic full of rubbish does not fill a disk.
#include "kafka/row_policy.h"

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/metrics.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    WRITER_COUNT = 2,
    RATIO_RECORDS_MAX = 1000,
};

// What rows of one operator are counted by; opened with the first of them.
struct by_operator {
    const char *name;         // compared by address: operators have theirs for life
    struct weir_metric *late; // NULL: not yet, as those below
    struct weir_metric *dropped[WEIR_ROW_ERROR_REASON_COUNT];
};

struct policy {
    struct weir_row_policy base; // first: the interface
    struct weir_row_policy_config config;
    struct weir_writer *writers[WRITER_COUNT]; // dead letters, late rows; either may be NULL
    _Atomic uint64_t counts[WEIR_ROW_ERROR_REASON_COUNT];
    struct weir_metric *dead_letters[WEIR_ROW_ERROR_REASON_COUNT]; // NULL: no such policy
    struct by_operator *by_operator;
    uint32_t operator_count;
    struct weir_header *headers; // the record's own, then ours; grows
    uint32_t header_capacity;
    // The last thousand records or so: older ones count half as much with each thousand.
    uint64_t recent_count;
    uint64_t recent_bad_count;
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

static void add_provenance(struct policy *policy, uint32_t *count,
                           const struct weir_row_error *row_error,
                           char numbers[4][NUMBER_BYTES_MAX])
{
    const struct weir_record *record = row_error->record;
    add_header(policy, count, "weir.error",
               weir_view_of(weir_row_error_reason_name(row_error->reason)));
    add_header(policy, count, "weir.message", weir_view_of(row_error->message));
    if (record != NULL) {
        add_header(policy, count, "weir.topic", weir_view_of(record->topic));
        add_header(policy, count, "weir.partition", number_view(numbers[0], record->partition));
        add_header(policy, count, "weir.offset", number_view(numbers[1], record->offset));
        add_header(policy, count, "weir.timestamp", number_view(numbers[2], record->timestamp_ms));
    } else {
        add_header(policy, count, "weir.operator", weir_view_of(row_error->operator_name));
    }
    if (row_error->reason == WEIR_ROW_ERROR_LATE) {
        add_header(policy, count, "weir.late_by_ms",
                   number_view(numbers[3], row_error->late_by_ms));
    }
    add_header(policy, count, "weir.job", weir_view_of(policy->config.job_id));
}

static void show_pressure(struct policy *policy)
{
    struct weir_operator *op = &policy->base.op;
    op->is_blocked = false;
    op->is_waiting = false;
    for (int i = 0; i < WRITER_COUNT; i++) {
        if (policy->writers[i] != NULL) {
            op->is_blocked = op->is_blocked || weir_writer_is_full(policy->writers[i]);
            op->is_waiting = op->is_waiting || weir_writer_is_waiting(policy->writers[i]);
        }
    }
}

// The original record, or the row as JSON, with headers that say why it is here.
static enum weir_status write_aside(struct policy *policy, struct weir_writer *writer,
                                    const struct weir_row_error *row_error,
                                    struct weir_error *error)
{
    const struct weir_record *record = row_error->record;
    char numbers[4][NUMBER_BYTES_MAX];
    uint32_t count = 0;
    struct weir_header header;
    for (uint32_t i = 0; record != NULL && record->ops->header_at(record, i, &header); i++) {
        add_header(policy, &count, header.name, header.value);
    }
    add_provenance(policy, &count, row_error, numbers);
    uint32_t partition_count = weir_writer_partition_count(writer);
    bool has_time = record != NULL && record->timestamp_ms > 0;
    struct weir_message message = {
        .partition = record != NULL ? (int32_t)((uint32_t)record->partition % partition_count) : 0,
        .timestamp_ms = has_time ? record->timestamp_ms : weir_wall_ms(&weir_system_clock),
        .key = record != NULL ? record->key : (struct weir_view){0},
        .value = record != NULL ? record->value : row_error->row_json,
        .header_count = count,
        .headers = policy->headers,
    };
    enum weir_status status = weir_writer_write(writer, &message, error);
    if (status != WEIR_OK) {
        weir_error_context(error, "table %s: writing to its %s topic", policy->config.table,
                           writer == policy->config.writer ? "dead-letter" : "late");
    }
    show_pressure(policy);
    return status;
}

// What becomes of a row with that reason, as a word for the log; *writer: where it goes, or NULL.
static const char *fate_of(const struct policy *policy, enum weir_row_error_reason reason,
                           struct weir_writer **writer)
{
    *writer = NULL;
    if (reason == WEIR_ROW_ERROR_LATE) {
        *writer = policy->config.late_writer;
        return "late";
    }
    *writer = policy->config.writer;
    return policy->config.kind == WEIR_ROW_POLICY_SKIP ? "skipped" : "dead letter";
}

static struct by_operator *counts_of(struct policy *policy, const char *operator_name)
{
    const char *name = operator_name != NULL ? operator_name : policy->config.table;
    for (uint32_t i = 0; i < policy->operator_count; i++) {
        if (policy->by_operator[i].name == name) {
            return &policy->by_operator[i];
        }
    }
    policy->by_operator = weir_realloc(
        policy->by_operator, (policy->operator_count + 1) * sizeof *policy->by_operator);
    struct by_operator *added = &policy->by_operator[policy->operator_count++];
    *added = (struct by_operator){.name = name};
    return added;
}

static void count_row(struct policy *policy, const struct weir_row_error *row_error,
                      bool is_written)
{
    enum weir_row_error_reason reason = row_error->reason;
    struct by_operator *counts = counts_of(policy, row_error->operator_name);
    if (reason == WEIR_ROW_ERROR_LATE) {
        if (counts->late == NULL) {
            counts->late =
                weir_metric_open(WEIR_METRIC_LATE_ROWS, WEIR_METRIC_LABELS(counts->name));
        }
        weir_metric_add(counts->late, 1);
    } else if (is_written) {
        weir_metric_add(policy->dead_letters[reason], 1);
    }
    if (!is_written) {
        if (counts->dropped[reason] == NULL) {
            counts->dropped[reason] = weir_metric_open(
                WEIR_METRIC_ROWS_DROPPED,
                WEIR_METRIC_LABELS(counts->name, weir_row_error_reason_name(reason)));
        }
        weir_metric_add(counts->dropped[reason], 1);
    }
}

static enum weir_status report(struct weir_row_error_policy *interface,
                               const struct weir_row_error *row_error, struct weir_error *error)
{
    struct policy *policy =
        (struct policy *)((char *)interface - offsetof(struct policy, base.policy));
    uint64_t count = atomic_fetch_add(&policy->counts[row_error->reason], 1) + 1;
    policy->recent_bad_count += row_error->reason != WEIR_ROW_ERROR_LATE;
    char text[1024];
    if (policy->config.kind == WEIR_ROW_POLICY_FAIL && row_error->reason != WEIR_ROW_ERROR_LATE) {
        describe(row_error, text, sizeof text);
        return weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL,
                              "table %s: %s; on_error = 'skip' or 'dead_letter' goes on without it",
                              policy->config.table, text);
    }
    struct weir_writer *writer;
    const char *fate = fate_of(policy, row_error->reason, &writer);
    count_row(policy, row_error, writer != NULL);
    if ((count & (count - 1)) == 0) {
        describe(row_error, text, sizeof text);
        weir_log(WEIR_LOG_WARN, "table %s: %s: %s (%" PRIu64 " with this reason so far)",
                 policy->config.table, fate, text, count);
    }
    return writer == NULL ? WEIR_OK : write_aside(policy, writer, row_error, error);
}

// The limit of on_error_max_ratio, asked after each run of records: a wrong schema shall end the
// job before it has emptied a topic into the dead-letter topic. What this epoch has written aside
// is in its transaction and goes with it.
static enum weir_status seen(struct weir_row_error_policy *interface, uint32_t record_count,
                             struct weir_error *error)
{
    struct policy *policy =
        (struct policy *)((char *)interface - offsetof(struct policy, base.policy));
    double ratio = policy->config.max_ratio;
    policy->recent_count += record_count;
    double count = (double)policy->recent_count;
    // Of fewer records one would be too many already.
    if (count * ratio >= 1 && (double)policy->recent_bad_count > count * ratio) {
        return weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL,
                              "table %s: %" PRIu64 " of the last %" PRIu64
                              " records could not be used, more than on_error_max_ratio = %g "
                              "allows: is the schema right?",
                              policy->config.table, policy->recent_bad_count, policy->recent_count,
                              ratio);
    }
    if (policy->recent_count >= RATIO_RECORDS_MAX) {
        policy->recent_count /= 2;
        policy->recent_bad_count /= 2;
    }
    return WEIR_OK;
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)error;
    struct policy *policy = (struct policy *)op;
    for (int i = 0; i < WRITER_COUNT; i++) {
        if (policy->writers[i] != NULL) {
            weir_writer_barrier(policy->writers[i], at, snapshot);
        }
    }
    return WEIR_OK;
}

static void cancelled(struct weir_operator *op, int64_t number)
{
    struct policy *policy = (struct policy *)op;
    for (int i = 0; i < WRITER_COUNT; i++) {
        if (policy->writers[i] != NULL) {
            weir_writer_cancel(policy->writers[i], number);
        }
    }
}

static enum weir_status resume(struct weir_operator *op, struct weir_error *error)
{
    struct policy *policy = (struct policy *)op;
    for (int i = 0; i < WRITER_COUNT; i++) {
        if (policy->writers[i] != NULL &&
            weir_writer_resume(policy->writers[i], error) != WEIR_OK) {
            return weir_error_context(error, "what table %s sets aside", policy->config.table);
        }
    }
    show_pressure(policy);
    return WEIR_OK;
}

static void destroy(struct weir_operator *op)
{
    struct policy *policy = (struct policy *)op;
    for (int i = 0; i < WRITER_COUNT; i++) {
        weir_writer_destroy(policy->writers[i]);
    }
    for (int i = 0; i < WEIR_ROW_ERROR_REASON_COUNT; i++) {
        weir_metric_close(policy->dead_letters[i]);
        for (uint32_t j = 0; j < policy->operator_count; j++) {
            weir_metric_close(policy->by_operator[j].dropped[i]);
        }
    }
    for (uint32_t j = 0; j < policy->operator_count; j++) {
        weir_metric_close(policy->by_operator[j].late);
    }
    free(policy->by_operator);
    free(policy->headers);
    free(policy);
}

static const struct weir_operator_ops policy_ops = {
    .kind = "row policy",
    .barrier = barrier,
    .cancelled = cancelled,
    .resume = resume,
    .destroy = destroy,
};

struct weir_row_policy *weir_row_policy_create(const struct weir_row_policy_config *config)
{
    WEIR_ASSERT((config->kind == WEIR_ROW_POLICY_DEAD_LETTER) == (config->writer != NULL));
    struct policy *policy = weir_alloc_zero(sizeof *policy);
    policy->config = *config;
    policy->writers[0] = config->writer;
    policy->writers[1] = config->late_writer;
    for (int i = 0; i < WEIR_ROW_ERROR_REASON_COUNT; i++) {
        if (config->writer != NULL && i != WEIR_ROW_ERROR_LATE) {
            policy->dead_letters[i] = weir_metric_open(
                WEIR_METRIC_DEAD_LETTERS,
                WEIR_METRIC_LABELS(config->table,
                                   weir_row_error_reason_name((enum weir_row_error_reason)i)));
        }
    }
    policy->base.op.ops = &policy_ops;
    policy->base.op.name = config->table;
    policy->base.policy.report = report;
    policy->base.policy.seen = config->max_ratio > 0 ? seen : NULL;
    return &policy->base;
}

uint64_t weir_row_policy_count(const struct weir_row_policy *policy,
                               enum weir_row_error_reason reason)
{
    return atomic_load(&((const struct policy *)policy)->counts[reason]);
}
