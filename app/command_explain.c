// SPDX-License-Identifier: Apache-2.0
// `weir explain`: the dataflow of the job. Needs the SQL only.
#include "app/command.h"
#include "app/exit_code.h"
#include "app/job_check.h"

enum {
    OPTION_DOT = 1 << 0,
    OPTION_JSON = 1 << 1,
    OPTION_SVG = 1 << 2,
};

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    if ((line->options & (line->options - 1)) != 0) {
        fprintf(cli->err, "weir: more than one of --dot, --svg and --json is given; keep one\n");
        return WEIR_EXIT_REFUSED;
    }
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    const struct weir_plan *plan = NULL;
    weir_fault_list_init(&faults, arena);
    weir_config_load(&(struct weir_config_input){.environment = cli->environment,
                                                 .root_dir = cli->root_dir,
                                                 .is_partial_ok = true},
                     arena, &config, &faults);
    if (config.sql_text != NULL) {
        plan = weir_job_plan(&config, arena, &faults);
    }
    int exit_code = WEIR_EXIT_OK;
    if (faults.count > 0) {
        exit_code = weir_command_refuse(cli, &faults);
    } else {
        struct weir_buffer text = {0};
        weir_plan_explain(plan,
                          (line->options & OPTION_DOT) != 0    ? WEIR_EXPLAIN_DOT
                          : (line->options & OPTION_JSON) != 0 ? WEIR_EXPLAIN_JSON
                          : (line->options & OPTION_SVG) != 0  ? WEIR_EXPLAIN_SVG
                                                               : WEIR_EXPLAIN_TEXT,
                          &text);
        fputs(weir_buffer_text(&text), cli->out);
        weir_buffer_deinit(&text);
    }
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_explain_command = {
    .name = "explain",
    .summary = "print the dataflow of the job",
    .arguments = "",
    .help =
        "Prints the dataflow of the job, from its sources to its sinks, as text. Needs the SQL\n"
        "only (WEIR_SQL, WEIR_SQL_FILE or /etc/weir/job.sql), no broker.\n",
    .options = {{"--dot", "as a graph in the language of Graphviz", NULL},
                {"--json", "as JSON", NULL},
                {"--svg", "as a picture: weir explain --svg > job.svg", NULL}},
    .run = run,
};
