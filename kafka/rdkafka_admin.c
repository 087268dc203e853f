// SPDX-License-Identifier: Apache-2.0
// Questions about the cluster and its topics, and making a topic. Any thread; every call ends by
// its time-out.
#include "kafka/rdkafka_error.h"
#include "kafka/rdkafka_handle.h"

#include "runtime/base/clock.h"

#include <stdio.h>
#include <string.h>

// --- admin requests ------------------------------------------------------------------------------

// Waits for the answer to what was sent to `queue`. NULL: error. The caller destroys the event.
static rd_kafka_event_t *wait_for_answer(rd_kafka_queue_t *queue, int32_t timeout_ms,
                                         const char *what, struct weir_error *error)
{
    // librdkafka answers by itself when the time is over; the margin is for its thread.
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms + 1000);
    rd_kafka_resp_err_t code =
        event != NULL ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, code,
                               event != NULL ? rd_kafka_event_error_string(event) : NULL, "%s",
                               what);
        rd_kafka_event_destroy(event);
        return NULL;
    }
    return event;
}

static rd_kafka_AdminOptions_t *options_of(rd_kafka_t *handle, rd_kafka_admin_op_t op,
                                           int32_t timeout_ms)
{
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(handle, op);
    char text[128];
    rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms > 0 ? timeout_ms : 1, text,
                                              sizeof(text));
    return options;
}

static void copy_text(char *to, size_t to_bytes, const char *from)
{
    snprintf(to, to_bytes, "%s", from != NULL ? from : "");
}

// --- cluster -------------------------------------------------------------------------------------

// Metadata with the brokers in it. Of one topic only, or librdkafka asks for all there are; whether
// there is such a topic does not matter. The caller destroys it; NULL: error.
static const struct rd_kafka_metadata *ask_for_brokers(rd_kafka_t *handle, int32_t timeout_ms,
                                                       struct weir_error *error)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(handle, "__consumer_offsets", NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, topic, &metadata, timeout_ms);
    rd_kafka_topic_destroy(topic);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_poll(handle, 0); // takes in what its connections failed of
        char last[640];
        weir_rdkafka_last_error(last, sizeof(last));
        weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, code, last[0] != '\0' ? last : NULL,
                               "asking for the brokers");
        return NULL;
    }
    if (metadata->broker_cnt == 0) {
        // The only one that is up has lost touch with the controller for a moment.
        rd_kafka_metadata_destroy(metadata);
        weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE,
                               NULL, "asking for the brokers");
        return NULL;
    }
    return metadata;
}

enum weir_status weir_rdkafka_cluster_id(struct weir_kafka *kafka, char *text, size_t size_bytes,
                                         int32_t timeout_ms, struct weir_error *error)
{
    rd_kafka_t *handle = weir_rdkafka_question(weir_rdkafka_of(kafka), WEIR_READ_COMMITTED, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    char *id = rd_kafka_clusterid(handle, 0);
    if (id == NULL) {
        // Any metadata brings it; waiting inside rd_kafka_clusterid can last a second longer.
        const struct rd_kafka_metadata *metadata = ask_for_brokers(handle, timeout_ms, error);
        if (metadata == NULL) {
            return WEIR_ERROR;
        }
        rd_kafka_metadata_destroy(metadata);
        id = rd_kafka_clusterid(handle, 0);
    }
    if (id == NULL) {
        return weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, RD_KAFKA_RESP_ERR__TIMED_OUT,
                                      "the brokers do not tell it", "asking for the cluster id");
    }
    copy_text(text, size_bytes, id);
    rd_kafka_mem_free(handle, id);
    return WEIR_OK;
}

// --- topics --------------------------------------------------------------------------------------

#if RD_KAFKA_VERSION >= 0x020300ff
// Asking for the topic id is a request of its own; an answer that does not come leaves it empty.
static void read_topic_id(rd_kafka_t *handle, const char *topic, struct weir_topic_info *info,
                          int32_t timeout_ms)
{
    const char *names[] = {topic};
    rd_kafka_TopicCollection_t *topics = rd_kafka_TopicCollection_of_topic_names(names, 1);
    rd_kafka_AdminOptions_t *options =
        options_of(handle, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, timeout_ms);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_DescribeTopics(handle, topics, options, queue);
    rd_kafka_event_t *event = wait_for_answer(queue, timeout_ms, "", NULL);
    const rd_kafka_DescribeTopics_result_t *result =
        event != NULL ? rd_kafka_event_DescribeTopics_result(event) : NULL;
    size_t count = 0;
    const rd_kafka_TopicDescription_t **descriptions =
        result != NULL ? rd_kafka_DescribeTopics_result_topics(result, &count) : NULL;
    if (count == 1 && rd_kafka_error_code(rd_kafka_TopicDescription_error(descriptions[0])) ==
                          RD_KAFKA_RESP_ERR_NO_ERROR) {
        copy_text(info->topic_id, sizeof(info->topic_id),
                  rd_kafka_Uuid_base64str(rd_kafka_TopicDescription_topic_id(descriptions[0])));
    }
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_TopicCollection_destroy(topics);
}
#else
static void read_topic_id(rd_kafka_t *handle, const char *topic, struct weir_topic_info *info,
                          int32_t timeout_ms)
{
    (void)handle, (void)topic, (void)timeout_ms;
    info->topic_id[0] = '\0'; // this librdkafka does not know topic ids
}
#endif

enum weir_status weir_rdkafka_topic_info(struct weir_kafka *kafka, const char *topic,
                                         struct weir_topic_info *info, int32_t timeout_ms,
                                         struct weir_error *error)
{
    rd_kafka_t *handle = weir_rdkafka_question(weir_rdkafka_of(kafka), WEIR_READ_COMMITTED, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    *info = (struct weir_topic_info){.exists = false};
    copy_text(info->name, sizeof(info->name), topic);
    rd_kafka_topic_t *topic_handle = rd_kafka_topic_new(handle, topic, NULL);
    if (topic_handle == NULL) {
        return weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, rd_kafka_last_error(), NULL,
                                      "asking about topic '%s'", topic);
    }
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, topic_handle, &metadata, timeout_ms);
    rd_kafka_topic_destroy(topic_handle);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && metadata->topic_cnt == 1) {
        code = metadata->topics[0].err;
    } else if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        info->exists = true;
        info->partition_count = (uint32_t)metadata->topics[0].partition_cnt;
    }
    if (metadata != NULL) {
        rd_kafka_metadata_destroy(metadata);
    }
    if (info->exists) {
        read_topic_id(handle, topic, info, timeout_ms);
        return WEIR_OK;
    }
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
        code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC) {
        return WEIR_OK;
    }
    weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, code, NULL, "asking about topic '%s'", topic);
    return weir_rdkafka_error_name_right(error, code, "Read (of a source) or Write (of a sink)",
                                         topic);
}

static enum weir_status send_new_topic(rd_kafka_t *handle, rd_kafka_NewTopic_t *new_topic,
                                       const char *topic, int32_t timeout_ms, const char *what,
                                       struct weir_error *error)
{
    rd_kafka_AdminOptions_t *options =
        options_of(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout_ms);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_CreateTopics(handle, &new_topic, 1, options, queue);
    rd_kafka_event_t *event = wait_for_answer(queue, timeout_ms, what, error);
    enum weir_status status = WEIR_ERROR;
    if (event != NULL) {
        size_t count = 0;
        const rd_kafka_topic_result_t **results =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        rd_kafka_resp_err_t code =
            count == 1 ? rd_kafka_topic_result_error(results[0]) : RD_KAFKA_RESP_ERR__BAD_MSG;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
            status = WEIR_OK;
        } else {
            status = weir_rdkafka_error_set(
                error, WEIR_RDKAFKA_ASK, code,
                count == 1 ? rd_kafka_topic_result_error_string(results[0]) : NULL, "%s", what);
            weir_rdkafka_error_name_right(error, code, "Create", topic);
        }
    }
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    return status;
}

enum weir_status weir_rdkafka_create_topic(struct weir_kafka *kafka, const char *topic,
                                           int32_t partition_count, int32_t replica_count,
                                           int32_t timeout_ms, struct weir_error *error)
{
    rd_kafka_t *handle = weir_rdkafka_question(weir_rdkafka_of(kafka), WEIR_READ_COMMITTED, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    char what[320];
    snprintf(what, sizeof(what), "creating topic '%s'", topic);
    char text[256];
    rd_kafka_NewTopic_t *new_topic =
        rd_kafka_NewTopic_new(topic, partition_count, replica_count, text, sizeof(text));
    if (new_topic == NULL) {
        return weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, RD_KAFKA_RESP_ERR__INVALID_ARG, text,
                                      "%s", what);
    }
    enum weir_status status = send_new_topic(handle, new_topic, topic, timeout_ms, what, error);
    rd_kafka_NewTopic_destroy(new_topic);
    return status;
}

// --- settings ------------------------------------------------------------------------------------

// One setting of one broker or topic; value "" when the broker does not know the name.
static enum weir_status describe_config(rd_kafka_t *handle, rd_kafka_ResourceType_t type,
                                        const char *resource_name, const char *name, char *value,
                                        size_t size_bytes, int32_t timeout_ms,
                                        struct weir_error *error)
{
    char what[640];
    snprintf(what, sizeof(what), "asking for setting %s of %s '%s'", name,
             type == RD_KAFKA_RESOURCE_BROKER ? "broker" : "topic", resource_name);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(type, resource_name);
    rd_kafka_ConfigResource_set_config(resource, name, "");
    rd_kafka_AdminOptions_t *options =
        options_of(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout_ms);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_DescribeConfigs(handle, &resource, 1, options, queue);
    rd_kafka_event_t *event = wait_for_answer(queue, timeout_ms, what, error);
    enum weir_status status = WEIR_ERROR;
    if (event != NULL) {
        size_t count = 0;
        const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event), &count);
        rd_kafka_resp_err_t code =
            count == 1 ? rd_kafka_ConfigResource_error(resources[0]) : RD_KAFKA_RESP_ERR__BAD_MSG;
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            weir_rdkafka_error_set(
                error, WEIR_RDKAFKA_ASK, code,
                count == 1 ? rd_kafka_ConfigResource_error_string(resources[0]) : NULL, "%s", what);
            weir_rdkafka_error_name_right(error, code, "DescribeConfigs", resource_name);
        } else {
            status = WEIR_OK;
            copy_text(value, size_bytes, "");
            size_t entry_count = 0;
            const rd_kafka_ConfigEntry_t **entries =
                rd_kafka_ConfigResource_configs(resources[0], &entry_count);
            for (size_t i = 0; i < entry_count; i++) {
                if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), name) == 0) {
                    copy_text(value, size_bytes, rd_kafka_ConfigEntry_value(entries[i]));
                }
            }
        }
    }
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ConfigResource_destroy(resource);
    return status;
}

// Values that differ are put one behind the other with a comma: who compares with one value then
// finds another.
static void add_value(char *values, size_t size_bytes, const char *value, bool is_first)
{
    size_t used_bytes = strlen(values);
    if (is_first) {
        copy_text(values, size_bytes, value);
    } else if (strcmp(values, value) != 0 && used_bytes + 1 < size_bytes) {
        snprintf(values + used_bytes, size_bytes - used_bytes, ",%s", value);
    }
}

enum weir_status weir_rdkafka_broker_config(struct weir_kafka *kafka, const char *name, char *value,
                                            size_t size_bytes, int32_t timeout_ms,
                                            struct weir_error *error)
{
    rd_kafka_t *handle = weir_rdkafka_question(weir_rdkafka_of(kafka), WEIR_READ_COMMITTED, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    int64_t deadline_ms = weir_now_ms(&weir_system_clock) + timeout_ms;
    const struct rd_kafka_metadata *metadata = ask_for_brokers(handle, timeout_ms, error);
    if (metadata == NULL) {
        return WEIR_ERROR;
    }
    enum weir_status status = WEIR_OK;
    copy_text(value, size_bytes, "");
    for (int i = 0; i < metadata->broker_cnt && status == WEIR_OK; i++) {
        char id[16];
        char one[512];
        snprintf(id, sizeof(id), "%d", (int)metadata->brokers[i].id);
        int64_t left_ms = deadline_ms - weir_now_ms(&weir_system_clock);
        status = describe_config(handle, RD_KAFKA_RESOURCE_BROKER, id, name, one, sizeof(one),
                                 left_ms > 1 ? (int32_t)left_ms : 1, error);
        if (status == WEIR_OK) {
            add_value(value, size_bytes, one, i == 0);
        }
    }
    rd_kafka_metadata_destroy(metadata);
    return status;
}

enum weir_status weir_rdkafka_topic_config(struct weir_kafka *kafka, const char *topic,
                                           const char *name, char *value, size_t size_bytes,
                                           int32_t timeout_ms, struct weir_error *error)
{
    rd_kafka_t *handle = weir_rdkafka_question(weir_rdkafka_of(kafka), WEIR_READ_COMMITTED, error);
    if (handle == NULL) {
        return WEIR_ERROR;
    }
    return describe_config(handle, RD_KAFKA_RESOURCE_TOPIC, topic, name, value, size_bytes,
                           timeout_ms, error);
}
