// SPDX-License-Identifier: Apache-2.0
// A time to live in front of an operator with keyed state: rows pass through, and what the operator
// keeps of a key is forgotten before a row that comes a ttl or more after the last one of the key,
// by their event times. What no row comes for any more is forgotten behind the watermark, so that
// it takes no room. Nothing is sent for what is forgotten: the result last sent stays as it is, and
// a later row of the key is the first of a new group.
#ifndef WEIR_OPERATORS_EXPIRE_H
#define WEIR_OPERATORS_EXPIRE_H

#include "runtime/operator.h"
#include "runtime/state_ttl.h"

struct weir_expire_config {
    uint32_t key_count;
    const uint32_t *key_columns; // of the rows: those under whose encoding the operator keeps them
    int64_t ttl_us;
    struct weir_state_store *store;
    struct weir_key_group_range key_groups;
    const char *forgotten; // the state of the operator, whose id this node has, too
    uint32_t detail_count; // more states of it, whose keys begin with the key
    const char *const *details;
    int64_t first_epoch; // the number of the checkpoint that is gone on from + 1
};

struct weir_operator *weir_expire_create(const char *id, const char *name,
                                         const struct weir_expire_config *config);

#endif
