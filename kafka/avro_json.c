// SPDX-License-Identifier: Apache-2.0
// See avro_json.h.
#include "kafka/avro_json.h"

#include "kafka/avro_wire.h"
#include "runtime/batch.h"
#include "runtime/types/datetime.h"
#include "runtime/types/json_out.h"
#include "runtime/types/text_io.h"

enum { EMPTY_ITEMS_MAX = 1024 };

// A value by way of a column of one row: only one place knows how types look in JSON.
static void append_as(enum weir_type_kind kind, void *data, struct weir_buffer *out)
{
    struct weir_column column = {.type = weir_type_plain(kind), .data = data};
    weir_json_append_function(kind)(out, &column, 0);
}

static const uint8_t *append_number(const struct weir_avro_type *type, const uint8_t *p,
                                    const uint8_t *end, struct weir_buffer *out)
{
    int64_t value;
    p = weir_avro_read_long(p, end, &value);
    if (p == NULL || (type->kind == WEIR_AVRO_INT && value != (int32_t)value)) {
        return NULL;
    }
    int64_t us;
    int32_t date;
    bool is_ms =
        type->logical == WEIR_AVRO_TIMESTAMP_MS || type->logical == WEIR_AVRO_LOCAL_TIMESTAMP_MS;
    bool is_zoned =
        type->logical == WEIR_AVRO_TIMESTAMP_MS || type->logical == WEIR_AVRO_TIMESTAMP_US;
    switch (type->logical) {
    case WEIR_AVRO_DATE:
        if (!weir_date_from_unix(value, &date)) {
            return NULL;
        }
        append_as(WEIR_TYPE_DATE, &date, out);
        return p;
    case WEIR_AVRO_TIMESTAMP_MS:
    case WEIR_AVRO_TIMESTAMP_US:
    case WEIR_AVRO_LOCAL_TIMESTAMP_MS:
    case WEIR_AVRO_LOCAL_TIMESTAMP_US:
        if (!weir_timestamp_from_unix(value, is_ms ? 3 : 6, &us)) {
            return NULL;
        }
        append_as(is_zoned ? WEIR_TYPE_TIMESTAMPTZ : WEIR_TYPE_TIMESTAMP, &us, out);
        return p;
    case WEIR_AVRO_TIME_MS:
    case WEIR_AVRO_TIME_US: {
        int64_t time_us = type->logical == WEIR_AVRO_TIME_MS ? value * 1000 : value;
        if (time_us < 0 || time_us > WEIR_DAY_US) {
            return NULL;
        }
        int64_t second = time_us / WEIR_SECOND_US;
        weir_buffer_printf(out, "\"%02d:%02d:%02d", (int)(second / 3600), (int)(second / 60 % 60),
                           (int)(second % 60));
        int64_t fraction = time_us % WEIR_SECOND_US;
        if (fraction != 0) {
            weir_buffer_printf(out, ".%06d", (int)fraction);
            while (out->data[out->size_bytes - 1] == '0') {
                out->size_bytes--;
            }
        }
        weir_buffer_append_char(out, '"');
        return p;
    }
    case WEIR_AVRO_LOGICAL_NONE:
    case WEIR_AVRO_DECIMAL:
    case WEIR_AVRO_UUID:
    case WEIR_AVRO_DURATION:
        append_as(WEIR_TYPE_BIGINT, &value, out);
        return p;
    }
    return NULL;
}

static const uint8_t *append_float(const struct weir_avro_type *type, const uint8_t *p,
                                   const uint8_t *end, struct weir_buffer *out)
{
    bool is_double = type->kind == WEIR_AVRO_DOUBLE;
    if (end - p < (is_double ? 8 : 4)) {
        return NULL;
    }
    double value[1];
    memcpy(value, p, is_double ? 8 : 4);
    append_as(is_double ? WEIR_TYPE_DOUBLE : WEIR_TYPE_REAL, value, out);
    return p + (is_double ? 8 : 4);
}

static const uint8_t *append_bytes(const struct weir_avro_type *type, const uint8_t *p,
                                   const uint8_t *end, struct weir_buffer *out, const char **why)
{
    struct weir_view bytes = {(const char *)p, type->size_bytes};
    if (type->kind != WEIR_AVRO_FIXED) {
        p = weir_avro_read_bytes(p, end, &bytes);
    } else {
        p = (size_t)(end - p) < type->size_bytes ? NULL : p + type->size_bytes;
    }
    if (p == NULL) {
        return NULL;
    }
    if (type->kind == WEIR_AVRO_STRING) {
        if (!weir_text_validate(bytes, NULL)) {
            *why = "a string is not valid UTF-8, or has a NUL";
            return NULL;
        }
        weir_json_append_string(out, bytes);
    } else if (type->logical == WEIR_AVRO_DECIMAL) {
        struct weir_arena *arena = weir_arena_create(1024);
        struct weir_numeric value;
        bool is_good =
            weir_numeric_from_unscaled_bytes(bytes, (uint16_t)type->scale, arena, &value);
        if (is_good) {
            append_as(WEIR_TYPE_NUMERIC, &value, out);
        }
        weir_arena_destroy(arena);
        *why = is_good ? *why : "a decimal has no bytes";
        return is_good ? p : NULL;
    } else if (type->logical == WEIR_AVRO_UUID) {
        const unsigned char *b = (const unsigned char *)bytes.data;
        weir_buffer_printf(out,
                           "\"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x"
                           "\"",
                           b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                           b[12], b[13], b[14], b[15]);
    } else {
        append_as(WEIR_TYPE_BYTEA, &bytes, out);
    }
    return p;
}

static const uint8_t *append_items(const struct weir_avro_type *type, const uint8_t *p,
                                   const uint8_t *end, struct weir_buffer *out, const char **why)
{
    bool is_map = type->kind == WEIR_AVRO_MAP;
    uint64_t given = 0;
    weir_buffer_append_char(out, is_map ? '{' : '[');
    for (;;) {
        int64_t count;
        int64_t size_bytes;
        p = weir_avro_read_block(p, end, &count, &size_bytes);
        if (p == NULL) {
            return NULL;
        }
        if (count == 0) {
            weir_buffer_append_char(out, is_map ? '}' : ']');
            return p;
        }
        const uint8_t *start = p;
        bool is_empty = !is_map && type->item->least_bytes == 0;
        if (count > (is_empty ? EMPTY_ITEMS_MAX : end - p) ||
            (is_empty && given > EMPTY_ITEMS_MAX)) {
            return NULL;
        }
        for (int64_t i = 0; i < count; i++) {
            struct weir_view key;
            if (given++ != 0) {
                weir_buffer_append_char(out, ',');
            }
            if (is_map) {
                p = weir_avro_read_bytes(p, end, &key);
                if (p == NULL || !weir_text_validate(key, NULL)) {
                    return NULL;
                }
                weir_json_append_string(out, key);
                weir_buffer_append_char(out, ':');
            }
            p = weir_avro_append_json(type->item, p, end, out, why);
            if (p == NULL) {
                return NULL;
            }
        }
        if (size_bytes >= 0 && p - start != size_bytes) {
            *why = "a block of items has another size than it says";
            return NULL;
        }
    }
}

static const uint8_t *append_record(const struct weir_avro_type *type, const uint8_t *p,
                                    const uint8_t *end, struct weir_buffer *out, const char **why)
{
    weir_buffer_append_char(out, '{');
    for (uint32_t i = 0; i < type->field_count && p != NULL; i++) {
        if (i != 0) {
            weir_buffer_append_char(out, ',');
        }
        weir_json_append_string(out, weir_view_of(type->fields[i].name));
        weir_buffer_append_char(out, ':');
        p = weir_avro_append_json(type->fields[i].type, p, end, out, why);
    }
    weir_buffer_append_char(out, '}');
    return p;
}

const uint8_t *weir_avro_append_json(const struct weir_avro_type *type, const uint8_t *p,
                                     const uint8_t *end, struct weir_buffer *out, const char **why)
{
    int64_t number;
    if (*why == NULL) {
        *why = "the record ends within a value, or a value cannot be";
    }
    switch (type->kind) {
    case WEIR_AVRO_NULL:
        weir_buffer_append(out, "null", 4);
        return p;
    case WEIR_AVRO_BOOLEAN:
        if (p == end || *p > 1) {
            return NULL;
        }
        weir_buffer_printf(out, "%s", *p != 0 ? "true" : "false");
        return p + 1;
    case WEIR_AVRO_INT:
    case WEIR_AVRO_LONG:
        return append_number(type, p, end, out);
    case WEIR_AVRO_FLOAT:
    case WEIR_AVRO_DOUBLE:
        return append_float(type, p, end, out);
    case WEIR_AVRO_BYTES:
    case WEIR_AVRO_STRING:
    case WEIR_AVRO_FIXED:
        return append_bytes(type, p, end, out, why);
    case WEIR_AVRO_ENUM:
        p = weir_avro_read_short(p, end, &number);
        if (p == NULL || number < 0 || number >= (int64_t)type->symbol_count) {
            return NULL;
        }
        weir_json_append_string(out, type->symbols[number]);
        return p;
    case WEIR_AVRO_UNION:
        p = weir_avro_read_short(p, end, &number);
        if (p == NULL || number < 0 || number >= (int64_t)type->branch_count) {
            return NULL;
        }
        return weir_avro_append_json(type->branches[number], p, end, out, why);
    case WEIR_AVRO_ARRAY:
    case WEIR_AVRO_MAP:
        return append_items(type, p, end, out, why);
    case WEIR_AVRO_RECORD:
        return append_record(type, p, end, out, why);
    }
    return NULL;
}
