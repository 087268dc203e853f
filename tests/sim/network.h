// SPDX-License-Identifier: Apache-2.0
// The way between clients and the simulated cluster. A request can be lost, its answer can be lost,
// and a request that its sender has given up can arrive later, behind its own retry or in the
// middle of what follows, also when its sender is long dead. Thread: there is one.
#ifndef WEIR_TESTS_SIM_NETWORK_H
#define WEIR_TESTS_SIM_NETWORK_H

#include "tests/sim/broker.h"

void sim_network_start(void);
// One request in so many meets with a fault; 0: none does.
void sim_network_set_faults(uint32_t one_in);
uint32_t sim_network_faults(void);
// Besides: of the requests that begin and end a producer's work, one in so many is late, or its
// answer is lost; 0: none.
void sim_network_set_late(uint32_t one_in);

// Besides: of the requests that end a transaction, one in so many loses its answer with the
// connection, which is noticed at once; 0: none.
void sim_network_set_breaks(uint32_t one_in);

// The next request of that kind is kept until it is let go, and its sender given no answer.
void sim_network_hold(enum sim_api api);
void sim_network_release(void);

// A copy of the request that the network owns is sent. True: *request has the answer. False: none
// has come in time; nobody knows whether it was carried out, or will be.
bool sim_network_ask(struct sim_request *request, int64_t timeout_us);

// The time that a question takes which changes nothing. False: there was no answer.
bool sim_network_question(int64_t timeout_us);

#endif
