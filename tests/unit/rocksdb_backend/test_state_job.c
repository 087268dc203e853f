// SPDX-License-Identifier: Apache-2.0
// Every kind of state in one job: sources, an exchange, keyed tasks over the real store, the real
// coordinator, manifests in a real checkpoint store; all of it stepped by one thread in an order
// that a seed gives, killed at random steps, and restored with other numbers of tasks. What is
// committed in the end is compared with what follows from the rows alone.
#include "tests/unit/rocksdb_backend/state_job.h"
#include "tests/unit/rocksdb_backend/state_job_rows.h"

#include "rocksdb_backend/store.h"
#include "runtime/coordinator.h"
#include "runtime/exchange.h"
#include "runtime/gather.h"
#include "runtime/store.h"

#include <sys/stat.h>
#include <unistd.h>

enum { TASKS_MAX = 4, CHANNEL_ITEMS = 4, BATCH_MAX = 10 };

// --- the job -------------------------------------------------------------------------------------

struct job {
    char folder[64];
    uint64_t random;
    struct weir_clock clock; // first member of what is a clock: now_ms follows
    int64_t now_ms;
    struct weir_store *store;
    struct weir_arena *arena;      // of the life
    struct weir_manifest manifest; // that the life goes on from
    struct weir_attempt attempt;
    int64_t pointer; // what is committed: number and attempt
    struct weir_attempt pointer_attempt;
    uint32_t task_count; // of each stage
    struct weir_mailbox *coordinator_mailbox;
    struct weir_mailbox *committer;
    struct weir_coordinator *coordinator;
    struct weir_task *tasks[2 * TASKS_MAX]; // sources, then keyed ones
    struct weir_state_store *states[TASKS_MAX];
    struct lines pending;   // of epochs that are not committed
    struct lines committed; // for ever
};

static uint32_t below(struct job *job, uint32_t bound)
{
    job->random += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(weir_hash_mix(job->random) % bound);
}

static int64_t job_now(const struct weir_clock *clock)
{
    const struct job *job = (const struct job *)((const char *)clock - offsetof(struct job, clock));
    return job->now_ms;
}

static void output(void *context, int64_t epoch, const char *line)
{
    lines_add(&((struct job *)context)->pending, epoch, line);
}

// --- sources -------------------------------------------------------------------------------------

struct input {
    uint32_t partition;
    int64_t row; // the next one
    int64_t event_time_us;
};

struct rows_source {
    struct weir_source base; // first
    struct weir_operator *next[1];
    struct job *job;
    uint32_t input_count;
    struct input inputs[PARTITIONS];
};

static enum weir_status push_rows(struct rows_source *source, struct input *input, uint32_t count,
                                  struct weir_error *error)
{
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_batch batch = {
        .schema = &job_schema,
        .row_count = count,
        .selected_count = count,
        .columns = weir_arena_alloc(arena, 2 * sizeof *batch.columns),
        .event_time_us = weir_arena_alloc(arena, count * sizeof(int64_t)),
        .arena = arena,
    };
    for (uint32_t i = 0; i < 2; i++) {
        weir_column_init(&batch.columns[i], &job_fields[i].type, count, false, arena);
    }
    for (uint32_t i = 0; i < count; i++) {
        batch.columns[JOB_KEY].i64[i] = key_of_row(input->partition, input->row);
        batch.columns[JOB_SEQ].i64[i] = seq_of_row(input->partition, input->row);
        batch.event_time_us[i] = time_of_row(input->partition, input->row);
        input->event_time_us = batch.event_time_us[i];
        input->row++;
    }
    enum weir_status status = weir_operator_push(&source->base.op, &batch, error);
    weir_arena_destroy(arena);
    return status;
}

// The least time of the partitions that are not at their end.
static enum weir_status push_time(struct rows_source *source, struct weir_error *error)
{
    struct weir_time time = {.watermark_us = INT64_MAX};
    for (uint32_t i = 0; i < source->input_count; i++) {
        const struct input *input = &source->inputs[i];
        if (input->row < ROWS && input->event_time_us < time.watermark_us) {
            time.watermark_us = input->event_time_us;
        }
    }
    return time.watermark_us == INT64_MAX ? WEIR_OK
                                          : weir_operator_push_time(&source->base.op, &time, error);
}

static enum weir_step rows_poll(struct weir_source *base, struct weir_error *error)
{
    struct rows_source *source = (struct rows_source *)base;
    uint32_t first = below(source->job, source->input_count);
    for (uint32_t i = 0; i < source->input_count; i++) {
        struct input *input = &source->inputs[(first + i) % source->input_count];
        uint32_t count = 1 + below(source->job, BATCH_MAX);
        count = count < ROWS - input->row ? count : (uint32_t)(ROWS - input->row);
        if (count == 0) {
            continue;
        }
        if (push_rows(source, input, count, error) != WEIR_OK ||
            push_time(source, error) != WEIR_OK) {
            return WEIR_STEP_FAILED;
        }
        atomic_fetch_add(&base->activity, 1);
        return WEIR_STEP_MORE;
    }
    return WEIR_STEP_DONE;
}

static void rows_snapshot(struct weir_source *base, struct weir_snapshot *snapshot)
{
    const struct rows_source *source = (const struct rows_source *)base;
    for (uint32_t i = 0; i < source->input_count; i++) {
        const struct input *input = &source->inputs[i];
        weir_snapshot_add_position(
            snapshot, &(struct weir_position_entry){.table = "t",
                                                    .topic = "t",
                                                    .partition = (int32_t)input->partition,
                                                    .offset = input->row,
                                                    .event_time_us = input->event_time_us});
    }
}

static void rows_destroy(struct weir_operator *op)
{
    free(op);
}

static struct rows_source *create_source(struct job *job, uint32_t task_idx)
{
    static const struct weir_operator_ops OPERATOR = {.kind = "rows", .destroy = rows_destroy};
    static const struct weir_source_ops SOURCE = {.poll = rows_poll, .snapshot = rows_snapshot};
    struct rows_source *source = weir_alloc_zero(sizeof *source);
    source->base.op.ops = &OPERATOR;
    source->base.op.id = "rows";
    source->base.ops = &SOURCE;
    source->base.op.next = source->next;
    source->base.op.next_count = 1;
    source->job = job;
    for (uint32_t i = task_idx; i < PARTITIONS; i += job->task_count) {
        struct input *input = &source->inputs[source->input_count++];
        *input = (struct input){.partition = i, .event_time_us = INT64_MIN};
        for (uint32_t j = 0; j < job->manifest.position_count; j++) {
            const struct weir_position_entry *entry = &job->manifest.positions[j].entry;
            if ((uint32_t)entry->partition == i) {
                input->row = entry->offset;
                input->event_time_us = entry->event_time_us;
            }
        }
    }
    return source;
}

// --- a life --------------------------------------------------------------------------------------

static struct weir_operator_state_store *operator_states(const struct job *job, uint32_t task_idx)
{
    return weir_operator_state_store_create(
        &(struct weir_operator_state_config){.task_idx = task_idx,
                                             .task_count = job->task_count,
                                             .part_count = job->manifest.operator_state_count,
                                             .parts = job->manifest.operator_states});
}

static void create_source_task(struct job *job, uint32_t idx, struct weir_mailbox *mailbox,
                               struct weir_channel **channels)
{
    struct weir_operator_state_store *states = operator_states(job, idx);
    struct rows_source *source = create_source(job, idx);
    struct tally *tally = tally_create(states, idx, job->pointer);
    struct weir_operator *outlet =
        weir_outlet_create(&(struct weir_outlet_config){.id = "exchange",
                                                        .name = "exchange",
                                                        .key_count = 1,
                                                        .key_columns = job_key_columns,
                                                        .channel_count = job->task_count,
                                                        .channels = channels});
    source->next[0] = &tally->op;
    tally->next[0] = outlet;
    struct weir_operator *nodes[] = {&source->base.op, &tally->op, outlet};
    job->tasks[idx] =
        weir_task_create(idx, "source", &source->base, 3, nodes, mailbox, job->coordinator_mailbox);
    weir_task_set_operator_states(job->tasks[idx], states);
}

static void create_keyed_task(struct job *job, uint32_t idx, struct weir_mailbox *mailbox,
                              struct weir_channel **channels)
{
    char work_folder[96];
    struct weir_error error;
    struct weir_key_group_range key_groups = weir_key_groups_of(idx, job->task_count);
    snprintf(work_folder, sizeof work_folder, "%s/work/%u", job->folder, idx);
    struct weir_rocksdb_store_config config = {
        .work_folder = work_folder,
        .store_folder = weir_store_path(job->store),
        .stage = "exchange",
        .key_groups = key_groups,
        .attempt = job->attempt.text,
        .budget_bytes = below(job, 2) == 0 ? (size_t)128 << 10 : (size_t)32 << 20,
        .mailbox = mailbox,
        .clock = &job->clock,
        .number = job->pointer,
        .handle_count = job->manifest.state_count,
        .handles = job->manifest.states,
        .materialise_log_count = 3,
        .materialise_pause_ms = 1,
        .apply_bytes_min = below(job, 2) == 0 ? 1 : 20000,
        .is_stepped = true,
    };
    if (weir_rocksdb_store_create(&config, &job->states[idx], &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    struct weir_source *inlet =
        weir_inlet_create(&(struct weir_inlet_config){.id = "exchange",
                                                      .name = "exchange",
                                                      .channel_count = job->task_count,
                                                      .channels = channels,
                                                      .clock = &job->clock});
    struct keeper *keeper = keeper_create(job->states[idx], key_groups, job->pointer, output, job);
    inlet->op.next = weir_arena_alloc(job->arena, sizeof *inlet->op.next);
    inlet->op.next[0] = &keeper->op;
    inlet->op.next_count = 1;
    struct weir_operator *nodes[] = {&inlet->op, &keeper->op};
    uint32_t task_idx = job->task_count + idx;
    job->tasks[task_idx] =
        weir_task_create(task_idx, "keyed", inlet, 2, nodes, mailbox, job->coordinator_mailbox);
    weir_task_set_state(job->tasks[task_idx], job->states[idx]);
}

static void create_tasks(struct job *job)
{
    struct weir_mailbox *mailboxes[2 * TASKS_MAX];
    struct weir_channel **in[TASKS_MAX]; // by keyed task, then source
    for (uint32_t i = 0; i < 2 * job->task_count; i++) {
        mailboxes[i] = weir_mailbox_create();
    }
    for (uint32_t to = 0; to < job->task_count; to++) {
        in[to] = weir_arena_alloc(job->arena, job->task_count * sizeof *in[to]);
        for (uint32_t from = 0; from < job->task_count; from++) {
            in[to][from] = weir_channel_create(CHANNEL_ITEMS, mailboxes[from],
                                               mailboxes[job->task_count + to], weir_batch_free);
        }
    }
    for (uint32_t i = 0; i < job->task_count; i++) {
        struct weir_channel *out[TASKS_MAX];
        for (uint32_t to = 0; to < job->task_count; to++) {
            out[to] = in[to][i];
        }
        create_source_task(job, i, mailboxes[i], out);
    }
    for (uint32_t i = 0; i < job->task_count; i++) {
        create_keyed_task(job, i, mailboxes[job->task_count + i], in[i]);
    }
}

// Goes on from the pointer, with so many tasks.
static void begin_life(struct job *job, uint32_t task_count)
{
    struct weir_error error;
    bool is_missing;
    job->arena = weir_arena_create(1 << 14);
    job->manifest = (struct weir_manifest){0};
    if (job->pointer != 0 &&
        weir_store_read_manifest(job->store, job->pointer, &job->pointer_attempt, job->arena,
                                 &job->manifest, &is_missing, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    job->attempt = weir_attempt_random();
    job->task_count = task_count;
    job->coordinator_mailbox = weir_mailbox_create();
    job->committer = weir_mailbox_create();
    create_tasks(job);
    struct weir_coordinator_config config = {
        .interval_ms = 1,
        .timeout_ms = 1000000000,
        .quiet_commit_ms = 1000000000,
        .commit_hang_ms = 1000000000,
        .concurrent_max = 1 + below(job, WEIR_CHECKPOINTS_CONCURRENT_MAX),
        .first_number = job->pointer + 1,
        .task_count = 2 * task_count,
        .tasks = job->tasks,
        .mailbox = job->coordinator_mailbox,
        .committer = job->committer,
        .clock = &job->clock,
    };
    job->coordinator = weir_coordinator_create(&config);
    weir_mailbox_post(job->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_HANDLE_READY, .number = INT64_MAX});
}

static void end_life(struct job *job)
{
    for (uint32_t i = 0; i < 2 * job->task_count; i++) {
        weir_task_destroy(job->tasks[i]);
    }
    weir_coordinator_destroy(job->coordinator);
    weir_mailbox_destroy(job->coordinator_mailbox, weir_coordinator_drop_mail);
    weir_mailbox_destroy(job->committer, weir_coordinator_drop_mail);
    weir_arena_destroy(job->arena);
    lines_clear(&job->pending); // nobody ever saw them
}

// --- commits -------------------------------------------------------------------------------------

// Each kind of operator state says the same as the positions.
static void check_operator_states(const struct job *job, const struct weir_manifest *manifest)
{
    int64_t read_count = 0;
    int64_t ticketed = 0;
    int64_t total = 0;
    bool is_seen[JOB_TICKETS] = {false};
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        read_count += manifest->positions[i].entry.offset;
    }
    assert_int_equal(manifest->operator_state_count, 4 * job->task_count);
    for (uint32_t i = 0; i < manifest->operator_state_count; i++) {
        const struct weir_operator_state_part *part = &manifest->operator_states[i];
        for (uint32_t j = 0; j < part->item_count; j++) {
            if (part->kind == WEIR_OPERATOR_STATE_SPLIT) {
                struct job_ticket ticket;
                memcpy(&ticket, part->items[j].data, sizeof ticket);
                assert_false(is_seen[ticket.id]);
                is_seen[ticket.id] = true;
                ticketed += ticket.row_count;
            } else if (part->kind == WEIR_OPERATOR_STATE_UNION) {
                ticketed += job_number(part->items[j]);
            } else if (part->kind == WEIR_OPERATOR_STATE_RAW) {
                total += job_number(part->items[j]);
            }
        }
    }
    for (uint32_t i = 0; i < JOB_TICKETS; i++) {
        assert_true(is_seen[i]);
    }
    assert_int_equal(ticketed, read_count);
    assert_int_equal(total, read_count);
}

static void write_manifest(struct job *job, const struct weir_completed *completed,
                           struct weir_arena *arena)
{
    struct weir_manifest_position positions[PARTITIONS];
    struct weir_error error;
    struct weir_manifest manifest = {.number = completed->barrier.number,
                                     .attempt = job->attempt,
                                     .job_id = "job",
                                     .cluster_id = "c",
                                     .kind = "checkpoint",
                                     .restore = "auto",
                                     .weir_version = "0",
                                     .parallelism = job->task_count,
                                     .positions = positions};
    for (uint32_t i = 0; i < completed->snapshot_count; i++) {
        for (uint32_t j = 0; j < completed->snapshots[i]->position_count; j++) {
            positions[manifest.position_count++] = (struct weir_manifest_position){
                .entry = completed->snapshots[i]->positions[j], .topic_id = ""};
        }
    }
    weir_manifest_collect_states(&manifest, completed, arena);
    assert_int_equal(manifest.state_count, job->task_count);
    check_operator_states(job, &manifest);
    if (weir_store_write_manifest(job->store, &manifest, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
}

static void move_committed(struct job *job, int64_t number)
{
    uint32_t left_count = 0;
    for (uint32_t i = 0; i < job->pending.count; i++) {
        if (job->pending.items[i].epoch > number) {
            job->pending.items[left_count++] = job->pending.items[i];
            continue;
        }
        assert_int_equal(job->pending.items[i].epoch, number);
        lines_add(&job->committed, number, job->pending.items[i].text);
        free(job->pending.items[i].text);
    }
    job->pending.count = left_count;
}

// In between the process can die: the pointer decides.
static bool commit_some(struct job *job)
{
    struct weir_mail mail;
    if (!weir_mailbox_take(job->committer, &mail)) {
        return true;
    }
    assert_int_equal(mail.kind, WEIR_MAIL_COMPLETE);
    struct weir_arena *arena = weir_arena_create(4096);
    int64_t number = ((struct weir_completed *)mail.payload)->barrier.number;
    write_manifest(job, mail.payload, arena);
    weir_completed_destroy(mail.payload);
    weir_arena_destroy(arena);
    if (below(job, 20) == 0) {
        return false;
    }
    assert_int_equal(number, job->pointer + 1);
    job->pointer = number;
    job->pointer_attempt = job->attempt;
    move_committed(job, number);
    weir_mailbox_post(job->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_MANIFEST_STORED, .number = number});
    weir_mailbox_post(job->coordinator_mailbox,
                      &(struct weir_mail){.kind = WEIR_MAIL_COMMITTED, .number = number});
    return below(job, 20) != 0;
}

// --- runs ----------------------------------------------------------------------------------------

static bool is_over(const struct job *job)
{
    return weir_coordinator_outcome(job->coordinator)->kind != WEIR_OUTCOME_NONE;
}

// False: the process has died.
static bool step(struct job *job)
{
    struct weir_error error;
    uint32_t choice = below(job, 10);
    uint32_t task_idx = below(job, 2 * job->task_count);
    if (choice < 5) {
        if (weir_task_step(job->tasks[task_idx], &error) == WEIR_STEP_FAILED) {
            fail_msg("%s", error.text);
        }
    } else if (choice < 7) {
        weir_rocksdb_store_step(job->states[below(job, job->task_count)],
                                (enum weir_rocksdb_step)below(job, 3));
    } else if (choice < 9) {
        job->now_ms += below(job, 2);
        weir_coordinator_step(job->coordinator);
    } else {
        return commit_some(job);
    }
    return true;
}

// --- the end ----------------------------------------------------------------------------------

static void check_committed(struct job *job)
{
    struct lines expected = {0};
    job_expect(&expected);
    qsort(expected.items, expected.count, sizeof *expected.items, compare_lines);
    qsort(job->committed.items, job->committed.count, sizeof *expected.items, compare_lines);
    for (uint32_t i = 0; i < expected.count && i < job->committed.count; i++) {
        assert_string_equal(job->committed.items[i].text, expected.items[i].text);
    }
    assert_int_equal(job->committed.count, expected.count);
    lines_clear(&expected);
}

// The raw bytes of all key groups, after the end.
static void check_group_rows(struct job *job)
{
    int64_t row_count = 0;
    begin_life(job, 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct weir_raw_keyed raw;
        weir_raw_keyed_open(&raw, job->states[i], "keeper", "group rows");
        struct weir_key_group_range groups = weir_key_groups_of(i, 3);
        for (uint32_t j = 0; j < groups.count; j++) {
            struct weir_view bytes;
            if (weir_raw_keyed_read(&raw, (uint16_t)(groups.first + j), &bytes)) {
                row_count += job_number(bytes);
            }
        }
    }
    assert_int_equal(row_count, PARTITIONS * ROWS);
    end_life(job);
}

static void run_job(uint64_t seed)
{
    struct job *job = weir_alloc_zero(sizeof *job);
    struct weir_error error;
    job->random = seed;
    job->clock = (struct weir_clock){.monotonic_ms = job_now, .wall_ms = job_now};
    snprintf(job->folder, sizeof job->folder, "%s/weir-job-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(job->folder));
    assert_int_equal(weir_store_open(job->folder, "job", 0, &job->store, &error), WEIR_OK);
    static const uint32_t FIRST_COUNTS[] = {1, 4, 3};
    bool is_done = false;
    for (uint32_t life = 0; !is_done; life++) {
        begin_life(job, life < 3 ? FIRST_COUNTS[life] : 1 + below(job, TASKS_MAX));
        uint32_t step_count = life < 20 ? 300 + below(job, 1500) : UINT32_MAX;
        for (uint32_t i = 0; i < step_count && !is_over(job) && step(job); i++) {
        }
        is_done = is_over(job);
        if (is_done) {
            const struct weir_outcome *outcome = weir_coordinator_outcome(job->coordinator);
            assert_int_equal(outcome->kind, WEIR_OUTCOME_DONE);
        }
        end_life(job);
    }
    check_committed(job);
    check_group_rows(job);
    lines_clear(&job->committed);
    weir_store_close(job->store);
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", job->folder);
    assert_int_equal(system(command), 0);
    free(job);
}

// WEIR_TEST_SEEDS: more of them.
static void test_job_with_every_kind_of_state_is_exactly_once(void **state)
{
    (void)state;
    const char *text = getenv("WEIR_TEST_SEEDS");
    uint64_t seed_count = text != NULL ? strtoull(text, NULL, 10) : 3;
    for (uint64_t seed = 1; seed <= seed_count; seed++) {
        run_job(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_with_every_kind_of_state_is_exactly_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
