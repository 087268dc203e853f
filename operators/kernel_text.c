// SPDX-License-Identifier: Apache-2.0
// Text functions that measure, find and cut: length, strpos, substr, left, right, split_part, trim,
// ||, concat. Positions count characters of UTF-8. Results that are part of an argument are views
// into it. The ones that make new text are in kernel_text_form.c. Thread: the task's.
#include "operators/function.h"
#include "operators/utf8.h"

#include "runtime/types/text_io.h"

static struct weir_view view_between(const char *from, const char *to)
{
    return (struct weir_view){.data = from, .size_bytes = (size_t)(to - from)};
}

static const char *view_end(struct weir_view view)
{
    return view.data + view.size_bytes;
}

// --- measures --------------------------------------------------------------------------------

static inline int32_t char_length(struct weir_kernel *kernel, uint32_t row, struct weir_view a)
{
    (void)kernel;
    (void)row;
    return (int32_t)weir_text_char_count(a);
}

static inline int32_t octet_length(struct weir_kernel *kernel, uint32_t row, struct weir_view a)
{
    (void)kernel;
    (void)row;
    return (int32_t)a.size_bytes;
}

static inline int32_t bit_length(struct weir_kernel *kernel, uint32_t row, struct weir_view a)
{
    (void)kernel;
    (void)row;
    return (int32_t)a.size_bytes * 8;
}

static int32_t ascii(struct weir_kernel *kernel, uint32_t row, struct weir_view a)
{
    (void)kernel;
    (void)row;
    if (a.size_bytes == 0) {
        return 0;
    }
    const unsigned char *bytes = (const unsigned char *)a.data;
    size_t size_bytes = weir_utf8_bytes(a.data[0]);
    if (size_bytes == 1 || size_bytes > a.size_bytes) {
        return bytes[0];
    }
    int32_t code = bytes[0] & (0xff >> (size_bytes + 1));
    for (size_t i = 1; i < size_bytes; i++) {
        code = code << 6 | (bytes[i] & 0x3f);
    }
    return code;
}

static inline uint8_t starts_with(struct weir_kernel *kernel, uint32_t row, struct weir_view a,
                                  struct weir_view b)
{
    (void)kernel;
    (void)row;
    return a.size_bytes >= b.size_bytes &&
           weir_view_equal(view_between(a.data, a.data + b.size_bytes), b);
}

static const char *find(struct weir_view text, struct weir_view part)
{
    if (part.size_bytes == 0) {
        return text.data;
    }
    return memmem(text.data, text.size_bytes, part.data, part.size_bytes);
}

static int32_t position(struct weir_kernel *kernel, uint32_t row, struct weir_view a,
                        struct weir_view b)
{
    (void)kernel;
    (void)row;
    const char *found = find(a, b);
    return found == NULL ? 0 : (int32_t)weir_text_char_count(view_between(a.data, found)) + 1;
}

static int32_t position_bytes(struct weir_kernel *kernel, uint32_t row, struct weir_view a,
                              struct weir_view b)
{
    (void)kernel;
    (void)row;
    const char *found = find(a, b);
    return found == NULL ? 0 : (int32_t)(found - a.data) + 1;
}

WEIR_KERNEL_1(kernel_char_length, int32_t, struct weir_view, char_length)
WEIR_KERNEL_1(kernel_octet_length, int32_t, struct weir_view, octet_length)
WEIR_KERNEL_1(kernel_bit_length, int32_t, struct weir_view, bit_length)
WEIR_KERNEL_1(kernel_ascii, int32_t, struct weir_view, ascii)
WEIR_KERNEL_2(kernel_starts_with, uint8_t, struct weir_view, struct weir_view, starts_with)
WEIR_KERNEL_2(kernel_position, int32_t, struct weir_view, struct weir_view, position)
WEIR_KERNEL_2(kernel_position_bytes, int32_t, struct weir_view, struct weir_view, position_bytes)

// --- parts -----------------------------------------------------------------------------------

// What substr(text, start, length) takes, as a start from 0 and a length: positions before the
// first character count, but hold none. false: a negative length.
static bool cut_range(struct weir_kernel *kernel, uint32_t row, int32_t start, int32_t length,
                      uint64_t *skipped, uint64_t *taken)
{
    if (length < 0) {
        weir_kernel_fail(kernel, row, "negative substring length not allowed");
        return false;
    }
    int64_t end = (int64_t)start + length; // exclusive, counted from 1
    int64_t first = start > 1 ? start : 1;
    *skipped = (uint64_t)(first - 1);
    *taken = end > first ? (uint64_t)(end - first) : 0;
    if (end > INT32_MAX) {
        *taken = UINT64_MAX;
    }
    return true;
}

static struct weir_view substr_length(struct weir_kernel *kernel, uint32_t row,
                                      struct weir_view text, int32_t start, int32_t length)
{
    uint64_t skipped;
    uint64_t taken;
    if (!cut_range(kernel, row, start, length, &skipped, &taken)) {
        return text;
    }
    const char *from = weir_utf8_skip(text.data, view_end(text), skipped);
    return view_between(from, weir_utf8_skip(from, view_end(text), taken));
}

static struct weir_view substr(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                               int32_t start)
{
    (void)kernel;
    (void)row;
    uint64_t skipped = start > 1 ? (uint64_t)start - 1 : 0;
    return view_between(weir_utf8_skip(text.data, view_end(text), skipped), view_end(text));
}

static struct weir_view substr_bytes_length(struct weir_kernel *kernel, uint32_t row,
                                            struct weir_view bytes, int32_t start, int32_t length)
{
    uint64_t skipped;
    uint64_t taken;
    if (!cut_range(kernel, row, start, length, &skipped, &taken)) {
        return bytes;
    }
    skipped = skipped < bytes.size_bytes ? skipped : bytes.size_bytes;
    taken = taken < bytes.size_bytes - skipped ? taken : bytes.size_bytes - skipped;
    return (struct weir_view){.data = bytes.data + skipped, .size_bytes = taken};
}

static struct weir_view substr_bytes(struct weir_kernel *kernel, uint32_t row,
                                     struct weir_view bytes, int32_t start)
{
    uint64_t first = start > 1 ? (uint64_t)start : 1;
    return substr_bytes_length(kernel, row, bytes, (int32_t)first, INT32_MAX);
}

static struct weir_view left(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                             int32_t count)
{
    (void)kernel;
    (void)row;
    int64_t taken = count;
    if (count < 0) { // all but the last -count
        taken += (int64_t)weir_text_char_count(text);
    }
    const char *end = weir_utf8_skip(text.data, view_end(text), taken > 0 ? (uint64_t)taken : 0);
    return view_between(text.data, end);
}

static struct weir_view right(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                              int32_t count)
{
    (void)kernel;
    (void)row;
    int64_t skipped = -(int64_t)count; // all but the first -count
    if (count >= 0) {
        skipped += (int64_t)weir_text_char_count(text);
    }
    uint64_t skipped_count = skipped > 0 ? (uint64_t)skipped : 0;
    return view_between(weir_utf8_skip(text.data, view_end(text), skipped_count), view_end(text));
}

WEIR_KERNEL_3(kernel_substr_length, struct weir_view, struct weir_view, int32_t, int32_t,
              substr_length)
WEIR_KERNEL_2(kernel_substr, struct weir_view, struct weir_view, int32_t, substr)
WEIR_KERNEL_3(kernel_substr_bytes_length, struct weir_view, struct weir_view, int32_t, int32_t,
              substr_bytes_length)
WEIR_KERNEL_2(kernel_substr_bytes, struct weir_view, struct weir_view, int32_t, substr_bytes)
WEIR_KERNEL_2(kernel_left, struct weir_view, struct weir_view, int32_t, left)
WEIR_KERNEL_2(kernel_right, struct weir_view, struct weir_view, int32_t, right)

// --- split_part ------------------------------------------------------------------------------

static uint64_t count_parts(struct weir_view text, struct weir_view separator)
{
    uint64_t count = 1;
    const char *found;
    while ((found = find(text, separator)) != NULL) {
        count++;
        text = view_between(found + separator.size_bytes, view_end(text));
    }
    return count;
}

static struct weir_view split_part(struct weir_kernel *kernel, uint32_t row, struct weir_view text,
                                   struct weir_view separator, int32_t number)
{
    struct weir_view empty = view_between(text.data, text.data);
    if (number == 0) {
        weir_kernel_fail(kernel, row, "field position must not be zero");
        return empty;
    }
    if (separator.size_bytes == 0) {
        return number == 1 || number == -1 ? text : empty;
    }
    int64_t part = number;
    if (number < 0) { // from the end
        part = (int64_t)count_parts(text, separator) + 1 + number;
    }
    if (part < 1) {
        return empty;
    }
    const char *found = find(text, separator);
    for (; part > 1; part--) {
        if (found == NULL) {
            return empty;
        }
        text = view_between(found + separator.size_bytes, view_end(text));
        found = find(text, separator);
    }
    return found == NULL ? text : view_between(text.data, found);
}

WEIR_KERNEL_3(kernel_split_part, struct weir_view, struct weir_view, struct weir_view, int32_t,
              split_part)

// --- trim ------------------------------------------------------------------------------------

static bool is_in_set(struct weir_view set, struct weir_view character)
{
    const char *end = view_end(set);
    for (const char *at = set.data; at < end;) {
        const char *next = weir_utf8_next(at, end);
        if (weir_view_equal(view_between(at, next), character)) {
            return true;
        }
        at = next;
    }
    return false;
}

static struct weir_view trim_start(struct weir_view text, struct weir_view set)
{
    const char *end = view_end(text);
    const char *at = text.data;
    while (at < end) {
        const char *next = weir_utf8_next(at, end);
        if (!is_in_set(set, view_between(at, next))) {
            break;
        }
        at = next;
    }
    return view_between(at, end);
}

static struct weir_view trim_end(struct weir_view text, struct weir_view set)
{
    const char *end = view_end(text);
    while (end > text.data) {
        const char *at = end - 1;
        while (at > text.data && ((unsigned char)*at & 0xc0) == 0x80) {
            at--;
        }
        if (!is_in_set(set, view_between(at, end))) {
            break;
        }
        end = at;
    }
    return view_between(text.data, end);
}

#define BLANK ((struct weir_view){.data = " ", .size_bytes = 1})

#define DEFINE_TRIM(name, expression)                                                              \
    static struct weir_view name##_set(struct weir_kernel *kernel, uint32_t row,                   \
                                       struct weir_view text, struct weir_view set)                \
    {                                                                                              \
        (void)kernel;                                                                              \
        (void)row;                                                                                 \
        return expression;                                                                         \
    }                                                                                              \
    static struct weir_view name(struct weir_kernel *kernel, uint32_t row, struct weir_view text)  \
    {                                                                                              \
        return name##_set(kernel, row, text, BLANK);                                               \
    }                                                                                              \
    WEIR_KERNEL_2(kernel_##name##_set, struct weir_view, struct weir_view, struct weir_view,       \
                  name##_set)                                                                      \
    WEIR_KERNEL_1(kernel_##name, struct weir_view, struct weir_view, name)

DEFINE_TRIM(btrim, trim_end(trim_start(text, set), set))
DEFINE_TRIM(ltrim, trim_start(text, set))
DEFINE_TRIM(rtrim, trim_end(text, set))

// --- joining ---------------------------------------------------------------------------------

static inline struct weir_view join(struct weir_kernel *kernel, uint32_t row, struct weir_view a,
                                    struct weir_view b)
{
    (void)row;
    char *text = weir_kernel_text(kernel, a.size_bytes + b.size_bytes);
    memcpy(text, a.data, a.size_bytes);
    memcpy(text + a.size_bytes, b.data, b.size_bytes);
    return (struct weir_view){.data = text, .size_bytes = a.size_bytes + b.size_bytes};
}

WEIR_KERNEL_2(kernel_join, struct weir_view, struct weir_view, struct weir_view, join)

static struct weir_view arg_view(const struct weir_kernel *kernel, uint32_t i, uint32_t row)
{
    return kernel->args[i].column.view[row & kernel->args[i].row_mask];
}

// The arguments from `first` on that are not NULL, with the separator between them.
static struct weir_view join_all(struct weir_kernel *kernel, uint32_t row, uint32_t first,
                                 struct weir_view separator)
{
    size_t size_bytes = 0;
    for (uint32_t i = first; i < kernel->arg_count; i++) {
        if (weir_vector_is_valid(&kernel->args[i], row)) {
            size_bytes += arg_view(kernel, i, row).size_bytes + separator.size_bytes;
        }
    }
    char *text = weir_kernel_text(kernel, size_bytes);
    char *at = text;
    bool is_first = true;
    for (uint32_t i = first; i < kernel->arg_count; i++) {
        if (!weir_vector_is_valid(&kernel->args[i], row)) {
            continue;
        }
        if (!is_first) {
            memcpy(at, separator.data, separator.size_bytes);
            at += separator.size_bytes;
        }
        is_first = false;
        struct weir_view part = arg_view(kernel, i, row);
        memcpy(at, part.data, part.size_bytes);
        at += part.size_bytes;
    }
    weir_kernel_text_trim(kernel, at);
    return view_between(text, at);
}

static void kernel_concat(struct weir_kernel *kernel)
{
    struct weir_view none = {.data = "", .size_bytes = 0};
    WEIR_KERNEL_EACH(kernel, row, kernel->out->view[row] = join_all(kernel, row, 0, none));
}

static void concat_ws_row(struct weir_kernel *kernel, uint32_t row)
{
    if (!weir_vector_is_valid(&kernel->args[0], row)) {
        weir_kernel_set_null(kernel, row);
        return;
    }
    kernel->out->view[row] = join_all(kernel, row, 1, arg_view(kernel, 0, row));
}

static void kernel_concat_ws(struct weir_kernel *kernel)
{
    WEIR_KERNEL_EACH(kernel, row, concat_ws_row(kernel, row));
}

// --- table -----------------------------------------------------------------------------------

#define FUNCTION(the_name, type, the_kernel, the_flags, ...)                                       \
    WEIR_FUNCTION_ROW(the_name, WEIR_ARG_##type, the_kernel, NULL, the_flags, __VA_ARGS__)
#define TEXT WEIR_ARG_TEXT
#define BYTEA WEIR_ARG_BYTEA
#define INT WEIR_ARG_INTEGER
#define TRIM(the_name, the_kernel)                                                                 \
    FUNCTION(the_name, TEXT, the_kernel, 0, TEXT),                                                 \
        FUNCTION(the_name, TEXT, the_kernel##_set, 0, TEXT, TEXT),                                 \
        FUNCTION(the_name, BYTEA, NULL, 0, BYTEA, BYTEA)
#define SUBSTR(the_name)                                                                           \
    FUNCTION(the_name, TEXT, kernel_substr, 0, TEXT, INT),                                         \
        FUNCTION(the_name, TEXT, kernel_substr_length, 0, TEXT, INT, INT),                         \
        FUNCTION(the_name, BYTEA, kernel_substr_bytes, 0, BYTEA, INT),                             \
        FUNCTION(the_name, BYTEA, kernel_substr_bytes_length, 0, BYTEA, INT, INT)

static const struct weir_function FUNCTIONS[] = {
    FUNCTION("length", INTEGER, kernel_char_length, 0, TEXT),
    FUNCTION("length", INTEGER, kernel_octet_length, 0, BYTEA),
    FUNCTION("length", INTEGER, NULL, 0, WEIR_ARG_BIT),
    FUNCTION("length", DOUBLE, NULL, 0, WEIR_ARG_GEOMETRY),
    FUNCTION("char_length", INTEGER, kernel_char_length, 0, TEXT),
    FUNCTION("character_length", INTEGER, kernel_char_length, 0, TEXT),
    FUNCTION("octet_length", INTEGER, kernel_octet_length, 0, TEXT),
    FUNCTION("octet_length", INTEGER, kernel_octet_length, 0, WEIR_ARG_CHAR),
    FUNCTION("octet_length", INTEGER, kernel_octet_length, 0, BYTEA),
    FUNCTION("octet_length", INTEGER, NULL, 0, WEIR_ARG_BIT),
    FUNCTION("bit_length", INTEGER, kernel_bit_length, 0, TEXT),
    FUNCTION("bit_length", INTEGER, kernel_bit_length, 0, BYTEA),
    FUNCTION("bit_length", INTEGER, NULL, 0, WEIR_ARG_BIT),
    FUNCTION("ascii", INTEGER, kernel_ascii, 0, TEXT),
    FUNCTION("starts_with", BOOLEAN, kernel_starts_with, 0, TEXT, TEXT),
    FUNCTION("^@", BOOLEAN, kernel_starts_with, 0, TEXT, TEXT),
    FUNCTION("strpos", INTEGER, kernel_position, 0, TEXT, TEXT),
    // position(a IN b) is parsed as position(b, a).
    FUNCTION("position", INTEGER, kernel_position, 0, TEXT, TEXT),
    FUNCTION("position", INTEGER, kernel_position_bytes, 0, BYTEA, BYTEA),
    FUNCTION("position", INTEGER, NULL, 0, WEIR_ARG_BIT, WEIR_ARG_BIT),
    SUBSTR("substr"),
    SUBSTR("substring"),
    FUNCTION("substring", TEXT, NULL, 0, TEXT, TEXT), // by a regular expression
    FUNCTION("substring", TEXT, NULL, 0, TEXT, TEXT, TEXT),
    FUNCTION("substring", BIT, NULL, 0, WEIR_ARG_BIT, INT),
    FUNCTION("substring", BIT, NULL, 0, WEIR_ARG_BIT, INT, INT),
    FUNCTION("left", TEXT, kernel_left, 0, TEXT, INT),
    FUNCTION("right", TEXT, kernel_right, 0, TEXT, INT),
    FUNCTION("split_part", TEXT, kernel_split_part, 0, TEXT, TEXT, INT),
    TRIM("btrim", kernel_btrim),
    TRIM("ltrim", kernel_ltrim),
    TRIM("rtrim", kernel_rtrim),
    FUNCTION("||", TEXT, kernel_join, 0, TEXT, TEXT),
    FUNCTION("||", BYTEA, kernel_join, 0, BYTEA, BYTEA),
    FUNCTION("||", TEXT, kernel_join, 0, TEXT, WEIR_ARG_ANYNONARRAY),
    FUNCTION("||", TEXT, kernel_join, 0, WEIR_ARG_ANYNONARRAY, TEXT),
    FUNCTION("||", JSONB, NULL, 0, WEIR_ARG_JSONB, WEIR_ARG_JSONB),
    FUNCTION("concat", TEXT, kernel_concat, WEIR_FUNCTION_TAKES_NULL | WEIR_FUNCTION_VARIADIC,
             WEIR_ARG_ANY),
    FUNCTION("concat_ws", TEXT, kernel_concat_ws, WEIR_FUNCTION_TAKES_NULL | WEIR_FUNCTION_VARIADIC,
             TEXT, WEIR_ARG_ANY),
};

const struct weir_function_table weir_functions_text = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
