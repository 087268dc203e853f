// SPDX-License-Identifier: Apache-2.0
// See json.h. Documents are built by yyjson, so that every text is escaped; texts are copied into
// them, as what they come from may change once the lock is let go.
#include "app/http/json.h"

#include "app/board.h"
#include "app/job_figures.h"
#include "runtime/base/metrics.h"
#include "runtime/version.h"
#include "sql/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

static void answer(yyjson_mut_doc *document, struct weir_http_response *response)
{
    size_t size;
    char *text =
        yyjson_mut_write(document, YYJSON_WRITE_PRETTY | YYJSON_WRITE_ALLOW_INVALID_UNICODE, &size);
    WEIR_ASSERT(text != NULL);
    weir_buffer_append(&response->body, text, size);
    weir_buffer_append_char(&response->body, '\n');
    free(text);
    yyjson_mut_doc_free(document);
    response->status = WEIR_HTTP_OK;
    response->content_type = WEIR_HTTP_JSON;
}

static void add_ratio(yyjson_mut_doc *document, yyjson_mut_val *object, const char *name,
                      double ratio)
{
    if (ratio < 0) {
        yyjson_mut_obj_add_null(document, object, name);
    } else {
        yyjson_mut_obj_add_real(document, object, name, ratio);
    }
}

// Less than 0: not known.
static void add_known(yyjson_mut_doc *document, yyjson_mut_val *object, const char *name,
                      int64_t number)
{
    if (number < 0) {
        yyjson_mut_obj_add_null(document, object, name);
    } else {
        yyjson_mut_obj_add_int(document, object, name, number);
    }
}

// A line of `text` each.
static yyjson_mut_val *lines_of(yyjson_mut_doc *document, struct weir_buffer *text)
{
    yyjson_mut_val *lines = yyjson_mut_arr(document);
    const char *at = weir_buffer_text(text);
    while (*at != '\0') {
        size_t size = strcspn(at, "\n");
        yyjson_mut_arr_add_strncpy(document, lines, at, size);
        at += size + (at[size] == '\n' ? 1 : 0);
    }
    return lines;
}

// A figure of the registry; 0 where there is none.
static double figure(enum weir_metric_id id, const char *const *labels)
{
    double number = 0;
    return weir_metrics_read(id, labels, &number) ? number : 0;
}

static void add_open_transaction(yyjson_mut_doc *document, yyjson_mut_val *partition,
                                 const struct weir_open_transaction *transaction)
{
    if (transaction->offset < 0) {
        yyjson_mut_obj_add_null(document, partition, "open_transaction");
        return;
    }
    yyjson_mut_val *open = yyjson_mut_obj_add_obj(document, partition, "open_transaction");
    yyjson_mut_obj_add_int(document, open, "offset", transaction->offset);
    yyjson_mut_obj_add_int(document, open, "age_ms", transaction->age_ms);
    add_known(document, open, "first_record_ms", transaction->record_ms);
    add_known(document, open, "producer_id", transaction->owner.producer_id);
    if (transaction->owner.transactional_id[0] != '\0') {
        yyjson_mut_obj_add_strcpy(document, open, "transactional_id",
                                  transaction->owner.transactional_id);
    } else {
        yyjson_mut_obj_add_null(document, open, "transactional_id");
    }
}

static void add_partition(yyjson_mut_doc *document, yyjson_mut_val *list,
                          const struct weir_job_figures *figures, uint32_t task_idx, uint32_t idx)
{
    const struct weir_job_task *task = &figures->tasks->tasks[task_idx];
    char number[16];
    snprintf(number, sizeof number, "%d", (int)task->partitions[idx]);
    const char *const *labels = WEIR_METRIC_LABELS(task->table->name, task->table->topic, number);
    yyjson_mut_val *partition = yyjson_mut_arr_add_obj(document, list);
    yyjson_mut_obj_add_strcpy(document, partition, "table", task->table->name);
    yyjson_mut_obj_add_strcpy(document, partition, "topic", task->table->topic);
    yyjson_mut_obj_add_int(document, partition, "partition", task->partitions[idx]);
    yyjson_mut_obj_add_int(document, partition, "position",
                           weir_source_position(task->source, idx));
    add_known(document, partition, "lag", weir_watch_lag(figures->watch, task_idx, idx));
    yyjson_mut_obj_add_uint(document, partition, "records",
                            (uint64_t)figure(WEIR_METRIC_SOURCE_RECORDS, labels));
    yyjson_mut_obj_add_uint(document, partition, "bytes",
                            (uint64_t)figure(WEIR_METRIC_SOURCE_BYTES, labels));
    yyjson_mut_obj_add_bool(document, partition, "paused",
                            weir_source_is_paused(task->source, idx));
    yyjson_mut_obj_add_bool(document, partition, "quarantined",
                            weir_source_is_quarantined(task->source, idx));
    double watermark;
    if (weir_metrics_read(WEIR_METRIC_WATERMARK, WEIR_METRIC_LABELS(task->table->name, number),
                          &watermark)) {
        yyjson_mut_obj_add_int(document, partition, "watermark_ms", (int64_t)(watermark * 1000));
    } else {
        yyjson_mut_obj_add_null(document, partition, "watermark_ms");
    }
    struct weir_open_transaction open = weir_watch_open_transaction(figures->watch, task_idx, idx);
    add_open_transaction(document, partition, &open);
}

static void add_life(yyjson_mut_doc *document, yyjson_mut_val *root, struct weir_board *board)
{
    yyjson_mut_val *tasks = yyjson_mut_arr(document);
    yyjson_mut_val *partitions = yyjson_mut_arr(document);
    struct weir_job_figures *figures = board->has_life ? board->life.figures : NULL;
    if (figures != NULL) {
        weir_job_figures_refresh(figures);
    }
    for (uint32_t i = 0; figures != NULL && i < figures->tasks->count; i++) {
        const struct weir_job_task *task = &figures->tasks->tasks[i];
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(document, tasks);
        yyjson_mut_obj_add_strcpy(document, entry, "name", weir_task_name(task->task));
        add_ratio(document, entry, "busy", figures->shares[i].busy);
        add_ratio(document, entry, "backpressure", figures->shares[i].backpressure);
        for (uint32_t p = 0; task->table != NULL && p < task->partition_count; p++) {
            add_partition(document, partitions, figures, i, p);
        }
    }
    yyjson_mut_obj_add_val(document, root, "tasks", tasks);
    yyjson_mut_obj_add_val(document, root, "partitions", partitions);
}

static void add_sinks(yyjson_mut_doc *document, yyjson_mut_val *root, const struct weir_plan *plan)
{
    yyjson_mut_val *sinks = yyjson_mut_obj_add_arr(document, root, "sinks");
    for (uint32_t i = 0; plan != NULL && i < plan->table_count; i++) {
        const struct weir_table *table = plan->tables[i];
        if (!table->is_sink) {
            continue;
        }
        const char *const *labels = WEIR_METRIC_LABELS(table->name, table->topic);
        yyjson_mut_val *sink = yyjson_mut_arr_add_obj(document, sinks);
        yyjson_mut_obj_add_strcpy(document, sink, "table", table->name);
        yyjson_mut_obj_add_strcpy(document, sink, "topic", table->topic);
        yyjson_mut_obj_add_uint(document, sink, "records",
                                (uint64_t)figure(WEIR_METRIC_SINK_RECORDS, labels));
        yyjson_mut_obj_add_uint(document, sink, "bytes",
                                (uint64_t)figure(WEIR_METRIC_SINK_BYTES, labels));
    }
}

struct family_visit {
    yyjson_mut_doc *document;
    yyjson_mut_val *list;
    const struct weir_metric_family *family;
};

// {"<label>": "…", …, "value": n}
static void add_series(void *context, const char *const *values, double number)
{
    struct family_visit *visit = context;
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(visit->document, visit->list);
    for (uint32_t i = 0; visit->family->labels[i] != NULL; i++) {
        yyjson_mut_obj_add(entry, yyjson_mut_str(visit->document, visit->family->labels[i]),
                           yyjson_mut_strcpy(visit->document, values[i]));
    }
    yyjson_mut_obj_add_real(visit->document, entry, "value", number);
}

static void add_family(yyjson_mut_doc *document, yyjson_mut_val *root, const char *name,
                       enum weir_metric_id id)
{
    struct family_visit visit = {.document = document,
                                 .list = yyjson_mut_obj_add_arr(document, root, name),
                                 .family = &weir_metric_families[id]};
    weir_metrics_visit(id, add_series, &visit);
}

// Newest first.
static void add_restarts(yyjson_mut_doc *document, yyjson_mut_val *root,
                         const struct weir_board *board)
{
    yyjson_mut_obj_add_uint(document, root, "restart_count", board->restart_count);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(document, root, "restarts");
    for (uint32_t i = board->restart_count; i > 0 && board->restart_count - i < WEIR_BOARD_RESTARTS;
         i--) {
        const struct weir_board_restart *restart = &board->restarts[(i - 1) % WEIR_BOARD_RESTARTS];
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(document, list);
        yyjson_mut_obj_add_int(document, entry, "at_ms", restart->at_ms);
        yyjson_mut_obj_add_strcpy(document, entry, "reason", restart->reason);
        yyjson_mut_obj_add_strcpy(document, entry, "text", restart->text);
    }
}

void weir_http_get_job(const struct weir_http_site *site, const struct weir_http_request *request,
                       struct weir_http_response *response)
{
    (void)request;
    struct weir_board *board = site->board;
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(document);
    yyjson_mut_doc_set_root(document, root);
    struct weir_buffer missing = {0};
    weir_board_refresh(board);
    pthread_mutex_lock(&board->lock);
    yyjson_mut_obj_add_strcpy(document, root, "job", board->config->job_id);
    yyjson_mut_obj_add_uint(document, root, "instance", board->config->instance_id);
    yyjson_mut_obj_add_str(document, root, "version", WEIR_VERSION);
    yyjson_mut_obj_add_str(document, root, "state", weir_job_state_name(board->state));
    yyjson_mut_obj_add_strcpy(document, root, "state_text", board->text);
    yyjson_mut_obj_add_int(document, root, "state_since_ms", board->state_since_ms);
    yyjson_mut_obj_add_int(document, root, "started_ms", board->started_ms);
    yyjson_mut_obj_add_int(document, root, "now_ms", weir_wall_ms(board->clock));
    yyjson_mut_obj_add_bool(document, root, "ready", weir_board_is_ready(board, &missing));
    yyjson_mut_obj_add_val(document, root, "missing", lines_of(document, &missing));
    yyjson_mut_obj_add_int(document, root, "last_checkpoint", board->last_completed);
    yyjson_mut_obj_add_int(document, root, "last_checkpoint_age_ms",
                           weir_now_ms(board->clock) - board->fresh_ms);
    add_life(document, root, board);
    add_sinks(document, root, board->plan);
    add_family(document, root, "operator_records", WEIR_METRIC_OPERATOR_RECORDS);
    add_family(document, root, "rows_dropped", WEIR_METRIC_ROWS_DROPPED);
    add_family(document, root, "dead_letters", WEIR_METRIC_DEAD_LETTERS);
    add_family(document, root, "late_rows", WEIR_METRIC_LATE_ROWS);
    add_family(document, root, "state_entries", WEIR_METRIC_STATE_ENTRIES);
    add_family(document, root, "state_bytes", WEIR_METRIC_STATE_BYTES);
    add_family(document, root, "memory_bytes", WEIR_METRIC_MEMORY);
    add_restarts(document, root, board);
    pthread_mutex_unlock(&board->lock);
    weir_buffer_deinit(&missing);
    answer(document, response);
}

static const char *state_of(enum weir_checkpoint_event_kind kind)
{
    switch (kind) {
    case WEIR_CHECKPOINT_TRIGGERED:
        return "pending";
    case WEIR_CHECKPOINT_COMMITTED:
        return "committed";
    case WEIR_CHECKPOINT_FAILED:
        return "failed";
    case WEIR_CHECKPOINT_SKIPPED:
        break;
    }
    return "skipped";
}

static void add_slowest(yyjson_mut_doc *document, yyjson_mut_val *entry,
                        const struct weir_board_checkpoint *checkpoint)
{
    static const char *const names[] = {[WEIR_BOARD_TRIGGER] = "trigger",
                                        [WEIR_BOARD_ALIGN] = "align",
                                        [WEIR_BOARD_SNAPSHOT] = "snapshot",
                                        [WEIR_BOARD_FLUSH] = "flush"};
    yyjson_mut_val *slowest = yyjson_mut_obj_add_obj(document, entry, "slowest_tasks");
    for (int i = 0; i < WEIR_BOARD_PHASE_COUNT; i++) {
        if (checkpoint->slowest[i][0] != '\0') {
            yyjson_mut_obj_add_strcpy(document, slowest, names[i], checkpoint->slowest[i]);
        }
    }
}

static void add_checkpoint(yyjson_mut_doc *document, yyjson_mut_val *list,
                           const struct weir_board_checkpoint *checkpoint)
{
    const struct weir_checkpoint_event *event = &checkpoint->event;
    const struct weir_checkpoint_phases *phases = &event->phases;
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(document, list);
    yyjson_mut_obj_add_int(document, entry, "number", event->number);
    yyjson_mut_obj_add_str(document, entry, "kind", weir_barrier_type_name(event->type));
    yyjson_mut_obj_add_str(document, entry, "state", state_of(event->kind));
    yyjson_mut_obj_add_int(document, entry, "triggered_ms", event->timestamp_ms);
    if (event->kind == WEIR_CHECKPOINT_COMMITTED) {
        yyjson_mut_obj_add_real(document, entry, "duration_ms", (double)phases->total_us / 1e3);
        yyjson_mut_val *parts = yyjson_mut_obj_add_obj(document, entry, "phases_ms");
        yyjson_mut_obj_add_real(document, parts, "trigger", (double)phases->trigger_us / 1e3);
        yyjson_mut_obj_add_real(document, parts, "align", (double)phases->align_us / 1e3);
        yyjson_mut_obj_add_real(document, parts, "snapshot", (double)phases->snapshot_us / 1e3);
        yyjson_mut_obj_add_real(document, parts, "flush", (double)phases->flush_us / 1e3);
        yyjson_mut_obj_add_real(document, parts, "commit", (double)phases->commit_us / 1e3);
        add_slowest(document, entry, checkpoint);
        yyjson_mut_obj_add_uint(document, entry, "log_bytes", event->log_bytes);
        yyjson_mut_obj_add_uint(document, entry, "materialised_bytes", event->materialised_bytes);
    }
    if (event->kind == WEIR_CHECKPOINT_FAILED) {
        yyjson_mut_obj_add_str(document, entry, "reason",
                               weir_checkpoint_failure_name(event->failure));
    }
    if (checkpoint->text[0] != '\0') {
        yyjson_mut_obj_add_strcpy(document, entry, "error", checkpoint->text);
    }
}

// {"<value of the only label>": n, …}
static void add_count(void *context, const char *const *values, double number)
{
    struct family_visit *visit = context;
    yyjson_mut_obj_add(visit->list, yyjson_mut_strcpy(visit->document, values[0]),
                       yyjson_mut_uint(visit->document, (uint64_t)number));
}

static void add_counts(yyjson_mut_doc *document, yyjson_mut_val *root, const char *name,
                       enum weir_metric_id id)
{
    struct family_visit visit = {.document = document,
                                 .list = yyjson_mut_obj_add_obj(document, root, name),
                                 .family = &weir_metric_families[id]};
    weir_metrics_visit(id, add_count, &visit);
}

void weir_http_get_checkpoints(const struct weir_http_site *site,
                               const struct weir_http_request *request,
                               struct weir_http_response *response)
{
    (void)request;
    struct weir_board *board = site->board;
    const struct weir_config *config = board->config;
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(document);
    yyjson_mut_doc_set_root(document, root);
    pthread_mutex_lock(&board->lock);
    yyjson_mut_obj_add_int(document, root, "last_completed", board->last_completed);
    yyjson_mut_obj_add_uint(
        document, root, "completed_count",
        (uint64_t)figure(WEIR_METRIC_CHECKPOINTS, WEIR_METRIC_LABELS("completed")));
    yyjson_mut_obj_add_uint(
        document, root, "failed_count",
        (uint64_t)figure(WEIR_METRIC_CHECKPOINTS, WEIR_METRIC_LABELS("failed")));
    yyjson_mut_obj_add_uint(
        document, root, "skipped_count",
        (uint64_t)figure(WEIR_METRIC_CHECKPOINTS, WEIR_METRIC_LABELS("skipped")));
    add_counts(document, root, "failures", WEIR_METRIC_CHECKPOINT_FAILURES);
    add_counts(document, root, "refusals", WEIR_METRIC_CHECKPOINT_REFUSALS);
    add_counts(document, root, "acknowledgements", WEIR_METRIC_CHECKPOINT_ACKNOWLEDGEMENTS);
    yyjson_mut_obj_add_int(document, root, "interval_ms", config->checkpoint_interval_ms);
    yyjson_mut_obj_add_int(document, root, "timeout_ms", config->checkpoint_timeout_ms);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(document, root, "checkpoints");
    for (uint32_t i = board->checkpoint_count;
         i > 0 && board->checkpoint_count - i < WEIR_BOARD_CHECKPOINTS; i--) {
        add_checkpoint(document, list, &board->checkpoints[(i - 1) % WEIR_BOARD_CHECKPOINTS]);
    }
    pthread_mutex_unlock(&board->lock);
    answer(document, response);
}

// What `weir explain --json` prints. The plan does not change, no lock is needed.
void weir_http_get_graph(const struct weir_http_site *site, const struct weir_http_request *request,
                         struct weir_http_response *response)
{
    (void)request;
    struct weir_buffer graph = {0};
    weir_plan_explain(site->board->plan, WEIR_EXPLAIN_JSON, &graph);
    weir_secrets_mask(&site->board->config->secrets, weir_buffer_text(&graph), &response->body);
    weir_buffer_deinit(&graph);
    response->status = WEIR_HTTP_OK;
    response->content_type = WEIR_HTTP_JSON;
}

// The texts are masked before they become JSON: escapes could hide a secret from the mask.
static void add_masked(yyjson_mut_doc *document, yyjson_mut_val *object, const char *name,
                       const struct weir_config *config, const char *text, bool is_secret)
{
    if (text == NULL) {
        yyjson_mut_obj_add_null(document, object, name);
        return;
    }
    struct weir_buffer masked = {0};
    if (is_secret) {
        weir_buffer_append(&masked, WEIR_SECRET_MASK, strlen(WEIR_SECRET_MASK));
    } else {
        weir_secrets_mask(&config->secrets, text, &masked);
    }
    yyjson_mut_obj_add_strcpy(document, object, name, weir_buffer_text(&masked));
    weir_buffer_deinit(&masked);
}

void weir_http_get_config(const struct weir_http_site *site,
                          const struct weir_http_request *request,
                          struct weir_http_response *response)
{
    (void)request;
    const struct weir_config *config = site->board->config;
    struct weir_arena *arena = weir_arena_create(64 << 10);
    yyjson_mut_doc *document = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(document);
    yyjson_mut_doc_set_root(document, root);
    yyjson_mut_obj_add_strcpy(document, root, "sql_source", config->sql_source);
    add_masked(document, root, "sql", config, weir_text_blank_secrets(arena, config->sql_text),
               false);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(document, root, "settings");
    for (uint32_t i = 0; i < config->setting_count; i++) {
        const struct weir_setting *setting = &config->settings[i];
        bool is_text = strcmp(setting->name, "WEIR_SQL") == 0;
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(document, list);
        yyjson_mut_obj_add_strcpy(document, entry, "name", setting->name);
        add_masked(document, entry, "value", config, is_text ? "(see sql)" : setting->value,
                   setting->is_secret && setting->value != NULL);
        yyjson_mut_obj_add_strcpy(document, entry, "source", setting->source);
    }
    weir_arena_destroy(arena);
    answer(document, response);
}
