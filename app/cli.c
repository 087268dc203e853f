// SPDX-License-Identifier: Apache-2.0
// See cli.h. Nothing is read or touched before the command line is understood as a whole.
#include "app/command.h"
#include "app/exit_code.h"
#include "runtime/base/assert.h"
#include "runtime/base/text.h"

#include <string.h>

static const struct weir_command *const commands[] = {
    &weir_run_command,          &weir_check_command,        &weir_explain_command,
    &weir_config_command,       &weir_checkpoints_command,  &weir_offsets_command,
    &weir_transactions_command, &weir_dead_letters_command, &weir_completion_command,
    &weir_manual_command,       &weir_savepoint_command,    &weir_pause_command,
    &weir_resume_command,       &weir_status_command,       &weir_top_command,
    &weir_version_command,
};

enum {
    COMMAND_COUNT = sizeof commands / sizeof commands[0],
    ARGUMENTS_MAX = 16,
};

const char weir_cli_description[] =
    "Runs a streaming SQL job from Kafka to Kafka, exactly once. The job and its\n"
    "configuration come from environment variables (WEIR_SQL, WEIR_JOB_ID,\n"
    "WEIR_KAFKA_BOOTSTRAP_SERVERS, …): `weir config` prints all of them.\n";

const char weir_cli_exit_codes[] =
    "0 ended as asked; 1 the job failed while running, or brokers could\n"
    "not be reached; 2 something to change was found before the first record; 3\n"
    "another instance with this identity took over.\n";

const struct weir_command *weir_command_at(uint32_t idx)
{
    return idx < COMMAND_COUNT ? commands[idx] : NULL;
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static void print_overview(FILE *out)
{
    fprintf(out, "Usage: weir [COMMAND] [OPTIONS]\n\n%s\nCommands:\n", weir_cli_description);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    }
    fprintf(out,
            "\n"
            "`weir COMMAND --help` tells more about one. Results go to standard output,\n"
            "messages to standard error.\n"
            "\n"
            "Exit codes: %s",
            weir_cli_exit_codes);
}

static void print_help(const struct weir_command *command, FILE *out)
{
    bool has_options = command->options[0].name != NULL;
    fprintf(out, "Usage: weir %s%s%s%s\n\n%s", command->name, has_options ? " [OPTIONS]" : "",
            command->arguments[0] != '\0' ? " " : "", command->arguments, command->help);
    fprintf(out, "\nOptions:\n");
    for (uint32_t i = 0; i < WEIR_COMMAND_OPTIONS_MAX && command->options[i].name != NULL; i++) {
        const struct weir_command_option *option = &command->options[i];
        char name[32];
        snprintf(name, sizeof name, "%s%s%s", option->name, option->value != NULL ? " " : "",
                 option->value != NULL ? option->value : "");
        fprintf(out, "  %-12s %s\n", name, option->meaning);
    }
    fprintf(out, "  %-12s %s\n", "--help", "show this");
}

static const struct weir_command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static int refuse_command(const struct weir_cli *cli, const char *name)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i]->name;
    }
    fprintf(cli->err,
            "weir: there is no command \"%s\"; the nearest is %s (weir --help lists all)\n", name,
            weir_text_nearest(name, COMMAND_COUNT, names, UINT32_MAX));
    return WEIR_EXIT_REFUSED;
}

static int refuse_option(const struct weir_cli *cli, const struct weir_command *command,
                         const char *option)
{
    const char *names[WEIR_COMMAND_OPTIONS_MAX + 1];
    uint32_t count = 0;
    while (count < WEIR_COMMAND_OPTIONS_MAX && command->options[count].name != NULL) {
        names[count] = command->options[count].name;
        count++;
    }
    names[count++] = "--help";
    fprintf(cli->err, "weir: %s has no option \"%s\"; the nearest is %s\n", command->name, option,
            weir_text_nearest(option, count, names, UINT32_MAX));
    return WEIR_EXIT_REFUSED;
}

// The position of an option among the command's, or -1.
static int option_idx(const struct weir_command *command, const char *option)
{
    for (int i = 0; i < WEIR_COMMAND_OPTIONS_MAX && command->options[i].name != NULL; i++) {
        if (strcmp(command->options[i].name, option) == 0) {
            return i;
        }
    }
    return -1;
}

static int run_command(const struct weir_cli *cli, const struct weir_command *command,
                       int word_count, char *const *words)
{
    char *arguments[ARGUMENTS_MAX];
    struct weir_command_line line = {.arguments = arguments};
    WEIR_ASSERT(command->argument_count_max <= ARGUMENTS_MAX);
    for (int i = 0; i < word_count; i++) {
        if (is_help(words[i])) {
            print_help(command, cli->out);
            return WEIR_EXIT_OK;
        }
    }
    for (int i = 0; i < word_count; i++) {
        if (words[i][0] == '-') {
            int idx = option_idx(command, words[i]);
            if (idx < 0) {
                return refuse_option(cli, command, words[i]);
            }
            line.options |= UINT32_C(1) << idx;
            if (command->options[idx].value == NULL) {
                continue;
            }
            if (i + 1 == word_count) {
                fprintf(cli->err, "weir: %s of %s needs a value (weir %s --help)\n", words[i],
                        command->name, command->name);
                return WEIR_EXIT_REFUSED;
            }
            line.values[idx] = words[++i];
        } else if (line.argument_count == command->argument_count_max) {
            fprintf(cli->err, "weir: %s does not expect \"%s\" (weir %s --help)\n", command->name,
                    words[i], command->name);
            return WEIR_EXIT_REFUSED;
        } else {
            arguments[line.argument_count++] = words[i];
        }
    }
    return command->run(cli, &line);
}

int weir_cli_main(const struct weir_cli *cli, int argc, char *const *argv)
{
    if (argc < 2) {
        return run_command(cli, &weir_run_command, 0, NULL);
    }
    if (is_help(argv[1])) {
        print_overview(cli->out);
        return WEIR_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return run_command(cli, &weir_version_command, argc - 2, argv + 2);
    }
    const struct weir_command *command = find_command(argv[1]);
    if (command == NULL) {
        return refuse_command(cli, argv[1]);
    }
    return run_command(cli, command, argc - 2, argv + 2);
}
