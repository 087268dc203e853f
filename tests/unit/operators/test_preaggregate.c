// SPDX-License-Identifier: Apache-2.0
// Rows folded before the exchange: what is sent on, and when; that groups are the same as without.
#include "aggregates.h"

#include "operators/preaggregate.h"
#include "runtime/gather.h"
#include "runtime/types/key.h"

#include <inttypes.h>

// fold → a copy, as an exchange makes it → aggregate.
struct folded {
    struct aggregates *all;
    struct weir_operator copier;
    struct weir_operator *copier_next[1];
    struct weir_operator *fold_next[1];
    struct weir_operator *fold;
    uint32_t partial_count; // that have passed
    uint32_t row_count;     // that have passed as they are
};

static enum weir_status copy(struct weir_operator *op, struct weir_batch *batch,
                             struct weir_error *error)
{
    struct folded *folded = (struct folded *)((char *)op - offsetof(struct folded, copier));
    uint16_t rows[WEIR_BATCH_ROWS_MAX];
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        rows[i] = (uint16_t)weir_batch_row(batch, i);
    }
    if (batch->partials != NULL) {
        folded->partial_count += batch->selected_count;
    } else {
        folded->row_count += batch->selected_count;
    }
    struct weir_batch *copied = weir_batch_gather(batch, rows, batch->selected_count);
    enum weir_status status = weir_operator_push(op, copied, error);
    weir_batch_free(copied);
    return status;
}

static struct folded *folded_begin(const char *columns, const char *keys, const char *texts,
                                   const char *window_end, const char *route)
{
    static const struct weir_operator_ops OPS = {.kind = "copier", .process = copy};
    struct folded *folded = weir_alloc_zero(sizeof *folded);
    folded->all = aggregates_begin(columns, keys, texts, window_end);
    folded->all->config.is_input_changing = false;
    aggregates_restart(folded->all);
    if (route != NULL) {
        aggregates_route(folded->all, route);
    }
    assert_true(weir_preaggregate_is_exact(&folded->all->config));
    folded->fold = weir_preaggregate_create("id", "exchange", &folded->all->config);
    folded->copier.ops = &OPS;
    folded->copier.next = folded->copier_next;
    folded->copier.next_count = 1;
    folded->copier_next[0] = folded->all->op;
    folded->fold->next = folded->fold_next;
    folded->fold->next_count = 1;
    folded->fold_next[0] = &folded->copier;
    return folded;
}

static void folded_end(struct folded *folded)
{
    folded->fold->ops->destroy(folded->fold);
    aggregates_end(folded->all);
    free(folded);
}

static void folded_expect_passed(struct folded *folded, uint32_t partial_count, uint32_t row_count)
{
    assert_int_equal(folded->partial_count, partial_count);
    assert_int_equal(folded->row_count, row_count);
    folded->partial_count = 0;
    folded->row_count = 0;
}

static void folded_barrier(struct folded *folded)
{
    struct weir_barrier barrier = {.number = 1};
    struct weir_error error;
    assert_int_equal(folded->fold->ops->barrier(folded->fold, &barrier, NULL, &error), WEIR_OK);
    changes_pass_barrier(folded->all->op, folded->all->store);
}

#define FEED(folded, ...) CHANGES_FEED((folded)->fold, (folded)->all->schema, __VA_ARGS__)

static void folded_time(struct folded *folded, int64_t watermark_ms, bool is_idle)
{
    struct weir_time time = {.watermark_us = watermark_ms * 1000, .is_idle = is_idle};
    struct weir_error error;
    assert_int_equal(folded->fold->ops->time_passed(folded->fold, &time, &error), WEIR_OK);
}

// --- what goes on, and when ---------------------------------------------------------------------

static void test_fold_holds_rows_to_the_barrier_and_sends_a_partial_a_group(void **state)
{
    (void)state;
    struct folded *folded = folded_begin("g:text v:integer", "g", "count(*); sum(v)", NULL, NULL);
    FEED(folded, "@1 a|1", "@1 b|NULL", "@1 a|2");
    FEED(folded, "@1 a|10");
    folded_expect_passed(folded, 0, 0);
    folded_barrier(folded);
    folded_expect_passed(folded, 2, 0);
    changes_expect(&folded->all->changes, "+(a, 3, 13) +(b, 1, NULL)");
    folded_barrier(folded);
    folded_expect_passed(folded, 0, 0); // nothing is sent twice
    FEED(folded, "@1 a|7");
    folded_barrier(folded);
    folded_expect_passed(folded, 1, 0);
    changes_expect(&folded->all->changes, "<(a, 3, 13) >(a, 4, 20)");
    folded_end(folded);
}

static void test_fold_lets_no_time_pass_rows_without_window(void **state)
{
    (void)state;
    struct folded *folded = folded_begin("g:text", "g", "count(*)", NULL, NULL);
    FEED(folded, "@1 a", "@1 a");
    folded_time(folded, 5, false);
    folded_expect_passed(folded, 1, 0);
    folded_end(folded);
}

static const char WINDOW_COLUMNS[] = "k:text v:integer window_end:timestamptz";
#define TEN "2000-01-01 00:00:10+00"
#define TWENTY "2000-01-01 00:00:20+00"

static void test_fold_holds_windows_until_time_reaches_one(void **state)
{
    (void)state;
    struct folded *folded =
        folded_begin(WINDOW_COLUMNS, "k window_end", "count(*); max(v)", "window_end", "k");
    FEED(folded, "@1000 a|1|" TEN, "@2000 a|5|" TEN, "@11000 a|7|" TWENTY, "@1000 b|2|" TEN);
    folded_time(folded, 9999, false);
    folded_expect_passed(folded, 0, 0);
    changes_expect(&folded->all->changes, "T9999");
    folded_time(folded, 10000, false);
    folded_expect_passed(folded, 3, 0); // all that is held, in front of the time
    changes_expect(&folded->all->changes, "(a, 2000-01-01 00:00:10+00, 2, 5) "
                                          "(b, 2000-01-01 00:00:10+00, 1, 2) T10000");
    folded_time(folded, 20000, false);
    folded_expect_passed(folded, 0, 0);
    changes_expect(&folded->all->changes, "(a, 2000-01-01 00:00:20+00, 1, 7) T20000");
    folded_end(folded);
}

// Time behind the exchange may be past that of a task that is idle, or was.
static void test_fold_holds_nothing_while_idle(void **state)
{
    (void)state;
    struct folded *folded =
        folded_begin(WINDOW_COLUMNS, "k window_end", "count(*)", "window_end", "k");
    FEED(folded, "@1000 a|1|" TEN);
    folded_time(folded, 500, true);
    folded_expect_passed(folded, 1, 0);
    FEED(folded, "@1000 a|1|" TEN, "@1000 a|1|" TEN); // before it says that it is awake
    folded_expect_passed(folded, 1, 0);
    folded_time(folded, 500, false);
    FEED(folded, "@1000 a|1|" TEN);
    folded_expect_passed(folded, 0, 0);
    folded_end(folded);
}

// Of a partition that was idle: the window may close any moment, or has been.
static void test_fold_holds_no_window_that_time_has_reached(void **state)
{
    (void)state;
    struct folded *folded =
        folded_begin(WINDOW_COLUMNS, "k window_end", "count(*)", "window_end", "k");
    folded_time(folded, 10000, false);
    FEED(folded, "@1000 a|1|" TEN, "@1001 a|2|" TEN, "@11000 b|1|" TWENTY);
    folded_expect_passed(folded, 2, 0);
    changes_expect_reported(&folded->all->changes,
                            "late: the result of its window is out "
                            "{\"window_end\":\"2000-01-01T00:00:10+00:00\",\"k\":\"a\"}; "
                            "late: the result of its window is out "
                            "{\"window_end\":\"2000-01-01T00:00:10+00:00\",\"k\":\"a\"}");
    folded_time(folded, 20000, false);
    changes_expect(&folded->all->changes, "T10000 (b, 2000-01-01 00:00:20+00, 1) T20000");
    folded_end(folded);
}

// --- groups are as without ----------------------------------------------------------------------

static uint64_t seed;

static uint32_t below(uint32_t bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % bound);
}

static const char *some_number(char *text, uint32_t range)
{
    snprintf(text, 16, "%" PRId64, (int64_t)below(2 * range) - range);
    return below(5) == 0 ? "NULL" : text;
}

static void random_line(char line[256])
{
    static const char *const FILTERS[] = {"NULL", "t", "f"};
    static const char *const DOUBLES[] = {"NULL", "NaN", "-Infinity", "0.5", "-2", "1e300"};
    char texts[3][16];
    snprintf(line, 256, "@%u %s|%s|%s|%s|%s|2000-01-0%u|%s|%s", below(100000),
             below(6) == 0 ? "NULL" : (const char *[]){"a", "b", "", "abc"}[below(4)],
             (const char *[]){"0", "-1", "2", "NULL"}[below(4)], some_number(texts[0], 30000),
             some_number(texts[1], 2000000000),
             below(7) == 0 ? "9223372036854775807" : some_number(texts[2], 100), 1 + below(9),
             DOUBLES[below(6)], FILTERS[below(3)]);
}

// Keys that are looked for by their bytes, and by their values.
static void check_results(const char *keys)
{
    static const char COLUMNS[] = "g:text h:smallint s:smallint i:integer b:bigint t:timestamptz "
                                  "d:double_precision f:boolean";
    static const char TEXTS[] =
        "count(*); count(i); count(*) filter f; sum(s); sum(i); sum(i) filter f; sum(b); avg(s); "
        "avg(b) filter f; min(s); max(s); min(i); max(i) filter f; min(b); max(b); min(t); max(t); "
        "min(d); max(d); min(distinct i)";
    for (seed = 1; seed < 2000; seed = seed * 31 + 7) {
        uint64_t begun = seed;
        struct folded *folded = folded_begin(COLUMNS, keys, TEXTS, NULL, NULL);
        struct aggregates *plain = aggregates_begin(COLUMNS, keys, TEXTS, NULL);
        plain->config.is_input_changing = false;
        aggregates_restart(plain);
        folded->all->changes.has_event_times = true;
        plain->changes.has_event_times = true;
        for (uint32_t step = 0; step < 40; step++) {
            char lines[20][256];
            const char *list[20];
            uint32_t count = 1 + below(20);
            for (uint32_t i = 0; i < count; i++) {
                random_line(lines[i]);
                list[i] = lines[i];
            }
            changes_feed(folded->fold, folded->all->schema, count, list);
            changes_feed(plain->op, plain->schema, count, list);
            if (below(4) == 0) {
                folded_barrier(folded);
                changes_pass_barrier(plain->op, plain->store);
                changes_expect(&folded->all->changes, weir_buffer_text(&plain->changes.out));
                plain->changes.out.size_bytes = 0;
            }
        }
        assert_int_not_equal(folded->partial_count, 0);
        assert_int_equal(folded->row_count, 0);
        aggregates_end(plain);
        folded_end(folded);
        seed = begun;
    }
}

static void test_fold_changes_no_result(void **state)
{
    (void)state;
    check_results("g h");
    check_results("h");
    check_results("t h");
    check_results("d f");
}

static void test_fold_without_keys_gives_one_partial(void **state)
{
    (void)state;
    struct folded *folded = folded_begin("v:integer", "", "count(*); sum(v)", NULL, NULL);
    FEED(folded, "@1 1", "@1 NULL", "@1 3");
    folded_barrier(folded);
    folded_expect_passed(folded, 1, 0);
    changes_expect(&folded->all->changes, "+(3, 4)");
    folded_end(folded);
}

// The sum that is too large takes nothing of the partial, and each of its rows is told of.
static void test_fold_overflow_is_that_of_each_row(void **state)
{
    (void)state;
    struct folded *folded = folded_begin("g:text v:integer", "g", "count(*); sum(v)", NULL, NULL);
    FEED(folded, "@1 a|1");
    folded_barrier(folded);
    changes_expect(&folded->all->changes, "+(a, 1, 1)");
    struct weir_partial_header header = {.row_count = 2, .event_time_us = 5};
    char value[sizeof header + 24];
    int64_t slots[3] = {2, 2, INT64_MAX}; // count(*), how many values, their sum
    memcpy(value, &header, sizeof header);
    memcpy(value + sizeof header, slots, sizeof slots);
    struct weir_buffer bytes = {0};
    struct weir_view *texts = weir_alloc(sizeof *texts);
    *texts = weir_view_of("a");
    struct weir_column column = {.type = weir_type_plain(WEIR_TYPE_TEXT), .view = texts};
    weir_key_encode(&column, 1, 0, &bytes);
    struct weir_view view = {.data = bytes.data, .size_bytes = bytes.size_bytes};
    struct weir_state_key key = {.key_group = weir_key_group(view), .bytes = view};
    struct weir_partials partials = {.keys = &key, .values = value, .value_bytes = sizeof value};
    struct weir_batch batch = {
        .schema = folded->all->schema, .row_count = 1, .selected_count = 1, .partials = &partials};
    struct weir_error error;
    assert_int_equal(folded->all->op->ops->process(folded->all->op, &batch, &error), WEIR_OK);
    changes_expect_reported(&folded->all->changes, "expression: bigint out of range {\"g\":\"a\"}; "
                                                   "expression: bigint out of range {\"g\":\"a\"}");
    FEED(folded, "@1 a|1");
    folded_barrier(folded);
    changes_expect(&folded->all->changes, "<(a, 1, 1) >(a, 2, 2)");
    free(texts);
    weir_buffer_deinit(&bytes);
    folded_end(folded);
}

// --- where it does not pay, and where it would not be the same ----------------------------------

static void feed_many(struct folded *folded, uint32_t count, uint32_t key_count)
{
    static uint32_t number;
    for (uint32_t done = 0; done < count; done += 1000) {
        struct weir_arena *arena = weir_arena_create(1 << 14);
        struct weir_batch batch = {.schema = folded->all->schema,
                                   .row_count = 1000,
                                   .selected_count = 1000,
                                   .columns = weir_arena_alloc(arena, sizeof *batch.columns),
                                   .event_time_us =
                                       weir_arena_alloc_zero(arena, 1000 * sizeof(int64_t)),
                                   .arena = arena};
        weir_column_init(&batch.columns[0], &folded->all->schema->columns[0].type, 1000, false,
                         arena);
        for (uint32_t i = 0; i < 1000; i++) {
            batch.columns[0].i64[i] = number++ % key_count;
        }
        struct weir_error error;
        assert_int_equal(folded->fold->ops->process(folded->fold, &batch, &error), WEIR_OK);
        weir_arena_destroy(arena);
    }
}

static void test_fold_sends_all_when_it_is_full(void **state)
{
    (void)state;
    struct folded *folded = folded_begin("g:bigint", "g", "count(*)", NULL, NULL);
    feed_many(folded, 4000, 2000);
    folded_expect_passed(folded, 0, 0);
    feed_many(folded, 4000, UINT32_MAX); // 4,096 groups have room
    folded_expect_passed(folded, 4000, 0);
    folded_end(folded);
}

static void test_fold_rests_where_each_row_has_its_own_group(void **state)
{
    (void)state;
    struct folded *folded = folded_begin("g:bigint", "g", "count(*)", NULL, NULL);
    feed_many(folded, 20000, UINT32_MAX);
    assert_in_range(folded->partial_count, 8000, 12000);
    assert_int_equal(folded->partial_count + folded->row_count, 20000);
    feed_many(folded, 600000, 10); // after a while it is tried again
    folded_expect_passed(folded, folded->partial_count, folded->row_count);
    feed_many(folded, 10000, 10);
    folded_barrier(folded);
    folded_expect_passed(folded, 10, 0);
    folded_end(folded);
}

static void expect_exact(const char *columns, const char *keys, const char *texts, bool is_changing,
                         bool is_exact)
{
    struct aggregates *all = aggregates_begin(columns, keys, texts, NULL);
    all->config.is_input_changing = is_changing;
    assert_int_equal(weir_preaggregate_is_exact(&all->config), is_exact);
    aggregates_end(all);
}

static void test_fold_is_only_for_what_stays_the_same(void **state)
{
    (void)state;
    static const char COLUMNS[] = "g:text n:numeric m:numeric(10,2) i:integer d:double_precision "
                                  "j:jsonb";
    expect_exact(COLUMNS, "g m i", "count(*); sum(i); avg(i); min(d); max(i)", false, true);
    expect_exact(COLUMNS, "g", "min(distinct i)", false, true);
    expect_exact(COLUMNS, "g", "count(*)", true, false); // rows may be taken back
    expect_exact(COLUMNS, "g", "count(distinct i)", false, false);
    expect_exact(COLUMNS, "g", "sum(d)", false, false); // its last bits hang on the order
    expect_exact(COLUMNS, "g", "avg(d)", false, false);
    expect_exact(COLUMNS, "g", "count(*); sum(n)", false, false); // of no fixed size
    expect_exact(COLUMNS, "g", "max(g)", false, false);
    expect_exact(COLUMNS, "n", "count(*)", false, false); // the first spelling is to be kept
    expect_exact(COLUMNS, "j", "count(*)", false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold_holds_rows_to_the_barrier_and_sends_a_partial_a_group),
        cmocka_unit_test(test_fold_lets_no_time_pass_rows_without_window),
        cmocka_unit_test(test_fold_holds_windows_until_time_reaches_one),
        cmocka_unit_test(test_fold_holds_nothing_while_idle),
        cmocka_unit_test(test_fold_holds_no_window_that_time_has_reached),
        cmocka_unit_test(test_fold_changes_no_result),
        cmocka_unit_test(test_fold_without_keys_gives_one_partial),
        cmocka_unit_test(test_fold_overflow_is_that_of_each_row),
        cmocka_unit_test(test_fold_sends_all_when_it_is_full),
        cmocka_unit_test(test_fold_rests_where_each_row_has_its_own_group),
        cmocka_unit_test(test_fold_is_only_for_what_stays_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
