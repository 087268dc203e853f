// SPDX-License-Identifier: Apache-2.0
// Headers of fetched records, read only when somebody asks: librdkafka parses them on first use, so
// one thread at a time may ask about one record.
#include "kafka/rdkafka_handle.h"

static rd_kafka_headers_t *headers_of(const struct weir_record *record)
{
    rd_kafka_headers_t *headers = NULL;
    if (record->message == NULL ||
        rd_kafka_message_headers(record->message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return NULL;
    }
    return headers;
}

static struct weir_view view_of(const void *value, size_t size_bytes)
{
    return (struct weir_view){.data = value, .size_bytes = value != NULL ? size_bytes : 0};
}

static bool header_last(const struct weir_record *record, const char *name, struct weir_view *value)
{
    const rd_kafka_headers_t *headers = headers_of(record);
    const void *data = NULL;
    size_t size_bytes = 0;
    if (headers == NULL ||
        rd_kafka_header_get_last(headers, name, &data, &size_bytes) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return false;
    }
    *value = view_of(data, size_bytes);
    return true;
}

static bool header_at(const struct weir_record *record, uint32_t idx, struct weir_header *header)
{
    const rd_kafka_headers_t *headers = headers_of(record);
    const char *name = NULL;
    const void *data = NULL;
    size_t size_bytes = 0;
    if (headers == NULL || rd_kafka_header_get_all(headers, idx, &name, &data, &size_bytes) !=
                               RD_KAFKA_RESP_ERR_NO_ERROR) {
        return false;
    }
    *header = (struct weir_header){.name = name, .value = view_of(data, size_bytes)};
    return true;
}

const struct weir_record_ops weir_rdkafka_record_ops = {
    .header_last = header_last,
    .header_at = header_at,
};
