// SPDX-License-Identifier: Apache-2.0
// The simulator's command line. Each seed runs in a process of its own, so that nothing of one is
// in the next and a failed assertion is one seed's.
//
//   sim --seeds 500 [--from 1] [--jobs 2] [options]   many
//   sim --seed 4711 [--canary NAME] [options] [--trace]   one; replays it
//   sim --catch NAME --seeds 300 [options]   succeeds if the broken rule is found by so many seeds,
//                                            by one that is right with the rule
// options: --job NAME, and what a seed has only now and then (world.h): --calm --duel --late
//   --takeover --sleepy --at-least-once
#include "tests/sim/canary.h"
#include "tests/sim/check.h"
#include "tests/sim/fiber.h"
#include "tests/sim/world.h"
#include "tests/sim/wrap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_VIOLATION = 9, JOBS_MAX = 64, SECONDS_MAX = 600, PROGRESS_SEEDS = 1000 };

struct options {
    struct sim_world_options world;
    enum sim_canary canary;
    bool is_single;
    bool is_catching;
    uint64_t from;
    uint64_t count;
    uint32_t jobs;
};

static struct options options = {
    .world = {.job = -1}, .from = 1, .count = 500, .jobs = 2, .canary = SIM_CANARY_NONE};
static const char *program;

void sim_violation(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sim_trace("VIOLATION: %s", text);
    if (!options.is_catching) {
        fprintf(stderr, "seed %" PRIu64 " (%s): %s\n", options.world.seed, sim_world_summary(),
                text);
    }
    fflush(stderr);
    __real__exit(EXIT_VIOLATION);
    __builtin_unreachable();
}

static void run_one(uint64_t seed)
{
    options.world.seed = seed;
    sim_canary_set(options.canary);
    alarm(SECONDS_MAX);
    sim_world_run(&options.world);
}

static void print_replay(uint64_t seed)
{
    fprintf(stderr, "  again: %s --seed %" PRIu64 "%s%s%s%s%s%s%s%s%s%s --trace\n", program, seed,
            options.world.is_calm ? " --calm" : "", options.world.is_duel ? " --duel" : "",
            options.world.is_late ? " --late" : "",
            options.world.is_at_least_once ? " --at-least-once" : "",
            options.world.is_takeover ? " --takeover" : "",
            options.world.is_sleepy ? " --sleepy" : "",
            options.canary != SIM_CANARY_NONE ? " --canary " : "",
            options.canary != SIM_CANARY_NONE ? sim_canary_name(options.canary) : "",
            options.world.job >= 0 ? " --job " : "",
            options.world.job >= 0 ? sim_job_name((enum sim_job_kind)options.world.job) : "");
}

static pid_t start(uint64_t seed)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run_one(seed);
        __real__exit(0);
    }
    return child;
}

// Returns how many seeds were found wrong, in *first the first of them; stops there when a canary
// is looked for.
static uint64_t run_many(uint64_t *first)
{
    pid_t children[JOBS_MAX];
    uint64_t seeds[JOBS_MAX];
    uint32_t running_count = 0;
    uint64_t next = options.from;
    uint64_t end = options.from + options.count;
    uint64_t wrong_count = 0;
    uint64_t shown = 0;
    while (next < end || running_count > 0) {
        if (next != shown && (next - options.from) % PROGRESS_SEEDS == 0 && next > options.from) {
            fprintf(stderr, "%" PRIu64 " seeds\n", next - options.from);
            shown = next;
        }
        while (next < end && running_count < options.jobs &&
               !(options.is_catching && wrong_count > 0)) {
            seeds[running_count] = next;
            children[running_count++] = start(next++);
        }
        if (running_count == 0) {
            break;
        }
        int status;
        pid_t ended = wait(&status);
        for (uint32_t i = 0; i < running_count; i++) {
            if (children[i] != ended) {
                continue;
            }
            if (status != 0) {
                *first = wrong_count++ == 0 ? seeds[i] : *first;
                if (WIFSIGNALED(status) && !options.is_catching) {
                    fprintf(stderr, "seed %" PRIu64 ": ended by signal %d\n", seeds[i],
                            WTERMSIG(status));
                }
                if (!options.is_catching) {
                    print_replay(seeds[i]);
                }
            }
            children[i] = children[--running_count];
            seeds[i] = seeds[running_count];
            break;
        }
    }
    return wrong_count;
}

// What is wrong with the rule, too, has not found that it is broken.
static int catch_canary(void)
{
    const char *name = sim_canary_name(options.canary);
    uint64_t found = 0;
    if (run_many(&found) == 0) {
        fprintf(stderr, "%s: not found by %" PRIu64 " seeds\n", name, options.count);
        return 1;
    }
    options.canary = SIM_CANARY_NONE;
    options.is_catching = false;
    options.from = found;
    options.count = 1;
    bool is_right = run_many(&(uint64_t){0}) == 0;
    printf("%s: found by seed %" PRIu64 "%s\n", name, found,
           is_right ? "" : ", which is wrong without it, too");
    return is_right ? 0 : 1;
}

static int refuse(const char *text)
{
    fprintf(stderr, "sim: cannot read %s\n", text);
    return 2;
}

static int parse_job(const char *name)
{
    for (int i = 0; i < SIM_JOB_KIND_COUNT; i++) {
        if (strcmp(sim_job_name((enum sim_job_kind)i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool parse(const char *name, const char *value)
{
    if (strcmp(name, "--seeds") == 0) {
        options.count = strtoull(value, NULL, 10);
    } else if (strcmp(name, "--from") == 0) {
        options.from = strtoull(value, NULL, 10);
    } else if (strcmp(name, "--jobs") == 0) {
        options.jobs = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--seed") == 0) {
        options.is_single = true;
        options.from = strtoull(value, NULL, 10);
    } else if (strcmp(name, "--job") == 0) {
        options.world.job = parse_job(value);
        return options.world.job >= 0;
    } else if (strcmp(name, "--canary") == 0 || strcmp(name, "--catch") == 0) {
        options.is_catching = strcmp(name, "--catch") == 0;
        options.canary = sim_canary_find(value);
        return options.canary != SIM_CANARY_COUNT;
    } else {
        return false;
    }
    return options.jobs >= 1 && options.jobs <= JOBS_MAX;
}

int main(int argc, char **argv)
{
    program = argv[0];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0) {
            options.world.is_verbose = true;
        } else if (strcmp(argv[i], "--calm") == 0) {
            options.world.is_calm = true;
        } else if (strcmp(argv[i], "--duel") == 0) {
            options.world.is_duel = true;
        } else if (strcmp(argv[i], "--late") == 0) {
            options.world.is_late = true;
        } else if (strcmp(argv[i], "--at-least-once") == 0) {
            options.world.is_at_least_once = true;
        } else if (strcmp(argv[i], "--sleepy") == 0) {
            options.world.is_sleepy = true;
        } else if (strcmp(argv[i], "--takeover") == 0) {
            options.world.is_takeover = true;
        } else if (i + 1 == argc || !parse(argv[i], argv[i + 1])) {
            return refuse(argv[i]);
        } else {
            i++;
        }
    }
    if (options.is_single) {
        run_one(options.from);
        printf("seed %" PRIu64 ": %s\n", options.from, sim_world_summary());
        return 0;
    }
    if (options.is_catching) {
        return catch_canary();
    }
    uint64_t wrong_count = run_many(&(uint64_t){0});
    printf("%" PRIu64 " seeds, %" PRIu64 " wrong\n", options.count, wrong_count);
    return wrong_count == 0 ? 0 : 1;
}
