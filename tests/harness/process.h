// SPDX-License-Identifier: Apache-2.0
// Child processes of a test: the program under test, a broker, a tool. Starts one with environment
// and log file, signals it, waits for its end or for a text in its log.
//
// Invariants:
//  1. A child never outlives the test program, however that ends (the kernel kills it).
//  2. Standard output and error of a child go to its log file, appended in the order of writing;
//     standard input is /dev/null; no descriptor of the test program is handed down.
// Thread: start only from a thread that lives as long as the child (invariant 1 hangs on the
// starting thread): the thread of the tests. One thread at a time per process object.
#ifndef WEIR_TESTS_HARNESS_PROCESS_H
#define WEIR_TESTS_HARNESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct weir_test_process;

struct weir_test_process_options {
    const char *const *argv;        // ends with NULL; argv[0] without a slash is looked up in PATH
    const char *const *environment; // ends with NULL, or NULL: "NAME=value" sets, "NAME" removes
    bool is_environment_empty;      // begin with nothing instead of the test program's environment,
                                    // but for what configures sanitizers (ASAN_OPTIONS …)
    const char *directory;          // working directory; NULL: the test program's
    const char *log_path;           // created or appended to
    bool may_report; // a sanitizer's report in its output is no fault; otherwise it fails the test
};

struct weir_test_exit {
    bool is_signalled;
    int code; // exit code, or the number of the signal
};

// Starts the program. Fails the test if it cannot be executed. Does not wait.
struct weir_test_process *weir_test_process_start(const struct weir_test_process_options *options);

pid_t weir_test_process_pid(const struct weir_test_process *process);

// Looks, does not wait.
bool weir_test_process_is_running(struct weir_test_process *process);

// Ended already: does nothing.
void weir_test_process_signal(struct weir_test_process *process, int signal_number);

// True once it has ended, with the way it did in *how (which may be NULL); false after the time.
bool weir_test_process_wait(struct weir_test_process *process, int timeout_ms,
                            struct weir_test_exit *how);

// True once a SIGKILL has ended it, false after the time; any other end fails the test.
bool weir_test_process_wait_killed(struct weir_test_process *process, int timeout_ms);

// SIGKILL (which works on a stopped process too), then waits until it is gone.
void weir_test_process_kill(struct weir_test_process *process);

// True once the log holds the text at or after *position, which then moves behind it. position
// NULL: anywhere in what this process wrote. False after the time, or when the process ended
// without it.
bool weir_test_process_wait_text(struct weir_test_process *process, const char *text,
                                 int timeout_ms, size_t *position);

// What this process wrote so far, for free().
char *weir_test_process_output(struct weir_test_process *process);

// Kills it if it still runs. NULL is fine.
void weir_test_process_destroy(struct weir_test_process *process);

// For the harness's exit handler.
void weir_test_process_kill_all(void);

#endif
