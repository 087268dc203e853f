// SPDX-License-Identifier: Apache-2.0
// `weir check`: everything that can be found without a broker, all faults at once; and, where it is
// asked for, what a start would find.
#include "app/command.h"
#include "app/exit_code.h"
#include "app/preview.h"
#include "runtime/base/log.h"

enum { OPTION_CONNECT = 1 << 0, OPTION_JSON = 1 << 1 };

static void print_notices(const struct weir_config *config, FILE *out)
{
    for (uint32_t i = 0; i < config->notice_count; i++) {
        fprintf(out, "weir: warning: %s\n", config->notices[i]);
    }
}

static void print_summary(const struct weir_plan *plan, FILE *out)
{
    uint32_t source_count = 0;
    uint32_t sink_count = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        source_count += plan->tables[i]->is_source ? 1 : 0;
        sink_count += plan->tables[i]->is_sink ? 1 : 0;
    }
    fprintf(out, "ok: %u source%s, %u sink%s\n", source_count, source_count == 1 ? "" : "s",
            sink_count, sink_count == 1 ? "" : "s");
}

static int connect(const struct weir_cli *cli, const struct weir_config *config,
                   const struct weir_plan *plan, struct weir_arena *arena, bool is_json)
{
    struct weir_preview preview;
    weir_log_init(config->log_level, config->log_format);
    weir_preview(config, arena, &preview);
    if (is_json) {
        weir_preview_print_json(&preview, cli->out);
    } else {
        weir_preview_print(&preview, cli->out);
    }
    weir_fault_list_print(&preview.faults, cli->err);
    if (preview.faults.count > 0) {
        return preview.is_failed ? WEIR_EXIT_FAILED : WEIR_EXIT_REFUSED;
    }
    if (!is_json) {
        print_summary(plan, cli->out);
    }
    return WEIR_EXIT_OK;
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    bool is_json = (line->options & OPTION_JSON) != 0;
    if (is_json && (line->options & OPTION_CONNECT) == 0) {
        fprintf(cli->err, "weir: --json is for check --connect\n");
        return WEIR_EXIT_REFUSED;
    }
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    const struct weir_plan *plan = weir_command_load(cli, arena, &config, &faults);
    int exit_code = WEIR_EXIT_OK;
    print_notices(&config, cli->err);
    if (faults.count > 0) {
        exit_code = weir_command_refuse(cli, &faults);
    } else if ((line->options & OPTION_CONNECT) != 0) {
        exit_code = connect(cli, &config, plan, arena, is_json);
    } else {
        print_summary(plan, cli->out);
    }
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_check_command = {
    .name = "check",
    .summary = "validate the configuration and the SQL; --connect: and what a start would find",
    .arguments = "",
    .help =
        "Validates the configuration and the SQL of the job as far as that can be done without\n"
        "a broker, and prints everything that is wrong, one line a fault. Exit code 0: nothing\n"
        "was found; 2: something was.\n"
        "\n"
        "With --connect it also shows what a start would find now: the brokers, the topics with\n"
        "their partitions, the checkpoint that the job would go on from with its positions, and\n"
        "of each operator whether its state is kept, begins empty, starts from now, or would be\n"
        "lost, with bytes and rows. Whatever a start would be refused for is said in the same\n"
        "words. Nothing is changed, and the job may be running: nobody is fenced, nothing is\n"
        "claimed, no topic is made, nothing is written. A schema registry is asked only for "
        "tables\n"
        "that are created without columns. Exit code 1: the brokers do not answer within\n"
        "WEIR_CONNECT_TIMEOUT.\n",
    .options = {{"--connect", "ask the brokers and the checkpoint store, too", NULL},
                {"--json", "with --connect: as JSON", NULL}},
    .run = run,
};
