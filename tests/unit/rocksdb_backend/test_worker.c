// SPDX-License-Identifier: Apache-2.0
// Workers: items in order, each run or dropped, never both; stepped ones only when stepped.
#include "rocksdb_backend/worker.h"

#include "tests/unit/cmocka_all.h"

#include <stdatomic.h>

struct counts {
    atomic_uint run_count;
    atomic_uint drop_count;
    uintptr_t last; // of what was run
    bool is_disordered;
};

static void run(void *context, void *item)
{
    struct counts *counts = context;
    counts->is_disordered = counts->is_disordered || (uintptr_t)item != counts->last + 1;
    counts->last = (uintptr_t)item;
    atomic_fetch_add(&counts->run_count, 1);
}

static void drop(void *context, void *item)
{
    (void)item;
    struct counts *counts = context;
    atomic_fetch_add(&counts->drop_count, 1);
}

static struct weir_worker *create(struct counts *counts, bool is_stepped)
{
    return weir_worker_create(&(struct weir_worker_config){
        .name = "test", .context = counts, .run = run, .drop = drop, .is_stepped = is_stepped});
}

static void test_worker_stepped(void **state)
{
    (void)state;
    struct counts counts = {0};
    struct weir_worker *worker = create(&counts, true);
    assert_false(weir_worker_step(worker));
    for (uintptr_t i = 1; i <= 3; i++) {
        weir_worker_push(worker, (void *)i);
    }
    assert_true(weir_worker_step(worker));
    assert_true(weir_worker_step(worker));
    assert_int_equal(counts.run_count, 2);
    weir_worker_stop(worker);
    assert_int_equal(counts.drop_count, 1);
    weir_worker_push(worker, (void *)4);
    assert_int_equal(counts.drop_count, 2);
    assert_false(counts.is_disordered);
    weir_worker_destroy(worker);
}

static void test_worker_with_a_thread(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        struct counts counts = {0};
        struct weir_worker *worker = create(&counts, false);
        for (uintptr_t j = 1; j <= 100; j++) {
            weir_worker_push(worker, (void *)j);
        }
        weir_worker_stop(worker);
        assert_int_equal(counts.run_count + counts.drop_count, 100);
        assert_false(counts.is_disordered);
        weir_worker_destroy(worker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker_stepped),
        cmocka_unit_test(test_worker_with_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
