// SPDX-License-Identifier: Apache-2.0
// The recovery decision as a table: each row is a world that may be found, and what is done then.
#include "runtime/recovery.h"

#include "tests/unit/cmocka_all.h"

static const struct weir_attempt attempt_a = {.text = "aaaaaaaaaaaaaaaa"};
static const struct weir_attempt attempt_b = {.text = "bbbbbbbbbbbbbbbb"};

// Manifest n of the world below: two partitions of topic "in", at 100 and 200.
static struct weir_manifest_position positions[] = {
    {.entry = {.table = "t", .topic = "in", .partition = 0, .offset = 100, .last_offset = 99},
     .topic_id = ""},
    {.entry = {.table = "t", .topic = "in", .partition = 1, .offset = 200, .last_offset = 199},
     .topic_id = ""},
};

struct world {
    struct weir_found found;
    struct weir_found_partition partitions[4];
    struct weir_found_manifest found_manifests[4];
    struct weir_manifest manifests[4];
};

static void add_manifest(struct world *world, int64_t number, struct weir_attempt attempt)
{
    uint32_t idx = world->found.manifest_count++;
    world->manifests[idx] = (struct weir_manifest){.number = number,
                                                   .attempt = attempt,
                                                   .job_id = "job",
                                                   .cluster_id = "cluster",
                                                   .kind = "checkpoint",
                                                   .restore = "auto",
                                                   .position_count = 2,
                                                   .positions = positions};
    world->found_manifests[idx] = (struct weir_found_manifest){.number = number,
                                                               .attempt = attempt,
                                                               .state = WEIR_MANIFEST_INTACT,
                                                               .manifest = &world->manifests[idx]};
}

static void add_partition(struct world *world, int32_t partition, int64_t pointer_number,
                          int64_t offset)
{
    world->partitions[world->found.partition_count++] = (struct weir_found_partition){
        .table = "t",
        .topic = "in",
        .partition = partition,
        .pointer_state = pointer_number < 0 ? WEIR_POINTER_ABSENT : WEIR_POINTER_PRESENT,
        .pointer = {.number = pointer_number,
                    .manifest_attempt = attempt_a,
                    .owner_attempt = attempt_b},
        .committed_offset = offset,
        .low_offset = 0,
        .high_offset = 1000,
        .topic_id = "",
        .last_record = WEIR_LAST_RECORD_SAME,
    };
}

// A job that committed checkpoint 7; partition 1 has not moved since 5.
static void make_healthy(struct world *world)
{
    memset(world, 0, sizeof *world);
    world->found = (struct weir_found){.job_id = "job",
                                       .cluster_id = "cluster",
                                       .store_path = "/store",
                                       .restore = "auto",
                                       .partitions = world->partitions,
                                       .manifests = world->found_manifests};
    add_manifest(world, 6, attempt_a);
    add_manifest(world, 7, attempt_a);
    add_manifest(world, 8, attempt_a); // durable, but its transaction was not committed
    add_partition(world, 0, 7, 100);
    add_partition(world, 1, 5, 200);
}

static void make_empty(struct world *world)
{
    make_healthy(world);
    world->found.manifest_count = 0;
    world->partitions[0].pointer_state = WEIR_POINTER_ABSENT;
    world->partitions[1].pointer_state = WEIR_POINTER_ABSENT;
}

static void make_unclaimed(struct world *world)
{
    make_empty(world);
    add_manifest(world, 0, attempt_b);
    add_manifest(world, 0, attempt_a);
}

static void make_unclaimed_broken(struct world *world)
{
    make_unclaimed(world);
    world->found_manifests[0].state = WEIR_MANIFEST_BROKEN;
    world->found_manifests[1].state = WEIR_MANIFEST_BROKEN;
}

static void make_pointer_lost(struct world *world)
{
    make_healthy(world);
    world->partitions[0].pointer_state = WEIR_POINTER_ABSENT;
    world->partitions[1].pointer_state = WEIR_POINTER_ABSENT;
}

static void make_foreign(struct world *world)
{
    make_healthy(world);
    world->partitions[1].pointer_state = WEIR_POINTER_FOREIGN;
}

static void make_missing(struct world *world)
{
    make_healthy(world);
    world->found_manifests[1].attempt = attempt_b; // 7, but not the 7 that was committed
}

static void make_broken(struct world *world)
{
    make_healthy(world);
    world->found_manifests[1].state = WEIR_MANIFEST_BROKEN;
    world->found_manifests[1].manifest = NULL;
    world->found_manifests[1].error_text = "manifest-7 is damaged: it is empty";
}

static void make_other_cluster(struct world *world)
{
    make_healthy(world);
    world->found.cluster_id = "elsewhere";
}

static void make_other_job(struct world *world)
{
    make_healthy(world);
    world->partitions[0].topic = "other";
    world->partitions[1].topic = "other";
}

static void make_position_differs(struct world *world)
{
    make_healthy(world);
    world->partitions[0].committed_offset = 101;
}

// All committed offsets are gone: what is left in the store tells why, where it can be known.
static void make_pointer_lost_elsewhere(struct world *world)
{
    make_pointer_lost(world);
    world->found.cluster_id = "elsewhere";
}

static void make_pointer_lost_of_other_job(struct world *world)
{
    make_pointer_lost(world);
    world->partitions[0].topic = "other";
    world->partitions[1].topic = "other";
}

static void make_pointer_lost_with_shorter_topic(struct world *world)
{
    make_pointer_lost(world);
    world->partitions[1].high_offset = 12;
}

static void make_pointer_lost_with_other_record(struct world *world)
{
    make_pointer_lost(world);
    world->partitions[1].last_record = WEIR_LAST_RECORD_DIFFERENT;
}

static void make_pointer_lost_with_fewer_partitions(struct world *world)
{
    make_pointer_lost(world);
    world->found.partition_count = 1;
}

static void make_pointer_lost_with_broken_manifests(struct world *world)
{
    make_pointer_lost(world);
    for (uint32_t i = 0; i < world->found.manifest_count; i++) {
        world->found_manifests[i].state = WEIR_MANIFEST_BROKEN;
        world->found_manifests[i].manifest = NULL;
    }
}

static void make_unclaimed_elsewhere(struct world *world)
{
    make_unclaimed(world);
    world->found.cluster_id = "elsewhere";
}

static void make_partition_pointer_lost(struct world *world)
{
    make_healthy(world);
    world->partitions[1].pointer_state = WEIR_POINTER_ABSENT;
}

static void make_partition_gone(struct world *world)
{
    make_healthy(world);
    world->found.partition_count = 1;
}

static void make_shorter_topic(struct world *world)
{
    make_healthy(world);
    world->partitions[0].high_offset = 12;
}

static void make_other_record(struct world *world)
{
    make_healthy(world);
    world->partitions[0].last_record = WEIR_LAST_RECORD_DIFFERENT;
}

static void make_other_topic_id(struct world *world)
{
    make_healthy(world);
    world->partitions[0].topic_id = "new";
    static struct weir_manifest_position with_id[2];
    memcpy(with_id, positions, sizeof positions);
    with_id[0].topic_id = "old";
    world->manifests[1].positions = with_id;
}

static void make_records_missing(struct world *world)
{
    make_healthy(world);
    world->partitions[0].low_offset = 110;
}

static void make_records_missing_allowed(struct world *world)
{
    make_records_missing(world);
    world->partitions[0].can_skip_missing = true;
}

static void make_discard(struct world *world)
{
    make_broken(world); // the way out that the refusal offers
    world->found.restore = "discard:monday";
}

static void make_discard_obeyed(struct world *world)
{
    make_healthy(world);
    world->found.restore = "discard:monday";
    world->manifests[1].restore = "discard:monday";
}

static void make_new_partition(struct world *world)
{
    make_healthy(world);
    add_partition(world, 2, -1, 0);
}

static void make_new_table(struct world *world)
{
    make_healthy(world);
    add_partition(world, 0, -1, 0);
    world->partitions[2].table = "u";
    world->partitions[2].topic = "more";
}

// A second table on a topic that is read already.
static void make_new_table_on_known_topic(struct world *world)
{
    make_healthy(world);
    add_partition(world, 0, 7, 100);
    add_partition(world, 2, -1, 0); // which has grown, too
    world->partitions[2].table = "u";
    world->partitions[3].table = "u";
}

// Its table has another name than in the checkpoint.
static void make_renamed_table(struct world *world)
{
    make_healthy(world);
    add_partition(world, 2, -1, 0);
    for (uint32_t i = 0; i < world->found.partition_count; i++) {
        world->partitions[i].table = "renamed";
    }
}

static void make_exactly_at_end(struct world *world)
{
    make_healthy(world);
    world->partitions[0].high_offset = 100;
    world->partitions[0].low_offset = 100; // everything read was deleted since: nothing is missing
}

// A savepoint of checkpoint 3, at 40 and 50: not where the pointer stands.
static void make_savepoint(struct world *world)
{
    make_healthy(world);
    static struct weir_manifest_position at[2];
    memcpy(at, positions, sizeof positions);
    at[0].entry.offset = 40;
    at[1].entry.offset = 50;
    static struct weir_manifest savepoint;
    savepoint = world->manifests[0];
    savepoint.number = 3;
    savepoint.job_id = "another";
    savepoint.kind = "savepoint";
    savepoint.positions = at;
    world->found.restore = "savepoint:/sp";
    world->found.savepoint = &savepoint;
}

// The folder need not be there any more.
static void make_savepoint_obeyed(struct world *world)
{
    make_savepoint(world);
    world->manifests[1].restore = "savepoint:/sp";
    world->found.savepoint = NULL;
}

static void make_savepoint_in_empty_store(struct world *world)
{
    make_savepoint(world);
    world->found.manifest_count = 0;
    world->partitions[0].pointer_state = WEIR_POINTER_ABSENT;
    world->partitions[1].pointer_state = WEIR_POINTER_FOREIGN;
}

static void make_savepoint_elsewhere(struct world *world)
{
    make_savepoint(world);
    world->found.cluster_id = "elsewhere";
}

static void make_savepoint_with_removed_records(struct world *world)
{
    make_savepoint(world);
    world->partitions[1].low_offset = 60;
}

static void make_savepoint_of_former_topic(struct world *world)
{
    make_savepoint(world);
    world->partitions[1].last_record = WEIR_LAST_RECORD_DIFFERENT;
}

// Everything that speaks against a position, on a table whose position is given up.
static void make_reset(struct world *world)
{
    make_healthy(world);
    world->found.is_reset = true;
    for (int i = 0; i < 2; i++) {
        world->partitions[i].is_reset = true;
        world->partitions[i].low_offset = 150;
        world->partitions[i].last_record = WEIR_LAST_RECORD_DIFFERENT;
    }
    world->found.partition_count = 1;
}

static void make_reset_of_another_table(struct world *world)
{
    make_records_missing(world);
    world->found.is_reset = true;
    world->partitions[1].is_reset = true;
}

// A discard was written, but killed before its claim; nothing else is there.
static void make_unclaimed_discard(struct world *world)
{
    make_empty(world);
    add_manifest(world, 4, attempt_a);
    world->manifests[0].kind = "start";
}

// Nothing was ever committed: a checkpoint that goes on from there under a new number, and is not
// claimed either, would look like one whose pointer is lost.
static void make_reset_of_unclaimed_start(struct world *world)
{
    make_empty(world);
    add_manifest(world, 0, attempt_a);
    world->manifests[0].kind = "start";
    world->found.is_reset = true;
    world->partitions[0].is_reset = true;
}

static void make_unclaimed_discard_broken(struct world *world)
{
    make_unclaimed_discard(world);
    world->found_manifests[0].state = WEIR_MANIFEST_BROKEN;
    world->found_manifests[0].manifest = NULL;
}

struct row {
    const char *name;
    void (*make)(struct world *world);
    enum weir_recovery_kind kind;
    enum weir_recovery_refusal refusal;
    int64_t number;
    const char *says; // part of the refusal's text
};

static const struct row rows[] = {
    {"nothing anywhere", make_empty, WEIR_RECOVERY_FRESH, WEIR_REFUSAL_NONE, 0, NULL},
    {"killed before the claim", make_unclaimed, WEIR_RECOVERY_RESTORE, WEIR_REFUSAL_NONE, 0, NULL},
    {"unclaimed and broken", make_unclaimed_broken, WEIR_RECOVERY_FRESH, WEIR_REFUSAL_NONE, 0,
     NULL},
    {"healthy", make_healthy, WEIR_RECOVERY_RESTORE, WEIR_REFUSAL_NONE, 7, NULL},
    {"position at the very end", make_exactly_at_end, WEIR_RECOVERY_RESTORE, WEIR_REFUSAL_NONE, 7,
     NULL},
    {"new partition", make_new_partition, WEIR_RECOVERY_RESTORE, WEIR_REFUSAL_NONE, 7, NULL},
    {"new table", make_new_table, WEIR_RECOVERY_RESTORE, WEIR_REFUSAL_NONE, 7, NULL},
    {"pointer lost", make_pointer_lost, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_POINTER_LOST, 0,
     "offsets.retention.minutes"},
    {"pointer lost, other cluster", make_pointer_lost_elsewhere, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_OTHER_CLUSTER, 0, "elsewhere"},
    {"pointer lost, other job", make_pointer_lost_of_other_job, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_OTHER_JOB, 0, "WEIR_JOB_ID"},
    {"pointer lost, topic anew, shorter", make_pointer_lost_with_shorter_topic,
     WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_TOPIC_ANEW, 0, "before position 200"},
    {"pointer lost, topic anew, longer", make_pointer_lost_with_other_record, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_TOPIC_ANEW, 0, "last record"},
    {"pointer lost, topic anew, smaller", make_pointer_lost_with_fewer_partitions,
     WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_PARTITION_GONE, 0, "partition 1"},
    {"pointer lost, manifests damaged", make_pointer_lost_with_broken_manifests,
     WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_POINTER_LOST, 0, "checkpoint 8"},
    {"killed before the claim, other cluster", make_unclaimed_elsewhere, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_OTHER_CLUSTER, 0, "elsewhere"},
    {"foreign offsets", make_foreign, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_OFFSETS_FOREIGN, 0,
     "partition 1"},
    {"manifest of another attempt", make_missing, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_MANIFEST_MISSING, 7, "WEIR_CHECKPOINT_DIR"},
    {"manifest damaged", make_broken, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_MANIFEST_BROKEN, 7,
     "is damaged"},
    {"other cluster", make_other_cluster, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_OTHER_CLUSTER, 7,
     "elsewhere"},
    {"other job", make_other_job, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_OTHER_JOB, 7, "WEIR_JOB_ID"},
    {"position differs", make_position_differs, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_POSITION_DIFFERS,
     7, "101"},
    {"one pointer lost", make_partition_pointer_lost, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_PARTITION_POINTER_LOST, 7, "partition 1"},
    {"partition gone", make_partition_gone, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_PARTITION_GONE, 7,
     "partition 1"},
    {"topic anew, shorter", make_shorter_topic, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_TOPIC_ANEW, 7,
     "created anew"},
    {"topic anew, longer", make_other_record, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_TOPIC_ANEW, 7,
     "last record"},
    {"topic anew by its id", make_other_topic_id, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_TOPIC_ANEW, 7,
     "topic id"},
    {"records missing", make_records_missing, WEIR_RECOVERY_REFUSE, WEIR_REFUSAL_RECORDS_MISSING, 7,
     "10 records"},
    {"records missing, allowed", make_records_missing_allowed, WEIR_RECOVERY_RESTORE,
     WEIR_REFUSAL_NONE, 7, NULL},
    {"discard", make_discard, WEIR_RECOVERY_FRESH, WEIR_REFUSAL_NONE, 9, NULL},
    {"discard, same word again", make_discard_obeyed, WEIR_RECOVERY_RESTORE, WEIR_REFUSAL_NONE, 7,
     NULL},
    {"discard, killed before the claim", make_unclaimed_discard, WEIR_RECOVERY_RESTORE,
     WEIR_REFUSAL_NONE, 4, NULL},
    {"only what cannot be read", make_unclaimed_discard_broken, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_POINTER_LOST, 0, "checkpoint 4"},
    {"savepoint", make_savepoint, WEIR_RECOVERY_REWIND, WEIR_REFUSAL_NONE, 9, NULL},
    {"savepoint, same value again", make_savepoint_obeyed, WEIR_RECOVERY_RESTORE, WEIR_REFUSAL_NONE,
     7, NULL},
    {"savepoint, nothing else", make_savepoint_in_empty_store, WEIR_RECOVERY_REWIND,
     WEIR_REFUSAL_NONE, 4, NULL},
    {"savepoint of another cluster", make_savepoint_elsewhere, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_OTHER_CLUSTER, 9, "elsewhere"},
    {"savepoint, records removed", make_savepoint_with_removed_records, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_RECORDS_MISSING, 9, "10 records"},
    {"reset", make_reset, WEIR_RECOVERY_REWIND, WEIR_REFUSAL_NONE, 9, NULL},
    {"reset, nothing committed yet", make_reset_of_unclaimed_start, WEIR_RECOVERY_RESTORE,
     WEIR_REFUSAL_NONE, 0, NULL},
    {"reset of another table", make_reset_of_another_table, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_RECORDS_MISSING, 7, "10 records"},
    {"savepoint, topic anew", make_savepoint_of_former_topic, WEIR_RECOVERY_REFUSE,
     WEIR_REFUSAL_TOPIC_ANEW, 9, "last record"},
};

static void test_recovery_decides_by_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        rows[i].make(&world);
        struct weir_recovery recovery;
        struct weir_partition_decision decisions[4];
        struct weir_error error = {.text = ""};
        enum weir_status status = weir_recovery_decide(&world.found, &recovery, decisions, &error);
        if (recovery.kind != rows[i].kind || recovery.refusal != rows[i].refusal ||
            recovery.number != rows[i].number) {
            fail_msg("%s: kind %d, refusal %s, number %lld: %s", rows[i].name, recovery.kind,
                     weir_recovery_refusal_name(recovery.refusal), (long long)recovery.number,
                     error.text);
        }
        assert_int_equal(status == WEIR_ERROR, rows[i].kind == WEIR_RECOVERY_REFUSE);
        if (rows[i].says != NULL && strstr(error.text, rows[i].says) == NULL) {
            fail_msg("%s: \"%s\" is not in: %s", rows[i].name, rows[i].says, error.text);
        }
        if (status == WEIR_ERROR) {
            assert_int_equal(error.action, WEIR_ACTION_REFUSE);
        }
    }
}

static void test_recovery_starts_partitions_where_they_belong(void **state)
{
    (void)state;
    struct world world;
    struct weir_recovery recovery;
    struct weir_partition_decision decisions[4];
    struct weir_error error;
    make_new_partition(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_int_equal(decisions[0].kind, WEIR_START_AT_OFFSET);
    assert_int_equal(decisions[0].offset, 100);
    assert_int_equal(decisions[1].offset, 200);
    assert_int_equal(decisions[2].kind, WEIR_START_EARLIEST);
    make_new_table(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_int_equal(decisions[2].kind, WEIR_START_TABLE);
    make_new_table_on_known_topic(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_int_equal(decisions[0].kind, WEIR_START_AT_OFFSET);
    assert_int_equal(decisions[2].kind, WEIR_START_TABLE);
    assert_int_equal(decisions[3].kind, WEIR_START_TABLE);
    make_renamed_table(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_int_equal(decisions[0].kind, WEIR_START_AT_OFFSET);
    assert_int_equal(decisions[0].offset, 100);
    assert_int_equal(decisions[1].offset, 200);
    assert_int_equal(decisions[2].kind, WEIR_START_EARLIEST);
    make_reset(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_int_equal(decisions[0].kind, WEIR_START_RESET);
    assert_int_equal(recovery.manifest->number, 7);
    make_savepoint(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_int_equal(decisions[0].offset, 40);
    assert_int_equal(decisions[1].offset, 50);
    make_records_missing_allowed(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_int_equal(decisions[0].offset, 110);
    assert_int_equal(decisions[0].missing_count, 10);
}

static void test_recovery_takes_the_newest_unclaimed_start(void **state)
{
    (void)state;
    struct world world;
    struct weir_recovery recovery;
    struct weir_partition_decision decisions[4];
    struct weir_error error;
    make_unclaimed(&world);
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_string_equal(recovery.attempt.text, attempt_a.text);
    world.found_manifests[1].state = WEIR_MANIFEST_BROKEN;
    assert_int_equal(weir_recovery_decide(&world.found, &recovery, decisions, &error), WEIR_OK);
    assert_string_equal(recovery.attempt.text, attempt_b.text);
}

static void test_recovery_compares_the_least_position_of_two_tables(void **state)
{
    (void)state;
    struct weir_manifest_position shared[] = {
        {.entry = {.table = "t", .topic = "in", .partition = 0, .offset = 100}, .topic_id = ""},
        {.entry = {.table = "u", .topic = "in", .partition = 0, .offset = 90}, .topic_id = ""},
    };
    struct weir_manifest manifest = {.position_count = 2, .positions = shared};
    assert_int_equal(weir_manifest_committed_offset(&manifest, "in", 0), 90);
    assert_int_equal(weir_manifest_committed_offset(&manifest, "in", 1), -1);
    assert_int_equal(weir_manifest_find_position(&manifest, "t", "in", 0)->entry.offset, 100);
    assert_int_equal(weir_manifest_find_position(&manifest, "v", "in", 0)->entry.offset, 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovery_decides_by_the_table),
        cmocka_unit_test(test_recovery_starts_partitions_where_they_belong),
        cmocka_unit_test(test_recovery_takes_the_newest_unclaimed_start),
        cmocka_unit_test(test_recovery_compares_the_least_position_of_two_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
