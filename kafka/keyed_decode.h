// SPDX-License-Identifier: Apache-2.0
// Records of a keyed topic to upserts: the key columns come from the message key, the others from
// the value; a null value deletes. A decoder made of two.
#ifndef WEIR_KAFKA_KEYED_DECODE_H
#define WEIR_KAFKA_KEYED_DECODE_H

#include "kafka/format.h"

struct weir_keyed_decoder_config {
    const struct weir_schema *schema; // of the rows; key columns among them
    uint32_t key_count;
    const uint32_t *key_columns;        // of the schema, in the order of the key's own schema
    struct weir_decoder *value_decoder; // of the whole schema; taken over
    struct weir_decoder *key_decoder;   // of the key columns only; taken over
};

// Bad records with reason key: a null, empty or undecodable key, a key column that is NULL, a value
// that contradicts the key. decoded->change: INSERT for an upsert, DELETE for a tombstone, whose
// other columns are NULL.
struct weir_decoder *weir_keyed_decoder_create(const struct weir_keyed_decoder_config *config);

#endif
