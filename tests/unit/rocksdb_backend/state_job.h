// SPDX-License-Identifier: Apache-2.0
// Two operators that use every kind of state, for test_state_job.c: "tally" in the chain of a
// source keeps operator state of each kind, "keeper" behind an exchange keyed state of each shape.
// What they give and keep is a pure function of the rows, so that the test computes it anew.
#ifndef WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_JOB_H
#define WEIR_TESTS_UNIT_ROCKSDB_BACKEND_STATE_JOB_H

#include "runtime/keyed_shapes.h"
#include "runtime/operator_state.h"
#include "runtime/state_ttl.h"
#include "runtime/timers.h"
#include "runtime/types/hash.h"
#include "runtime/types/key.h"

#include "tests/unit/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    JOB_TICKETS = 10,
    JOB_RULES = 5,
    JOB_ELEMENTS = 7,
    JOB_TTL_US = 20000000,
    JOB_TIMER_US = 7000000,
    JOB_TIMER_ROWS = 5, // one in so many rows sets a timer
    JOB_KEY = 0,
    JOB_SEQ = 1,
};

static const struct weir_field job_fields[] = {{"k", {WEIR_TYPE_BIGINT, -1, NULL}},
                                               {"seq", {WEIR_TYPE_BIGINT, -1, NULL}}};
static const struct weir_schema job_schema = {2, job_fields};
static const uint32_t job_key_columns[] = {JOB_KEY};

// --- tally: operator state -----------------------------------------------------------------------

// One of JOB_TICKETS, each of which is in one task: rows are counted on it.
struct job_ticket {
    int64_t id;
    int64_t row_count;
};

struct tally {
    struct weir_operator op; // first
    struct weir_operator *next[1];
    struct weir_operator_list *tickets;    // split: struct job_ticket
    struct weir_operator_list *unticketed; // union: rows of tasks without tickets
    struct weir_operator_list *total;      // raw: rows of the task and of those it goes on for
    struct weir_broadcast_state *rules;    // rule n mod JOB_RULES: the last such barrier n
    struct job_ticket ticket[JOB_TICKETS]; // this task's
    uint32_t ticket_count;
    uint32_t next_ticket;
    int64_t unticketed_count;
    int64_t total_count;
};

static inline struct weir_view job_view(const void *bytes, size_t size_bytes)
{
    return (struct weir_view){.data = bytes, .size_bytes = size_bytes};
}

static inline int64_t job_number(struct weir_view view)
{
    int64_t number;
    assert_int_equal(view.size_bytes, sizeof number);
    memcpy(&number, view.data, sizeof number);
    return number;
}

static inline enum weir_status tally_process(struct weir_operator *op, struct weir_batch *batch,
                                             struct weir_error *error)
{
    struct tally *tally = (struct tally *)op;
    tally->total_count += batch->selected_count;
    if (tally->ticket_count == 0) {
        tally->unticketed_count += batch->selected_count;
    } else {
        tally->ticket[tally->next_ticket++ % tally->ticket_count].row_count +=
            batch->selected_count;
    }
    return weir_operator_push(op, batch, error);
}

static inline enum weir_status tally_barrier(struct weir_operator *op,
                                             const struct weir_barrier *at,
                                             struct weir_snapshot *snapshot,
                                             struct weir_error *error)
{
    (void)snapshot;
    (void)error;
    struct tally *tally = (struct tally *)op;
    weir_operator_list_clear(tally->tickets);
    for (uint32_t i = 0; i < tally->ticket_count; i++) {
        weir_operator_list_add(tally->tickets, job_view(&tally->ticket[i], sizeof *tally->ticket));
    }
    weir_operator_list_clear(tally->unticketed);
    weir_operator_list_add(tally->unticketed, job_view(&tally->unticketed_count, sizeof(int64_t)));
    weir_operator_list_clear(tally->total);
    weir_operator_list_add(tally->total, job_view(&tally->total_count, sizeof(int64_t)));
    int64_t rule = at->number % JOB_RULES;
    weir_broadcast_state_put(tally->rules, job_view(&rule, sizeof rule),
                             job_view(&at->number, sizeof at->number));
    return WEIR_OK;
}

static inline void tally_destroy(struct weir_operator *op)
{
    free(op);
}

static inline void tally_restore(struct tally *tally, uint32_t task_idx)
{
    tally->ticket_count = weir_operator_list_count(tally->tickets);
    for (uint32_t i = 0; i < tally->ticket_count; i++) {
        struct weir_view item = weir_operator_list_at(tally->tickets, i);
        assert_int_equal(item.size_bytes, sizeof tally->ticket[i]);
        memcpy(&tally->ticket[i], item.data, item.size_bytes);
    }
    // Everybody sees all of them; the first task goes on with the sum.
    for (uint32_t i = 0; task_idx == 0 && i < weir_operator_list_count(tally->unticketed); i++) {
        tally->unticketed_count += job_number(weir_operator_list_at(tally->unticketed, i));
    }
    for (uint32_t i = 0; i < weir_operator_list_count(tally->total); i++) {
        tally->total_count += job_number(weir_operator_list_at(tally->total, i));
    }
}

static inline struct tally *tally_create(struct weir_operator_state_store *states,
                                         uint32_t task_idx, int64_t number)
{
    static const struct weir_operator_ops OPS = {.kind = "tally",
                                                 .process = tally_process,
                                                 .barrier = tally_barrier,
                                                 .destroy = tally_destroy};
    struct tally *tally = weir_alloc_zero(sizeof *tally);
    tally->op.ops = &OPS;
    tally->op.id = "tally";
    tally->op.next = tally->next;
    tally->op.next_count = 1;
    tally->tickets =
        weir_operator_state_list(states, "tally", "tickets", WEIR_OPERATOR_STATE_SPLIT);
    tally->unticketed =
        weir_operator_state_list(states, "tally", "unticketed", WEIR_OPERATOR_STATE_UNION);
    tally->total = weir_operator_state_list(states, "tally", "total", WEIR_OPERATOR_STATE_RAW);
    tally->rules = weir_operator_state_broadcast(states, "tally", "rules");
    tally_restore(tally, task_idx);
    if (number == 0 && task_idx == 0) { // the beginning of all
        for (tally->ticket_count = 0; tally->ticket_count < JOB_TICKETS; tally->ticket_count++) {
            tally->ticket[tally->ticket_count].id = tally->ticket_count;
        }
    }
    for (int64_t rule = 0; rule < JOB_RULES; rule++) {
        struct weir_view value;
        int64_t last = number - (number % JOB_RULES - rule + JOB_RULES) % JOB_RULES;
        bool is_there =
            weir_broadcast_state_get(tally->rules, job_view(&rule, sizeof rule), &value);
        assert_int_equal(is_there, last > 0);
        assert_true(!is_there || job_number(value) == last);
    }
    return tally;
}

// --- keeper: keyed state -------------------------------------------------------------------------

// Where what keepers give goes: a line of text of an epoch.
typedef void job_output_fn(void *context, int64_t epoch, const char *line);

struct keeper {
    struct weir_operator op; // first
    struct weir_key_group_range key_groups;
    struct weir_state *counts;        // value: rows of the key
    struct weir_keyed_list seqs;      // list: their numbers
    struct weir_keyed_map elements;   // map: how often each seq mod JOB_ELEMENTS
    struct weir_timers *timers;       // "timer", some time after a row
    struct weir_state_ttl *ttl;       // of all of these but the timers
    struct weir_raw_keyed group_rows; // raw: rows of the key group
    int64_t group_row_count[WEIR_KEY_GROUP_COUNT];
    bool is_group_changed[WEIR_KEY_GROUP_COUNT];
    int64_t watermark_us;
    int64_t epoch;
    job_output_fn *output;
    void *context;
};

static inline struct weir_state_key job_key_of(int64_t k, struct weir_buffer *bytes)
{
    struct weir_column column = {.type = {WEIR_TYPE_BIGINT, -1, NULL}, .data = &k};
    bytes->size_bytes = 0;
    weir_key_encode(&column, 1, 0, bytes);
    struct weir_view view = job_view(bytes->data, bytes->size_bytes);
    return (struct weir_state_key){.key_group = weir_key_group(view), .bytes = view};
}

static inline void keeper_forget(void *context, const struct weir_state_key *key)
{
    struct keeper *keeper = context;
    keeper->counts->ops->remove(keeper->counts, key);
    weir_keyed_list_clear(&keeper->seqs, key);
    weir_keyed_map_clear(&keeper->elements, key);
}

static inline bool job_append_element(void *context, struct weir_view element,
                                      struct weir_view value)
{
    char *text = context;
    assert_int_equal(element.size_bytes, 1);
    snprintf(text + strlen(text), 64, " %c:%" PRId64, element.data[0], job_number(value));
    return true;
}

// The line of a row: key, number, count, first number kept, elements in order.
static inline void keeper_give(struct keeper *keeper, const struct weir_state_key *key, int64_t k,
                               int64_t seq)
{
    char line[512];
    struct weir_view count;
    assert_true(keeper->counts->ops->get(keeper->counts, key, &count));
    int64_t number = job_number(count);
    assert_int_equal(weir_keyed_list_count(&keeper->seqs, key), number);
    snprintf(line, sizeof line, "row %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, k, seq, number,
             job_number(weir_keyed_list_at(&keeper->seqs, key, 0)));
    weir_keyed_map_scan(&keeper->elements, key, (struct weir_view){0}, (struct weir_view){0},
                        job_append_element, line);
    keeper->output(keeper->context, keeper->epoch, line);
}

static inline void keeper_take(struct keeper *keeper, int64_t k, int64_t seq, int64_t time_us)
{
    struct weir_buffer bytes = {0};
    struct weir_state_key key = job_key_of(k, &bytes);
    struct weir_view value;
    bool was_alive = weir_state_ttl_is_alive(keeper->ttl, &key, time_us);
    bool is_expired;
    weir_state_ttl_touch(keeper->ttl, 1, &key, &time_us, &is_expired);
    assert_false(was_alive && is_expired);
    if (is_expired) {
        keeper_forget(keeper, &key);
    }
    bool is_known = keeper->counts->ops->get(keeper->counts, &key, &value);
    assert_int_equal(is_known, was_alive);
    bool existed;
    int64_t *count = keeper->counts->ops->update(keeper->counts, &key, sizeof *count, &existed);
    (*count)++;
    weir_keyed_list_add(&keeper->seqs, &key, job_view(&seq, sizeof seq));
    char element = (char)('a' + seq % JOB_ELEMENTS);
    count = weir_keyed_map_update(&keeper->elements, &key, job_view(&element, 1), sizeof *count,
                                  &existed);
    (*count)++;
    if (seq % JOB_TIMER_ROWS == 0) {
        weir_timers_add(keeper->timers, &key, time_us + JOB_TIMER_US);
    }
    keeper->group_row_count[key.key_group]++;
    keeper->is_group_changed[key.key_group] = true;
    keeper_give(keeper, &key, k, seq);
    weir_buffer_deinit(&bytes);
}

static inline void keeper_restore(struct keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->key_groups.count; i++) {
        uint16_t group = (uint16_t)(keeper->key_groups.first + i);
        struct weir_view bytes;
        if (weir_raw_keyed_read(&keeper->group_rows, group, &bytes)) {
            keeper->group_row_count[group] = job_number(bytes);
        }
    }
}

static inline enum weir_status keeper_process(struct weir_operator *op, struct weir_batch *batch,
                                              struct weir_error *error)
{
    (void)error;
    struct keeper *keeper = (struct keeper *)op;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = weir_batch_row(batch, i);
        keeper_take(keeper, batch->columns[JOB_KEY].i64[row], batch->columns[JOB_SEQ].i64[row],
                    batch->event_time_us[row]);
    }
    return WEIR_OK;
}

static inline bool keeper_on_timer(void *context, const struct weir_state_key *key, int64_t time_us)
{
    struct keeper *keeper = context;
    int64_t k = 0;
    uint64_t validity = 0;
    struct weir_column column = {
        .type = {WEIR_TYPE_BIGINT, -1, NULL}, .validity = &validity, .data = &k};
    assert_true(weir_key_decode(key->bytes, &column, 1, 0, NULL));
    char line[64];
    snprintf(line, sizeof line, "timer %" PRId64 " %" PRId64, k, time_us);
    keeper->output(keeper->context, keeper->epoch, line);
    return true;
}

static inline enum weir_status
keeper_time_passed(struct weir_operator *op, const struct weir_time *time, struct weir_error *error)
{
    (void)error;
    struct keeper *keeper = (struct keeper *)op;
    if (time->watermark_us != INT64_MIN) {
        keeper->watermark_us = time->watermark_us;
        weir_timers_fire(keeper->timers,
                         time->watermark_us == INT64_MAX ? INT64_MAX - 1 : time->watermark_us,
                         keeper_on_timer, keeper);
    }
    return WEIR_OK;
}

static inline enum weir_status keeper_resume(struct weir_operator *op, struct weir_error *error)
{
    (void)error;
    struct keeper *keeper = (struct keeper *)op;
    weir_state_ttl_sweep(keeper->ttl, keeper->watermark_us, 3, keeper_forget, keeper);
    return WEIR_OK;
}

static inline enum weir_status keeper_barrier(struct weir_operator *op,
                                              const struct weir_barrier *at,
                                              struct weir_snapshot *snapshot,
                                              struct weir_error *error)
{
    (void)snapshot;
    (void)error;
    struct keeper *keeper = (struct keeper *)op;
    for (uint32_t i = 0; i < WEIR_KEY_GROUP_COUNT; i++) {
        if (keeper->is_group_changed[i]) {
            weir_raw_keyed_write(&keeper->group_rows, (uint16_t)i,
                                 job_view(&keeper->group_row_count[i], sizeof(int64_t)));
            keeper->is_group_changed[i] = false;
        }
    }
    weir_state_ttl_barrier(keeper->ttl, at->number);
    keeper->epoch = at->number + 1;
    return WEIR_OK;
}

static inline void keeper_destroy(struct weir_operator *op)
{
    struct keeper *keeper = (struct keeper *)op;
    weir_keyed_list_close(&keeper->seqs);
    weir_keyed_map_close(&keeper->elements);
    weir_timers_destroy(keeper->timers);
    weir_state_ttl_destroy(keeper->ttl);
    free(keeper);
}

static inline struct keeper *keeper_create(struct weir_state_store *store,
                                           struct weir_key_group_range key_groups, int64_t number,
                                           job_output_fn *output, void *context)
{
    static const struct weir_operator_ops OPS = {.kind = "keeper",
                                                 .process = keeper_process,
                                                 .time_passed = keeper_time_passed,
                                                 .resume = keeper_resume,
                                                 .barrier = keeper_barrier,
                                                 .destroy = keeper_destroy};
    struct keeper *keeper = weir_alloc_zero(sizeof *keeper);
    keeper->op.ops = &OPS;
    keeper->op.id = "keeper";
    keeper->key_groups = key_groups;
    keeper->counts = store->ops->open_state(store, "keeper", "counts");
    weir_keyed_list_open(&keeper->seqs, store, "keeper", "seqs");
    weir_keyed_map_open(&keeper->elements, store, "keeper", "elements");
    weir_raw_keyed_open(&keeper->group_rows, store, "keeper", "group rows");
    keeper->timers = weir_timers_create(store, "keeper", "timers", key_groups);
    keeper->ttl = weir_state_ttl_create(&(struct weir_state_ttl_config){.store = store,
                                                                        .operator_id = "keeper",
                                                                        .key_groups = key_groups,
                                                                        .ttl_us = JOB_TTL_US,
                                                                        .first_epoch = number + 1});
    keeper->watermark_us = INT64_MIN;
    keeper->epoch = number + 1;
    keeper->output = output;
    keeper->context = context;
    keeper_restore(keeper);
    return keeper;
}

#endif
