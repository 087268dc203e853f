// SPDX-License-Identifier: Apache-2.0
// kafka/client.h behind a proxy that loses, holds and cuts single requests, and with brokers that
// die or freeze: which handles count as used up, what becomes RETRY, RECOVER, FENCED, that every
// call comes back in time, that a queue which ran dry wakes the client, and that a process can be
// made to die at every step of a commit.
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "runtime/base/failpoint.h"
#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/process.h"
#include "tests/harness/producer.h"
#include "tests/harness/reader.h"
#include "tests/harness/topic.h"
#include "tests/integration/client_util.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct weir_test_cluster *cluster;
static struct weir_test_proxy *proxy;
static const char *bootstrap; // through the proxy
static const char *direct;
static struct weir_kafka *kafka;

static const char *const short_socket[] = {"socket.timeout.ms", "1500", NULL};

static int start(void **state)
{
    (void)state;
    const struct weir_test_cluster_options options = {.is_proxied = true};
    cluster = weir_test_cluster_start(&options);
    proxy = weir_test_cluster_proxy(cluster);
    bootstrap = weir_test_cluster_bootstrap(cluster);
    direct = weir_test_cluster_direct_bootstrap(cluster);
    kafka = client_create(bootstrap, "network-group", short_socket);
    weir_test_topic_create(direct, "in", 1, NULL);
    weir_test_topic_create(direct, "out", 1, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    kafka->ops->destroy(kafka);
    weir_test_cluster_destroy(cluster);
    return 0;
}

static struct weir_test_proxy_rule *rule_once(enum weir_test_proxy_action action,
                                              enum weir_test_api api_key, const char *id)
{
    const struct weir_test_proxy_rule_options options = {
        .action = action, .api_key = api_key, .transactional_id = id, .count = 1};
    return weir_test_proxy_add_rule(proxy, &options);
}

static enum weir_status send_offset(struct weir_producer *producer, struct weir_error *error)
{
    const struct weir_offset_commit offset = {"in", 0, 1, "w1:1:a:b"};
    return producer->ops->send_offsets(producer, 1, &offset, 10000, error);
}

static enum weir_status commit(struct weir_producer *producer, struct weir_error *error)
{
    enum weir_status status;
    int64_t deadline_ms = weir_test_now_ms() + 30000;
    do {
        status = producer->ops->commit(producer, 5000, error);
    } while (status != WEIR_OK && error->action == WEIR_ACTION_RETRY &&
             weir_test_now_ms() < deadline_ms);
    return status;
}

// One transaction with a row and an offset; the outcome of its last call.
static enum weir_status transact(struct weir_producer *producer, struct counted_delivery *delivery,
                                 struct weir_error *error)
{
    assert_ok(producer->ops->begin(producer, error), error);
    client_produce(producer, "out", 0, "k", "v", delivery);
    if (send_offset(producer, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    return commit(producer, error);
}

static void test_lost_transactional_requests_use_the_handle_up(void **state)
{
    (void)state;
    static const struct {
        enum weir_test_api api_key;
        enum weir_test_proxy_action action;
        bool is_used_up;
        bool is_doubtful;
    } cases[] = {
        {WEIR_TEST_API_END_TXN, WEIR_TEST_PROXY_PASS, false, false},
        {WEIR_TEST_API_END_TXN, WEIR_TEST_PROXY_DROP, true, false},
        {WEIR_TEST_API_END_TXN, WEIR_TEST_PROXY_CUT_AFTER, true, false},
        {WEIR_TEST_API_END_TXN, WEIR_TEST_PROXY_DROP_ANSWER, true, false},
        {WEIR_TEST_API_TXN_OFFSET_COMMIT, WEIR_TEST_PROXY_CUT_ANSWER, true, true},
        {WEIR_TEST_API_TXN_OFFSET_COMMIT, WEIR_TEST_PROXY_DROP, true, true},
        {WEIR_TEST_API_ADD_OFFSETS_TO_TXN, WEIR_TEST_PROXY_CUT_BEFORE, true, false},
        {WEIR_TEST_API_ADD_PARTITIONS_TO_TXN, WEIR_TEST_PROXY_DROP, true, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char id[32];
        snprintf(id, sizeof(id), "used-up-%zu", i);
        struct weir_producer *producer = client_producer(kafka, id);
        struct counted_delivery delivery;
        counted_delivery_init(&delivery);
        struct weir_error error;
        assert_ok(transact(producer, &delivery, &error), &error);
        assert_false(producer->ops->is_used_up(producer));

        struct weir_test_proxy_rule *rule = rule_once(cases[i].action, cases[i].api_key, id);
        transact(producer, &delivery, &error);
        assert_int_equal(weir_test_proxy_hit_count(rule), 1);
        weir_test_proxy_end_rule(rule);
        if (producer->ops->is_used_up(producer) != cases[i].is_used_up ||
            producer->ops->is_offset_commit_doubtful(producer) != cases[i].is_doubtful) {
            WEIR_TEST_FAIL("case %zu: used up %d, doubtful %d", i,
                           producer->ops->is_used_up(producer),
                           producer->ops->is_offset_commit_doubtful(producer));
        }
        producer->ops->destroy(producer);
    }
}

static void test_commit_without_an_answer_is_asked_again_until_it_comes(void **state)
{
    (void)state;
    struct weir_producer *producer = client_producer(kafka, "held");
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    struct weir_error error;
    assert_ok(producer->ops->begin(producer, &error), &error);
    client_produce(producer, "out", 0, "k", "v", &delivery);
    assert_ok(send_offset(producer, &error), &error);
    struct weir_test_proxy_rule *rule =
        rule_once(WEIR_TEST_PROXY_HOLD_ANSWER, WEIR_TEST_API_END_TXN, "held");
    assert_int_equal(producer->ops->commit(producer, 300, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    // The request is still under way and not lost: the handle is good.
    assert_false(producer->ops->is_used_up(producer));
    weir_test_proxy_end_rule(rule);
    assert_ok(commit(producer, &error), &error);
    assert_false(producer->ops->is_used_up(producer));
    producer->ops->destroy(producer);
}

static void test_init_that_times_out_is_asked_again(void **state)
{
    (void)state;
    struct weir_producer *producer = NULL;
    struct weir_error error;
    assert_ok(kafka->ops->producer_create(kafka, "late-init", &producer, &error), &error);
    const struct weir_test_proxy_rule_options options = {.action = WEIR_TEST_PROXY_HOLD,
                                                         .api_key = WEIR_TEST_API_INIT_PRODUCER_ID,
                                                         .transactional_id = "late-init",
                                                         .count = 1,
                                                         .duration_ms = 800};
    weir_test_proxy_add_rule(proxy, &options);
    assert_int_equal(producer->ops->init_transactions(producer, 200, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_ok(producer->ops->init_transactions(producer, 10000, &error), &error);
    producer->ops->destroy(producer);
}

static void test_every_call_comes_back_while_the_broker_is_frozen(void **state)
{
    (void)state;
    struct weir_producer *producer = client_producer(kafka, "frozen");
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    struct weir_error error;
    assert_ok(producer->ops->begin(producer, &error), &error);
    client_produce(producer, "out", 0, "k", "v", &delivery);
    weir_test_node_freeze(cluster, 0);

    char text[64];
    struct weir_topic_info info;
    const struct weir_topic_partition partition = {"in", 0};
    struct weir_committed committed;
    int64_t offset;
    bool found;
    uint32_t crc;
    // The signal takes a moment to stop all threads of the broker.
    WEIR_TEST_WAIT_UNTIL(kafka->ops->topic_info(kafka, "in", &info, 300, &error) == WEIR_ERROR,
                         5000);
    int64_t start_ms = weir_test_now_ms();
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_int_equal(
        kafka->ops->committed(kafka, WEIR_READ_COMMITTED, 1, &partition, &committed, 300, &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_int_equal(
        kafka->ops->offsets(kafka, WEIR_OFFSET_LATEST, 0, 1, &partition, &offset, 300, &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_int_equal(
        kafka->ops->record_at(kafka, &partition, 0, &found, &offset, &crc, 300, &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_int_equal(
        kafka->ops->topic_config(kafka, "in", "retention.ms", text, sizeof(text), 300, &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_int_equal(producer->ops->commit(producer, 300, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RETRY);
    assert_true(weir_test_now_ms() - start_ms < 10000);

    start_ms = weir_test_now_ms();
    producer->ops->destroy(producer);
    assert_true(weir_test_now_ms() - start_ms < 10000);
    weir_test_node_continue(cluster, 0);
    WEIR_TEST_WAIT_UNTIL(kafka->ops->topic_info(kafka, "in", &info, 1000, &error) == WEIR_OK,
                         30000);
}

static void test_consumer_and_producer_go_on_after_the_broker_was_killed(void **state)
{
    (void)state;
    weir_test_topic_create(direct, "killed", 1, NULL);
    struct weir_producer *producer = client_producer(kafka, "killed");
    struct weir_consumer *consumer = NULL;
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    struct weir_error error;
    assert_ok(kafka->ops->consumer_create(kafka, &consumer, &error), &error);
    const struct weir_partition_start start_at = {"killed", 0, 0};
    assert_ok(consumer->ops->assign(consumer, 1, &start_at, &error), &error);
    uint64_t error_count = weir_rdkafka_error_count();
    assert_ok(producer->ops->begin(producer, &error), &error);
    client_produce(producer, "killed", 0, "k", "first", &delivery);
    WEIR_TEST_WAIT_UNTIL(atomic_load(&delivery.delivered_count) == 1, 10000);
    weir_test_node_kill(cluster, 0);
    client_produce(producer, "killed", 0, "k", "second", &delivery);
    weir_test_node_start(cluster, 0);
    assert_ok(commit(producer, &error), &error);

    uint32_t seen_count = 0;
    int64_t deadline_ms = weir_test_now_ms() + 30000;
    while (seen_count < 2 && weir_test_now_ms() < deadline_ms) {
        struct weir_fetched fetched[8];
        uint32_t count = 0;
        assert_ok(consumer->ops->fetch(consumer, 8, 100, fetched, &count, &error), &error);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_not_equal(fetched[i].kind, WEIR_FETCH_ERROR);
            seen_count += fetched[i].kind == WEIR_FETCH_RECORD;
        }
        consumer->ops->release(consumer);
    }
    assert_int_equal(seen_count, 2);
    assert_true(weir_rdkafka_error_count() > error_count);
    consumer->ops->destroy(consumer);
    producer->ops->destroy(producer);
}

static void see_nothing(const struct weir_fetched *fetched, void *context)
{
    (void)fetched;
    (void)context;
}

// librdkafka before 2.2.0 may sleep for a second behind a full queue, and a request wakes it: not
// only now and then, but whenever the queue is found empty.
static void test_queue_that_ran_dry_wakes_the_client(void **state)
{
    (void)state;
    if (weir_rdkafka_property_exists("fetch.queue.backoff.ms")) {
        skip();
    }
    // So few are queued that every record is reason enough.
    static const char *const few_queued[] = {"queued.min.messages", "100", NULL};
    struct weir_kafka *own = client_create(bootstrap, "dry-group", few_queued);
    struct weir_test_record records[200];
    for (int i = 0; i < 200; i++) {
        records[i] = weir_test_record_of(0, "k", "v");
    }
    weir_test_topic_create(direct, "dry", 1, NULL);
    weir_test_produce(direct, "dry", records, 200);
    bool is_drained = false;
    for (int tries = 0; !is_drained && tries < 10; tries++) {
        struct weir_consumer *consumer = NULL;
        struct weir_error error;
        assert_ok(own->ops->consumer_create(own, &consumer, &error), &error);
        const struct weir_partition_start start_at = {"dry", 0, 0};
        assert_ok(consumer->ops->assign(consumer, 1, &start_at, &error), &error);
        client_read(consumer, 1, see_nothing, NULL); // from here on, wakes are 20 ms apart
        int64_t asked_count = weir_test_proxy_request_count(proxy, WEIR_TEST_API_METADATA);
        int64_t start_ms = weir_test_now_ms(); // a second later little is read, and nobody woken
        is_drained = client_take_all(consumer) != 0 && weir_test_now_ms() - start_ms < 500;
        if (is_drained) {
            WEIR_TEST_WAIT_UNTIL(
                weir_test_proxy_request_count(proxy, WEIR_TEST_API_METADATA) > asked_count, 10000);
        }
        consumer->ops->destroy(consumer);
    }
    assert_true(is_drained);
    own->ops->destroy(own);
}

// --- dying at a step -----------------------------------------------------------------------------

// What this program does when it is started by start_dying: one transaction with the failpoint set.
static int die_at(const char *failpoints)
{
    struct weir_error error;
    if (weir_failpoints_init(failpoints, &error) != WEIR_OK) {
        return 3;
    }
    const char *id = getenv("WEIR_TEST_ID");
    struct weir_kafka *own = client_create(getenv("WEIR_TEST_BROKER"), id, NULL);
    struct weir_producer *producer = client_producer(own, id);
    struct counted_delivery delivery;
    counted_delivery_init(&delivery);
    transact(producer, &delivery, &error);
    return 0;
}

static struct weir_test_process *start_dying(const char *dir, const char *failpoint, const char *id)
{
    char self[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    const char *argv[] = {self, NULL};
    const char *environment[] = {weir_test_format("WEIR_TEST_DIE_AT=%s", failpoint),
                                 weir_test_format("WEIR_TEST_BROKER=%s", direct),
                                 weir_test_format("WEIR_TEST_ID=%s", id), NULL};
    char *log_path = weir_test_format("%s/%s.log", dir, id);
    struct weir_test_process *process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .environment = environment, .log_path = log_path});
    for (int i = 0; environment[i] != NULL; i++) {
        free((char *)environment[i]);
    }
    free(log_path);
    return process;
}

static void test_process_dies_at_each_step_and_the_pointer_tells_which(void **state)
{
    (void)state;
    static const struct {
        const char *failpoint;
        bool is_committed;
    } cases[] = {
        {"kafka.sent.InitProducerId=kill", false},
        {"kafka.answered.InitProducerId=kill", false},
        {"kafka.sent.AddPartitionsToTxn=kill", false},
        {"kafka.answered.AddPartitionsToTxn=kill", false},
        {"kafka.sent.AddOffsetsToTxn=kill", false},
        {"kafka.answered.AddOffsetsToTxn=kill", false},
        {"kafka.sent.TxnOffsetCommit=kill", false},
        {"kafka.answered.TxnOffsetCommit=kill", false},
        {"kafka.sent.EndTxn=kill", true},
        {"kafka.answered.EndTxn=kill", true},
    };
    const char *dir = weir_test_dir_create("dies");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char id[32];
        snprintf(id, sizeof(id), "dies-%zu", i);
        struct weir_test_process *process = start_dying(dir, cases[i].failpoint, id);
        struct weir_test_exit how;
        if (!weir_test_process_wait(process, 60000, &how) || !how.is_signalled ||
            how.code != SIGKILL) {
            WEIR_TEST_FAIL("%s: not killed:\n%s", cases[i].failpoint,
                           weir_test_process_output(process));
        }
        weir_test_process_destroy(process);
        // As recovery does: fence first, then ask.
        struct weir_kafka *own = client_create(direct, id, NULL);
        struct weir_producer *producer = client_producer(own, id);
        const struct weir_topic_partition partition = {"in", 0};
        struct weir_committed committed;
        struct weir_error error;
        ASSERT_ANSWERED(
            own->ops->committed(own, WEIR_READ_COMMITTED, 1, &partition, &committed, 10000, &error),
            error);
        if (committed.has_offset != cases[i].is_committed) {
            WEIR_TEST_FAIL("%s: committed %d", cases[i].failpoint, committed.has_offset);
        }
        producer->ops->destroy(producer);
        own->ops->destroy(own);
    }
}

int main(void)
{
    const char *failpoint = getenv("WEIR_TEST_DIE_AT");
    if (failpoint != NULL) {
        return die_at(failpoint);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_dies_at_each_step_and_the_pointer_tells_which),
        cmocka_unit_test(test_lost_transactional_requests_use_the_handle_up),
        cmocka_unit_test(test_commit_without_an_answer_is_asked_again_until_it_comes),
        cmocka_unit_test(test_init_that_times_out_is_asked_again),
        cmocka_unit_test(test_every_call_comes_back_while_the_broker_is_frozen),
        cmocka_unit_test(test_queue_that_ran_dry_wakes_the_client),
        cmocka_unit_test(test_consumer_and_producer_go_on_after_the_broker_was_killed),
    };
    return cmocka_run_group_tests_name("integration/test_client_network", tests, start, stop);
}
