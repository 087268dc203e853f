// SPDX-License-Identifier: Apache-2.0
// time (interval.h): text input and output, and the sum with an interval.
#include "runtime/types/datetime_reading.h"
#include "runtime/types/digits.h"
#include "runtime/types/interval.h"

static bool read_two_digits(const char *text, int64_t limit, int64_t *value)
{
    *value = (text[0] - '0') * 10 + (text[1] - '0');
    return weir_is_digit(text[0]) && weir_is_digit(text[1]) && *value < limit;
}

// hh:mm:ss[.ffffff] and nothing else; false: look closer.
static bool read_usual(struct weir_view text, int64_t *us)
{
    const char *at = text.data;
    int64_t hours, minutes, seconds;
    if (text.size_bytes < 8 || text.size_bytes > 15 || text.size_bytes == 9 || at[2] != ':' ||
        at[5] != ':' || !read_two_digits(at, 24, &hours) ||
        !read_two_digits(at + 3, 60, &minutes) || !read_two_digits(at + 6, 60, &seconds) ||
        (text.size_bytes > 8 && at[8] != '.')) {
        return false;
    }
    int64_t fraction = 0;
    for (size_t i = 9; i < 15; i++) {
        char c = i < text.size_bytes ? at[i] : '0';
        if (!weir_is_digit(c)) {
            return false;
        }
        fraction = fraction * 10 + (c - '0');
    }
    *us = hours * WEIR_HOUR_US + minutes * WEIR_MINUTE_US + seconds * WEIR_SECOND_US + fraction;
    return true;
}

bool weir_time_parse(struct weir_view text, int64_t *out_us, struct weir_value_error *error)
{
    struct weir_datetime_reading reading;
    if (read_usual(text, out_us)) {
        return true;
    }
    if (!weir_datetime_read_time_of_day(text, &reading, error)) {
        return false;
    }
    const struct weir_civil *civil = &reading.civil;
    int64_t us = civil->hour * WEIR_HOUR_US + civil->minute * WEIR_MINUTE_US +
                 civil->second * WEIR_SECOND_US + civil->microsecond;
    bool is_valid = civil->hour >= 0 && civil->hour <= 24 && civil->minute >= 0 &&
                    civil->minute <= 59 && civil->second >= 0 && civil->second <= 60 &&
                    us <= WEIR_DAY_US;
    if (!is_valid) {
        int shown = text.size_bytes < 128 ? (int)text.size_bytes : 128;
        return weir_value_error_set(error, "date/time field value out of range: \"%.*s\"", shown,
                                    text.data);
    }
    *out_us = us;
    return true;
}

void weir_time_append(struct weir_buffer *buffer, int64_t us)
{
    char *start = weir_buffer_reserve(buffer, 16);
    char *out = weir_digits_write_2(start, (uint32_t)(us / WEIR_HOUR_US));
    *out++ = ':';
    out = weir_digits_write_2(out, (uint32_t)(us / WEIR_MINUTE_US % 60));
    *out++ = ':';
    out = weir_digits_write_2(out, (uint32_t)(us / WEIR_SECOND_US % 60));
    if (us % WEIR_SECOND_US != 0) {
        *out++ = '.';
        out = weir_digits_write_padded(out, (uint64_t)(us % WEIR_SECOND_US), 6);
        while (out[-1] == '0') {
            out--;
        }
    }
    buffer->size_bytes += (size_t)(out - start);
}

int64_t weir_time_add(int64_t us, int64_t more_us)
{
    int64_t sum = (us + more_us % WEIR_DAY_US) % WEIR_DAY_US;
    return sum < 0 ? sum + WEIR_DAY_US : sum;
}
