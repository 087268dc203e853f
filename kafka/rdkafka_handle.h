// SPDX-License-Identifier: Apache-2.0
// What the files rdkafka_*.c share: the implementation of kafka/client.h on librdkafka. Its types
// are seen in these files only.
//
// Handles of librdkafka: one per consumer, one per producer, and two consumers for questions (one a
// isolation level), made when first asked. The opaque of every handle is the struct weir_rdkafka.
#ifndef WEIR_KAFKA_RDKAFKA_HANDLE_H
#define WEIR_KAFKA_RDKAFKA_HANDLE_H

#include "kafka/client.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>

struct weir_rdkafka_property_list {
    uint32_t count;
    struct weir_property *properties; // copies
};

struct weir_rdkafka {
    struct weir_kafka base;

    // Copies of the configuration; not changed after create.
    char *group_id;
    struct weir_rdkafka_property_list properties;
    struct weir_rdkafka_property_list consumer_properties;
    struct weir_rdkafka_property_list producer_properties;
    int64_t transaction_timeout_ms;
    uint32_t linger_ms;
    uint64_t consumer_queue_bytes_max;
    uint64_t fetch_bytes_max;
    uint32_t producer_queue_messages_max;
    uint64_t producer_queue_bytes_max;

    uint64_t batch_bytes_max; // 0: none but batch.size

    pthread_mutex_t questions_lock; // guards the two below
    rd_kafka_t *questions[2];       // by enum weir_isolation
    pthread_mutex_t record_lock;    // one record_at at a time: it assigns; guards the one below
    bool is_group_denied;           // as the client last said

    atomic_bool has_left_handle; // one that did not end may still call back: this is not freed

    // The log callback holds lines back when there are too many.
    _Atomic int64_t log_window_ms;
    _Atomic uint32_t log_line_count;
};

// --- rdkafka_conf.c ------------------------------------------------------------------------------

enum weir_rdkafka_role {
    WEIR_RDKAFKA_CONSUMER,
    WEIR_RDKAFKA_PRODUCER,
    WEIR_RDKAFKA_QUESTION_UNCOMMITTED,
    WEIR_RDKAFKA_QUESTION_COMMITTED,
};

// Defaults, then what the user set, then what weir owns. The caller owns the result; NULL: error.
rd_kafka_conf_t *weir_rdkafka_conf_create(struct weir_rdkafka *kafka, enum weir_rdkafka_role role,
                                          const char *transactional_id, struct weir_error *error);

// The operation of that name.
enum weir_status weir_rdkafka_limits(struct weir_kafka *kafka, struct weir_client_limits *limits,
                                     struct weir_error *error);

// All faults of names and values, one a line.
enum weir_status weir_rdkafka_conf_check(const struct weir_rdkafka *kafka,
                                         struct weir_error *error);

// What the user has set a property of consumers and of questions to; NULL: nothing.
const char *weir_rdkafka_reader_property(const struct weir_rdkafka *kafka, const char *name);

// rd_kafka_new; conf is taken in any case. NULL: error.
rd_kafka_t *weir_rdkafka_handle_create(rd_kafka_type_t type, rd_kafka_conf_t *conf,
                                       struct weir_error *error);

// The value that a handle really has, as a number; 0 when there is none.
int64_t weir_rdkafka_handle_setting(rd_kafka_t *handle, const char *name);

// --- rdkafka_client.c ----------------------------------------------------------------------------

struct weir_rdkafka *weir_rdkafka_of(struct weir_kafka *kafka);

// rd_kafka_destroy, but not for ever: a consumer whose topic was deleted never ends in librdkafka
// (2.0.2 and others). After 10 s it is left behind with its threads, and the log says so.
void weir_rdkafka_handle_destroy(struct weir_rdkafka *kafka, rd_kafka_t *handle);

// The reason that a connection of this process last failed for, "" if none did. Any thread.
void weir_rdkafka_last_error(char *text, size_t size_bytes);
// How often a transaction of this process was refused something for want of a right. Any thread.
uint64_t weir_rdkafka_refusal_count(void);
// The last refusal since the count was so, and its topic ("": it was about none). NO_ERROR: there
// was none. Any thread.
rd_kafka_resp_err_t weir_rdkafka_refusal_since(uint64_t count, char *topic, size_t size_bytes);

// Writes and counts what librdkafka reports about brokers and connections. Thread: any.
void weir_rdkafka_note_error(struct weir_rdkafka *kafka, rd_kafka_resp_err_t code,
                             const char *reason);
// For rd_kafka_conf_set_error_cb.
void weir_rdkafka_on_error(rd_kafka_t *handle, int code, const char *reason, void *opaque);
void weir_rdkafka_log_callback(const rd_kafka_t *handle, int level, const char *facility,
                               const char *text);

// Made when first asked; belongs to kafka. NULL: error. Thread: any.
rd_kafka_t *weir_rdkafka_question(struct weir_rdkafka *kafka, enum weir_isolation isolation,
                                  struct weir_error *error);

// --- rdkafka_stats.c -----------------------------------------------------------------------------

// What the queues of a handle hold is shown as that pool of weir_memory_bytes, from now on until it
// is closed, before the handle is destroyed. Thread: any.
void weir_rdkafka_stats_open(rd_kafka_t *handle, const char *pool);
void weir_rdkafka_stats_close(rd_kafka_t *handle);
// Statistics of the handle, as JSON. Thread: one a handle.
void weir_rdkafka_stats_note(rd_kafka_t *handle, const char *json, size_t size_bytes);
// For rd_kafka_conf_set_stats_cb.
int weir_rdkafka_on_stats(rd_kafka_t *handle, char *json, size_t size_bytes, void *opaque);

// --- the operations, one file each ---------------------------------------------------------------

// rdkafka_consumer.c
enum weir_status weir_rdkafka_consumer_create(struct weir_kafka *kafka,
                                              struct weir_consumer **consumer,
                                              struct weir_error *error);

// rdkafka_producer.c
enum weir_status weir_rdkafka_producer_create(struct weir_kafka *kafka,
                                              const char *transactional_id,
                                              struct weir_producer **producer,
                                              struct weir_error *error);

// rdkafka_record.c: topic and position of records as weir sees them
extern const struct weir_record_ops weir_rdkafka_record_ops;

// rdkafka_admin.c
enum weir_status weir_rdkafka_cluster_id(struct weir_kafka *kafka, char *text, size_t size_bytes,
                                         int32_t timeout_ms, struct weir_error *error);
enum weir_status weir_rdkafka_topic_info(struct weir_kafka *kafka, const char *topic,
                                         struct weir_topic_info *info, int32_t timeout_ms,
                                         struct weir_error *error);
enum weir_status weir_rdkafka_broker_config(struct weir_kafka *kafka, const char *name, char *value,
                                            size_t size_bytes, int32_t timeout_ms,
                                            struct weir_error *error);
enum weir_status weir_rdkafka_topic_config(struct weir_kafka *kafka, const char *topic,
                                           const char *name, char *value, size_t size_bytes,
                                           int32_t timeout_ms, struct weir_error *error);
enum weir_status weir_rdkafka_create_topic(struct weir_kafka *kafka, const char *topic,
                                           int32_t partition_count, int32_t replica_count,
                                           int32_t timeout_ms, struct weir_error *error);

// rdkafka_offsets.c
enum weir_status weir_rdkafka_committed(struct weir_kafka *kafka, enum weir_isolation isolation,
                                        uint32_t count,
                                        const struct weir_topic_partition *partitions,
                                        struct weir_committed *committed, int32_t timeout_ms,
                                        struct weir_error *error);
enum weir_status weir_rdkafka_offsets(struct weir_kafka *kafka, enum weir_offset_query query,
                                      int64_t timestamp_ms, uint32_t count,
                                      const struct weir_topic_partition *partitions,
                                      int64_t *offsets, int32_t timeout_ms,
                                      struct weir_error *error);
enum weir_status weir_rdkafka_record_at(struct weir_kafka *kafka,
                                        const struct weir_topic_partition *at, int64_t offset,
                                        bool *found, int64_t *timestamp_ms, uint32_t *crc32,
                                        int32_t timeout_ms, struct weir_error *error);

// rdkafka_transactions.c
enum weir_status weir_rdkafka_transaction_owner(struct weir_kafka *kafka,
                                                const struct weir_topic_partition *at,
                                                int64_t offset,
                                                struct weir_transaction_owner *owner,
                                                int32_t timeout_ms, struct weir_error *error);

#endif
