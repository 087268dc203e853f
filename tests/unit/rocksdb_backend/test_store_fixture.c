// SPDX-License-Identifier: Apache-2.0
// Checkpoints in the formats of the store as they once were, kept in fixtures/ for ever: whatever
// becomes of the format, what was written then is still read, with the same key groups and with
// others. Each holds a materialisation, redo logs behind it, changed and removed keys. The number
// is the format of the redo logs. WEIR_TEST_WRITE_FIXTURE=<folder> writes one anew, for another
// format beside these.
#include "rocksdb_backend/store.h"
#include "runtime/savepoint.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEYS = 64, EPOCHS = 4, TASKS_MAX = 3, FORMATS = 2 };

// Beside this file.
static const char *fixture(int format)
{
    static char path[1024];
    snprintf(path, sizeof path, "%.*sfixtures/store-%d",
             (int)(strrchr(__FILE__, '/') - __FILE__ + 1), __FILE__, format);
    return path;
}

struct test_clock {
    struct weir_clock clock;
    int64_t now_ms;
};

static int64_t now(const struct weir_clock *clock)
{
    return ((const struct test_clock *)(const void *)clock)->now_ms;
}

struct parts {
    char folder[64];
    struct test_clock clock;
    struct weir_mailbox *mailbox;
    struct weir_state_store *store;
    struct weir_state *state;
};

static void open_store(struct parts *parts, const char *store_folder, uint32_t task_idx,
                       uint32_t task_count, int64_t number, uint32_t handle_count,
                       const struct weir_state_handle *handles)
{
    *parts = (struct parts){.clock = {.clock = {.monotonic_ms = now, .wall_ms = now}}};
    snprintf(parts->folder, sizeof parts->folder, "/tmp/weir-fixture-XXXXXX");
    assert_non_null(mkdtemp(parts->folder));
    char work[96];
    snprintf(work, sizeof work, "%s/work", parts->folder);
    parts->mailbox = weir_mailbox_create();
    struct weir_rocksdb_store_config config = {
        .work_folder = work,
        .store_folder = store_folder != NULL ? store_folder : parts->folder,
        .stage = "stage",
        .key_groups = weir_key_groups_of(task_idx, task_count),
        .attempt = "00000000000000aa",
        .budget_bytes = 32 << 20,
        .mailbox = parts->mailbox,
        .clock = &parts->clock.clock,
        .number = number,
        .handle_count = handle_count,
        .handles = handles,
        .materialise_log_count = 2,
        .materialise_pause_ms = 1,
        .is_stepped = true,
    };
    struct weir_error error;
    if (weir_rocksdb_store_create(&config, &parts->store, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    parts->state = parts->store->ops->open_state(parts->store, "operator", "state");
}

static void close_store(struct parts *parts)
{
    parts->store->ops->destroy(parts->store);
    weir_mailbox_destroy(parts->mailbox, NULL);
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", parts->folder);
    assert_int_equal(system(command), 0);
}

static struct weir_state_key key_of(int n, char *bytes)
{
    int size = snprintf(bytes, 16, "key-%d", n);
    return (struct weir_state_key){.key_group = (uint16_t)(n * 2),
                                   .bytes = {.data = bytes, .size_bytes = (size_t)size}};
}

// Key n is written in each epoch up to n % EPOCHS + 1, and every fifth is removed in the last.
static bool is_removed(int n)
{
    return n % 5 == 0;
}

static int value_of(int n, char *bytes)
{
    return snprintf(bytes, 32, "value of %d in epoch %d", n, n % EPOCHS + 1);
}

static void write_epoch(struct parts *parts, int epoch)
{
    for (int n = 0; n < KEYS; n++) {
        char key_bytes[16];
        char value[32];
        bool existed;
        struct weir_state_key key = key_of(n, key_bytes);
        if (epoch <= n % EPOCHS + 1) {
            int size = snprintf(value, sizeof value, "value of %d in epoch %d", n, epoch);
            memcpy(parts->state->ops->update(parts->state, &key, (uint32_t)size, &existed), value,
                   (size_t)size);
        }
        if (epoch == EPOCHS && is_removed(n)) {
            parts->state->ops->remove(parts->state, &key);
        }
    }
}

static void write_fixture(const char *path)
{
    struct parts parts;
    struct weir_error error;
    struct weir_snapshot *last = NULL;
    struct weir_mailbox *coordinator = weir_mailbox_create();
    open_store(&parts, NULL, 0, 1, 0, 0, NULL);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        write_epoch(&parts, epoch);
        parts.clock.now_ms += 1000;
        struct weir_barrier barrier = {.number = epoch};
        struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 0, coordinator);
        parts.store->ops->barrier(parts.store, &barrier, snapshot);
        weir_snapshot_release(snapshot);
        bool is_busy = true;
        while (is_busy) {
            is_busy = weir_rocksdb_store_step(parts.store, WEIR_ROCKSDB_STEP_LOG);
            parts.store->ops->is_full(parts.store);
            is_busy |= weir_rocksdb_store_step(parts.store, WEIR_ROCKSDB_STEP_LIVE);
            is_busy |= weir_rocksdb_store_step(parts.store, WEIR_ROCKSDB_STEP_PUBLISH);
        }
        parts.store->ops->committed(parts.store, epoch);
        struct weir_mail mail;
        assert_true(weir_mailbox_take(coordinator, &mail));
        weir_snapshot_destroy(last);
        last = mail.payload;
    }
    struct weir_manifest_position position = {
        .entry = {.table = "t", .topic = "in", .offset = 12, .end_offset = -1, .last_offset = 11},
        .topic_id = ""};
    struct weir_manifest manifest = {.number = EPOCHS,
                                     .attempt = {.text = "00000000000000aa"},
                                     .job_id = "job",
                                     .cluster_id = "cluster",
                                     .kind = "savepoint",
                                     .restore = "auto",
                                     .weir_version = "0",
                                     .created_ms = 1700000000000,
                                     .parallelism = 1,
                                     .position_count = 1,
                                     .positions = &position,
                                     .state_count = 1,
                                     .states = last->state};
    atomic_bool is_cancelled = false;
    if (weir_savepoint_prepare(path, &error) != WEIR_OK ||
        weir_savepoint_write(path, parts.folder, &manifest, &is_cancelled, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    weir_snapshot_destroy(last);
    close_store(&parts);
    weir_mailbox_destroy(coordinator, NULL);
}

static void check_keys(struct parts *parts, uint32_t task_idx, uint32_t task_count, int *found)
{
    struct weir_key_group_range range = weir_key_groups_of(task_idx, task_count);
    for (int n = 0; n < KEYS; n++) {
        char key_bytes[16];
        char expected[32];
        struct weir_state_key key = key_of(n, key_bytes);
        if (key.key_group < range.first || key.key_group >= range.first + range.count) {
            continue;
        }
        struct weir_view value;
        bool is_there = parts->state->ops->get(parts->state, &key, &value);
        assert_int_equal(is_there, !is_removed(n));
        if (is_there) {
            assert_int_equal(value.size_bytes, value_of(n, expected));
            assert_memory_equal(value.data, expected, value.size_bytes);
            (*found)++;
        }
    }
}

static void assert_read(const char *folder)
{
    struct weir_arena *arena = weir_arena_create(65536);
    struct weir_manifest manifest;
    struct weir_error error;
    if (weir_savepoint_read(folder, arena, &manifest, &error) != WEIR_OK ||
        weir_savepoint_verify(folder, &manifest, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(manifest.number, EPOCHS);
    assert_int_equal(manifest.positions[0].entry.offset, 12);
    bool has_log = false;
    for (uint32_t i = 0; i < manifest.states[0].file_count; i++) {
        has_log = has_log || !manifest.states[0].files[i].is_materialised;
    }
    assert_true(has_log && manifest.states[0].files[0].is_materialised);
    for (uint32_t task_count = 1; task_count <= TASKS_MAX; task_count += 2) {
        int found = 0;
        for (uint32_t i = 0; i < task_count; i++) {
            // A copy: a restore with other key groups writes a materialisation of its own there.
            struct parts parts;
            char copy[] = "/tmp/weir-fixture-copy-XXXXXX";
            char command[2048];
            assert_non_null(mkdtemp(copy));
            snprintf(command, sizeof command, "cp -r %s/. %s", folder, copy);
            assert_int_equal(system(command), 0);
            open_store(&parts, copy, i, task_count, EPOCHS, 1, manifest.states);
            check_keys(&parts, i, task_count, &found);
            close_store(&parts);
            snprintf(command, sizeof command, "rm -rf %s", copy);
            assert_int_equal(system(command), 0);
        }
        assert_int_equal(found, KEYS - (KEYS + 4) / 5);
    }
    weir_arena_destroy(arena);
}

static void test_store_of_each_format_is_read(void **state)
{
    (void)state;
    const char *write_to = getenv("WEIR_TEST_WRITE_FIXTURE");
    if (write_to != NULL) {
        write_fixture(write_to);
        assert_read(write_to);
    }
    for (int format = 1; format <= FORMATS; format++) {
        assert_read(fixture(format));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_store_of_each_format_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
