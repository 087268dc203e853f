// SPDX-License-Identifier: Apache-2.0
// See signals.h. Handlers use only what is safe in handlers: write, alarm, _exit.
#include "app/signals.h"

#include "app/exit_code.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { STOP_SECONDS_MAX = 28 };

atomic_int weir_stop_requests;
static volatile sig_atomic_t wake_descriptor = -1;
static volatile sig_atomic_t has_ended;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void on_stop(int number)
{
    (void)number;
    weir_stop_requests++;
    if (has_ended) {
        _exit(WEIR_EXIT_OK);
    }
    if (weir_stop_requests > 1) {
        say("weir: second stop signal: ending at once; what was not committed will be replayed\n");
        _exit(WEIR_EXIT_FAILED);
    }
    if (wake_descriptor < 0) {
        say("weir: stopped before the job was running: no final checkpoint was made; the last "
            "committed one stands\n");
        _exit(WEIR_EXIT_FAILED);
    }
    alarm(STOP_SECONDS_MAX);
    uint64_t one = 1;
    ssize_t written = write(wake_descriptor, &one, sizeof one);
    (void)written;
}

static void on_alarm(int number)
{
    (void)number;
    if (has_ended) {
        _exit(WEIR_EXIT_OK);
    }
    say("weir: the final checkpoint could not be committed in time: ending without it; what was "
        "not committed will be replayed\n");
    _exit(WEIR_EXIT_FAILED);
}

void weir_signals_init(void)
{
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    struct sigaction timeout = {.sa_handler = on_alarm};
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGALRM, &timeout, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
}

void weir_signals_set_ended(void)
{
    has_ended = true;
}

void weir_signals_wake(int descriptor)
{
    wake_descriptor = descriptor;
}
