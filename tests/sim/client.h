// SPDX-License-Identifier: Apache-2.0
// The simulated client: kafka/client.h over the simulated cluster, in the way of librdkafka: it
// asks again by itself until its time is over, and remembers requests that got no answer.
// Thread: there is one.
#ifndef WEIR_TESTS_SIM_CLIENT_H
#define WEIR_TESTS_SIM_CLIENT_H

#include "kafka/client.h"

enum { SIM_SOCKET_TIMEOUT_US = 1500000 };

struct weir_kafka *sim_client_create(int64_t transaction_timeout_ms);

// For client.c: consumer.c and producer.c.
struct weir_consumer *sim_consumer_create(void);
struct weir_producer *sim_producer_create(const char *transactional_id,
                                          int64_t transaction_timeout_ms);

#endif
