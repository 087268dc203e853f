// SPDX-License-Identifier: Apache-2.0
// The calls to the system that have to do with threads, time, events and chance. A thread is a
// fiber; whoever takes a lock or waits may lose its turn, and sees the simulated clock.
#include "tests/sim/system.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/disk.h"
#include "tests/sim/random.h"
#include "tests/sim/wrap.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS_MAX = 65536 };

static uint64_t events[EVENTS_MAX]; // by descriptor; never given out twice in a run
static int event_count;

static bool is_simulated(void)
{
    return sim_fiber_current() != NULL;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    if (!is_simulated()) {
        return __real_pthread_create(thread, attributes, run, argument);
    }
    size_t stack_bytes = 0;
    if (attributes != NULL) {
        pthread_attr_getstacksize(attributes, &stack_bytes);
    }
    struct sim_fiber *fiber =
        sim_fiber_create(sim_process_current(), "thread", stack_bytes, run, argument);
    *thread = (pthread_t)(uintptr_t)fiber;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    if (!is_simulated()) {
        return __real_pthread_join(thread, result);
    }
    void *returned = sim_fiber_join((struct sim_fiber *)(uintptr_t)thread);
    if (result != NULL) {
        *result = returned;
    }
    return 0;
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    if (!is_simulated()) {
        return __real_pthread_setname_np(thread, name);
    }
    sim_fiber_rename((struct sim_fiber *)(uintptr_t)thread, name);
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!is_simulated()) {
        return __real_pthread_mutex_lock(mutex);
    }
    sim_point("lock");
    while (pthread_mutex_trylock(mutex) != 0) {
        sim_wait(mutex, -1);
    }
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int result = __real_pthread_mutex_unlock(mutex);
    if (is_simulated()) {
        sim_signal(mutex);
    }
    return result;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!is_simulated()) {
        return __real_pthread_cond_wait(condition, mutex);
    }
    __wrap_pthread_mutex_unlock(mutex);
    sim_wait(condition, -1);
    return __wrap_pthread_mutex_lock(mutex);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (!is_simulated()) {
        return __real_pthread_cond_signal(condition);
    }
    sim_signal(condition);
    return 0;
}

int __wrap_nanosleep(const struct timespec *duration, struct timespec *rest)
{
    if (!is_simulated()) {
        return __real_nanosleep(duration, rest);
    }
    sim_point("sleep");
    sim_sleep_us((int64_t)duration->tv_sec * 1000000 + duration->tv_nsec / 1000);
    return 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    if (!is_simulated()) {
        return __real_clock_gettime(id, now);
    }
    int64_t us = id == CLOCK_REALTIME ? sim_wall_us() : sim_now_us();
    *now = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    return 0;
}

int __wrap_gettimeofday(struct timeval *now, void *zone)
{
    if (!is_simulated()) {
        return __real_gettimeofday(now, zone);
    }
    int64_t us = sim_wall_us();
    *now = (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    return 0;
}

ssize_t __wrap_getrandom(void *bytes, size_t size_bytes, unsigned flags)
{
    if (!is_simulated()) {
        return __real_getrandom(bytes, size_bytes, flags);
    }
    for (size_t i = 0; i < size_bytes; i++) {
        ((unsigned char *)bytes)[i] = (unsigned char)sim_random();
    }
    return (ssize_t)size_bytes;
}

int __wrap_eventfd(unsigned count, int flags)
{
    if (!is_simulated()) {
        return __real_eventfd(count, flags);
    }
    WEIR_ASSERT(event_count < EVENTS_MAX);
    events[event_count] = count;
    return SIM_EVENT_BASE + event_count++;
}

void sim_event_add(int descriptor)
{
    uint64_t *event = &events[descriptor - SIM_EVENT_BASE];
    (*event)++;
    sim_signal(event);
}

int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout_ms)
{
    if (!is_simulated()) {
        return __real_poll(descriptors, count, timeout_ms);
    }
    WEIR_ASSERT(count == 1 && sim_is_event(descriptors[0].fd));
    sim_point("poll");
    const uint64_t *event = &events[descriptors[0].fd - SIM_EVENT_BASE];
    if (*event == 0 && timeout_ms != 0) {
        sim_wait(event, timeout_ms < 0 ? -1 : (int64_t)timeout_ms * 1000);
    }
    return *event > 0 ? 1 : 0;
}

ssize_t __wrap_read(int descriptor, void *bytes, size_t size_bytes)
{
    if (sim_is_file(descriptor)) {
        return sim_file_read(descriptor, bytes, size_bytes);
    }
    if (!sim_is_event(descriptor)) {
        return __real_read(descriptor, bytes, size_bytes);
    }
    uint64_t *event = &events[descriptor - SIM_EVENT_BASE];
    if (*event == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(bytes, event, sizeof *event);
    *event = 0;
    return sizeof *event;
}

// The log of the simulated processes is shown in a trace only, behind who says it.
static ssize_t write_log(const char *line, size_t size_bytes)
{
    enum { TIME_BYTES = 25 }; // the log's own: the trace has the simulated one
    if (size_bytes > TIME_BYTES) {
        sim_trace("%.*s", (int)(size_bytes - TIME_BYTES - 1), line + TIME_BYTES);
    }
    return (ssize_t)size_bytes;
}

ssize_t __wrap_write(int descriptor, const void *bytes, size_t size_bytes)
{
    if (sim_is_file(descriptor)) {
        return sim_file_write(descriptor, bytes, size_bytes);
    }
    if (sim_is_event(descriptor)) {
        sim_event_add(descriptor);
        return (ssize_t)size_bytes;
    }
    if (is_simulated() && descriptor == STDERR_FILENO) {
        return write_log(bytes, size_bytes);
    }
    return __real_write(descriptor, bytes, size_bytes);
}

int __wrap_close(int descriptor)
{
    if (sim_is_file(descriptor)) {
        return sim_file_close(descriptor);
    }
    return sim_is_event(descriptor) ? 0 : __real_close(descriptor);
}

void __wrap__exit(int exit_code)
{
    if (!is_simulated()) {
        __real__exit(exit_code);
    }
    sim_trace("_exit(%d)", exit_code);
    sim_process_end(sim_process_current(), exit_code);
}

// Signals come from the world: it counts the requests and writes to the descriptor.
void __wrap_weir_signals_init(void)
{
}

void __wrap_weir_signals_set_ended(void)
{
    sim_process_current()->has_ended = true;
}

void __wrap_weir_signals_wake(int descriptor)
{
    sim_process_current()->wake_descriptor = descriptor;
}
