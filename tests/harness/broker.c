// SPDX-License-Identifier: Apache-2.0
// Clusters: see the header. Starting saves time in two ways: the log directory is formatted by
// copying what the storage tool once made (only meta.properties names cluster and node), and Java
// runs with an archive of class data. Both come from tools/kafka-fetch.sh.
#include "tests/harness/broker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/base.h"
#include "tests/harness/client.h"
#include "tests/harness/process.h"

enum {
    NODE_COUNT_MAX = 3,
    LISTENERS_MAX = 4, // beside the harness's own
    READY_TIMEOUT_MS = 60000,
    FETCH_TIMEOUT_MS = 600000,
    ID_CHARS = 22 // 16 bytes in base64
};

struct node {
    int client_port;
    int direct_port;
    int controller_port;
    int reserved_fds[3]; // hold the ports while the node is down
    int advertised_port; // the proxy's, or client_port
    int listener_ports[LISTENERS_MAX];
    int listener_fds[LISTENERS_MAX];
    char *properties_path;
    char *log_path;
    struct weir_test_process *process;
};

struct weir_test_cluster {
    int node_count;
    struct node nodes[NODE_COUNT_MAX];
    struct weir_test_proxy *proxy;
    char id[ID_CHARS + 1];
    const char *dir;
    char *version;
    char *kafka_dir; // jars and argument files
    char *bootstrap;
    char *direct_bootstrap;
    int listener_count;
    const char *listener_names[LISTENERS_MAX];
    char *listener_bootstraps[LISTENERS_MAX];
};

static const char common_properties[] =
    "process.roles=broker,controller\n"
    "controller.listener.names=CONTROLLER\n"
    "inter.broker.listener.name=DIRECT\n"
    "listener.security.protocol.map=CLIENTS:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
    "auto.create.topics.enable=false\n"
    "offsets.topic.num.partitions=4\n"
    "transaction.state.log.num.partitions=4\n"
    "group.initial.rebalance.delay.ms=0\n"
    "log.retention.hours=-1\n"
    "broker.session.timeout.ms=3000\n"
    "broker.heartbeat.interval.ms=500\n"
    "transaction.abort.timed.out.transaction.cleanup.interval.ms=1000\n"
    // Small: several brokers share a small machine.
    "log.cleaner.dedupe.buffer.size=2097152\n"
    "log.index.size.max.bytes=1048576\n"
    "num.network.threads=2\n"
    "num.io.threads=4\n"
    "background.threads=2\n";

static void make_id(char id[ID_CHARS + 1])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t bytes[ID_CHARS];
    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
        abort();
    }
    for (int i = 0; i < ID_CHARS; i++) {
        id[i] = letters[bytes[i] % 64];
    }
    id[0] = 'W';            // a dash in front would be taken for an option
    id[ID_CHARS - 1] = 'A'; // its last four bits are unused and must be zero
    id[ID_CHARS] = '\0';
}

// Jars and settings ---------------------------------------------------------------------------

static char *first_line(char *text)
{
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static char *choose_version(const char *asked)
{
    const char *from_environment = getenv("WEIR_TEST_KAFKA_VERSION");
    if (asked == NULL && from_environment != NULL && from_environment[0] != '\0') {
        asked = from_environment;
    }
    if (asked != NULL) {
        return weir_test_format("%s", asked);
    }
    char *text = weir_test_read_file(WEIR_TEST_TOOLS "/kafka-version", NULL);
    if (text == NULL) {
        WEIR_TEST_FAIL("cannot read %s", WEIR_TEST_TOOLS "/kafka-version");
    }
    return first_line(text);
}

static char *fetch_kafka(const struct weir_test_cluster *cluster)
{
    char *log_path = weir_test_format("%s/fetch.log", cluster->dir);
    const char *argv[] = {WEIR_TEST_TOOLS "/kafka-fetch.sh", cluster->version, NULL};
    struct weir_test_process *process = weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = log_path});
    struct weir_test_exit how = {0};
    bool is_over = weir_test_process_wait(process, FETCH_TIMEOUT_MS, &how);
    char *output = weir_test_process_output(process);
    if (!is_over || how.is_signalled || how.code != 0) {
        WEIR_TEST_FAIL("cannot fetch Kafka %s: %s", cluster->version, output);
    }
    weir_test_process_destroy(process);
    free(log_path);
    return first_line(output);
}

static void run_to_end(const char *const *argv, const char *log_path)
{
    struct weir_test_process *process = weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = log_path});
    struct weir_test_exit how = {0};
    if (!weir_test_process_wait(process, 30000, &how) || how.is_signalled || how.code != 0) {
        WEIR_TEST_FAIL("%s failed, see %s", argv[0], log_path);
    }
    weir_test_process_destroy(process);
}

static void format_node(const struct weir_test_cluster *cluster, int node)
{
    char *from = weir_test_format("%s/formatted", cluster->kafka_dir);
    char *to = weir_test_format("%s/node-%d", cluster->dir, node);
    char *log_path = weir_test_format("%s/format.log", cluster->dir);
    const char *argv[] = {"cp", "-R", from, to, NULL};
    run_to_end(argv, log_path);
    char *meta_path = weir_test_format("%s/meta.properties", to);
    char *meta = weir_test_format("version=1\ncluster.id=%s\nnode.id=%d\n", cluster->id, node + 1);
    weir_test_write_file(meta_path, meta);
    free(meta);
    free(meta_path);
    free(log_path);
    free(to);
    free(from);
}

static void write_properties(const struct weir_test_cluster *cluster, int node_idx,
                             const char *more)
{
    const struct node *node = &cluster->nodes[node_idx];
    char voters[128] = "";
    for (int i = 0; i < cluster->node_count; i++) {
        size_t length = strlen(voters);
        snprintf(voters + length, sizeof(voters) - length, "%s%d@127.0.0.1:%d", i > 0 ? "," : "",
                 i + 1, cluster->nodes[i].controller_port);
    }
    char listeners[256] = "";
    for (int i = 0; i < cluster->listener_count; i++) {
        size_t length = strlen(listeners);
        snprintf(listeners + length, sizeof(listeners) - length, ",%s://127.0.0.1:%d",
                 cluster->listener_names[i], node->listener_ports[i]);
    }
    int replicas = cluster->node_count;
    int in_sync = replicas == 3 ? 2 : 1;
    char *text = weir_test_format(
        "node.id=%d\n"
        "controller.quorum.voters=%s\n"
        "listeners=CLIENTS://127.0.0.1:%d,DIRECT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d%s\n"
        "advertised.listeners=CLIENTS://127.0.0.1:%d,DIRECT://127.0.0.1:%d%s\n"
        "log.dirs=%s/node-%d\n"
        "default.replication.factor=%d\n"
        "offsets.topic.replication.factor=%d\n"
        "transaction.state.log.replication.factor=%d\n"
        "min.insync.replicas=%d\n"
        "transaction.state.log.min.isr=%d\n"
        "%s%s\n",
        node_idx + 1, voters, node->client_port, node->direct_port, node->controller_port,
        listeners, node->advertised_port, node->direct_port, listeners, cluster->dir, node_idx,
        replicas, replicas, replicas, in_sync, in_sync, common_properties,
        more != NULL ? more : "");
    weir_test_write_file(node->properties_path, text);
    free(text);
}

// Processes -----------------------------------------------------------------------------------

static void launch(struct weir_test_cluster *cluster, int node_idx)
{
    struct node *node = &cluster->nodes[node_idx];
    const int ports[] = {node->client_port, node->direct_port, node->controller_port};
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        if (weir_test_port_answers(ports[i])) {
            WEIR_TEST_FAIL("port %d of node %d is taken by another program", ports[i], node_idx);
        }
    }
    char *arguments = weir_test_format("@%s/light.args", cluster->kafka_dir);
    const char *argv[] = {"java", arguments, "kafka.Kafka", node->properties_path, NULL};
    node->process = weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = node->log_path});
    free(arguments);
}

// Does this node say that it belongs to our cluster and serves as a registered broker of it?
static bool is_ready(const struct weir_test_cluster *cluster, int node_idx)
{
    const struct node *node = &cluster->nodes[node_idx];
    if (!weir_test_port_answers(node->direct_port)) {
        return false;
    }
    char server[32];
    snprintf(server, sizeof(server), "127.0.0.1:%d", node->direct_port);
    rd_kafka_t *handle = weir_test_client_create_plain(server);
    const struct rd_kafka_metadata *metadata = weir_test_client_metadata(handle, NULL, 2000);
    bool is_registered = false;
    for (int i = 0; metadata != NULL && i < metadata->broker_cnt; i++) {
        is_registered = is_registered || metadata->brokers[i].id == node_idx + 1;
    }
    char *id = is_registered ? rd_kafka_clusterid(handle, 2000) : NULL;
    bool is_other = id != NULL && strcmp(id, cluster->id) != 0;
    bool is_ours = id != NULL && !is_other;
    rd_kafka_mem_free(handle, id);
    if (metadata != NULL) {
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_destroy(handle);
    if (is_other) {
        WEIR_TEST_FAIL("port %d answers for another cluster", node->direct_port);
    }
    return is_ours;
}

static void wait_ready(struct weir_test_cluster *cluster, int node_idx)
{
    struct node *node = &cluster->nodes[node_idx];
    int64_t deadline_ms = weir_test_now_ms() + READY_TIMEOUT_MS;
    while (!is_ready(cluster, node_idx)) {
        bool is_running = weir_test_process_is_running(node->process);
        if (!is_running || weir_test_now_ms() >= deadline_ms) {
            char *output = weir_test_process_output(node->process);
            WEIR_TEST_FAIL("node %d %s; its log (%s):\n%s", node_idx,
                           is_running ? "does not become ready" : "has ended", node->log_path,
                           output);
        }
        weir_test_sleep_ms(20);
    }
}

// The cluster ---------------------------------------------------------------------------------

static void prepare_node(struct weir_test_cluster *cluster, int node_idx, bool is_proxied)
{
    struct node *node = &cluster->nodes[node_idx];
    node->reserved_fds[0] = weir_test_port_reserve(&node->client_port);
    node->reserved_fds[1] = weir_test_port_reserve(&node->direct_port);
    node->reserved_fds[2] = weir_test_port_reserve(&node->controller_port);
    for (int i = 0; i < cluster->listener_count; i++) {
        node->listener_fds[i] = weir_test_port_reserve(&node->listener_ports[i]);
    }
    node->advertised_port = is_proxied
                                ? weir_test_proxy_add_route(cluster->proxy, node->client_port)
                                : node->client_port;
    node->properties_path = weir_test_format("%s/node-%d.properties", cluster->dir, node_idx);
    node->log_path = weir_test_format("%s/node-%d.log", cluster->dir, node_idx);
    format_node(cluster, node_idx);
}

enum { ADVERTISED = -1, DIRECT = -2 };

// listener: one of the two, or the place of one that was asked for.
static char *list_servers(const struct weir_test_cluster *cluster, int listener)
{
    char text[128] = "";
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        size_t length = strlen(text);
        int port = listener == ADVERTISED ? node->advertised_port
                   : listener == DIRECT   ? node->direct_port
                                          : node->listener_ports[listener];
        snprintf(text + length, sizeof(text) - length, "%s127.0.0.1:%d", i > 0 ? "," : "", port);
    }
    return weir_test_format("%s", text);
}

static void note_listeners(struct weir_test_cluster *cluster, const char *const *names)
{
    for (int i = 0; names != NULL && names[i] != NULL; i++) {
        if (i == LISTENERS_MAX) {
            WEIR_TEST_FAIL("at most %d listeners", LISTENERS_MAX);
        }
        cluster->listener_names[i] = names[i];
        cluster->listener_count = i + 1;
    }
}

struct weir_test_cluster *weir_test_cluster_start(const struct weir_test_cluster_options *options)
{
    struct weir_test_cluster_options defaults = {0};
    options = options != NULL ? options : &defaults;
    struct weir_test_cluster *cluster = weir_test_alloc(sizeof(*cluster));
    cluster->node_count = options->node_count > 0 ? options->node_count : 1;
    if (cluster->node_count > NODE_COUNT_MAX) {
        WEIR_TEST_FAIL("at most %d nodes", NODE_COUNT_MAX);
    }
    note_listeners(cluster, options->listeners);
    make_id(cluster->id);
    cluster->dir = weir_test_dir_create("cluster");
    cluster->version = choose_version(options->version);
    cluster->kafka_dir = fetch_kafka(cluster);
    if (options->is_proxied) {
        cluster->proxy = weir_test_proxy_create();
    }
    for (int i = 0; i < cluster->node_count; i++) {
        prepare_node(cluster, i, options->is_proxied);
    }
    for (int i = 0; i < cluster->node_count; i++) { // each names the ports of all
        write_properties(cluster, i, options->properties);
        launch(cluster, i);
    }
    for (int i = 0; i < cluster->node_count; i++) {
        wait_ready(cluster, i);
    }
    cluster->bootstrap = list_servers(cluster, ADVERTISED);
    cluster->direct_bootstrap = list_servers(cluster, DIRECT);
    for (int i = 0; i < cluster->listener_count; i++) {
        cluster->listener_bootstraps[i] = list_servers(cluster, i);
    }
    return cluster;
}

void weir_test_cluster_destroy(struct weir_test_cluster *cluster)
{
    if (cluster == NULL) {
        return;
    }
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        weir_test_process_destroy(node->process);
        for (size_t j = 0; j < sizeof(node->reserved_fds) / sizeof(node->reserved_fds[0]); j++) {
            close(node->reserved_fds[j]);
        }
        for (int j = 0; j < cluster->listener_count; j++) {
            close(node->listener_fds[j]);
        }
        free(node->properties_path);
        free(node->log_path);
    }
    for (int i = 0; i < cluster->listener_count; i++) {
        free(cluster->listener_bootstraps[i]);
    }
    weir_test_proxy_destroy(cluster->proxy);
    free(cluster->version);
    free(cluster->kafka_dir);
    free(cluster->bootstrap);
    free(cluster->direct_bootstrap);
    free(cluster);
}

const char *weir_test_cluster_bootstrap(const struct weir_test_cluster *cluster)
{
    return cluster->bootstrap;
}

const char *weir_test_cluster_direct_bootstrap(const struct weir_test_cluster *cluster)
{
    return cluster->direct_bootstrap;
}

const char *weir_test_cluster_listener(const struct weir_test_cluster *cluster, int listener)
{
    if (listener < 0 || listener >= cluster->listener_count) {
        WEIR_TEST_FAIL("no listener %d", listener);
    }
    return cluster->listener_bootstraps[listener];
}

void weir_test_cluster_run_tool(const struct weir_test_cluster *cluster, const char *const *words)
{
    enum { WORDS_MAX = 30 };
    char *arguments = weir_test_format("@%s/light.args", cluster->kafka_dir);
    char *log_path = weir_test_format("%s/tools.log", cluster->dir);
    const char *argv[WORDS_MAX + 3] = {"java", arguments};
    for (int i = 0; words[i] != NULL; i++) {
        if (i == WORDS_MAX) {
            WEIR_TEST_FAIL("more than %d words", WORDS_MAX);
        }
        argv[i + 2] = words[i];
    }
    run_to_end(argv, log_path);
    free(log_path);
    free(arguments);
}

struct weir_test_proxy *weir_test_cluster_proxy(const struct weir_test_cluster *cluster)
{
    return cluster->proxy;
}

const char *weir_test_cluster_version(const struct weir_test_cluster *cluster)
{
    return cluster->version;
}

// Nodes ---------------------------------------------------------------------------------------

static struct node *node_at(struct weir_test_cluster *cluster, int node)
{
    if (node < 0 || node >= cluster->node_count) {
        WEIR_TEST_FAIL("no node %d", node);
    }
    return &cluster->nodes[node];
}

// Of a node that is down there is no process.
static struct weir_test_process *process_of(struct weir_test_cluster *cluster, int node)
{
    struct weir_test_process *process = node_at(cluster, node)->process;
    if (process == NULL) {
        WEIR_TEST_FAIL("node %d does not run", node);
    }
    return process;
}

const char *weir_test_node_log_path(const struct weir_test_cluster *cluster, int node)
{
    return cluster->nodes[node].log_path;
}

bool weir_test_node_is_running(struct weir_test_cluster *cluster, int node)
{
    struct weir_test_process *process = node_at(cluster, node)->process;
    return process != NULL && weir_test_process_is_running(process);
}

void weir_test_node_kill(struct weir_test_cluster *cluster, int node)
{
    weir_test_process_destroy(process_of(cluster, node));
    cluster->nodes[node].process = NULL;
}

void weir_test_node_stop(struct weir_test_cluster *cluster, int node)
{
    struct weir_test_process *process = process_of(cluster, node);
    weir_test_process_signal(process, SIGTERM);
    if (!weir_test_process_wait(process, 60000, NULL)) {
        WEIR_TEST_FAIL("node %d does not end", node);
    }
    weir_test_process_destroy(process);
    cluster->nodes[node].process = NULL;
}

void weir_test_node_freeze(struct weir_test_cluster *cluster, int node)
{
    weir_test_process_signal(process_of(cluster, node), SIGSTOP);
}

void weir_test_node_continue(struct weir_test_cluster *cluster, int node)
{
    weir_test_process_signal(process_of(cluster, node), SIGCONT);
}

void weir_test_node_start(struct weir_test_cluster *cluster, int node)
{
    if (node_at(cluster, node)->process != NULL) {
        WEIR_TEST_FAIL("node %d was neither killed nor stopped", node);
    }
    launch(cluster, node);
    wait_ready(cluster, node);
}

// Who leads -----------------------------------------------------------------------------------

static int leader_of(const struct rd_kafka_metadata *metadata, int32_t partition)
{
    const struct rd_kafka_metadata_topic *topic = &metadata->topics[0];
    for (int i = 0; i < topic->partition_cnt; i++) {
        if (topic->partitions[i].id == partition && topic->partitions[i].leader > 0) {
            return topic->partitions[i].leader - 1;
        }
    }
    return -1;
}

// partition -1: the one that the key belongs to, as coordinators count.
static int find_leader(struct weir_test_cluster *cluster, const char *topic, int32_t partition,
                       const char *key)
{
    rd_kafka_t *handle = weir_test_client_create_plain(cluster->direct_bootstrap);
    const struct rd_kafka_metadata *metadata = weir_test_client_metadata(handle, topic, 10000);
    int leader = -1;
    if (metadata != NULL) {
        int partition_count = metadata->topics[0].partition_cnt;
        if (partition < 0 && partition_count > 0) {
            uint32_t hash = 0; // String.hashCode of Java
            for (; *key != '\0'; key++) {
                hash = hash * 31 + (uint8_t)*key;
            }
            partition = (int32_t)((hash & 0x7fffffffU) % (uint32_t)partition_count);
        }
        leader = leader_of(metadata, partition);
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_destroy(handle);
    return leader;
}

int weir_test_cluster_leader(struct weir_test_cluster *cluster, const char *topic,
                             int32_t partition)
{
    return find_leader(cluster, topic, partition, "");
}

int weir_test_cluster_transaction_coordinator(struct weir_test_cluster *cluster,
                                              const char *transactional_id)
{
    return find_leader(cluster, "__transaction_state", -1, transactional_id);
}

int weir_test_cluster_group_coordinator(struct weir_test_cluster *cluster, const char *group)
{
    return find_leader(cluster, "__consumer_offsets", -1, group);
}
