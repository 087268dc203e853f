// SPDX-License-Identifier: Apache-2.0
// See value_error.h. Plain formatting into the caller's struct; no allocation, no locks.
#include "runtime/types/value_error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

// Takes back a character whose last bytes did not fit, so that the text stays valid UTF-8.
static void drop_cut_character(char *text)
{
    size_t size_bytes = strlen(text);
    size_t start = size_bytes;
    while (start > 0 && size_bytes - start < 4 && ((uint8_t)text[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start == 0 || ((uint8_t)text[start - 1] & 0x80) == 0) {
        return;
    }
    uint8_t lead = (uint8_t)text[start - 1];
    size_t wanted_bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (size_bytes - (start - 1) < wanted_bytes) {
        text[start - 1] = '\0';
    }
}

static void format_cut(char *text, size_t capacity_bytes, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void format_cut(char *text, size_t capacity_bytes, const char *format, va_list args)
{
    int size = vsnprintf(text, capacity_bytes, format, args);
    if (size < 0) {
        text[0] = '\0';
    } else if ((size_t)size >= capacity_bytes) {
        drop_cut_character(text);
    }
}

bool weir_value_error_set(struct weir_value_error *error, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        format_cut(error->text, sizeof error->text, format, args);
        va_end(args);
        error->detail[0] = '\0';
    }
    return false;
}

bool weir_value_error_detail(struct weir_value_error *error, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        format_cut(error->detail, sizeof error->detail, format, args);
        va_end(args);
    }
    return false;
}

// At most so many bytes of a refused text are repeated in a message.
enum { TEXT_SHOWN_BYTES_MAX = 128 };

static int shown_bytes(struct weir_view text)
{
    size_t size_bytes = text.size_bytes;
    if (size_bytes > TEXT_SHOWN_BYTES_MAX) {
        size_bytes = TEXT_SHOWN_BYTES_MAX;
        while (size_bytes > 0 && ((uint8_t)text.data[size_bytes] & 0xc0) == 0x80) {
            size_bytes--;
        }
    }
    return (int)size_bytes;
}

bool weir_value_error_syntax(struct weir_value_error *error, const char *type_name,
                             struct weir_view text)
{
    return weir_value_error_set(error, "invalid input syntax for type %s: \"%.*s%s\"", type_name,
                                shown_bytes(text), text.data != NULL ? text.data : "",
                                text.size_bytes > TEXT_SHOWN_BYTES_MAX ? "…" : "");
}

bool weir_value_error_range(struct weir_value_error *error, const char *type_name,
                            struct weir_view text)
{
    return weir_value_error_set(error, "value \"%.*s%s\" is out of range for type %s",
                                shown_bytes(text), text.data != NULL ? text.data : "",
                                text.size_bytes > TEXT_SHOWN_BYTES_MAX ? "…" : "", type_name);
}
