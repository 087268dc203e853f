// SPDX-License-Identifier: Apache-2.0
// See fiber.h. Stacks are mapped, and used again.
#include "tests/sim/fiber.h"

#include "app/signals.h"
#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    STACK_BYTES = 512 << 10,
    FIBERS_MAX = 512,
    STEP_US_MAX = 20, // what running between two points takes
    NAME_BYTES_MAX = 24,
};
static const int64_t epoch_us = INT64_C(1767225600000000); // 2026-01-01

enum fiber_state {
    FIBER_READY,
    FIBER_WAITING,
    FIBER_DONE,
};

struct sim_fiber {
    ucontext_t context;
    char *stack;
    size_t stack_bytes;
    char name[NAME_BYTES_MAX];
    struct sim_process *process;
    enum fiber_state state;
    const void *event; // WAITING
    int64_t wake_us;   // WAITING; -1: only by the event
    bool is_signalled;
    const char *place; // of the last point
    void *(*run)(void *argument);
    void *argument;
    void *result;
};

static ucontext_t scheduler;
static struct sim_fiber *fibers[FIBERS_MAX];
static uint32_t fiber_count;
static struct sim_fiber *current;
static char *free_stacks[FIBERS_MAX];
static uint32_t free_stack_count;
static int64_t now_us;
static uint64_t step_count;
static bool is_traced;
// Points at which a thread loses its processor for a while, and for how long.
static uint32_t interrupted_one_in = 400;
static int64_t interrupted_us_max = 300000;
static const char *const *sleep_names;
static int64_t sleeps_us_max;

void sim_fibers_init(bool is_verbose)
{
    is_traced = is_verbose;
}

void sim_fibers_set_interrupts(uint32_t one_in, int64_t us_max)
{
    interrupted_one_in = one_in;
    interrupted_us_max = us_max;
}

void sim_fibers_set_sleeps(const char *const *names, int64_t us_max)
{
    sleep_names = names;
    sleeps_us_max = us_max;
}

static bool is_asleep_at(const char *what)
{
    for (const char *const *name = sleep_names; name != NULL && *name != NULL; name++) {
        if (strcmp(*name, what) == 0) {
            return sim_one_in(4);
        }
    }
    return false;
}

static char *take_stack(size_t stack_bytes)
{
    if (stack_bytes == STACK_BYTES && free_stack_count > 0) {
        return free_stacks[--free_stack_count];
    }
    // A page below that nobody may touch.
    char *stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WEIR_ASSERT(stack != MAP_FAILED);
    WEIR_ASSERT(mprotect(stack, 4096, PROT_NONE) == 0);
    return stack;
}

static void free_fiber(struct sim_fiber *fiber)
{
    if (fiber->stack_bytes == STACK_BYTES && free_stack_count < FIBERS_MAX) {
        free_stacks[free_stack_count++] = fiber->stack;
    } else {
        munmap(fiber->stack, fiber->stack_bytes);
    }
    free(fiber);
}

static void forget(struct sim_fiber *fiber)
{
    for (uint32_t i = 0; i < fiber_count; i++) {
        if (fibers[i] == fiber) {
            fibers[i] = fibers[--fiber_count];
            free_fiber(fiber);
            return;
        }
    }
    WEIR_ASSERT(!"every fiber is in the list");
}

// Back to the scheduler. With one process's variables set aside.
static void leave(void)
{
    struct sim_fiber *self = current;
    if (self->process != NULL) {
        self->process->stop_requests = weir_stop_requests;
    }
    swapcontext(&self->context, &scheduler);
}

static void begin(void)
{
    current->result = current->run(current->argument);
    current->state = FIBER_DONE;
    sim_signal(current);
    leave();
    WEIR_ASSERT(!"a fiber that is done does not run");
}

struct sim_fiber *sim_fiber_create(struct sim_process *process, const char *name,
                                   size_t stack_bytes, void *(*run)(void *argument), void *argument)
{
    WEIR_ASSERT(fiber_count < FIBERS_MAX);
    struct sim_fiber *fiber = weir_alloc_zero(sizeof *fiber);
    fiber->stack_bytes = stack_bytes > STACK_BYTES ? stack_bytes : STACK_BYTES;
    fiber->stack = take_stack(fiber->stack_bytes);
    fiber->process = process;
    fiber->run = run;
    fiber->argument = argument;
    fiber->place = "start";
    sim_fiber_rename(fiber, name);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->stack_bytes;
    makecontext(&fiber->context, begin, 0);
    fibers[fiber_count++] = fiber;
    return fiber;
}

void sim_fiber_rename(struct sim_fiber *fiber, const char *name)
{
    snprintf(fiber->name, sizeof fiber->name, "%s", name);
}

void sim_fiber_kill(struct sim_fiber *fiber)
{
    WEIR_ASSERT(fiber != current);
    forget(fiber);
}

bool sim_fiber_is_done(const struct sim_fiber *fiber)
{
    return fiber->state == FIBER_DONE;
}

void *sim_fiber_join(struct sim_fiber *fiber)
{
    while (fiber->state != FIBER_DONE) {
        sim_wait(fiber, -1);
    }
    void *result = fiber->result;
    forget(fiber);
    return result;
}

struct sim_fiber *sim_fiber_current(void)
{
    return current;
}

struct sim_process *sim_process_current(void)
{
    return current != NULL ? current->process : NULL;
}

void sim_process_end(struct sim_process *process, int exit_code)
{
    process->is_alive = false;
    process->exit_code = exit_code;
    bool is_own = current != NULL && current->process == process;
    for (uint32_t i = fiber_count; i > 0; i--) {
        if (fibers[i - 1]->process == process && fibers[i - 1] != current) {
            forget(fibers[i - 1]);
        }
    }
    sim_signal(process);
    if (is_own) {
        current->state = FIBER_DONE; // the scheduler forgets it
        leave();
    }
}

static void wait_in_place(const void *event, int64_t timeout_us)
{
    current->state = FIBER_WAITING;
    current->event = event;
    current->wake_us = timeout_us < 0 ? -1 : now_us + timeout_us;
    current->is_signalled = false;
    leave();
}

void sim_point(const char *what)
{
    if (current == NULL) {
        return;
    }
    current->place = what;
    struct sim_process *process = current->process;
    if (process == NULL) {
        return;
    }
    if (process->points_to_kill > 0 && --process->points_to_kill == 0) {
        sim_trace("killed at %s", what);
        process->kill(process);
        WEIR_ASSERT(!"a killed process does not go on");
    }
    if (is_asleep_at(what)) {
        wait_in_place(NULL, sim_spread(100, sleeps_us_max));
    } else if (sim_one_in(interrupted_one_in)) {
        wait_in_place(NULL, sim_spread(100, interrupted_us_max));
    } else if (sim_one_in(2)) {
        leave(); // still ready
    }
}

bool sim_wait(const void *event, int64_t timeout_us)
{
    WEIR_ASSERT(current != NULL);
    wait_in_place(event, timeout_us);
    return current->is_signalled;
}

void sim_signal(const void *event)
{
    for (uint32_t i = 0; i < fiber_count; i++) {
        struct sim_fiber *fiber = fibers[i];
        if (fiber->state == FIBER_WAITING && fiber->event == event && event != NULL) {
            fiber->state = FIBER_READY;
            fiber->is_signalled = true;
        }
    }
}

void sim_sleep_us(int64_t duration_us)
{
    wait_in_place(NULL, duration_us > 0 ? duration_us : 0);
}

int64_t sim_now_us(void)
{
    return now_us;
}

int64_t sim_wall_us(void)
{
    return epoch_us + now_us;
}

static bool is_frozen(const struct sim_fiber *fiber)
{
    return fiber->process != NULL && fiber->process->is_frozen;
}

// Who can run now. Sets *next_us to when somebody else can, -1: never.
static uint32_t find_ready(struct sim_fiber **ready, int64_t *next_us)
{
    uint32_t count = 0;
    *next_us = -1;
    for (uint32_t i = 0; i < fiber_count; i++) {
        struct sim_fiber *fiber = fibers[i];
        if (is_frozen(fiber)) {
            continue;
        }
        if (fiber->state == FIBER_WAITING && fiber->wake_us >= 0) {
            if (fiber->wake_us <= now_us) {
                fiber->state = FIBER_READY;
            } else if (*next_us < 0 || fiber->wake_us < *next_us) {
                *next_us = fiber->wake_us;
            }
        }
        if (fiber->state == FIBER_READY) {
            ready[count++] = fiber;
        }
    }
    return count;
}

static void switch_to(struct sim_fiber *fiber)
{
    current = fiber;
    if (fiber->process != NULL) {
        weir_stop_requests = fiber->process->stop_requests;
    }
    swapcontext(&scheduler, &fiber->context);
    current = NULL;
    // What ended with its process is not joined by anybody.
    if (fiber->state == FIBER_DONE && fiber->process != NULL && !fiber->process->is_alive) {
        forget(fiber);
    }
}

bool sim_run(const bool *is_over, uint64_t steps_max)
{
    static struct sim_fiber *ready[FIBERS_MAX];
    while (!*is_over) {
        int64_t next_us;
        uint32_t count = find_ready(ready, &next_us);
        if (count == 0 && next_us < 0) {
            return false;
        }
        if (count == 0) {
            now_us = next_us;
            continue;
        }
        if (++step_count > steps_max) {
            return false;
        }
        now_us += 1 + sim_below(STEP_US_MAX);
        switch_to(ready[sim_below(count)]);
    }
    return true;
}

uint64_t sim_step_count(void)
{
    return step_count;
}

static const char *state_name(const struct sim_fiber *fiber)
{
    switch (fiber->state) {
    case FIBER_READY:
        return "ready";
    case FIBER_WAITING:
        return fiber->wake_us < 0 ? "waiting" : "sleeping";
    case FIBER_DONE:
        return "done";
    }
    return "?";
}

void sim_print_fibers(void)
{
    for (uint32_t i = 0; i < fiber_count; i++) {
        const struct sim_fiber *fiber = fibers[i];
        fprintf(stderr, "  process %u %s: %s%s, last at %s\n",
                fiber->process != NULL ? fiber->process->id : 0, fiber->name, state_name(fiber),
                is_frozen(fiber) ? " (frozen)" : "", fiber->place);
    }
}

bool sim_is_verbose(void)
{
    return is_traced;
}

void sim_trace(const char *format, ...)
{
    if (!is_traced) {
        return;
    }
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct sim_process *process = sim_process_current();
    fprintf(stderr, "%10.6f %u/%-12s %s\n", (double)now_us / 1e6, process != NULL ? process->id : 0,
            current != NULL ? current->name : "-", text);
}
