// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cmocka_all.h"

#include "app/doubt.h"

#include <stdio.h>

enum { PARTITIONS = 2 };

// What the brokers say when they are asked once more.
static struct weir_committed now[PARTITIONS];
static uint32_t partition_count;
static bool is_silent;

static enum weir_status committed(struct weir_kafka *kafka, enum weir_isolation isolation,
                                  uint32_t count, const struct weir_topic_partition *partitions,
                                  struct weir_committed *found, int32_t timeout_ms,
                                  struct weir_error *error)
{
    (void)kafka;
    (void)isolation;
    (void)partitions;
    (void)timeout_ms;
    assert_int_equal(count, PARTITIONS);
    memcpy(found, now, sizeof now);
    return is_silent ? weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY, "silent")
                     : WEIR_OK;
}

static enum weir_status topic_info(struct weir_kafka *kafka, const char *topic,
                                   struct weir_topic_info *info, int32_t timeout_ms,
                                   struct weir_error *error)
{
    (void)kafka;
    (void)topic;
    (void)timeout_ms;
    *info = (struct weir_topic_info){.exists = true, .partition_count = partition_count};
    return is_silent ? weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY, "silent")
                     : WEIR_OK;
}

static const struct weir_kafka_ops kafka_ops = {.committed = committed, .topic_info = topic_info};

static enum weir_error_action doubt(enum weir_error_action action, bool has_read)
{
    static const struct weir_committed read[PARTITIONS] = {
        {.has_offset = true, .offset = 5, .metadata = "w1:3"}, {.has_offset = false}};
    static const struct weir_topic_partition partitions[PARTITIONS] = {{"t", 0}, {"t", 1}};
    struct weir_kafka kafka = {.ops = &kafka_ops};
    struct weir_topic topic = {.name = "t", .partition_count = PARTITIONS};
    struct weir_topics topics = {.count = 1, .topics = &topic};
    struct weir_error error;
    weir_error_set(&error, WEIR_DOMAIN_STORE, action, "as it was");
    enum weir_status status =
        weir_doubt_refusal(&(struct weir_doubt){.kafka = &kafka,
                                                .topics = &topics,
                                                .partition_count = PARTITIONS,
                                                .partitions = partitions,
                                                .committed = has_read ? read : NULL},
                           &error);
    assert_int_equal(status, WEIR_ERROR);
    assert_int_equal(strcmp(error.text, "as it was") == 0, error.action == action);
    return error.action;
}

static int begin(void **state)
{
    (void)state;
    now[0] = (struct weir_committed){.has_offset = true, .offset = 5, .metadata = "w1:3"};
    now[1] = (struct weir_committed){.has_offset = false};
    partition_count = PARTITIONS;
    is_silent = false;
    return 0;
}

static void test_doubt_leaves_a_refusal_that_still_holds(void **state)
{
    (void)state;
    assert_int_equal(doubt(WEIR_ACTION_REFUSE, true), WEIR_ACTION_REFUSE);
}

// Another owner may have committed meanwhile, and nobody could say so.
static void test_doubt_stays_when_nobody_answers(void **state)
{
    (void)state;
    is_silent = true;
    assert_int_equal(doubt(WEIR_ACTION_REFUSE, true), WEIR_ACTION_RECOVER);
}

static void test_doubt_begins_anew_when_the_pointer_has_moved(void **state)
{
    (void)state;
    now[1] = (struct weir_committed){.has_offset = true, .offset = 1, .metadata = "w1:4"};
    assert_int_equal(doubt(WEIR_ACTION_REFUSE, true), WEIR_ACTION_RECOVER);
    assert_int_equal(doubt(WEIR_ACTION_REFUSE, false), WEIR_ACTION_REFUSE);
    assert_int_equal(doubt(WEIR_ACTION_FENCED, true), WEIR_ACTION_FENCED);
    begin(NULL);
    now[0].metadata[3] = '4';
    assert_int_equal(doubt(WEIR_ACTION_REFUSE, true), WEIR_ACTION_RECOVER);
}

static void test_doubt_begins_anew_when_there_are_more_partitions(void **state)
{
    (void)state;
    partition_count = PARTITIONS + 1;
    assert_int_equal(doubt(WEIR_ACTION_REFUSE, true), WEIR_ACTION_RECOVER);
    partition_count = PARTITIONS - 1;
    assert_int_equal(doubt(WEIR_ACTION_REFUSE, true), WEIR_ACTION_REFUSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_doubt_leaves_a_refusal_that_still_holds, begin),
        cmocka_unit_test_setup(test_doubt_stays_when_nobody_answers, begin),
        cmocka_unit_test_setup(test_doubt_begins_anew_when_the_pointer_has_moved, begin),
        cmocka_unit_test_setup(test_doubt_begins_anew_when_there_are_more_partitions, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
