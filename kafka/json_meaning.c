// SPDX-License-Identifier: Apache-2.0
// See json_meaning.h. The names of types are those of Kafka Connect and Debezium.
#include "kafka/json_meaning.h"

#include "kafka/json_string.h"
#include "runtime/types/datetime.h"
#include "runtime/types/interval.h"
#include "runtime/types/text_io.h"

#include <stdlib.h>
#include <yyjson.h>

// --- schemas ---------------------------------------------------------------------------------

static const struct {
    const char *name;
    enum weir_json_meaning_kind kind;
    uint8_t digits;
} named_types[] = {
    {"org.apache.kafka.connect.data.Date", WEIR_MEANING_DAYS, 0},
    {"io.debezium.time.Date", WEIR_MEANING_DAYS, 0},
    {"org.apache.kafka.connect.data.Time", WEIR_MEANING_CLOCK, 3},
    {"io.debezium.time.Time", WEIR_MEANING_CLOCK, 3},
    {"io.debezium.time.MicroTime", WEIR_MEANING_CLOCK, 6},
    {"io.debezium.time.NanoTime", WEIR_MEANING_CLOCK, 9},
    {"org.apache.kafka.connect.data.Timestamp", WEIR_MEANING_TIMESTAMP, 3},
    {"io.debezium.time.Timestamp", WEIR_MEANING_TIMESTAMP, 3},
    {"io.debezium.time.MicroTimestamp", WEIR_MEANING_TIMESTAMP, 6},
    {"io.debezium.time.NanoTimestamp", WEIR_MEANING_TIMESTAMP, 9},
    {"io.debezium.time.MicroDuration", WEIR_MEANING_DURATION, 6},
    {"io.debezium.time.NanoDuration", WEIR_MEANING_DURATION, 9},
};

static bool is_text(yyjson_val *value, const char *text)
{
    return yyjson_is_str(value) && strcmp(yyjson_get_str(value), text) == 0;
}

static struct weir_json_meaning meaning_of_field(yyjson_val *field)
{
    yyjson_val *name = yyjson_obj_get(field, "name");
    for (size_t i = 0; i < sizeof named_types / sizeof named_types[0]; i++) {
        if (is_text(name, named_types[i].name)) {
            return (struct weir_json_meaning){.kind = named_types[i].kind,
                                              .digits = named_types[i].digits};
        }
    }
    if (is_text(name, "org.apache.kafka.connect.data.Decimal")) {
        yyjson_val *scale = yyjson_obj_get(yyjson_obj_get(field, "parameters"), "scale");
        long digits = yyjson_is_str(scale) ? strtol(yyjson_get_str(scale), NULL, 10) : -1;
        if (digits >= 0 && digits <= 1000) {
            return (struct weir_json_meaning){.kind = WEIR_MEANING_DECIMAL,
                                              .digits = (uint16_t)digits};
        }
    }
    if (is_text(name, "io.debezium.data.VariableScaleDecimal")) {
        return (struct weir_json_meaning){.kind = WEIR_MEANING_VARIABLE_DECIMAL};
    }
    bool is_bytes = is_text(yyjson_obj_get(field, "type"), "bytes");
    return (struct weir_json_meaning){.kind = is_bytes ? WEIR_MEANING_BASE64 : WEIR_MEANING_PLAIN};
}

// The member of "fields" whose "field" has that name.
static yyjson_val *find_field(yyjson_val *fields, const char *name)
{
    size_t idx, count;
    yyjson_val *field;
    yyjson_arr_foreach(fields, idx, count, field)
    {
        if (is_text(yyjson_obj_get(field, "field"), name)) {
            return field;
        }
    }
    return NULL;
}

void weir_json_meanings_read(struct weir_view schema, const char *branch, uint32_t column_count,
                             const struct weir_field *columns, struct weir_json_meaning *meanings)
{
    yyjson_doc *document = yyjson_read(schema.data, schema.size_bytes, 0);
    yyjson_val *fields = yyjson_obj_get(yyjson_doc_get_root(document), "fields");
    if (branch != NULL) {
        fields = yyjson_obj_get(find_field(fields, branch), "fields");
    }
    for (uint32_t i = 0; i < column_count && fields != NULL; i++) {
        yyjson_val *field = find_field(fields, columns[i].name);
        if (field != NULL) {
            meanings[i] = meaning_of_field(field);
        }
    }
    yyjson_doc_free(document);
}

struct weir_json_meaning weir_json_meaning_of_type(const struct weir_type *type)
{
    struct weir_json_meaning meaning = {.kind = WEIR_MEANING_PLAIN};
    if (type->kind == WEIR_TYPE_DATE) {
        meaning.kind = WEIR_MEANING_DAYS;
    } else if (type->kind == WEIR_TYPE_TIME) {
        meaning = (struct weir_json_meaning){.kind = WEIR_MEANING_CLOCK, .digits = 6};
    } else if (type->kind == WEIR_TYPE_INTERVAL) {
        meaning = (struct weir_json_meaning){.kind = WEIR_MEANING_DURATION, .digits = 6};
    } else if (type->kind == WEIR_TYPE_BYTEA) {
        meaning.kind = WEIR_MEANING_BASE64;
    } else if (type->kind == WEIR_TYPE_NUMERIC) {
        meaning.kind = WEIR_MEANING_UNKNOWN_DECIMAL;
    }
    return meaning;
}

// --- values ----------------------------------------------------------------------------------

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// RFC 4648 with padding; escaped slashes were taken away before.
static bool decode_base64(struct weir_view text, struct weir_arena *arena, struct weir_view *bytes)
{
    uint8_t *out = weir_arena_alloc(arena, text.size_bytes / 4 * 3 + 1);
    size_t used = 0;
    if (text.size_bytes % 4 != 0) {
        return false;
    }
    for (size_t i = 0; i < text.size_bytes; i += 4) {
        uint32_t bits = 0;
        uint32_t padding = 0;
        for (size_t k = 0; k < 4; k++) {
            char c = text.data[i + k];
            bool may_pad = i + 4 == text.size_bytes && k >= 2;
            int value = c == '=' && may_pad ? 0 : base64_value(c);
            if (value < 0 || (padding != 0 && c != '=')) {
                return false;
            }
            padding += c == '=';
            bits = bits << 6 | (uint32_t)value;
        }
        out[used++] = (uint8_t)(bits >> 16);
        if (padding < 2) {
            out[used++] = (uint8_t)(bits >> 8);
        }
        if (padding < 1) {
            out[used++] = (uint8_t)bits;
        }
    }
    *bytes = (struct weir_view){.data = (const char *)out, .size_bytes = used};
    return true;
}

static struct weir_view keep(struct weir_json_conversion *conversion, struct weir_buffer *buffer)
{
    struct weir_view text =
        weir_arena_copy(conversion->arena,
                        (struct weir_view){.data = buffer->data, .size_bytes = buffer->size_bytes});
    weir_buffer_deinit(buffer);
    return text;
}

static struct weir_view unescaped(struct weir_json_conversion *conversion,
                                  const struct weir_json_slot *slot)
{
    struct weir_view text = {.data = slot->data, .size_bytes = slot->size_bytes};
    if (!slot->is_plain) {
        bool has_nul;
        char *out = weir_arena_alloc(conversion->arena, slot->size_bytes + 1);
        text.size_bytes = weir_json_unescape(text, out, &has_nul);
        text.data = out;
    }
    return text;
}

static bool decimal_text(struct weir_json_conversion *conversion, struct weir_view base64,
                         uint16_t scale, struct weir_view *text)
{
    struct weir_view bytes;
    struct weir_numeric value;
    if (!decode_base64(base64, conversion->arena, &bytes) || bytes.size_bytes == 0 ||
        !weir_numeric_from_unscaled_bytes(bytes, scale, conversion->arena, &value)) {
        return weir_value_error_set(&conversion->error, "\"%.*s\" is no decimal in base64",
                                    base64.size_bytes < 64 ? (int)base64.size_bytes : 64,
                                    base64.data);
    }
    struct weir_buffer out = {0};
    weir_numeric_append(&out, value);
    *text = keep(conversion, &out);
    return true;
}

// {"scale": 2, "value": "MDk="}
static bool variable_decimal_text(struct weir_json_conversion *conversion,
                                  const struct weir_json_slot *slot, struct weir_view *text)
{
    yyjson_doc *document = yyjson_read(slot->data, slot->size_bytes, 0);
    yyjson_val *root = yyjson_doc_get_root(document);
    yyjson_val *scale = yyjson_obj_get(root, "scale");
    yyjson_val *value = yyjson_obj_get(root, "value");
    bool is_good = yyjson_is_uint(scale) && yyjson_get_uint(scale) <= 1000 && yyjson_is_str(value);
    if (is_good) {
        is_good = decimal_text(
            conversion,
            (struct weir_view){.data = yyjson_get_str(value), .size_bytes = yyjson_get_len(value)},
            (uint16_t)yyjson_get_uint(scale), text);
    } else {
        weir_value_error_set(&conversion->error, "a decimal with \"scale\" and \"value\" expected");
    }
    yyjson_doc_free(document);
    return is_good;
}

static bool bytes_text(struct weir_json_conversion *conversion, const struct weir_json_slot *slot,
                       struct weir_view *text)
{
    struct weir_view base64 = unescaped(conversion, slot);
    struct weir_view bytes;
    if (!decode_base64(base64, conversion->arena, &bytes)) {
        return weir_value_error_set(&conversion->error, "\"%.*s\" is no base64",
                                    base64.size_bytes < 64 ? (int)base64.size_bytes : 64,
                                    base64.data);
    }
    struct weir_buffer out = {0};
    weir_bytea_append(&out, bytes);
    *text = keep(conversion, &out);
    return true;
}

static bool number_text(struct weir_json_conversion *conversion, struct weir_json_meaning meaning,
                        struct weir_view number, struct weir_view *text)
{
    int64_t count;
    int64_t us;
    int32_t days;
    struct weir_buffer out = {0};
    bool is_good = weir_bigint_parse(number, &count, NULL);
    if (is_good && meaning.kind == WEIR_MEANING_DAYS) {
        is_good = weir_date_from_unix(count, &days);
        if (is_good) {
            weir_date_append(&out, days);
        }
    } else if (is_good && meaning.kind == WEIR_MEANING_CLOCK) {
        is_good = weir_us_from_count(count, meaning.digits, &us) && us >= 0 && us <= WEIR_DAY_US;
        if (is_good) {
            weir_time_append(&out, us);
        }
    } else if (is_good && meaning.kind == WEIR_MEANING_DURATION) {
        is_good = weir_us_from_count(count, meaning.digits, &us);
        if (is_good) {
            weir_interval_append(&out, (struct weir_interval){.us = us});
        }
    } else if (is_good) {
        is_good = weir_timestamp_from_unix(count, meaning.digits, &us);
        if (is_good) {
            weir_timestamptz_append(&out, us);
        }
    }
    if (!is_good) {
        return weir_value_error_set(&conversion->error, "%.*s is out of range",
                                    number.size_bytes < 64 ? (int)number.size_bytes : 64,
                                    number.data);
    }
    *text = keep(conversion, &out);
    return true;
}

bool weir_json_meaning_text(struct weir_json_conversion *conversion,
                            struct weir_json_meaning meaning, const struct weir_json_slot *slot,
                            struct weir_view *text, bool *is_bad)
{
    bool is_number = slot->kind == WEIR_JSON_NUMBER;
    bool is_string = slot->kind == WEIR_JSON_STRING;
    struct weir_numeric unused;
    bool is_good = false;
    *is_bad = false;
    switch (meaning.kind) {
    case WEIR_MEANING_PLAIN:
        return false;
    case WEIR_MEANING_DAYS:
    case WEIR_MEANING_CLOCK:
    case WEIR_MEANING_TIMESTAMP:
    case WEIR_MEANING_DURATION:
        if (!is_number) {
            return false;
        }
        is_good = number_text(
            conversion, meaning,
            (struct weir_view){.data = slot->data, .size_bytes = slot->size_bytes}, text);
        break;
    case WEIR_MEANING_DECIMAL:
        if (!is_string) {
            return false;
        }
        is_good = decimal_text(conversion, unescaped(conversion, slot), meaning.digits, text);
        break;
    case WEIR_MEANING_VARIABLE_DECIMAL:
        if (slot->kind != WEIR_JSON_OBJECT) {
            return false;
        }
        is_good = variable_decimal_text(conversion, slot, text);
        break;
    case WEIR_MEANING_BASE64:
        if (!is_string) {
            return false;
        }
        is_good = bytes_text(conversion, slot, text);
        break;
    case WEIR_MEANING_UNKNOWN_DECIMAL:
        *text = is_string ? unescaped(conversion, slot) : (struct weir_view){0};
        if (!is_string || weir_numeric_parse(*text, -1, conversion->arena, &unused, NULL)) {
            return false;
        }
        weir_value_error_syntax(&conversion->error, "numeric", *text);
        weir_value_error_detail(&conversion->error,
                                "base64 needs the scale: let the connector send its schema, or set "
                                "decimal.handling.mode to string");
        break;
    }
    *is_bad = !is_good;
    return is_good;
}
