// SPDX-License-Identifier: Apache-2.0
// Is Kafka as it is simulated? The same scripts are carried out through kafka/client.h on a real
// broker, behind a proxy, and on the simulated one; both take down what they are answered, and the
// two records must be the same, line by line.
#include "tests/sim/check.h"
#include "tests/sim/client.h"
#include "tests/sim/fiber.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"

#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/topic.h"
#include "tests/unit/cmocka_all.h"

#include "runtime/base/memory.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CALL_MS = 10000,
    TRIES_MAX = 6,
    LATE_MS = 1500,
    SHORT_TRANSACTION_MS = 2000,
    STEPS = 10000000
};

// The real cluster or the simulated one.
struct side {
    struct weir_kafka *kafka;
    struct weir_kafka *hasty;      // its transactions time out after SHORT_TRANSACTION_MS
    struct weir_test_proxy *proxy; // NULL: simulated
    struct weir_test_proxy_rule *held;
    struct weir_buffer record;
};

struct row {
    struct weir_delivery base;
    _Atomic int delivered;
    _Atomic int failed; // 1 + action
};

static void note(struct side *side, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct side *side, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    weir_buffer_printf(&side->record, "%s\n", text);
}

static void pause_ms(const struct side *side, int ms)
{
    if (side->proxy != NULL) {
        weir_test_sleep_ms(ms);
    } else {
        sim_sleep_us((int64_t)ms * 1000);
    }
}

// The next request of that kind is kept; its sender gets no answer.
static void hold(struct side *side, enum sim_api sim, enum weir_test_api api, const char *id)
{
    if (side->proxy != NULL) {
        side->held = weir_test_proxy_add_rule(
            side->proxy, &(struct weir_test_proxy_rule_options){.action = WEIR_TEST_PROXY_HOLD,
                                                                .api_key = api,
                                                                .transactional_id = id,
                                                                .count = 1});
    } else {
        sim_network_hold(sim);
    }
}

static void release(struct side *side)
{
    if (side->proxy != NULL) {
        weir_test_proxy_end_rule(side->held);
        weir_test_proxy_wait_answered(side->held, 1, CALL_MS);
    } else {
        sim_network_release();
    }
    pause_ms(side, LATE_MS);
}

static const char *outcome(enum weir_status status, const struct weir_error *error)
{
    return status == WEIR_OK ? "ok" : weir_error_action_name(error->action);
}

// --- calls -------------------------------------------------------------------------------------

static struct weir_producer *init(struct side *side, struct weir_kafka *kafka, const char *id)
{
    struct weir_producer *producer = NULL;
    struct weir_error error;
    enum weir_status status = kafka->ops->producer_create(kafka, id, &producer, &error);
    for (int i = 0; i < TRIES_MAX && status == WEIR_OK; i++) {
        enum weir_status answer = producer->ops->init_transactions(producer, CALL_MS, &error);
        if (answer == WEIR_OK || error.action != WEIR_ACTION_RETRY) {
            note(side, "init %s: %s", id, outcome(answer, &error));
            break;
        }
    }
    return producer;
}

static void begin(struct side *side, struct weir_producer *producer)
{
    struct weir_error error;
    note(side, "begin: %s", outcome(producer->ops->begin(producer, &error), &error));
}

static void on_delivered(struct weir_delivery *base, uint32_t count)
{
    atomic_fetch_add(&((struct row *)base)->delivered, (int)count);
}

static void on_failed(struct weir_delivery *base, const struct weir_error *error)
{
    atomic_store(&((struct row *)base)->failed, 1 + (int)error->action);
}

static void produce(struct side *side, struct weir_producer *producer, const char *topic,
                    const char *value)
{
    struct row *row = weir_alloc_zero(sizeof *row); // a report may come late
    row->base = (struct weir_delivery){.delivered = on_delivered, .failed = on_failed};
    struct weir_error error;
    enum weir_produce_result result = producer->ops->produce(
        producer, &(struct weir_message){.topic = topic, .value = weir_view_of(value)}, &row->base,
        &error);
    for (int i = 0;
         i < 30000 && result == WEIR_PRODUCE_TAKEN && row->delivered == 0 && row->failed == 0;
         i++) {
        pause_ms(side, 1);
    }
    note(side, "row %s: %s", value,
         row->delivered > 0 ? "ok"
         : row->failed > 0  ? weir_error_action_name((enum weir_error_action)(row->failed - 1))
         : result == WEIR_PRODUCE_FAILED ? weir_error_action_name(error.action)
                                         : "no report");
}

static void offsets(struct side *side, struct weir_producer *producer, const char *topic,
                    int64_t offset)
{
    struct weir_error error;
    enum weir_status status = WEIR_ERROR;
    const struct weir_offset_commit at = {.topic = topic, .offset = offset, .metadata = "w1"};
    for (int i = 0; i < TRIES_MAX && status != WEIR_OK; i++) {
        status = producer->ops->send_offsets(producer, 1, &at, CALL_MS, &error);
        if (status != WEIR_OK && error.action != WEIR_ACTION_RETRY) {
            break;
        }
    }
    note(side, "offset %" PRId64 ": %s", offset, outcome(status, &error));
}

static void commit(struct side *side, struct weir_producer *producer)
{
    struct weir_error error;
    enum weir_status status = WEIR_ERROR;
    for (int i = 0; i < TRIES_MAX && status != WEIR_OK; i++) {
        status = producer->ops->commit(producer, CALL_MS, &error);
        if (status != WEIR_OK && error.action != WEIR_ACTION_RETRY) {
            break;
        }
    }
    note(side, "commit: %s", outcome(status, &error));
    pause_ms(side, 500); // the markers
}

static void ends(struct side *side, const char *topic)
{
    struct weir_error error;
    struct weir_topic_partition at = {.topic = topic};
    int64_t high = -1;
    int64_t stable = -1;
    for (int i = 0; i < TRIES_MAX; i++) {
        if (side->kafka->ops->offsets(side->kafka, WEIR_OFFSET_LATEST, 0, 1, &at, &high, CALL_MS,
                                      &error) == WEIR_OK &&
            side->kafka->ops->offsets(side->kafka, WEIR_OFFSET_STABLE, 0, 1, &at, &stable, CALL_MS,
                                      &error) == WEIR_OK) {
            break;
        }
    }
    note(side, "%s ends at %" PRId64 ", stable up to %" PRId64, topic, high, stable);
}

static void pointer(struct side *side, const char *topic, enum weir_isolation isolation)
{
    struct weir_error error;
    struct weir_topic_partition at = {.topic = topic};
    struct weir_committed committed = {0};
    enum weir_status status =
        side->kafka->ops->committed(side->kafka, isolation, 1, &at, &committed, 3000, &error);
    note(side, "%s: %s, offset %" PRId64 " \"%s\"",
         isolation == WEIR_READ_COMMITTED ? "committed" : "looked at", outcome(status, &error),
         status == WEIR_OK && committed.has_offset ? committed.offset : -1, committed.metadata);
}

static void rows(struct side *side, const char *topic)
{
    struct weir_consumer *consumer;
    struct weir_error error;
    struct weir_partition_start at = {.topic = topic};
    struct weir_buffer text = {0};
    bool is_at_end = side->kafka->ops->consumer_create(side->kafka, &consumer, &error) != WEIR_OK ||
                     consumer->ops->assign(consumer, 1, &at, &error) != WEIR_OK;
    for (int i = 0; i < 3000 && !is_at_end; i++) {
        struct weir_fetched fetched[16];
        uint32_t count = 0;
        consumer->ops->fetch(consumer, 16, 0, fetched, &count, &error);
        for (uint32_t j = 0; j < count; j++) {
            is_at_end = is_at_end || fetched[j].kind != WEIR_FETCH_RECORD;
            if (fetched[j].kind == WEIR_FETCH_RECORD) {
                weir_buffer_printf(&text, " %.*s@%" PRId64, WEIR_VIEW_ARGS(fetched[j].record.value),
                                   fetched[j].record.offset);
            }
        }
        consumer->ops->release(consumer);
        pause_ms(side, 10);
    }
    consumer->ops->destroy(consumer);
    note(side, "%s holds%s", topic, weir_buffer_text(&text));
    weir_buffer_deinit(&text);
}

// --- scripts -----------------------------------------------------------------------------------

static void fencing(struct side *side)
{
    struct weir_producer *old = init(side, side->kafka, "fence");
    begin(side, old);
    produce(side, old, "fencing", "a");
    offsets(side, old, "fencing", 1);
    struct weir_producer *new = init(side, side->kafka, "fence");
    ends(side, "fencing");
    commit(side, old);
    begin(side, new);
    produce(side, new, "fencing", "b");
    offsets(side, new, "fencing", 2);
    commit(side, new);
    rows(side, "fencing");
    pointer(side, "fencing", WEIR_READ_COMMITTED);
    old->ops->destroy(old);
    new->ops->destroy(new);
}

static void pending(struct side *side)
{
    struct weir_producer *producer = init(side, side->kafka, "pend");
    begin(side, producer);
    produce(side, producer, "pending", "a");
    offsets(side, producer, "pending", 5);
    ends(side, "pending");
    pointer(side, "pending", WEIR_READ_UNCOMMITTED);
    pointer(side, "pending", WEIR_READ_COMMITTED);
    commit(side, producer);
    ends(side, "pending");
    pointer(side, "pending", WEIR_READ_COMMITTED);
    producer->ops->destroy(producer);
}

static void timing_out(struct side *side)
{
    struct weir_producer *producer = init(side, side->hasty, "slow");
    begin(side, producer);
    produce(side, producer, "timing", "a");
    pause_ms(side, 3 * SHORT_TRANSACTION_MS);
    offsets(side, producer, "timing", 1);
    ends(side, "timing");
    rows(side, "timing");
    producer->ops->destroy(producer);
}

// The same with the handle made anew in between, as weir does it.
static void late_end(struct side *side, const char *topic, bool is_anew)
{
    struct weir_producer *producer = init(side, side->kafka, topic);
    begin(side, producer);
    produce(side, producer, topic, "a");
    hold(side, SIM_END_TXN, WEIR_TEST_API_END_TXN, topic);
    commit(side, producer);
    note(side, "used up: %d", producer->ops->is_used_up(producer));
    if (is_anew) {
        producer->ops->destroy(producer);
        producer = init(side, side->kafka, topic);
    }
    begin(side, producer);
    produce(side, producer, topic, "b");
    release(side);
    rows(side, topic);
    produce(side, producer, topic, "c");
    if (is_anew) {
        commit(side, producer);
        rows(side, topic);
    }
    producer->ops->destroy(producer);
}

static void late_offsets(struct side *side, const char *topic, bool is_anew)
{
    struct weir_producer *producer = init(side, side->kafka, topic);
    begin(side, producer);
    hold(side, SIM_TXN_OFFSET_COMMIT, WEIR_TEST_API_TXN_OFFSET_COMMIT, topic);
    offsets(side, producer, topic, 1);
    note(side, "doubtful: %d", producer->ops->is_offset_commit_doubtful(producer));
    commit(side, producer);
    if (is_anew) {
        producer->ops->destroy(producer);
        producer = init(side, side->kafka, topic);
    }
    begin(side, producer);
    offsets(side, producer, topic, 2);
    release(side);
    commit(side, producer);
    pointer(side, topic, WEIR_READ_COMMITTED);
    producer->ops->destroy(producer);
}

static const char *const topics[] = {"fencing",   "pending",      "timing",           "late-end",
                                     "late-anew", "late-offsets", "late-offsets-anew"};
enum { TOPIC_COUNT = sizeof topics / sizeof topics[0] };

static void run_scripts(struct side *side)
{
    fencing(side);
    pending(side);
    timing_out(side);
    late_end(side, "late-end", false);
    late_end(side, "late-anew", true);
    late_offsets(side, "late-offsets", false);
    late_offsets(side, "late-offsets-anew", true);
}

// --- the two sides -----------------------------------------------------------------------------

static struct weir_kafka *connect(const char *bootstrap, int64_t transaction_timeout_ms)
{
    struct weir_property properties[] = {{"bootstrap.servers", bootstrap},
                                         {"socket.timeout.ms", "1500"}};
    struct weir_kafka_config config = {.group_id = "simulated",
                                       .property_count = 2,
                                       .properties = properties,
                                       .transaction_timeout_ms = transaction_timeout_ms,
                                       .consumer_queue_bytes_max = 1 << 20,
                                       .producer_queue_messages_max = 1000,
                                       .producer_queue_bytes_max = 1 << 20};
    struct weir_kafka *kafka;
    struct weir_error error;
    if (weir_rdkafka_create(&config, &kafka, &error) != WEIR_OK) {
        WEIR_TEST_FAIL("%s", error.text);
    }
    return kafka;
}

static void run_real(struct side *side)
{
    struct weir_test_cluster *cluster =
        weir_test_cluster_start(&(struct weir_test_cluster_options){.is_proxied = true});
    for (int i = 0; i < TOPIC_COUNT; i++) {
        weir_test_topic_create(weir_test_cluster_direct_bootstrap(cluster), topics[i], 1, NULL);
    }
    side->proxy = weir_test_cluster_proxy(cluster);
    side->kafka = connect(weir_test_cluster_bootstrap(cluster), 60000);
    side->hasty = connect(weir_test_cluster_bootstrap(cluster), SHORT_TRANSACTION_MS);
    run_scripts(side);
    side->kafka->ops->destroy(side->kafka);
    side->hasty->ops->destroy(side->hasty);
    weir_test_cluster_destroy(cluster);
}

static bool is_over;

static void *run_simulated(void *argument)
{
    struct side *side = argument;
    side->kafka = sim_client_create(60000);
    side->hasty = sim_client_create(SHORT_TRANSACTION_MS);
    run_scripts(side);
    is_over = true;
    return NULL;
}

static void test_kafka_is_as_it_is_simulated(void **state)
{
    (void)state;
    struct side simulated = {0};
    struct side real = {0};
    sim_random_seed(1);
    for (int i = 0; i < TOPIC_COUNT; i++) {
        sim_topic_create(topics[i], 1);
    }
    sim_network_start();
    sim_broker_start();
    sim_fiber_create(NULL, "script", 0, run_simulated, &simulated);
    assert_true(sim_run(&is_over, STEPS));
    if (getenv("WEIR_TEST_SHOW") != NULL) {
        printf("%s", weir_buffer_text(&simulated.record));
    }
    run_real(&real);
    assert_string_equal(weir_buffer_text(&real.record), weir_buffer_text(&simulated.record));
    weir_buffer_deinit(&real.record);
    weir_buffer_deinit(&simulated.record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kafka_is_as_it_is_simulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

void sim_violation(const char *format, ...)
{
    fprintf(stderr, "%s\n", format);
    abort();
}
