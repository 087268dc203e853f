// SPDX-License-Identifier: Apache-2.0
// See job_view.h. All that knows how the answer is written.
#include "app/job_view.h"

#include "app/job_ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

static const char job_path[] = "/api/v1/job";

static int64_t integer(yyjson_val *object, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(object, name));
}

static const char *string(yyjson_val *object, const char *name)
{
    const char *found = yyjson_get_str(yyjson_obj_get(object, name));
    return found != NULL ? found : "";
}

static struct weir_job_view_source *source_of(struct weir_job_view *view, yyjson_val *partition)
{
    const char *table = string(partition, "table");
    for (uint32_t i = 0; i < view->source_count; i++) {
        if (strcmp(view->sources[i].table, table) == 0) {
            return &view->sources[i];
        }
    }
    struct weir_job_view_source *source = &view->sources[view->source_count++];
    *source = (struct weir_job_view_source){.table = table, .topic = string(partition, "topic")};
    return source;
}

static void sum_partitions(struct weir_job_view *view, yyjson_val *job)
{
    yyjson_val *list = yyjson_obj_get(job, "partitions");
    view->sources = weir_alloc_zero((yyjson_arr_size(list) + 1) * sizeof *view->sources);
    size_t idx;
    size_t max;
    yyjson_val *partition;
    yyjson_arr_foreach(list, idx, max, partition)
    {
        struct weir_job_view_source *source = source_of(view, partition);
        // What is in quarantine is not waited for: its lag would hide whether the others get on.
        bool is_quarantined = yyjson_get_bool(yyjson_obj_get(partition, "quarantined"));
        bool is_known = !yyjson_is_null(yyjson_obj_get(partition, "lag")) && source->lag >= 0;
        if (!is_quarantined) {
            source->lag = is_known ? source->lag + integer(partition, "lag") : -1;
        }
        source->partition_count++;
        source->paused_count += yyjson_get_bool(yyjson_obj_get(partition, "paused")) ? 1 : 0;
        source->quarantined_count += is_quarantined ? 1 : 0;
        source->records += integer(partition, "records");
        source->bytes += integer(partition, "bytes");
    }
}

static void read_sinks(struct weir_job_view *view, yyjson_val *job)
{
    yyjson_val *list = yyjson_obj_get(job, "sinks");
    view->sinks = weir_alloc_zero((yyjson_arr_size(list) + 1) * sizeof *view->sinks);
    size_t idx;
    size_t max;
    yyjson_val *sink;
    yyjson_arr_foreach(list, idx, max, sink)
    {
        view->sinks[view->sink_count++] =
            (struct weir_job_view_sink){.table = string(sink, "table"),
                                        .topic = string(sink, "topic"),
                                        .records = integer(sink, "records"),
                                        .bytes = integer(sink, "bytes")};
    }
}

static void read_tasks(struct weir_job_view *view, yyjson_val *job)
{
    yyjson_val *list = yyjson_obj_get(job, "tasks");
    view->tasks = weir_alloc_zero((yyjson_arr_size(list) + 1) * sizeof *view->tasks);
    size_t idx;
    size_t max;
    yyjson_val *task;
    yyjson_arr_foreach(list, idx, max, task)
    {
        view->tasks[view->task_count++] = (struct weir_job_view_task){
            .name = string(task, "name"),
            .busy = yyjson_get_num(yyjson_obj_get(task, "busy")),
            .backpressure = yyjson_get_num(yyjson_obj_get(task, "backpressure"))};
    }
}

bool weir_job_view_open(struct weir_job_view *view, const struct weir_cli *cli, const char *url)
{
    struct weir_http_answer answer;
    *view = (struct weir_job_view){0};
    if (!weir_job_get(cli, url, job_path, &answer)) {
        return false;
    }
    view->text = answer.body;
    view->document = yyjson_read(answer.body.data, answer.body.size_bytes, 0);
    yyjson_val *job = yyjson_doc_get_root(view->document);
    if (answer.status != 200 || !yyjson_is_str(yyjson_obj_get(job, "state"))) {
        fprintf(cli->err, "weir: %s%s: what answers there is no weir (status %d)\n", url, job_path,
                answer.status);
        weir_job_view_close(view);
        return false;
    }
    view->is_ready = yyjson_get_bool(yyjson_obj_get(job, "ready"));
    sum_partitions(view, job);
    read_sinks(view, job);
    read_tasks(view, job);
    return true;
}

void weir_job_view_close(struct weir_job_view *view)
{
    yyjson_doc_free(view->document);
    weir_buffer_deinit(&view->text);
    free(view->sources);
    free(view->sinks);
    free(view->tasks);
    *view = (struct weir_job_view){0};
}

const char *weir_job_view_span(int64_t ms, char text[32])
{
    int64_t s = ms / 1000;
    if (s < 60) {
        snprintf(text, 32, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
    } else if (s < 3600) {
        snprintf(text, 32, "%" PRId64 " min", s / 60);
    } else if (s < INT64_C(48) * 3600) {
        snprintf(text, 32, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
    } else {
        snprintf(text, 32, "%" PRId64 " days", s / 86400);
    }
    return text;
}

void weir_job_view_print_state(const struct weir_job_view *view, FILE *out)
{
    yyjson_val *job = yyjson_doc_get_root(view->document);
    int64_t now_ms = integer(job, "now_ms");
    char span[32];
    fprintf(out, "job %s: %s, %s; for %s\n", string(job, "job"),
            view->is_ready ? "ready" : "not ready", string(job, "state"),
            weir_job_view_span(now_ms - integer(job, "state_since_ms"), span));
    size_t idx;
    size_t max;
    yyjson_val *line;
    yyjson_arr_foreach(yyjson_obj_get(job, "missing"), idx, max, line)
    {
        fprintf(out, "  %s\n", yyjson_get_str(line));
    }
    if (integer(job, "last_checkpoint") >= 0) {
        fprintf(out, "last checkpoint: %" PRId64 ", %s ago\n", integer(job, "last_checkpoint"),
                weir_job_view_span(integer(job, "last_checkpoint_age_ms"), span));
    }
    if (integer(job, "restart_count") > 0) {
        yyjson_val *last = yyjson_arr_get_first(yyjson_obj_get(job, "restarts"));
        fprintf(out, "restarts: %" PRId64 ", the last one %s ago (%s): %s\n",
                integer(job, "restart_count"),
                weir_job_view_span(now_ms - integer(last, "at_ms"), span), string(last, "reason"),
                string(last, "text"));
    }
}

static void print_rows(const struct weir_job_view *view, FILE *out, const char *name,
                       const char *what)
{
    size_t idx;
    size_t max;
    yyjson_val *entry;
    yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(view->document), name), idx, max, entry)
    {
        double count = yyjson_get_num(yyjson_obj_get(entry, "value"));
        if (count > 0) {
            bool is_table = yyjson_obj_get(entry, "table") != NULL;
            fprintf(out, "%s: %.0f of %s%s%s\n", what, count,
                    string(entry, is_table ? "table" : "operator"),
                    yyjson_obj_get(entry, "reason") != NULL ? ", " : "", string(entry, "reason"));
        }
    }
}

void weir_job_view_print_not_read(const struct weir_job_view *view, FILE *out)
{
    for (uint32_t i = 0; i < view->source_count; i++) {
        const struct weir_job_view_source *source = &view->sources[i];
        if (source->paused_count > 0) {
            fprintf(out, "paused: %" PRId64 " of %" PRId64 " partitions of %s (weir resume)\n",
                    source->paused_count, source->partition_count, source->table);
        }
        if (source->quarantined_count > 0) {
            fprintf(out,
                    "in quarantine: %" PRId64 " of %" PRId64
                    " partitions of %s (WEIR_QUARANTINE)\n",
                    source->quarantined_count, source->partition_count, source->table);
        }
    }
}

void weir_job_view_print_losses(const struct weir_job_view *view, FILE *out)
{
    print_rows(view, out, "dead_letters", "dead letters");
    print_rows(view, out, "rows_dropped", "dropped");
    print_rows(view, out, "late_rows", "late");
}
