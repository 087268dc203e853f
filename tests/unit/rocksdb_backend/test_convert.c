// SPDX-License-Identifier: Apache-2.0
// Restores of a job that has changed: entries of one state become others on the way, those of
// another go, those of a third stay; with the same key groups and with others; again after a crash
// before the first checkpoint, and not again after it. And what a handle says of rows.
#include "rocksdb_backend/convert.h"

#include "tests/unit/rocksdb_backend/state_operations.h"

static const char SUFFIX[] = "+1";

static bool append_suffix(const void *context, struct weir_view value, struct weir_buffer *out)
{
    assert_string_equal(context, "context");
    weir_buffer_append(out, value.data, value.size_bytes);
    weir_buffer_append(out, SUFFIX, sizeof SUFFIX);
    return true;
}

static bool refuse(const void *context, struct weir_view value, struct weir_buffer *out)
{
    (void)context;
    (void)value;
    (void)out;
    return false;
}

static const struct weir_state_conversion CONVERSIONS[] = {
    {.operator_id = "op", .state = "s0", .convert = append_suffix, .context = "context"},
    {.operator_id = "op", .state = "s1"},
    {.operator_id = "another", .state = "s2"},
};

// State 0 has suffix_count suffixes behind what the model says, state 1 nothing, state 2 all.
static void check(struct world *world, const struct world_model *model, uint32_t suffix_count)
{
    for (uint32_t k = 0; k < WORLD_KEYS; k++) {
        char key_bytes[WORLD_KEY_BYTES_MAX];
        char expected[4096];
        struct weir_state_key key = world_key(k, key_bytes);
        for (uint32_t s = 0; s < WORLD_STATES; s++) {
            struct world_value value = model->values[s][k];
            struct weir_state *state = world_state(world, s, key.key_group);
            struct weir_view view;
            bool is_there = state->ops->get(state, &key, &view);
            assert_int_equal(is_there, value.seed != 0 && (s != 1 || suffix_count == 0));
            if (is_there) {
                world_fill(&value, expected);
                uint32_t suffixes = s == 0 ? suffix_count : 0;
                assert_int_equal(view.size_bytes, value.size_bytes + suffixes * sizeof SUFFIX);
                assert_memory_equal(view.data, expected, value.size_bytes);
                for (uint32_t i = 0; i < suffixes; i++) {
                    assert_memory_equal(view.data + value.size_bytes + i * sizeof SUFFIX, SUFFIX,
                                        sizeof SUFFIX);
                }
            }
        }
    }
}

// Rows are the entries of the operator's first state.
static void check_rows(struct world *world, const struct world_model *model)
{
    const struct world_checkpoint *checkpoint = world_checkpoint(world, world->committed);
    int64_t expected = 0;
    int64_t found = 0;
    for (uint32_t k = 0; k < WORLD_KEYS; k++) {
        expected += model->values[0][k].seed != 0;
    }
    for (uint32_t i = 0; i < checkpoint->task_count; i++) {
        const struct weir_state_handle *handle = checkpoint->snapshots[i]->state;
        assert_int_equal(handle->rows_count, 1);
        assert_string_equal(handle->rows[0].operator_id, "op");
        found += handle->rows[0].count;
    }
    assert_int_equal(found, expected);
}

static void change_some(struct world *world, uint32_t epoch_count)
{
    for (uint32_t i = 0; i < epoch_count; i++) {
        for (uint32_t j = 0; j < 120; j++) {
            uint32_t state_idx = world_below(world, WORLD_STATES);
            uint32_t key_idx = world_below(world, WORLD_KEYS);
            if (world_below(world, 4) == 0) {
                world_get(world, state_idx, key_idx); // as operators do before they remove
                world_remove(world, state_idx, key_idx);
            } else {
                world_update(world, state_idx, key_idx);
            }
        }
        world_barrier(world);
        world_settle(world);
    }
}

static void convert_with(uint64_t seed, uint32_t task_count, uint32_t new_task_count)
{
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, seed);
    world->materialise_log_count = 3;
    world_start(world, task_count, 0);
    change_some(world, 8);
    check_rows(world, &world->model);
    struct world_model model = world->model;
    int64_t number = world->committed;
    world_crash(world);
    // Twice: what a life before its first checkpoint leaves behind changes nothing.
    world->conversion_count = 3;
    world->conversions = CONVERSIONS;
    for (uint32_t life = 0; life < 2; life++) {
        world_start(world, new_task_count, number);
        check(world, &model, 1);
        if (life == 0) {
            world_crash(world);
        }
    }
    world_barrier(world);
    world_settle(world);
    check_rows(world, &model);
    number = world->committed;
    world_crash(world);
    // What the next checkpoint lists is converted, once.
    world->conversion_count = 0;
    world_start(world, new_task_count, number);
    check(world, &model, 1);
    world_crash(world);
    world->conversion_count = 1;
    world_start(world, task_count, number);
    check(world, &model, 2);
    world_end(world);
    free(world);
}

static void test_convert_with_the_same_key_groups(void **state)
{
    (void)state;
    convert_with(1, 1, 1);
    convert_with(2, 3, 3);
}

static void test_convert_with_other_key_groups(void **state)
{
    (void)state;
    convert_with(3, 1, 3);
    convert_with(4, 3, 2);
}

static void test_rows_are_counted_where_a_handle_does_not_say_them(void **state)
{
    (void)state;
    struct world *world = weir_alloc(sizeof *world);
    world_begin(world, 5);
    world_start(world, 2, 0);
    change_some(world, 5);
    // As an early version wrote it.
    const struct world_checkpoint *checkpoint = world_checkpoint(world, world->committed);
    for (uint32_t i = 0; i < checkpoint->task_count; i++) {
        checkpoint->snapshots[i]->state->rows_count = 0;
    }
    world_crash(world);
    world_start(world, 2, world->committed);
    change_some(world, 2);
    check_rows(world, &world->model);
    world_end(world);
    free(world);
}

static void test_what_cannot_be_converted_is_refused(void **state)
{
    (void)state;
    static const struct weir_state_conversion conversion = {
        .operator_id = "op", .state = "s2", .convert = refuse};
    for (uint32_t epoch_count = 1; epoch_count < 9; epoch_count += 7) { // logs; materialised
        struct world *world = weir_alloc(sizeof *world);
        struct weir_state_handle handles[WORLD_TASKS_MAX];
        struct weir_error error;
        world_begin(world, 6);
        world->materialise_log_count = 3;
        world_start(world, 1, 0);
        change_some(world, epoch_count);
        world_crash(world);
        world->conversion_count = 1;
        world->conversions = &conversion;
        uint32_t count = world_handles(world_checkpoint(world, world->committed), handles);
        assert_int_equal(world_create_store(world, 0, 1, world->committed, count, handles, &error),
                         WEIR_ERROR);
        assert_int_equal(error.action, WEIR_ACTION_REFUSE);
        assert_non_null(strstr(error.text, "operator op, state s2"));
        world_end(world);
        free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert_with_the_same_key_groups),
        cmocka_unit_test(test_convert_with_other_key_groups),
        cmocka_unit_test(test_rows_are_counted_where_a_handle_does_not_say_them),
        cmocka_unit_test(test_what_cannot_be_converted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
