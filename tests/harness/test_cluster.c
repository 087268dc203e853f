// SPDX-License-Identifier: Apache-2.0
// The harness's own tests against one real node: topics, producers, groups, readers, and what
// happens to the node itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/group.h"
#include "tests/harness/producer.h"
#include "tests/harness/reader.h"
#include "tests/harness/topic.h"

static struct weir_test_cluster *cluster;
static const char *bootstrap;

static int start_cluster(void **state)
{
    (void)state;
    int64_t start_ms = weir_test_now_ms();
    cluster = weir_test_cluster_start(NULL);
    bootstrap = weir_test_cluster_bootstrap(cluster);
    printf("Kafka %s serves after %d ms\n", weir_test_cluster_version(cluster),
           (int)(weir_test_now_ms() - start_ms));
    return 0;
}

static int stop_cluster(void **state)
{
    (void)state;
    weir_test_cluster_destroy(cluster);
    return 0;
}

static void test_topic_is_created_grown_and_deleted(void **state)
{
    (void)state;
    assert_int_equal(weir_test_topic_partition_count(bootstrap, "life"), 0);
    const char *settings[] = {"cleanup.policy", "compact", "segment.bytes", "2000000", NULL};
    weir_test_topic_create(bootstrap, "life", 2, settings);
    assert_int_equal(weir_test_topic_partition_count(bootstrap, "life"), 2);
    char *policy = weir_test_topic_get(bootstrap, "life", "cleanup.policy");
    assert_string_equal(policy, "compact");
    free(policy);
    weir_test_topic_grow(bootstrap, "life", 5);
    assert_int_equal(weir_test_topic_partition_count(bootstrap, "life"), 5);
    struct weir_test_record record = weir_test_record_of(4, "k", "v");
    weir_test_produce(bootstrap, "life", &record, 1);
    assert_int_equal(weir_test_topic_end_offset(bootstrap, "life", 4), 1);
    weir_test_topic_delete(bootstrap, "life");
    assert_int_equal(weir_test_topic_partition_count(bootstrap, "life"), 0);
    weir_test_topic_create(bootstrap, "life", 5, NULL);
    assert_int_equal(weir_test_topic_end_offset(bootstrap, "life", 4), 0);
}

static void test_settings_change_one_by_one(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "settings", 1, NULL);
    weir_test_topic_set(bootstrap, "settings", "retention.ms", "123456");
    weir_test_topic_set(bootstrap, "settings", "max.message.bytes", "7777");
    char *retention = weir_test_topic_get(bootstrap, "settings", "retention.ms");
    assert_string_equal(retention, "123456"); // the second change did not take the first one back
    free(retention);
    weir_test_topic_set(bootstrap, "settings", "retention.ms", NULL);
    WEIR_TEST_WAIT_UNTIL((retention = weir_test_topic_get(bootstrap, "settings", "retention.ms"),
                          strcmp(retention, "123456") != 0),
                         5000);
    free(retention);
    char *size = weir_test_topic_get(bootstrap, "settings", "max.message.bytes");
    assert_string_equal(size, "7777");
    free(size);
    assert_null(weir_test_topic_get(bootstrap, "settings", "no.such.setting"));

    weir_test_broker_set(bootstrap, 1, "message.max.bytes", "1500000");
    char *value = weir_test_broker_get(bootstrap, 1, "message.max.bytes");
    assert_string_equal(value, "1500000");
    free(value);
    weir_test_broker_set(bootstrap, 1, "message.max.bytes", NULL);
}

static void test_records_come_back_byte_for_byte(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "bytes", 2, NULL);
    const struct weir_test_header headers[] = {
        {.name = "a", .value = "x\0y", .value_bytes = 3},
        {.name = "a", .value = NULL},
        {.name = "b", .value = "", .value_bytes = 0},
    };
    const struct weir_test_record records[] = {
        {.partition = 1,
         .timestamp_ms = 1600000000123,
         .key = "k\0ey",
         .key_bytes = 4,
         .value = "v\0\xff",
         .value_bytes = 3,
         .headers = headers,
         .header_count = 3},
        {.partition = 1, .key = "", .key_bytes = 0, .value = NULL},
        {.partition = 1, .key = NULL, .value = "", .value_bytes = 0},
    };
    weir_test_produce(bootstrap, "bytes", records, 3);
    struct weir_test_log *log = weir_test_read(bootstrap, "bytes", NULL);
    assert_int_equal(log->partition_count, 2);
    assert_int_equal(log->record_count, 3);
    assert_int_equal(log->partitions[0].record_count, 0);
    assert_int_equal(log->partitions[0].end_offset, 0);
    assert_int_equal(log->partitions[1].end_offset, 3);
    const struct weir_test_record *found = log->partitions[1].records;
    assert_int_equal(found[0].offset, 0);
    assert_int_equal(found[0].partition, 1);
    assert_int_equal(found[0].timestamp_ms, 1600000000123);
    assert_int_equal(found[0].key_bytes, 4);
    assert_memory_equal(found[0].key, "k\0ey", 4);
    assert_int_equal(found[0].value_bytes, 3);
    assert_memory_equal(found[0].value, "v\0\xff", 3);
    assert_int_equal(found[0].header_count, 3);
    assert_int_equal(found[0].headers[0].value_bytes, 3);
    assert_memory_equal(found[0].headers[0].value, "x\0y", 3);
    assert_string_equal(found[0].headers[1].name, "a");
    assert_null(found[0].headers[1].value);
    assert_non_null(weir_test_record_header(&found[0], "b")->value);
    assert_int_equal(weir_test_record_header(&found[0], "b")->value_bytes, 0);
    assert_null(weir_test_record_header(&found[0], "c"));
    // Empty is not NULL.
    assert_true(weir_test_key_is(&found[1], ""));
    assert_false(weir_test_key_is(&found[1], NULL));
    assert_true(weir_test_value_is(&found[1], NULL));
    assert_true(weir_test_key_is(&found[2], NULL));
    assert_true(weir_test_value_is(&found[2], ""));
    assert_true(found[1].timestamp_ms > 1600000000123);
    weir_test_log_destroy(log);
}

static void test_many_records_keep_their_order(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    weir_test_topic_create(bootstrap, "many", 3, NULL);
    struct weir_test_record *records = weir_test_alloc(COUNT * sizeof(*records));
    char(*values)[16] = weir_test_alloc(COUNT * sizeof(*values));
    for (int i = 0; i < COUNT; i++) {
        snprintf(values[i], sizeof(values[i]), "%d", i);
        records[i] = weir_test_record_of(i % 3, NULL, values[i]);
    }
    weir_test_produce(bootstrap, "many", records, COUNT);
    struct weir_test_log *log = weir_test_read(bootstrap, "many", NULL);
    assert_int_equal(log->record_count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_true(weir_test_value_is(&log->partitions[i % 3].records[i / 3], values[i]));
    }
    weir_test_log_destroy(log);
    free(records);
    free(values);
}

static void test_key_hash_is_javas(void **state)
{
    (void)state;
    // What Java's default partitioner makes of these keys with 5 partitions.
    weir_test_topic_create(bootstrap, "hash", 5, NULL);
    struct weir_test_record records[] = {weir_test_record_of(-1, "k", "1"),
                                         weir_test_record_of(-1, "k", "2"),
                                         weir_test_record_of(-1, "21", "3")};
    weir_test_produce(bootstrap, "hash", records, 3);
    struct weir_test_log *log = weir_test_read(bootstrap, "hash", NULL);
    int32_t of_21 =
        (int32_t)((uint32_t)-973932308 & 0x7fffffff) % 5; // murmur2("21"), Kafka's own test
    bool is_found = false;
    for (size_t i = 0; i < log->partitions[of_21].record_count; i++) {
        is_found = is_found || weir_test_key_is(&log->partitions[of_21].records[i], "21");
    }
    assert_true(is_found);
    weir_test_log_destroy(log);
}

static void test_reader_honours_isolation(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "isolation", 1, NULL);
    struct weir_test_record kept = weir_test_record_of(0, "k", "kept");
    struct weir_test_record aborted = weir_test_record_of(0, "k", "aborted");
    struct weir_test_record open = weir_test_record_of(0, "k", "open");
    weir_test_produce_transaction(bootstrap, "iso-1", "isolation", &kept, 1, true);
    weir_test_produce_transaction(bootstrap, "iso-1", "isolation", &aborted, 1, false);
    // Two records and two markers; the reader stands behind the last marker.
    struct weir_test_log *log = weir_test_read(bootstrap, "isolation", NULL);
    assert_int_equal(log->record_count, 1);
    assert_true(weir_test_value_is(&log->partitions[0].records[0], "kept"));
    assert_int_equal(log->partitions[0].end_offset, 4);
    assert_int_equal(weir_test_topic_end_offset(bootstrap, "isolation", 0), 4);
    weir_test_log_destroy(log);

    struct weir_test_transaction *transaction =
        weir_test_transaction_begin(bootstrap, "iso-2", 60000);
    weir_test_transaction_add(transaction, "isolation", &open, 1);
    assert_int_equal(weir_test_topic_end_offset(bootstrap, "isolation", 0), 5);
    assert_int_equal(weir_test_topic_stable_offset(bootstrap, "isolation", 0), 4);
    log = weir_test_read(bootstrap, "isolation", NULL);
    assert_int_equal(log->record_count, 1);
    weir_test_log_destroy(log);
    struct weir_test_read_options uncommitted = {.is_uncommitted = true};
    log = weir_test_read(bootstrap, "isolation", &uncommitted);
    assert_int_equal(log->record_count, 3);
    assert_true(weir_test_value_is(&log->partitions[0].records[1], "aborted"));
    assert_true(weir_test_value_is(&log->partitions[0].records[2], "open"));
    weir_test_log_destroy(log);

    // Waiting for a record that stays invisible ends with what there is.
    log = weir_test_read_count(bootstrap, "isolation", 2, 300);
    assert_int_equal(log->record_count, 1);
    weir_test_log_destroy(log);
    weir_test_transaction_end(transaction, true);
    log = weir_test_read_count(bootstrap, "isolation", 2, 30000);
    assert_int_equal(log->record_count, 2);
    weir_test_log_destroy(log);
}

static void test_open_transaction_is_left_and_fenced(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "left", 1, NULL);
    struct weir_test_record record = weir_test_record_of(0, "k", "left");
    struct weir_test_transaction *transaction =
        weir_test_transaction_begin(bootstrap, "left-1", 60000);
    weir_test_transaction_add(transaction, "left", &record, 1);
    weir_test_transaction_leave(transaction);
    assert_int_equal(weir_test_topic_stable_offset(bootstrap, "left", 0), 0);
    // The next owner of the id aborts it.
    transaction = weir_test_transaction_begin(bootstrap, "left-1", 60000);
    WEIR_TEST_WAIT_UNTIL(weir_test_topic_stable_offset(bootstrap, "left", 0) == 2, 10000);
    weir_test_transaction_end(transaction, false);
    struct weir_test_log *log = weir_test_read(bootstrap, "left", NULL);
    assert_int_equal(log->record_count, 0);
    weir_test_log_destroy(log);
}

static void test_open_transaction_times_out(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "late", 1, NULL);
    struct weir_test_record record = weir_test_record_of(0, "k", "late");
    struct weir_test_transaction *transaction =
        weir_test_transaction_begin(bootstrap, "late-1", 1500);
    weir_test_transaction_add(transaction, "late", &record, 1);
    weir_test_transaction_leave(transaction);
    WEIR_TEST_WAIT_UNTIL(weir_test_topic_stable_offset(bootstrap, "late", 0) == 2, 15000);
}

static void test_records_are_deleted_from_the_front(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "front", 1, NULL);
    struct weir_test_record records[] = {weir_test_record_of(0, NULL, "0"),
                                         weir_test_record_of(0, NULL, "1"),
                                         weir_test_record_of(0, NULL, "2")};
    weir_test_produce(bootstrap, "front", records, 3);
    assert_int_equal(weir_test_topic_first_offset(bootstrap, "front", 0), 0);
    weir_test_topic_delete_records(bootstrap, "front", 0, 2);
    assert_int_equal(weir_test_topic_first_offset(bootstrap, "front", 0), 2);
    struct weir_test_log *log = weir_test_read(bootstrap, "front", NULL);
    assert_int_equal(log->record_count, 1);
    assert_int_equal(log->partitions[0].first_offset, 2);
    assert_int_equal(log->partitions[0].records[0].offset, 2);
    assert_true(weir_test_value_is(&log->partitions[0].records[0], "2"));
    weir_test_log_destroy(log);
}

static void test_committed_offsets_carry_metadata(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "pointer", 2, NULL);
    int32_t count;
    struct weir_test_committed *committed =
        weir_test_group_committed(bootstrap, "group-1", "pointer", false, &count);
    assert_int_equal(count, 2);
    assert_int_equal(committed[0].offset, -1);
    assert_string_equal(committed[0].metadata, "");
    weir_test_committed_destroy(committed, count);

    weir_test_group_commit(bootstrap, "group-1", "pointer", 1, 7, "w1:3:x");
    struct weir_test_transaction *transaction =
        weir_test_transaction_begin(bootstrap, "pointer-1", 60000);
    weir_test_transaction_add_offset(transaction, "group-1", "pointer", 1, 9, "w1:4:y");
    // Pending: the answer without waiting is the old one.
    committed = weir_test_group_committed(bootstrap, "group-1", "pointer", true, &count);
    assert_int_equal(committed[0].offset, -1);
    assert_int_equal(committed[1].offset, 7);
    assert_string_equal(committed[1].metadata, "w1:3:x");
    assert_int_equal(committed[1].metadata_bytes, 6);
    weir_test_committed_destroy(committed, count);
    weir_test_transaction_end(transaction, true);
    committed = weir_test_group_committed(bootstrap, "group-1", "pointer", false, &count);
    assert_int_equal(committed[1].offset, 9);
    assert_string_equal(committed[1].metadata, "w1:4:y");
    weir_test_committed_destroy(committed, count);

    transaction = weir_test_transaction_begin(bootstrap, "pointer-1", 60000);
    weir_test_transaction_add_offset(transaction, "group-1", "pointer", 1, 11, "w1:5:z");
    weir_test_transaction_end(transaction, false);
    committed = weir_test_group_committed(bootstrap, "group-1", "pointer", false, &count);
    assert_int_equal(committed[1].offset, 9);
    weir_test_committed_destroy(committed, count);

    weir_test_group_delete(bootstrap, "group-1");
    committed = weir_test_group_committed(bootstrap, "group-1", "pointer", false, &count);
    assert_int_equal(committed[1].offset, -1);
    weir_test_committed_destroy(committed, count);
}

static void test_coordinators_are_found(void **state)
{
    (void)state;
    // Earlier tests have used transactions and groups.
    assert_int_equal(weir_test_cluster_transaction_coordinator(cluster, "iso-1"), 0);
    assert_int_equal(weir_test_cluster_group_coordinator(cluster, "group-1"), 0);
    assert_int_equal(weir_test_cluster_leader(cluster, "pointer", 1), 0);
    assert_int_equal(weir_test_cluster_leader(cluster, "pointer", 2), -1);
}

static void test_node_keeps_its_data_across_kill_and_stop(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "kept", 1, NULL);
    struct weir_test_record record = weir_test_record_of(0, "k", "1");
    weir_test_produce_transaction(bootstrap, "kept-1", "kept", &record, 1, true);
    weir_test_node_kill(cluster, 0);
    assert_false(weir_test_node_is_running(cluster, 0));
    int64_t start_ms = weir_test_now_ms();
    weir_test_node_start(cluster, 0);
    printf("serves again %d ms after a kill\n", (int)(weir_test_now_ms() - start_ms));
    assert_true(weir_test_node_is_running(cluster, 0));
    weir_test_produce_transaction(bootstrap, "kept-1", "kept", &record, 1, true);
    weir_test_node_stop(cluster, 0);
    start_ms = weir_test_now_ms();
    weir_test_node_start(cluster, 0);
    printf("serves again %d ms after a stop\n", (int)(weir_test_now_ms() - start_ms));
    struct weir_test_log *log = weir_test_read(bootstrap, "kept", NULL);
    assert_int_equal(log->record_count, 2);
    weir_test_log_destroy(log);
}

static void test_frozen_node_says_nothing(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "frozen", 1, NULL);
    struct weir_test_record record = weir_test_record_of(0, "k", "1");
    weir_test_produce(bootstrap, "frozen", &record, 1);
    weir_test_node_freeze(cluster, 0);
    // The transaction coordinator's time stands still as well.
    int64_t start_ms = weir_test_now_ms();
    char *script = weir_test_format("%s", bootstrap);
    assert_true(weir_test_port_answers(atoi(strrchr(script, ':') + 1))); // the kernel does
    free(script);
    weir_test_node_continue(cluster, 0);
    struct weir_test_log *log = weir_test_read(bootstrap, "frozen", NULL);
    assert_int_equal(log->record_count, 1);
    weir_test_log_destroy(log);
    assert_true(weir_test_now_ms() >= start_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topic_is_created_grown_and_deleted),
        cmocka_unit_test(test_settings_change_one_by_one),
        cmocka_unit_test(test_records_come_back_byte_for_byte),
        cmocka_unit_test(test_many_records_keep_their_order),
        cmocka_unit_test(test_key_hash_is_javas),
        cmocka_unit_test(test_reader_honours_isolation),
        cmocka_unit_test(test_open_transaction_is_left_and_fenced),
        cmocka_unit_test(test_open_transaction_times_out),
        cmocka_unit_test(test_records_are_deleted_from_the_front),
        cmocka_unit_test(test_committed_offsets_carry_metadata),
        cmocka_unit_test(test_coordinators_are_found),
        cmocka_unit_test(test_node_keeps_its_data_across_kill_and_stop),
        cmocka_unit_test(test_frozen_node_says_nothing),
    };
    return cmocka_run_group_tests(tests, start_cluster, stop_cluster);
}
