// SPDX-License-Identifier: Apache-2.0
// `weir transactions`: what is open on the topics of the job.
#include "app/command.h"
#include "app/exit_code.h"
#include "app/transactions.h"
#include "runtime/base/log.h"

enum { OPTION_ABORT = 1 << 0 };

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    struct weir_error error;
    weir_command_load(cli, arena, &config, &faults);
    int exit_code = WEIR_EXIT_OK;
    if (faults.count > 0) {
        exit_code = weir_command_refuse(cli, &faults);
    } else {
        weir_log_init(config.log_level, config.log_format);
        if (weir_transactions(&config, (line->options & OPTION_ABORT) != 0, cli->out, &error) !=
            WEIR_OK) {
            exit_code = weir_command_fail(cli, &error);
        }
    }
    weir_arena_destroy(arena);
    return exit_code;
}

const struct weir_command weir_transactions_command = {
    .name = "transactions",
    .summary = "show what is open on the topics of the job",
    .arguments = "",
    .help =
        "Prints the transactional ids of the job, and for each partition of its topics where a\n"
        "transaction is open: the offset from which on read_committed readers see nothing, how\n"
        "much lies behind it, and the timestamp of its first record. A running job has one open\n"
        "for an interval at a time; what stays is somebody's who is gone or stuck, and ends with\n"
        "its time-out. Whose it is, brokers tell Kafka's own kafka-transactions.sh only.\n",
    .options = {{"--abort", "first abort what a job that is gone left open; it must be stopped",
                 NULL}},
    .run = run,
};
