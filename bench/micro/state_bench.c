// SPDX-License-Identifier: Apache-2.0
// What keyed state costs: reads and updates of keys that are in memory, one by one and as batches
// with prefetch; the freeze at a barrier and what follows it (log, acknowledgement, RocksDB);
// working sets larger than the cache; restores. Keys of 16 bytes, values of 64, as in the
// measurements of RocksDB alone that the design rests on.
//
//   state_bench [PART…]    hot, barrier, restore, cold, skewed (default: all), in a folder below
//   /tmp
//
// cold is a curve: updates at random of the same keys with caches from ample down to a tenth of
// what the keys take while all of them are in memory, which is measured first. How many keys it is
// (2,000,000) may be said behind it: cold=400000. skewed is the same with 7/8 of the work on a
// twentieth of the keys.
//
// Times of the task are CPU times, so that other load on the machine shows little; rates are both.
#include "rocksdb_backend/store.h"
#include "runtime/types/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY_BYTES = 16, VALUE_BYTES = 64, BATCH_ROWS = 1024 };

struct bench {
    char folder[512];
    char store_folder[544];
    struct weir_mailbox *task;
    struct weir_mailbox *coordinator;
    struct weir_state_store *store;
    struct weir_state *state;
    int64_t number;
    struct weir_snapshot *last; // acknowledged
    uint64_t random;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t process_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t next_random(struct bench *bench)
{
    bench->random += UINT64_C(0x9e3779b97f4a7c15);
    return weir_hash_mix(bench->random);
}

static struct weir_state_key key_of(uint64_t idx, char *bytes)
{
    uint64_t mixed = weir_hash_mix(idx);
    memcpy(bytes, &mixed, 8);
    memcpy(bytes + 8, &idx, 8);
    return (struct weir_state_key){.key_group = (uint16_t)(mixed % WEIR_KEY_GROUP_COUNT),
                                   .bytes = {.data = bytes, .size_bytes = KEY_BYTES}};
}

static void open_store(struct bench *bench, size_t budget_bytes, struct weir_key_group_range range,
                       uint32_t handle_count, const struct weir_state_handle *handles)
{
    char work_folder[600];
    snprintf(work_folder, sizeof work_folder, "%s/work", bench->folder);
    char attempt[24];
    snprintf(attempt, sizeof attempt, "%016" PRIx64, next_random(bench));
    struct weir_rocksdb_store_config config = {.work_folder = work_folder,
                                               .store_folder = bench->store_folder,
                                               .stage = "bench",
                                               .key_groups = range,
                                               .attempt = attempt,
                                               .budget_bytes = budget_bytes,
                                               .mailbox = bench->task,
                                               .clock = &weir_system_clock,
                                               .number = bench->number,
                                               .handle_count = handle_count,
                                               .handles = handles};
    struct weir_error error;
    if (weir_rocksdb_store_create(&config, &bench->store, &error) != WEIR_OK) {
        fprintf(stderr, "%s\n", error.text);
        _exit(1);
    }
    bench->state = bench->store->ops->open_state(bench->store, "bench", "state");
}

static void wait_acknowledged(struct bench *bench, int64_t number)
{
    while (bench->last == NULL || bench->last->barrier.number < number) {
        struct weir_error error;
        if (bench->store->ops->check(bench->store, &error) != WEIR_OK) {
            fprintf(stderr, "%s\n", error.text);
            _exit(1);
        }
        weir_mailbox_wait(bench->coordinator, 100);
        struct weir_mail mail;
        while (weir_mailbox_take(bench->coordinator, &mail)) {
            weir_snapshot_destroy(bench->last);
            bench->last = mail.payload;
        }
    }
}

static void close_store(struct bench *bench)
{
    bench->store->ops->destroy(bench->store);
    struct weir_mail mail;
    while (weir_mailbox_take(bench->coordinator, &mail)) {
        weir_snapshot_destroy(mail.payload);
    }
}

// Until everything is durable and nothing is on its way into RocksDB.
static void wait_settled(struct bench *bench)
{
    for (;;) {
        bench->store->ops->is_full(bench->store); // takes in how far the io has come
        struct weir_rocksdb_store_stats stats;
        weir_rocksdb_store_stats(bench->store, &stats);
        if (stats.frozen_bytes == stats.logged_bytes) {
            return;
        }
        weir_mailbox_wait(bench->task, 100);
    }
}

static void begin_barrier(struct bench *bench)
{
    struct weir_barrier barrier = {.number = ++bench->number};
    struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 0, bench->coordinator);
    bench->store->ops->barrier(bench->store, &barrier, snapshot);
    weir_snapshot_release(snapshot);
}

static void update(struct bench *bench, uint64_t idx)
{
    char bytes[KEY_BYTES];
    struct weir_state_key key = key_of(idx, bytes);
    bool existed;
    uint64_t *value = bench->state->ops->update(bench->state, &key, VALUE_BYTES, &existed);
    value[0]++;
    value[7] = idx;
}

// What a task does: a checkpoint when one is wanted, no input while it is full.
static void keep_house(struct bench *bench)
{
    if (bench->store->ops->wants_checkpoint(bench->store)) {
        begin_barrier(bench);
    }
    while (bench->store->ops->is_full(bench->store)) {
        weir_mailbox_wait(bench->task, 100);
    }
}

static void fill(struct bench *bench, uint64_t key_count)
{
    for (uint64_t i = 0; i < key_count; i++) {
        update(bench, i);
        if (i % 1024 == 0) {
            keep_house(bench);
        }
    }
    begin_barrier(bench);
    wait_acknowledged(bench, bench->number);
    wait_settled(bench);
}

static void measure_hot(struct bench *bench, uint64_t key_count)
{
    enum { ROUNDS = 4000000 };
    fill(bench, key_count);
    struct weir_view value;
    char bytes[BATCH_ROWS][KEY_BYTES];
    struct weir_state_key keys[BATCH_ROWS];
    uint64_t sum = 0;
    int64_t begin = cpu_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct weir_state_key key = key_of(next_random(bench) % key_count, bytes[0]);
        sum += bench->state->ops->get(bench->state, &key, &value);
    }
    int64_t get_ns = cpu_ns() - begin;
    begin = cpu_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        update(bench, next_random(bench) % key_count);
    }
    int64_t update_ns = cpu_ns() - begin;
    begin = cpu_ns();
    for (uint32_t i = 0; i < ROUNDS / BATCH_ROWS; i++) {
        for (uint32_t j = 0; j < BATCH_ROWS; j++) {
            keys[j] = key_of(next_random(bench) % key_count, bytes[j]);
        }
        bench->state->ops->prefetch(bench->state, BATCH_ROWS, keys);
        for (uint32_t j = 0; j < BATCH_ROWS; j++) {
            bool existed;
            uint64_t *data =
                bench->state->ops->update(bench->state, &keys[j], VALUE_BYTES, &existed);
            data[0]++;
        }
    }
    int64_t batch_ns = cpu_ns() - begin;
    printf("hot, %7" PRIu64 " keys: get %5.1f ns, update %5.1f ns, prefetch + update %5.1f ns "
           "(%" PRIu64 " found)\n",
           key_count, (double)get_ns / ROUNDS, (double)update_ns / ROUNDS,
           (double)batch_ns / (ROUNDS / BATCH_ROWS * BATCH_ROWS), sum);
    begin_barrier(bench);
    wait_acknowledged(bench, bench->number);
    wait_settled(bench);
}

static void measure_barrier(struct bench *bench, uint64_t key_count, uint32_t dirty_count,
                            uint32_t round_count)
{
    int64_t freeze_ns = 0;
    int64_t freeze_max_ns = 0;
    int64_t durable_ns = 0;
    int64_t update_ns = 0;
    int64_t all_ns = process_cpu_ns();
    for (uint32_t i = 0; i < round_count; i++) {
        int64_t begin_cpu = cpu_ns();
        for (uint32_t j = 0; j < dirty_count; j++) {
            update(bench, next_random(bench) % key_count);
        }
        update_ns += cpu_ns() - begin_cpu;
        begin_cpu = cpu_ns();
        int64_t begin = now_ns();
        begin_barrier(bench);
        int64_t frozen = cpu_ns() - begin_cpu;
        wait_acknowledged(bench, bench->number);
        durable_ns += now_ns() - begin;
        wait_settled(bench);
        freeze_ns += frozen;
        freeze_max_ns = frozen > freeze_max_ns ? frozen : freeze_max_ns;
    }
    all_ns = process_cpu_ns() - all_ns;
    double changes = (double)round_count * dirty_count;
    printf("barrier, %u of %" PRIu64 " keys changed, %u times: freeze %.1f us (most %.1f), durable "
           "after %.2f ms; CPU a change: update %.0f ns, all threads %.0f ns\n",
           dirty_count, key_count, round_count, (double)freeze_ns / round_count / 1e3,
           (double)freeze_max_ns / 1e3, (double)durable_ns / round_count / 1e6,
           (double)update_ns / changes, (double)all_ns / changes);
}

// Random updates in batches, with a checkpoint for each quarter of the keys, until each key has
// been updated a few times: so that the cache holds what it holds in the long run.
static void measure_cold(struct bench *bench, uint64_t key_count, double factor, bool is_skewed)
{
    enum { ROUNDS = 3, CHECKPOINTS_A_ROUND = 4 };
    char bytes[BATCH_ROWS][KEY_BYTES];
    struct weir_state_key keys[BATCH_ROWS];
    struct weir_state_room rooms[BATCH_ROWS];
    struct weir_rocksdb_store_stats before;
    struct weir_rocksdb_store_stats stats;
    weir_rocksdb_store_stats(bench->store, &before);
    int64_t begin_cpu = cpu_ns();
    int64_t begin_process = process_cpu_ns();
    uint64_t rows = 0;
    while (rows < ROUNDS * key_count) {
        for (uint32_t j = 0; j < BATCH_ROWS; j++) {
            uint64_t random = next_random(bench);
            bool is_hot = is_skewed && random >> 40 & 7;
            keys[j] = key_of(random % (is_hot ? key_count / 20 : key_count), bytes[j]);
        }
        bench->state->ops->update_many(bench->state, BATCH_ROWS, keys, VALUE_BYTES, rooms);
        for (uint32_t j = 0; j < BATCH_ROWS; j++) {
            ++*(uint64_t *)rooms[j].value;
        }
        rows += BATCH_ROWS;
        if (rows / BATCH_ROWS % (key_count / BATCH_ROWS / CHECKPOINTS_A_ROUND + 1) == 0) {
            wait_acknowledged(bench, bench->number);
            begin_barrier(bench);
        }
        keep_house(bench);
    }
    weir_rocksdb_store_stats(bench->store, &stats);
    double task_us = (double)(cpu_ns() - begin_cpu) / 1e3 / (double)rows;
    double all_us = (double)(process_cpu_ns() - begin_process) / 1e3 / (double)rows;
    printf("working set %5.2f times the cache: CPU of an update %6.3f us, of all threads %6.3f us; "
           "%4.1f %% read from RocksDB\n",
           factor, task_us, all_us,
           100.0 * (double)(stats.read_count - before.read_count) / (double)rows);
}

// An ample cache first: what the keys take in it is what the others are fractions of.
static void measure_curve(struct bench *bench, uint64_t key_count, bool is_skewed)
{
    const struct weir_key_group_range all = {.first = 0, .count = WEIR_KEY_GROUP_COUNT};
    const double factors[] = {0, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10};
    const double cache_of_budget = 0.62; // store.c
    size_t working_set_bytes = 0;
    for (uint32_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        size_t budget_bytes =
            i == 0 ? key_count * 600
                   : (size_t)((double)working_set_bytes / factors[i] / cache_of_budget);
        bench->number = 0;
        open_store(bench, budget_bytes, all, 0, NULL);
        int64_t begin = cpu_ns();
        int64_t begin_process = process_cpu_ns();
        fill(bench, key_count);
        printf("new keys: CPU of one %6.3f us, of all threads %6.3f us\n",
               (double)(cpu_ns() - begin) / 1e3 / (double)key_count,
               (double)(process_cpu_ns() - begin_process) / 1e3 / (double)key_count);
        if (i == 0) {
            struct weir_rocksdb_store_stats stats;
            weir_rocksdb_store_stats(bench->store, &stats);
            working_set_bytes = stats.cache_bytes;
            printf("%" PRIu64 " keys take %zu KB\n", key_count, working_set_bytes / 1000);
        }
        measure_cold(bench, key_count, factors[i], is_skewed);
        close_store(bench);
    }
}

static void measure_restore(struct bench *bench, uint64_t key_count, size_t budget_bytes)
{
    const struct weir_key_group_range all = {.first = 0, .count = WEIR_KEY_GROUP_COUNT};
    const struct weir_key_group_range half = {.first = 0, .count = WEIR_KEY_GROUP_COUNT / 2};
    struct weir_state_handle handle = *bench->last->state;
    uint64_t log_bytes = 0;
    uint64_t materialised_bytes = 0;
    for (uint32_t i = 0; i < handle.file_count; i++) {
        *(handle.files[i].is_materialised ? &materialised_bytes : &log_bytes) +=
            handle.files[i].size_bytes;
    }
    close_store(bench);
    int64_t begin = now_ns();
    int64_t begin_cpu = process_cpu_ns();
    open_store(bench, budget_bytes, all, 1, &handle);
    int64_t same_ns = now_ns() - begin;
    int64_t same_cpu_ns = process_cpu_ns() - begin_cpu;
    close_store(bench);
    begin = now_ns();
    begin_cpu = process_cpu_ns();
    open_store(bench, budget_bytes, half, 1, &handle);
    int64_t half_ns = now_ns() - begin;
    int64_t half_cpu_ns = process_cpu_ns() - begin_cpu;
    close_store(bench);
    printf("restore, %" PRIu64 " keys, %.1f MB materialised, %.1f MB of logs: %.0f ms (CPU %.0f); "
           "half of the key groups: %.0f ms (CPU %.0f)\n",
           key_count, (double)materialised_bytes / 1e6, (double)log_bytes / 1e6,
           (double)same_ns / 1e6, (double)same_cpu_ns / 1e6, (double)half_ns / 1e6,
           (double)half_cpu_ns / 1e6);
}

static bool wants(int argument_count, char **arguments, const char *part)
{
    for (int i = 1; i < argument_count; i++) {
        if (strncmp(arguments[i], part, strlen(part)) == 0) {
            return true;
        }
    }
    return argument_count == 1;
}

// The number behind a part's name, if there is one.
static uint64_t count_of(int argument_count, char **arguments, const char *part, uint64_t otherwise)
{
    for (int i = 1; i < argument_count; i++) {
        size_t part_bytes = strlen(part);
        if (strncmp(arguments[i], part, part_bytes) == 0 && arguments[i][part_bytes] == '=') {
            return strtoull(arguments[i] + part_bytes + 1, NULL, 10);
        }
    }
    return otherwise;
}

int main(int argument_count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct bench *bench = weir_alloc_zero(sizeof *bench);
    const struct weir_key_group_range all = {.first = 0, .count = WEIR_KEY_GROUP_COUNT};
    snprintf(bench->folder, sizeof bench->folder, "/tmp/weir-state-bench-XXXXXX");
    if (mkdtemp(bench->folder) == NULL) {
        perror(bench->folder);
        return 1;
    }
    snprintf(bench->store_folder, sizeof bench->store_folder, "%s/store", bench->folder);
    mkdir(bench->store_folder, 0750);
    bench->task = weir_mailbox_create();
    bench->coordinator = weir_mailbox_create();

    const size_t large = (size_t)2 << 30;
    const uint64_t hot_counts[] = {10000, 1000000};
    for (uint32_t i = 0; i < 2 && wants(argument_count, arguments, "hot"); i++) {
        bench->number = 0;
        open_store(bench, large, all, 0, NULL);
        measure_hot(bench, hot_counts[i]);
        close_store(bench);
    }
    if (wants(argument_count, arguments, "barrier") ||
        wants(argument_count, arguments, "restore")) {
        bench->number = 0;
        open_store(bench, large, all, 0, NULL);
        fill(bench, 1000000);
        measure_barrier(bench, 1000000, 20000, 100);
        measure_barrier(bench, 1000000, 200000, 20);
        measure_restore(bench, 1000000, large);
    }
    const char *curves[] = {"cold", "skewed"};
    for (uint32_t i = 0; i < 2; i++) {
        if (wants(argument_count, arguments, curves[i])) {
            measure_curve(bench, count_of(argument_count, arguments, curves[i], 2000000), i == 1);
        }
    }
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s", bench->folder);
    return system(command) == 0 ? 0 : 1;
}
