// SPDX-License-Identifier: Apache-2.0
#include "changes.h"

#include "operators/aggregate.h"

struct fixture {
    struct weir_arena *arena;
    struct weir_schema *schema;
    struct weir_state_store *store;
    struct weir_normalize_config config;
    struct weir_operator *op;
    struct changes changes;
};

static void restart(struct fixture *fixture)
{
    if (fixture->op != NULL) {
        fixture->op->ops->destroy(fixture->op);
    }
    fixture->op = weir_normalize_create("id", "normalize", &fixture->config);
    changes_attach(&fixture->changes, fixture->op);
}

static struct fixture *begin(const char *columns, uint32_t key_count)
{
    static const uint32_t KEYS[] = {0, 1};
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    fixture->arena = weir_arena_create(1 << 12);
    fixture->schema = changes_schema(fixture->arena, columns);
    fixture->store = memory_state_store_create();
    fixture->config = (struct weir_normalize_config){.schema = fixture->schema,
                                                     .key_count = key_count,
                                                     .key_columns = KEYS,
                                                     .store = fixture->store};
    changes_init(&fixture->changes);
    restart(fixture);
    return fixture;
}

static void end(struct fixture *fixture)
{
    fixture->op->ops->destroy(fixture->op);
    fixture->store->ops->destroy(fixture->store);
    changes_deinit(&fixture->changes);
    weir_arena_destroy(fixture->arena);
    free(fixture);
}

// C106, with a restart between any two batches.
static void test_normalize_turns_upserts_into_changes(void **state)
{
    (void)state;
    struct fixture *fixture = begin("k:text v:integer", 1);
    CHANGES_FEED(fixture->op, fixture->schema, "+ k1|5", "+ k2|7", "- k1|NULL", "- k3|NULL");
    changes_expect(&fixture->changes, "+(k1, 5) +(k2, 7) -(k1, 5)");
    changes_pass_barrier(fixture->op, fixture->store);
    restart(fixture);
    CHANGES_FEED(fixture->op, fixture->schema, "+ k1|9", "+ k2|7", "+ k2|8", "+ k2|NULL",
                 "- k1|NULL");
    changes_expect(&fixture->changes, "+(k1, 9) <(k2, 7) >(k2, 8) <(k2, 8) >(k2, NULL) -(k1, 9)");
    changes_pass_barrier(fixture->op, fixture->store);
    restart(fixture);
    CHANGES_FEED(fixture->op, fixture->schema, "- k1|NULL", "- k2|NULL", "- k2|NULL");
    changes_expect(&fixture->changes, "-(k2, NULL)");
    end(fixture);
}

// C109.
static void test_normalize_keys_count_with_all_their_columns(void **state)
{
    (void)state;
    struct fixture *fixture = begin("a:text b:text v:integer", 2);
    CHANGES_FEED(fixture->op, fixture->schema, "+ m|x|5", "+ m|y|6", "+ m|x|7", "+ n|x|8",
                 "- m|y|NULL", "+ xy|z|1", "+ x|yz|2");
    changes_expect(&fixture->changes, "+(m, x, 5) +(m, y, 6) <(m, x, 5) >(m, x, 7) +(n, x, 8) "
                                      "-(m, y, 6) +(xy, z, 1) +(x, yz, 2)");
    end(fixture);
}

static void test_normalize_keeps_spelling_and_event_time_of_the_old_row(void **state)
{
    (void)state;
    struct fixture *fixture = begin("k:numeric v:jsonb", 1);
    fixture->changes.has_event_times = true;
    CHANGES_FEED(fixture->op, fixture->schema, "+@1000 2.00|{\"a\": 1}", "+@2000 2.0|{\"a\": 1}",
                 "+@3000 12345678901234567890.50|null", "-@9000 12345678901234567890.5|NULL");
    changes_expect(&fixture->changes,
                   "+(2.00, {\"a\": 1})@1000 <(2.00, {\"a\": 1})@1000 >(2.0, {\"a\": 1})@2000 "
                   "+(12345678901234567890.50, null)@3000 -(12345678901234567890.50, null)@3000");
    end(fixture);
}

static void test_normalize_fills_more_than_one_batch(void **state)
{
    (void)state;
    struct fixture *fixture = begin("k:integer v:integer", 1);
    for (uint32_t round = 0; round < 2; round++) {
        static char lines[WEIR_BATCH_ROWS_MAX][32];
        const char *pointers[WEIR_BATCH_ROWS_MAX];
        for (uint32_t i = 0; i < WEIR_BATCH_ROWS_MAX; i++) {
            snprintf(lines[i], sizeof lines[i], "+ %u|%u", i, i + round);
            pointers[i] = lines[i];
        }
        changes_feed(fixture->op, fixture->schema, WEIR_BATCH_ROWS_MAX, pointers);
    }
    assert_int_equal(fixture->changes.row_count, 3 * WEIR_BATCH_ROWS_MAX);
    end(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalize_turns_upserts_into_changes),
        cmocka_unit_test(test_normalize_keys_count_with_all_their_columns),
        cmocka_unit_test(test_normalize_keeps_spelling_and_event_time_of_the_old_row),
        cmocka_unit_test(test_normalize_fills_more_than_one_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
