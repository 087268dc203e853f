// SPDX-License-Identifier: Apache-2.0
// A refusal ends the process until somebody changes something. What it rests on was read piece by
// piece, and another owner may have been at work between the pieces: before it stands, they are
// asked for once more.
#ifndef WEIR_APP_DOUBT_H
#define WEIR_APP_DOUBT_H

#include "app/topics.h"
#include "kafka/client.h"

struct weir_doubt {
    struct weir_kafka *kafka;
    const struct weir_topics *topics; // as the recovery has found them
    uint32_t partition_count;
    const struct weir_topic_partition *partitions;
    const struct weir_committed *committed; // as it has read them; NULL: it has not
};

// After a recovery that failed with *error. Returns WEIR_ERROR: *error is as it was, or, if it was
// REFUSE and what it rests on has changed or cannot be asked for, one that says so and asks for
// another try (RECOVER). Thread: the main thread. Blocks for some questions.
enum weir_status weir_doubt_refusal(const struct weir_doubt *doubt, struct weir_error *error);

#endif
