// SPDX-License-Identifier: Apache-2.0
// Text functions that make new text: upper, lower, initcap, pad, repeat, reverse, replace,
// translate, overlay, chr. Case follows Unicode's simple mappings (utf8proc): one character for
// one. Thread: the task's.
#include "operators/function.h"
#include "operators/text.h"
#include "operators/utf8.h"

#include "runtime/types/text_io.h"

#include <utf8proc.h>

static struct weir_view view_between(const char *from, const char *to)
{
    return (struct weir_view){.data = from, .size_bytes = (size_t)(to - from)};
}

static const char *view_end(struct weir_view view)
{
    return view.data + view.size_bytes;
}

static char *append(char *at, struct weir_view view)
{
    memcpy(at, view.data, view.size_bytes);
    return at + view.size_bytes;
}

static bool is_too_large(struct weir_kernel *kernel, uint32_t row, uint64_t size_bytes)
{
    if (size_bytes <= WEIR_TEXT_RESULT_BYTES_MAX) {
        return false;
    }
    weir_kernel_fail(kernel, row, "requested length too large");
    return true;
}

// --- case ------------------------------------------------------------------------------------

enum letter_case { CASE_UPPER, CASE_LOWER };

static utf8proc_int32_t map_code(utf8proc_int32_t code, enum letter_case to)
{
    if (code == 0xdf) {
        return code; // utf8proc makes the capital sharp s of it, Unicode's data does not
    }
    return to == CASE_UPPER ? utf8proc_toupper(code) : utf8proc_tolower(code);
}

static char map_ascii(char c, enum letter_case to)
{
    if (to == CASE_UPPER) {
        return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// One character from *from to *to, both moved on; what is no UTF-8 is copied.
static utf8proc_int32_t map_next(const char **from, const char *end, char **to,
                                 enum letter_case letter_case)
{
    utf8proc_int32_t code;
    utf8proc_ssize_t size_bytes =
        utf8proc_iterate((const utf8proc_uint8_t *)*from, end - *from, &code);
    if (size_bytes <= 0) {
        *(*to)++ = *(*from)++;
        return 0;
    }
    *from += size_bytes;
    *to += utf8proc_encode_char(map_code(code, letter_case), (utf8proc_uint8_t *)*to);
    return code;
}

static struct weir_view map_case(struct weir_kernel *kernel, struct weir_view text,
                                 enum letter_case to)
{
    const char *from = text.data;
    const char *end = view_end(text);
    if (weir_is_ascii(text)) {
        char *mapped = weir_kernel_text(kernel, text.size_bytes);
        for (size_t i = 0; i < text.size_bytes; i++) {
            mapped[i] = map_ascii(from[i], to);
        }
        return (struct weir_view){.data = mapped, .size_bytes = text.size_bytes};
    }
    char *mapped = weir_kernel_text(kernel, 2 * text.size_bytes); // two bytes may become three
    char *at = mapped;
    while (from < end) {
        map_next(&from, end, &at, to);
    }
    weir_kernel_text_trim(kernel, at);
    return view_between(mapped, at);
}

static struct weir_view upper(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    (void)row;
    return map_case(kernel, text, CASE_UPPER);
}

static struct weir_view lower(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    (void)row;
    return map_case(kernel, text, CASE_LOWER);
}

static bool is_alphanumeric(utf8proc_int32_t code)
{
    utf8proc_category_t category = utf8proc_category(code);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
           category == UTF8PROC_CATEGORY_ND;
}

static struct weir_view initcap(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    (void)row;
    char *mapped = weir_kernel_text(kernel, 2 * text.size_bytes);
    char *at = mapped;
    const char *from = text.data;
    bool is_inside = false;
    while (from < view_end(text)) {
        utf8proc_int32_t code =
            map_next(&from, view_end(text), &at, is_inside ? CASE_LOWER : CASE_UPPER);
        is_inside = is_alphanumeric(code);
    }
    weir_kernel_text_trim(kernel, at);
    return view_between(mapped, at);
}

WEIR_KERNEL_1(kernel_upper, struct weir_view, struct weir_view, upper)
WEIR_KERNEL_1(kernel_lower, struct weir_view, struct weir_view, lower)
WEIR_KERNEL_1(kernel_initcap, struct weir_view, struct weir_view, initcap)

// --- lpad, rpad, repeat ----------------------------------------------------------------------

#define BLANK ((struct weir_view){.data = " ", .size_bytes = 1})

// As many characters of `fill`, over and over, as asked for.
static char *append_fill(char *at, struct weir_view fill, uint64_t char_count)
{
    const char *from = fill.data;
    for (; char_count > 0; char_count--) {
        const char *next = weir_utf8_next(from, view_end(fill));
        at = append(at, view_between(from, next));
        from = next == view_end(fill) ? fill.data : next;
    }
    return at;
}

// Text cut or filled to so many characters.
static struct weir_view pad(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                            int32_t length, struct weir_view fill, bool is_left)
{
    uint64_t wanted = length > 0 ? (uint64_t)length : 0;
    uint64_t present = weir_text_char_count(text);
    if (present >= wanted || fill.size_bytes == 0) {
        return view_between(text.data, weir_utf8_skip(text.data, view_end(text), wanted));
    }
    uint64_t size_bytes = text.size_bytes + 4 * (wanted - present);
    if (is_too_large(kernel, row, size_bytes)) {
        return text;
    }
    char *padded = weir_kernel_text(kernel, size_bytes);
    char *at = padded;
    if (is_left) {
        at = append(append_fill(at, fill, wanted - present), text);
    } else {
        at = append_fill(append(at, text), fill, wanted - present);
    }
    weir_kernel_text_trim(kernel, at);
    return view_between(padded, at);
}

static struct weir_view lpad_fill(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                                  int32_t length, struct weir_view fill)
{
    return pad(kernel, row, text, length, fill, true);
}

static struct weir_view lpad(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                             int32_t length)
{
    return pad(kernel, row, text, length, BLANK, true);
}

static struct weir_view rpad_fill(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                                  int32_t length, struct weir_view fill)
{
    return pad(kernel, row, text, length, fill, false);
}

static struct weir_view rpad(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                             int32_t length)
{
    return pad(kernel, row, text, length, BLANK, false);
}

static struct weir_view repeat(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                               int32_t count)
{
    uint64_t times = count > 0 ? (uint64_t)count : 0;
    if (is_too_large(kernel, row, times * text.size_bytes)) {
        return text;
    }
    char *repeated = weir_kernel_text(kernel, times * text.size_bytes);
    char *at = repeated;
    for (uint64_t i = 0; i < times && text.size_bytes != 0; i++) {
        at = append(at, text);
    }
    return view_between(repeated, at);
}

WEIR_KERNEL_3(kernel_lpad_fill, struct weir_view, struct weir_view, int32_t, struct weir_view,
              lpad_fill)
WEIR_KERNEL_2(kernel_lpad, struct weir_view, struct weir_view, int32_t, lpad)
WEIR_KERNEL_3(kernel_rpad_fill, struct weir_view, struct weir_view, int32_t, struct weir_view,
              rpad_fill)
WEIR_KERNEL_2(kernel_rpad, struct weir_view, struct weir_view, int32_t, rpad)
WEIR_KERNEL_2(kernel_repeat, struct weir_view, struct weir_view, int32_t, repeat)

// --- reverse, replace, translate, overlay, chr -----------------------------------------------

static struct weir_view reverse(struct weir_kernel *kernel, uint32_t row, struct weir_view text)
{
    (void)row;
    char *reversed = weir_kernel_text(kernel, text.size_bytes);
    char *at = reversed + text.size_bytes;
    for (const char *from = text.data; from < view_end(text);) {
        const char *next = weir_utf8_next(from, view_end(text));
        at -= next - from;
        append(at, view_between(from, next));
        from = next;
    }
    return (struct weir_view){.data = reversed, .size_bytes = text.size_bytes};
}

static struct weir_view replace(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                                struct weir_view from, struct weir_view to)
{
    if (text.size_bytes == 0 || from.size_bytes == 0) {
        return text;
    }
    uint64_t count = 0;
    const char *end = view_end(text);
    const char *at = text.data;
    while ((at = memmem(at, (size_t)(end - at), from.data, from.size_bytes)) != NULL) {
        count++;
        at += from.size_bytes;
    }
    uint64_t size_bytes = text.size_bytes - count * from.size_bytes + count * to.size_bytes;
    if (count == 0 || is_too_large(kernel, row, size_bytes)) {
        return text;
    }
    char *replaced = weir_kernel_text(kernel, size_bytes);
    char *out = replaced;
    const char *rest = text.data;
    while ((at = memmem(rest, (size_t)(end - rest), from.data, from.size_bytes)) != NULL) {
        out = append(append(out, view_between(rest, at)), to);
        rest = at + from.size_bytes;
    }
    append(out, view_between(rest, end));
    return (struct weir_view){.data = replaced, .size_bytes = size_bytes};
}

// The character of `to` at the place that `character` has in `from`; false: it is not in `from`.
static bool find_translation(struct weir_view character, struct weir_view from, struct weir_view to,
                             struct weir_view *translation)
{
    const char *to_at = to.data;
    for (const char *at = from.data; at < view_end(from);) {
        const char *next = weir_utf8_next(at, view_end(from));
        const char *to_next = to_at < view_end(to) ? weir_utf8_next(to_at, view_end(to)) : to_at;
        if (weir_view_equal(view_between(at, next), character)) {
            *translation = view_between(to_at, to_next);
            return true;
        }
        at = next;
        to_at = to_next;
    }
    return false;
}

static struct weir_view translate(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                                  struct weir_view from, struct weir_view to)
{
    if (is_too_large(kernel, row, 4 * (uint64_t)text.size_bytes)) {
        return text;
    }
    char *translated = weir_kernel_text(kernel, 4 * text.size_bytes);
    char *out = translated;
    for (const char *at = text.data; at < view_end(text);) {
        const char *next = weir_utf8_next(at, view_end(text));
        struct weir_view character = view_between(at, next);
        find_translation(character, from, to, &character);
        out = append(out, character);
        at = next;
    }
    weir_kernel_text_trim(kernel, out);
    return view_between(translated, out);
}

static struct weir_view overlay_count(struct weir_kernel *kernel, uint32_t row,
                                      struct weir_view text, struct weir_view part, int32_t start,
                                      int32_t count)
{
    if (start <= 0) {
        weir_kernel_fail(kernel, row, "negative substring length not allowed");
        return text;
    }
    int32_t behind;
    if (__builtin_add_overflow(start, count, &behind)) {
        weir_kernel_fail(kernel, row, "integer out of range");
        return text;
    }
    const char *end = view_end(text);
    const char *head_end = weir_utf8_skip(text.data, end, (uint64_t)start - 1);
    const char *tail = weir_utf8_skip(text.data, end, behind > 1 ? (uint64_t)behind - 1 : 0);
    uint64_t size_bytes =
        (uint64_t)(head_end - text.data) + part.size_bytes + (uint64_t)(end - tail);
    char *laid = weir_kernel_text(kernel, size_bytes);
    append(append(append(laid, view_between(text.data, head_end)), part), view_between(tail, end));
    return (struct weir_view){.data = laid, .size_bytes = size_bytes};
}

static struct weir_view overlay(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                                struct weir_view part, int32_t start)
{
    return overlay_count(kernel, row, text, part, start, (int32_t)weir_text_char_count(part));
}

static struct weir_view chr(struct weir_kernel *kernel, uint32_t row, int32_t code)
{
    struct weir_view none = {.data = "", .size_bytes = 0};
    if (code < 0) {
        weir_kernel_fail(kernel, row, "character number must be positive");
        return none;
    }
    if (code == 0) {
        weir_kernel_fail(kernel, row, "null character not permitted");
        return none;
    }
    if (code > 0x10ffff) {
        weir_kernel_fail_format(kernel, row, "requested character too large for encoding: %d",
                                code);
        return none;
    }
    if (code >= 0xd800 && code <= 0xdfff) {
        weir_kernel_fail_format(kernel, row, "requested character not valid for encoding: %d",
                                code);
        return none;
    }
    char *text = weir_kernel_text(kernel, 4);
    utf8proc_ssize_t size_bytes = utf8proc_encode_char(code, (utf8proc_uint8_t *)text);
    weir_kernel_text_trim(kernel, text + size_bytes);
    return (struct weir_view){.data = text, .size_bytes = (size_t)size_bytes};
}

WEIR_KERNEL_1(kernel_reverse, struct weir_view, struct weir_view, reverse)
WEIR_KERNEL_3(kernel_replace, struct weir_view, struct weir_view, struct weir_view,
              struct weir_view, replace)
WEIR_KERNEL_3(kernel_translate, struct weir_view, struct weir_view, struct weir_view,
              struct weir_view, translate)
WEIR_KERNEL_4(kernel_overlay_count, struct weir_view, struct weir_view, struct weir_view, int32_t,
              int32_t, overlay_count)
WEIR_KERNEL_3(kernel_overlay, struct weir_view, struct weir_view, struct weir_view, int32_t,
              overlay)
WEIR_KERNEL_1(kernel_chr, struct weir_view, int32_t, chr)

// --- table -----------------------------------------------------------------------------------

#define FUNCTION(the_name, type, the_kernel, ...)                                                  \
    WEIR_FUNCTION_ROW(the_name, WEIR_ARG_##type, the_kernel, NULL, 0, __VA_ARGS__)
#define TEXT WEIR_ARG_TEXT
#define BYTEA WEIR_ARG_BYTEA
#define INT WEIR_ARG_INTEGER

static const struct weir_function FUNCTIONS[] = {
    FUNCTION("upper", TEXT, kernel_upper, TEXT),
    FUNCTION("upper", TEXT, NULL, WEIR_ARG_RANGE),
    FUNCTION("lower", TEXT, kernel_lower, TEXT),
    FUNCTION("lower", TEXT, NULL, WEIR_ARG_RANGE),
    FUNCTION("initcap", TEXT, kernel_initcap, TEXT),
    FUNCTION("lpad", TEXT, kernel_lpad, TEXT, INT),
    FUNCTION("lpad", TEXT, kernel_lpad_fill, TEXT, INT, TEXT),
    FUNCTION("rpad", TEXT, kernel_rpad, TEXT, INT),
    FUNCTION("rpad", TEXT, kernel_rpad_fill, TEXT, INT, TEXT),
    FUNCTION("repeat", TEXT, kernel_repeat, TEXT, INT),
    FUNCTION("reverse", TEXT, kernel_reverse, TEXT),
    FUNCTION("replace", TEXT, kernel_replace, TEXT, TEXT, TEXT),
    FUNCTION("translate", TEXT, kernel_translate, TEXT, TEXT, TEXT),
    FUNCTION("overlay", TEXT, kernel_overlay, TEXT, TEXT, INT),
    FUNCTION("overlay", TEXT, kernel_overlay_count, TEXT, TEXT, INT, INT),
    FUNCTION("overlay", BYTEA, NULL, BYTEA, BYTEA, INT),
    FUNCTION("overlay", BYTEA, NULL, BYTEA, BYTEA, INT, INT),
    FUNCTION("overlay", TEXT, NULL, WEIR_ARG_BIT, WEIR_ARG_BIT, INT),
    FUNCTION("overlay", TEXT, NULL, WEIR_ARG_BIT, WEIR_ARG_BIT, INT, INT),
    FUNCTION("chr", TEXT, kernel_chr, INT),
};

const struct weir_function_table weir_functions_text_form = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};

// Shared with ILIKE.
struct weir_view weir_text_lower(struct weir_kernel *kernel, struct weir_view text)
{
    return map_case(kernel, text, CASE_LOWER);
}
