// SPDX-License-Identifier: Apache-2.0
// Real Kafka clusters for tests: one or three nodes on this machine, each a Java process that is
// both broker and controller (KRaft). Nodes can be killed, frozen, ended in order, and started
// again with their data; clients can be kept behind a proxy.
//
// Invariants:
//  1. What answers is the cluster that was started: ports are reserved for its lifetime, and a node
//     counts as ready only when it tells the cluster's random id and sees itself registered.
//  2. Neither a cluster nor its data outlives the test program (see process.h, base.h).
//
// Each node has a listener for clients (bootstrap) and one for brokers and the harness itself
// (direct); the latter never goes through the proxy. More listeners can be asked for, which do not
// either. Node numbers count from 0; node.id is one
// more. The broker's jars come from tools/kafka-fetch.sh, which the first start on a machine waits
// for. Thread: all of it belongs to the thread of the tests. Calls block until their effect is
// there.
#ifndef WEIR_TESTS_HARNESS_BROKER_H
#define WEIR_TESTS_HARNESS_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/harness/proxy.h"

struct weir_test_cluster;

struct weir_test_cluster_options {
    int node_count;         // 0: one
    const char *properties; // more lines for server.properties of every node; they win over the
                            // harness's own; may be NULL
    const char *version;    // NULL: $WEIR_TEST_KAFKA_VERSION, else the first of tools/kafka-version
    bool is_proxied;        // advertise the proxy's ports: clients cannot go around it
    const char *const *listeners; // names of more listeners, NULL behind the last, at most four;
                                  // how they are spoken to is up to the properties; may be NULL
};

// Settings of the harness that differ from a broker's defaults and matter to tests: topics are not
// made by themselves, records are kept for ever (log.retention.hours=-1), brokers are missed after
// 3 s (broker.session.timeout.ms), transactions that time out are aborted within 1 s. With three
// nodes: three replicas, min.insync.replicas=2. options may be NULL.
struct weir_test_cluster *weir_test_cluster_start(const struct weir_test_cluster_options *options);

// Kills all nodes and frees. NULL is fine.
void weir_test_cluster_destroy(struct weir_test_cluster *cluster);

// For the clients under test: host:port of every node, by way of the proxy if there is one.
const char *weir_test_cluster_bootstrap(const struct weir_test_cluster *cluster);

// For the test's own questions.
const char *weir_test_cluster_direct_bootstrap(const struct weir_test_cluster *cluster);

// host:port of every node at one of the listeners of the options, by its place there.
const char *weir_test_cluster_listener(const struct weir_test_cluster *cluster, int listener);

// Runs one of Kafka's own tools to its end: the class, its arguments, NULL. Fails the test if the
// tool does.
void weir_test_cluster_run_tool(const struct weir_test_cluster *cluster, const char *const *words);

// NULL if the cluster is not proxied. The cluster destroys it.
struct weir_test_proxy *weir_test_cluster_proxy(const struct weir_test_cluster *cluster);

const char *weir_test_cluster_version(const struct weir_test_cluster *cluster);

// The log of a node, with what earlier processes of it wrote.
const char *weir_test_node_log_path(const struct weir_test_cluster *cluster, int node);

bool weir_test_node_is_running(struct weir_test_cluster *cluster, int node);

// SIGKILL; the node's memory and what its kernel did not flush to other nodes is gone.
void weir_test_node_kill(struct weir_test_cluster *cluster, int node);

// SIGTERM; waits up to 60 s for its orderly end.
void weir_test_node_stop(struct weir_test_cluster *cluster, int node);

// SIGSTOP and SIGCONT: its connections stay open and say nothing.
void weir_test_node_freeze(struct weir_test_cluster *cluster, int node);
void weir_test_node_continue(struct weir_test_cluster *cluster, int node);

// Starts a node that was killed or stopped, with its data and ports; returns when it serves again.
void weir_test_node_start(struct weir_test_cluster *cluster, int node);

// The node that leads the partition; -1: none does at the moment.
int weir_test_cluster_leader(struct weir_test_cluster *cluster, const char *topic,
                             int32_t partition);

// The node that coordinates the transactional id or the group; -1: none at the moment, or nobody
// has used any transaction (any group) on this cluster yet.
int weir_test_cluster_transaction_coordinator(struct weir_test_cluster *cluster,
                                              const char *transactional_id);
int weir_test_cluster_group_coordinator(struct weir_test_cluster *cluster, const char *group);

#endif
