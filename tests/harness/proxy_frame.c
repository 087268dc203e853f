// SPDX-License-Identifier: Apache-2.0
// Reading frames: see the header. A cursor that runs past the end becomes invalid and stays so,
// which is looked at once at the end.
#include "tests/harness/proxy_frame.h"

#include <string.h>

struct cursor {
    const uint8_t *bytes;
    size_t left;
    bool is_valid;
};

static const uint8_t *take(struct cursor *cursor, size_t count)
{
    static const uint8_t nothing[8];
    if (!cursor->is_valid || cursor->left < count) {
        cursor->is_valid = false;
        return nothing;
    }
    const uint8_t *taken = cursor->bytes;
    cursor->bytes += count;
    cursor->left -= count;
    return taken;
}

static int16_t take_int16(struct cursor *cursor)
{
    const uint8_t *b = take(cursor, 2);
    return (int16_t)((uint16_t)b[0] << 8 | b[1]);
}

static int32_t take_int32(struct cursor *cursor)
{
    const uint8_t *b = take(cursor, 4);
    return (int32_t)((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]);
}

static uint32_t take_varint(struct cursor *cursor)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 7) {
        uint8_t b = take(cursor, 1)[0];
        value |= (uint32_t)(b & 0x7f) << shift;
        if ((b & 0x80) == 0) {
            return value;
        }
    }
    cursor->is_valid = false;
    return 0;
}

static void skip_tags(struct cursor *cursor)
{
    for (uint32_t count = take_varint(cursor); count > 0 && cursor->is_valid; count--) {
        take_varint(cursor);
        take(cursor, take_varint(cursor));
    }
}

// Copies a (nullable, perhaps compact) string; text may be NULL.
static void take_string(struct cursor *cursor, bool is_compact, char *text, size_t text_bytes)
{
    int64_t length = is_compact ? (int64_t)take_varint(cursor) - 1 : take_int16(cursor);
    size_t count = length > 0 ? (size_t)length : 0;
    if (!cursor->is_valid || cursor->left < count) {
        cursor->is_valid = false;
        return;
    }
    const uint8_t *bytes = cursor->bytes;
    cursor->bytes += count;
    cursor->left -= count;
    if (text != NULL) {
        size_t copied = count < text_bytes - 1 ? count : text_bytes - 1;
        memcpy(text, bytes, copied);
        text[copied] = '\0';
    }
}

static int32_t take_array_count(struct cursor *cursor, bool is_compact)
{
    return is_compact ? (int32_t)take_varint(cursor) - 1 : take_int32(cursor);
}

// The first version of the key that is "flexible": compact lengths, tagged fields. -1: a key whose
// requests do not begin with a transactional id.
static int first_flexible_version(int api_key)
{
    switch (api_key) {
    case WEIR_TEST_API_PRODUCE:
        return 9;
    case WEIR_TEST_API_INIT_PRODUCER_ID:
        return 2;
    case WEIR_TEST_API_ADD_PARTITIONS_TO_TXN:
    case WEIR_TEST_API_ADD_OFFSETS_TO_TXN:
    case WEIR_TEST_API_END_TXN:
    case WEIR_TEST_API_TXN_OFFSET_COMMIT:
        return 3;
    default:
        return -1;
    }
}

bool weir_test_frame_read_request(const uint8_t *frame, size_t bytes,
                                  struct weir_test_proxy_request *request)
{
    struct cursor cursor = {.bytes = frame, .left = bytes, .is_valid = true};
    memset(request, 0, sizeof(*request));
    request->api_key = take_int16(&cursor);
    request->api_version = take_int16(&cursor);
    request->correlation_id = take_int32(&cursor);
    take_string(&cursor, false, request->client_id, sizeof(request->client_id));
    if (!cursor.is_valid) {
        return false;
    }
    int flexible = first_flexible_version(request->api_key);
    // AddPartitionsToTxn from 4 on is for brokers among each other and begins otherwise.
    if (flexible >= 0 &&
        (request->api_key != WEIR_TEST_API_ADD_PARTITIONS_TO_TXN || request->api_version < 4)) {
        bool is_flexible = request->api_version >= flexible;
        if (is_flexible) {
            skip_tags(&cursor);
        }
        take_string(&cursor, is_flexible, request->transactional_id,
                    sizeof(request->transactional_id));
    }
    return true;
}

int32_t weir_test_frame_correlation_id(const uint8_t *frame, size_t bytes)
{
    struct cursor cursor = {.bytes = frame, .left = bytes, .is_valid = true};
    return take_int32(&cursor);
}

bool weir_test_frame_read_error(int api_key, int api_version, const uint8_t *frame, size_t bytes,
                                int *error)
{
    int flexible = first_flexible_version(api_key);
    if (flexible < 0 || (api_key == WEIR_TEST_API_PRODUCE && api_version > 12) ||
        (api_key == WEIR_TEST_API_ADD_PARTITIONS_TO_TXN && api_version > 3)) {
        return false;
    }
    bool is_flexible = api_version >= flexible;
    struct cursor cursor = {.bytes = frame, .left = bytes, .is_valid = true};
    take_int32(&cursor); // correlation id
    if (is_flexible) {
        skip_tags(&cursor);
    }
    if (api_key != WEIR_TEST_API_PRODUCE) {
        take_int32(&cursor); // throttle time, which Produce has at its end
    }
    if (api_key == WEIR_TEST_API_PRODUCE || api_key == WEIR_TEST_API_ADD_PARTITIONS_TO_TXN ||
        api_key == WEIR_TEST_API_TXN_OFFSET_COMMIT) {
        if (take_array_count(&cursor, is_flexible) < 1) {
            return false;
        }
        take_string(&cursor, is_flexible, NULL, 0);
        if (take_array_count(&cursor, is_flexible) < 1) {
            return false;
        }
        take_int32(&cursor); // partition
    }
    int code = take_int16(&cursor);
    if (cursor.is_valid) {
        *error = code;
    }
    return cursor.is_valid;
}
