// SPDX-License-Identifier: Apache-2.0
// The demo's other end of Kafka: fills a topic with lines and reads topics as any read_committed
// consumer does. It shares nothing with weir but librdkafka, so that it sees what strangers see.
//
//   flights load BROKERS TOPIC PARTITIONS PER-SECOND   makes the topic; each line of standard
//                                                      input is a record of the next partition
//   flights read BROKERS TOPIC                         prints every committed value there is now
//   flights follow BROKERS SECONDS TOPIC=COUNT…        prints how many have come, each second,
//                                                      until it is so many (0) or time is up (1)
//
// Thread: one, besides librdkafka's own.
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ADMIN_TIMEOUT_MS = 30000,
    POLL_MS = 100,
    FLUSH_TIMEOUT_MS = 60000,
    FOLLOWED_MAX = 8,
    // Lines between two looks at the clock: a hundredth of a second at the demo's speed.
    LINES_PER_LOOK = 256,
};

struct followed {
    char *topic;
    int64_t wanted;
    int64_t count;
};

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("flights: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t number(const char *text, int64_t least)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value < least) {
        die("not a number of at least %" PRId64 ": %s", least, text);
    }
    return value;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[512];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK) {
        die("%s", text);
    }
}

static rd_kafka_t *handle_create(rd_kafka_type_t type, rd_kafka_conf_t *conf, const char *brokers)
{
    char text[512];
    set(conf, "bootstrap.servers", brokers);
    set(conf, "log_level", "3"); // errors; what is retried is no news here
    rd_kafka_t *handle = rd_kafka_new(type, conf, text, sizeof text);
    if (handle == NULL) {
        die("%s", text);
    }
    return handle;
}

// --- load

static void topic_create(rd_kafka_t *handle, const char *topic, int partition_count)
{
    char text[512];
    rd_kafka_NewTopic_t *request =
        rd_kafka_NewTopic_new(topic, partition_count, 1, text, sizeof text);
    if (request == NULL) {
        die("%s", text);
    }
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_CreateTopics(handle, &request, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ADMIN_TIMEOUT_MS);
    if (event == NULL) {
        die("the broker does not answer");
    }
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        die("%s", rd_kafka_event_error_string(event));
    }
    size_t count;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    rd_kafka_resp_err_t code = rd_kafka_topic_result_error(results[0]);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && code != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
        die("topic %s: %s", topic, rd_kafka_topic_result_error_string(results[0]));
    }
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(request);
}

static void on_delivered(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
    (void)handle;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        die("a record was not delivered: %s", rd_kafka_err2str(message->err));
    }
    ++*(int64_t *)opaque;
}

// A full queue of the client is waited out.
static void produce(rd_kafka_t *handle, const char *topic, int partition, const char *line,
                    size_t line_bytes)
{
    for (;;) {
        rd_kafka_resp_err_t code = rd_kafka_producev(
            handle, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)line, line_bytes), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            return;
        }
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            die("%s", rd_kafka_err2str(code));
        }
        rd_kafka_poll(handle, POLL_MS);
    }
}

static int load(const char *brokers, const char *topic, int partition_count, int64_t per_second)
{
    int64_t delivered_count = 0;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "enable.idempotence", "true");
    set(conf, "linger.ms", "20");
    set(conf, "compression.type", "lz4");
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivered);
    rd_kafka_conf_set_opaque(conf, &delivered_count);
    rd_kafka_t *handle = handle_create(RD_KAFKA_PRODUCER, conf, brokers);
    topic_create(handle, topic, partition_count);
    char *line = NULL;
    size_t capacity_bytes = 0;
    ssize_t line_bytes;
    int64_t line_count = 0;
    int64_t began_ms = now_ms();
    while ((line_bytes = getline(&line, &capacity_bytes, stdin)) > 0) {
        size_t value_bytes = (size_t)line_bytes - (line[line_bytes - 1] == '\n' ? 1 : 0);
        produce(handle, topic, (int)(line_count % partition_count), line, value_bytes);
        line_count++;
        if (line_count % LINES_PER_LOOK == 0) {
            int64_t due_ms = began_ms + line_count * 1000 / per_second;
            int64_t ahead_ms = due_ms - now_ms();
            rd_kafka_poll(handle, ahead_ms > 0 ? (int)ahead_ms : 0);
        }
    }
    free(line);
    if (rd_kafka_flush(handle, FLUSH_TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        delivered_count != line_count) {
        die("only %" PRId64 " of %" PRId64 " records were delivered", delivered_count, line_count);
    }
    rd_kafka_destroy(handle);
    printf("%" PRId64 "\n", line_count);
    return 0;
}

// --- read, follow

static rd_kafka_t *consumer_create(const char *brokers)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "group.id", "flights-demo-reader");
    set(conf, "isolation.level", "read_committed");
    set(conf, "enable.auto.commit", "false");
    set(conf, "enable.auto.offset.store", "false");
    set(conf, "enable.partition.eof", "true");
    set(conf, "fetch.wait.max.ms", "100");
    rd_kafka_t *handle = handle_create(RD_KAFKA_CONSUMER, conf, brokers);
    rd_kafka_poll_set_consumer(handle);
    return handle;
}

// 0: the topic is not there (yet).
static int partition_count_of(rd_kafka_t *handle, const char *topic)
{
    const struct rd_kafka_metadata *metadata;
    rd_kafka_topic_t *object = rd_kafka_topic_new(handle, topic, NULL);
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, object, &metadata, ADMIN_TIMEOUT_MS);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        die("metadata of %s: %s", topic, rd_kafka_err2str(code));
    }
    int count = metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR
                    ? metadata->topics[0].partition_cnt
                    : 0;
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(object);
    return count;
}

static void add_partitions(rd_kafka_topic_partition_list_t *list, const char *topic, int count)
{
    for (int i = 0; i < count; i++) {
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
}

// NULL: nothing came in time, or the end of a partition, which *ended_count counts.
static rd_kafka_message_t *next_record(rd_kafka_t *handle, int *ended_count)
{
    rd_kafka_message_t *message = rd_kafka_consumer_poll(handle, POLL_MS);
    if (message == NULL || message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return message;
    }
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        ++*ended_count;
    } else {
        die("%s", rd_kafka_message_errstr(message));
    }
    rd_kafka_message_destroy(message);
    return NULL;
}

static int read_all(const char *brokers, const char *topic)
{
    rd_kafka_t *handle = consumer_create(brokers);
    int count = partition_count_of(handle, topic);
    if (count == 0) {
        die("there is no topic %s", topic);
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    add_partitions(list, topic, count);
    rd_kafka_assign(handle, list);
    int ended_count = 0;
    // Nobody writes any more, or the reader wants what there is now: each end is told once.
    while (ended_count < count) {
        rd_kafka_message_t *message = next_record(handle, &ended_count);
        if (message != NULL) {
            fwrite(message->payload, 1, message->len, stdout);
            putchar('\n');
            rd_kafka_message_destroy(message);
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_close(handle);
    rd_kafka_destroy(handle);
    return 0;
}

static void wait_for_topics(rd_kafka_t *handle, const struct followed *followed, int followed_count,
                            int64_t deadline_ms)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    for (int i = 0; i < followed_count; i++) {
        int count;
        while ((count = partition_count_of(handle, followed[i].topic)) == 0) {
            if (now_ms() > deadline_ms) {
                die("there is no topic %s", followed[i].topic);
            }
            struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
            nanosleep(&pause, NULL);
        }
        add_partitions(list, followed[i].topic, count);
    }
    rd_kafka_assign(handle, list);
    rd_kafka_topic_partition_list_destroy(list);
}

static void print_counts(const struct followed *followed, int followed_count, int64_t since_ms)
{
    printf("  %4.1f s", (double)(now_ms() - since_ms) / 1000);
    for (int i = 0; i < followed_count; i++) {
        printf("   %s %" PRId64, followed[i].topic, followed[i].count);
    }
    putchar('\n');
    fflush(stdout);
}

static bool is_over(const struct followed *followed, int followed_count)
{
    for (int i = 0; i < followed_count; i++) {
        if (followed[i].count < followed[i].wanted) {
            return false;
        }
    }
    return true;
}

static int follow(const char *brokers, int64_t seconds, struct followed *followed,
                  int followed_count)
{
    int64_t began_ms = now_ms();
    int64_t deadline_ms = began_ms + seconds * 1000;
    int64_t printed_ms = began_ms;
    rd_kafka_t *handle = consumer_create(brokers);
    wait_for_topics(handle, followed, followed_count, deadline_ms);
    int ended_count = 0;
    while (!is_over(followed, followed_count) && now_ms() < deadline_ms) {
        rd_kafka_message_t *message = next_record(handle, &ended_count);
        if (message != NULL) {
            for (int i = 0; i < followed_count; i++) {
                followed[i].count +=
                    strcmp(rd_kafka_topic_name(message->rkt), followed[i].topic) == 0;
            }
            rd_kafka_message_destroy(message);
        }
        if (now_ms() - printed_ms >= 1000) {
            printed_ms = now_ms();
            print_counts(followed, followed_count, began_ms);
        }
    }
    print_counts(followed, followed_count, began_ms);
    rd_kafka_consumer_close(handle);
    rd_kafka_destroy(handle);
    return is_over(followed, followed_count) ? 0 : 1;
}

static int follow_arguments(const char *brokers, int64_t seconds, int count, char **arguments)
{
    struct followed followed[FOLLOWED_MAX];
    if (count > FOLLOWED_MAX) {
        die("at most %d topics", FOLLOWED_MAX);
    }
    for (int i = 0; i < count; i++) {
        char *equals = strrchr(arguments[i], '=');
        if (equals == NULL) {
            die("not TOPIC=COUNT: %s", arguments[i]);
        }
        *equals = '\0';
        followed[i] = (struct followed){.topic = arguments[i], .wanted = number(equals + 1, 0)};
    }
    return follow(brokers, seconds, followed, count);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "load") == 0) {
        return load(argv[2], argv[3], (int)number(argv[4], 1), number(argv[5], 1));
    }
    if (argc == 4 && strcmp(argv[1], "read") == 0) {
        return read_all(argv[2], argv[3]);
    }
    if (argc >= 5 && strcmp(argv[1], "follow") == 0) {
        return follow_arguments(argv[2], number(argv[3], 1), argc - 4, argv + 4);
    }
    die("usage: flights load BROKERS TOPIC PARTITIONS PER-SECOND | read BROKERS TOPIC |"
        " follow BROKERS SECONDS TOPIC=COUNT...");
}
