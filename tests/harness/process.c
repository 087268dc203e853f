// SPDX-License-Identifier: Apache-2.0
// Child processes: see the header. Between fork and exec only calls that are safe in the child of a
// program with threads are made: everything that allocates is prepared before.
#include "tests/harness/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/base.h"

struct weir_test_process {
    struct weir_test_process *next; // of all that were not destroyed
    pid_t pid;
    bool is_running;
    struct weir_test_exit how;
    char *log_path;
    off_t log_start_bytes; // what earlier processes wrote into the same file
    bool may_report;
};

static struct weir_test_process *all_processes;
static bool is_exiting; // in the exit handler no test can fail any more

static size_t name_length(const char *line)
{
    return strcspn(line, "=");
}

static bool is_replaced(const char *line, const char *const *changes)
{
    for (size_t i = 0; changes != NULL && changes[i] != NULL; i++) {
        size_t length = name_length(line);
        if (length == name_length(changes[i]) && strncmp(line, changes[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_of_sanitizer(const char *line)
{
    static const char end[] = "SAN_OPTIONS";
    size_t length = name_length(line);
    return length >= sizeof end - 1 &&
           strncmp(line + length - (sizeof end - 1), end, sizeof end - 1) == 0;
}

// The array is for free(); the lines belong to the environment and to the options.
static const char **merge_environment(const struct weir_test_process_options *options)
{
    size_t capacity = 1;
    for (size_t i = 0; environ[i] != NULL; i++) {
        capacity++;
    }
    const char *const *changes = options->environment;
    for (size_t i = 0; changes != NULL && changes[i] != NULL; i++) {
        capacity++;
    }
    const char **merged = weir_test_alloc(capacity * sizeof(*merged));
    size_t count = 0;
    for (size_t i = 0; environ[i] != NULL; i++) {
        if ((!options->is_environment_empty || is_of_sanitizer(environ[i])) &&
            !is_replaced(environ[i], changes)) {
            merged[count++] = environ[i];
        }
    }
    for (size_t i = 0; changes != NULL && changes[i] != NULL; i++) {
        if (changes[i][name_length(changes[i])] == '=') {
            merged[count++] = changes[i];
        }
    }
    return merged;
}

// Runs in the child. Reports errno through the pipe, which closes by itself when exec succeeds.
static _Noreturn void become(const struct weir_test_process_options *options, const char **env,
                             int log_fd, int input_fd, int report_fd, pid_t parent)
{
    enum { REPORT_FD = 3 };
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127); // it died before the call above
    }
    if (dup2(input_fd, 0) == 0 && dup2(log_fd, 1) == 1 && dup2(log_fd, 2) == 2 &&
        dup3(report_fd, REPORT_FD, O_CLOEXEC) == REPORT_FD &&
        syscall(SYS_close_range, REPORT_FD + 1, ~0U, 0) == 0 &&
        (options->directory == NULL || chdir(options->directory) == 0)) {
        execvpe(options->argv[0], (char *const *)options->argv, (char *const *)env);
    }
    int code = errno;
    ssize_t written = write(REPORT_FD, &code, sizeof(code));
    _exit(written == sizeof(code) ? 127 : 126);
}

// A descriptor above those that the child replaces.
static int open_high(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0666);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);
    if (high < 0) {
        WEIR_TEST_FAIL("cannot open %s: %s", path, strerror(errno));
    }
    close(fd);
    return high;
}

struct weir_test_process *weir_test_process_start(const struct weir_test_process_options *options)
{
    struct weir_test_process *process = weir_test_alloc(sizeof(*process));
    process->log_path = weir_test_format("%s", options->log_path);
    process->may_report = options->may_report;
    int log_fd = open_high(options->log_path, O_WRONLY | O_CREAT | O_APPEND);
    int input_fd = open_high("/dev/null", O_RDONLY);
    struct stat status;
    fstat(log_fd, &status);
    process->log_start_bytes = status.st_size;
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        WEIR_TEST_FAIL("no pipe: %s", strerror(errno));
    }
    int report_fd = fcntl(report[1], F_DUPFD_CLOEXEC, 10);
    const char **env = merge_environment(options);
    pid_t parent = getpid();
    process->pid = fork();
    if (process->pid == 0) {
        become(options, env, log_fd, input_fd, report_fd, parent);
    }
    close(log_fd);
    close(input_fd);
    close(report[1]);
    close(report_fd);
    free(env);
    int code = 0;
    ssize_t reported = read(report[0], &code, sizeof(code));
    close(report[0]);
    if (process->pid < 0 || reported != 0) {
        WEIR_TEST_FAIL("cannot run %s: %s", options->argv[0], strerror(code));
    }
    process->is_running = true;
    process->next = all_processes;
    all_processes = process;
    return process;
}

pid_t weir_test_process_pid(const struct weir_test_process *process)
{
    return process->pid;
}

static char *read_output(struct weir_test_process *process, size_t *bytes)
{
    size_t file_bytes = 0;
    char *text = weir_test_read_file(process->log_path, &file_bytes);
    if (text == NULL) {
        WEIR_TEST_FAIL("cannot read %s: %s", process->log_path, strerror(errno));
    }
    size_t start = (size_t)process->log_start_bytes;
    *bytes = file_bytes > start ? file_bytes - start : 0;
    memmove(text, text + (file_bytes - *bytes), *bytes + 1);
    return text;
}

// However the process ended: the exit code of one that the test kills says nothing, and that of
// UBSan is also one of weir's own.
static void refuse_report(struct weir_test_process *process)
{
    static const char *const marks[] = {"Sanitizer: ", ": runtime error: "};
    size_t bytes;
    char *output = read_output(process, &bytes);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strstr(output, marks[i]) != NULL) {
            WEIR_TEST_FAIL("process %d has a sanitizer's report in %s:\n%s", process->pid,
                           process->log_path, output);
        }
    }
    free(output);
}

static void reap(struct weir_test_process *process, int flags)
{
    int status = 0;
    if (!process->is_running || waitpid(process->pid, &status, flags) != process->pid) {
        return;
    }
    process->is_running = false;
    process->how.is_signalled = WIFSIGNALED(status);
    process->how.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (!process->may_report && !is_exiting) {
        refuse_report(process);
    }
}

bool weir_test_process_is_running(struct weir_test_process *process)
{
    reap(process, WNOHANG);
    return process->is_running;
}

void weir_test_process_signal(struct weir_test_process *process, int signal_number)
{
    if (process->is_running) {
        kill(process->pid, signal_number); // not reaped yet, so the number is still its own
    }
}

bool weir_test_process_wait(struct weir_test_process *process, int timeout_ms,
                            struct weir_test_exit *how)
{
    int64_t deadline_ms = weir_test_now_ms() + timeout_ms;
    while (weir_test_process_is_running(process)) {
        if (weir_test_now_ms() >= deadline_ms) {
            return false;
        }
        weir_test_sleep_ms(2);
    }
    if (how != NULL) {
        *how = process->how;
    }
    return true;
}

bool weir_test_process_wait_killed(struct weir_test_process *process, int timeout_ms)
{
    struct weir_test_exit how;
    if (!weir_test_process_wait(process, timeout_ms, &how)) {
        return false;
    }
    if (!how.is_signalled || how.code != SIGKILL) {
        WEIR_TEST_FAIL("ended with %d by itself:\n%s", how.code, weir_test_process_output(process));
    }
    return true;
}

void weir_test_process_kill(struct weir_test_process *process)
{
    weir_test_process_signal(process, SIGKILL);
    reap(process, 0);
}

char *weir_test_process_output(struct weir_test_process *process)
{
    size_t bytes;
    return read_output(process, &bytes);
}

static bool find_text(struct weir_test_process *process, const char *text, size_t *position)
{
    size_t bytes;
    char *output = read_output(process, &bytes);
    size_t start = *position < bytes ? *position : bytes;
    char *found = memmem(output + start, bytes - start, text, strlen(text));
    if (found != NULL) {
        *position = (size_t)(found - output) + strlen(text);
    }
    free(output);
    return found != NULL;
}

bool weir_test_process_wait_text(struct weir_test_process *process, const char *text,
                                 int timeout_ms, size_t *position)
{
    size_t from_start = 0;
    if (position == NULL) {
        position = &from_start;
    }
    int64_t deadline_ms = weir_test_now_ms() + timeout_ms;
    for (;;) {
        // Asked before the look, so that its last words are not missed.
        bool is_over = !weir_test_process_is_running(process) || weir_test_now_ms() >= deadline_ms;
        if (find_text(process, text, position)) {
            return true;
        }
        if (is_over) {
            return false;
        }
        weir_test_sleep_ms(10);
    }
}

void weir_test_process_destroy(struct weir_test_process *process)
{
    if (process == NULL) {
        return;
    }
    weir_test_process_kill(process);
    struct weir_test_process **link = &all_processes;
    while (*link != process) {
        link = &(*link)->next;
    }
    *link = process->next;
    free(process->log_path);
    free(process);
}

void weir_test_process_kill_all(void)
{
    is_exiting = true;
    while (all_processes != NULL) {
        weir_test_process_destroy(all_processes);
    }
}
