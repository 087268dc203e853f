// SPDX-License-Identifier: Apache-2.0
// `weir status`: asks the weir that runs with the same configuration, prints what it does, and ends
// with 0 only when it is ready (or lives): the HEALTHCHECK of the image.
#include "app/command.h"
#include "app/exit_code.h"
#include "app/http/client.h"
#include "app/http/listen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

enum { TIMEOUT_MS = 5000, OPTION_LIVE = 1, OPTION_JSON = 2 };

static void print_span(FILE *out, int64_t ms)
{
    int64_t s = ms / 1000;
    if (s < 60) {
        fprintf(out, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
    } else if (s < 3600) {
        fprintf(out, "%" PRId64 " min", s / 60);
    } else if (s < 48 * 3600) {
        fprintf(out, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
    } else {
        fprintf(out, "%" PRId64 " days", s / 86400);
    }
}

static int64_t integer(yyjson_val *object, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(object, name));
}

static const char *text(yyjson_val *object, const char *name)
{
    const char *found = yyjson_get_str(yyjson_obj_get(object, name));
    return found != NULL ? found : "";
}

static void print_state(FILE *out, yyjson_val *job)
{
    fprintf(out, "job %s: %s, %s; for ", text(job, "job"),
            yyjson_get_bool(yyjson_obj_get(job, "ready")) ? "ready" : "not ready",
            text(job, "state"));
    print_span(out, integer(job, "now_ms") - integer(job, "state_since_ms"));
    fprintf(out, "\n");
    size_t idx;
    size_t max;
    yyjson_val *line;
    yyjson_arr_foreach(yyjson_obj_get(job, "missing"), idx, max, line)
    {
        fprintf(out, "  %s\n", yyjson_get_str(line));
    }
    if (integer(job, "last_checkpoint") >= 0) {
        fprintf(out, "last checkpoint: %" PRId64 ", ", integer(job, "last_checkpoint"));
        print_span(out, integer(job, "last_checkpoint_age_ms"));
        fprintf(out, " ago\n");
    }
    if (integer(job, "restart_count") > 0) {
        yyjson_val *last = yyjson_arr_get_first(yyjson_obj_get(job, "restarts"));
        fprintf(out, "restarts: %" PRId64 ", the last one ", integer(job, "restart_count"));
        print_span(out, integer(job, "now_ms") - integer(last, "at_ms"));
        fprintf(out, " ago (%s): %s\n", text(last, "reason"), text(last, "text"));
    }
}

// One line a table: partitions are summed.
static void print_sources(FILE *out, yyjson_val *job)
{
    yyjson_val *list = yyjson_obj_get(job, "partitions");
    size_t idx;
    size_t max;
    yyjson_val *first;
    yyjson_arr_foreach(list, idx, max, first)
    {
        int64_t partition_count = 0;
        int64_t lag = 0;
        int64_t records = 0;
        bool is_known = true;
        bool is_printed = false;
        size_t other_idx;
        size_t other_max;
        yyjson_val *other;
        yyjson_arr_foreach(list, other_idx, other_max, other)
        {
            if (strcmp(text(first, "table"), text(other, "table")) == 0) {
                is_printed = is_printed || other_idx < idx;
                partition_count++;
                lag += integer(other, "lag");
                records += integer(other, "records");
                is_known = is_known && !yyjson_is_null(yyjson_obj_get(other, "lag"));
            }
        }
        if (!is_printed) {
            fprintf(out, "source %s (topic %s, %" PRId64 " partitions): %" PRId64 " records read, ",
                    text(first, "table"), text(first, "topic"), partition_count, records);
            if (is_known) {
                fprintf(out, "lag %" PRId64 "\n", lag);
            } else {
                fprintf(out, "lag not known\n");
            }
        }
    }
}

static void print_rows(FILE *out, yyjson_val *job, const char *name, const char *what)
{
    size_t idx;
    size_t max;
    yyjson_val *entry;
    yyjson_arr_foreach(yyjson_obj_get(job, name), idx, max, entry)
    {
        double count = yyjson_get_num(yyjson_obj_get(entry, "value"));
        if (count > 0) {
            fprintf(out, "%s: %.0f of %s%s%s\n", what, count,
                    text(entry, yyjson_obj_get(entry, "table") != NULL ? "table" : "operator"),
                    yyjson_obj_get(entry, "reason") != NULL ? ", " : "", text(entry, "reason"));
        }
    }
}

static void print_job(FILE *out, yyjson_val *job)
{
    size_t idx;
    size_t max;
    yyjson_val *entry;
    print_state(out, job);
    print_sources(out, job);
    yyjson_arr_foreach(yyjson_obj_get(job, "sinks"), idx, max, entry)
    {
        fprintf(out, "sink %s (topic %s): %" PRId64 " rows written\n", text(entry, "table"),
                text(entry, "topic"), integer(entry, "records"));
    }
    yyjson_arr_foreach(yyjson_obj_get(job, "tasks"), idx, max, entry)
    {
        double busy = yyjson_get_num(yyjson_obj_get(entry, "busy"));
        double blocked = yyjson_get_num(yyjson_obj_get(entry, "backpressure"));
        fprintf(out, "task %s: %.0f %% busy, %.0f %% back-pressured\n", text(entry, "name"),
                busy * 100, blocked * 100);
    }
    print_rows(out, job, "dead_letters", "dead letters");
    print_rows(out, job, "rows_dropped", "dropped");
    print_rows(out, job, "late_rows", "late");
}

static int ask_live(const struct weir_cli *cli, const char *url)
{
    struct weir_http_answer answer;
    struct weir_error error;
    char path[256];
    snprintf(path, sizeof path, "%s/livez", url);
    if (weir_http_call(
            &(struct weir_http_call){.method = "GET", .url = path, .timeout_ms = TIMEOUT_MS},
            &answer, &error) != WEIR_OK) {
        fprintf(cli->err, "weir: %s\n", error.text);
        return WEIR_EXIT_FAILED;
    }
    bool is_live = answer.status == 200;
    fprintf(cli->out, "%s", weir_buffer_text(&answer.body));
    weir_buffer_deinit(&answer.body);
    return is_live ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
}

static int ask_job(const struct weir_cli *cli, const char *url, bool is_json)
{
    struct weir_http_answer answer;
    struct weir_error error;
    char path[256];
    snprintf(path, sizeof path, "%s/api/v1/job", url);
    if (weir_http_call(
            &(struct weir_http_call){.method = "GET", .url = path, .timeout_ms = TIMEOUT_MS},
            &answer, &error) != WEIR_OK) {
        fprintf(cli->err, "weir: %s\n", error.text);
        return WEIR_EXIT_FAILED;
    }
    yyjson_doc *document = yyjson_read(answer.body.data, answer.body.size_bytes, 0);
    yyjson_val *job = yyjson_doc_get_root(document);
    bool is_job = answer.status == 200 && yyjson_is_str(yyjson_obj_get(job, "state"));
    bool is_ready = is_job && yyjson_get_bool(yyjson_obj_get(job, "ready"));
    if (!is_job) {
        fprintf(cli->err, "weir: %s: what answers there is no weir (status %d)\n", path,
                answer.status);
    } else if (is_json) {
        fprintf(cli->out, "%s", weir_buffer_text(&answer.body));
    } else {
        print_job(cli->out, job);
    }
    yyjson_doc_free(document);
    weir_buffer_deinit(&answer.body);
    return is_ready ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    weir_command_load_given(cli, arena, &config, &faults);
    char url[128];
    int exit_code = WEIR_EXIT_REFUSED;
    if (faults.count > 0) {
        weir_fault_list_print(&faults, cli->err);
    } else if (config.http_listen[0] == '\0') {
        fprintf(cli->err, "weir: WEIR_HTTP_LISTEN is empty: there is nobody to ask\n");
    } else {
        weir_http_local_url(config.http_listen, url, sizeof url);
        exit_code = (line->options & OPTION_LIVE) != 0
                        ? ask_live(cli, url)
                        : ask_job(cli, url, (line->options & OPTION_JSON) != 0);
    }
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_status_command = {
    .name = "status",
    .summary = "say what the running job does; exit code 0 when it is ready",
    .arguments = "",
    .help =
        "Asks the weir that listens on WEIR_HTTP_LISTEN of this environment: state and what is\n"
        "missing to be ready, checkpoints, what was read and written, lag, restarts. Ends with\n"
        "0 when the job is ready, 1 when it is not or nobody answers, 2 when the configuration\n"
        "is at fault or HTTP is off.\n",
    .options = {{"--live", "only ask whether the process lives: 0 also while it is not ready",
                 NULL},
                {"--json", "print what /api/v1/job answers", NULL}},
    .run = run,
};
