// SPDX-License-Identifier: Apache-2.0
// `weir top`: asks the weir that runs with the same configuration again and again, and shows what
// has changed in between: rates, lag and when it will be gone, how busy tasks are.
#include "app/exit_code.h"
#include "app/job_ask.h"
#include "app/job_view.h"
#include "app/retry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTERVAL_MS = 1000, INTERVAL_MS_MAX = 3600 * 1000, OPTION_INTERVAL = 0, OPTION_COUNT = 1 };
enum { BAR_CHARACTERS = 20 };

// An answer and when it came, by this machine's monotonic clock.
struct sample {
    struct weir_job_view view;
    int64_t at_ms;
};

static const char *rate(int64_t now, int64_t before, int64_t span_ms, double unit, char text[24])
{
    if (span_ms <= 0 || now < before) { // the process is another one: it has begun to count anew
        return "-";
    }
    snprintf(text, 24, unit == 1 ? "%.0f" : "%.1f",
             (double)(now - before) * 1000 / (double)span_ms / unit);
    return text;
}

// When nothing will be left, if it goes on as since the last answer.
static const char *time_left(int64_t lag, int64_t lag_before, int64_t span_ms, char text[32])
{
    if (lag == 0) {
        return "caught up";
    }
    if (lag < 0 || lag_before < 0) {
        return "-";
    }
    if (lag >= lag_before) {
        return lag > lag_before ? "growing" : "not moving";
    }
    double left_ms = (double)lag * (double)span_ms / (double)(lag_before - lag);
    return left_ms < 1e15 ? weir_job_view_span((int64_t)left_ms, text) : "-";
}

static void print_sources(FILE *out, const struct sample *now, const struct sample *before)
{
    int64_t span_ms = now->at_ms - before->at_ms;
    fprintf(out, "\n%-20s %-20s %10s %11s %8s %12s  %s\n", "source", "topic", "partitions",
            "records/s", "MB/s", "lag", "gone in");
    for (uint32_t i = 0; i < now->view.source_count; i++) {
        const struct weir_job_view_source *source = &now->view.sources[i];
        struct weir_job_view_source none = {.records = INT64_MAX, .bytes = INT64_MAX, .lag = -1};
        const struct weir_job_view_source *earlier = &none;
        for (uint32_t j = 0; j < before->view.source_count; j++) {
            if (strcmp(before->view.sources[j].table, source->table) == 0) {
                earlier = &before->view.sources[j];
            }
        }
        char records[24];
        char bytes[24];
        char lag[24] = "not known";
        char left[32];
        if (source->lag >= 0) {
            snprintf(lag, sizeof lag, "%" PRId64, source->lag);
        }
        fprintf(out, "%-20s %-20s %10" PRId64 " %11s %8s %12s  %s\n", source->table, source->topic,
                source->partition_count,
                rate(source->records, earlier->records, span_ms, 1, records),
                rate(source->bytes, earlier->bytes, span_ms, 1e6, bytes), lag,
                time_left(source->lag, earlier->lag, span_ms, left));
    }
}

static void print_sinks(FILE *out, const struct sample *now, const struct sample *before)
{
    int64_t span_ms = now->at_ms - before->at_ms;
    fprintf(out, "\n%-20s %-20s %10s %11s %8s\n", "sink", "topic", "", "rows/s", "MB/s");
    for (uint32_t i = 0; i < now->view.sink_count; i++) {
        const struct weir_job_view_sink *sink = &now->view.sinks[i];
        struct weir_job_view_sink earlier = {.records = INT64_MAX, .bytes = INT64_MAX};
        if (i < before->view.sink_count) { // of one plan, in its order
            earlier = before->view.sinks[i];
        }
        char records[24];
        char bytes[24];
        fprintf(out, "%-20s %-20s %10s %11s %8s\n", sink->table, sink->topic, "",
                rate(sink->records, earlier.records, span_ms, 1, records),
                rate(sink->bytes, earlier.bytes, span_ms, 1e6, bytes));
    }
}

static void print_bar(FILE *out, double share)
{
    int filled = (int)(share * BAR_CHARACTERS + 0.5);
    fprintf(out, " [%.*s%*s] %3.0f %%", filled, "####################", BAR_CHARACTERS - filled, "",
            share * 100);
}

static void print_tasks(FILE *out, const struct sample *now)
{
    fprintf(out, "\n%-28s  %-28s %s\n", "task", "busy", "back-pressured");
    for (uint32_t i = 0; i < now->view.task_count; i++) {
        const struct weir_job_view_task *task = &now->view.tasks[i];
        fprintf(out, "%-28s", task->name);
        print_bar(out, task->busy);
        print_bar(out, task->backpressure);
        fprintf(out, "\n");
    }
}

static void print_sample(FILE *out, const struct sample *now, const struct sample *before)
{
    bool is_terminal = isatty(fileno(out)) == 1;
    fprintf(out, is_terminal ? "\033[H\033[2J" : "\n");
    weir_job_view_print_state(&now->view, out);
    print_sources(out, now, before);
    print_sinks(out, now, before);
    print_tasks(out, now);
    weir_job_view_print_not_read(&now->view, out);
    weir_job_view_print_losses(&now->view, out);
    fflush(out);
}

// Samples until `count` were shown (0: for ever). A weir that restarts is waited for.
static int watch(const struct weir_cli *cli, const char *url, int64_t interval_ms, int64_t count)
{
    struct sample before = {0};
    if (!weir_job_view_open(&before.view, cli, url)) {
        return WEIR_EXIT_FAILED;
    }
    before.at_ms = weir_now_ms(&weir_system_clock);
    for (int64_t i = 0; count == 0 || i < count; i++) {
        weir_pause_ms(interval_ms);
        struct sample now = {0};
        if (weir_job_view_open(&now.view, cli, url)) {
            now.at_ms = weir_now_ms(&weir_system_clock);
            print_sample(cli->out, &now, &before);
            weir_job_view_close(&before.view);
            before = now;
        }
    }
    weir_job_view_close(&before.view);
    return WEIR_EXIT_OK;
}

// A number from least to most; false: cli->err says what is wrong.
static bool read_number(const struct weir_cli *cli, const char *name, const char *text,
                        double least, double most, double *number)
{
    char *end = NULL;
    *number = text != NULL ? strtod(text, &end) : *number;
    if (text != NULL && (end == text || *end != '\0' || !(*number >= least && *number <= most))) {
        fprintf(cli->err, "weir: %s takes a number from %g to %g, not \"%s\"\n", name, least, most,
                text);
        return false;
    }
    return true;
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    char url[128];
    double interval_s = INTERVAL_MS / 1e3;
    double count = 0;
    if (!read_number(cli, "--interval", line->values[OPTION_INTERVAL], 0.1, INTERVAL_MS_MAX / 1e3,
                     &interval_s) ||
        !read_number(cli, "--count", line->values[OPTION_COUNT], 1, 1e9, &count) ||
        !weir_job_url(cli, url, sizeof url)) {
        return WEIR_EXIT_REFUSED;
    }
    return watch(cli, url, (int64_t)(interval_s * 1000), (int64_t)count);
}

const struct weir_command weir_top_command = {
    .name = "top",
    .summary = "show live what the running job does",
    .arguments = "",
    .help = "Asks the weir that listens on WEIR_HTTP_LISTEN of this environment each second, and\n"
            "shows its state, what is read and written a second, the lag of each table that is\n"
            "read and when it will be gone, and how busy the tasks are. Ctrl-C ends it. Where\n"
            "the output is no terminal, views follow one another.\n",
    .options = {{"--interval", "between two views (1)", "SECONDS"},
                {"--count", "end after so many views", "N"}},
    .run = run,
};
