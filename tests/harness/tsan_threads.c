// SPDX-License-Identifier: Apache-2.0
// C11 threads on top of POSIX threads, for programs built with -fsanitize=thread that link
// librdkafka: the sanitizer sees only POSIX threads, and a thread that it has not seen (librdkafka
// starts its own with thrd_create) crashes at its first allocation. Linked into the program, these
// definitions take precedence over those of libc, also for the shared library. So does one POSIX
// call that it does not see. Empty in any other build.
#if defined(__SANITIZE_THREAD__)
#define WEIR_TEST_HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR_TEST_HAS_TSAN 1
#endif
#endif

#ifdef WEIR_TEST_HAS_TSAN
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    return (void *)(intptr_t)start.function(start.argument);
}

static int translate(int code)
{
    switch (code) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    case ENOMEM:
        return thrd_nomem;
    default:
        return thrd_error;
    }
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct start *start = malloc(sizeof(*start));
    if (start == NULL) {
        return thrd_nomem;
    }
    *start = (struct start){.function = function, .argument = argument};
    int code = pthread_create(thread, NULL, run, start);
    if (code != 0) {
        free(start);
    }
    return translate(code);
}

EXPORTED int thrd_join(thrd_t thread, int *result)
{
    void *value = NULL;
    int code = pthread_join(thread, &value);
    if (result != NULL) {
        *result = (int)(intptr_t)value;
    }
    return translate(code);
}

EXPORTED int thrd_detach(thrd_t thread)
{
    return translate(pthread_detach(thread));
}

// The sanitizer sees pthread_timedjoin_np alone, whose clock is the wall's.
EXPORTED int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
                                  const struct timespec *until)
{
    struct timespec now;
    struct timespec wall;
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &wall);
    wall.tv_sec += until->tv_sec - now.tv_sec;
    wall.tv_nsec += until->tv_nsec - now.tv_nsec;
    if (wall.tv_nsec < 0) {
        wall.tv_nsec += 1000000000;
        wall.tv_sec--;
    } else if (wall.tv_nsec >= 1000000000) {
        wall.tv_nsec -= 1000000000;
        wall.tv_sec++;
    }
    return pthread_timedjoin_np(thread, value, &wall);
}

EXPORTED int mtx_init(mtx_t *mutex, int kind)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, (kind & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE
                                                                       : PTHREAD_MUTEX_NORMAL);
    int code = pthread_mutex_init((pthread_mutex_t *)mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return translate(code);
}

EXPORTED void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

EXPORTED int mtx_lock(mtx_t *mutex)
{
    return translate(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

EXPORTED int mtx_trylock(mtx_t *mutex)
{
    return translate(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

EXPORTED int mtx_unlock(mtx_t *mutex)
{
    return translate(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

EXPORTED int cnd_init(cnd_t *condition)
{
    return translate(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

EXPORTED void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy((pthread_cond_t *)condition);
}

EXPORTED int cnd_signal(cnd_t *condition)
{
    return translate(pthread_cond_signal((pthread_cond_t *)condition));
}

EXPORTED int cnd_broadcast(cnd_t *condition)
{
    return translate(pthread_cond_broadcast((pthread_cond_t *)condition));
}

EXPORTED int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return translate(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

EXPORTED int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    return translate(
        pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
#endif
