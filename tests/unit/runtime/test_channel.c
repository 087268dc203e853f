// SPDX-License-Identifier: Apache-2.0
// Channels and mailboxes: order, bounds, and that nobody sleeps through a wake (two real threads).
#include "runtime/channel.h"

#include "tests/unit/cmocka_all.h"

#include <pthread.h>

enum { ITEM_COUNT = 200000, CAPACITY = 4 };

struct pair {
    struct weir_mailbox *producer;
    struct weir_mailbox *consumer;
    struct weir_channel *channel;
};

static int dropped_count;

static void drop(struct weir_batch *batch)
{
    (void)batch;
    dropped_count++;
}

static struct pair make_pair(void)
{
    struct pair pair = {.producer = weir_mailbox_create(), .consumer = weir_mailbox_create()};
    pair.channel = weir_channel_create(CAPACITY, pair.producer, pair.consumer, drop);
    return pair;
}

static void free_pair(struct pair *pair)
{
    weir_channel_destroy(pair->channel);
    weir_mailbox_destroy(pair->producer, NULL);
    weir_mailbox_destroy(pair->consumer, NULL);
}

static void test_channel_is_bounded_and_in_order(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct weir_item item = {.kind = WEIR_ITEM_TIME};
    for (int i = 0; i < CAPACITY; i++) {
        item.time.watermark_us = i;
        assert_true(weir_channel_push(pair.channel, &item));
    }
    assert_false(weir_channel_push(pair.channel, &item));
    for (int i = 0; i < CAPACITY; i++) {
        assert_true(weir_channel_pop(pair.channel, &item));
        assert_int_equal(item.time.watermark_us, i);
    }
    assert_false(weir_channel_pop(pair.channel, &item));
    free_pair(&pair);
}

static void test_channel_drops_what_nobody_pops(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct weir_batch batch;
    dropped_count = 0;
    struct weir_item item = {.kind = WEIR_ITEM_BATCH, .batch = &batch};
    assert_true(weir_channel_push(pair.channel, &item));
    item.kind = WEIR_ITEM_END;
    assert_true(weir_channel_push(pair.channel, &item));
    free_pair(&pair);
    assert_int_equal(dropped_count, 1);
}

static void *produce(void *argument)
{
    struct pair *pair = argument;
    for (int64_t i = 0; i < ITEM_COUNT; i++) {
        struct weir_item item = {.kind = WEIR_ITEM_TIME, .time.watermark_us = i};
        while (!weir_channel_push(pair->channel, &item)) {
            weir_mailbox_wait(pair->producer, -1); // for ever, if a wake were missed
        }
    }
    return NULL;
}

static void test_channel_no_wake_is_missed_between_two_threads(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &pair), 0);
    for (int64_t i = 0; i < ITEM_COUNT; i++) {
        struct weir_item item;
        while (!weir_channel_pop(pair.channel, &item)) {
            weir_mailbox_wait(pair.consumer, -1);
        }
        assert_int_equal(item.time.watermark_us, i);
    }
    pthread_join(thread, NULL);
    free_pair(&pair);
}

static void *post(void *argument)
{
    for (int64_t i = 0; i < ITEM_COUNT / 10; i++) {
        weir_mailbox_post(argument, &(struct weir_mail){.kind = WEIR_MAIL_COMMITTED, .number = i});
    }
    return NULL;
}

static void test_mailbox_keeps_order_and_grows(void **state)
{
    (void)state;
    struct weir_mailbox *mailbox = weir_mailbox_create();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, post, mailbox), 0);
    for (int64_t i = 0; i < ITEM_COUNT / 10; i++) {
        struct weir_mail mail;
        while (!weir_mailbox_take(mailbox, &mail)) {
            weir_mailbox_wait(mailbox, -1);
        }
        assert_int_equal(mail.number, i);
    }
    pthread_join(thread, NULL);
    weir_mailbox_destroy(mailbox, NULL);
}

static void test_mailbox_wait_returns_at_its_time_out_and_at_a_wake(void **state)
{
    (void)state;
    struct weir_mailbox *mailbox = weir_mailbox_create();
    weir_mailbox_wait(mailbox, 1);
    weir_mailbox_wake(mailbox);
    weir_mailbox_wait(mailbox, -1);
    struct weir_mail mail;
    assert_false(weir_mailbox_take(mailbox, &mail));
    weir_mailbox_destroy(mailbox, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_channel_is_bounded_and_in_order),
        cmocka_unit_test(test_channel_drops_what_nobody_pops),
        cmocka_unit_test(test_channel_no_wake_is_missed_between_two_threads),
        cmocka_unit_test(test_mailbox_keeps_order_and_grows),
        cmocka_unit_test(test_mailbox_wait_returns_at_its_time_out_and_at_a_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
