// SPDX-License-Identifier: Apache-2.0
// The list of the client's properties, against names that every supported librdkafka has.
#include "kafka/rdkafka_property.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct weir_rdkafka_property *list;
static uint32_t list_count;

static const struct weir_rdkafka_property *find(const char *name)
{
    const struct weir_rdkafka_property *found = NULL;
    for (uint32_t i = 0; i < list_count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            assert_null(found);
            found = &list[i];
        }
    }
    return found;
}

static void test_list_tells_sides(void **state)
{
    (void)state;
    assert_true(list_count > 100);
    const struct weir_rdkafka_property *both = find("security.protocol");
    assert_non_null(both);
    assert_true(both->is_for_consumer && both->is_for_producer);
    assert_null(both->alias_of);
    const struct weir_rdkafka_property *consumer = find("fetch.min.bytes");
    assert_non_null(consumer);
    assert_true(consumer->is_for_consumer && !consumer->is_for_producer);
    const struct weir_rdkafka_property *producer = find("batch.num.messages");
    assert_non_null(producer);
    assert_true(!producer->is_for_consumer && producer->is_for_producer);
}

static void test_list_tells_aliases(void **state)
{
    (void)state;
    assert_string_equal(find("linger.ms")->alias_of, "queue.buffering.max.ms");
    assert_string_equal(find("bootstrap.servers")->alias_of, "metadata.broker.list");
}

static void test_list_holds_properties_of_topics_and_with_underscores(void **state)
{
    (void)state;
    assert_non_null(find("request.required.acks"));
    assert_non_null(find("log_level"));
}

// enable.auto.commit is a property of handles and a deprecated alias among those of topics.
static void test_list_prefers_handles_to_topics(void **state)
{
    (void)state;
    assert_non_null(find("enable.auto.commit"));
    assert_null(find("enable.auto.commit")->alias_of);
}

static void test_list_leaves_out_what_is_no_text(void **state)
{
    (void)state;
    assert_null(find("dr_msg_cb"));
    assert_null(find("opaque"));
    assert_null(find("ssl_key"));
    assert_null(find("default_topic_conf"));
}

// An operator must not get round an owned property by its other name.
static void test_owned_has_every_alias(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < list_count; i++) {
        bool is_name_owned = false;
        bool is_alias_owned = false;
        for (uint32_t k = 0; k < weir_rdkafka_owned_count; k++) {
            is_name_owned |= strcmp(weir_rdkafka_owned[k].name, list[i].name) == 0;
            is_alias_owned |= list[i].alias_of != NULL &&
                              strcmp(weir_rdkafka_owned[k].name, list[i].alias_of) == 0;
        }
        // The one alias by which the brokers may be given.
        bool is_allowed = strcmp(list[i].name, "bootstrap.servers") == 0;
        if (is_alias_owned && !is_name_owned && !is_allowed) {
            fail_msg("%s is missing among the owned ones", list[i].name);
        }
    }
}

static void test_check_asks_the_client(void **state)
{
    (void)state;
    struct weir_error error;
    assert_int_equal(weir_rdkafka_property_check("fetch.min.bytes", "10", &error), WEIR_OK);
    assert_int_equal(weir_rdkafka_property_check("acks", "all", &error), WEIR_OK);
    assert_int_equal(weir_rdkafka_property_check("fetch.min.bytes", "0", &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    assert_non_null(strstr(error.text, "fetch.min.bytes"));
    assert_int_equal(weir_rdkafka_property_check("no.such.property", "0", &error), WEIR_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_tells_sides),
        cmocka_unit_test(test_list_tells_aliases),
        cmocka_unit_test(test_list_holds_properties_of_topics_and_with_underscores),
        cmocka_unit_test(test_list_prefers_handles_to_topics),
        cmocka_unit_test(test_list_leaves_out_what_is_no_text),
        cmocka_unit_test(test_owned_has_every_alias),
        cmocka_unit_test(test_check_asks_the_client),
    };
    struct weir_arena *arena = weir_arena_create(65536);
    list_count = weir_rdkafka_known_properties(arena, &list);
    int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    weir_arena_destroy(arena);
    return failed_count;
}
