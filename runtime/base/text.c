// SPDX-License-Identifier: Apache-2.0
// See text.h. Units are tables, so that reading and writing cannot drift apart.
#include "runtime/base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DISTANCE_LETTERS_MAX = 128 };

struct unit {
    const char *name;
    uint64_t factor;
};

// Ascending.
static const struct unit duration_units[] = {
    {"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}, {"d", 86400000},
};

static const struct unit size_units[] = {
    {"", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t weir_text_distance(const char *a, const char *b)
{
    size_t a_letters = strnlen(a, DISTANCE_LETTERS_MAX);
    size_t b_letters = strnlen(b, DISTANCE_LETTERS_MAX);
    // Rows of the usual table: two back (for swaps), one back, and the one being filled.
    uint32_t rows[3][DISTANCE_LETTERS_MAX + 1];
    for (uint32_t j = 0; j <= b_letters; j++) {
        rows[0][j] = j;
    }
    for (uint32_t i = 1; i <= a_letters; i++) {
        uint32_t *row = rows[i % 3];
        const uint32_t *back = rows[(i + 2) % 3];
        const uint32_t *two_back = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= b_letters; j++) {
            int x = tolower((unsigned char)a[i - 1]);
            int y = tolower((unsigned char)b[j - 1]);
            row[j] = least(least(back[j], row[j - 1]) + 1, back[j - 1] + (x != y ? 1 : 0));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2])) {
                row[j] = least(row[j], two_back[j - 2] + 1);
            }
        }
    }
    return rows[a_letters % 3][b_letters];
}

const char *weir_text_nearest(const char *name, uint32_t name_count, const char *const *names,
                              uint32_t distance_max)
{
    const char *nearest = NULL;
    uint32_t nearest_distance = 0;
    for (uint32_t i = 0; i < name_count; i++) {
        uint32_t distance = weir_text_distance(name, names[i]);
        if (distance <= distance_max && (nearest == NULL || distance < nearest_distance)) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}

// Digits at the front of *text; *text moves behind them. False: none, or too many for int64_t.
static bool take_digits(const char **text, uint64_t *value)
{
    const char *at = *text;
    uint64_t sum = 0;
    bool fits = true;
    while (*at >= '0' && *at <= '9') {
        uint64_t digit = (uint64_t)(*at - '0');
        if (sum > ((uint64_t)INT64_MAX - digit) / 10) {
            fits = false;
        } else {
            sum = sum * 10 + digit;
        }
        at++;
    }
    bool is_number = at != *text;
    *text = at;
    *value = sum;
    return is_number && fits;
}

bool weir_text_integer_parse(const char *text, int64_t *value)
{
    bool is_negative = text[0] == '-';
    const char *at = text + (is_negative ? 1 : 0);
    uint64_t magnitude;
    if (!take_digits(&at, &magnitude) || *at != '\0') {
        return false;
    }
    *value = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

enum parse_result {
    PARSE_OK,
    PARSE_NOT_A_NUMBER,
    PARSE_NO_SUCH_UNIT,
    PARSE_TOO_LARGE,
};

static enum parse_result parse_with_unit(const char *text, const struct unit *units,
                                         size_t unit_count, uint64_t *value)
{
    const char *at = text;
    uint64_t number;
    bool is_small_enough = take_digits(&at, &number);
    if (at == text) {
        return PARSE_NOT_A_NUMBER;
    }
    for (size_t i = 0; i < unit_count; i++) {
        if (strcmp(at, units[i].name) == 0) {
            if (!is_small_enough || number > (uint64_t)INT64_MAX / units[i].factor) {
                return PARSE_TOO_LARGE;
            }
            *value = number * units[i].factor;
            return PARSE_OK;
        }
    }
    return PARSE_NO_SUCH_UNIT;
}

enum weir_status weir_duration_parse(const char *text, int64_t *duration_ms,
                                     struct weir_error *error)
{
    uint64_t value = 0;
    enum parse_result result =
        parse_with_unit(text, duration_units, COUNT_OF(duration_units), &value);
    if (result == PARSE_OK) {
        *duration_ms = (int64_t)value;
        return WEIR_OK;
    }
    int64_t plain;
    if (weir_text_integer_parse(text, &plain) && plain >= 0) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "\"%s\" has no unit; write %sms, %ss, %smin, %sh or %sd", text, text,
                              text, text, text, text);
    }
    if (result == PARSE_TOO_LARGE) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "\"%s\" is too long a time", text);
    }
    return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                          "\"%s\" is not a duration; write a whole number and ms, s, min, h or d, "
                          "such as 250ms or 5min",
                          text);
}

enum weir_status weir_size_parse(const char *text, uint64_t *size_bytes, struct weir_error *error)
{
    switch (parse_with_unit(text, size_units, COUNT_OF(size_units), size_bytes)) {
    case PARSE_OK:
        return WEIR_OK;
    case PARSE_TOO_LARGE:
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "\"%s\" is too large a size", text);
    case PARSE_NOT_A_NUMBER:
    case PARSE_NO_SUCH_UNIT:
        break;
    }
    return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                          "\"%s\" is not a size; write a whole number of bytes or of KiB, MiB, GiB "
                          "or TiB, such as 64MiB or 1GiB",
                          text);
}

const char *weir_duration_format(int64_t duration_ms, char *text, size_t text_bytes)
{
    // 0 divides by everything: it is given in seconds.
    size_t idx = duration_ms == 0 ? 1 : COUNT_OF(duration_units) - 1;
    while (duration_ms % (int64_t)duration_units[idx].factor != 0) {
        idx--;
    }
    snprintf(text, text_bytes, "%" PRId64 "%s", duration_ms / (int64_t)duration_units[idx].factor,
             duration_units[idx].name);
    return text;
}

const char *weir_size_format(uint64_t size_bytes, char *text, size_t text_bytes)
{
    size_t idx = size_bytes == 0 ? 0 : COUNT_OF(size_units) - 1;
    while (size_bytes % size_units[idx].factor != 0) {
        idx--;
    }
    snprintf(text, text_bytes, "%" PRIu64 "%s", size_bytes / size_units[idx].factor,
             size_units[idx].name);
    return text;
}
