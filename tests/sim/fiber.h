// SPDX-License-Identifier: Apache-2.0
// Threads of simulated processes as fibers of one thread, processes, and the clock. A fiber runs
// until it waits, sleeps or comes to a point where it may be interrupted; then the scheduler picks
// the next one by chance. When nobody can run, the clock jumps to the next time that somebody
// waits for. Thread: there is one.
#ifndef WEIR_TESTS_SIM_FIBER_H
#define WEIR_TESTS_SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One life of `weir run`. Dies with all of its fibers, at any point of any of them.
struct sim_process {
    uint32_t id; // from 1, in the order of their starts
    bool is_alive;
    bool is_frozen;   // SIGSTOP
    bool has_claimed; // once: from then on it follows nobody
    bool has_ended;   // weir says that it is over: a late SIGTERM is no second one
    int exit_code;    // once it is not alive; SIM_KILLED: it did not end by itself
    int stop_requests;
    int wake_descriptor;                       // what a signal handler writes to; -1: none yet
    int64_t points_to_kill;                    // after so many points it is killed; -1: never
    void (*kill)(struct sim_process *process); // how: alone, or with the machine
    void *owner;                               // who started it
    void *control;                             // struct weir_control; NULL: not yet, or no more
    uint32_t asker_count;                      // who wait for an answer of it
};

enum { SIM_KILLED = -1 };

struct sim_fiber;

void sim_fibers_init(bool is_verbose);
// How often and how long threads lose their processor.
void sim_fibers_set_interrupts(uint32_t one_in, int64_t us_max);
// Besides: at those points, one time in four, for up to so long. names ends with NULL.
void sim_fibers_set_sleeps(const char *const *names, int64_t us_max);
struct sim_fiber *sim_fiber_create(struct sim_process *process, const char *name,
                                   size_t stack_bytes, void *(*run)(void *argument),
                                   void *argument);
void sim_fiber_rename(struct sim_fiber *fiber, const char *name);
void sim_fiber_kill(struct sim_fiber *fiber); // not the running one; it is forgotten
bool sim_fiber_is_done(const struct sim_fiber *fiber);
void *sim_fiber_join(struct sim_fiber *fiber); // waits; the fiber is forgotten
struct sim_fiber *sim_fiber_current(void);     // NULL: outside of all
struct sim_process *sim_process_current(void); // NULL: the world's own fibers, and outside

// All fibers of the process are gone when this returns (which it does not for its own fibers).
void sim_process_end(struct sim_process *process, int exit_code);

// Where a process can be interrupted for a while, or killed. `what` is for the trace.
void sim_point(const char *what);
// Waits for sim_signal of the same address, or so long (-1: for ever). False: the time is over.
bool sim_wait(const void *event, int64_t timeout_us);
void sim_signal(const void *event);
void sim_sleep_us(int64_t duration_us);

int64_t sim_now_us(void);
int64_t sim_wall_us(void); // since 1970

// Runs until *is_over. False: nobody can run any more, or it takes more than `steps_max` switches.
bool sim_run(const bool *is_over, uint64_t steps_max);
uint64_t sim_step_count(void);
// Where every fiber is, on standard error.
void sim_print_fibers(void);

// A line of the trace, when there is one.
bool sim_is_verbose(void);
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
