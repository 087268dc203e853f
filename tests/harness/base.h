// SPDX-License-Identifier: Apache-2.0
// What every part of the harness stands on: failing a test, waiting, temporary folders, ports.
//
// Errors: a harness function that cannot do what it promises fails the running test (cmocka jumps
// out of it; outside a test the program ends). Only waits, whose failure may be what a test
// expects, return false. What a failed test leaves behind is cleaned up when the program ends.
// Thread: failing is for the thread that runs the tests; elsewhere it ends the whole program.
#ifndef WEIR_TESTS_HARNESS_BASE_H
#define WEIR_TESTS_HARNESS_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Prints the text and fails the running test at the place that calls it.
#define WEIR_TEST_FAIL(...) weir_test_fail(__FILE__, __LINE__, __VA_ARGS__)

// Fails the running test unless the condition becomes true in time. Looks every 5 ms.
#define WEIR_TEST_WAIT_UNTIL(condition, timeout_ms)                                                \
    do {                                                                                           \
        int64_t weir_test_deadline_ms = weir_test_now_ms() + (timeout_ms);                         \
        while (!(condition)) {                                                                     \
            if (weir_test_now_ms() >= weir_test_deadline_ms) {                                     \
                WEIR_TEST_FAIL("not within %d ms: %s", (int)(timeout_ms), #condition);             \
            }                                                                                      \
            weir_test_sleep_ms(5);                                                                 \
        }                                                                                          \
    } while (false)

_Noreturn void weir_test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Monotonic, in milliseconds.
int64_t weir_test_now_ms(void);

void weir_test_sleep_ms(int duration_ms);

// Zeroed memory for free(); never NULL.
void *weir_test_alloc(size_t bytes);

// Grows like realloc(); never NULL.
void *weir_test_realloc(void *memory, size_t bytes);

// printf into memory for free(); never NULL.
char *weir_test_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The whole file as a string for free(), NUL added; NULL if it cannot be read. bytes may be NULL.
char *weir_test_read_file(const char *path, size_t *bytes);

void weir_test_write_file(const char *path, const char *text);

// A new empty folder under $TMPDIR (or /tmp) whose name begins with "weir-<name>-". The path lives
// as long as the program. When the program ends with 0 the folder is removed; else, or with
// WEIR_TEST_KEEP set, it stays and its path is printed.
const char *weir_test_dir_create(const char *name);

// Takes a free TCP port of 127.0.0.1 and returns a socket that holds it: bound, not listening, so
// that a server with SO_REUSEADDR (Java sets it) can listen there now and again later, while nobody
// is given the port by accident. close() gives it back.
int weir_test_port_reserve(int *port);

// Does anybody listen there?
bool weir_test_port_answers(int port);

#endif
