// SPDX-License-Identifier: Apache-2.0
// `weir completion`: scripts by which a shell completes commands and options. Made from the list of
// commands, so that nothing can be forgotten.
#include "app/command.h"
#include "app/exit_code.h"

#include <ctype.h>
#include <string.h>

enum { WORD_BYTES_MAX = 64 };

// The next word of a usage line that is typed as it stands, such as list in "[list | show N]";
// NULL: there is none any more. Placeholders are written in capitals or in <>, options are told
// elsewhere.
static const char *next_word(const char **text, char word[WORD_BYTES_MAX])
{
    while (**text != '\0') {
        size_t length = strcspn(*text, " []|");
        bool is_typed = length > 0 && length < WORD_BYTES_MAX;
        for (size_t i = 0; i < length && is_typed; i++) {
            is_typed = islower((unsigned char)(*text)[i]) != 0;
        }
        if (is_typed) {
            memcpy(word, *text, length);
            word[length] = '\0';
            *text += length;
            return word;
        }
        *text += length > 0 ? length : 1;
    }
    return NULL;
}

static void print_words(FILE *out, const struct weir_command *command, const char *separator)
{
    char word[WORD_BYTES_MAX];
    const char *arguments = command->arguments;
    while (next_word(&arguments, word) != NULL) {
        fprintf(out, "%s%s", word, separator);
    }
    for (uint32_t i = 0; i < WEIR_COMMAND_OPTIONS_MAX && command->options[i].name != NULL; i++) {
        fprintf(out, "%s%s", command->options[i].name, separator);
    }
    fprintf(out, "--help");
}

static void print_bash(FILE *out)
{
    fprintf(out, "# bash: source <(weir completion bash)\n"
                 "_weir() {\n"
                 "    local words=''\n"
                 "    case \"$COMP_CWORD:${COMP_WORDS[1]}\" in\n"
                 "    1:*) words='");
    const struct weir_command *command;
    for (uint32_t i = 0; (command = weir_command_at(i)) != NULL; i++) {
        fprintf(out, "%s ", command->name);
    }
    fprintf(out, "--help --version' ;;\n");
    for (uint32_t i = 0; (command = weir_command_at(i)) != NULL; i++) {
        fprintf(out, "    *:%s) words='", command->name);
        print_words(out, command, " ");
        fprintf(out, "' ;;\n");
    }
    fprintf(out,
            "    esac\n"
            "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
            "}\n"
            "complete -o default -F _weir weir\n");
}

// In single quotes; a colon separates in zsh's lists.
static void print_zsh_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'\\''" : *text == ':' ? "\\:" : (char[]){*text, '\0'}, out);
    }
}

static void print_zsh(FILE *out)
{
    fprintf(out, "#compdef weir\n"
                 "# zsh: source <(weir completion zsh)\n"
                 "_weir() {\n"
                 "    local -a commands\n"
                 "    if (( CURRENT == 2 )); then\n"
                 "        commands=(\n");
    const struct weir_command *command;
    for (uint32_t i = 0; (command = weir_command_at(i)) != NULL; i++) {
        fprintf(out, "            '%s:", command->name);
        print_zsh_text(out, command->summary);
        fprintf(out, "'\n");
    }
    fprintf(out, "        )\n"
                 "        _describe command commands\n"
                 "        return\n"
                 "    fi\n"
                 "    case $words[2] in\n");

    for (uint32_t i = 0; (command = weir_command_at(i)) != NULL; i++) {
        fprintf(out, "    %s) compadd -- ", command->name);
        print_words(out, command, " ");
        fprintf(out, " ;;\n");
    }
    fprintf(out, "    esac\n"
                 "}\n"
                 "compdef _weir weir\n");
}

static int run(const struct weir_cli *cli, const struct weir_command_line *line)
{
    const char *shell = line->argument_count == 1 ? line->arguments[0] : "";
    if (strcmp(shell, "bash") == 0) {
        print_bash(cli->out);
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh(cli->out);
    } else {
        fprintf(cli->err, "weir: completion takes bash or zsh (weir completion --help)\n");
        return WEIR_EXIT_REFUSED;
    }
    return WEIR_EXIT_OK;
}

const struct weir_command weir_completion_command = {
    .name = "completion",
    .summary = "print a script that completes commands in a shell",
    .arguments = "bash|zsh",
    .argument_count_max = 1,
    .help = "Prints a script for bash or zsh. For the running shell:\n"
            "\n"
            "  source <(weir completion bash)\n",
    .run = run,
};
