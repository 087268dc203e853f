// SPDX-License-Identifier: Apache-2.0
// `weir offsets reset`: where a table of a stopped job goes on reading.
#include "app/command.h"
#include "app/config_table.h"
#include "app/exit_code.h"
#include "app/offsets_reset.h"
#include "runtime/base/log.h"

#include <string.h>

enum { OPTION_TABLE, OPTION_TO };

static int run_loaded(const struct weir_cli *cli, const struct weir_config *config,
                      const char *table, struct weir_position to)
{
    struct weir_error error;
    weir_log_init(config->log_level, config->log_format);
    if (weir_offsets_reset(config, table, to, cli->out, &error) == WEIR_OK) {
        return WEIR_EXIT_OK;
    }
    return weir_command_fail(cli, &error);
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    const char *table = line->values[OPTION_TABLE];
    const char *to = line->values[OPTION_TO];
    if (line->argument_count != 1 || strcmp(line->arguments[0], "reset") != 0 || table == NULL ||
        to == NULL) {
        fprintf(cli->err, "weir: offsets takes reset --table T --to earliest|latest|<timestamp> "
                          "(weir offsets --help)\n");
        return WEIR_EXIT_REFUSED;
    }
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    struct weir_config where = {0};
    struct weir_error error;
    weir_command_load_to_act(cli, arena, &config, &faults);
    if (weir_parse_start(to, arena, &where, &error) != WEIR_OK) {
        weir_fault_list_add(&faults, "--to: %s", error.text);
    }
    int exit_code;
    if (faults.count == 0) {
        exit_code = run_loaded(cli, &config, table, where.start);
    } else {
        exit_code = weir_command_refuse(cli, &faults);
    }
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_offsets_command = {
    .name = "offsets",
    .summary = "move the position of one table of a stopped job",
    .arguments = "reset --table T --to earliest|latest|<timestamp>",
    .argument_count_max = 1,
    .help =
        "Writes a checkpoint with the state of the last one and other positions for one table,\n"
        "and claims it; the next start goes on from there. All state stays: records that are\n"
        "read again are counted again. Takes the configuration of the job. The job must be\n"
        "stopped: one that runs elsewhere is fenced, and ends.\n",
    .options = {{"--table", "the table, as the job's SQL names it", "T"},
                {"--to", "earliest, latest or a timestamp", "WHERE"}},
    .run = run,
};
