// SPDX-License-Identifier: Apache-2.0
// One command of the command line; the list of them is in cli.c. Private to app/. Thread: main.
#ifndef WEIR_APP_COMMAND_H
#define WEIR_APP_COMMAND_H

#include "app/cli.h"
#include "app/config.h"

#include <stdint.h>

enum { WEIR_COMMAND_OPTIONS_MAX = 8 };

struct weir_command_option {
    const char *name; // "--dot"
    const char *meaning;
    const char *value; // what stands behind it ("T"); NULL: nothing
};

// What was written behind the command's name.
struct weir_command_line {
    uint32_t options;                             // bit i: the i-th option of the command was given
    const char *values[WEIR_COMMAND_OPTIONS_MAX]; // of the options that have one
    int argument_count;
    char *const *arguments; // what is no option, in order
};

struct weir_command {
    const char *name;
    const char *summary;   // one line for the list
    const char *arguments; // "" or how arguments are written, for the usage line
    int argument_count_max;
    const char *help; // paragraphs below the usage line, each line ended by a newline
    struct weir_command_option options[WEIR_COMMAND_OPTIONS_MAX]; // ended by a NULL name
    int (*run)(const struct weir_cli *cli, const struct weir_command_line *line);
};

extern const struct weir_command weir_run_command;
extern const struct weir_command weir_check_command;
extern const struct weir_command weir_explain_command;
extern const struct weir_command weir_config_command;
extern const struct weir_command weir_checkpoints_command;
extern const struct weir_command weir_offsets_command;
extern const struct weir_command weir_transactions_command;
extern const struct weir_command weir_status_command;
extern const struct weir_command weir_dead_letters_command;
extern const struct weir_command weir_top_command;
extern const struct weir_command weir_pause_command;
extern const struct weir_command weir_resume_command;
extern const struct weir_command weir_completion_command;
extern const struct weir_command weir_manual_command;
extern const struct weir_command weir_savepoint_command;
extern const struct weir_command weir_version_command;

// What a command needs to know about its environment; whatever is wrong is in *faults. In
// command.c; everything lives in the arena.

// The whole configuration and a job that can be run; its plan, NULL when the SQL has faults.
const struct weir_plan *weir_command_load(const struct weir_cli *cli, struct weir_arena *arena,
                                          struct weir_config *config,
                                          struct weir_fault_list *faults);
// The same for commands that change something: failpoints are set as well.
void weir_command_load_to_act(const struct weir_cli *cli, struct weir_arena *arena,
                              struct weir_config *config, struct weir_fault_list *faults);
// For commands that look at a job or its store: only what is given has to be right.
void weir_command_load_given(const struct weir_cli *cli, struct weir_arena *arena,
                             struct weir_config *config, struct weir_fault_list *faults);

// Prints the faults of what was loaded; the exit code. A registry that did not answer in time, and
// nothing else, is no fault of what is given.
int weir_command_refuse(const struct weir_cli *cli, const struct weir_fault_list *faults);

// Tells cli->err the error; returns the exit code that it ends with.
int weir_command_fail(const struct weir_cli *cli, const struct weir_error *error);

// A time as 2026-11-30T00:10:00Z, in the text that is given.
enum { WEIR_UTC_BYTES = 32 };
const char *weir_utc_text(int64_t unix_ms, char text[WEIR_UTC_BYTES]);

// The commands in the order in which they are listed; NULL: idx is beyond the last one.
const struct weir_command *weir_command_at(uint32_t idx);

// What the program is and what its exit codes mean, for the overview and the manual page.
extern const char weir_cli_description[];
extern const char weir_cli_exit_codes[];

#endif
