// SPDX-License-Identifier: Apache-2.0
// The topics of a job as the brokers know them, and what must hold of brokers before a job runs.
#ifndef WEIR_APP_TOPICS_H
#define WEIR_APP_TOPICS_H

#include "app/config.h"
#include "app/retry.h"

struct weir_topic {
    const char *name;
    uint32_t partition_count;
    const char *topic_id;       // "" where the client cannot tell
    uint64_t message_bytes_max; // of one batch, where rows are written; 0: not known
};

struct weir_topics {
    uint32_t count;
    struct weir_topic *topics; // of sources, sinks and dead letters, each once
    struct weir_client_limits client;
};

// A topic that the job needs.
struct weir_topic_wish {
    const struct weir_table *table; // whose it is; a missing one is made as its options say
    const char *name;
    const char *role; // "topic", "late topic", …
    bool is_written;
};

// All of them, each once. Error (REFUSE): there is no topic for what the job would write.
enum weir_status weir_topics_wanted(const struct weir_plan *plan, const struct weir_config *config,
                                    struct weir_arena *arena, struct weir_topic_wish **wishes,
                                    uint32_t *count, struct weir_error *error);
// How many partitions it is made with if it is missing; 0: it is not made.
int32_t weir_topic_made_partitions(const struct weir_topic_wish *wish);
// Sets the error (REFUSE) that it does not exist.
enum weir_status weir_topic_refuse_missing(const struct weir_topic_wish *wish,
                                           struct weir_error *error);

// Asks for every topic of the plan; creates missing ones of sinks and dead letters where the table
// gives `partitions`. Batches are limited to what every written topic takes. Error (REFUSE): a
// topic is missing. Blocks.
enum weir_status weir_topics_resolve(struct weir_kafka *kafka, const struct weir_plan *plan,
                                     const struct weir_config *config,
                                     const struct weir_retry *retry, struct weir_arena *arena,
                                     struct weir_topics *topics, struct weir_error *error);

const struct weir_topic *weir_topics_find(const struct weir_topics *topics, const char *name);

// The policy of a table and where its dead letters go (NULL: nowhere).
enum weir_on_error weir_table_on_error(const struct weir_table *table,
                                       const struct weir_config *config);
const char *weir_table_dead_letter_topic(const struct weir_table *table,
                                         const struct weir_config *config);

// What would make the promise untrue or every commit fail: transactions that the broker does not
// verify, a transaction time-out above the broker's maximum, more offsets than one commit can
// carry. Error (REFUSE). Blocks.
enum weir_status weir_brokers_check(struct weir_kafka *kafka, const struct weir_plan *plan,
                                    const struct weir_topics *topics,
                                    const struct weir_config *config,
                                    const struct weir_retry *retry, struct weir_error *error);

#endif
