// SPDX-License-Identifier: Apache-2.0
// What of librdkafka's statistics becomes a pool of memory. The handles are only names here.
#include "kafka/rdkafka_handle.h"

#include "runtime/base/metrics.h"

#include "tests/unit/cmocka_all.h"

static rd_kafka_t *handle_of(int number)
{
    return (rd_kafka_t *)(uintptr_t)(0x1000 * number);
}

static void note(int number, const char *json)
{
    weir_rdkafka_stats_note(handle_of(number), json, strlen(json));
}

// -1: not shown.
static double pool(const char *name)
{
    double bytes;
    return weir_metrics_read(WEIR_METRIC_MEMORY, WEIR_METRIC_LABELS(name), &bytes) ? bytes : -1;
}

static void test_producers_are_added_up(void **state)
{
    (void)state;
    weir_rdkafka_stats_open(handle_of(1), "send_queue");
    weir_rdkafka_stats_open(handle_of(2), "send_queue");
    assert_true(pool("send_queue") == 0);
    note(1, "{\"type\":\"producer\",\"msg_cnt\":2,\"msg_size\":100,\"topics\":{}}");
    note(2, "{\"type\":\"producer\",\"msg_cnt\":1,\"msg_size\":23}");
    assert_true(pool("send_queue") == 123);
    note(1, "{\"msg_size\":0}");
    assert_true(pool("send_queue") == 23);
    weir_rdkafka_stats_close(handle_of(2));
    assert_true(pool("send_queue") == 0);
    note(2, "{\"msg_size\":7}"); // one that is gone
    note(1, "{\"msg_size\":");   // cut
    assert_true(pool("send_queue") == 0);
    weir_rdkafka_stats_close(handle_of(1));
    assert_true(pool("send_queue") == -1);
    weir_rdkafka_stats_close(handle_of(1));
}

// Each partition tells the size of the queue that all of them have.
static void test_partitions_of_a_consumer_share_a_queue(void **state)
{
    (void)state;
    weir_rdkafka_stats_open(handle_of(3), "fetch_queue");
    note(3, "{\"type\":\"consumer\",\"msg_size\":0,\"topics\":{"
            "\"a\":{\"partitions\":{\"0\":{\"fetchq_size\":0},\"1\":{\"fetchq_size\":4096}}},"
            "\"b\":{\"partitions\":{\"0\":{\"fetchq_size\":4096},\"-1\":{}}}}}");
    assert_true(pool("fetch_queue") == 4096);
    weir_rdkafka_stats_close(handle_of(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_producers_are_added_up),
        cmocka_unit_test(test_partitions_of_a_consumer_share_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
