// SPDX-License-Identifier: Apache-2.0
// See json_string.h. What is rare in strings: escapes, bytes beyond ASCII, errors. Surrogates are
// taken in pairs only, UTF-8 only in its shortest form and without surrogates, so that whatever
// comes out of a string is valid UTF-8.
#include "kafka/json_string.h"

// A sequence of two to four bytes that begins with a byte from 0x80 on. NULL: not UTF-8.
static const char *scan_multibyte(const char *p, const char *end)
{
    const uint8_t *u = (const uint8_t *)p;
    ptrdiff_t left = end - p;
    if (u[0] >= 0xc2 && u[0] <= 0xdf) {
        return left >= 2 && (u[1] & 0xc0) == 0x80 ? p + 2 : NULL;
    }
    if (u[0] >= 0xe0 && u[0] <= 0xef) {
        if (left < 3 || (u[1] & 0xc0) != 0x80 || (u[2] & 0xc0) != 0x80) {
            return NULL;
        }
        bool is_overlong = u[0] == 0xe0 && u[1] < 0xa0;
        bool is_surrogate = u[0] == 0xed && u[1] >= 0xa0;
        return is_overlong || is_surrogate ? NULL : p + 3;
    }
    if (u[0] >= 0xf0 && u[0] <= 0xf4) {
        if (left < 4 || (u[1] & 0xc0) != 0x80 || (u[2] & 0xc0) != 0x80 || (u[3] & 0xc0) != 0x80) {
            return NULL;
        }
        bool is_overlong = u[0] == 0xf0 && u[1] < 0x90;
        bool is_too_large = u[0] == 0xf4 && u[1] >= 0x90;
        return is_overlong || is_too_large ? NULL : p + 4;
    }
    return NULL;
}

static int32_t hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The four digits behind \u; -1: they are not four hexadecimal digits.
static int32_t hex4(const char *p)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int32_t digit = hex_digit(p[i]);
        if (digit < 0) {
            return -1;
        }
        code = code << 4 | digit;
    }
    return code;
}

static bool is_high_surrogate(int32_t code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low_surrogate(int32_t code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

static bool fail(struct weir_json_string *string, const char *place, const char *error)
{
    string->p = place;
    string->error = error;
    return false;
}

// At a backslash.
static bool scan_escape(struct weir_json_string *string)
{
    const char *p = string->p;
    const char *end = string->end;
    if (end - p < 2) {
        return fail(string, end, "the string is not closed");
    }
    if (p[1] != 'u') {
        if (p[1] == '\0' || strchr("\"\\/bfnrt", p[1]) == NULL) {
            return fail(string, p, "the escape is unknown");
        }
        string->p = p + 2;
        return true;
    }
    int32_t code = end - p >= 6 ? hex4(p + 2) : -1;
    if (code < 0) {
        return fail(string, p, "\\u needs four hexadecimal digits");
    }
    if (is_low_surrogate(code)) {
        return fail(string, p, "half a surrogate pair");
    }
    if (!is_high_surrogate(code)) {
        string->p = p + 6;
        return true;
    }
    if (end - p < 12 || p[6] != '\\' || p[7] != 'u' || !is_low_surrogate(hex4(p + 8))) {
        return fail(string, p, "half a surrogate pair");
    }
    string->p = p + 12;
    return true;
}

bool weir_json_string_scan_rest(struct weir_json_string *string)
{
    const char *end = string->end;
    while (string->p < end && *string->p != '"') {
        if (*string->p == '\\') {
            string->is_plain = false;
            if (!scan_escape(string)) {
                return false;
            }
        } else if ((uint8_t)*string->p < ' ') {
            return fail(string, string->p, "a control character in a string");
        }
        while (string->p < end && (uint8_t)*string->p >= 0x80) {
            const char *next = scan_multibyte(string->p, end);
            if (next == NULL) {
                return fail(string, string->p, "not valid UTF-8");
            }
            string->p = next;
        }
        string->p = weir_json_find_special(string->begin, string->p, end);
    }
    return string->p < end || fail(string, end, "the string is not closed");
}

static char *put_utf8(char *out, int32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

size_t weir_json_unescape(struct weir_view text, char *out, bool *has_nul)
{
    static const char short_escapes[][2] = {
        {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}};
    const char *p = text.data;
    const char *end = text.data + text.size_bytes;
    char *start = out;
    *has_nul = false;
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t plain_bytes = (size_t)((escape != NULL ? escape : end) - p);
        memcpy(out, p, plain_bytes);
        out += plain_bytes;
        if (escape == NULL) {
            break;
        }
        p = escape + 2;
        if (escape[1] == 'u') {
            int32_t code = hex4(escape + 2);
            p = escape + 6;
            if (is_high_surrogate(code)) {
                code = 0x10000 + ((code - 0xd800) << 10) + (hex4(escape + 8) - 0xdc00);
                p = escape + 12;
            }
            *has_nul = *has_nul || code == 0;
            out = put_utf8(out, code);
            continue;
        }
        char c = escape[1]; // quote, backslash and slash stand for themselves
        for (size_t i = 0; i < sizeof short_escapes / sizeof short_escapes[0]; i++) {
            c = c == short_escapes[i][0] ? short_escapes[i][1] : c;
        }
        *out++ = c;
    }
    return (size_t)(out - start);
}

bool weir_json_is_literal(struct weir_view text)
{
    const char *p = text.data;
    const char *end = text.data + text.size_bytes;
    while ((p = weir_json_find_special(text.data, p, end)) != end) {
        if ((uint8_t)*p < 0x80 || (p = scan_multibyte(p, end)) == NULL) {
            return false;
        }
    }
    return true;
}
