// SPDX-License-Identifier: Apache-2.0
// The kill matrix: weir is killed at every named point of docs/testing.md, in jobs of every shape
// (rows passed through, keyed counts, tumbling windows), with one and with three concurrent
// checkpoints, parallelism 1 and 3, exactly once and at least once, on three brokers of which one
// is killed now and then. Nothing may be lost; exactly once, nothing may be double.
//
// A cell is one combination and has a name: shape/checkpoints/parallelism/guarantee/point, as in
// keyed/c3/p1/exactly_once/commit.before_end. Cells that differ in point and parallelism alone
// share a job in small groups, in random order, so that a restore often has another parallelism
// than what it restores. A group ends with a bounded run and is checked as a whole; when it fails,
// all its cells are in doubt.
//
// WEIR_TEST_CELLS='pattern …' runs the cells whose names match one of the patterns (of the shell);
// '*' is the whole matrix. Without it a small random sample runs. WEIR_TEST_SEED as ever.
#include "tests/integration/cluster_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/live_util.h"
#include "tests/integration/numbered_util.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KEYS = 300,
    FED_BEFORE = 2000,
    FED_PER_PART = 200,
    GROUP_CELLS_MAX = 12,
    SAMPLE_CELLS = 2,    // of each shape
    BROKER_KILL_IN = 10, // one cell in so many
    NODES = 3,
    HIT_MAX = 4,
    LIFE_MS_MAX = 120000, // longer than a start waits for brokers
    UNSURE_MS = 1500,
    TRIES_MAX = 6,
    START_MS_MAX = 60000,
};

enum shape { PASS, KEYED, TUMBLE, SHAPE_COUNT };
enum { IN_PASS = 1 << PASS, IN_KEYED = 1 << KEYED, IN_TUMBLE = 1 << TUMBLE };
enum { IN_STATE = IN_KEYED | IN_TUMBLE, IN_ALL = IN_PASS | IN_STATE };

static const struct {
    const char *name;
    const char *sql;
    const char *output;
    void (*check)(const struct numbered *numbered, struct numbered_found *found);
} shapes[SHAPE_COUNT] = {
    [PASS] = {"pass", NUMBERED_INPUT NUMBERED_COPIES, "copies", numbered_check_copies},
    [KEYED] = {"keyed", NUMBERED_INPUT NUMBERED_COUNTS, "counts", numbered_check_counts},
    [TUMBLE] = {"tumble", NUMBERED_INPUT NUMBERED_WINDOWS, "windows", numbered_check_windows},
};

// How a life comes to a point.
enum way {
    AGAIN,          // once an epoch, or more often
    ONCE,           // once in a life
    UNSURE,         // not in every life: it is tried again
    UNSURE_ONCE,    // the same, before the job runs if at all
    TAKE_SAVEPOINT, // when a savepoint is taken
    GO_ON_FROM_ONE, // when a savepoint is restored, with which the job was stopped
};

// All points of docs/testing.md but those that exist to break a rule on purpose (an error there is
// a canary; state.evict_dirty, handles.keep_used_up and committer.trust_handle are reached under
// memory pressure and after lost answers only).
static const struct point {
    const char *name;
    int shapes;
    enum way way;
    bool is_exactly_once_only;
} points[] = {
    {"recover.before_fence", IN_ALL, ONCE, false},
    {"recover.fenced", IN_ALL, ONCE, false},
    {"recover.imported", IN_STATE, GO_ON_FROM_ONE, false},
    {"claim.before", IN_ALL, ONCE, false},
    {"claim.after", IN_ALL, ONCE, false},
    {"savepoint.copied", IN_ALL, TAKE_SAVEPOINT, false},
    {"coordinator.triggered", IN_ALL, AGAIN, false},
    {"task.barrier", IN_ALL, AGAIN, false},
    {"task.sending", IN_KEYED, AGAIN, false},
    {"store.write", IN_ALL, AGAIN, false},
    {"store.written", IN_ALL, AGAIN, false},
    {"store.renamed", IN_ALL, AGAIN, false},
    {"state.log.write", IN_STATE, AGAIN, false},
    {"state.log.written", IN_STATE, AGAIN, false},
    {"state.log.renamed", IN_STATE, AGAIN, false},
    {"state.live.write", IN_STATE, AGAIN, false},
    {"state.materialise", IN_STATE, AGAIN, false},
    {"state.checkpointed", IN_STATE, AGAIN, false},
    {"state.publish", IN_STATE, AGAIN, false},
    {"state.published", IN_STATE, AGAIN, false},
    {"state.restore.verified", IN_STATE, ONCE, false},
    {"state.restore.laid_out", IN_STATE, UNSURE_ONCE, false},
    {"state.restore.applied", IN_STATE, UNSURE_ONCE, false},
    {"writer.open_early", IN_PASS | IN_KEYED, UNSURE, true},
    {"commit.before_offsets", IN_ALL, AGAIN, false},
    {"commit.before_end", IN_ALL, AGAIN, false},
    {"commit.after_end", IN_ALL, AGAIN, false},
    {"committer.before_delete", IN_ALL, ONCE, false},
    {"kafka.sent.InitProducerId", IN_ALL, AGAIN, false},
    {"kafka.answered.InitProducerId", IN_ALL, AGAIN, false},
    {"kafka.sent.AddPartitionsToTxn", IN_ALL, AGAIN, true},
    {"kafka.answered.AddPartitionsToTxn", IN_ALL, AGAIN, true},
    {"kafka.sent.AddOffsetsToTxn", IN_ALL, AGAIN, false},
    {"kafka.answered.AddOffsetsToTxn", IN_ALL, AGAIN, false},
    {"kafka.sent.TxnOffsetCommit", IN_ALL, AGAIN, false},
    {"kafka.answered.TxnOffsetCommit", IN_ALL, AGAIN, false},
    {"kafka.sent.EndTxn", IN_ALL, AGAIN, false},
    {"kafka.answered.EndTxn", IN_ALL, AGAIN, false},
};
enum { POINT_COUNT = sizeof points / sizeof points[0] };
enum { CELLS_MAX = SHAPE_COUNT * 2 * 2 * 2 * POINT_COUNT };

// Of a cell. A group that fails leaves all of its cells in doubt.
enum result { IN_DOUBT, NOT_REACHED, KILLED };

struct cell {
    char name[96];
    const struct point *point;
    int parallelism;
    bool is_reached;
    enum result result;
};

// Cells that share a job.
struct group {
    char name[32];
    enum shape shape;
    int concurrent;
    bool is_at_least_once;
    struct cell **cells;
    int cell_count;
    struct numbered numbered;
    int savepoint_count;
};

static struct cell cells[CELLS_MAX]; // those that are chosen
static int cell_count;
static struct group groups[CELLS_MAX];
static int group_count;
static bool is_sample; // a broker is killed once then

static struct {
    int64_t started_ms;
    int cells_done;
    int kills;
    int broker_kills;
    int64_t records;
    int64_t rows;
    int64_t lost;
    int64_t doubled;        // exactly once
    int64_t doubled_freely; // at least once
} totals;

static struct weir_test_process *process; // the life that runs, for the teardown

// --- lives ---------------------------------------------------------------------------------------

static void feed(struct group *group)
{
    numbered_feed(&group->numbered, FED_PER_PART);
}

// extra: one more setting, or NULL.
static void start(struct group *group, int parallelism, const char *failpoints, const char *extra)
{
    char *tasks = weir_test_format("WEIR_PARALLELISM=%d", parallelism);
    char *concurrent = weir_test_format("WEIR_CHECKPOINT_MAX_CONCURRENT=%d", group->concurrent);
    char *points_set = weir_test_format("WEIR_FAILPOINTS=%s", failpoints);
    process = sql_job_start(group->numbered.job,
                            SQL_JOB_EXTRA(tasks, concurrent, points_set, HTTP_LISTEN,
                                          group->is_at_least_once ? "WEIR_GUARANTEE=at_least_once"
                                                                  : "WEIR_GUARANTEE=exactly_once",
                                          group->concurrent > 1 ? "WEIR_CHECKPOINT_INTERVAL=20ms"
                                                                : "WEIR_CHECKPOINT_INTERVAL=50ms",
                                          extra != NULL ? extra : "WEIR_BOUNDED=false"));
    free(tasks);
    free(concurrent);
    free(points_set);
}

static void kill_life(void)
{
    sql_job_kill(process);
    process = NULL;
    totals.kills++;
}

static int any_parallelism(void)
{
    return rand() % 2 == 0 ? 1 : 3;
}

// Feeds the life until it is killed or the time is over; fails the test if it ends by itself.
static bool is_killed_within(struct group *group, int64_t life_ms)
{
    bool is_killed = false;
    int64_t deadline_ms = weir_test_now_ms() + life_ms;
    while (!is_killed && weir_test_now_ms() < deadline_ms) {
        feed(group);
        is_killed = weir_test_process_wait_killed(process, 20);
    }
    return is_killed;
}

static char *savepoint_path(const struct group *group)
{
    return weir_test_format("%s/savepoint-%d", group->numbered.job->dir, group->savepoint_count);
}

static void ask_savepoint(struct group *group, bool is_stop)
{
    sql_job_wait_running(process);
    feed(group);
    group->savepoint_count++;
    char *path = savepoint_path(group);
    char *body =
        weir_test_format("{\"path\":\"%s\",\"stop\":%s}", path, is_stop ? "true" : "false");
    int status = 0;
    free(live_util_post(process, "/api/v1/savepoints?wait=false", body, &status));
    assert_int_equal(status, 202);
    free(body);
    free(path);
}

// Ends the job with a savepoint. Returns the setting that restores it.
static char *stop_with_savepoint(struct group *group)
{
    start(group, any_parallelism(), "none=kill", NULL);
    ask_savepoint(group, true);
    sql_job_expect_exit(process, 0, NULL);
    process = NULL;
    char *path = savepoint_path(group);
    char *setting = weir_test_format("WEIR_RESTORE=savepoint:%s", path);
    free(path);
    return setting;
}

// A life that is to end at the point. False: it was killed by hand.
static bool die_at(struct group *group, const struct cell *cell, bool is_broker_killed)
{
    const struct point *point = cell->point;
    bool is_once = point->way == ONCE || point->way == UNSURE_ONCE;
    // Materialisations come one after the other; but a restore that is to find logs must not.
    char *failpoints = weir_test_format(
        "%s=kill@%d%s", point->name,
        is_once || point->way >= TAKE_SAVEPOINT ? 1 : 1 + rand() % HIT_MAX,
        strcmp(point->name, "state.restore.applied") == 0 ? "" : ",state.materialise=error@0");
    char *restore = point->way == GO_ON_FROM_ONE ? stop_with_savepoint(group) : NULL;
    start(group, cell->parallelism, failpoints, restore);
    free(restore);
    free(failpoints);
    if (point->way == TAKE_SAVEPOINT) {
        ask_savepoint(group, false);
    }
    if (is_broker_killed) {
        is_killed_within(group, rand() % 1500);
        weir_test_node_kill(cluster, rand() % NODES);
        totals.broker_kills++;
    }
    bool is_there;
    if (point->way == UNSURE_ONCE) {
        is_there = !weir_test_process_wait_text(process, " is running: ", START_MS_MAX, NULL);
        is_there = is_killed_within(group, is_there ? 100 : rand() % UNSURE_MS);
    } else {
        is_there = is_killed_within(group, point->way == UNSURE ? UNSURE_MS : LIFE_MS_MAX);
    }
    if (!is_there && point->way != UNSURE && point->way != UNSURE_ONCE) {
        WEIR_TEST_FAIL("%s: never came there:\n%s", cell->name, weir_test_process_output(process));
    }
    kill_life();
    return is_there;
}

static void start_nodes(void)
{
    for (int i = 0; i < NODES; i++) {
        if (!weir_test_node_is_running(cluster, i)) {
            weir_test_node_start(cluster, i);
        }
    }
}

static void run_cell(struct group *group, struct cell *cell, bool is_broker_killed)
{
    int64_t begun_ms = weir_test_now_ms();
    bool is_there = false;
    int tries = 0;
    for (; !is_there && tries < TRIES_MAX; tries++) {
        is_there = die_at(group, cell, is_broker_killed && tries == 0);
    }
    cell->is_reached = is_there;
    start_nodes();
    print_message("[%d/%d] %s: %s after %" PRId64 " ms%s\n", ++totals.cells_done, cell_count,
                  cell->name, is_there ? "killed" : "never came there",
                  weir_test_now_ms() - begun_ms, is_broker_killed ? ", a broker too" : "");
}

// --- groups --------------------------------------------------------------------------------------

static void check_group(struct group *group)
{
    struct numbered_found found = {.is_at_least_once = group->is_at_least_once};
    shapes[group->shape].check(&group->numbered, &found);
    totals.records += group->numbered.count;
    totals.rows += found.row_count;
    totals.lost += found.lost_count;
    *(group->is_at_least_once ? &totals.doubled_freely : &totals.doubled) += found.double_count;
    print_message(
        "%s: %" PRId64 " records, %" PRId64 " rows, %" PRId64 " lost, %" PRId64 " double%s%s\n",
        group->name, group->numbered.count, found.row_count, found.lost_count, found.double_count,
        found.fault != NULL ? ": " : "", found.fault != NULL ? found.fault : "");
    if (found.fault != NULL) {
        WEIR_TEST_FAIL("%s: %s (the processes' logs: %s)", group->name, found.fault,
                       group->numbered.job->dir);
    }
}

static void test_group(void **state)
{
    struct group *group = *state;
    group->numbered =
        (struct numbered){.job = sql_job_create(weir_test_cluster_bootstrap(cluster), group->name,
                                                shapes[group->shape].sql),
                          .key_count = KEYS};
    sql_job_topic_create(group->numbered.job, "in", NUMBERED_PARTITIONS);
    sql_job_topic_create(group->numbered.job, shapes[group->shape].output, 3);
    numbered_feed(&group->numbered, FED_BEFORE);
    // A first life leaves what is restored by the next.
    start(group, any_parallelism(), "state.materialise=error@0", NULL);
    WEIR_TEST_WAIT_UNTIL(sql_job_pointer(group->numbered.job, "in") > 0, START_MS_MAX);
    kill_life();
    for (int i = 0; i < group->cell_count; i++) {
        bool is_broker_killed =
            is_sample ? group == &groups[group_count - 1] && i == 0 : rand() % BROKER_KILL_IN == 0;
        run_cell(group, group->cells[i], is_broker_killed);
    }
    start(group, any_parallelism(), "none=kill", "WEIR_BOUNDED=true");
    sql_job_expect_exit(process, 0, NULL);
    process = NULL;
    check_group(group);
    for (int i = 0; i < group->cell_count; i++) {
        group->cells[i]->result = group->cells[i]->is_reached ? KILLED : NOT_REACHED;
    }
}

static int after_group(void **state)
{
    (void)state;
    weir_test_process_destroy(process);
    process = NULL;
    start_nodes();
    return 0;
}

// --- choosing ------------------------------------------------------------------------------------

static bool is_wanted(const char *name, const char *patterns)
{
    char *copy = weir_test_format("%s", patterns);
    char *rest = copy;
    bool is_any = false;
    for (char *pattern; (pattern = strsep(&rest, " ")) != NULL;) {
        is_any = is_any || (*pattern != '\0' && fnmatch(pattern, name, 0) == 0);
    }
    free(copy);
    return is_any;
}

static void shuffle(struct cell **some, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = rand() % (i + 1);
        struct cell *other = some[i];
        some[i] = some[j];
        some[j] = other;
    }
}

// Cuts `count` cells, which are one after the other, into groups.
static void add_groups(struct cell *first, int count, const struct group *like)
{
    struct cell **some = weir_test_alloc(((size_t)count + 1) * sizeof(struct cell *));
    for (int i = 0; i < count; i++) {
        some[i] = &first[i];
    }
    shuffle(some, count);
    int pieces = (count + GROUP_CELLS_MAX - 1) / GROUP_CELLS_MAX;
    for (int i = 0; i < pieces; i++) {
        struct group *group = &groups[group_count];
        int from = count * i / pieces;
        *group = *like;
        group->cells = &some[from];
        group->cell_count = count * (i + 1) / pieces - from;
        snprintf(group->name, sizeof group->name, "%s-%d", shapes[group->shape].name, group_count);
        group_count++;
    }
}

static void choose_all(const char *patterns)
{
    for (int combination = 0; combination < SHAPE_COUNT * 4; combination++) {
        struct group like = {.shape = (enum shape)(combination / 4),
                             .concurrent = combination % 2 == 0 ? 1 : 3,
                             .is_at_least_once = combination / 2 % 2 == 1};
        int first = cell_count;
        for (int i = 0; i < 2 * POINT_COUNT; i++) {
            struct cell *cell = &cells[cell_count];
            *cell = (struct cell){.point = &points[i / 2], .parallelism = i % 2 == 0 ? 1 : 3};
            snprintf(cell->name, sizeof cell->name, "%s/c%d/p%d/%s/%s", shapes[like.shape].name,
                     like.concurrent, cell->parallelism,
                     like.is_at_least_once ? "at_least_once" : "exactly_once", cell->point->name);
            bool is_there = (cell->point->shapes & (1 << like.shape)) != 0 &&
                            !(cell->point->is_exactly_once_only && like.is_at_least_once);
            cell_count += is_there && is_wanted(cell->name, patterns) ? 1 : 0;
        }
        add_groups(&cells[first], cell_count - first, &like);
    }
}

// Of one group of each shape a few cells.
static void choose_sample(void)
{
    choose_all("*");
    is_sample = true;
    cell_count = 0;
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        int picked;
        do {
            picked = rand() % group_count;
        } while (picked < shape || groups[picked].shape != (enum shape)shape);
        struct group group = groups[picked];
        group.cell_count = group.cell_count < SAMPLE_CELLS ? group.cell_count : SAMPLE_CELLS;
        groups[picked] = groups[shape]; // those before are taken
        groups[shape] = group;
        cell_count += group.cell_count;
    }
    group_count = SHAPE_COUNT;
}

// --- the end -------------------------------------------------------------------------------------

// By result, point, and shape and guarantee.
static int counts[KILLED + 1][POINT_COUNT][SHAPE_COUNT * 2];

static int cells_of(int point, int column)
{
    return counts[IN_DOUBT][point][column] + counts[NOT_REACHED][point][column] +
           counts[KILLED][point][column];
}

static void print_table(void)
{
    print_message("\n%-34s", "killed there / cells");
    for (int column = 0; column < SHAPE_COUNT * 2; column++) {
        print_message(" %7s %s", shapes[column / 2].name, column % 2 == 0 ? "eo" : "al");
    }
    for (int i = 0; i < POINT_COUNT; i++) {
        bool is_any = false;
        for (int column = 0; column < SHAPE_COUNT * 2; column++) {
            int of = cells_of(i, column);
            if (of > 0 && !is_any) {
                print_message("\n%-34s%*s", points[i].name, 11 * column, "");
            }
            is_any = is_any || of > 0;
            if (of > 0) {
                print_message(" %5d/%-4d", counts[KILLED][i][column], of);
            } else if (is_any) {
                print_message("%11s", "");
            }
        }
    }
    print_message("\n");
}

static int print_totals(void **state)
{
    int results[KILLED + 1] = {0};
    for (int i = 0; i < group_count; i++) {
        for (int j = 0; j < groups[i].cell_count; j++) {
            const struct cell *cell = groups[i].cells[j];
            int column = groups[i].shape * 2 + (groups[i].is_at_least_once ? 1 : 0);
            counts[cell->result][cell->point - points][column]++;
            results[cell->result]++;
            if (cell->result != KILLED) {
                print_message("%s: %s\n", cell->name,
                              cell->result == IN_DOUBT ? "in doubt" : "never came there");
            }
        }
    }
    print_table();
    print_message("%d cells: %d killed there, %d never came there, %d in doubt; %d kills of weir, "
                  "%d of a broker, %" PRId64 " records, %" PRId64 " rows, %" PRId64
                  " lost, %" PRId64 " double, at least once %" PRId64 " double, %" PRId64 " s\n",
                  cell_count, results[KILLED], results[NOT_REACHED], results[IN_DOUBT],
                  totals.kills, totals.broker_kills, totals.records, totals.rows, totals.lost,
                  totals.doubled, totals.doubled_freely,
                  (weir_test_now_ms() - totals.started_ms) / 1000);
    return cluster_stop(state);
}

static int begin(void **state)
{
    (void)state;
    totals.started_ms = weir_test_now_ms();
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){.node_count = NODES});
    return 0;
}

int main(void)
{
    choose_seed();
    const char *patterns = getenv("WEIR_TEST_CELLS");
    if (patterns != NULL) {
        choose_all(patterns);
    } else {
        choose_sample();
    }
    if (cell_count == 0) {
        fprintf(stderr, "no cell has a name like %s\n", patterns);
        return 1;
    }
    static struct CMUnitTest tests[CELLS_MAX];
    for (int i = 0; i < group_count; i++) {
        tests[i] = (struct CMUnitTest){.name = groups[i].name,
                                       .test_func = test_group,
                                       .teardown_func = after_group,
                                       .initial_state = &groups[i]};
    }
    return _cmocka_run_group_tests("integration/test_kill_matrix", tests, (size_t)group_count,
                                   begin, print_totals);
}
