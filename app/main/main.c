// SPDX-License-Identifier: Apache-2.0
// The entry point of the program: hands over what the process was given.
#include "app/cli.h"
#include "app/exit_code.h"
#include "app/run.h"

#include <stdio.h>

extern char **environ;

int main(int argc, char **argv)
{
    struct weir_cli cli = {
        .out = stdout,
        .err = stderr,
        .environment = environ,
        .root_dir = "",
        .run = weir_command_run,
    };
    int exit_code = weir_cli_main(&cli, argc, argv);
    // A result that could not be written (a full disk, a closed pipe) is no success.
    return fflush(stdout) != 0 && exit_code == WEIR_EXIT_OK ? WEIR_EXIT_FAILED : exit_code;
}
