// SPDX-License-Identifier: Apache-2.0
// The kill test with Avro in and out, against a real schema registry that is killed as well: a
// topic whose writers' schema changes, with bad records in it that become dead letters, and a keyed
// one with tombstones. weir is killed at named points and at random while records keep coming; at
// the end every good record is there once and in order, every bad one is a dead letter once, and
// the keyed result is what the changes come to. WEIR_TEST_KILLS sets how many kills (8 by
// default).
#include "tests/integration/cluster_util.h"
#include "tests/integration/registry_util.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PARTITIONS = 3,
    KEYS = 50,
    KILLS_DEFAULT = 8,
    LIFE_MS_MAX = 8000,
    WAIT_MS = 120000,
    SCHEMAS = 3,
    PER_SCHEMA = 400, // records, before their writers take the next one
    FEED_MAX = 200,   // rows and changes at once
};

static const char *const points[] = {"coordinator.triggered",
                                     "task.barrier",
                                     "store.written",
                                     "commit.before_offsets",
                                     "commit.before_end",
                                     "commit.after_end",
                                     "kafka.sent.TxnOffsetCommit",
                                     "kafka.sent.EndTxn",
                                     "kafka.answered.EndTxn",
                                     "claim.after",
                                     "kafka.sent.AddPartitionsToTxn"};
enum { POINTS = sizeof points / sizeof points[0] };

static const char sql[] =
    "CREATE TABLE src (n bigint NOT NULL, name text) WITH (topic = '$-in', format = 'avro',\n"
    "  on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"
    "CREATE TABLE copy (n bigint NOT NULL, name text) WITH (topic = '$-out', format = 'avro');\n"
    "CREATE TABLE changes (id bigint PRIMARY KEY, n bigint) WITH (topic = '$-changes',\n"
    "  format = 'avro', on_error = 'dead_letter', dead_letter_topic = '$-dead');\n"
    "CREATE TABLE latest (id bigint PRIMARY KEY, n bigint) WITH (topic = '$-latest',\n"
    "  format = 'avro');\n"
    "INSERT INTO copy SELECT n, name FROM src;\n"
    "INSERT INTO latest SELECT id, n FROM changes;\n";

#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\"}"
static const char *const schemas[SCHEMAS] = {
    RECORD(FIELD("n", "long") "," FIELD("name", "string")),
    RECORD(FIELD("name", "string") "," FIELD("n", "long")),
    RECORD(FIELD("name", "string") "," FIELD("more", "long") "," FIELD("n", "int")),
};

// Records on their way to one topic.
struct batch {
    size_t count;
    struct weir_test_record records[FEED_MAX];
    struct avro_bytes keys[FEED_MAX];
    struct avro_bytes values[FEED_MAX];
};

struct world {
    struct sql_job *job;
    struct registry_real registry;
    uint32_t ids[SCHEMAS];
    uint32_t key_id;
    uint32_t change_id;
    int64_t fed_count; // numbers that were used up
    size_t good_count; // in "in"
    size_t bad_count;
    int64_t latest[KEYS]; // -1: no such key
    struct batch rows;
    struct batch changes;
};

static void append(struct batch *batch, int32_t partition, const struct avro_bytes *key,
                   const struct avro_bytes *value)
{
    size_t i = batch->count++;
    assert_true(i < FEED_MAX);
    batch->records[i] = (struct weir_test_record){.partition = partition};
    if (key != NULL) {
        batch->keys[i] = *key;
        batch->records[i].key = batch->keys[i].data;
        batch->records[i].key_bytes = key->count;
    }
    if (value != NULL) {
        batch->values[i] = *value;
        batch->records[i].value = batch->values[i].data;
        batch->records[i].value_bytes = value->count;
    }
}

static void produce(struct world *world, const char *topic, struct batch *batch)
{
    weir_test_produce(world->job->bootstrap, sql_job_topic(world->job, topic), batch->records,
                      batch->count);
    batch->count = 0;
}

// One that no schema is named in: number n as text.
static void make_bad(struct avro_bytes *to, int64_t n)
{
    to->count = (size_t)snprintf(to->data, sizeof to->data, "bad %lld", (long long)n);
}

static void feed_row(struct world *world, int64_t n)
{
    struct avro_bytes value;
    int schema = (int)(n / PER_SCHEMA % SCHEMAS);
    if (n % 40 == 7) {
        make_bad(&value, n);
        world->bad_count++;
    } else {
        avro_begin(&value, world->ids[schema]);
        if (schema == 0) {
            avro_put_long(&value, n);
        }
        avro_put_text(&value, "some name");
        if (schema == 2) {
            avro_put_long(&value, -1);
        }
        if (schema != 0) {
            avro_put_long(&value, n);
        }
        world->good_count++;
    }
    append(&world->rows, (int32_t)(n % PARTITIONS), NULL, &value);
}

static void feed_change(struct world *world, int64_t n)
{
    struct avro_bytes key;
    struct avro_bytes value;
    int64_t id = n * 7 % KEYS;
    avro_begin(&key, world->key_id);
    avro_put_long(&key, id);
    if (n % 60 == 11) {
        make_bad(&value, n);
        world->bad_count++;
    } else if (n % 9 == 4) {
        world->latest[id] = -1;
        append(&world->changes, -1, &key, NULL);
        return;
    } else {
        avro_begin(&value, world->change_id);
        avro_put_long(&value, n);
        world->latest[id] = n;
    }
    append(&world->changes, -1, &key, &value);
}

static void feed(struct world *world, int count)
{
    for (int i = 0; i < count; i++, world->fed_count++) {
        feed_row(world, world->fed_count);
        feed_change(world, world->fed_count);
    }
    produce(world, "in", &world->rows);
    produce(world, "changes", &world->changes);
}

// One life that ends at the point, or at random (NULL).
static void live_and_die(struct world *world, const char *point)
{
    const char *failpoint = weir_test_format("WEIR_FAILPOINTS=%s=kill@%d",
                                             point != NULL ? point : "none", 1 + rand() % 6);
    struct weir_test_process *weir =
        sql_job_start(world->job, SQL_JOB_EXTRA(registry_real_setting(&world->registry),
                                                point != NULL ? failpoint : "A=b"));
    int64_t deadline_ms = weir_test_now_ms() + (point != NULL ? LIFE_MS_MAX : 500 + rand() % 1500);
    bool is_killed = false;
    while (!is_killed && weir_test_now_ms() < deadline_ms) {
        feed(world, 20);
        is_killed = weir_test_process_wait_killed(weir, 20);
    }
    sql_job_kill(weir);
}

static void expect_copies(const struct world *world)
{
    struct weir_test_log *log = sql_job_read(world->job, "out");
    assert_int_equal(log->record_count, world->good_count);
    for (int32_t p = 0; p < log->partition_count; p++) {
        int64_t last = -1;
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const unsigned char *at =
                (const unsigned char *)log->partitions[p].records[i].value + 5;
            int64_t n = avro_take_long(&at);
            assert_true(n > last && n < world->fed_count && n % 40 != 7); // so each is there once
            last = n;
        }
    }
    weir_test_log_destroy(log);
}

static void expect_dead_letters(const struct world *world)
{
    struct weir_test_log *log = sql_job_read(world->job, "dead");
    bool *seen = calloc((size_t)world->fed_count * 2, sizeof *seen);
    assert_int_equal(log->record_count, world->bad_count);
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        const struct weir_test_record *record = &log->partitions[0].records[i];
        const struct weir_test_header *topic = weir_test_record_header(record, "weir.topic");
        bool is_change = weir_test_bytes_are(topic->value, topic->value_bytes,
                                             sql_job_topic(world->job, "changes"));
        assert_true(record->value_bytes > 4 && memcmp(record->value, "bad ", 4) == 0);
        int64_t n = strtoll(sql_job_text(record) + 4, NULL, 10);
        assert_true(n >= 0 && n < world->fed_count);
        assert_false(seen[2 * n + is_change]);
        seen[2 * n + is_change] = true;
    }
    free(seen);
    weir_test_log_destroy(log);
}

static bool is_latest(const struct world *world)
{
    int64_t found[KEYS];
    for (int i = 0; i < KEYS; i++) {
        found[i] = -1;
    }
    struct weir_test_log *log = sql_job_read(world->job, "latest");
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            const unsigned char *key = (const unsigned char *)record->key + 5;
            int64_t id = avro_take_long(&key);
            assert_in_range(id, 0, KEYS - 1);
            found[id] = -1;
            if (record->value != NULL) {
                const unsigned char *value = (const unsigned char *)record->value + 5;
                assert_int_equal(avro_take_long(&value), id);
                assert_int_equal(avro_take_long(&value), 1); // not null
                found[id] = avro_take_long(&value);
            }
        }
    }
    weir_test_log_destroy(log);
    return memcmp(found, world->latest, sizeof found) == 0;
}

static void test_kill_avro(void **state)
{
    static struct world world;
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "killavro", sql);
    world.job = job;
    if (!registry_real_create(&world.registry, job)) {
        skip();
    }
    sql_job_topic_create(job, "in", PARTITIONS);
    sql_job_topic_create(job, "out", PARTITIONS);
    sql_job_topic_create(job, "changes", PARTITIONS);
    sql_job_topic_create(job, "latest", PARTITIONS);
    sql_job_topic_create(job, "dead", 1);
    memset(world.latest, -1, sizeof world.latest);
    for (int i = 0; i < SCHEMAS; i++) {
        world.ids[i] = registry_real_register(&world.registry, "killavro-in-value", schemas[i]);
    }
    world.key_id = registry_real_register(&world.registry, "killavro-changes-key",
                                          RECORD(FIELD("id", "long")));
    world.change_id = registry_real_register(&world.registry, "killavro-changes-value",
                                             RECORD(FIELD("n", "long")));
    feed(&world, FEED_MAX);
    int kill_count = number_from("WEIR_TEST_KILLS", KILLS_DEFAULT);
    for (int i = 0; i < kill_count; i++) {
        bool is_registry_away = i % 6 == 2; // at the start of a life, and back in the next
        if (is_registry_away) {
            registry_real_kill(&world.registry);
        }
        live_and_die(&world, i < POINTS || i % 2 == 0 ? points[i % POINTS] : NULL);
        if (is_registry_away) {
            registry_real_start(&world.registry);
        }
    }
    struct weir_test_process *weir =
        sql_job_start(job, SQL_JOB_EXTRA(registry_real_setting(&world.registry)));
    feed(&world, FEED_MAX);
    sql_job_wait_count(job, "out", world.good_count);
    sql_job_wait_count(job, "dead", world.bad_count);
    for (int64_t end_ms = weir_test_now_ms() + WAIT_MS; !is_latest(&world);) {
        if (weir_test_now_ms() > end_ms) {
            WEIR_TEST_FAIL("the keyed result is another one");
        }
    }
    sql_job_stop(weir);
    expect_copies(&world);
    expect_dead_letters(&world);
    assert_true(is_latest(&world));
    print_message(
        "%d kills, %lld rows and changes, %zu dead letters, nothing lost, nothing twice\n",
        kill_count, (long long)world.fed_count, world.bad_count);
    registry_real_destroy(&world.registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill_avro)};
    return cmocka_run_group_tests(tests, cluster_start_seeded, cluster_stop);
}
