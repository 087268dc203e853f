// SPDX-License-Identifier: Apache-2.0
// What most programs here begin and end with: a cluster that all their tests share, the seed of
// what they leave to chance, and how large a run is asked for. What starts and stops the cluster
// are fixtures, of a group or of a test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_CLUSTER_UTIL_H
#define WEIR_TESTS_INTEGRATION_CLUSTER_UTIL_H

#include "tests/harness/broker.h"

// Of one broker; a program that wants another one (proxied, with properties) sets it in a fixture
// of its own instead of cluster_start.
extern struct weir_test_cluster *cluster;

int cluster_start(void **state);
int cluster_stop(void **state);

// choose_seed and cluster_start.
int cluster_start_seeded(void **state);

// For rand(): $WEIR_TEST_SEED, else the time; printed, so that a run that failed can be repeated.
void choose_seed(void);

// A number from the environment, for larger runs.
int number_from(const char *variable, int default_number);

#endif
