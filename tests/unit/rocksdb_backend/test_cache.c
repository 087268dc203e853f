// SPDX-License-Identifier: Apache-2.0
// The rules of versions: what a write does to one that is current, frozen, clean; what is freed
// when; what leaves when memory is short, and what the group knows then.
#include "rocksdb_backend/cache.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>

struct fixture {
    struct weir_cache cache;
    struct weir_cached_state state;
};

static int set_up(void **state)
{
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    weir_cache_init(&fixture->cache, (struct weir_key_group_range){.first = 4, .count = 2}, 65536);
    weir_cache_add_state(&fixture->cache, &fixture->state, 77, true);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    weir_cache_deinit(&fixture->cache);
    free(fixture);
    return 0;
}

static struct weir_state_key key_of(const char *text)
{
    return (struct weir_state_key){.key_group = 5, .bytes = weir_view_of(text)};
}

static struct weir_group *group_of(struct fixture *fixture)
{
    return weir_cache_group(&fixture->cache, &fixture->state, 5);
}

static struct weir_slot *find(struct fixture *fixture, const char *text)
{
    struct weir_view key = weir_view_of(text);
    return weir_group_find(group_of(fixture), weir_cache_hash(key), key);
}

static struct weir_version *write(struct fixture *fixture, const char *text, const char *value)
{
    struct weir_state_key key = key_of(text);
    bool existed;
    struct weir_version *version =
        weir_cache_write(&fixture->cache, &fixture->state, group_of(fixture), find(fixture, text),
                         weir_cache_hash(key.bytes), &key, (uint32_t)strlen(value), &existed);
    memcpy(weir_version_data(version), value, strlen(value));
    return version;
}

static void remove_key(struct fixture *fixture, const char *text)
{
    struct weir_state_key key = key_of(text);
    weir_cache_remove(&fixture->cache, &fixture->state, group_of(fixture), find(fixture, text),
                      weir_cache_hash(key.bytes), &key);
}

static void assert_value(const struct weir_version *version, const char *value)
{
    assert_true(weir_view_equal(weir_version_value(version), weir_view_of(value)));
}

// All sets there are, as the io side would.
static void make_durable(struct fixture *fixture)
{
    weir_cache_set_written(&fixture->cache, fixture->cache.epoch - 1);
}

static void make_clean(struct fixture *fixture)
{
    make_durable(fixture);
    struct weir_application *application = weir_cache_begin_apply(&fixture->cache);
    weir_cache_set_clean(&fixture->cache, application->epoch);
    free(application);
}

static struct fixture *freeze_next(struct fixture *fixture)
{
    weir_cache_freeze(&fixture->cache, fixture->cache.epoch);
    return fixture;
}

// Of a set that is still being read, only what has yet to be read is left alone.
static void test_cache_read_change_is_taken_over(void **state)
{
    struct fixture *fixture = *state;
    struct weir_cache *cache = &fixture->cache;
    struct weir_version *first = write(fixture, "a", "one");
    struct weir_version *second = write(fixture, "b", "one");
    remove_key(fixture, "c");
    struct weir_state_change changes[4];
    weir_cache_begin_changes(cache, &fixture->state);
    struct weir_frozen_set *set = weir_cache_freeze(cache, 10);
    struct weir_version *removed = set->lists[0].versions[0]; // first, as it is absent
    assert_int_equal(weir_cache_read_changes(cache, &fixture->state, 2, changes), 2);
    assert_ptr_equal(changes[1].value.data, weir_version_data(set->lists[0].versions[1]));
    bool is_first = set->lists[0].versions[1] == first;
    const char *sent = is_first ? "a" : "b";
    const char *waiting = is_first ? "b" : "a";

    // Not even what has been read: its log is being written.
    struct weir_version *copy = write(fixture, sent, "two");
    assert_ptr_not_equal(copy, is_first ? first : second);
    assert_ptr_equal(set->lists[0].versions[1], is_first ? first : second);
    make_durable(fixture);
    assert_int_equal(cache->logged_through, 0);
    assert_int_equal(cache->logged_bytes, 0);
    // It has been read, and comes into the current epoch.
    assert_ptr_equal(write(fixture, "c", "two"), removed);
    assert_null(set->lists[0].versions[0]);
    // It has not.
    copy = write(fixture, waiting, "two");
    assert_ptr_not_equal(copy, is_first ? second : first);
    assert_value(is_first ? second : first, "one");
    assert_int_equal(weir_cache_read_changes(cache, &fixture->state, 4, changes), 1);
    assert_true(weir_view_equal(changes[0].value, weir_view_of("one")));
    assert_int_equal(weir_cache_read_changes(cache, &fixture->state, 4, changes), 0);
    make_durable(fixture);
    assert_int_equal(cache->logged_through, 1);
    assert_int_equal(cache->logged_bytes, set->bytes);
    assert_int_equal(cache->logged_absent_count, 0);
    make_clean(freeze_next(fixture));
    assert_int_equal(cache->frozen_bytes, 0);
}

static void test_cache_current_is_changed_in_place(void **state)
{
    struct fixture *fixture = *state;
    struct weir_version *first = write(fixture, "k", "one");
    assert_ptr_equal(write(fixture, "k", "two"), first);
    assert_int_equal(fixture->state.list.count, 1);
    // A value that needs another room moves, in table and list.
    char large[500];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    struct weir_version *moved = write(fixture, "k", large);
    assert_ptr_not_equal(moved, first);
    assert_ptr_equal(find(fixture, "k")->version, moved);
    assert_int_equal(fixture->state.list.count, 1);
    assert_ptr_equal(fixture->state.list.versions[0], moved);
    assert_int_equal(fixture->cache.dirty_bytes, moved->room_bytes + 64 * sizeof(void *));
    assert_int_equal(weir_slab_used_bytes(fixture->cache.slab), moved->room_bytes);
}

static void test_cache_frozen_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct weir_version *first = write(fixture, "k", "one");
    struct weir_frozen_set *set = weir_cache_freeze(&fixture->cache, 10);
    assert_int_equal(set->entry_count, 1);
    assert_ptr_equal(set->lists[0].versions[0], first);
    assert_int_equal(fixture->state.list.count, 0);
    assert_int_equal(fixture->cache.dirty_bytes, 0);
    assert_int_equal(fixture->cache.frozen_bytes, first->room_bytes + 64 * sizeof(void *));

    struct weir_version *second = write(fixture, "k", "two");
    assert_ptr_not_equal(second, first);
    assert_value(first, "one");
    weir_cache_freeze(&fixture->cache, 11);
    struct weir_version *third = write(fixture, "k", "three");
    assert_value(first, "one");
    assert_value(second, "two");

    size_t used_bytes = weir_slab_used_bytes(fixture->cache.slab);
    uint32_t rooms = first->room_bytes + second->room_bytes;
    make_clean(fixture);
    assert_int_equal(weir_slab_used_bytes(fixture->cache.slab), used_bytes - rooms);
    assert_int_equal(fixture->cache.frozen_bytes, 0);
    assert_ptr_equal(find(fixture, "k")->version, third);
}

static void test_cache_clean_becomes_current_in_place(void **state)
{
    struct fixture *fixture = *state;
    struct weir_version *version = write(fixture, "k", "one");
    weir_cache_freeze(&fixture->cache, 10);
    make_clean(fixture);
    assert_ptr_equal(write(fixture, "k", "two"), version);
    assert_int_equal(fixture->state.list.count, 1);
    assert_int_equal(weir_cache_freeze(&fixture->cache, 11)->entry_count, 1);
}

// Of a key that is changed in each epoch there is one version, and one is applied.
static void test_cache_logged_becomes_current_in_place(void **state)
{
    struct fixture *fixture = *state;
    struct weir_version *version = write(fixture, "k", "one");
    write(fixture, "other", "one");
    size_t used_bytes = weir_slab_used_bytes(fixture->cache.slab);
    for (uint32_t epoch = 1; epoch < 30; epoch++) {
        weir_cache_freeze(&fixture->cache, epoch);
        make_durable(fixture);
        assert_ptr_equal(write(fixture, "k", "two"), version);
        assert_int_equal(weir_slab_used_bytes(fixture->cache.slab), used_bytes);
    }
    struct weir_application *application = weir_cache_begin_apply(&fixture->cache);
    assert_int_equal(application->set_count, 29);
    assert_int_equal(application->number, 29);
    assert_int_equal(application->whole_epoch, 30);
    uint32_t count = 0;
    for (uint32_t i = 0; i < application->set_count; i++) {
        const struct weir_version_list *list = &application->sets[i]->lists[0];
        for (uint32_t j = 0; j < list->count; j++) {
            count += list->versions[j] != NULL;
        }
    }
    assert_int_equal(count, 1); // "other"; "k" is of the current epoch
    weir_cache_set_clean(&fixture->cache, application->epoch);
    free(application);
    assert_int_equal(fixture->cache.frozen_bytes, 0);
    assert_ptr_equal(find(fixture, "k")->version, version);
    make_clean(freeze_next(fixture));
    assert_int_equal(fixture->cache.frozen_bytes + fixture->cache.dirty_bytes, 0);
}

// A logged value that needs another room moves, and so does what it counts for.
static void test_cache_logged_moves_when_it_grows(void **state)
{
    struct fixture *fixture = *state;
    write(fixture, "k", "one");
    weir_cache_freeze(&fixture->cache, 1);
    make_durable(fixture);
    char large[500];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    struct weir_version *moved = write(fixture, "k", large);
    assert_memory_equal(weir_version_data(moved), large, 499);
    assert_int_equal(weir_slab_used_bytes(fixture->cache.slab), moved->room_bytes);
    assert_int_equal(fixture->cache.logged_bytes, 64 * sizeof(void *)); // the list is left
    make_clean(freeze_next(fixture));
    assert_int_equal(weir_slab_used_bytes(fixture->cache.slab), moved->room_bytes);
}

static void test_cache_applying_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct weir_version *first = write(fixture, "k", "one");
    struct weir_version *removed = write(fixture, "r", "one");
    weir_cache_freeze(&fixture->cache, 1);
    make_durable(fixture);
    struct weir_application *application = weir_cache_begin_apply(&fixture->cache);
    assert_int_equal(fixture->cache.logged_bytes, 0);
    struct weir_version *second = write(fixture, "k", "two");
    remove_key(fixture, "r");
    assert_ptr_not_equal(second, first);
    assert_value(first, "one");
    assert_value(removed, "one");
    // The next set becomes durable meanwhile: RocksDB will have "r", so its removal stays.
    weir_cache_freeze(&fixture->cache, 2);
    make_durable(fixture);
    assert_non_null(find(fixture, "r"));
    weir_cache_set_clean(&fixture->cache, application->epoch);
    free(application);
    assert_true(find(fixture, "r")->version->is_absent);
    make_clean(fixture);
    assert_null(find(fixture, "r"));
    assert_value(find(fixture, "k")->version, "two");
}

// What comes and goes between two applications never reaches RocksDB.
static void test_cache_removed_before_it_was_applied_leaves_when_durable(void **state)
{
    struct fixture *fixture = *state;
    write(fixture, "a", "1");
    write(fixture, "b", "1");
    weir_cache_freeze(&fixture->cache, 1);
    make_durable(fixture);
    remove_key(fixture, "a");
    assert_int_equal(fixture->state.list.count, 1); // the log of epoch 2 must know
    struct weir_frozen_set *set = weir_cache_freeze(&fixture->cache, 2);
    assert_int_equal(set->entry_count, 1);
    assert_non_null(find(fixture, "a"));
    make_durable(fixture);
    assert_null(find(fixture, "a"));
    assert_int_equal(fixture->cache.logged_absent_count, 0);
    make_clean(fixture);
    // Now RocksDB has "b".
    remove_key(fixture, "b");
    weir_cache_freeze(&fixture->cache, 3);
    make_durable(fixture);
    assert_non_null(find(fixture, "b"));
    assert_int_equal(fixture->cache.logged_absent_count, 1);
    make_clean(fixture);
    assert_null(find(fixture, "b"));
}

// A frozen version may be applied before its removal is durable: the removal must be applied, too.
static void test_cache_removed_while_frozen_is_applied(void **state)
{
    struct fixture *fixture = *state;
    write(fixture, "a", "1");
    weir_cache_freeze(&fixture->cache, 1);
    remove_key(fixture, "a");
    weir_cache_freeze(&fixture->cache, 2);
    make_durable(fixture);
    assert_non_null(find(fixture, "a"));
    struct weir_application *application = weir_cache_begin_apply(&fixture->cache);
    assert_int_equal(application->sets[0]->lists[0].count, 1);
    assert_value(application->sets[0]->lists[0].versions[0], "1");
    assert_true(application->sets[1]->lists[0].versions[0]->is_absent);
    weir_cache_set_clean(&fixture->cache, 2);
    free(application);
    assert_null(find(fixture, "a"));
}

// A removed key hides what RocksDB has until that has gone, too; then nothing is left of it.
static void test_cache_removed_leaves_when_clean(void **state)
{
    struct fixture *fixture = *state;
    write(fixture, "a", "1");
    write(fixture, "b", "2");
    remove_key(fixture, "a");
    remove_key(fixture, "never");
    assert_int_equal(fixture->state.list.count, 3);
    assert_int_equal(fixture->state.list.absent_count, 2);
    weir_cache_freeze(&fixture->cache, 10);
    assert_true(find(fixture, "a")->version->is_absent);
    make_clean(fixture);
    assert_null(find(fixture, "a"));
    assert_null(find(fixture, "never"));
    assert_non_null(find(fixture, "b"));
    // All of it is still known: no entry is in RocksDB that is not here.
    assert_true(weir_group_is_known_absent(group_of(fixture), weir_view_of("a")));
}

// Written again while its removal is frozen: the new version stays when the old one goes.
static void test_cache_removed_and_written_again_stays(void **state)
{
    struct fixture *fixture = *state;
    write(fixture, "a", "1");
    remove_key(fixture, "a");
    weir_cache_freeze(&fixture->cache, 10);
    struct weir_version *version = write(fixture, "a", "2");
    make_clean(fixture);
    assert_ptr_equal(find(fixture, "a")->version, version);
    assert_value(version, "2");
    remove_key(fixture, "a");
    write(fixture, "a", "33");
    remove_key(fixture, "a");
    assert_int_equal(fixture->state.list.count, 1);
    assert_int_equal(fixture->state.list.absent_count, 1);
}

static void fill(struct fixture *fixture, const char *value)
{
    for (uint32_t i = 0; i < 1000; i++) {
        char text[8];
        snprintf(text, sizeof text, "%u", i + 100);
        weir_cache_make_room(&fixture->cache);
        write(fixture, text, value);
    }
}

static void test_cache_only_clean_versions_leave(void **state)
{
    struct fixture *fixture = *state;
    char value[200] = {0};
    memset(value, 'x', sizeof value - 1);
    fill(fixture, value);
    assert_int_equal(group_of(fixture)->count, 1000); // far above the budget, but all are dirty
    assert_int_equal(fixture->cache.evicted_count, 0);
    weir_cache_freeze(&fixture->cache, 10);
    for (uint32_t i = 0; i < 1000; i++) {
        weir_cache_make_room(&fixture->cache);
    }
    assert_int_equal(fixture->cache.evicted_count, 0);

    make_clean(fixture);
    for (uint32_t i = 0; i < 1000; i++) {
        weir_cache_make_room(&fixture->cache);
    }
    assert_true(weir_cache_used_bytes(&fixture->cache) <= 65536);
    uint32_t count = group_of(fixture)->count;
    assert_in_range(count, 50, 300);
    // What has left is not known to be absent; what was never there below all of them is.
    for (uint32_t i = 0; i < 1000; i++) {
        char text[8];
        snprintf(text, sizeof text, "%u", i + 100);
        assert_true(find(fixture, text) != NULL ||
                    !weir_group_is_known_absent(group_of(fixture), weir_view_of(text)));
    }
    assert_true(weir_group_is_known_absent(group_of(fixture), weir_view_of("0")));
}

// What is used again and again stays.
static void test_cache_used_versions_stay(void **state)
{
    struct fixture *fixture = *state;
    char value[200] = {0};
    memset(value, 'x', sizeof value - 1);
    write(fixture, "hot", value);
    for (uint32_t epoch = 0; epoch < 40; epoch++) {
        for (uint32_t i = 0; i < 100; i++) {
            char text[16];
            snprintf(text, sizeof text, "%u", epoch * 100 + i);
            weir_cache_make_room(&fixture->cache);
            write(fixture, text, value);
            assert_non_null(find(fixture, "hot"));
            find(fixture, "hot")->is_referenced = true;
        }
        weir_cache_freeze(&fixture->cache, epoch + 1);
        make_clean(fixture);
    }
    assert_true(fixture->cache.evicted_count > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cache_read_change_is_taken_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_current_is_changed_in_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_frozen_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_clean_becomes_current_in_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_cache_logged_becomes_current_in_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_cache_logged_moves_when_it_grows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_applying_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_cache_removed_before_it_was_applied_leaves_when_durable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_removed_while_frozen_is_applied, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_cache_removed_leaves_when_clean, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_removed_and_written_again_stays, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_cache_only_clean_versions_leave, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_used_versions_stay, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
