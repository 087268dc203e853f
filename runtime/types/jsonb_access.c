// SPDX-License-Identifier: Apache-2.0
// See jsonb_access.h. Canonical text has one blank behind each colon and comma and none elsewhere,
// which is all that the steps below count on.
#include "runtime/types/jsonb_access.h"

#include "runtime/base/assert.h"
#include "runtime/types/json_out.h"

enum weir_jsonb_kind weir_jsonb_kind_of(struct weir_view value)
{
    switch (value.data[0]) {
    case 'n':
        return WEIR_JSONB_NULL;
    case 't':
    case 'f':
        return WEIR_JSONB_BOOLEAN;
    case '"':
        return WEIR_JSONB_STRING;
    case '[':
        return WEIR_JSONB_ARRAY;
    case '{':
        return WEIR_JSONB_OBJECT;
    default:
        return WEIR_JSONB_NUMBER;
    }
}

const char *weir_jsonb_kind_name(enum weir_jsonb_kind kind)
{
    static const char *const NAMES[] = {
        [WEIR_JSONB_NULL] = "null",     [WEIR_JSONB_BOOLEAN] = "boolean",
        [WEIR_JSONB_NUMBER] = "number", [WEIR_JSONB_STRING] = "string",
        [WEIR_JSONB_ARRAY] = "array",   [WEIR_JSONB_OBJECT] = "object",
    };
    return NAMES[kind];
}

// --- steps -----------------------------------------------------------------------------------

// Behind the string that begins at `at`.
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        at += *at == '\\';
    }
    return at < end ? at + 1 : end;
}

// Behind the value that begins at `at`.
static const char *skip_value(const char *at, const char *end)
{
    uint32_t depth = 0;
    while (at < end) {
        char c = *at;
        if (c == '"') {
            at = skip_string(at, end);
            if (depth == 0) {
                return at;
            }
            continue;
        }
        if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0) {
                return at; // behind a scalar that is the last of its container
            }
            if (--depth == 0) {
                return at + 1;
            }
        } else if (c == ',' && depth == 0) {
            return at;
        }
        at++;
    }
    return end;
}

static const char *skip_comma(const char *at, const char *end)
{
    return end - at > 2 && at[0] == ',' ? at + 2 : end;
}

// --- access ----------------------------------------------------------------------------------

void weir_jsonb_append_key(struct weir_buffer *buffer, struct weir_view key)
{
    weir_json_append_string(buffer, key);
}

bool weir_jsonb_member(struct weir_view object, struct weir_view quoted_key,
                       struct weir_view *value)
{
    if (weir_jsonb_kind_of(object) != WEIR_JSONB_OBJECT) {
        return false;
    }
    const char *at = object.data + 1;
    const char *end = object.data + object.size_bytes - 1;
    while (at < end) {
        const char *key_end = skip_string(at, end);
        const char *from = key_end + 2; // ": "
        if (from >= end) {
            return false;
        }
        const char *to = skip_value(from, end);
        struct weir_view key = {.data = at, .size_bytes = (size_t)(key_end - at)};
        if (weir_view_equal(key, quoted_key)) {
            *value = (struct weir_view){.data = from, .size_bytes = (size_t)(to - from)};
            return true;
        }
        at = skip_comma(to, end);
    }
    return false;
}

static uint32_t count_elements(const char *at, const char *end)
{
    uint32_t count = 0;
    while (at < end) {
        count++;
        at = skip_comma(skip_value(at, end), end);
    }
    return count;
}

bool weir_jsonb_element(struct weir_view array, int64_t idx, struct weir_view *value)
{
    enum weir_jsonb_kind kind = weir_jsonb_kind_of(array);
    if (kind == WEIR_JSONB_OBJECT) {
        return false;
    }
    if (kind != WEIR_JSONB_ARRAY) {
        *value = array;
        return idx == 0 || idx == -1;
    }
    const char *at = array.data + 1;
    const char *end = array.data + array.size_bytes - 1;
    if (idx < 0) {
        idx += count_elements(at, end);
    }
    if (idx < 0) {
        return false;
    }
    for (; at < end; idx--) {
        const char *to = skip_value(at, end);
        if (idx == 0) {
            *value = (struct weir_view){.data = at, .size_bytes = (size_t)(to - at)};
            return true;
        }
        at = skip_comma(to, end);
    }
    return false;
}

// --- text ------------------------------------------------------------------------------------

static uint32_t hex_digit(char c)
{
    return c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a' + 10);
}

// The escape behind a backslash; returns where it ends. Canonical text writes only what has to be
// escaped, so \u stands for control characters alone.
static const char *append_escape(struct weir_buffer *buffer, const char *at, const char *end)
{
    static const char SHORT[] = "b\bf\fn\nr\rt\t";
    if (*at == 'u' && end - at >= 5) {
        uint32_t code = 0;
        for (int i = 1; i <= 4; i++) {
            code = code << 4 | hex_digit(at[i]);
        }
        WEIR_ASSERT(code < 0x80);
        weir_buffer_append_char(buffer, (char)code);
        return at + 5;
    }
    const char *found = NULL;
    for (const char *c = SHORT; *c != '\0'; c += 2) {
        if (*c == *at) {
            found = c;
        }
    }
    weir_buffer_append_char(buffer, found != NULL ? found[1] : *at);
    return at + 1;
}

void weir_jsonb_append_text(struct weir_buffer *buffer, struct weir_view value)
{
    if (weir_jsonb_kind_of(value) != WEIR_JSONB_STRING) {
        weir_buffer_append(buffer, value.data, value.size_bytes);
        return;
    }
    const char *at = value.data + 1;
    const char *end = value.data + value.size_bytes - 1;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        const char *to = escape != NULL ? escape : end;
        weir_buffer_append(buffer, at, (size_t)(to - at));
        at = escape != NULL && escape + 1 < end ? append_escape(buffer, escape + 1, end) : end;
    }
}
