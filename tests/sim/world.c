// SPDX-License-Identifier: Apache-2.0
// See world.h. Fibers of its own: `feeder` writes the input, `chaos` starts processes, kills them,
// and lets go wrong what can; when all is said, it puts everything in order and waits until the
// job has caught up.
#include "tests/sim/world.h"

#include "app/cli.h"
#include "app/exit_code.h"
#include "app/run.h"
#include "app/signals.h"
#include "runtime/base/assert.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/memory.h"
#include "tests/sim/check.h"
#include "tests/sim/disk.h"
#include "tests/sim/fiber.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"
#include "tests/sim/system.h"
#include "tests/sim/wish.h"

#include <stdio.h>
#include <stdlib.h>

// What a process is started with.
struct life {
    char **environment;
    bool is_ordered; // WEIR_RESTORE is in it
    bool may_refuse; // the input was made anew beneath it
    int argument_count;
    char *arguments[8];
};

enum {
    PROCESSES_MAX = 128,
    ENVIRONMENT_MAX = 32,
    STEPS_MAX = 3000000,
    MAIN_STACK_BYTES = 1 << 20,
    CATCH_UP_US = 900000000, // until all input is committed, once nothing goes wrong any more
    STORE_PATH_BYTES = 64,
    LAST_STARTS_MAX = 4,
};
static const char store_dir[] = "/sim/store";
// Where one owner has to sleep for another one to come between.
static const char *const takeover_sleeps[] = {"recover.fenced", "claim.before",
                                              "commit.before_offsets", "commit.before_end", NULL};

struct world {
    enum sim_job_kind job;
    uint32_t record_count; // of the input
    uint32_t pause_us_max; // between two of them
    uint32_t act_count;    // that go wrong
    uint32_t act_pause_us_max;
    bool is_duel;     // owners come and are frozen, and that is all
    bool is_takeover; // one owner after the other, each beside the one before
    bool is_calm;     // nobody is killed, frozen or started: late requests meet a life that lasts
    bool is_at_least_once; // most lives are
    bool is_fed;
    bool is_over;
    bool is_remade;  // the input was
    bool is_settled; // nothing goes wrong any more
    FILE *nowhere;
    struct sim_process *processes[PROCESSES_MAX];
    uint32_t process_count;
    uint32_t kill_count;
    uint32_t power_count;
    int64_t interval_ms;
    uint32_t retained;
    int64_t quiet_until_us; // no act before: a disk is full, say
};

static struct world world;

// --- processes ---------------------------------------------------------------------------------

static char *format(const char *name, int64_t number, const char *unit)
{
    char text[128];
    snprintf(text, sizeof text, "%s=%lld%s", name, (long long)number, unit);
    return weir_strdup(text);
}

static char *join(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *text = weir_alloc(size);
    snprintf(text, size, "%s=%s", name, value);
    return text;
}

// Each life has settings of its own.
static char **make_environment(uint32_t machine, bool *is_ordered)
{
    char **list = weir_alloc_zero(ENVIRONMENT_MAX * sizeof *list);
    uint32_t count = 0;
    char state_dir[64];
    snprintf(state_dir, sizeof state_dir, "/sim/state-%u", machine);
    list[count++] = join("WEIR_SQL", sim_job_sql(world.process_count));
    list[count++] = join("WEIR_ALLOW", "state_loss"); // of what an earlier variant kept
    list[count++] = join("WEIR_JOB_ID", "sim");
    list[count++] = join("WEIR_KAFKA_BOOTSTRAP_SERVERS", "simulated:9092");
    list[count++] = join("WEIR_STATE_DIR", state_dir);
    list[count++] = join("WEIR_CHECKPOINT_DIR", store_dir);
    list[count++] = join("WEIR_HTTP_LISTEN", "");
    list[count++] = join("WEIR_LOG_LEVEL", "debug");
    list[count++] = format("WEIR_CHECKPOINT_INTERVAL", sim_spread(10, world.interval_ms), "ms");
    list[count++] =
        format("WEIR_CHECKPOINT_TIMEOUT", sim_spread(world.is_at_least_once ? 1 : 5, 60), "s");
    list[count++] = format("WEIR_CHECKPOINT_MAX_CONCURRENT", 1 + sim_below(3), "");
    list[count++] = format("WEIR_CHECKPOINT_RETAINED", 1 + sim_below(3), "");
    list[count++] = format("WEIR_PARALLELISM", 1 + sim_below(3), "");
    list[count++] = format("WEIR_MEMORY", 128, "MiB");
    list[count++] = format("WEIR_RESTART_ATTEMPTS", 1000, "");
    list[count++] = format("WEIR_RESTART_BACKOFF", sim_spread(10, 1000), "ms");
    list[count++] = format("WEIR_RESTART_BACKOFF_MAX", 3000, "ms");
    if (world.is_at_least_once && !sim_one_in(4)) {
        list[count++] = join("WEIR_GUARANTEE", "at_least_once");
        list[count++] = format("WEIR_CHECKPOINT_TOLERABLE_FAILURES", sim_below(4), "");
    }
    if (sim_wish_restore() != NULL && (world.is_settled || !sim_one_in(4))) {
        list[count++] = join("WEIR_RESTORE", sim_wish_restore());
        *is_ordered = true;
    }
    if (sim_one_in(4)) {
        list[count++] = format("WEIR_KAFKA_TRANSACTION_TIMEOUT_MS", sim_spread(2000, 60000), "");
    }
    WEIR_ASSERT(count < ENVIRONMENT_MAX);
    return list;
}

static void *run_process(void *argument)
{
    struct sim_process *process = argument;
    struct life *life = process->owner;
    struct weir_cli cli = {
        .out = world.nowhere,
        .err = sim_is_verbose() ? stderr : world.nowhere,
        .environment = life->environment,
        .root_dir = "/nowhere",
        .run = weir_command_run,
    };
    int exit_code = weir_cli_main(&cli, life->argument_count, life->arguments);
    sim_trace("process %u ends with %d", process->id, exit_code);
    sim_disk_close_all(process);
    if (exit_code == WEIR_EXIT_REFUSED && life->argument_count == 1 && !life->may_refuse &&
        !sim_check_is_broken()) {
        sim_violation("process %u refuses to start, and nobody has changed anything behind its "
                      "back",
                      process->id);
    }
    sim_process_end(process, exit_code);
    return NULL;
}

static void kill_alone(struct sim_process *process)
{
    world.kill_count++;
    sim_disk_close_all(process);
    sim_process_end(process, SIM_KILLED);
}

// All of them are on one machine.
static void kill_machine(struct sim_process *process)
{
    world.power_count++;
    sim_trace("power is lost");
    for (uint32_t i = 0; i < world.process_count; i++) {
        if (world.processes[i]->is_alive) {
            sim_disk_close_all(world.processes[i]);
        }
    }
    sim_disk_lose_power();
    for (uint32_t i = 0; i < world.process_count; i++) {
        if (world.processes[i]->is_alive && world.processes[i] != process) {
            sim_process_end(world.processes[i], SIM_KILLED);
        }
    }
    if (process != NULL) {
        sim_process_end(process, SIM_KILLED);
    }
}

// offsets: not `weir run`, but `weir offsets reset` to there; NULL: run.
static struct sim_process *start_process(uint32_t machine, char *offsets)
{
    WEIR_ASSERT(world.process_count < PROCESSES_MAX);
    struct sim_process *process = weir_alloc_zero(sizeof *process);
    process->id = world.process_count + 1;
    process->is_alive = true;
    process->wake_descriptor = -1;
    process->points_to_kill = -1;
    process->kill = kill_alone;
    struct life *life = weir_alloc(sizeof *life);
    *life =
        (struct life){.argument_count = offsets != NULL ? 7 : 1,
                      .arguments = {"weir", "offsets", "reset", "--table", "src", "--to", offsets}};
    life->environment = make_environment(machine, &life->is_ordered);
    process->owner = life;
    world.processes[world.process_count++] = process;
    sim_fiber_create(process, "main", MAIN_STACK_BYTES, run_process, process);
    sim_trace("process %u starts on machine %u%s%s", process->id, machine,
              offsets != NULL ? ": offsets reset to " : "", offsets != NULL ? offsets : "");
    for (char **line = life->environment; sim_is_verbose() && *line != NULL; line++) {
        sim_trace("  %s", *line);
    }
    return process;
}

static uint32_t alive_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world.process_count; i++) {
        count += world.processes[i]->is_alive ? 1 : 0;
    }
    return count;
}

// One of those that live; NULL: none does.
static struct sim_process *choose_alive(void)
{
    uint32_t count = alive_count();
    uint32_t chosen = count > 0 ? sim_below(count) : 0;
    for (uint32_t i = 0; i < world.process_count; i++) {
        if (world.processes[i]->is_alive && chosen-- == 0) {
            return world.processes[i];
        }
    }
    return NULL;
}

// What a SIGTERM does (app/signals.c).
static void ask_to_stop(struct sim_process *process)
{
    sim_trace("process %u is asked to stop", process->id);
    process->stop_requests++;
    if (process->has_ended) {
        return;
    }
    if (process->stop_requests > 1 || process->wake_descriptor < 0) {
        sim_disk_close_all(process);
        sim_process_end(process, WEIR_EXIT_FAILED);
        return;
    }
    sim_event_add(process->wake_descriptor);
}

// --- input -------------------------------------------------------------------------------------

static void *run_feeder(void *unused)
{
    int64_t producer_id = 1;
    for (uint32_t fed = 0; fed < world.record_count;) {
        uint32_t partition = sim_below(sim_job_input()->partition_count);
        bool is_transactional = sim_one_in(3);
        uint32_t count = 1 + sim_below(8);
        for (uint32_t i = 0; i < count; i++, fed++) {
            sim_job_feed(partition, is_transactional ? producer_id : -1);
        }
        if (is_transactional) {
            sim_sleep_us(sim_spread(10, 100000)); // an open transaction upstream
            sim_partition_end(&sim_job_input()->partitions[partition], producer_id++,
                              !sim_one_in(3));
        }
        sim_sleep_us(sim_below(world.pause_us_max));
    }
    sim_job_feed_end();
    world.is_fed = true;
    sim_trace("all input is written");
    return unused;
}

static bool is_caught_up(void)
{
    const struct sim_positions *positions = sim_check_positions();
    const struct sim_topic *input = sim_job_input();
    for (uint32_t i = 0; i < input->partition_count; i++) {
        // Markers at the end may be passed with the next record only.
        int64_t end = input->partitions[i].count;
        if (i >= positions->count || positions->offsets[i] < end) {
            return false;
        }
    }
    return true;
}

// --- what goes wrong ---------------------------------------------------------------------------

static void aim(struct sim_process *process)
{
    process->points_to_kill = sim_spread(1, 3000);
    process->kill = sim_one_in(2) ? kill_machine : kill_alone;
}

static void freeze(struct sim_process *process)
{
    process->is_frozen = !process->is_frozen;
    sim_trace("process %u is %s", process->id, process->is_frozen ? "frozen" : "thawed");
}

// One operator: who was told something else, and could still obey it behind the new order, is ended
// first. Who has claimed once ends by itself when somebody else has.
static void order(void)
{
    for (uint32_t i = 0; i < world.process_count; i++) {
        const struct life *life = world.processes[i]->owner;
        if (world.processes[i]->is_alive && life->is_ordered && !world.processes[i]->has_claimed) {
            kill_alone(world.processes[i]);
        }
    }
    sim_wish_order();
}

static void reset_offsets(void)
{
    static char earliest[] = "earliest";
    static char latest[] = "latest";
    if (sim_job_can_rewind()) {
        sim_check_allow_rewind();
        start_process(sim_below(3), sim_one_in(2) ? earliest : latest);
    }
}

// The one before has handles that were used up, and sleeps now and then.
static void take_over(void)
{
    if (alive_count() >= 3) {
        kill_alone(choose_alive());
    }
    if (!sim_one_in(3)) {
        order();
    }
    start_process(sim_below(3), NULL);
}

static void kill_all(void)
{
    for (uint32_t i = 0; i < world.process_count; i++) {
        if (world.processes[i]->is_alive) {
            kill_alone(world.processes[i]);
        }
    }
}

// The input's topic is deleted and created again, shorter or longer, beneath a job or between two
// runs. Whoever is not told to begin anew must find out, and refuse.
static void remake(void)
{
    bool is_at_rest = sim_one_in(2);
    if (is_at_rest) {
        kill_all();
    }
    for (uint32_t i = 0; i < world.process_count; i++) {
        ((struct life *)world.processes[i]->owner)->may_refuse = true;
    }
    sim_trace("the input is made anew");
    sim_check_break(is_at_rest);
    sim_job_remake(sim_below(400));
    for (uint32_t i = sim_below(3); i > 0; i--) {
        start_process(sim_below(3), NULL);
        sim_sleep_us(sim_spread(1000, 60000000));
    }
    kill_all();
    sim_wish_discard();
}

static void act(void)
{
    if (world.is_takeover) {
        take_over();
        return;
    }
    struct sim_process *process = choose_alive();
    if (process == NULL) {
        process = start_process(sim_below(2), NULL);
        if (!world.is_calm) {
            aim(process);
        }
        return;
    }
    switch (world.is_calm ? 7 + sim_below(4) : world.is_duel ? 4 + sim_below(3) : sim_below(15)) {
    case 0:
        kill_machine(NULL);
        break;
    case 1:
    case 2:
    case 3:
        aim(process);
        break;
    case 4:
        freeze(process);
        break;
    case 5:
        order();
        break;
    case 6:
        if (alive_count() < 3) {
            start_process(sim_below(3), NULL);
        }
        break;
    case 7:
        sim_broker_move_until(sim_now_us() + sim_spread(1000, 30000000), sim_one_in(2),
                              sim_one_in(2));
        break;
    case 8:
        sim_disk_fill_until(sim_now_us() + sim_spread(1000, 20000000));
        break;
    case 9:
        if (sim_job_can_extend() && sim_job_input()->partition_count < SIM_PARTITIONS_MAX &&
            !world.is_fed) {
            sim_job_extend(sim_job_input()->partition_count + 1);
        }
        break;
    case 10:
    case 11:
        sim_wish(process);
        break;
    case 12:
        ask_to_stop(process);
        break;
    case 13:
        reset_offsets();
        break;
    case 14:
        if (!world.is_remade && !world.is_fed) {
            world.is_remade = true;
            remake();
        }
        break;
    }
}

// Owners that are left fight it out; one goes on.
static void settle(void)
{
    world.is_settled = true;
    sim_network_set_faults(0);
    sim_network_set_late(0);
    sim_network_set_breaks(0);
    sim_fibers_set_interrupts(400, 300000);
    sim_fibers_set_sleeps(NULL, 0);
    sim_disk_fill_until(0);
    sim_broker_move_until(0, true, true);
    for (uint32_t i = 0; i < world.process_count; i++) {
        world.processes[i]->is_frozen = false;
        world.processes[i]->points_to_kill = -1;
    }
}

static void catch_up(void)
{
    if (sim_wish_restore() != NULL && !sim_check_is_obeyed(sim_wish_restore())) {
        kill_machine(NULL); // who comes now is told
    }
    int64_t deadline_us = sim_now_us() + CATCH_UP_US;
    while (!world.is_fed || !is_caught_up() || alive_count() > 1) {
        if (alive_count() == 0) {
            start_process(0, NULL);
        }
        sim_sleep_us(100000);
        if (sim_now_us() > deadline_us) {
            sim_print_fibers();
            sim_violation("nothing has gone wrong for %d s, and the job has not caught up (%u "
                          "processes are alive)",
                          CATCH_UP_US / 1000000, alive_count());
        }
    }
}

static void stop(struct sim_process *process)
{
    while (process->is_alive && process->wake_descriptor < 0) {
        sim_sleep_us(10000);
    }
    if (process->stop_requests == 0) {
        ask_to_stop(process);
    }
    while (process->is_alive) {
        sim_sleep_us(10000);
    }
}

// One more start, alone: it removes what dead owners have left, and ends as it is asked to. Who is
// left over before may have been fenced by somebody who is dead by now.
static void end_well(void)
{
    if (alive_count() > 0) {
        stop(choose_alive());
    }
    for (uint32_t i = 0;; i++) {
        struct sim_process *last = start_process(0, NULL);
        stop(last);
        if (last->exit_code == WEIR_EXIT_OK) {
            return;
        }
        // The late init of one that is dead fences the living while it stops.
        if (i == LAST_STARTS_MAX) {
            sim_violation("process %u was asked to stop and ended with %d", last->id,
                          last->exit_code);
        }
    }
}

static void *run_chaos(void *unused)
{
    for (uint32_t i = 0; i < world.act_count; i++) {
        act();
        sim_sleep_us(sim_below(world.act_pause_us_max));
    }
    settle();
    catch_up();
    end_well();
    world.is_over = true;
    return unused;
}

// --- the run -----------------------------------------------------------------------------------

static void choose(const struct sim_world_options *options)
{
    world.job = options->job >= 0 ? (enum sim_job_kind)options->job
                                  : (enum sim_job_kind)sim_below(SIM_JOB_KIND_COUNT);
    world.record_count = 50 + sim_below(550);
    int64_t duration_us = sim_spread(1000000, 60000000);
    world.pause_us_max = (uint32_t)(duration_us / world.record_count * 9); // 4.5 records a pause
    world.act_count = 1 + sim_below(24);
    world.act_pause_us_max = (uint32_t)(duration_us * 2 / world.act_count);
    world.is_takeover = sim_one_in(12) || options->is_takeover;
    world.is_calm = (sim_one_in(3) || options->is_calm) && !options->is_duel;
    world.is_duel = (sim_one_in(4) || options->is_duel) && !world.is_calm;
    world.interval_ms = sim_spread(20, 1000);
    sim_network_set_faults(sim_one_in(4) ? 0 : (uint32_t)sim_spread(6, 300));
    if (sim_one_in(5) || options->is_late) {
        sim_network_set_late(3 + sim_below(5));
    }
    if (world.is_takeover) {
        sim_network_set_breaks(1 + sim_below(4));
        sim_fibers_set_sleeps(takeover_sleeps, sim_spread(10000, 5000000));
        world.act_pause_us_max = (uint32_t)sim_spread(500000, 10000000);
    }
    if (sim_one_in(world.is_takeover ? 2 : 8) || options->is_sleepy) {
        sim_fibers_set_interrupts(30 + sim_below(200), sim_spread(300000, 20000000));
    }
    world.is_at_least_once = sim_one_in(6) || options->is_at_least_once;
    sim_job_init(world.job, 1 + sim_below(3), 1 + sim_below(SIM_KEYS_MAX));
    if (world.is_at_least_once) {
        sim_job_allow_repeats();
    }
}

void sim_world_run(const struct sim_world_options *options)
{
    static char folder[STORE_PATH_BYTES];
    sim_random_seed(options->seed);
    sim_fibers_init(options->is_verbose);
    weir_failpoints_are_set = true; // each is a place to be killed at
    world.nowhere = fopen("/dev/null", "w");
    choose(options);
    snprintf(folder, sizeof folder, "%s/sim/0", store_dir);
    sim_check_start(folder);
    sim_network_start();
    sim_broker_start();
    sim_fiber_create(NULL, "feeder", 0, run_feeder, NULL);
    sim_fiber_create(NULL, "chaos", 0, run_chaos, NULL);
    if (!sim_run(&world.is_over, STEPS_MAX)) {
        sim_print_fibers();
        sim_violation("the run does not end");
    }
    sim_check_end();
}

const char *sim_world_summary(void)
{
    static char text[256];
    snprintf(text, sizeof text,
             "%s%s: %u processes, %u killed, power lost %u times, %u commits, %.0f s in %llu steps",
             sim_job_name(world.job), world.is_at_least_once ? ", at least once" : "",
             world.process_count, world.kill_count, world.power_count, sim_check_commit_count(),
             (double)sim_now_us() / 1e6, (unsigned long long)sim_step_count());
    return text;
}
