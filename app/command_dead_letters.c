// SPDX-License-Identifier: Apache-2.0
// `weir dead-letters replay`: dead letters go back to where they came from.
#include "app/command.h"
#include "app/dead_letters.h"
#include "app/exit_code.h"
#include "runtime/base/log.h"

#include <string.h>

enum { OPTION_TOPIC, OPTION_ANEW, OPTION_DRY };

static int run_loaded(const struct weir_cli *cli, const struct weir_config *config,
                      const struct weir_dead_letters_request *request)
{
    struct weir_error error;
    weir_log_init(config->log_level, config->log_format);
    if (weir_dead_letters_replay(config, request, cli->out, &error) == WEIR_OK) {
        return WEIR_EXIT_OK;
    }
    return weir_command_fail(cli, &error);
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    if (line->argument_count != 1 || strcmp(line->arguments[0], "replay") != 0) {
        fprintf(cli->err, "weir: dead-letters takes replay (weir dead-letters --help)\n");
        return WEIR_EXIT_REFUSED;
    }
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    weir_command_load_to_act(cli, arena, &config, &faults);
    struct weir_dead_letters_request request = {
        .topic = line->values[OPTION_TOPIC] != NULL ? line->values[OPTION_TOPIC]
                                                    : config.dead_letter_topic,
        .is_anew = (line->options >> OPTION_ANEW & 1) != 0,
        .is_dry = (line->options >> OPTION_DRY & 1) != 0,
    };
    if (faults.count == 0 && request.topic == NULL) {
        weir_fault_list_add(&faults, "neither --topic nor WEIR_DEAD_LETTER_TOPIC names the topic");
    }
    int exit_code;
    if (faults.count == 0) {
        exit_code = run_loaded(cli, &config, &request);
    } else {
        exit_code = weir_command_refuse(cli, &faults);
    }
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_dead_letters_command = {
    .name = "dead-letters",
    .summary = "write dead letters back to where they came from",
    .arguments = "replay",
    .argument_count_max = 1,
    .help =
        "Once what was wrong is mended (the SQL, a schema in the registry), writes the dead "
        "letters\n"
        "of this job back to their topics and partitions: key, value, timestamp and headers as "
        "they\n"
        "were. Each goes back once, however often this is run or killed: the rows and the "
        "position\n"
        "behind them are one transaction. What is bad still becomes a dead letter again. A record\n"
        "that was corrected by hand and appended to the dead-letter topic with its weir.* headers\n"
        "goes back like the others. The job may be running or stopped.\n",
    .options = {{"--topic", "the dead-letter topic; without it WEIR_DEAD_LETTER_TOPIC", "T"},
                {"--all", "from the topic's first record, also what went back before", NULL},
                {"--dry-run", "only count", NULL}},
    .run = run,
};
