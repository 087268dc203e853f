// SPDX-License-Identifier: Apache-2.0
// What the sink decides by itself: partition, timestamp, and which row of a change is written.
#include "kafka/sink.h"

#include "kafka/json_encode.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/kafka/fake_kafka.h"

static void test_murmur2_is_that_of_java(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        int32_t hash; // as Kafka's own tests list it
    } rows[] = {
        {"21", -973932308},
        {"foobar", -790332482},
        {"a-little-bit-long-string", -985981536},
        {"a-little-bit-longer-string", -1486304829},
        {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
        {"abc", 479470107},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(weir_murmur2(weir_view_of(rows[i].key)),
                         (uint32_t)rows[i].hash & 0x7fffffff);
    }
}

static void test_timestamps_that_a_broker_would_refuse_are_clamped(void **state)
{
    (void)state;
    const int64_t wall_ms = 1700000000000;
    static const struct {
        int64_t event_time_us; // since 2000
        int64_t timestamp_ms;
        bool is_clamped;
    } rows[] = {
        {0, WEIR_EPOCH_SHIFT_MS, false},
        {-1, WEIR_EPOCH_SHIFT_MS - 1, false}, // down, also before the epoch
        {INT64_MIN, 1, true},
        {-WEIR_EPOCH_SHIFT_US, 1, true}, // 0 would be taken for "now"
        {-WEIR_EPOCH_SHIFT_US + 1000, 1, false},
        {(1700000000000 - WEIR_EPOCH_SHIFT_MS) * 1000, 1700000000000, false},
        {(1700000000001 - WEIR_EPOCH_SHIFT_MS) * 1000, 1700000000000, true},
        {INT64_MAX, 1700000000000, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_clamped = false;
        assert_int_equal(weir_message_timestamp_ms(rows[i].event_time_us, wall_ms, &is_clamped),
                         rows[i].timestamp_ms);
        assert_int_equal(is_clamped, rows[i].is_clamped);
    }
}

static void test_changes_become_upserts_and_tombstones(void **state)
{
    (void)state;
    struct weir_handles *handles = fake_handles_open();
    struct weir_mailbox *mailbox = weir_mailbox_create();
    static const struct weir_field fields[] = {
        {.name = "k", .type = {.kind = WEIR_TYPE_INTEGER, .modifier = -1}},
        {.name = "v", .type = {.kind = WEIR_TYPE_INTEGER, .modifier = -1}}};
    static const struct weir_schema schema = {.column_count = 2, .columns = fields};
    static const uint32_t key_columns[] = {0};
    struct weir_operator *sink = weir_sink_create(&(struct weir_sink_config){
        .name = "sink",
        .table = "t",
        .writer = weir_writer_create(&(struct weir_writer_config){.handles = handles,
                                                                  .topic = "out",
                                                                  .partition_count = 1,
                                                                  .first_epoch = 1,
                                                                  .mailbox = mailbox,
                                                                  .held_bytes_max = 1 << 20,
                                                                  .client_bytes_max = 100000}),
        .value_encoder = weir_json_encoder_create(&schema),
        .key_encoder = weir_json_encoder_create_for(&schema, 1, key_columns),
        .is_keyed = true,
        .clock = &weir_system_clock});
    // 1 comes; 2 changes from 7 to 8; of 3 only the row taken back is left by a filter; 4 goes.
    int32_t keys[] = {1, 2, 2, 3, 4};
    int32_t values[] = {5, 7, 8, 9, 6};
    uint8_t change[] = {WEIR_CHANGE_INSERT, WEIR_CHANGE_UPDATE_BEFORE, WEIR_CHANGE_UPDATE_AFTER,
                        WEIR_CHANGE_UPDATE_BEFORE, WEIR_CHANGE_DELETE};
    int64_t times[5] = {0};
    struct weir_column columns[] = {{.type = fields[0].type, .i32 = keys},
                                    {.type = fields[1].type, .i32 = values}};
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_batch batch = {.schema = &schema,
                               .row_count = 5,
                               .selected_count = 5,
                               .columns = columns,
                               .event_time_us = times,
                               .change = change,
                               .arena = arena};
    struct weir_error error;
    assert_int_equal(sink->ops->process(sink, &batch, &error), WEIR_OK);
    struct fake_producer *producer = fake_of(handles, 1);
    assert_int_equal(producer->row_count, 4);
    assert_string_equal(producer->rows[0].value, "{\"k\":1,\"v\":5}");
    assert_string_equal(producer->rows[1].value, "{\"k\":2,\"v\":8}");
    assert_true(producer->rows[2].is_value_null);
    assert_true(producer->rows[3].is_value_null);
    assert_int_equal(weir_sink_stats(sink).row_count, 4);
    // What the sink drops is dropped for itself: other nodes get the same batch.
    assert_int_equal(batch.selected_count, 5);
    assert_null(batch.selected);
    fake_handles_close(handles);
    sink->ops->destroy(sink);
    weir_arena_destroy(arena);
    weir_mailbox_destroy(mailbox, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_murmur2_is_that_of_java),
        cmocka_unit_test(test_timestamps_that_a_broker_would_refuse_are_clamped),
        cmocka_unit_test(test_changes_become_upserts_and_tombstones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
