// SPDX-License-Identifier: Apache-2.0
// Groups of a job that has changed: an aggregate takes rows, its entries are converted, another one
// with other columns goes on with them. What it kept is as if it had always been so; what is new
// starts from now.
#include "operators/aggregate_convert.h"

#include "aggregates.h"

#include "operators/aggregate_internal.h"

enum { SLOTS_MAX = 16 };

static struct memory_state *state_named(const struct aggregates *all, const char *name)
{
    struct memory_state_store *store = (struct memory_state_store *)all->store;
    for (uint32_t i = 0; i < store->state_count; i++) {
        if (strcmp(store->states[i]->name, name) == 0) {
            return store->states[i];
        }
    }
    return NULL;
}

static const char *form_of(const struct aggregates *all, uint32_t idx)
{
    int32_t column = all->config.aggregates[idx].arg_column;
    return weir_aggregate_form(&all->config.aggregates[idx],
                               column >= 0 ? &all->schema->columns[column].type : NULL);
}

static void convert_groups(const struct aggregates *all,
                           const struct weir_aggregate_conversion *conversion)
{
    struct memory_state *groups = state_named(all, "groups");
    for (uint32_t i = 0; i < groups->entry_count; i++) {
        struct memory_entry *entry = &groups->entries[i];
        struct weir_buffer out = {0};
        struct weir_view value = {.data = entry->value, .size_bytes = entry->value_bytes};
        if (!entry->is_present) {
            continue;
        }
        for (size_t size = 0; size < value.size_bytes; size++) { // what is cut is no group
            struct weir_view cut = {.data = value.data, .size_bytes = size};
            assert_false(weir_aggregate_convert(conversion, cut, &out));
        }
        assert_int_equal(out.size_bytes, 0);
        assert_true(weir_aggregate_convert(conversion, value, &out));
        free(entry->value);
        entry->value = memory_copy(out.data, out.size_bytes, out.size_bytes);
        entry->value_bytes = (uint32_t)out.size_bytes;
        weir_buffer_deinit(&out);
    }
}

// Ends `before` and goes on with its state as an operator of other aggregates. from: for each of
// them its place before; -1: nowhere; -2: the count of rows. Its number is its place before, or one
// that nobody had.
static struct aggregates *go_on(struct aggregates *before, const char *columns, const char *keys,
                                const char *texts, const char *window_end, const int *from)
{
    struct aggregates *after = aggregates_begin(columns, keys, texts, window_end);
    const char *from_forms[SLOTS_MAX];
    struct weir_slot_source to[SLOTS_MAX];
    uint32_t *numbers = weir_arena_alloc(after->arena, SLOTS_MAX * sizeof *numbers);
    for (uint32_t i = 0; i < before->config.aggregate_count; i++) {
        from_forms[i] = form_of(before, i);
    }
    for (uint32_t i = 0; i < after->config.aggregate_count; i++) {
        to[i] = (struct weir_slot_source){.origin = from[i] >= 0    ? WEIR_SLOT_KEPT
                                                    : from[i] == -1 ? WEIR_SLOT_EMPTY
                                                                    : WEIR_SLOT_ROWS,
                                          .from = from[i] >= 0 ? (uint32_t)from[i] : 0,
                                          .form = form_of(after, i)};
        numbers[i] = from[i] >= 0 ? (uint32_t)from[i] : 100 + i;
    }
    convert_groups(before, weir_aggregate_conversion_create(
                               after->arena, window_end != NULL, before->config.aggregate_count,
                               from_forms, after->config.aggregate_count, to));
    after->op->ops->destroy(after->op);
    after->op = NULL;
    after->store->ops->destroy(after->store);
    after->store = after->config.store = before->store;
    after->config.is_input_changing = before->config.is_input_changing;
    after->config.slot_numbers = numbers;
    aggregates_restart(after);
    before->op->ops->destroy(before->op);
    changes_deinit(&before->changes);
    weir_arena_destroy(before->arena);
    free(before);
    return after;
}

#define COLUMNS "g:text v:integer n:numeric t:text f:boolean"

static void test_convert_one_more_starts_empty_for_groups_that_are_there(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin(COLUMNS, "g", "sum(v)", NULL);
    all->config.is_input_changing = false;
    aggregates_restart(all);
    AGGREGATES_CHECK(all, "+(a, 3) +(b, 5)", "+ a|1|1|x|t", "+ a|2|1|x|t", "+ b|5|1|x|t");
    static const int from[] = {-1, 0, -1, -1};
    all = go_on(all, COLUMNS, "g", "count(*); sum(v); max(t); count(distinct v)", NULL, from);
    // Of a group that was sent, what it was with the new columns: they say that nothing came.
    AGGREGATES_CHECK(all, "+(c, 1, 7, z, 1) <(a, 0, 3, NULL, 0) >(a, 1, 13, y, 1)", "+ a|10|1|y|t",
                     "+ c|7|1|z|t");
    AGGREGATES_CHECK(all,
                     "<(a, 1, 13, y, 1) >(a, 3, 15, y, 2) <(b, 0, 5, NULL, 0) "
                     ">(b, 1, 5, x, 1)",
                     "+ a|1|1|x|t", "+ a|1|1|x|t", "+ b|0|1|x|t");
    aggregates_end(all);
}

// All kinds that have tails, single values, a group spelt as it was first seen; in another order,
// with one less in the middle.
static void test_convert_keeps_tails_single_values_and_spelling(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin(
        "g:numeric v:integer n:numeric t:text f:boolean", "g",
        "sum(n); max(t); count(distinct v); min(n); avg(v); count(*) filter f", NULL);
    AGGREGATES_CHECK(all,
                     "+(2.50, 123456789012345678901234567890.5, zz, 2, 0.5, 1.5000000000000000, 1)",
                     "+ 2.50|1|123456789012345678901234567890|a long text|t", "+ 2.5|2|0.5|zz|f");
    static const int from[] = {5, 2, 3, 0, -1, 1};
    all =
        go_on(all, "g:numeric v:integer n:numeric t:text f:boolean", "g",
              "count(*) filter f; count(distinct v); min(n); sum(n); count(t); max(t)", NULL, from);
    AGGREGATES_CHECK(all,
                     "<(2.50, 1, 2, 0.5, 123456789012345678901234567890.5, 0, zz) "
                     ">(2.50, 1, 2, 0.5, 123456789012345678901234567891.0, 1, zz)",
                     "+ 2.5|2|0.5|b|f");
    // What was counted before is taken back: single values are those that were kept.
    AGGREGATES_CHECK(all,
                     "<(2.50, 1, 2, 0.5, 123456789012345678901234567891.0, 1, zz) "
                     ">(2.50, 1, 2, 0.5, 123456789012345678901234567890.5, 0, b)",
                     "- 2.5|2|0.5|zz|f");
    aggregates_end(all);
}

static void test_convert_counts_the_rows_of_groups_whose_rows_are_taken_back(void **state)
{
    (void)state;
    struct aggregates *all = aggregates_begin(COLUMNS, "g", "sum(v)", NULL);
    AGGREGATES_CHECK(all, "+(a, 6)", "+ a|1|1|x|t", "+ a|2|1|x|t", "+ a|3|1|x|t");
    static const int from[] = {-2, 0};
    all = go_on(all, COLUMNS, "g", "count(*); sum(v)", NULL, from);
    AGGREGATES_CHECK(all, "<(a, 3, 6) >(a, 2, 5)", "- a|1|1|x|t");
    AGGREGATES_CHECK(all, "-(a, 2, 5)", "- a|2|1|x|t", "- a|3|1|x|t");
    aggregates_end(all);
}

static void test_convert_windows(void **state)
{
    (void)state;
    static const char WINDOWS[] = "k:text v:integer window_start:timestamptz "
                                  "window_end:timestamptz";
    struct aggregates *all =
        aggregates_begin(WINDOWS, "k window_end", "max(v); sum(v)", "window_end");
    AGGREGATES_CHECK(all, "", "@1 a|4|1970-01-01 00:00:00+00|1970-01-01 00:01:00+00",
                     "@1 a|2|1970-01-01 00:00:00+00|1970-01-01 00:01:00+00");
    static const int from[] = {1, -1};
    all = go_on(all, WINDOWS, "k window_end", "sum(v); count(*)", "window_end", from);
    AGGREGATES_CHECK(all, "", "@1 a|1|1970-01-01 00:00:00+00|1970-01-01 00:01:00+00",
                     "@1 b|1|1970-01-01 00:00:00+00|1970-01-01 00:01:00+00");
    struct weir_error error;
    struct weir_time time = {.watermark_us = (INT64_C(60) - 946684800) * 1000000};
    assert_int_equal(all->op->ops->time_passed(all->op, &time, &error), WEIR_OK);
    const char *said = weir_buffer_text(&all->changes.out);
    assert_non_null(strstr(said, "(a, 1970-01-01 00:01:00+00, 7, 1)"));
    assert_non_null(strstr(said, "(b, 1970-01-01 00:01:00+00, 1, 1)"));
    aggregates_end(all);
}

static void test_convert_forms_stay(void **state)
{
    (void)state;
    // They stand in manifests: a word that changes its size is another word.
    static const struct {
        const char *form;
        uint32_t bytes;
    } forms[] = {{"count", 8},         {"integer", 16}, {"wide", 32},
                 {"float", 48},        {"numeric", 56}, {"extreme", 24},
                 {"extreme tail", 24}, {"", 0},         {"what is to come", 0}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        assert_int_equal(weir_aggregate_form_bytes(forms[i].form), forms[i].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert_one_more_starts_empty_for_groups_that_are_there),
        cmocka_unit_test(test_convert_keeps_tails_single_values_and_spelling),
        cmocka_unit_test(test_convert_counts_the_rows_of_groups_whose_rows_are_taken_back),
        cmocka_unit_test(test_convert_windows),
        cmocka_unit_test(test_convert_forms_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
