// SPDX-License-Identifier: Apache-2.0
// What librdkafka's queues hold, out of the statistics that each handle gives every 15 s
// (statistics.interval.ms). Its callbacks know the handle only, so there is a list of them.
// Thread: any; a lock, taken as seldom as that.
#include "kafka/rdkafka_handle.h"

#include "runtime/base/memory.h"
#include "runtime/base/metrics.h"

#include <yyjson.h>

struct watched {
    rd_kafka_t *handle;
    struct weir_metric *bytes;
    struct watched *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched *first; // guarded by lock

static struct watched **find(const rd_kafka_t *handle)
{
    struct watched **at = &first;
    while (*at != NULL && (*at)->handle != handle) {
        at = &(*at)->next;
    }
    return at;
}

void weir_rdkafka_stats_open(rd_kafka_t *handle, const char *pool)
{
    struct watched *watched = weir_alloc_zero(sizeof(*watched));
    watched->handle = handle;
    watched->bytes = weir_metric_open(WEIR_METRIC_MEMORY, WEIR_METRIC_LABELS(pool));
    weir_metric_set(watched->bytes, 0);
    pthread_mutex_lock(&lock);
    watched->next = first;
    first = watched;
    pthread_mutex_unlock(&lock);
}

void weir_rdkafka_stats_close(rd_kafka_t *handle)
{
    pthread_mutex_lock(&lock);
    struct watched **at = find(handle);
    struct watched *watched = *at;
    if (watched != NULL) {
        *at = watched->next;
    }
    pthread_mutex_unlock(&lock);
    if (watched != NULL) {
        weir_metric_close(watched->bytes);
        free(watched);
    }
}

// Rows of a producer that are not acknowledged; records of a consumer that were not taken yet. All
// partitions of a consumer have one queue, and each of them says how much is in it.
static uint64_t queued_bytes(yyjson_val *root)
{
    uint64_t fetched_bytes = 0;
    size_t i;
    size_t j;
    size_t count;
    yyjson_val *name;
    yyjson_val *topic;
    yyjson_val *partition;
    yyjson_obj_foreach(yyjson_obj_get(root, "topics"), i, count, name, topic)
    {
        yyjson_obj_foreach(yyjson_obj_get(topic, "partitions"), j, count, name, partition)
        {
            uint64_t size_bytes = yyjson_get_uint(yyjson_obj_get(partition, "fetchq_size"));
            fetched_bytes = size_bytes > fetched_bytes ? size_bytes : fetched_bytes;
        }
    }
    return yyjson_get_uint(yyjson_obj_get(root, "msg_size")) + fetched_bytes;
}

void weir_rdkafka_stats_note(rd_kafka_t *handle, const char *json, size_t size_bytes)
{
    yyjson_doc *document = yyjson_read(json, size_bytes, 0);
    uint64_t bytes = queued_bytes(yyjson_doc_get_root(document));
    yyjson_doc_free(document);
    pthread_mutex_lock(&lock);
    struct watched *watched = *find(handle);
    if (watched != NULL) {
        weir_metric_set(watched->bytes, (double)bytes);
    }
    pthread_mutex_unlock(&lock);
}

int weir_rdkafka_on_stats(rd_kafka_t *handle, char *json, size_t size_bytes, void *opaque)
{
    (void)opaque;
    weir_rdkafka_stats_note(handle, json, size_bytes);
    return 0; // librdkafka frees it
}
