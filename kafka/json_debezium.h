// SPDX-License-Identifier: Apache-2.0
// Change events of Debezium as JSON, with the schema in each message or without: {"before": …,
// "after": …, "op": "c", …}, bare or as the "payload" beside a "schema". Creates, updates and
// snapshot reads give the row after the change, deletes say that the key is gone. Made for
// keyed_decode.h, which takes the key from the message key.
#ifndef WEIR_KAFKA_JSON_DEBEZIUM_H
#define WEIR_KAFKA_JSON_DEBEZIUM_H

#include "kafka/json_decode.h"

// As weir_json_decoder_create. decoded->fates says what became of records without row.
struct weir_decoder *weir_debezium_decoder_create(const struct weir_schema *schema,
                                                  const struct weir_json_decode_options *options);

// Message keys of such topics, given as values: {"id": 1}, bare or as the payload of a schema.
struct weir_decoder *
weir_debezium_key_decoder_create(const struct weir_schema *schema,
                                 const struct weir_json_decode_options *options);

#endif
