// SPDX-License-Identifier: Apache-2.0
// `weir manual`: the manual page, in the language of man(1). Made from the lists of commands and of
// variables, so that it says what this program does.
#include "app/command.h"
#include "app/config_table.h"
#include "app/exit_code.h"
#include "runtime/version.h"

#include <string.h>

// A dot or a quote that begins a line would be a request; a bare minus becomes a hyphen that cannot
// be searched for.
static void print_text(FILE *out, const char *text)
{
    bool is_line_start = true;
    for (; *text != '\0'; text++) {
        if (is_line_start && (*text == '.' || *text == '\'')) {
            fputs("\\&", out);
        }
        is_line_start = *text == '\n';
        if (*text == '-' || *text == '\\') {
            fputs(*text == '-' ? "\\-" : "\\e", out);
        } else if (*text != '`') {
            fputc(*text, out);
        }
    }
}

static void print_paragraphs(FILE *out, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length == 0) {
            fputs(".PP\n", out);
        } else {
            bool is_example = line[0] == ' ';
            char copy[256];
            snprintf(copy, sizeof copy, "%.*s\n", (int)length, line);
            fputs(is_example ? ".EX\n" : "", out);
            print_text(out, copy);
            fputs(is_example ? ".EE\n" : "", out);
        }
        line += length + (line[length] == '\n');
    }
}

static void print_command(FILE *out, const struct weir_command *command)
{
    fprintf(out, ".SS weir %s%s", command->name, command->arguments[0] != '\0' ? " " : "");
    print_text(out, command->arguments);
    fputc('\n', out);
    print_paragraphs(out, command->help);
    for (uint32_t i = 0; i < WEIR_COMMAND_OPTIONS_MAX && command->options[i].name != NULL; i++) {
        fputs(".TP\n.B ", out);
        print_text(out, command->options[i].name);
        if (command->options[i].value != NULL) {
            fprintf(out, " \\fI%s\\fR", command->options[i].value);
        }
        fputc('\n', out);
        print_text(out, command->options[i].meaning);
        fputc('\n', out);
    }
}

static void print_variable(FILE *out, const struct weir_variable *variable)
{
    char form[256];
    fprintf(out, ".TP\n.B %s\n", variable->name);
    print_text(out, variable->meaning);
    fputs("\n.br\n", out);
    print_text(out, weir_variable_form(variable, form, sizeof form));
    if (variable->is_required) {
        fputs("; required", out);
    } else if (variable->default_words != NULL || variable->default_text != NULL) {
        fputs("; default: ", out);
        print_text(out, variable->default_words != NULL ? variable->default_words
                                                        : variable->default_text);
    }
    fputc('\n', out);
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    (void)line;
    FILE *out = cli->out;
    fprintf(out,
            ".TH WEIR 1 \"\" \"weir %s\"\n.SH NAME\nweir \\- stream processor for Kafka: SQL, "
            "exactly once\n.SH SYNOPSIS\n.B weir\n[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]\n"
            ".SH DESCRIPTION\n",
            WEIR_VERSION);
    print_paragraphs(out, weir_cli_description);
    fputs(".SH COMMANDS\n", out);
    const struct weir_command *command;
    for (uint32_t i = 0; (command = weir_command_at(i)) != NULL; i++) {
        print_command(out, command);
    }
    fputs(".SH ENVIRONMENT\n", out);
    print_paragraphs(out, "NAME_FILE reads the value of any variable NAME from a file. Properties\n"
                          "of the Kafka client are WEIR_KAFKA_<PROPERTY>, with . written _.\n");
    for (uint32_t i = 0; i < weir_variable_count; i++) {
        print_variable(out, &weir_variables[i]);
    }
    fputs(".SH EXIT STATUS\n", out);
    print_paragraphs(out, weir_cli_exit_codes);
    return WEIR_EXIT_OK;
}

const struct weir_command weir_manual_command = {
    .name = "manual",
    .summary = "print the manual page",
    .arguments = "",
    .help = "Prints the manual page in the language of man(1):\n"
            "\n"
            "  weir manual | man -l -\n",
    .run = run,
};
