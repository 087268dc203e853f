// SPDX-License-Identifier: Apache-2.0
// The narrow interface to Kafka. Beneath it sits librdkafka (kafka/rdkafka_*.c) or, in tests, a
// simulated Kafka; above it stand all rules of the protocol (source.c, sink.c, txn.c, pointer.c).
// Nothing here decides anything: one call, one request, errors translated into what to do next.
//
// Threads: a struct weir_kafka and its admin calls may be used by any thread; a consumer belongs
// to one thread; a producer may be produced to by several threads at once, its transactional calls
// come from one thread (the committer). Calls that may block say so and take a time-out.
#ifndef WEIR_KAFKA_CLIENT_H
#define WEIR_KAFKA_CLIENT_H

#include "runtime/base/error.h"
#include "runtime/batch.h"

#include <stdatomic.h>

struct weir_kafka;
struct weir_consumer;
struct weir_producer;

struct weir_property {
    const char *name;
    const char *value;
};

struct weir_kafka_config {
    const char *group_id;
    uint32_t property_count; // both sides; includes bootstrap.servers
    const struct weir_property *properties;
    uint32_t consumer_property_count;
    const struct weir_property *consumer_properties;
    uint32_t producer_property_count;
    const struct weir_property *producer_properties;
    int64_t transaction_timeout_ms;
    uint32_t linger_ms; // rows wait so long for others to be sent with; a barrier ends it
    uint64_t consumer_queue_bytes_max;    // per consumer handle
    uint64_t fetch_bytes_max;             // of one answer, as compressed; 0: 4 MiB
    uint32_t producer_queue_messages_max; // per producer handle
    uint64_t producer_queue_bytes_max;
};

// --- records in -------------------------------------------------------------------------------

enum weir_fetch_kind {
    WEIR_FETCH_RECORD,
    WEIR_FETCH_END,   // the partition's end was reached; offset is the position behind everything,
                      // transaction markers included
    WEIR_FETCH_ERROR, // of this partition: action says recover or fail
};

struct weir_fetched {
    enum weir_fetch_kind kind;
    uint32_t partition_idx; // as given to assign
    struct weir_record record;
    const struct weir_error *error; // WEIR_FETCH_ERROR only; valid until release
};

struct weir_partition_start {
    const char *topic; // must live as long as the consumer
    int32_t partition;
    int64_t offset; // -1: is not read for now, but keeps its place
};

struct weir_consumer_ops {
    // Reads the partitions from their offsets; earlier assignments are dropped, with what was
    // fetched of them. partition_idx in what is fetched counts in this array. Does not block.
    enum weir_status (*assign)(struct weir_consumer *consumer, uint32_t count,
                               const struct weir_partition_start *starts, struct weir_error *error);
    // Up to `max` records that are there (waits at most timeout_ms for the first). Their memory
    // stays valid until release. Returns WEIR_ERROR only for failures of the whole handle.
    enum weir_status (*fetch)(struct weir_consumer *consumer, uint32_t max, int32_t timeout_ms,
                              struct weir_fetched *fetched, uint32_t *count,
                              struct weir_error *error);
    // Everything fetched so far is given back.
    void (*release)(struct weir_consumer *consumer);
    // Writes to the descriptor (an eventfd) whenever records come in after none were there.
    void (*wake_on_data)(struct weir_consumer *consumer, int descriptor);
    // Ends of the partition as the last fetches told (cached, no request): -1 when unknown.
    int64_t (*high_watermark)(struct weir_consumer *consumer, uint32_t partition_idx);
    void (*destroy)(struct weir_consumer *consumer); // may block for a moment
};

struct weir_consumer {
    const struct weir_consumer_ops *ops;
};

// --- rows out ---------------------------------------------------------------------------------

// What a row's delivery is counted against: one per (sink task, partition, handle). delivered() is
// called from the client's delivery thread with the number of rows acknowledged (good) or failed.
struct weir_delivery {
    void (*delivered)(struct weir_delivery *delivery, uint32_t count);
    // The epoch is lost. error->action says how (recover, fenced, fail).
    void (*failed)(struct weir_delivery *delivery, const struct weir_error *error);
};

struct weir_message {
    const char *topic; // must live as long as the producer
    int32_t partition;
    int64_t timestamp_ms; // 0: the client puts the wall clock there
    struct weir_view key; // data NULL: null key
    struct weir_view value;
    uint32_t header_count;
    const struct weir_header *headers;
};

enum weir_produce_result {
    WEIR_PRODUCE_TAKEN, // copied; a delivery report follows
    WEIR_PRODUCE_FULL,  // back-pressure: again later
    WEIR_PRODUCE_FAILED,
};

// Group metadata and positions that join a transaction.
struct weir_offset_commit {
    const char *topic;
    int32_t partition;
    int64_t offset;
    const char *metadata; // NUL-terminated, printable
};

struct weir_producer_ops {
    // Registers the transactional id; fences older owners and aborts what they left open.
    // Blocks up to timeout_ms. RETRY: again.
    enum weir_status (*init_transactions)(struct weir_producer *producer, int32_t timeout_ms,
                                          struct weir_error *error);
    enum weir_status (*begin)(struct weir_producer *producer, struct weir_error *error);
    // Any thread. Does not block.
    enum weir_produce_result (*produce)(struct weir_producer *producer,
                                        const struct weir_message *message,
                                        struct weir_delivery *delivery, struct weir_error *error);
    // What was produced is sent at once, without lingering. Any thread. Does not block.
    void (*send_now)(struct weir_producer *producer);
    // Blocks up to about timeout_ms (librdkafka: up to socket.timeout.ms whatever is asked).
    enum weir_status (*send_offsets)(struct weir_producer *producer, uint32_t count,
                                     const struct weir_offset_commit *offsets, int32_t timeout_ms,
                                     struct weir_error *error);
    enum weir_status (*commit)(struct weir_producer *producer, int32_t timeout_ms,
                               struct weir_error *error);
    enum weir_status (*abort)(struct weir_producer *producer, int32_t timeout_ms,
                              struct weir_error *error);
    // A transactional request on this handle ended in an error of transport or time since it was
    // created: it may still reach the coordinator late. Such a handle is destroyed and made anew
    // before its next begin (docs/commit.md, "Late requests"). Cheap; any thread.
    bool (*is_used_up)(struct weir_producer *producer);
    // The same, but only for TxnOffsetCommit since the last begin: then the epoch is aborted.
    bool (*is_offset_commit_doubtful)(struct weir_producer *producer);
    // No callback comes after it has returned. Blocks for a moment. Messages not delivered are
    // dropped (the transaction is never committed).
    void (*destroy)(struct weir_producer *producer);
};

struct weir_producer {
    const struct weir_producer_ops *ops;
};

// --- questions --------------------------------------------------------------------------------

struct weir_topic_info {
    char name[256];
    bool exists;
    uint32_t partition_count;
    char topic_id[40]; // "" where the client cannot tell
};

struct weir_committed {
    bool has_offset;
    int64_t offset;
    char metadata[256]; // cut to fit, NUL-terminated; "" when none
};

enum weir_offset_query {
    WEIR_OFFSET_EARLIEST,
    WEIR_OFFSET_LATEST,    // high watermark (read_uncommitted end)
    WEIR_OFFSET_STABLE,    // last stable offset (read_committed end)
    WEIR_OFFSET_TIMESTAMP, // first at or after timestamp_ms; the end when there is none
};

struct weir_topic_partition {
    const char *topic;
    int32_t partition;
};

// Of an open transaction.
struct weir_transaction_owner {
    int64_t producer_id;        // -1: not known
    char transactional_id[256]; // cut to fit; "": not known
};

// What the client's own settings allow.
struct weir_client_limits {
    uint64_t message_bytes_max; // of key, value and headers of one row
    bool is_compressing;        // brokers see smaller rows than were written
};

enum weir_isolation {
    WEIR_READ_UNCOMMITTED,
    WEIR_READ_COMMITTED,
};

// All of these block up to timeout_ms and answer RETRY where asking again can help.
struct weir_kafka_ops {
    enum weir_status (*cluster_id)(struct weir_kafka *kafka, char *text, size_t size_bytes,
                                   int32_t timeout_ms, struct weir_error *error);
    enum weir_status (*topic_info)(struct weir_kafka *kafka, const char *topic,
                                   struct weir_topic_info *info, int32_t timeout_ms,
                                   struct weir_error *error);
    // Offsets of the group; isolation READ_COMMITTED waits for pending transactional commits.
    enum weir_status (*committed)(struct weir_kafka *kafka, enum weir_isolation isolation,
                                  uint32_t count, const struct weir_topic_partition *partitions,
                                  struct weir_committed *committed, int32_t timeout_ms,
                                  struct weir_error *error);
    enum weir_status (*offsets)(struct weir_kafka *kafka, enum weir_offset_query query,
                                int64_t timestamp_ms, uint32_t count,
                                const struct weir_topic_partition *partitions, int64_t *offsets,
                                int32_t timeout_ms, struct weir_error *error);
    // The record at that offset, for the check that a topic is still the one that was read:
    // its timestamp and CRC-32 (zlib's) over key then value. found is false when the offset holds
    // no record (compaction, marker, below the start, beyond the end).
    enum weir_status (*record_at)(struct weir_kafka *kafka, const struct weir_topic_partition *at,
                                  int64_t offset, bool *found, int64_t *timestamp_ms,
                                  uint32_t *crc32, int32_t timeout_ms, struct weir_error *error);
    // Whose transaction begins at that offset, as far as brokers tell: only where they want neither
    // TLS nor a login. NULL: the client cannot ask.
    enum weir_status (*transaction_owner)(struct weir_kafka *kafka,
                                          const struct weir_topic_partition *at, int64_t offset,
                                          struct weir_transaction_owner *owner, int32_t timeout_ms,
                                          struct weir_error *error);
    // A broker's or topic's setting; value "" when the broker does not know it. All brokers are
    // asked; where they differ the values come one behind the other, with commas.
    enum weir_status (*broker_config)(struct weir_kafka *kafka, const char *name, char *value,
                                      size_t size_bytes, int32_t timeout_ms,
                                      struct weir_error *error);
    enum weir_status (*topic_config)(struct weir_kafka *kafka, const char *topic, const char *name,
                                     char *value, size_t size_bytes, int32_t timeout_ms,
                                     struct weir_error *error);
    // A topic that exists already is no error.
    enum weir_status (*create_topic)(struct weir_kafka *kafka, const char *topic,
                                     int32_t partition_count, int32_t replica_count,
                                     int32_t timeout_ms, struct weir_error *error);
    // Does not block.
    enum weir_status (*limits)(struct weir_kafka *kafka, struct weir_client_limits *limits,
                               struct weir_error *error);
    // A broker refuses a batch of rows above its topic's limit as a whole: producers that are made
    // from now on put at most so many bytes into one (0: by the settings alone). A row that is
    // larger by itself goes alone. Not while producers are being made.
    void (*limit_batches)(struct weir_kafka *kafka, uint64_t size_bytes_max);
    enum weir_status (*consumer_create)(struct weir_kafka *kafka, struct weir_consumer **consumer,
                                        struct weir_error *error);
    // transactional_id NULL: plain idempotent (at-least-once).
    enum weir_status (*producer_create)(struct weir_kafka *kafka, const char *transactional_id,
                                        struct weir_producer **producer, struct weir_error *error);
    void (*destroy)(struct weir_kafka *kafka);
};

struct weir_kafka {
    const struct weir_kafka_ops *ops;
};

// librdkafka beneath. Checks every property name and value (all faults in one error text, one a
// line); connects lazily.
enum weir_status weir_rdkafka_create(const struct weir_kafka_config *config,
                                     struct weir_kafka **kafka, struct weir_error *error);

// "2.0.2"; and whether this release is known to hang in send_offsets.
const char *weir_rdkafka_version(void);
bool weir_rdkafka_version_is_suspect(void);
// Is there a property of that name (in librdkafka's spelling)? For configuration errors; nearest
// may be NULL.
bool weir_rdkafka_property_exists(const char *name);
// Errors of brokers and connections that librdkafka reported since the process began.
uint64_t weir_rdkafka_error_count(void);

#endif
