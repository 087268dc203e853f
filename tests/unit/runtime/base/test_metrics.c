// SPDX-License-Identifier: Apache-2.0
// The registry and its text form. The registry is the process's, so each test looks at families of
// its own.
#include "runtime/base/metrics.h"

#include "tests/unit/cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *render(void)
{
    struct weir_buffer out = {0};
    weir_metrics_render(&out);
    char *text = weir_strdup(weir_buffer_text(&out));
    weir_buffer_deinit(&out);
    return text;
}

static void assert_shows(const char *line)
{
    char *text = render();
    if (strstr(text, line) == NULL) {
        fail_msg("not on the page: %s\n%s", line, text);
    }
    free(text);
}

static void test_every_family_is_there_from_the_start(void **state)
{
    (void)state;
    char *text = render();
    for (int i = 0; i < WEIR_METRIC_COUNT; i++) {
        char line[128];
        snprintf(line, sizeof line, "\n# TYPE %s ", weir_metric_families[i].name);
        assert_non_null(strstr(text, line));
        assert_non_null(weir_metric_families[i].help);
    }
    free(text);
    assert_shows("weir_checkpoint_duration_seconds_bucket{le=\"+Inf\"} 0\n");
}

static void test_cells_of_a_counter_are_summed_and_stay_when_closed(void **state)
{
    (void)state;
    const char *const *labels = WEIR_METRIC_LABELS("a", "b");
    struct weir_metric *first = weir_metric_open(WEIR_METRIC_SINK_RECORDS, labels);
    struct weir_metric *second = weir_metric_open(WEIR_METRIC_SINK_RECORDS, labels);
    assert_shows("weir_sink_records_total{table=\"a\",topic=\"b\"} 0\n");
    weir_metric_add(first, 3);
    weir_metric_add(second, 4);
    weir_metric_close(first);
    assert_shows("weir_sink_records_total{table=\"a\",topic=\"b\"} 7\n");
    weir_metric_close(second);
    struct weir_metric *third = weir_metric_open(WEIR_METRIC_SINK_RECORDS, labels);
    assert_int_equal(weir_metric_count(third), 0);
    weir_metric_add(third, UINT64_C(1) << 60);
    assert_shows("weir_sink_records_total{table=\"a\",topic=\"b\"} 1152921504606846983\n");
    weir_metric_close(third);
    weir_metric_close(NULL);
}

static void test_gauge_is_seen_while_it_is_set_and_open(void **state)
{
    (void)state;
    struct weir_metric *lag =
        weir_metric_open_partition(WEIR_METRIC_SOURCE_LAG, "t", "topic-1", 12);
    double number;
    const char *const *labels = WEIR_METRIC_LABELS("t", "topic-1", "12");
    assert_false(weir_metrics_read(WEIR_METRIC_SOURCE_LAG, labels, &number));
    weir_metric_set(lag, 1234567890123);
    assert_shows("weir_source_lag_records{table=\"t\",topic=\"topic-1\",partition=\"12\"} "
                 "1234567890123\n");
    weir_metric_set(lag, 0.25);
    assert_true(weir_metrics_read(WEIR_METRIC_SOURCE_LAG, labels, &number));
    assert_true(number == 0.25);
    weir_metric_close(lag);
    assert_false(weir_metrics_read(WEIR_METRIC_SOURCE_LAG, labels, &number));
}

static void test_labels_are_escaped(void **state)
{
    (void)state;
    struct weir_metric *late =
        weir_metric_open(WEIR_METRIC_LATE_ROWS, WEIR_METRIC_LABELS("a\"b\\c\nd\xc3\xa9"));
    assert_shows("weir_late_rows_total{operator=\"a\\\"b\\\\c\\nd\xc3\xa9\"} 0\n");
    weir_metric_close(late);
}

static void test_histogram_counts_what_is_at_or_below_each_bound(void **state)
{
    (void)state;
    weir_metric_observe(WEIR_METRIC_CHECKPOINT_DURATION, 0.005);
    weir_metric_observe(WEIR_METRIC_CHECKPOINT_DURATION, 0.3);
    weir_metric_observe(WEIR_METRIC_CHECKPOINT_DURATION, 100);
    assert_shows("weir_checkpoint_duration_seconds_bucket{le=\"0.005\"} 1\n");
    assert_shows("weir_checkpoint_duration_seconds_bucket{le=\"0.25\"} 1\n");
    assert_shows("weir_checkpoint_duration_seconds_bucket{le=\"0.5\"} 2\n");
    assert_shows("weir_checkpoint_duration_seconds_bucket{le=\"60\"} 2\n");
    assert_shows("weir_checkpoint_duration_seconds_bucket{le=\"+Inf\"} 3\n");
    assert_shows("weir_checkpoint_duration_seconds_sum 100.305\n");
    assert_shows("weir_checkpoint_duration_seconds_count 3\n");
}

enum { ADD_COUNT = 20000, THREAD_COUNT = 4 };

static void *add_much(void *argument)
{
    (void)argument;
    struct weir_metric *metric =
        weir_metric_open(WEIR_METRIC_RESTARTS, WEIR_METRIC_LABELS("threads"));
    for (int i = 0; i < ADD_COUNT; i++) {
        weir_metric_add(metric, 1);
    }
    weir_metric_close(metric);
    return NULL;
}

static void test_threads_lose_no_count(void **state)
{
    (void)state;
    pthread_t threads[THREAD_COUNT];
    for (int i = 0; i < THREAD_COUNT; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_much, NULL), 0);
    }
    free(render());
    for (int i = 0; i < THREAD_COUNT; i++) {
        pthread_join(threads[i], NULL);
    }
    double number;
    assert_true(weir_metrics_read(WEIR_METRIC_RESTARTS, WEIR_METRIC_LABELS("threads"), &number));
    assert_int_equal((int)number, ADD_COUNT * THREAD_COUNT);
}

// docs/metrics.md holds the table of families as it is now.
static void test_page_is_not_stale(void **state)
{
    (void)state;
    char path[4096];
    const char *end = strstr(__FILE__, "tests/unit/");
    snprintf(path, sizeof path, "%.*sdocs/metrics.md", (int)(end - __FILE__), __FILE__);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char page[65536];
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    struct weir_buffer table = {0};
    weir_metrics_print_markdown(&table);
    if (strstr(page, weir_buffer_text(&table)) == NULL) {
        fail_msg("docs/metrics.md should hold:\n%s", weir_buffer_text(&table));
    }
    weir_buffer_deinit(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_family_is_there_from_the_start),
        cmocka_unit_test(test_cells_of_a_counter_are_summed_and_stay_when_closed),
        cmocka_unit_test(test_gauge_is_seen_while_it_is_set_and_open),
        cmocka_unit_test(test_labels_are_escaped),
        cmocka_unit_test(test_histogram_counts_what_is_at_or_below_each_bound),
        cmocka_unit_test(test_page_is_not_stale),
        cmocka_unit_test(test_threads_lose_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
