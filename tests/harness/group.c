// SPDX-License-Identifier: Apache-2.0
// Committed offsets: see the header.
#include "tests/harness/group.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/admin.h"
#include "tests/harness/base.h"
#include "tests/harness/client.h"

enum { DEADLINE_MS = 60000 };

static rd_kafka_t *create_member(const char *bootstrap, const char *group, bool is_uncommitted)
{
    const char *settings[] = {"group.id",
                              group,
                              "isolation.level",
                              is_uncommitted ? "read_uncommitted" : "read_committed",
                              "enable.auto.commit",
                              "false",
                              NULL};
    return weir_test_client_create(RD_KAFKA_CONSUMER, bootstrap, settings, NULL, NULL);
}

// The call's own result says little: each partition carries an error of its own.
static rd_kafka_resp_err_t first_error(rd_kafka_resp_err_t code,
                                       const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; code == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++) {
        code = list->elems[i].err;
    }
    return code;
}

struct weir_test_committed *weir_test_group_committed(const char *bootstrap, const char *group,
                                                      const char *topic, bool is_uncommitted,
                                                      int32_t *partition_count)
{
    rd_kafka_t *member = create_member(bootstrap, group, is_uncommitted);
    *partition_count = weir_test_client_partition_count(member, topic);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(*partition_count);
    for (int32_t i = 0; i < *partition_count; i++) {
        rd_kafka_topic_partition_list_add(list, topic, i);
    }
    int64_t deadline_ms = weir_test_now_ms() + DEADLINE_MS;
    rd_kafka_resp_err_t code;
    while ((code = first_error(rd_kafka_committed(member, list, 10000), list)) !=
           RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("no committed offsets of %s: %s", group, rd_kafka_err2str(code));
        }
        weir_test_sleep_ms(50);
    }
    struct weir_test_committed *committed =
        weir_test_alloc((size_t)*partition_count * sizeof(*committed));
    for (int32_t i = 0; i < *partition_count; i++) {
        const rd_kafka_topic_partition_t *entry = &list->elems[i];
        committed[i].offset = entry->offset >= 0 ? entry->offset : -1;
        committed[i].metadata_bytes = entry->metadata_size;
        committed[i].metadata = weir_test_alloc(entry->metadata_size + 1);
        if (entry->metadata_size > 0) {
            memcpy(committed[i].metadata, entry->metadata, entry->metadata_size);
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(member);
    return committed;
}

void weir_test_committed_destroy(struct weir_test_committed *committed, int32_t partition_count)
{
    for (int32_t i = 0; committed != NULL && i < partition_count; i++) {
        free(committed[i].metadata);
    }
    free(committed);
}

void weir_test_group_commit(const char *bootstrap, const char *group, const char *topic,
                            int32_t partition, int64_t offset, const char *metadata)
{
    rd_kafka_t *member = create_member(bootstrap, group, false);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *entry = rd_kafka_topic_partition_list_add(list, topic, partition);
    entry->offset = offset;
    if (metadata != NULL) {
        entry->metadata = weir_test_format("%s", metadata); // the list frees it
        entry->metadata_size = strlen(metadata);
    }
    int64_t deadline_ms = weir_test_now_ms() + DEADLINE_MS;
    rd_kafka_resp_err_t code;
    while ((code = first_error(rd_kafka_commit(member, list, 0), list)) !=
           RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("cannot commit for %s: %s", group, rd_kafka_err2str(code));
        }
        weir_test_sleep_ms(50);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(member);
}

static void ask_delete_group(rd_kafka_t *admin, const rd_kafka_AdminOptions_t *options,
                             rd_kafka_queue_t *queue, const void *group)
{
    rd_kafka_DeleteGroup_t *request = rd_kafka_DeleteGroup_new(group);
    rd_kafka_DeleteGroups(admin, &request, 1, options, queue);
    rd_kafka_DeleteGroup_destroy(request);
}

static rd_kafka_resp_err_t read_deleted_group(rd_kafka_event_t *event, void *answer)
{
    (void)answer;
    size_t count;
    const rd_kafka_group_result_t **results =
        rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event), &count);
    return count == 1 ? rd_kafka_error_code(rd_kafka_group_result_error(results[0]))
                      : RD_KAFKA_RESP_ERR__FAIL;
}

void weir_test_group_delete(const char *bootstrap, const char *group)
{
    rd_kafka_t *admin = weir_test_client_create_plain(bootstrap);
    rd_kafka_resp_err_t code = weir_test_admin_call(
        admin, RD_KAFKA_ADMIN_OP_DELETEGROUPS, ask_delete_group, group, read_deleted_group, NULL);
    rd_kafka_destroy(admin);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        WEIR_TEST_FAIL("cannot delete the group %s: %s", group, rd_kafka_err2str(code));
    }
}
