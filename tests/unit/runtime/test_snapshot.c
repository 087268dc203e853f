// SPDX-License-Identifier: Apache-2.0
// A snapshot owns what it was given, and goes to the coordinator with the last release only.
#include "runtime/state.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>

static void test_snapshot_owns_its_state(void **state)
{
    (void)state;
    struct weir_mailbox *mailbox = weir_mailbox_create();
    struct weir_barrier barrier = {.number = 7};
    struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 3, mailbox);
    char stage[] = "stage";
    char names[2][8] = {"one", "two"};
    struct weir_state_file files[] = {
        {.name = names[0], .size_bytes = 10, .xxh3 = 11, .is_materialised = true, .number = 5},
        {.name = names[1], .size_bytes = 20, .xxh3 = 21, .number = 7},
    };
    weir_snapshot_hold(snapshot);
    weir_snapshot_set_state(
        snapshot, &(struct weir_state_handle){
                      .stage = stage, .key_groups = {3, 4}, .file_count = 2, .files = files});
    memset(stage, 'x', sizeof stage);
    memset(names, 'x', sizeof names);
    memset(files, 0, sizeof files);

    weir_snapshot_release(snapshot);
    struct weir_mail mail;
    assert_false(weir_mailbox_take(mailbox, &mail));
    weir_snapshot_release(snapshot);
    assert_true(weir_mailbox_take(mailbox, &mail));
    assert_int_equal(mail.kind, WEIR_MAIL_ACKNOWLEDGED);
    assert_ptr_equal(mail.payload, snapshot);
    assert_string_equal(snapshot->state->stage, "stage");
    assert_int_equal(snapshot->state->key_groups.count, 4);
    assert_int_equal(snapshot->state->file_count, 2);
    assert_string_equal(snapshot->state->files[0].name, "one");
    assert_true(snapshot->state->files[0].is_materialised);
    assert_string_equal(snapshot->state->files[1].name, "two");
    assert_int_equal(snapshot->state->files[1].xxh3, 21);
    weir_snapshot_destroy(snapshot);
    weir_mailbox_destroy(mailbox, NULL);
}

static void test_snapshot_abandoned_is_not_posted(void **state)
{
    (void)state;
    struct weir_mailbox *mailbox = weir_mailbox_create();
    struct weir_barrier barrier = {.number = 7};
    struct weir_snapshot *snapshot = weir_snapshot_create(&barrier, 3, mailbox);
    weir_snapshot_hold(snapshot);
    weir_snapshot_abandon(snapshot);
    weir_snapshot_release(snapshot);
    struct weir_mail mail;
    assert_false(weir_mailbox_take(mailbox, &mail));
    weir_mailbox_destroy(mailbox, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshot_owns_its_state),
        cmocka_unit_test(test_snapshot_abandoned_is_not_posted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
