// SPDX-License-Identifier: Apache-2.0
// A task stepped by hand whose middle node sends what changed after its barrier: rows of the next
// epoch come in between, the node behind sees its rows and its barrier in order, and the snapshot
// goes when all of it has been sent.
#include "runtime/task.h"

#include "runtime/base/metrics.h"

#include "tests/unit/cmocka_all.h"

// What happens, as letters: "i" input, "b1" barrier at the middle node, "s" a piece sent, "B1"
// barrier at the node behind.
struct world {
    char text[256];
    struct weir_source source;
    struct weir_operator middle;
    struct weir_operator behind;
    struct weir_operator *nodes[3];
    struct weir_operator *next[1];
    uint32_t piece_count; // at each barrier
    uint32_t pieces_left;
    bool fails;
    struct weir_mailbox *coordinator;
    struct weir_task *task;
};

static struct world world;

static void note(const char *text)
{
    assert_true(strlen(world.text) + strlen(text) < sizeof world.text);
    strcat(world.text, text);
}

static void expect(const char *text)
{
    assert_string_equal(world.text, text);
    world.text[0] = '\0';
}

static enum weir_step poll_input(struct weir_source *source, struct weir_error *error)
{
    (void)source;
    (void)error;
    note("i");
    return WEIR_STEP_MORE;
}

static void take_snapshot(struct weir_source *source, struct weir_snapshot *snapshot)
{
    (void)source;
    (void)snapshot;
}

static enum weir_status middle_barrier(struct weir_operator *op, const struct weir_barrier *barrier,
                                       struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)snapshot;
    (void)error;
    char text[8];
    snprintf(text, sizeof text, "b%d", (int)barrier->number);
    note(text);
    world.pieces_left = world.piece_count;
    op->is_sending = world.pieces_left > 0;
    return WEIR_OK;
}

static enum weir_status middle_send(struct weir_operator *op, struct weir_error *error)
{
    assert_true(op->is_sending);
    if (world.fails) {
        return weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, "no good");
    }
    note("s");
    world.pieces_left--;
    op->is_sending = world.pieces_left > 0;
    return WEIR_OK;
}

static enum weir_status behind_barrier(struct weir_operator *op, const struct weir_barrier *barrier,
                                       struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)op;
    (void)snapshot;
    (void)error;
    char text[8];
    snprintf(text, sizeof text, "B%d", (int)barrier->number);
    note(text);
    return WEIR_OK;
}

static void destroy_node(struct weir_operator *op)
{
    (void)op;
}

static int set_up(void **state)
{
    (void)state;
    static const struct weir_operator_ops source_op = {.kind = "source", .destroy = destroy_node};
    static const struct weir_source_ops source = {.poll = poll_input, .snapshot = take_snapshot};
    static const struct weir_operator_ops middle = {
        .kind = "middle", .barrier = middle_barrier, .send = middle_send, .destroy = destroy_node};
    static const struct weir_operator_ops behind = {
        .kind = "behind", .barrier = behind_barrier, .destroy = destroy_node};
    memset(&world, 0, sizeof world);
    world.source.op.ops = &source_op;
    world.source.ops = &source;
    world.middle.ops = &middle;
    world.behind.ops = &behind;
    world.behind.is_behind_changes = true;
    world.nodes[0] = &world.source.op;
    world.nodes[1] = &world.middle;
    world.nodes[2] = &world.behind;
    world.coordinator = weir_mailbox_create();
    world.task = weir_task_create(0, "task", &world.source, 3, world.nodes, weir_mailbox_create(),
                                  world.coordinator);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weir_task_destroy(world.task);
    weir_mailbox_destroy(world.coordinator, NULL);
    return 0;
}

static void trigger(int64_t number, enum weir_barrier_type type)
{
    weir_mailbox_post(weir_task_mailbox(world.task),
                      &(struct weir_mail){.kind = WEIR_MAIL_TRIGGER,
                                          .number = number,
                                          .barrier_type = (int32_t)type});
}

static void step(enum weir_step expected)
{
    struct weir_error error;
    assert_int_equal(weir_task_step(world.task, &error), expected);
}

// The number of the checkpoint that the task has acknowledged since the last call; 0: none.
static int64_t acknowledged(void)
{
    struct weir_mail mail;
    if (!weir_mailbox_take(world.coordinator, &mail)) {
        return 0;
    }
    assert_int_equal(mail.kind, WEIR_MAIL_ACKNOWLEDGED);
    weir_snapshot_destroy(mail.payload);
    return mail.number;
}

static void test_task_sends_between_batches(void **state)
{
    (void)state;
    world.piece_count = 3;
    trigger(1, WEIR_BARRIER_CHECKPOINT);
    step(WEIR_STEP_MORE);
    step(WEIR_STEP_MORE);
    expect("b1sisi");
    assert_int_equal(acknowledged(), 0);
    step(WEIR_STEP_MORE);
    expect("sB1i");
    assert_int_equal(acknowledged(), 1);
    step(WEIR_STEP_MORE);
    expect("i");
}

static enum weir_status take_rows(struct weir_operator *op, struct weir_batch *batch,
                                  struct weir_error *error)
{
    (void)op;
    (void)batch;
    (void)error;
    return WEIR_OK;
}

static double rows_of(const char *name, const char *direction)
{
    double rows;
    return weir_metrics_read(WEIR_METRIC_OPERATOR_RECORDS, WEIR_METRIC_LABELS(name, direction),
                             &rows)
               ? rows
               : -1;
}

// Rows are counted where they are pushed, a batch at a time; what was counted stays.
static void test_task_counts_the_rows_of_its_nodes(void **state)
{
    (void)state;
    static const struct weir_operator_ops ops = {
        .kind = "any", .process = take_rows, .destroy = destroy_node};
    static const struct weir_operator_ops source_ops = {.kind = "any", .destroy = destroy_node};
    struct weir_source source = {.op = {.ops = &source_ops, .name = "from"}};
    struct weir_operator first = {.ops = &ops, .name = "to"};
    struct weir_operator second = {.ops = &ops}; // has no name for people
    struct weir_operator *next[] = {&first, &second};
    struct weir_operator *nodes[] = {&source.op, &first, &second};
    struct weir_batch batch = {.row_count = 9, .selected_count = 5};
    struct weir_error error;
    source.op.next = next;
    source.op.next_count = 2;
    struct weir_task *task = weir_task_create(7, "counting", &source, 3, nodes,
                                              weir_mailbox_create(), world.coordinator);
    assert_true(rows_of("from", "out") == 0);
    assert_int_equal(weir_operator_push(&source.op, &batch, &error), WEIR_OK);
    batch.selected_count = 2;
    assert_int_equal(weir_operator_push(&source.op, &batch, &error), WEIR_OK);
    assert_true(rows_of("from", "out") == 7);
    assert_true(rows_of("from", "in") == -1);
    assert_true(rows_of("to", "in") == 7);
    assert_true(rows_of("to", "out") == -1);
    weir_task_destroy(task);
    assert_true(rows_of("to", "in") == 7);
}

static void test_task_with_nothing_to_send_passes_its_barrier_at_once(void **state)
{
    (void)state;
    trigger(1, WEIR_BARRIER_CHECKPOINT);
    step(WEIR_STEP_MORE);
    expect("b1B1i");
    assert_int_equal(acknowledged(), 1);
}

static void test_task_sends_everything_before_the_next_barrier(void **state)
{
    (void)state;
    world.piece_count = 4;
    trigger(1, WEIR_BARRIER_CHECKPOINT);
    step(WEIR_STEP_MORE);
    trigger(2, WEIR_BARRIER_CHECKPOINT);
    step(WEIR_STEP_MORE);
    expect("b1si"
           "sssB1b2si");
    assert_int_equal(acknowledged(), 1);
    assert_int_equal(acknowledged(), 0);
}

// What the nodes behind hold back must be gone first, and no input is taken until then; a node that
// takes nothing stops both, too.
static void test_task_sends_only_what_is_taken(void **state)
{
    (void)state;
    world.piece_count = 2;
    world.behind.is_waiting = true;
    trigger(1, WEIR_BARRIER_CHECKPOINT);
    step(WEIR_STEP_IDLE);
    step(WEIR_STEP_IDLE);
    expect("b1");
    world.behind.is_waiting = false;
    world.behind.is_blocked = true;
    step(WEIR_STEP_IDLE);
    expect("");
    world.behind.is_blocked = false;
    step(WEIR_STEP_MORE);
    step(WEIR_STEP_MORE);
    expect("sisB1i");
    assert_int_equal(acknowledged(), 1);
}

static void test_task_sends_behind_its_final_barrier(void **state)
{
    (void)state;
    world.piece_count = 2;
    trigger(1, WEIR_BARRIER_FINAL);
    step(WEIR_STEP_MORE);
    step(WEIR_STEP_MORE);
    expect("b1ssB1");
    assert_int_equal(acknowledged(), 1);
    step(WEIR_STEP_IDLE);
    expect("");
}

static void test_task_that_cannot_send_fails(void **state)
{
    (void)state;
    world.piece_count = 2;
    trigger(1, WEIR_BARRIER_CHECKPOINT);
    step(WEIR_STEP_MORE);
    world.fails = true;
    step(WEIR_STEP_FAILED);
    struct weir_mail mail;
    assert_true(weir_mailbox_take(world.coordinator, &mail));
    assert_int_equal(mail.kind, WEIR_MAIL_FAILED);
    free(mail.payload);
    assert_false(weir_mailbox_take(world.coordinator, &mail)); // no acknowledgement
}

// Ended in between, the task gives its snapshot up (the address sanitizer looks for it).
static void test_task_ends_while_it_sends(void **state)
{
    (void)state;
    world.piece_count = 2;
    trigger(1, WEIR_BARRIER_CHECKPOINT);
    step(WEIR_STEP_MORE);
    assert_int_equal(acknowledged(), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_task_sends_between_batches),
        CASE(test_task_counts_the_rows_of_its_nodes),
        CASE(test_task_with_nothing_to_send_passes_its_barrier_at_once),
        CASE(test_task_sends_everything_before_the_next_barrier),
        CASE(test_task_sends_only_what_is_taken),
        CASE(test_task_sends_behind_its_final_barrier),
        CASE(test_task_that_cannot_send_fails),
        CASE(test_task_ends_while_it_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
