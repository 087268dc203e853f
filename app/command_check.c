// SPDX-License-Identifier: Apache-2.0
// `weir check`: everything that can be found without a broker, all faults at once.
#include "app/command.h"
#include "app/exit_code.h"

enum { OPTION_CONNECT = 1 << 0 };

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

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    if ((line->options & OPTION_CONNECT) != 0) {
        fprintf(cli->err, "weir: check --connect does not exist yet; without it everything that "
                          "needs no broker is checked\n");
        return WEIR_EXIT_REFUSED;
    }
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    const struct weir_plan *plan = weir_command_load(cli, arena, &config, &faults);
    print_notices(&config, cli->err);
    weir_fault_list_print(&faults, cli->err);
    bool is_ok = faults.count == 0;
    if (is_ok) {
        print_summary(plan, cli->out);
    }
    weir_arena_destroy(arena);
    return is_ok ? WEIR_EXIT_OK : WEIR_EXIT_REFUSED;
}

const struct weir_command weir_check_command = {
    .name = "check",
    .summary = "validate the configuration and the SQL, without a broker",
    .arguments = "",
    .help =
        "Validates the configuration and the SQL of the job as far as that can be done without\n"
        "a broker, and prints everything that is wrong, one line a fault. Exit code 0: nothing\n"
        "was found; 2: something was.\n",
    .options = {{"--connect", "refused: asking the broker as well does not exist yet", NULL}},
    .run = run,
};
