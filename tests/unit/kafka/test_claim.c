// SPDX-License-Identifier: Apache-2.0
// The claim: by which handle, and that it does not make a handle anew. Behind it: a handle that is
// made anew for the next commit, while somebody else may have claimed.
#include "kafka/committer.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/kafka/fake_kafka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    char dir[64];
    struct weir_store *store;
    struct weir_handles *handles;
    struct weir_commit_partition partition;
    struct weir_manifest_position position;
    struct weir_manifest manifest; // of checkpoint 8; the pointer that was found is 5
    struct weir_committer_config config;
};

static int set_up(void **state)
{
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    snprintf(fixture->dir, sizeof fixture->dir, "/tmp/weir-claim-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    struct weir_error error;
    assert_int_equal(weir_store_open(fixture->dir, "job", 0, &fixture->store, &error), WEIR_OK);
    fixture->handles = fake_handles_open();
    fixture->partition = (struct weir_commit_partition){.topic = "in", .topic_id = ""};
    fixture->position.entry =
        (struct weir_position_entry){.table = "t", .topic = "in", .offset = 100};
    fixture->manifest = (struct weir_manifest){.number = 8,
                                               .attempt = {"aaaaaaaaaaaaaaaa"},
                                               .position_count = 1,
                                               .positions = &fixture->position};
    fixture->config = (struct weir_committer_config){.kafka = &fake_kafka.base,
                                                     .handles = fixture->handles,
                                                     .store = fixture->store,
                                                     .clock = &weir_system_clock,
                                                     .attempt = {"bbbbbbbbbbbbbbbb"},
                                                     .claim_epoch = 6,
                                                     .retained = 2,
                                                     .commit_timeout_ms = 1000,
                                                     .partition_count = 1,
                                                     .partitions = &fixture->partition};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->config.janitor != NULL) {
        weir_janitor_destroy(fixture->config.janitor);
    }
    fake_handles_close(fixture->handles);
    weir_store_close(fixture->store);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", fixture->dir);
    int result = system(command);
    free(fixture);
    return result;
}

// An older owner at pointer 5 commits 6 by handle 2, whatever number a savepoint, a discard or a
// reset has made of the checkpoint that is claimed: the two have to meet.
static void test_claim_goes_by_the_handle_of_the_pointer(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    assert_int_equal(weir_claim(&fixture->config, &fixture->manifest, &error), WEIR_OK);
    assert_string_equal(fake_kafka.calls, "begin:2 offsets:2 commit:2 ");
}

// Made anew it would fence whoever has claimed since the pointer was read.
static void test_claim_by_a_used_up_handle_is_given_up(void **state)
{
    struct fixture *fixture = *state;
    struct weir_error error;
    fake_of(fixture->handles, 6)->is_used_up = true;
    assert_int_equal(weir_claim(&fixture->config, &fixture->manifest, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_RECOVER);
    assert_string_equal(fake_kafka.calls, "");
    assert_int_equal(fake_kafka.producer_count, 4);
}

// The handle of the claim, whose last answer came late: the next commit is to go by it.
static enum weir_status start_with_used_up_handle(struct fixture *fixture, const char *pointer,
                                                  struct weir_error *error)
{
    fixture->manifest.number = 5;
    assert_int_equal(weir_claim(&fixture->config, &fixture->manifest, error), WEIR_OK);
    fake_of(fixture->handles, 6)->is_used_up = true;
    fake_kafka.pointer = pointer;
    struct weir_mailbox *mailbox = weir_mailbox_create();
    fixture->config.coordinator = mailbox;
    struct weir_committer *committer;
    enum weir_status status = weir_committer_start(&fixture->config, 6, &committer, error);
    if (status == WEIR_OK) {
        weir_committer_stop(committer);
        fixture->config.janitor = NULL;
    }
    weir_mailbox_destroy(mailbox, NULL);
    return status;
}

static void test_handle_made_anew_goes_on_where_the_job_is_still_ours(void **state)
{
    struct weir_error error;
    assert_int_equal(
        start_with_used_up_handle(*state, "w1:5:aaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbb", &error),
        WEIR_OK);
    assert_int_equal(fake_kafka.producer_count, 5);
}

static void test_handle_made_anew_does_not_follow_somebody_elses_claim(void **state)
{
    struct weir_error error;
    assert_int_equal(
        start_with_used_up_handle(*state, "w1:5:aaaaaaaaaaaaaaaa:cccccccccccccccc", &error),
        WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_FENCED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_claim_goes_by_the_handle_of_the_pointer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_claim_by_a_used_up_handle_is_given_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_handle_made_anew_goes_on_where_the_job_is_still_ours,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_handle_made_anew_does_not_follow_somebody_elses_claim,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests_name("kafka/test_claim", tests, NULL, NULL);
}
