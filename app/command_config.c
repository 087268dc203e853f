// SPDX-License-Identifier: Apache-2.0
// `weir config`.
#include "app/command.h"
#include "app/exit_code.h"

enum { OPTION_MARKDOWN = 1 << 0 };

static int print_configuration(const struct weir_cli *cli)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_fault_list faults;
    struct weir_config config;
    weir_fault_list_init(&faults, arena);
    enum weir_status status = weir_config_load(
        &(struct weir_config_input){.environment = cli->environment, .root_dir = cli->root_dir},
        arena, &config, &faults);
    struct weir_buffer text = {0};
    weir_config_print(&config, &text);
    fputs(weir_buffer_text(&text), cli->out);
    weir_fault_list_print(&faults, cli->err);
    weir_buffer_deinit(&text);
    weir_arena_destroy(arena);
    return status == WEIR_OK ? WEIR_EXIT_OK : WEIR_EXIT_REFUSED;
}

static int print_page(const struct weir_cli *cli)
{
    struct weir_buffer text = {0};
    weir_config_print_markdown(&text);
    fputs(weir_buffer_text(&text), cli->out);
    weir_buffer_deinit(&text);
    return WEIR_EXIT_OK;
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    return (line->options & OPTION_MARKDOWN) != 0 ? print_page(cli) : print_configuration(cli);
}

const struct weir_command weir_config_command = {
    .name = "config",
    .summary = "print every variable with value, source and default",
    .arguments = "",
    .help =
        "Prints every variable with its value, where that comes from, and its default; secrets\n"
        "are masked. Whatever is wrong goes to standard error, and the exit code is then 2.\n",
    .options = {{"--markdown", "print the reference page of all variables instead", NULL}},
    .run = run,
};
