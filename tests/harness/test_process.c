// SPDX-License-Identifier: Apache-2.0
// The harness's own tests: processes, temporary folders, ports, and that a failure of the harness
// fails the test. What ends a whole program is tried in another one: this program itself, started
// again with a scenario's name in WEIR_TEST_SCENARIO.
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/harness/base.h"
#include "tests/harness/process.h"

static const char *dir;

static struct weir_test_process *start_shell(const char *script, const char *log_name,
                                             const char *const *environment)
{
    char *log_path = weir_test_format("%s/%s", dir, log_name);
    const char *argv[] = {"sh", "-c", script, NULL};
    struct weir_test_process *process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .environment = environment, .log_path = log_path});
    free(log_path);
    return process;
}

static struct weir_test_process *start_scenario(const char *name)
{
    char self[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    char *log_path = weir_test_format("%s/%s.log", dir, name);
    char *variable = weir_test_format("WEIR_TEST_SCENARIO=%s", name);
    char *tmp = weir_test_format("TMPDIR=%s", dir);
    const char *argv[] = {self, NULL};
    const char *environment[] = {variable, tmp, "WEIR_TEST_KEEP", NULL};
    struct weir_test_process *process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .environment = environment, .log_path = log_path, .may_report = true});
    free(log_path);
    free(variable);
    free(tmp);
    return process;
}

static void test_process_reports_exit_code(void **state)
{
    (void)state;
    struct weir_test_process *process = start_shell("echo out; echo err >&2; exit 7", "code", NULL);
    struct weir_test_exit how = {0};
    assert_true(weir_test_process_wait(process, 10000, &how));
    assert_false(how.is_signalled);
    assert_int_equal(how.code, 7);
    char *output = weir_test_process_output(process);
    assert_string_equal(output, "out\nerr\n");
    free(output);
    weir_test_process_destroy(process);
}

static void test_process_reports_signal(void **state)
{
    (void)state;
    struct weir_test_process *process = start_shell("exec sleep 1000", "signal", NULL);
    struct weir_test_exit how = {0};
    assert_false(weir_test_process_wait(process, 20, &how));
    assert_true(weir_test_process_is_running(process));
    weir_test_process_signal(process, SIGTERM);
    assert_true(weir_test_process_wait(process, 10000, &how));
    assert_true(how.is_signalled);
    assert_int_equal(how.code, SIGTERM);
    weir_test_process_destroy(process);
}

static void test_process_kill_ends_a_stopped_process(void **state)
{
    (void)state;
    struct weir_test_process *process = start_shell("exec sleep 1000", "stopped", NULL);
    weir_test_process_signal(process, SIGSTOP);
    assert_false(weir_test_process_wait_killed(process, 20));
    weir_test_process_kill(process);
    assert_false(weir_test_process_is_running(process));
    assert_true(weir_test_process_wait_killed(process, 0));
    struct weir_test_exit how = {0};
    assert_true(weir_test_process_wait(process, 0, &how));
    assert_int_equal(how.code, SIGKILL);
    weir_test_process_destroy(process);
}

static void test_process_environment_is_changed_for_the_child_only(void **state)
{
    (void)state;
    setenv("WEIR_TEST_KEPT", "kept", 1);
    setenv("WEIR_TEST_GONE", "here", 1);
    setenv("WEIR_TEST_CHANGED", "old", 1);
    const char *changes[] = {"WEIR_TEST_GONE", "WEIR_TEST_CHANGED=new=2", NULL};
    struct weir_test_process *process = start_shell(
        "echo $WEIR_TEST_KEPT/${WEIR_TEST_GONE-none}/$WEIR_TEST_CHANGED", "environment", changes);
    assert_true(weir_test_process_wait_text(process, "kept/none/new=2\n", 10000, NULL));
    weir_test_process_destroy(process);
    assert_string_equal(getenv("WEIR_TEST_CHANGED"), "old");

    char *log_path = weir_test_format("%s/empty", dir);
    const char *argv[] = {"env", NULL};
    const char *only[] = {"ONLY=1", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", NULL};
    process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .environment = only, .is_environment_empty = true, .log_path = log_path});
    assert_true(weir_test_process_wait(process, 10000, NULL));
    char *output = weir_test_process_output(process);
    assert_string_equal(output, "ONLY=1\n");
    free(output);
    free(log_path);
    weir_test_process_destroy(process);
}

static void test_process_inherits_no_descriptor(void **state)
{
    (void)state;
    int port;
    int fd = weir_test_port_reserve(&port);
    int leak = dup(fd); // without close-on-exec
    struct weir_test_process *process =
        start_shell("ls /proc/self/fd | tr '\\n' ' '; echo", "descriptors", NULL);
    assert_true(weir_test_process_wait(process, 10000, NULL));
    char *output = weir_test_process_output(process);
    assert_string_equal(output, "0 1 2 3 \n"); // 3 is the folder that ls reads
    free(output);
    weir_test_process_destroy(process);
    close(leak);
    close(fd);
}

static void test_process_waits_for_text(void **state)
{
    (void)state;
    struct weir_test_process *process =
        start_shell("echo ready; sleep 0.1; echo ready; exec sleep 1000", "text", NULL);
    size_t position = 0;
    assert_true(weir_test_process_wait_text(process, "ready", 10000, &position));
    assert_int_equal(position, strlen("ready"));
    assert_true(weir_test_process_wait_text(process, "ready", 10000, &position));
    assert_false(weir_test_process_wait_text(process, "ready", 50, &position));
    weir_test_process_destroy(process);

    // A process that has ended is not waited for, but its last words count; and what an earlier
    // process wrote into the same log does not.
    process = start_shell("echo last words", "text", NULL);
    assert_true(weir_test_process_wait_text(process, "last words", 10000, NULL));
    int64_t start_ms = weir_test_now_ms();
    assert_false(weir_test_process_wait_text(process, "ready", 60000, NULL));
    assert_true(weir_test_now_ms() - start_ms < 30000);
    weir_test_process_destroy(process);
}

static void test_port_is_reserved_and_usable(void **state)
{
    (void)state;
    int port;
    int fd = weir_test_port_reserve(&port);
    assert_false(weir_test_port_answers(port));
    char *script = weir_test_format("exec python3 -c '"
                                    "import socket, time\n"
                                    "s = socket.socket()\n"
                                    "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
                                    "s.bind((\"127.0.0.1\", %d))\n"
                                    "s.listen()\n"
                                    "print(\"listening\", flush=True)\n"
                                    "time.sleep(1000)'",
                                    port);
    struct weir_test_process *process = start_shell(script, "port", NULL);
    assert_true(weir_test_process_wait_text(process, "listening", 10000, NULL));
    assert_true(weir_test_port_answers(port));
    weir_test_process_destroy(process);
    assert_false(weir_test_port_answers(port));
    free(script);
    close(fd);
}

static bool is_dir(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static char *run_scenario(const char *name, struct weir_test_exit *how)
{
    struct weir_test_process *process = start_scenario(name);
    assert_true(weir_test_process_wait(process, 20000, how));
    char *output = weir_test_process_output(process);
    weir_test_process_destroy(process);
    return output;
}

// The folder that the scenario said it made; the text is for free().
static char *named_dir(const char *output)
{
    const char *mark = strstr(output, "dir=");
    assert_non_null(mark);
    return weir_test_format("%.*s", (int)strcspn(mark + 4, "\n"), mark + 4);
}

static void test_harness_failure_fails_the_test_and_keeps_its_folder(void **state)
{
    (void)state;
    struct weir_test_exit how = {0};
    char *output = run_scenario("fail", &how);
    assert_false(how.is_signalled);
    assert_int_equal(how.code, 1);
    assert_non_null(strstr(output, "harness: on purpose 42"));
    char *path = named_dir(output);
    assert_true(is_dir(path));
    assert_non_null(strstr(output, "harness: kept "));
    free(path);
    free(output);
}

static void test_success_removes_the_folder(void **state)
{
    (void)state;
    struct weir_test_exit how = {0};
    char *output = run_scenario("succeed", &how);
    assert_int_equal(how.code, 0);
    char *path = named_dir(output);
    assert_false(is_dir(path));
    free(path);
    free(output);
}

static void test_wait_until_fails_when_time_is_over(void **state)
{
    (void)state;
    struct weir_test_exit how = {0};
    char *output = run_scenario("wait", &how);
    assert_int_equal(how.code, 1);
    assert_non_null(strstr(output, "not within 30 ms: weir_test_now_ms() < 0"));
    free(output);
}

static void test_end_of_its_own_is_no_kill(void **state)
{
    (void)state;
    static const char *const scenarios[] = {"exit", "terminate"};
    static const char *const expected[] = {"ended with 9 by itself:\nsays so\n",
                                           "ended with 15 by itself:\n"};
    for (int i = 0; i < 2; i++) {
        struct weir_test_exit how = {0};
        char *output = run_scenario(scenarios[i], &how);
        assert_int_equal(how.code, 1);
        assert_non_null(strstr(output, expected[i]));
        free(output);
    }
}

static void test_report_of_a_sanitizer_fails_the_test(void **state)
{
    (void)state;
    struct weir_test_exit how = {0};
    char *output = run_scenario("report", &how);
    assert_int_equal(how.code, 1);
    assert_non_null(strstr(output, "has a sanitizer's report in "));
    free(output);
}

static void test_start_fails_when_there_is_no_such_program(void **state)
{
    (void)state;
    struct weir_test_exit how = {0};
    char *output = run_scenario("missing", &how);
    assert_int_equal(how.code, 1);
    assert_non_null(strstr(output, "cannot run weir-no-such-program: No such file"));
    free(output);
}

static void test_child_dies_with_a_killed_program(void **state)
{
    (void)state;
    struct weir_test_exit how = {0};
    char *output = run_scenario("orphan", &how);
    assert_true(how.is_signalled);
    const char *mark = strstr(output, "child=");
    assert_non_null(mark);
    pid_t child = atoi(mark + 6);
    assert_true(child > 0);
    WEIR_TEST_WAIT_UNTIL(kill(child, 0) != 0, 10000);
    free(output);
}

// Scenarios -------------------------------------------------------------------------------------

static void scenario_fail(void **state)
{
    (void)state;
    printf("dir=%s\n", weir_test_dir_create("scenario"));
    WEIR_TEST_FAIL("on purpose %d", 42);
}

static void scenario_succeed(void **state)
{
    (void)state;
    const char *path = weir_test_dir_create("scenario");
    char *file = weir_test_format("%s/file", path);
    weir_test_write_file(file, "text");
    free(file);
    printf("dir=%s\n", path);
}

static void scenario_wait(void **state)
{
    (void)state;
    WEIR_TEST_WAIT_UNTIL(weir_test_now_ms() < 0, 30);
}

static void scenario_missing(void **state)
{
    (void)state;
    dir = weir_test_dir_create("scenario");
    char *log_path = weir_test_format("%s/log", dir);
    const char *argv[] = {"weir-no-such-program", NULL};
    weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = log_path});
}

static void scenario_report(void **state)
{
    (void)state;
    dir = weir_test_dir_create("scenario");
    struct weir_test_process *process =
        start_shell("echo 'WARNING: ThreadSanitizer: data race'; sleep 1000", "report", NULL);
    weir_test_process_wait_text(process, "race", 10000, NULL);
    weir_test_process_destroy(process); // its exit code is that of the kill
}

static void scenario_exit(void **state)
{
    (void)state;
    dir = weir_test_dir_create("scenario");
    weir_test_process_wait_killed(start_shell("echo says so; exit 9", "exit", NULL), 10000);
}

static void scenario_terminate(void **state)
{
    (void)state;
    dir = weir_test_dir_create("scenario");
    weir_test_process_wait_killed(start_shell("kill -TERM $$", "terminate", NULL), 10000);
}

static void scenario_orphan(void **state)
{
    (void)state;
    dir = weir_test_dir_create("scenario");
    struct weir_test_process *process = start_shell("exec sleep 1000", "orphan", NULL);
    printf("child=%d\n", weir_test_process_pid(process));
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

static int run_named(const char *name)
{
    const struct CMUnitTest scenarios[] = {
        cmocka_unit_test(scenario_fail),   cmocka_unit_test(scenario_succeed),
        cmocka_unit_test(scenario_wait),   cmocka_unit_test(scenario_missing),
        cmocka_unit_test(scenario_orphan), cmocka_unit_test(scenario_report),
        cmocka_unit_test(scenario_exit),   cmocka_unit_test(scenario_terminate),
    };
    char *filter = weir_test_format("scenario_%s", name);
    cmocka_set_test_filter(filter);
    int failed = cmocka_run_group_tests(scenarios, NULL, NULL);
    free(filter);
    return failed;
}

int main(void)
{
    if (getenv("WEIR_TEST_SCENARIO") != NULL) {
        return run_named(getenv("WEIR_TEST_SCENARIO"));
    }
    dir = weir_test_dir_create("process");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_reports_exit_code),
        cmocka_unit_test(test_process_reports_signal),
        cmocka_unit_test(test_process_kill_ends_a_stopped_process),
        cmocka_unit_test(test_process_environment_is_changed_for_the_child_only),
        cmocka_unit_test(test_process_inherits_no_descriptor),
        cmocka_unit_test(test_process_waits_for_text),
        cmocka_unit_test(test_port_is_reserved_and_usable),
        cmocka_unit_test(test_harness_failure_fails_the_test_and_keeps_its_folder),
        cmocka_unit_test(test_success_removes_the_folder),
        cmocka_unit_test(test_wait_until_fails_when_time_is_over),
        cmocka_unit_test(test_end_of_its_own_is_no_kill),
        cmocka_unit_test(test_report_of_a_sanitizer_fails_the_test),
        cmocka_unit_test(test_start_fails_when_there_is_no_such_program),
        cmocka_unit_test(test_child_dies_with_a_killed_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
