// SPDX-License-Identifier: Apache-2.0
// What becomes of operator state with another number of tasks, through a snapshot and a manifest's
// bytes each time: the rules of operator_state.h against what they say.
#include "runtime/manifest.h"

#include "runtime/coordinator.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>

enum { TASKS_MAX = 7 };

struct stage {
    uint32_t task_count;
    struct weir_operator_state_store *stores[TASKS_MAX];
    struct weir_arena *arena; // of what it was restored from
};

static const char *const OPERATOR = "operator 1";

// Every task's snapshot becomes a manifest, its bytes are read again, and the next stage begins.
static struct stage stage_next(struct stage *before, uint32_t task_count)
{
    struct stage stage = {.task_count = task_count, .arena = weir_arena_create(1 << 12)};
    struct weir_manifest manifest = {.job_id = "j",
                                     .cluster_id = "c",
                                     .kind = "checkpoint",
                                     .restore = "auto",
                                     .weir_version = "0"};
    if (before != NULL) {
        struct weir_snapshot *snapshots[TASKS_MAX];
        struct weir_completed completed = {.snapshot_count = before->task_count,
                                           .snapshots = snapshots};
        struct weir_buffer bytes = {0};
        struct weir_error error;
        for (uint32_t i = 0; i < before->task_count; i++) {
            snapshots[i] = weir_snapshot_create(&(struct weir_barrier){.number = 1}, i, NULL);
            assert_int_equal(
                weir_operator_state_snapshot(before->stores[i], OPERATOR, snapshots[i], &error),
                WEIR_OK);
            weir_operator_state_store_destroy(before->stores[i]); // the snapshot has copies
        }
        weir_manifest_collect_states(&manifest, &completed, stage.arena);
        weir_manifest_encode(&manifest, &bytes);
        assert_int_equal(weir_manifest_decode("m", (struct weir_view){bytes.data, bytes.size_bytes},
                                              stage.arena, &manifest, &error),
                         WEIR_OK);
        weir_buffer_deinit(&bytes);
        for (uint32_t i = 0; i < before->task_count; i++) {
            weir_snapshot_destroy(snapshots[i]);
        }
        weir_arena_destroy(before->arena);
    }
    for (uint32_t i = 0; i < task_count; i++) {
        stage.stores[i] = weir_operator_state_store_create(
            &(struct weir_operator_state_config){.task_idx = i,
                                                 .task_count = task_count,
                                                 .part_count = manifest.operator_state_count,
                                                 .parts = manifest.operator_states});
    }
    return stage;
}

static void stage_end(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->task_count; i++) {
        weir_operator_state_store_destroy(stage->stores[i]);
    }
    weir_arena_destroy(stage->arena);
}

static void open_lists(struct stage *stage, enum weir_operator_state_kind kind,
                       struct weir_operator_list **lists)
{
    for (uint32_t i = 0; i < stage->task_count; i++) {
        lists[i] = weir_operator_state_list(stage->stores[i], OPERATOR, "list", kind);
    }
}

static void expect(const struct weir_operator_list *list, const char *expected)
{
    char text[256] = "";
    for (uint32_t i = 0; i < weir_operator_list_count(list); i++) {
        struct weir_view item = weir_operator_list_at(list, i);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", i == 0 ? "" : " ",
                 WEIR_VIEW_ARGS(item));
    }
    assert_string_equal(text, expected);
}

static void add_all(struct weir_operator_list *list, const char *items)
{
    for (const char *at = items; *at != '\0'; at++) {
        weir_operator_list_add(list, (struct weir_view){.data = at, .size_bytes = 1});
    }
}

static void test_operator_state_split_stays_with_as_many_tasks(void **state)
{
    (void)state;
    struct weir_operator_list *lists[TASKS_MAX];
    struct stage stage = stage_next(NULL, 3);
    open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
    add_all(lists[0], "abcdef");
    add_all(lists[2], "g");
    stage = stage_next(&stage, 3);
    open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
    expect(lists[0], "a b c d e f");
    expect(lists[1], "");
    expect(lists[2], "g");
    stage_end(&stage);
}

// 1 → 4 → 3: nothing is lost or doubled, lengths differ by one at most.
static void test_operator_state_split_is_spread_evenly(void **state)
{
    (void)state;
    struct weir_operator_list *lists[TASKS_MAX];
    struct stage stage = stage_next(NULL, 1);
    open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
    add_all(lists[0], "abcdefghij");
    stage = stage_next(&stage, 4);
    open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
    expect(lists[0], "a b");
    expect(lists[1], "c d e");
    expect(lists[2], "f g");
    expect(lists[3], "h i j");
    weir_operator_list_clear(lists[1]);
    add_all(lists[1], "X");
    stage = stage_next(&stage, 3);
    open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
    expect(lists[0], "a b");
    expect(lists[1], "X f g");
    expect(lists[2], "h i j");
    stage_end(&stage);
}

static void test_operator_state_split_of_every_pair_of_counts_is_even_and_whole(void **state)
{
    (void)state;
    static const char ITEMS[] = "abcdefghijklmnopqrstu";
    for (uint32_t from = 1; from <= TASKS_MAX; from++) {
        for (uint32_t to = 1; to <= TASKS_MAX; to++) {
            struct weir_operator_list *lists[TASKS_MAX];
            struct stage stage = stage_next(NULL, from);
            uint32_t count = (uint32_t)strlen(ITEMS) - from; // every task has some, unevenly
            open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
            for (uint32_t i = 0; i < count; i++) {
                char item[] = {ITEMS[i], '\0'};
                add_all(lists[i * i % from], item);
            }
            stage = stage_next(&stage, to);
            open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
            bool is_seen[sizeof ITEMS] = {false};
            uint32_t seen_count = 0;
            for (uint32_t i = 0; i < to; i++) {
                uint32_t here = weir_operator_list_count(lists[i]);
                assert_true(from == to || (here >= count / to && here <= (count + to - 1) / to));
                for (uint32_t j = 0; j < here; j++) {
                    uint32_t idx = (uint32_t)(weir_operator_list_at(lists[i], j).data[0] - 'a');
                    assert_false(is_seen[idx]);
                    is_seen[idx] = true;
                    seen_count++;
                }
            }
            assert_int_equal(seen_count, count);
            stage_end(&stage);
        }
    }
}

static void test_operator_state_union_is_everybodys(void **state)
{
    (void)state;
    struct weir_operator_list *lists[TASKS_MAX];
    struct stage stage = stage_next(NULL, 2);
    open_lists(&stage, WEIR_OPERATOR_STATE_UNION, lists);
    add_all(lists[0], "ab");
    add_all(lists[1], "c");
    stage = stage_next(&stage, 3);
    open_lists(&stage, WEIR_OPERATOR_STATE_UNION, lists);
    for (uint32_t i = 0; i < 3; i++) {
        expect(lists[i], "a b c");
        weir_operator_list_clear(lists[i]);
    }
    add_all(lists[1], "d");
    stage = stage_next(&stage, 3); // as many tasks: everybody's all the same
    open_lists(&stage, WEIR_OPERATOR_STATE_UNION, lists);
    for (uint32_t i = 0; i < 3; i++) {
        expect(lists[i], "d");
    }
    stage_end(&stage);
}

// A task's bytes stay together, and each go to one task.
static void test_operator_state_raw_goes_as_a_whole(void **state)
{
    (void)state;
    struct weir_operator_list *lists[TASKS_MAX];
    struct stage stage = stage_next(NULL, 4);
    open_lists(&stage, WEIR_OPERATOR_STATE_RAW, lists);
    for (uint32_t i = 0; i < 4; i++) {
        char bytes[] = {(char)('0' + i), '\0', (char)0xff};
        weir_operator_list_add(lists[i], (struct weir_view){bytes, sizeof bytes});
    }
    stage = stage_next(&stage, 4);
    open_lists(&stage, WEIR_OPERATOR_STATE_RAW, lists);
    for (uint32_t i = 0; i < 4; i++) {
        struct weir_view item = weir_operator_list_at(lists[i], 0);
        char bytes[] = {(char)('0' + i), '\0', (char)0xff};
        assert_int_equal(weir_operator_list_count(lists[i]), 1);
        assert_int_equal(item.size_bytes, 3);
        assert_memory_equal(item.data, bytes, 3);
        weir_operator_list_clear(lists[i]);
        weir_operator_list_add(lists[i], (struct weir_view){bytes, 1});
    }
    stage = stage_next(&stage, 3);
    open_lists(&stage, WEIR_OPERATOR_STATE_RAW, lists);
    expect(lists[0], "0 1");
    expect(lists[1], "2");
    expect(lists[2], "3");
    stage = stage_next(&stage, 6); // two of them have nothing
    open_lists(&stage, WEIR_OPERATOR_STATE_RAW, lists);
    expect(lists[0], "0 1");
    expect(lists[1], "");
    expect(lists[2], "2");
    expect(lists[4], "3");
    stage_end(&stage);
}

static struct weir_broadcast_state *broadcasts[TASKS_MAX];

static void open_broadcasts(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->task_count; i++) {
        broadcasts[i] = weir_operator_state_broadcast(stage->stores[i], OPERATOR, "rules");
    }
}

static void expect_rule(uint32_t task_idx, const char *key, const char *expected)
{
    struct weir_view value;
    bool is_there = weir_broadcast_state_get(broadcasts[task_idx], weir_view_of(key), &value);
    assert_int_equal(is_there, expected != NULL);
    if (is_there) {
        assert_true(weir_view_equal(value, weir_view_of(expected)));
    }
}

static void test_operator_state_broadcast_is_the_same_everywhere(void **state)
{
    (void)state;
    struct stage stage = stage_next(NULL, 1);
    open_broadcasts(&stage);
    static const char *const KEYS[] = {"m", "b", "", "bb", "z", "a"};
    for (uint32_t i = 0; i < 6; i++) {
        weir_broadcast_state_put(broadcasts[0], weir_view_of(KEYS[i]), weir_view_of("old"));
        weir_broadcast_state_put(broadcasts[0], weir_view_of(KEYS[i]), weir_view_of(KEYS[i]));
    }
    weir_broadcast_state_remove(broadcasts[0], weir_view_of("b"));
    weir_broadcast_state_remove(broadcasts[0], weir_view_of("never"));
    for (uint32_t task_count = 4; task_count >= 3; task_count--) {
        stage = stage_next(&stage, task_count);
        open_broadcasts(&stage);
        for (uint32_t i = 0; i < task_count; i++) {
            assert_int_equal(weir_broadcast_state_count(broadcasts[i]), 5);
            for (uint32_t j = 0; j < 6; j++) {
                expect_rule(i, KEYS[j], j == 1 ? NULL : KEYS[j]);
            }
            expect_rule(i, "never", NULL);
        }
    }
    stage_end(&stage);
}

// What is changed after the barrier is of the next epoch.
static void test_operator_state_snapshot_is_a_copy(void **state)
{
    (void)state;
    struct weir_error error;
    struct stage stage = stage_next(NULL, 1);
    open_broadcasts(&stage);
    weir_broadcast_state_put(broadcasts[0], weir_view_of("k"), weir_view_of("before"));
    struct weir_snapshot *snapshot =
        weir_snapshot_create(&(struct weir_barrier){.number = 1}, 0, NULL);
    assert_int_equal(weir_operator_state_snapshot(stage.stores[0], "another", snapshot, &error),
                     WEIR_OK);
    assert_int_equal(snapshot->operator_state_count, 0);
    assert_int_equal(weir_operator_state_snapshot(stage.stores[0], OPERATOR, snapshot, &error),
                     WEIR_OK);
    weir_broadcast_state_put(broadcasts[0], weir_view_of("k"), weir_view_of("behind"));
    assert_int_equal(snapshot->operator_state_count, 1);
    const struct weir_operator_state_part *part = snapshot->operator_states[0];
    assert_int_equal(part->item_count, 2);
    assert_true(weir_view_equal(part->items[1], weir_view_of("before")));
    weir_snapshot_destroy(snapshot);
    stage_end(&stage);
}

static void test_operator_state_that_is_too_large_fails_by_name(void **state)
{
    (void)state;
    struct weir_error error;
    struct weir_operator_list *lists[TASKS_MAX];
    static char half[WEIR_OPERATOR_STATE_BYTES_MAX / 2];
    struct stage stage = stage_next(NULL, 1);
    struct weir_snapshot *snapshot =
        weir_snapshot_create(&(struct weir_barrier){.number = 1}, 0, NULL);
    open_lists(&stage, WEIR_OPERATOR_STATE_SPLIT, lists);
    weir_operator_list_add(lists[0], (struct weir_view){half, sizeof half});
    weir_operator_list_add(lists[0], (struct weir_view){half, sizeof half});
    assert_int_equal(weir_operator_state_snapshot(stage.stores[0], OPERATOR, snapshot, &error),
                     WEIR_OK);
    weir_operator_list_add(lists[0], (struct weir_view){half, 1});
    assert_int_equal(weir_operator_state_snapshot(stage.stores[0], OPERATOR, snapshot, &error),
                     WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FAIL);
    assert_non_null(strstr(error.text, "operator state \"list\" of operator operator 1: 1048577"));
    weir_snapshot_destroy(snapshot);
    stage_end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator_state_split_stays_with_as_many_tasks),
        cmocka_unit_test(test_operator_state_split_is_spread_evenly),
        cmocka_unit_test(test_operator_state_split_of_every_pair_of_counts_is_even_and_whole),
        cmocka_unit_test(test_operator_state_union_is_everybodys),
        cmocka_unit_test(test_operator_state_raw_goes_as_a_whole),
        cmocka_unit_test(test_operator_state_broadcast_is_the_same_everywhere),
        cmocka_unit_test(test_operator_state_snapshot_is_a_copy),
        cmocka_unit_test(test_operator_state_that_is_too_large_fails_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
