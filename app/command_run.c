// SPDX-License-Identifier: Apache-2.0
// `weir run`: nothing is touched before configuration and SQL are without fault; then the log is
// opened and the job runs (app/run.h).
#include "app/command.h"
#include "app/exit_code.h"
#include "runtime/base/log.h"

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    (void)line;
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    weir_command_load_to_act(cli, arena, &config, &faults);
    int exit_code;
    if (faults.count == 0) {
        weir_log_init(config.log_level, config.log_format);
        for (uint32_t i = 0; i < config.notice_count; i++) {
            weir_log(WEIR_LOG_WARN, "%s", config.notices[i]);
        }
        exit_code = cli->run(&config);
    } else {
        exit_code = weir_command_refuse(cli, &faults);
    }
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_run_command = {
    .name = "run",
    .summary = "run the job (what `weir` alone does)",
    .arguments = "",
    .help = "Runs the job until it ends, is stopped or fails. SIGTERM and SIGINT make a final\n"
            "checkpoint and commit it; a second one exits at once, and the result stays exact.\n",
    .run = run,
};
