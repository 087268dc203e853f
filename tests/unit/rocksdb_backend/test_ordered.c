// SPDX-License-Identifier: Apache-2.0
// The ordered index against a sorted array: random inserts, removals, replacements and seeks, with
// keys that share long beginnings.
#include "rocksdb_backend/ordered.h"

#include "runtime/base/memory.h"
#include "runtime/types/hash.h"

#include "tests/unit/cmocka_all.h"

// SHARED: bytes that all keys begin with. Longer than what the index keeps of a key, and shorter;
// in steps in which what follows lies across two of its words, and across its end.
enum { KEYS = 3000, SHARED_MAX = 30, KEY_BYTES = SHARED_MAX + 4 };

static uint32_t shared_bytes;

static struct weir_version *make(uint32_t idx)
{
    struct weir_version *version = weir_alloc_zero(sizeof *version + KEY_BYTES);
    // In order of idx: a shared beginning, two digits, and for every third a longer key.
    version->key_bytes = shared_bytes + (idx % 3 == 0 ? 2 : 4);
    memset(version->bytes, 'a', shared_bytes);
    char *own = version->bytes + shared_bytes;
    own[0] = (char)(idx / 3 / 200 + 1);
    own[1] = (char)(idx / 3 % 200);
    if (idx % 3 != 0) {
        own[2] = (char)(idx % 3);
        own[3] = 0;
    }
    return version;
}

static void check_walk(const struct weir_ordered *ordered, struct weir_version **versions,
                       uint32_t from)
{
    struct weir_version *probe = make(from);
    struct weir_ordered_cursor cursor = weir_ordered_seek(ordered, weir_version_key(probe));
    free(probe);
    for (uint32_t i = from; i < KEYS; i++) {
        if (versions[i] != NULL) {
            assert_ptr_equal(weir_ordered_at(&cursor), versions[i]);
            weir_ordered_next(&cursor);
        }
    }
    assert_null(weir_ordered_at(&cursor));
}

static void run(uint64_t seed, bool is_ascending)
{
    struct weir_version *versions[KEYS] = {NULL};
    struct weir_ordered *ordered = weir_ordered_create();
    uint32_t count = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        seed = weir_hash_mix(seed);
        uint32_t idx = is_ascending && i < KEYS ? i : (uint32_t)(seed % KEYS);
        // Fills up first, then empties.
        bool wants = is_ascending ? i < KEYS : seed >> 32 & (i < 10000 ? 3 : 1);
        if (versions[idx] == NULL && wants) {
            versions[idx] = make(idx);
            weir_ordered_insert(ordered, versions[idx]);
            count++;
        } else if (versions[idx] != NULL && !wants) {
            weir_ordered_erase(ordered, versions[idx]);
            free(versions[idx]);
            versions[idx] = NULL;
            count--;
        } else if (versions[idx] != NULL) {
            struct weir_version *other = make(idx);
            weir_ordered_replace(ordered, versions[idx], other);
            free(versions[idx]);
            versions[idx] = other;
        }
        if (i % 500 == 0) {
            check_walk(ordered, versions, 0);
            check_walk(ordered, versions, (uint32_t)(seed >> 20) % KEYS);
        }
    }
    // Blocks of 32 entries of 32 bytes, a third full at the least (and one block).
    assert_true(weir_ordered_bytes(ordered) < 8192 + 6 * 32 * (size_t)count);
    for (uint32_t i = 0; i < KEYS; i++) {
        free(versions[i]);
    }
    weir_ordered_destroy(ordered);
}

static void test_ordered_is_as_the_model(void **state)
{
    (void)state;
    for (shared_bytes = 0; shared_bytes <= SHARED_MAX; shared_bytes += 7) {
        run(1, false);
        run(2, false);
        run(3, true);
    }
}

static void test_ordered_of_the_empty_key(void **state)
{
    (void)state;
    struct weir_ordered *ordered = weir_ordered_create();
    struct weir_view nothing = {.data = NULL};
    struct weir_ordered_cursor cursor = weir_ordered_seek(ordered, nothing);
    assert_null(weir_ordered_at(&cursor));
    struct weir_version *empty = weir_alloc_zero(sizeof *empty);
    struct weir_version *zero = weir_alloc_zero(sizeof *zero + 1); // a key of one zero byte
    zero->key_bytes = 1;
    weir_ordered_insert(ordered, zero);
    weir_ordered_insert(ordered, empty);
    cursor = weir_ordered_seek(ordered, nothing);
    assert_ptr_equal(weir_ordered_at(&cursor), empty);
    weir_ordered_next(&cursor);
    assert_ptr_equal(weir_ordered_at(&cursor), zero);
    weir_ordered_destroy(ordered);
    free(empty);
    free(zero);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordered_is_as_the_model),
        cmocka_unit_test(test_ordered_of_the_empty_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
