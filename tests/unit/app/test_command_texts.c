// SPDX-License-Identifier: Apache-2.0
// What the program prints for shells and for man(1): the scripts complete, the page is well formed.
#include "config_fixture.h"

#include "app/cli.h"
#include "app/command.h"
#include "app/exit_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *print(int argc, char *const *argv, int exit_code)
{
    char *out;
    char *err;
    size_t out_bytes;
    size_t err_bytes;
    struct weir_cli cli = {.out = open_memstream(&out, &out_bytes),
                           .err = open_memstream(&err, &err_bytes),
                           .environment = (char *[]){NULL}};
    assert_int_equal(weir_cli_main(&cli, argc, argv), exit_code);
    fclose(cli.out);
    fclose(cli.err);
    assert_int_equal(err_bytes == 0, exit_code == WEIR_EXIT_OK);
    free(err);
    return out;
}

// What a bash that has read the script offers for the words of a command line; the last one is
// being typed.
static void expect_completion(const char *words, const char *expected)
{
    char *script = print(3, (char *[]){"weir", "completion", "bash", NULL}, WEIR_EXIT_OK);
    char path[] = "/tmp/weir-completion-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, script, strlen(script)), (ssize_t)strlen(script));
    close(descriptor);
    char command[512];
    snprintf(
        command, sizeof command,
        "bash -c 'set -u; . %s; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _weir; "
        "echo \"${COMPREPLY[*]-}\"'",
        path, words);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char line[512] = "";
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_int_equal(pclose(pipe), 0);
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(line, expected);
    unlink(path);
    free(script);
}

static void test_completion_offers_commands_options_and_words(void **state)
{
    (void)state;
    expect_completion("weir che", "check checkpoints");
    expect_completion("weir check --", "--connect --json --help");
    expect_completion("weir checkpoints \"\"", "list show verify --json --help");
    expect_completion("weir checkpoints verify v", "verify");
    expect_completion("weir offsets reset --t", "--table --to");
    expect_completion("weir unknown x", "");
}

static void test_completion_needs_a_shell_that_it_knows(void **state)
{
    (void)state;
    free(print(3, (char *[]){"weir", "completion", "fish", NULL}, WEIR_EXIT_REFUSED));
    free(print(2, (char *[]){"weir", "completion", NULL}, WEIR_EXIT_REFUSED));
    char *script = print(3, (char *[]){"weir", "completion", "zsh", NULL}, WEIR_EXIT_OK);
    assert_int_equal(strncmp(script, "#compdef weir\n", 14), 0);
    const struct weir_command *command;
    for (uint32_t i = 0; (command = weir_command_at(i)) != NULL; i++) {
        char entry[64];
        snprintf(entry, sizeof entry, "\n            '%s:", command->name);
        assert_non_null(strstr(script, entry));
    }
    free(script);
}

static void test_manual_page_tells_of_all_commands_and_has_no_faults(void **state)
{
    (void)state;
    char *page = print(2, (char *[]){"weir", "manual", NULL}, WEIR_EXIT_OK);
    const struct weir_command *command;
    for (uint32_t i = 0; (command = weir_command_at(i)) != NULL; i++) {
        char heading[64];
        snprintf(heading, sizeof heading, "\n.SS weir %s", command->name);
        assert_non_null(strstr(page, heading));
    }
    assert_non_null(strstr(page, "\n.B WEIR_CHECKPOINT_INTERVAL\n"));
    // Every line that begins with a dot is a request that is used here.
    for (const char *line = page; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '.') {
            static const char known[] = " .TH .SH .SS .TP .B .PP .EX .EE .br ";
            char request[8];
            snprintf(request, sizeof request, " %.*s ", (int)strcspn(line, " \n"), line);
            assert_non_null(strstr(known, request));
        }
        assert_int_not_equal(*line, '\'');
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completion_offers_commands_options_and_words),
        cmocka_unit_test(test_completion_needs_a_shell_that_it_knows),
        cmocka_unit_test(test_manual_page_tells_of_all_commands_and_has_no_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
