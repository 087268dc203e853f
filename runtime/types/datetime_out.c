// SPDX-License-Identifier: Apache-2.0
// Text output of dates and timestamps (datetime.h): ISO, with " BC" behind years before 1.
#include "runtime/types/datetime.h"
#include "runtime/types/digits.h"

enum { DATETIME_TEXT_BYTES_MAX = 48 };

static char *write_date(char *out, const struct weir_civil *civil)
{
    uint32_t year = (uint32_t)(civil->year > 0 ? civil->year : 1 - civil->year);
    out = year < 10000 ? weir_digits_write_4(out, year) : weir_digits_write_u64(out, year);
    *out++ = '-';
    out = weir_digits_write_2(out, (uint32_t)civil->month);
    *out++ = '-';
    return weir_digits_write_2(out, (uint32_t)civil->day);
}

static char *write_time(char *out, const struct weir_civil *civil)
{
    out = weir_digits_write_2(out, (uint32_t)civil->hour);
    *out++ = ':';
    out = weir_digits_write_2(out, (uint32_t)civil->minute);
    *out++ = ':';
    out = weir_digits_write_2(out, (uint32_t)civil->second);
    if (civil->microsecond != 0) {
        *out++ = '.';
        out = weir_digits_write_padded(out, (uint32_t)civil->microsecond, 6);
        while (out[-1] == '0') {
            out--;
        }
    }
    return out;
}

static void append_text(struct weir_buffer *buffer, const char *text)
{
    weir_buffer_append(buffer, text, strlen(text));
}

void weir_date_append(struct weir_buffer *buffer, int32_t days)
{
    if (!weir_date_is_finite(days)) {
        append_text(buffer, days == WEIR_DATE_INFINITY ? "infinity" : "-infinity");
        return;
    }
    struct weir_civil civil;
    weir_civil_from_days(days, &civil);
    char *start = weir_buffer_reserve(buffer, DATETIME_TEXT_BYTES_MAX);
    char *end = write_date(start, &civil);
    buffer->size_bytes += (size_t)(end - start);
    if (civil.year <= 0) {
        append_text(buffer, " BC");
    }
}

// How a timestamp is dressed: "2013-01-01T05:00:00+00:00" is quote, T and the zone.
struct style {
    char separator;
    bool is_quoted;
    uint8_t zone_bytes;
    char zone[8];
};

static inline void append_timestamp(struct weir_buffer *buffer, int64_t us, struct style style)
{
    char *start = weir_buffer_reserve(buffer, DATETIME_TEXT_BYTES_MAX);
    char *out = start;
    if (style.is_quoted) {
        *out++ = '"';
    }
    if (weir_timestamp_is_finite(us)) {
        struct weir_civil civil;
        weir_civil_from_timestamp(us, &civil);
        out = write_date(out, &civil);
        *out++ = style.separator;
        out = write_time(out, &civil);
        memcpy(out, style.zone, sizeof style.zone); // a fixed size is one store
        out += style.zone_bytes;
        if (civil.year <= 0) {
            memcpy(out, " BC", 3);
            out += 3;
        }
    } else {
        const char *word = us == WEIR_TIMESTAMP_INFINITY ? "infinity" : "-infinity";
        memcpy(out, word, strlen(word));
        out += strlen(word);
    }
    if (style.is_quoted) {
        *out++ = '"';
    }
    buffer->size_bytes += (size_t)(out - start);
}

void weir_timestamp_append(struct weir_buffer *buffer, int64_t us)
{
    append_timestamp(buffer, us, (struct style){.separator = ' '});
}

void weir_timestamptz_append(struct weir_buffer *buffer, int64_t us)
{
    append_timestamp(buffer, us, (struct style){.separator = ' ', .zone = "+00", .zone_bytes = 3});
}

void weir_timestamp_append_json(struct weir_buffer *buffer, int64_t us)
{
    append_timestamp(buffer, us, (struct style){.separator = 'T', .is_quoted = true});
}

void weir_timestamptz_append_json(struct weir_buffer *buffer, int64_t us)
{
    append_timestamp(
        buffer, us,
        (struct style){.separator = 'T', .is_quoted = true, .zone = "+00:00", .zone_bytes = 6});
}
