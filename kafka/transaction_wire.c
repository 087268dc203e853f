// SPDX-License-Identifier: Apache-2.0
// See transaction_wire.h. Both are of version 0, in Kafka's flexible form: lengths are varints plus
// one, every structure ends with tagged fields. A reader that has met something wrong reads zeros
// from then on, and is asked in the end.
#include "kafka/transaction_wire.h"

#include <string.h>

enum {
    DESCRIBE_PRODUCERS = 61,
    LIST_TRANSACTIONS = 66,
};

// --- requests ------------------------------------------------------------------------------------

static void put_length(struct weir_buffer *out, uint64_t length)
{
    uint64_t left = length + 1;
    while (left >= 0x80) {
        weir_buffer_append_char(out, (char)(unsigned char)(left | 0x80));
        left >>= 7;
    }
    weir_buffer_append_char(out, (char)left);
}

static void put_no_tags(struct weir_buffer *out)
{
    weir_buffer_append_char(out, 0);
}

static void put_header(struct weir_buffer *out, uint16_t question)
{
    static const char client_id[] = "weir";
    weir_buffer_append_big_endian(out, question, 2);
    weir_buffer_append_big_endian(out, 0, 2); // version
    weir_buffer_append_big_endian(out, 0, 4); // there is one request a connection
    weir_buffer_append_big_endian(out, sizeof client_id - 1, 2);
    weir_buffer_append(out, client_id, sizeof client_id - 1);
    put_no_tags(out);
}

void weir_wire_ask_producers(struct weir_buffer *out, const struct weir_topic_partition *at)
{
    put_header(out, DESCRIBE_PRODUCERS);
    put_length(out, 1);
    put_length(out, strlen(at->topic));
    weir_buffer_append(out, at->topic, strlen(at->topic));
    put_length(out, 1);
    weir_buffer_append_big_endian(out, (uint32_t)at->partition, 4);
    put_no_tags(out);
    put_no_tags(out);
}

void weir_wire_ask_transactions(struct weir_buffer *out, int64_t producer_id)
{
    put_header(out, LIST_TRANSACTIONS);
    put_length(out, 0); // states: all
    put_length(out, 1);
    weir_buffer_append_big_endian(out, (uint64_t)producer_id, 8);
    put_no_tags(out);
}

// --- answers -------------------------------------------------------------------------------------

struct reader {
    struct weir_view left;
    bool is_bad;
};

static struct weir_view take(struct reader *reader, size_t size_bytes)
{
    if (size_bytes > reader->left.size_bytes) {
        reader->is_bad = true;
        reader->left.size_bytes = 0;
        return (struct weir_view){0};
    }
    struct weir_view taken = {.data = reader->left.data, .size_bytes = size_bytes};
    reader->left.data += size_bytes;
    reader->left.size_bytes -= size_bytes;
    return taken;
}

static int64_t take_number(struct reader *reader, int bytes)
{
    struct weir_view taken = take(reader, (size_t)bytes);
    uint64_t number = 0;
    for (size_t i = 0; i < taken.size_bytes; i++) {
        number = number << 8 | (unsigned char)taken.data[i];
    }
    return (int64_t)number;
}

static uint64_t take_varint(struct reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = (uint64_t)take_number(reader, 1);
        number |= (byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return number;
        }
    }
    reader->is_bad = true;
    return 0;
}

// Null counts as empty.
static uint64_t take_length(struct reader *reader)
{
    uint64_t length = take_varint(reader);
    return length == 0 ? 0 : length - 1;
}

static struct weir_view take_text(struct reader *reader)
{
    uint64_t length = take_length(reader);
    return take(reader, length);
}

static void skip_tags(struct reader *reader)
{
    for (uint64_t left = take_varint(reader); left > 0 && !reader->is_bad; left--) {
        take_varint(reader);
        take(reader, take_varint(reader));
    }
}

static struct reader begin(struct weir_view answer)
{
    struct reader reader = {.left = answer};
    take_number(&reader, 4); // which request it answers
    skip_tags(&reader);
    take_number(&reader, 4); // for how long we were throttled
    return reader;
}

static bool read_producer(struct reader *reader, int64_t offset, int64_t *producer_id)
{
    int64_t id = take_number(reader, 8);
    take_number(reader, 4); // its epoch
    take_number(reader, 4); // its last sequence number
    take_number(reader, 8); // when it last wrote
    take_number(reader, 4); // the coordinator's epoch
    bool is_it = take_number(reader, 8) == offset && !reader->is_bad;
    skip_tags(reader);
    if (is_it) {
        *producer_id = id;
    }
    return is_it;
}

bool weir_wire_read_producers(struct weir_view answer, int64_t offset, int64_t *producer_id)
{
    struct reader reader = begin(answer);
    bool is_found = false;
    for (uint64_t topics = take_length(&reader); topics > 0 && !reader.is_bad; topics--) {
        take_text(&reader);
        for (uint64_t parts = take_length(&reader); parts > 0 && !reader.is_bad; parts--) {
            take_number(&reader, 4);
            take_number(&reader, 2); // an error: then it has no producers
            take_text(&reader);
            for (uint64_t left = take_length(&reader); left > 0 && !reader.is_bad; left--) {
                is_found |= read_producer(&reader, offset, producer_id);
            }
            skip_tags(&reader);
        }
        skip_tags(&reader);
    }
    skip_tags(&reader);
    return is_found && !reader.is_bad;
}

bool weir_wire_read_transactions(struct weir_view answer, int64_t producer_id,
                                 char *transactional_id, size_t size_bytes)
{
    struct reader reader = begin(answer);
    bool is_found = false;
    take_number(&reader, 2); // an error: then there are none
    for (uint64_t left = take_length(&reader); left > 0 && !reader.is_bad; left--) {
        take_text(&reader); // a state that the broker does not know
    }
    for (uint64_t left = take_length(&reader); left > 0 && !reader.is_bad; left--) {
        struct weir_view id = take_text(&reader);
        if (take_number(&reader, 8) == producer_id && !reader.is_bad) {
            snprintf(transactional_id, size_bytes, "%.*s", WEIR_VIEW_ARGS(id));
            is_found = true;
        }
        take_text(&reader);
        skip_tags(&reader);
    }
    skip_tags(&reader);
    return is_found && !reader.is_bad;
}
