// SPDX-License-Identifier: Apache-2.0
// `weir transactions`: what holds back read_committed readers of the topics of a job. The client
// cannot ask brokers for transactions; what can be known is where a partition's last stable offset
// stands, and the record behind it: the first of the oldest transaction that is open there. Whose
// it is, brokers are asked on plain connections (kafka/rdkafka_transactions.c), if they take those.
#ifndef WEIR_APP_TRANSACTIONS_H
#define WEIR_APP_TRANSACTIONS_H

#include "app/config.h"

#include <stdio.h>

// Prints the transactional ids of the job and a line for each partition of its topics behind whose
// last stable offset something lies. is_abort: first takes the ids over, which aborts what an owner
// that is gone has left open under them; refused (FAIL) while a process works on the state
// directory. The configuration has been loaded without a fault. Blocks.
enum weir_status weir_transactions(const struct weir_config *config, bool is_abort, FILE *out,
                                   struct weir_error *error);

#endif
