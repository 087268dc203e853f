// SPDX-License-Identifier: Apache-2.0
// Tumbling windows: starts, borders, late rows; then a whole chain of watermark, tumble and
// aggregate, from rows with times to results.
#include "timed.h"

#include "operators/aggregate.h"

static const int64_t SECOND_US = 1000000;
static const int64_t MINUTE_US = INT64_C(60) * 1000000;
static const int64_t DAY_US = INT64_C(86400) * 1000000;

static void check_start(int64_t size_us, const char *origin, const char *time, const char *start)
{
    struct weir_tumble window = {.size_us = size_us, .origin_us = timed_parse_us(origin)};
    int64_t start_us = weir_tumble_start_us(&window, timed_parse_us(time));
    if (start_us != timed_parse_us(start)) {
        fail_msg("%s: %lld us from %s", time, (long long)(start_us - timed_parse_us(start)), start);
    }
}

// C057.
static void test_tumble_start_before_1970(void **state)
{
    (void)state;
    static const char ORIGIN[] = "1970-01-01 00:00:00Z";
    check_start(10 * MINUTE_US, ORIGIN, "1969-12-31 23:35:00Z", "1969-12-31 23:30:00Z");
    check_start(10 * MINUTE_US, ORIGIN, "1969-12-31 23:40:00Z", "1969-12-31 23:40:00Z");
    check_start(10 * MINUTE_US, ORIGIN, "1969-12-31 23:39:59.999999Z", "1969-12-31 23:30:00Z");
    check_start(10 * MINUTE_US, ORIGIN, "1969-12-31 23:59:59.999999Z", "1969-12-31 23:50:00Z");
    check_start(10 * MINUTE_US, ORIGIN, "1970-01-01 00:00:00Z", "1970-01-01 00:00:00Z");
    check_start(DAY_US, ORIGIN, "1969-12-31 18:00:00Z", "1969-12-31 00:00:00Z");
    check_start(7 * MINUTE_US, ORIGIN, "1969-12-31 23:59:00Z", "1969-12-31 23:53:00Z");
    check_start(7 * MINUTE_US, ORIGIN, "2000-01-01 00:00:00Z", "1999-12-31 23:57:00Z");
}

// C060.
static void test_tumble_origin_shifts_the_grid(void **state)
{
    (void)state;
    check_start(DAY_US, "1970-01-01 06:00:00Z", "2024-03-05 02:15:00Z", "2024-03-04 06:00:00Z");
    static const char *const ORIGINS[] = {"1970-01-01 00:12:00Z", "1970-01-01 00:42:00Z",
                                          "1969-12-31 23:42:00Z", "2030-01-01 00:12:00Z"};
    for (size_t i = 0; i < sizeof ORIGINS / sizeof *ORIGINS; i++) {
        check_start(30 * MINUTE_US, ORIGINS[i], "2024-03-05 14:00:00Z", "2024-03-05 13:42:00Z");
        check_start(30 * MINUTE_US, ORIGINS[i], "2024-03-05 14:11:59.999999Z",
                    "2024-03-05 13:42:00Z");
        check_start(30 * MINUTE_US, ORIGINS[i], "2024-03-05 14:12:00Z", "2024-03-05 14:12:00Z");
        check_start(30 * MINUTE_US, ORIGINS[i], "2024-03-05 14:42:00Z", "2024-03-05 14:42:00Z");
    }
}

static void test_tumble_start_is_at_or_before_every_time(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (uint32_t i = 0; i < 100000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t time_us = (int64_t)seed >> 5;
        struct weir_tumble window = {.size_us = 1 + (int64_t)(seed >> 40 & 0xfffff),
                                     .origin_us = (int64_t)(seed >> 3) * (i % 2 == 0 ? 1 : -1) / 8};
        int64_t start_us = weir_tumble_start_us(&window, time_us);
        assert_true(start_us <= time_us && time_us - start_us < window.size_us);
        assert_int_equal(
            (start_us % window.size_us - window.origin_us % window.size_us) % window.size_us, 0);
    }
}

// --- chain --------------------------------------------------------------------------------------

// watermark → tumble → aggregate (k, window_start): count(*), sum(v).
struct chain {
    struct timed_source source;
    struct weir_operator *watermark;
    struct weir_operator *tumble;
    struct weir_operator *aggregate;
    struct weir_operator *behind_watermark[1];
    struct weir_operator *behind_tumble[1];
    struct weir_state_store *store;
    struct changes changes;
};

static void chain_open(struct chain *chain, uint32_t partition_count, int64_t size_us,
                       int64_t delay_ms)
{
    static const uint32_t KEYS[] = {0, 2};
    static const struct weir_aggregate AGGREGATES[] = {
        {WEIR_AGGREGATE_COUNT_ALL, false, -1, -1, {WEIR_TYPE_BIGINT, -1, NULL}, NULL},
        {WEIR_AGGREGATE_SUM, false, 1, -1, {WEIR_TYPE_NUMERIC, -1, NULL}, NULL}};
    static const struct weir_field OUTPUT_FIELDS[] = {
        {"k", {WEIR_TYPE_TEXT, -1, NULL}},
        {"window_start", {WEIR_TYPE_TIMESTAMPTZ, -1, NULL}},
        {"count", {WEIR_TYPE_BIGINT, -1, NULL}},
        {"sum", {WEIR_TYPE_NUMERIC, -1, NULL}}};
    static const struct weir_schema OUTPUT = {4, OUTPUT_FIELDS};
    timed_now_ms = 5;
    chain->watermark = timed_watermark(&chain->source, partition_count, delay_ms, 1000);
    chain->tumble = weir_tumble_create(
        "id", "tumble",
        &(struct weir_tumble_config){.output = &timed_window_schema,
                                     .window = {.size_us = size_us, .origin_us = timed_us(0)},
                                     .delay_us = delay_ms * 1000});
    chain->store = memory_state_store_create();
    chain->aggregate = weir_aggregate_create(
        "id", "aggregate",
        &(struct weir_aggregate_config){.input = &timed_window_schema,
                                        .key_count = 2,
                                        .key_columns = KEYS,
                                        .window_end_column = 3,
                                        .aggregate_count = 2,
                                        .aggregates = AGGREGATES,
                                        .output = &OUTPUT,
                                        .store = chain->store,
                                        .key_groups = {0, WEIR_KEY_GROUP_COUNT}});
    changes_init(&chain->changes);
    chain->behind_watermark[0] = chain->tumble;
    chain->behind_tumble[0] = chain->aggregate;
    timed_connect(chain->watermark, chain->behind_watermark, &chain->changes);
    timed_connect(chain->tumble, chain->behind_tumble, &chain->changes);
    changes_attach(&chain->changes, chain->aggregate);
}

static void chain_close(struct chain *chain)
{
    chain->watermark->ops->destroy(chain->watermark);
    chain->tumble->ops->destroy(chain->tumble);
    chain->aggregate->ops->destroy(chain->aggregate);
    chain->store->ops->destroy(chain->store);
    weir_operator_state_store_destroy(chain->source.operator_states);
    changes_deinit(&chain->changes);
}

// What has come out, without the times.
static void chain_expect(struct chain *chain, const char *expected)
{
    struct weir_buffer rows = {0};
    char *rest = (char *)weir_buffer_text(&chain->changes.out);
    for (char *at = rest; *at != '\0';) {
        char *end = *at == '(' ? strchr(at, ')') + 1 : at + strcspn(at, " ");
        if (*at == '(') {
            weir_buffer_printf(&rows, "%s%.*s", rows.size_bytes != 0 ? " " : "", (int)(end - at),
                               at);
        }
        at = end + (*end == ' ');
    }
    assert_string_equal(weir_buffer_text(&rows), expected);
    weir_buffer_deinit(&rows);
    chain->changes.out.size_bytes = 0;
}

// C046, each row a batch of its own or all in one.
static void check_late_rows_stay_out(bool is_one_batch)
{
    static const struct timed_row ROWS[] = {
        {0, 90000, "u", 7}, {0, 240000, "u", 1}, {0, 70000, "u", 500}, {0, 320000, "u", 1}};
    for (int64_t delay_ms = 0; delay_ms <= 200000; delay_ms += 200000) {
        struct chain chain;
        chain_open(&chain, 1, MINUTE_US, delay_ms);
        for (uint32_t i = 0; i < 4 && !is_one_batch; i++) {
            timed_feed(chain.watermark, 1, &ROWS[i], i, -1);
        }
        if (is_one_batch) {
            timed_feed(chain.watermark, 4, ROWS, 0, -1);
        }
        if (delay_ms == 0) {
            chain_expect(&chain, is_one_batch ? "(u, 1970-01-01 00:04:00+00, 1, 1) "
                                                "(u, 1970-01-01 00:01:00+00, 1, 7)"
                                              : "(u, 1970-01-01 00:01:00+00, 1, 7) "
                                                "(u, 1970-01-01 00:04:00+00, 1, 1)");
            changes_expect_reported(&chain.changes,
                                    "late: its window was closed 120000 ms before; a larger "
                                    "watermark_delay would have waited at 2");
        } else {
            chain_expect(&chain, "(u, 1970-01-01 00:01:00+00, 2, 507)");
            changes_expect_reported(&chain.changes, "");
        }
        chain_close(&chain);
    }
}

static void test_tumble_late_rows_are_in_no_window(void **state)
{
    (void)state;
    check_late_rows_stay_out(false);
    check_late_rows_stay_out(true);
}

// C051: time is that of the rows, whenever they are read.
static void test_tumble_old_rows_have_old_windows(void **state)
{
    (void)state;
    struct chain chain;
    chain_open(&chain, 1, MINUTE_US, 0);
    TIMED_FEED(chain.watermark, 0, {0, 1650000000000, "a", 1}, {0, 1650000030000, "a", 1},
               {0, 1650000090000, "a", 1});
    changes_pass_time(chain.watermark, INT64_MAX);
    assert_int_equal(chain.changes.row_count, 2);
    assert_non_null(strstr(weir_buffer_text(&chain.changes.out), "(a, 2022-04-15 05:20:00+00, 2"));
    assert_non_null(strstr(weir_buffer_text(&chain.changes.out), "(a, 2022-04-15 05:21:00+00, 1"));
    chain_close(&chain);
}

#define CLOCK(hour, minute, second) (((hour)*60 + (minute)) * 60 + (second)) * INT64_C(1000)

// C054.
static void test_tumble_a_row_whose_window_ends_at_the_watermark_is_late(void **state)
{
    (void)state;
    struct chain chain;
    chain_open(&chain, 1, MINUTE_US, CLOCK(0, 5, 0));
    TIMED_FEED(chain.watermark, 0, {0, CLOCK(9, 10, 0), "a", 1}, {0, CLOCK(9, 10, 0), "a", 1},
               {0, CLOCK(9, 10, 0), "a", 1}, {0, CLOCK(9, 15, 0), "b", 1},
               {0, CLOCK(9, 10, 0), "a", 1}, {0, CLOCK(9, 9, 59), "a", 1},
               {0, CLOCK(9, 15, 1), "b", 1});
    chain_expect(&chain, "");
    changes_expect_reported(&chain.changes, "late: its window was closed 0 ms before; a larger "
                                            "watermark_delay would have waited at 5");
    TIMED_FEED(chain.watermark, 7, {0, CLOCK(9, 16, 0), "b", 1});
    chain_expect(&chain, "(a, 1970-01-01 09:10:00+00, 4, 4)");
    chain_close(&chain);
}

// C059.
static void test_tumble_windows_hold_their_start_and_not_their_end(void **state)
{
    (void)state;
    struct chain chain;
    chain_open(&chain, 1, 2 * SECOND_US, 0);
    const struct timed_row rows[] = {{0, 500, "a", 1},
                                     {0, 1999, "a", 1},
                                     {0, 2000, "a", 1},
                                     {0, 9000, "a", 1},
                                     {0, 1200, "a", 1}};
    for (uint32_t i = 0; i < 5; i++) {
        timed_feed(chain.watermark, 1, &rows[i], i, -1);
    }
    chain_expect(&chain, "(a, 1970-01-01 00:00:00+00, 2, 2) (a, 1970-01-01 00:00:02+00, 1, 1)");
    changes_expect_reported(&chain.changes, "late: its window was closed 7000 ms before; a larger "
                                            "watermark_delay would have waited at 4");
    chain_close(&chain);
}

// C068.
static void test_tumble_a_window_comes_out_when_its_end_is_reached(void **state)
{
    (void)state;
    struct chain chain;
    chain_open(&chain, 1, 20 * MINUTE_US, 0);
    for (int64_t second = 0; second < 1200; second++) {
        struct timed_row row = {0, CLOCK(15, 0, second), "a", 1};
        timed_feed(chain.watermark, 1, &row, second, -1);
    }
    chain_expect(&chain, "");
    TIMED_FEED(chain.watermark, 1200, {0, CLOCK(15, 20, 0), "a", 1});
    chain_expect(&chain, "(a, 1970-01-01 15:00:00+00, 1200, 1200)");
    changes_pass_time(chain.watermark, INT64_MAX);
    chain_expect(&chain, "(a, 1970-01-01 15:20:00+00, 1, 1)");
    chain_close(&chain);
}

// A partition that was idle can bring rows for a window whose result is out; it is out for good.
static void test_tumble_an_idle_partition_comes_back_too_late(void **state)
{
    (void)state;
    struct chain chain;
    struct weir_error error;
    chain_open(&chain, 2, MINUTE_US, 0);
    TIMED_FEED(chain.watermark, 0, {0, 10000, "a", 1}, {1, 1000, "a", 1});
    chain.source.is_at_end[1] = true;
    timed_now_ms += 1000;
    assert_int_equal(chain.watermark->ops->resume(chain.watermark, &error), WEIR_OK);
    TIMED_FEED(chain.watermark, 2, {0, 60000, "a", 1});
    chain_expect(&chain, "(a, 1970-01-01 00:00:00+00, 2, 2)");
    TIMED_FEED(chain.watermark, 3, {1, 2000, "a", 1}, {1, 61000, "a", 1});
    chain_expect(&chain, "");
    changes_expect_reported(&chain.changes, "late: the result of its window is out at 3");
    changes_pass_time(chain.watermark, INT64_MAX);
    chain_expect(&chain, "(a, 1970-01-01 00:01:00+00, 2, 2)");
    chain_close(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tumble_start_before_1970),
        cmocka_unit_test(test_tumble_origin_shifts_the_grid),
        cmocka_unit_test(test_tumble_start_is_at_or_before_every_time),
        cmocka_unit_test(test_tumble_late_rows_are_in_no_window),
        cmocka_unit_test(test_tumble_old_rows_have_old_windows),
        cmocka_unit_test(test_tumble_a_row_whose_window_ends_at_the_watermark_is_late),
        cmocka_unit_test(test_tumble_windows_hold_their_start_and_not_their_end),
        cmocka_unit_test(test_tumble_a_window_comes_out_when_its_end_is_reached),
        cmocka_unit_test(test_tumble_an_idle_partition_comes_back_too_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
