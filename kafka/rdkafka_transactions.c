// SPDX-License-Identifier: Apache-2.0
// Whose an open transaction is. librdkafka has no call for it, so that the leader of the partition
// and then the brokers, who coordinate transactions, are asked on connections of our own. They are
// plain ones: where brokers want TLS or a login it stays unknown. Any thread; ends by its time-out,
// but for the resolving of names.
#include "kafka/rdkafka_error.h"
#include "kafka/rdkafka_handle.h"
#include "kafka/transaction_wire.h"

#include "runtime/base/clock.h"

#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 1 << 20 };

static bool is_plain(const struct weir_rdkafka *kafka)
{
    const char *protocol = weir_rdkafka_reader_property(kafka, "security.protocol");
    return protocol == NULL || strcasecmp(protocol, "plaintext") == 0;
}

// --- a connection for one question ---------------------------------------------------------------

static bool is_ready(int descriptor, short events, int64_t deadline_ms)
{
    struct pollfd wanted = {.fd = descriptor, .events = events};
    int64_t left_ms = deadline_ms - weir_now_ms(&weir_system_clock);
    return left_ms > 0 && poll(&wanted, 1, (int)left_ms) == 1;
}

// -1: nobody is there.
static int dial(const char *host, int port, int64_t deadline_ms)
{
    char service[16];
    snprintf(service, sizeof(service), "%d", port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses = NULL;
    int descriptor = -1;
    if (getaddrinfo(host, service, &hints, &addresses) != 0) {
        return -1;
    }
    for (struct addrinfo *at = addresses; at != NULL && descriptor < 0; at = at->ai_next) {
        descriptor = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (descriptor < 0) {
            continue;
        }
        int failed = 1;
        socklen_t size = sizeof(failed);
        if (connect(descriptor, at->ai_addr, at->ai_addrlen) != 0 &&
            (!is_ready(descriptor, POLLOUT, deadline_ms) ||
             getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed != 0)) {
            close(descriptor);
            descriptor = -1;
        }
    }
    freeaddrinfo(addresses);
    return descriptor;
}

static bool send_all(int descriptor, struct weir_view view, int64_t deadline_ms)
{
    while (view.size_bytes > 0 && is_ready(descriptor, POLLOUT, deadline_ms)) {
        ssize_t sent = send(descriptor, view.data, view.size_bytes, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        view.data += sent;
        view.size_bytes -= (size_t)sent;
    }
    return view.size_bytes == 0;
}

static bool receive_all(int descriptor, char *data, size_t size_bytes, int64_t deadline_ms)
{
    while (size_bytes > 0 && is_ready(descriptor, POLLIN, deadline_ms)) {
        ssize_t received = recv(descriptor, data, size_bytes, 0);
        if (received <= 0) {
            return false;
        }
        data += received;
        size_bytes -= (size_t)received;
    }
    return size_bytes == 0;
}

static bool receive_answer(int descriptor, struct weir_buffer *answer, int64_t deadline_ms)
{
    unsigned char head[4];
    if (!receive_all(descriptor, (char *)head, sizeof(head), deadline_ms)) {
        return false;
    }
    size_t size_bytes =
        (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | (size_t)head[3];
    if (size_bytes > ANSWER_BYTES_MAX) {
        return false;
    }
    if (!receive_all(descriptor, weir_buffer_reserve(answer, size_bytes), size_bytes,
                     deadline_ms)) {
        return false;
    }
    answer->size_bytes += size_bytes;
    return true;
}

// False: the broker did not answer.
static bool ask(const struct rd_kafka_metadata_broker *broker, const struct weir_buffer *question,
                struct weir_buffer *answer, int64_t deadline_ms)
{
    int descriptor = dial(broker->host, broker->port, deadline_ms);
    if (descriptor < 0) {
        return false;
    }
    size_t size = question->size_bytes;
    const char head[4] = {(char)(size >> 24), (char)(size >> 16), (char)(size >> 8), (char)size};
    bool is_answered =
        send_all(descriptor, (struct weir_view){.data = head, .size_bytes = 4}, deadline_ms) &&
        send_all(descriptor,
                 (struct weir_view){.data = question->data, .size_bytes = question->size_bytes},
                 deadline_ms) &&
        receive_answer(descriptor, answer, deadline_ms);
    close(descriptor);
    return is_answered;
}

// --- the questions -------------------------------------------------------------------------------

static const struct rd_kafka_metadata_broker *leader_of(const struct rd_kafka_metadata *metadata,
                                                        int32_t partition)
{
    for (int i = 0; metadata->topic_cnt == 1 && i < metadata->topics[0].partition_cnt; i++) {
        const struct rd_kafka_metadata_partition *found = &metadata->topics[0].partitions[i];
        for (int j = 0; found->id == partition && j < metadata->broker_cnt; j++) {
            if (metadata->brokers[j].id == found->leader) {
                return &metadata->brokers[j];
            }
        }
    }
    return NULL;
}

static bool find_producer(const struct rd_kafka_metadata_broker *leader,
                          const struct weir_topic_partition *at, int64_t offset,
                          int64_t *producer_id, int64_t deadline_ms)
{
    struct weir_buffer question = {0};
    struct weir_buffer answer = {0};
    weir_wire_ask_producers(&question, at);
    bool is_found = ask(leader, &question, &answer, deadline_ms) &&
                    weir_wire_read_producers(
                        (struct weir_view){.data = answer.data, .size_bytes = answer.size_bytes},
                        offset, producer_id);
    weir_buffer_deinit(&question);
    weir_buffer_deinit(&answer);
    return is_found;
}

// One of the brokers coordinates it.
static void find_transactional_id(const struct rd_kafka_metadata *metadata,
                                  struct weir_transaction_owner *owner, int64_t deadline_ms)
{
    struct weir_buffer question = {0};
    bool is_found = false;
    weir_wire_ask_transactions(&question, owner->producer_id);
    for (int i = 0; i < metadata->broker_cnt && !is_found; i++) {
        struct weir_buffer answer = {0};
        is_found =
            ask(&metadata->brokers[i], &question, &answer, deadline_ms) &&
            weir_wire_read_transactions(
                (struct weir_view){.data = answer.data, .size_bytes = answer.size_bytes},
                owner->producer_id, owner->transactional_id, sizeof(owner->transactional_id));
        weir_buffer_deinit(&answer);
    }
    weir_buffer_deinit(&question);
}

enum weir_status weir_rdkafka_transaction_owner(struct weir_kafka *kafka,
                                                const struct weir_topic_partition *at,
                                                int64_t offset,
                                                struct weir_transaction_owner *owner,
                                                int32_t timeout_ms, struct weir_error *error)
{
    int64_t deadline_ms = weir_now_ms(&weir_system_clock) + timeout_ms;
    *owner = (struct weir_transaction_owner){.producer_id = -1};
    if (!is_plain(weir_rdkafka_of(kafka))) {
        return WEIR_OK;
    }
    rd_kafka_t *handle = weir_rdkafka_question(weir_rdkafka_of(kafka), WEIR_READ_COMMITTED, error);
    rd_kafka_topic_t *topic = handle != NULL ? rd_kafka_topic_new(handle, at->topic, NULL) : NULL;
    if (topic == NULL) {
        return WEIR_ERROR;
    }
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, topic, &metadata, timeout_ms);
    rd_kafka_topic_destroy(topic);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return weir_rdkafka_error_set(error, WEIR_RDKAFKA_ASK, code, NULL,
                                      "asking who leads topic '%s'", at->topic);
    }
    const struct rd_kafka_metadata_broker *leader = leader_of(metadata, at->partition);
    if (leader != NULL && find_producer(leader, at, offset, &owner->producer_id, deadline_ms)) {
        find_transactional_id(metadata, owner, deadline_ms);
    }
    rd_kafka_metadata_destroy(metadata);
    return WEIR_OK;
}
