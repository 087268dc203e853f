// SPDX-License-Identifier: Apache-2.0
// Rows from task to task: routed by key group, held back by full channels, cut by barriers; single
// steps. test_exchange_threads.c has the same in threads.
#include "exchange_rows.h"

// --- the way out --------------------------------------------------------------------------------

struct lanes {
    uint32_t count;
    struct weir_mailbox *producer;
    struct weir_mailbox *consumer;
    struct weir_channel *channels[4];
    struct weir_operator *outlet;
};

static void lanes_open(struct lanes *lanes, uint32_t count, uint32_t capacity)
{
    *lanes = (struct lanes){
        .count = count, .producer = weir_mailbox_create(), .consumer = weir_mailbox_create()};
    for (uint32_t i = 0; i < count; i++) {
        lanes->channels[i] =
            weir_channel_create(capacity, lanes->producer, lanes->consumer, weir_batch_free);
    }
    lanes->outlet = weir_outlet_create(&(struct weir_outlet_config){.id = "id",
                                                                    .name = "exchange",
                                                                    .key_count = 1,
                                                                    .key_columns = key_columns,
                                                                    .channel_count = count,
                                                                    .channels = lanes->channels});
}

static void lanes_close(struct lanes *lanes, bool has_channels)
{
    lanes->outlet->ops->destroy(lanes->outlet);
    for (uint32_t i = 0; has_channels && i < lanes->count; i++) {
        weir_channel_destroy(lanes->channels[i]);
    }
    weir_mailbox_destroy(lanes->producer, NULL);
    weir_mailbox_destroy(lanes->consumer, NULL);
}

static void lanes_send(struct lanes *lanes, uint32_t row_count, int64_t first_seq)
{
    struct weir_arena *arena = weir_arena_create(1 << 14);
    struct weir_batch batch = make_batch(arena, row_count, 50, first_seq, 1);
    struct weir_error error;
    assert_int_equal(lanes->outlet->ops->process(lanes->outlet, &batch, &error), WEIR_OK);
    weir_arena_destroy(arena);
}

static void test_outlet_sends_each_row_to_its_owner_in_order(void **state)
{
    (void)state;
    struct lanes lanes;
    lanes_open(&lanes, 3, 4);
    lanes_send(&lanes, 300, 1);
    uint32_t row_count = 0;
    for (uint32_t i = 0; i < 3; i++) {
        struct weir_item item;
        assert_true(weir_channel_pop(lanes.channels[i], &item));
        assert_int_equal(item.kind, WEIR_ITEM_BATCH);
        int64_t last = 0;
        for (uint32_t row = 0; row < item.batch->row_count; row++) {
            assert_int_equal(owner_of(item.batch, row, 3), i);
            int64_t seq = item.batch->columns[SEQ].i64[row];
            assert_true(seq > last);
            last = seq;
            assert_int_equal(item.batch->change[row], seq % 4);
        }
        row_count += item.batch->row_count;
        weir_batch_free(item.batch);
        assert_false(weir_channel_pop(lanes.channels[i], &item));
    }
    assert_int_equal(row_count, 300);
    lanes_close(&lanes, true);
}

static void test_outlet_without_keys_sends_all_rows_to_one(void **state)
{
    (void)state;
    struct lanes lanes;
    struct weir_item item;
    lanes_open(&lanes, 3, 4);
    lanes.outlet->ops->destroy(lanes.outlet);
    lanes.outlet = weir_outlet_create(&(struct weir_outlet_config){
        .id = "id", .name = "exchange", .channel_count = 3, .channels = lanes.channels});
    lanes_send(&lanes, 30, 1);
    uint16_t key_group = weir_key_group((struct weir_view){.data = "", .size_bytes = 0});
    for (uint32_t i = 0; i < 3; i++) {
        bool is_owner = i == weir_key_group_owner(key_group, 3);
        assert_int_equal(weir_channel_pop(lanes.channels[i], &item), is_owner);
        if (is_owner) {
            assert_int_equal(item.batch->row_count, 30);
            weir_batch_free(item.batch);
        }
    }
    lanes_close(&lanes, true);
}

static void test_outlet_takes_only_the_rows_selected(void **state)
{
    (void)state;
    static const uint16_t SELECTED[] = {1, 3};
    struct lanes lanes;
    lanes_open(&lanes, 1, 4);
    struct weir_arena *arena = weir_arena_create(1 << 14);
    struct weir_batch batch = make_batch(arena, 5, 50, 10, 1);
    struct weir_error error;
    batch.selected = SELECTED;
    batch.selected_count = 2;
    assert_int_equal(lanes.outlet->ops->process(lanes.outlet, &batch, &error), WEIR_OK);
    batch.selected_count = 0;
    assert_int_equal(lanes.outlet->ops->process(lanes.outlet, &batch, &error), WEIR_OK);
    weir_arena_destroy(arena);
    struct weir_item item;
    assert_true(weir_channel_pop(lanes.channels[0], &item));
    assert_int_equal(item.batch->row_count, 2);
    assert_int_equal(item.batch->columns[SEQ].i64[0], 11);
    assert_int_equal(item.batch->columns[SEQ].i64[1], 13);
    weir_batch_free(item.batch);
    assert_false(weir_channel_pop(lanes.channels[0], &item)); // nothing of nothing
    lanes_close(&lanes, true);
}

// Partials say themselves which key group they are of; they outlive the batch that they came in.
static void test_outlet_sends_each_partial_to_its_owner(void **state)
{
    (void)state;
    enum { PARTIALS = 200, LANES = 3 };
    struct lanes lanes;
    lanes_open(&lanes, LANES, 4);
    char texts[PARTIALS][8];
    struct weir_state_key keys[PARTIALS];
    uint64_t values[PARTIALS];
    for (uint32_t i = 0; i < PARTIALS; i++) {
        snprintf(texts[i], sizeof texts[i], "%u", i);
        keys[i].bytes = weir_view_of(texts[i]);
        keys[i].key_group = (uint16_t)(i * 97 % WEIR_KEY_GROUP_COUNT); // not that of the bytes
        values[i] = i;
    }
    struct weir_partials partials = {
        .keys = keys, .values = (const char *)values, .value_bytes = sizeof values[0]};
    struct weir_batch batch = {
        .row_count = PARTIALS, .selected_count = PARTIALS, .partials = &partials};
    struct weir_error error;
    assert_int_equal(lanes.outlet->ops->process(lanes.outlet, &batch, &error), WEIR_OK);
    memset(texts, 0, sizeof texts);
    memset(values, 0, sizeof values);
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        struct weir_item item;
        uint64_t last = 0;
        assert_true(weir_channel_pop(lanes.channels[lane], &item));
        const struct weir_partials *got = item.batch->partials;
        assert_int_equal(item.batch->selected_count, item.batch->row_count);
        assert_int_equal(got->value_bytes, sizeof(uint64_t));
        for (uint32_t i = 0; i < item.batch->row_count; i++) {
            uint64_t value;
            char text[8];
            memcpy(&value, got->values + i * sizeof value, sizeof value);
            snprintf(text, sizeof text, "%u", (unsigned)value);
            assert_true(i == 0 || value > last);
            assert_true(weir_view_equal(got->keys[i].bytes, weir_view_of(text)));
            assert_int_equal(got->keys[i].key_group, value * 97 % WEIR_KEY_GROUP_COUNT);
            assert_int_equal(weir_key_group_owner(got->keys[i].key_group, LANES), lane);
            last = value;
        }
        count += item.batch->row_count;
        weir_batch_free(item.batch);
    }
    assert_int_equal(count, PARTIALS);
    lanes_close(&lanes, true);
}

static void test_outlet_holds_back_what_a_full_channel_does_not_take(void **state)
{
    (void)state;
    struct lanes lanes;
    struct weir_error error;
    struct weir_item item;
    lanes_open(&lanes, 1, 2);
    for (int64_t seq = 0; seq < 4; seq++) {
        assert_int_equal(lanes.outlet->is_blocked, seq > 2);
        lanes_send(&lanes, 1, seq);
    }
    struct weir_time time = {.watermark_us = 77};
    struct weir_barrier barrier = {.number = 5};
    assert_int_equal(lanes.outlet->ops->time_passed(lanes.outlet, &time, &error), WEIR_OK);
    assert_int_equal(lanes.outlet->ops->barrier(lanes.outlet, &barrier, NULL, &error), WEIR_OK);
    for (int64_t seq = 0; seq < 4; seq++) {
        assert_int_equal(lanes.outlet->ops->resume(lanes.outlet, &error), WEIR_OK);
        assert_true(lanes.outlet->is_blocked);
        assert_true(weir_channel_pop(lanes.channels[0], &item));
        assert_int_equal(item.kind, WEIR_ITEM_BATCH);
        assert_int_equal(item.batch->columns[SEQ].i64[0], seq);
        weir_batch_free(item.batch);
    }
    assert_int_equal(lanes.outlet->ops->resume(lanes.outlet, &error), WEIR_OK);
    assert_false(lanes.outlet->is_blocked);
    assert_true(weir_channel_pop(lanes.channels[0], &item));
    assert_int_equal(item.kind, WEIR_ITEM_TIME);
    assert_int_equal(item.time.watermark_us, 77);
    assert_true(weir_channel_pop(lanes.channels[0], &item));
    assert_int_equal(item.kind, WEIR_ITEM_BARRIER);
    assert_int_equal(item.barrier.number, 5);
    lanes_close(&lanes, true);
}

// There is room again, but something waits that was sent before.
static void test_outlet_lets_nothing_overtake_what_waits(void **state)
{
    (void)state;
    struct lanes lanes;
    struct weir_error error;
    struct weir_item item;
    lanes_open(&lanes, 1, 2);
    for (int64_t i = 1; i <= 4; i++) {
        struct weir_time time = {.watermark_us = i};
        if (i == 4) {
            assert_true(weir_channel_pop(lanes.channels[0], &item));
            assert_int_equal(item.time.watermark_us, 1);
        }
        assert_int_equal(lanes.outlet->ops->time_passed(lanes.outlet, &time, &error), WEIR_OK);
    }
    for (int64_t i = 2; i <= 4; i++) {
        assert_true(weir_channel_pop(lanes.channels[0], &item));
        assert_int_equal(item.time.watermark_us, i);
        assert_int_equal(lanes.outlet->ops->resume(lanes.outlet, &error), WEIR_OK);
    }
    assert_false(lanes.outlet->is_blocked);
    lanes_close(&lanes, true);
}

// One full channel holds back the task, not the others' items; nothing leaks when it all ends.
static void test_outlet_of_several_channels_waits_for_one(void **state)
{
    (void)state;
    struct lanes lanes;
    struct weir_error error;
    struct weir_item item;
    lanes_open(&lanes, 2, 2);
    struct weir_time time = {.watermark_us = 1};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(lanes.outlet->ops->time_passed(lanes.outlet, &time, &error), WEIR_OK);
        assert_true(weir_channel_pop(lanes.channels[1], &item));
    }
    assert_true(lanes.outlet->is_blocked);
    lanes_send(&lanes, 100, 0);
    assert_true(weir_channel_pop(lanes.channels[1], &item));
    weir_batch_free(item.batch);
    assert_int_equal(lanes.outlet->ops->resume(lanes.outlet, &error), WEIR_OK);
    assert_true(lanes.outlet->is_blocked);
    lanes_close(&lanes, true); // with a batch that waits
}

// --- the way in ---------------------------------------------------------------------------------

static int64_t clock_now_ms;

static int64_t fake_ms(const struct weir_clock *clock)
{
    (void)clock;
    return clock_now_ms;
}

static const struct weir_clock fake_clock = {.monotonic_ms = fake_ms, .wall_ms = fake_ms};

struct taker {
    struct weir_operator op; // first
    struct weir_operator *next[1];
    struct weir_buffer out; // "7 8 T100 …"
};

static enum weir_status taker_process(struct weir_operator *op, struct weir_batch *batch,
                                      struct weir_error *error)
{
    struct taker *taker = (struct taker *)op;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        int64_t seq = batch->columns[SEQ].i64[weir_batch_row(batch, i)];
        weir_buffer_printf(&taker->out, "%lld ", (long long)seq);
        if (seq == 666) {
            return weir_error_set(error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, "no");
        }
    }
    return WEIR_OK;
}

static enum weir_status taker_time_passed(struct weir_operator *op, const struct weir_time *time,
                                          struct weir_error *error)
{
    (void)error;
    struct taker *taker = (struct taker *)op;
    weir_buffer_printf(&taker->out, "T%lld%s%s ", (long long)time->watermark_us,
                       time->is_idle ? "i" : "", time->has_ended ? "e" : "");
    return WEIR_OK;
}

static const struct weir_operator_ops taker_ops = {
    .kind = "taker", .process = taker_process, .time_passed = taker_time_passed};

struct way_in {
    struct weir_mailbox *producer;
    struct weir_mailbox *consumer;
    struct weir_channel *channels[3];
    struct weir_source *inlet;
    struct taker taker;
};

static void way_in_open_mode(struct way_in *way, uint32_t channel_count, bool is_at_least_once)
{
    *way = (struct way_in){.producer = weir_mailbox_create(), .consumer = weir_mailbox_create()};
    for (uint32_t i = 0; i < channel_count; i++) {
        way->channels[i] = weir_channel_create(16, way->producer, way->consumer, weir_batch_free);
    }
    way->inlet = weir_inlet_create(&(struct weir_inlet_config){.id = "id",
                                                               .name = "inlet",
                                                               .channel_count = channel_count,
                                                               .channels = way->channels,
                                                               .is_at_least_once = is_at_least_once,
                                                               .clock = &fake_clock});
    way->taker.op.ops = &taker_ops;
    way->taker.next[0] = &way->taker.op;
    way->inlet->op.next = way->taker.next;
    way->inlet->op.next_count = 1;
}

static void way_in_open(struct way_in *way, uint32_t channel_count)
{
    way_in_open_mode(way, channel_count, false);
}

static void way_in_close(struct way_in *way)
{
    way->inlet->op.ops->destroy(&way->inlet->op);
    weir_mailbox_destroy(way->producer, NULL);
    weir_mailbox_destroy(way->consumer, NULL);
    weir_buffer_deinit(&way->taker.out);
}

static void put_row(struct way_in *way, uint32_t channel_idx, int64_t seq)
{
    struct weir_arena *arena = weir_arena_create(1 << 12);
    struct weir_batch batch = make_batch(arena, 1, 5, seq, 1);
    static const uint16_t FIRST[] = {0};
    struct weir_item item = {.kind = WEIR_ITEM_BATCH, .batch = weir_batch_gather(&batch, FIRST, 1)};
    assert_true(weir_channel_push(way->channels[channel_idx], &item));
    weir_arena_destroy(arena);
}

static void put_time(struct way_in *way, uint32_t channel_idx, int64_t watermark_us, bool is_idle)
{
    struct weir_item item = {.kind = WEIR_ITEM_TIME,
                             .time = {.watermark_us = watermark_us, .is_idle = is_idle}};
    assert_true(weir_channel_push(way->channels[channel_idx], &item));
}

static void put(struct way_in *way, uint32_t channel_idx, enum weir_item_kind kind, int64_t number)
{
    struct weir_item item = {.kind = kind, .barrier = {.number = number}};
    assert_true(weir_channel_push(way->channels[channel_idx], &item));
}

// Polls until there is nothing; barriers come out as "B5", cancelled ones as "C5".
static enum weir_step drain(struct way_in *way, const char *expected)
{
    enum weir_step step;
    struct weir_error error;
    while ((step = way->inlet->ops->poll(way->inlet, &error)) == WEIR_STEP_MORE ||
           step == WEIR_STEP_BARRIER || step == WEIR_STEP_CANCEL) {
        if (step == WEIR_STEP_BARRIER) {
            weir_buffer_printf(&way->taker.out, "B%lld ", (long long)way->inlet->barrier.number);
        } else if (step == WEIR_STEP_CANCEL) {
            weir_buffer_printf(&way->taker.out, "C%lld ", (long long)way->inlet->cancelled_number);
        }
    }
    assert_string_equal(weir_buffer_text(&way->taker.out), expected);
    way->taker.out.size_bytes = 0;
    return step;
}

static void test_inlet_takes_its_channels_in_turn(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open(&way, 3);
    assert_true(way.inlet->is_inlet);
    for (int64_t i = 0; i < 3; i++) {
        put_row(&way, 0, i);
    }
    put_row(&way, 2, 20);
    put_row(&way, 2, 21);
    assert_int_equal(drain(&way, "0 20 1 21 2 "), WEIR_STEP_IDLE);
    assert_int_equal(way.inlet->activity, 5);
    way_in_close(&way);
}

static void test_inlet_shows_nothing_behind_a_barrier_before_it(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open(&way, 2);
    put_row(&way, 0, 1);
    put(&way, 0, WEIR_ITEM_BARRIER, 5);
    put_row(&way, 0, 2);
    put_time(&way, 0, 100, false);
    put_row(&way, 1, 11);
    put_row(&way, 1, 12);
    assert_int_equal(drain(&way, "1 11 12 "), WEIR_STEP_IDLE);
    uint64_t activity = way.inlet->activity;
    put_time(&way, 1, 90, false);
    put(&way, 1, WEIR_ITEM_BARRIER, 5);
    put_row(&way, 1, 13);
    assert_int_equal(drain(&way, "B5 2 13 T90 "), WEIR_STEP_IDLE);
    assert_int_equal(way.inlet->activity, activity + 4); // a barrier alone is no activity
    put(&way, 1, WEIR_ITEM_BARRIER, 6);
    put_row(&way, 1, 14);
    put(&way, 0, WEIR_ITEM_BARRIER, 6);
    put(&way, 0, WEIR_ITEM_BARRIER, 7);
    put(&way, 1, WEIR_ITEM_BARRIER, 7);
    assert_int_equal(drain(&way, "B6 14 B7 "), WEIR_STEP_IDLE);
    way_in_close(&way);
}

static void test_inlet_cancel_frees_its_channels(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open(&way, 2);
    put(&way, 0, WEIR_ITEM_BARRIER, 5);
    put_row(&way, 0, 1);
    put(&way, 0, WEIR_ITEM_CANCEL, 5);
    put_row(&way, 0, 2);
    assert_int_equal(drain(&way, ""), WEIR_STEP_IDLE);
    put(&way, 1, WEIR_ITEM_CANCEL, 5);
    put_row(&way, 1, 11);
    assert_int_equal(drain(&way, "C5 1 11 2 "), WEIR_STEP_IDLE); // said once
    put(&way, 0, WEIR_ITEM_BARRIER, 6);
    put(&way, 1, WEIR_ITEM_BARRIER, 6);
    assert_int_equal(drain(&way, "B6 "), WEIR_STEP_IDLE);
    way_in_close(&way);
}

static void test_inlet_that_tracks_blocks_nothing(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open_mode(&way, 2, true);
    put(&way, 0, WEIR_ITEM_BARRIER, 5);
    put_row(&way, 0, 1);
    put(&way, 0, WEIR_ITEM_BARRIER, 6);
    put_row(&way, 0, 2);
    put_row(&way, 1, 11);
    assert_int_equal(drain(&way, "11 1 2 "), WEIR_STEP_IDLE);
    put(&way, 1, WEIR_ITEM_BARRIER, 5);
    put_row(&way, 1, 12);
    put(&way, 1, WEIR_ITEM_CANCEL, 6);
    put(&way, 1, WEIR_ITEM_BARRIER, 6);
    assert_int_equal(drain(&way, "B5 12 C6 "), WEIR_STEP_IDLE); // 6 comes on both, too late
    way_in_close(&way);
}

static void test_inlet_an_end_counts_as_every_barrier(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open(&way, 2);
    put_time(&way, 0, 100, false);
    put_time(&way, 1, 50, false);
    put(&way, 0, WEIR_ITEM_BARRIER, 5);
    put_row(&way, 0, 1);
    put_row(&way, 1, 11);
    put(&way, 1, WEIR_ITEM_END, 0);
    // The end of the second channel lets the barrier pass, and time goes by the first alone.
    assert_int_equal(drain(&way, "T50 11 T100 B5 1 "), WEIR_STEP_IDLE);
    put(&way, 0, WEIR_ITEM_BARRIER, 6);
    put_time(&way, 0, 120, false);
    assert_int_equal(drain(&way, "B6 T120 "), WEIR_STEP_IDLE);
    put(&way, 0, WEIR_ITEM_END, 0);
    assert_int_equal(drain(&way, "T120i "), WEIR_STEP_DONE);
    way_in_close(&way);
}

static void test_inlet_time_is_the_least_of_channels_not_idle(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open(&way, 3);
    put_time(&way, 0, 100, false);
    assert_int_equal(drain(&way, ""), WEIR_STEP_IDLE); // of the others nothing is known
    put_time(&way, 1, 70, false);
    put_time(&way, 2, INT64_MIN, true);
    assert_int_equal(drain(&way, "T70 "), WEIR_STEP_IDLE);
    put_time(&way, 1, 70, true);
    assert_int_equal(drain(&way, "T100 "), WEIR_STEP_IDLE);
    put_time(&way, 1, 80, false); // back again, with a time that has passed
    assert_int_equal(drain(&way, ""), WEIR_STEP_IDLE);
    put_time(&way, 1, 130, false);
    put_time(&way, 0, 120, false);
    assert_int_equal(drain(&way, "T120 "), WEIR_STEP_IDLE);
    put_time(&way, 0, 120, true);
    put_time(&way, 1, 130, true);
    assert_int_equal(drain(&way, "T130 T130i "), WEIR_STEP_IDLE);
    put_time(&way, 2, 5, false);
    assert_int_equal(drain(&way, "T130 "), WEIR_STEP_IDLE);
    put_time(&way, 0, INT64_MAX, false);
    put_time(&way, 1, INT64_MAX, false);
    put_time(&way, 2, INT64_MAX, false);
    assert_int_equal(drain(&way, "T130e T9223372036854775807e "), WEIR_STEP_IDLE);
    way_in_close(&way);
}

// A channel at its end holds nobody back, but what is said from then on is not the time of all
// rows.
static void test_inlet_says_that_a_part_has_ended(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open(&way, 2);
    put_time(&way, 0, 10, false);
    put_time(&way, 1, 50, false);
    drain(&way, "T10 ");
    put_time(&way, 0, INT64_MAX, false);
    drain(&way, "T50e ");
    put_time(&way, 1, 60, false);
    drain(&way, "T60e ");
    way_in_close(&way);
    // Behind another exchange it is said with a time that has not come to its end.
    way_in_open(&way, 2);
    put_time(&way, 0, 10, false);
    put_time(&way, 1, 50, false);
    drain(&way, "T10 ");
    const struct weir_item item = {.kind = WEIR_ITEM_TIME,
                                   .time = {.watermark_us = 20, .has_ended = true}};
    assert_true(weir_channel_push(way.channels[0], &item));
    drain(&way, "T20e ");
    way_in_close(&way);
}

static void test_inlet_passes_failures_on_and_drops_what_is_left(void **state)
{
    (void)state;
    struct way_in way;
    way_in_open(&way, 2);
    put_row(&way, 0, 666);
    put_row(&way, 1, 1);
    assert_int_equal(drain(&way, "666 "), WEIR_STEP_FAILED);
    way_in_close(&way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlet_sends_each_row_to_its_owner_in_order),
        cmocka_unit_test(test_outlet_without_keys_sends_all_rows_to_one),
        cmocka_unit_test(test_outlet_takes_only_the_rows_selected),
        cmocka_unit_test(test_outlet_sends_each_partial_to_its_owner),
        cmocka_unit_test(test_outlet_holds_back_what_a_full_channel_does_not_take),
        cmocka_unit_test(test_outlet_lets_nothing_overtake_what_waits),
        cmocka_unit_test(test_outlet_of_several_channels_waits_for_one),
        cmocka_unit_test(test_inlet_takes_its_channels_in_turn),
        cmocka_unit_test(test_inlet_shows_nothing_behind_a_barrier_before_it),
        cmocka_unit_test(test_inlet_cancel_frees_its_channels),
        cmocka_unit_test(test_inlet_that_tracks_blocks_nothing),
        cmocka_unit_test(test_inlet_an_end_counts_as_every_barrier),
        cmocka_unit_test(test_inlet_time_is_the_least_of_channels_not_idle),
        cmocka_unit_test(test_inlet_says_that_a_part_has_ended),
        cmocka_unit_test(test_inlet_passes_failures_on_and_drops_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
