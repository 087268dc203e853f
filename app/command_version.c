// SPDX-License-Identifier: Apache-2.0
// `weir version`.
#include "app/command.h"
#include "app/exit_code.h"
#include "runtime/version.h"

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    (void)line;
    fprintf(cli->out, "weir %s\nlibrdkafka %s%s\n", WEIR_VERSION, weir_rdkafka_version(),
            weir_rdkafka_version_is_suspect() ? " (a release that is known to hang)" : "");
    return WEIR_EXIT_OK;
}

const struct weir_command weir_version_command = {
    .name = "version",
    .summary = "print the version",
    .arguments = "",
    .help = "Prints the version of weir and of the Kafka client beneath it.\n",
    .run = run,
};
