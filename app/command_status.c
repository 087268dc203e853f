// SPDX-License-Identifier: Apache-2.0
// `weir status`: asks the weir that runs with the same configuration, prints what it does, and ends
// with 0 only when it is ready (or lives): the HEALTHCHECK of the image.
#include "app/exit_code.h"
#include "app/job_ask.h"
#include "app/job_view.h"

#include <inttypes.h>

enum { OPTION_LIVE = 1, OPTION_JSON = 2 };

static void print_job(FILE *out, const struct weir_job_view *view)
{
    weir_job_view_print_state(view, out);
    for (uint32_t i = 0; i < view->source_count; i++) {
        const struct weir_job_view_source *source = &view->sources[i];
        fprintf(out, "source %s (topic %s, %" PRId64 " partitions): %" PRId64 " records read, ",
                source->table, source->topic, source->partition_count, source->records);
        if (source->lag >= 0) {
            fprintf(out, "lag %" PRId64 "\n", source->lag);
        } else {
            fprintf(out, "lag not known\n");
        }
    }
    for (uint32_t i = 0; i < view->sink_count; i++) {
        const struct weir_job_view_sink *sink = &view->sinks[i];
        fprintf(out, "sink %s (topic %s): %" PRId64 " rows written\n", sink->table, sink->topic,
                sink->records);
    }
    for (uint32_t i = 0; i < view->task_count; i++) {
        const struct weir_job_view_task *task = &view->tasks[i];
        fprintf(out, "task %s: %.0f %% busy, %.0f %% back-pressured\n", task->name,
                task->busy * 100, task->backpressure * 100);
    }
    weir_job_view_print_not_read(view, out);
    weir_job_view_print_losses(view, out);
}

static int ask_live(const struct weir_cli *cli, const char *url)
{
    struct weir_http_answer answer;
    if (!weir_job_get(cli, url, "/livez", &answer)) {
        return WEIR_EXIT_FAILED;
    }
    bool is_live = answer.status == 200;
    fprintf(cli->out, "%s", weir_buffer_text(&answer.body));
    weir_buffer_deinit(&answer.body);
    return is_live ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
}

static int ask_job(const struct weir_cli *cli, const char *url, bool is_json)
{
    struct weir_job_view view;
    if (!weir_job_view_open(&view, cli, url)) {
        return WEIR_EXIT_FAILED;
    }
    if (is_json) {
        fprintf(cli->out, "%s", weir_buffer_text(&view.text));
    } else {
        print_job(cli->out, &view);
    }
    bool is_ready = view.is_ready;
    weir_job_view_close(&view);
    return is_ready ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    char url[128];
    if (!weir_job_url(cli, url, sizeof url)) {
        return WEIR_EXIT_REFUSED;
    }
    return (line->options & OPTION_LIVE) != 0
               ? ask_live(cli, url)
               : ask_job(cli, url, (line->options & OPTION_JSON) != 0);
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
