// SPDX-License-Identifier: Apache-2.0
// What a running weir says of its job (/api/v1/job), for the commands that show it to people.
// Thread: main.
#ifndef WEIR_APP_JOB_VIEW_H
#define WEIR_APP_JOB_VIEW_H

#include "app/command.h"
#include "runtime/base/memory.h"

// A table that is read: all of its partitions.
struct weir_job_view_source {
    const char *table;
    const char *topic;
    int64_t partition_count;
    int64_t paused_count; // of these
    int64_t quarantined_count;
    int64_t records; // read so far by this process
    int64_t bytes;
    int64_t lag; // of those not in quarantine; -1: not known
};

struct weir_job_view_sink {
    const char *table;
    const char *topic;
    int64_t records; // written so far by this process
    int64_t bytes;
};

struct weir_job_view_task {
    const char *name;
    double busy; // shares of its time, 0 to 1
    double backpressure;
};

struct weir_job_view {
    struct weir_buffer text;     // as it was answered
    struct yyjson_doc *document; // in which the texts of the view live
    bool is_ready;
    uint32_t source_count;
    struct weir_job_view_source *sources;
    uint32_t sink_count;
    struct weir_job_view_sink *sinks;
    uint32_t task_count;
    struct weir_job_view_task *tasks;
};

// Asks at that URL (weir_job_url); blocks for 5 s at most. False: no weir answers, and cli->err
// says so.
bool weir_job_view_open(struct weir_job_view *view, const struct weir_cli *cli, const char *url);
void weir_job_view_close(struct weir_job_view *view);

// "4.2 s", "17 min", "3 h 20 min", "5 days".
const char *weir_job_view_span(int64_t ms, char text[32]);
// State, what is missing to be ready, the last checkpoint, restarts: a line each.
void weir_job_view_print_state(const struct weir_job_view *view, FILE *out);
// A line for each table of which partitions are paused, and for each of which some are in
// quarantine.
void weir_job_view_print_not_read(const struct weir_job_view *view, FILE *out);
// Dead letters, rows dropped, late rows: a line for each table or operator that has some.
void weir_job_view_print_losses(const struct weir_job_view *view, FILE *out);

#endif
