// SPDX-License-Identifier: Apache-2.0
// Which properties the Kafka client has, for those who read configuration: names, sides, and
// whether a value would be taken. No handle is made, nothing is connected. Thread: any.
#ifndef WEIR_KAFKA_RDKAFKA_PROPERTY_H
#define WEIR_KAFKA_RDKAFKA_PROPERTY_H

#include "runtime/base/error.h"
#include "runtime/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct weir_rdkafka_property {
    const char *name;
    const char *alias_of; // NULL: it is not an alias
    bool is_for_consumer;
    bool is_for_producer;
};

// All properties that can be written as text (callbacks and pointers cannot), of handles and of
// topics, each name once, as the linked librdkafka lists them. The list lives in the arena.
uint32_t weir_rdkafka_known_properties(struct weir_arena *arena,
                                       const struct weir_rdkafka_property **properties);

// A property that no operator may set, because a promise of weir hangs on it, and the reason, which
// reads on after "weir sets it itself: ".
struct weir_rdkafka_owned {
    const char *name; // aliases have entries of their own
    const char *reason;
};

extern const struct weir_rdkafka_owned weir_rdkafka_owned[];
extern const uint32_t weir_rdkafka_owned_count;

// Would librdkafka take that value? The error is its own wording, which may quote the value: not to
// be shown where the value is a secret. Properties are looked at one by one; what only fails
// together (a protocol without its certificates) shows when a handle is made.
enum weir_status weir_rdkafka_property_check(const char *name, const char *value,
                                             struct weir_error *error);

#endif
