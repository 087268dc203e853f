// SPDX-License-Identifier: Apache-2.0
// WEIR_KAFKA_<PROPERTY>, WEIR_KAFKA_CONSUMER_<PROPERTY>, WEIR_KAFKA_PRODUCER_<PROPERTY>: the Kafka
// client's properties as variables. Private to the files app/config*.c. Thread: one.
#ifndef WEIR_APP_CONFIG_KAFKA_H
#define WEIR_APP_CONFIG_KAFKA_H

#include "app/config.h"
#include "app/config_environment.h"

// Reads every unused entry that begins with WEIR_KAFKA_ into the property lists and the transaction
// time-out of *config, and appends a setting for each to *settings (room for one an entry of the
// environment is there). Faults go to the environment's list. bootstrap.servers is put in front if
// it is there.
void weir_config_kafka_load(struct weir_environment *environment, struct weir_config *config,
                            struct weir_setting *settings, uint32_t *setting_count);

// "WEIR_KAFKA_FETCH_MIN_BYTES" for "fetch.min.bytes", in the arena.
const char *weir_config_kafka_variable(struct weir_arena *arena, const char *prefix,
                                       const char *property);

#endif
