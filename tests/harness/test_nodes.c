// SPDX-License-Identifier: Apache-2.0
// The harness's own tests against three nodes: leaders, kills, freezes, orderly stops, and that a
// stranger on a node's port is noticed.
#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/harness/base.h"
#include "tests/harness/broker.h"
#include "tests/harness/process.h"
#include "tests/harness/producer.h"
#include "tests/harness/reader.h"
#include "tests/harness/topic.h"

static struct weir_test_cluster *cluster;
static const char *bootstrap;

static int start_cluster(void **state)
{
    (void)state;
    int64_t start_ms = weir_test_now_ms();
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){
        .node_count = 3, .properties = "log.retention.hours=5\n", .is_proxied = true});
    bootstrap = weir_test_cluster_bootstrap(cluster);
    printf("three nodes serve after %d ms\n", (int)(weir_test_now_ms() - start_ms));
    return 0;
}

static int stop_cluster(void **state)
{
    (void)state;
    weir_test_cluster_destroy(cluster);
    return 0;
}

static void produce_one(const char *topic, const char *value)
{
    struct weir_test_record record = weir_test_record_of(0, "k", value);
    weir_test_produce_transaction(bootstrap, "nodes-0", topic, &record, 1, true);
}

static size_t count_visible(const char *topic)
{
    struct weir_test_log *log = weir_test_read(bootstrap, topic, NULL);
    size_t count = log->record_count;
    weir_test_log_destroy(log);
    return count;
}

static void wait_leader_moves(const char *topic, int from)
{
    int leader = -1;
    int64_t start_ms = weir_test_now_ms();
    WEIR_TEST_WAIT_UNTIL(
        (leader = weir_test_cluster_leader(cluster, topic, 0)) >= 0 && leader != from, 30000);
    printf("leader moved after %d ms\n", (int)(weir_test_now_ms() - start_ms));
}

static void test_properties_and_replicas(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "settings", 1, NULL);
    char *retention = weir_test_broker_get(bootstrap, 2, "log.retention.hours");
    assert_string_equal(retention, "5"); // ours, not the harness's -1
    free(retention);
    char *in_sync = weir_test_topic_get(bootstrap, "settings", "min.insync.replicas");
    assert_string_equal(in_sync, "2");
    free(in_sync);
}

static void test_kill_of_the_leader_loses_nothing(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "killed", 1, NULL);
    produce_one("killed", "1");
    int leader = weir_test_cluster_leader(cluster, "killed", 0);
    assert_true(leader >= 0);
    weir_test_node_kill(cluster, leader);
    assert_false(weir_test_node_is_running(cluster, leader));
    wait_leader_moves("killed", leader);
    produce_one("killed", "2");
    assert_int_equal(count_visible("killed"), 2);
    weir_test_node_start(cluster, leader);
    produce_one("killed", "3");
    assert_int_equal(count_visible("killed"), 3);
}

static void test_kill_of_the_coordinator_leaves_the_outcome_to_the_next(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "coordinated", 1, NULL);
    struct weir_test_record record = weir_test_record_of(0, "k", "1");
    struct weir_test_transaction *transaction =
        weir_test_transaction_begin(bootstrap, "nodes-1", 60000);
    weir_test_transaction_add(transaction, "coordinated", &record, 1);
    int coordinator = weir_test_cluster_transaction_coordinator(cluster, "nodes-1");
    assert_true(coordinator >= 0);
    weir_test_node_kill(cluster, coordinator);
    weir_test_transaction_end(transaction, true);
    assert_true(weir_test_cluster_transaction_coordinator(cluster, "nodes-1") != coordinator);
    WEIR_TEST_WAIT_UNTIL(count_visible("coordinated") == 1, 30000);
    weir_test_node_start(cluster, coordinator);
}

static void test_orderly_stop_moves_the_leader(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "stopped", 1, NULL);
    produce_one("stopped", "1");
    int leader = weir_test_cluster_leader(cluster, "stopped", 0);
    weir_test_node_stop(cluster, leader);
    wait_leader_moves("stopped", leader);
    produce_one("stopped", "2");
    weir_test_node_start(cluster, leader);
    assert_int_equal(count_visible("stopped"), 2);
}

static void test_frozen_leader_is_replaced(void **state)
{
    (void)state;
    weir_test_topic_create(bootstrap, "frozen", 1, NULL);
    produce_one("frozen", "1");
    int leader = weir_test_cluster_leader(cluster, "frozen", 0);
    weir_test_node_freeze(cluster, leader);
    assert_true(weir_test_node_is_running(cluster, leader));
    wait_leader_moves("frozen", leader);
    weir_test_node_continue(cluster, leader);
    produce_one("frozen", "2");
    assert_int_equal(count_visible("frozen"), 2);
}

// A node that finds a stranger on its port: in a program of its own, which has to fail.
static void scenario_stranger(void **state)
{
    (void)state;
    cluster = weir_test_cluster_start(NULL);
    weir_test_node_kill(cluster, 0);
    const char *server = weir_test_cluster_bootstrap(cluster);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_port = htons((uint16_t)atoi(strrchr(server, ':') + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 1), 0);
    weir_test_node_start(cluster, 0);
}

static void test_stranger_on_the_port_is_refused(void **state)
{
    (void)state;
    char self[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    const char *dir = weir_test_dir_create("nodes");
    char *log_path = weir_test_format("%s/stranger.log", dir);
    char *tmp = weir_test_format("TMPDIR=%s", dir);
    const char *argv[] = {self, NULL};
    const char *environment[] = {"WEIR_TEST_SCENARIO=stranger", tmp, NULL};
    struct weir_test_process *process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .environment = environment, .log_path = log_path});
    struct weir_test_exit how = {0};
    assert_true(weir_test_process_wait(process, 60000, &how));
    assert_int_equal(how.code, 1);
    assert_true(weir_test_process_wait_text(process, "is taken by another program", 0, NULL));
    weir_test_process_destroy(process);
    free(log_path);
    free(tmp);
}

int main(void)
{
    if (getenv("WEIR_TEST_SCENARIO") != NULL) {
        const struct CMUnitTest scenarios[] = {cmocka_unit_test(scenario_stranger)};
        return cmocka_run_group_tests(scenarios, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties_and_replicas),
        cmocka_unit_test(test_kill_of_the_leader_loses_nothing),
        cmocka_unit_test(test_kill_of_the_coordinator_leaves_the_outcome_to_the_next),
        cmocka_unit_test(test_orderly_stop_moves_the_leader),
        cmocka_unit_test(test_frozen_leader_is_replaced),
        cmocka_unit_test(test_stranger_on_the_port_is_refused),
    };
    return cmocka_run_group_tests(tests, start_cluster, stop_cluster);
}
