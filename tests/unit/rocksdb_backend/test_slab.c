// SPDX-License-Identifier: Apache-2.0
// The slab: rooms are apart, aligned, large enough and counted; pages that became empty serve other
// sizes.
#include "rocksdb_backend/slab.h"

#include "runtime/base/memory.h"
#include "runtime/types/hash.h"

#include "tests/unit/cmocka_all.h"

enum { CELLS = 4000 };

struct cell {
    unsigned char *memory;
    uint32_t room_bytes;
    unsigned char mark;
};

static void check(const struct cell *cell)
{
    for (uint32_t i = 0; i < cell->room_bytes; i++) {
        assert_int_equal(cell->memory[i], cell->mark);
    }
}

static void test_slab_rooms_are_apart(void **state)
{
    (void)state;
    struct weir_slab *slab = weir_slab_create(true);
    struct cell *cells = weir_alloc_zero(CELLS * sizeof *cells);
    uint64_t seed = 1;
    size_t used_bytes = 0;
    for (uint32_t i = 0; i < 40000; i++) {
        seed = weir_hash_mix(seed);
        struct cell *cell = &cells[seed % CELLS];
        if (cell->memory != NULL) {
            check(cell);
            weir_slab_free(slab, cell->memory, cell->room_bytes);
            used_bytes -= cell->room_bytes;
            cell->memory = NULL;
            continue;
        }
        size_t size = seed >> 40 & 15 ? (seed >> 20) % 600 : (seed >> 20) % 20000;
        cell->memory = weir_slab_alloc(slab, size, &cell->room_bytes);
        assert_true(cell->room_bytes >= size);
        assert_true(cell->room_bytes <= size + 16 || cell->room_bytes <= size + size / 4 ||
                    size > 8192);
        assert_int_equal((uintptr_t)cell->memory % 16, 0);
        used_bytes += cell->room_bytes;
        cell->mark = (unsigned char)i;
        memset(cell->memory, cell->mark, cell->room_bytes);
        assert_int_equal(weir_slab_used_bytes(slab), used_bytes);
    }
    for (uint32_t i = 0; i < CELLS; i++) {
        if (cells[i].memory != NULL) {
            check(&cells[i]);
        }
    }
    free(cells);
    weir_slab_destroy(slab); // with all that is left
}

// Filled with one size, emptied, filled with another: the memory is the same. (Not under the
// address sanitizer, where every room is malloc's; then this only checks that nothing is lost.)
static void test_slab_empty_pages_serve_other_sizes(void **state)
{
    (void)state;
    struct weir_slab *slab = weir_slab_create(false);
    enum { COUNT = 10000 };
    void **memory = weir_alloc(COUNT * sizeof *memory);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t room_bytes = 0;
        size_t size = 64 + round * 16;
        for (uint32_t i = 0; i < COUNT; i++) {
            memory[i] = weir_slab_alloc(slab, size, &room_bytes);
            memset(memory[i], (int)round, size);
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(*(char *)memory[i], round);
            weir_slab_free(slab, memory[i], room_bytes);
        }
        assert_int_equal(weir_slab_used_bytes(slab), 0);
    }
    // 20 rounds of up to 4 MB each went through at most this much.
    assert_true(weir_slab_held_bytes(slab) <= (size_t)6 << 20);
    free(memory);
    weir_slab_destroy(slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slab_rooms_are_apart),
        cmocka_unit_test(test_slab_empty_pages_serve_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
