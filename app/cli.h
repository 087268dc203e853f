// SPDX-License-Identifier: Apache-2.0
// The command line: which command is meant, its options and its help. Results go to `out`, messages
// to `err`. Thread: the main one.
#ifndef WEIR_APP_CLI_H
#define WEIR_APP_CLI_H

#include <stdio.h>

struct weir_config;

// What a process is given; tests give their own.
struct weir_cli {
    FILE *out;
    FILE *err;
    char *const *environment;
    const char *root_dir;                         // see struct weir_config_input
    int (*run)(const struct weir_config *config); // weir_command_run
};

// Runs the command that argv[1] names, `run` when there is none; returns the exit code.
int weir_cli_main(const struct weir_cli *cli, int argc, char *const *argv);

#endif
