// SPDX-License-Identifier: Apache-2.0
// Arenas and buffers: alignment, reuse after reset, growth in place, contents kept.
#include "runtime/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BLOCK_BYTES = 1024 };

static struct weir_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = weir_arena_create(BLOCK_BYTES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weir_arena_destroy(arena);
    return 0;
}

static void test_memory_alloc_of_nothing_is_something(void **state)
{
    (void)state;
    void *memory = weir_alloc(0);
    assert_non_null(memory);
    memory = weir_realloc(memory, 0);
    assert_non_null(memory);
    free(memory);
    unsigned char *zeros = weir_alloc_zero(64);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(zeros[i], 0);
    }
    free(zeros);
    char *copy = weir_strdup("weir");
    assert_string_equal(copy, "weir");
    free(copy);
}

static void test_arena_allocations_are_aligned_and_apart(void **state)
{
    (void)state;
    char *previous_end = NULL;
    for (size_t size = 0; size < 100; size++) {
        char *memory = weir_arena_alloc(arena, size);
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, (int)size, size);
        if (size > 0 && size < 20) { // still in the first block
            assert_true(memory >= previous_end);
        }
        previous_end = memory + size;
    }
}

static void test_arena_zeroes_on_request(void **state)
{
    (void)state;
    memset(weir_arena_alloc(arena, 512), 0xff, 512);
    weir_arena_reset(arena);
    const unsigned char *zeros = weir_arena_alloc_zero(arena, 512);
    for (int i = 0; i < 512; i++) {
        assert_int_equal(zeros[i], 0);
    }
}

static void test_arena_holds_what_is_larger_than_a_block(void **state)
{
    (void)state;
    char *small = weir_arena_alloc(arena, 16);
    memset(small, 1, 16);
    char *large = weir_arena_alloc(arena, 10 * BLOCK_BYTES);
    memset(large, 2, 10 * BLOCK_BYTES);
    char *after = weir_arena_alloc(arena, 16);
    memset(after, 3, 16);
    assert_int_equal(small[15], 1);
    assert_int_equal(large[10 * BLOCK_BYTES - 1], 2);
    assert_true(weir_arena_used_bytes(arena) >= 10 * BLOCK_BYTES + 32);
}

static void test_arena_reset_reuses_its_blocks(void **state)
{
    (void)state;
    char *first = weir_arena_alloc(arena, 100);
    weir_arena_reset(arena);
    assert_int_equal(weir_arena_used_bytes(arena), 0);
    assert_ptr_equal(weir_arena_alloc(arena, 100), first);

    // Several blocks: the second round needs no new ones, whatever their order.
    weir_arena_reset(arena);
    char *blocks[4];
    for (int i = 0; i < 4; i++) {
        blocks[i] = weir_arena_alloc(arena, BLOCK_BYTES);
    }
    weir_arena_reset(arena);
    for (int i = 0; i < 4; i++) {
        char *again = weir_arena_alloc(arena, BLOCK_BYTES);
        bool is_known = false;
        for (int k = 0; k < 4; k++) {
            is_known = is_known || again == blocks[k];
        }
        assert_true(is_known);
    }
}

static void test_arena_realloc_grows_the_newest_in_place(void **state)
{
    (void)state;
    char *memory = weir_arena_alloc(arena, 32);
    memcpy(memory, "0123456789012345678901234567890", 32);
    assert_ptr_equal(weir_arena_realloc(arena, memory, 32, 64), memory);
    assert_ptr_equal(weir_arena_realloc(arena, memory, 64, 16), memory);
    assert_int_equal(weir_arena_used_bytes(arena), 16);

    // No longer the newest: moved, with its contents.
    weir_arena_alloc(arena, 16);
    char *moved = weir_arena_realloc(arena, memory, 16, 48);
    assert_ptr_not_equal(moved, memory);
    assert_memory_equal(moved, "0123456789012345", 16);
    // A smaller one stays where it is.
    assert_ptr_equal(weir_arena_realloc(arena, memory, 16, 8), memory);
    // From nothing.
    assert_non_null(weir_arena_realloc(arena, NULL, 0, 8));
}

static void test_arena_realloc_beyond_the_block_keeps_the_contents(void **state)
{
    (void)state;
    char *memory = weir_arena_alloc(arena, 64);
    size_t size = 64;
    memset(memory, 'x', size);
    while (size < 8 * BLOCK_BYTES) {
        memory = weir_arena_realloc(arena, memory, size, 2 * size);
        memset(memory + size, 'x', size);
        size *= 2;
    }
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(memory[i], 'x');
    }
}

static void test_arena_copies_and_prints(void **state)
{
    (void)state;
    struct weir_view none = weir_arena_copy(arena, (struct weir_view){NULL, 0});
    assert_null(none.data);
    struct weir_view empty = weir_arena_copy(arena, weir_view_of(""));
    assert_non_null(empty.data);
    struct weir_view copy = weir_arena_copy(arena, weir_view_of("abc"));
    assert_true(weir_view_equal(copy, weir_view_of("abc")));
    assert_int_equal(copy.data[3], '\0');
    assert_string_equal(weir_arena_strdup(arena, "xyz"), "xyz");
    assert_string_equal(weir_arena_printf(arena, "%d-%s", 42, "a"), "42-a");
    assert_int_equal(strlen(weir_arena_printf(arena, "%*d", 3 * BLOCK_BYTES, 1)), 3 * BLOCK_BYTES);
}

static void test_buffer_grows_and_keeps_its_bytes(void **state)
{
    (void)state;
    struct weir_buffer buffer = {0};
    assert_string_equal(weir_buffer_text(&buffer), "");
    for (int i = 0; i < 1000; i++) {
        weir_buffer_append_char(&buffer, (char)('a' + i % 26));
    }
    weir_buffer_append(&buffer, "", 0);
    weir_buffer_append(&buffer, NULL, 0);
    assert_int_equal(buffer.size_bytes, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(buffer.data[i], 'a' + i % 26);
    }
    buffer.size_bytes = 0;
    weir_buffer_printf(&buffer, "%s=%d", "n", 7);
    weir_buffer_printf(&buffer, ";%0500d", 1);
    assert_int_equal(buffer.size_bytes, 3 + 501);
    assert_memory_equal(buffer.data, "n=7;0", 5);
    assert_int_equal(strlen(weir_buffer_text(&buffer)), 504);
    weir_buffer_deinit(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.capacity_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_alloc_of_nothing_is_something),
        cmocka_unit_test_setup_teardown(test_arena_allocations_are_aligned_and_apart, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_arena_zeroes_on_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arena_holds_what_is_larger_than_a_block, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_arena_reset_reuses_its_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arena_realloc_grows_the_newest_in_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_arena_realloc_beyond_the_block_keeps_the_contents,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arena_copies_and_prints, set_up, tear_down),
        cmocka_unit_test(test_buffer_grows_and_keeps_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
