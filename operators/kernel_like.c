// SPDX-License-Identifier: Apache-2.0
// LIKE, ILIKE and their negations, and like_escape() for ESCAPE. % is any text, _ any one
// character, \ takes the next byte as it is. Constant patterns of the forms x, x%, %x, %x% are
// searched for as plain bytes. Regular expressions are not here. Thread: the task's.
//
// Invariant: a pattern that ends in a lone escape fails exactly where PostgreSQL notices it: when
// the match arrives there with text left, or behind a %.
#include "operators/function.h"
#include "operators/text.h"
#include "operators/utf8.h"

enum verdict { MISMATCH, MATCH, BAD_PATTERN };

#define BAD_PATTERN_TEXT "LIKE pattern must not end with escape character"

static const char *next_character(const char *at, const char *end, bool is_bytes)
{
    return is_bytes ? at + 1 : weir_utf8_next(at, end);
}

// Greedy with one point of return: a later % makes earlier ones need no second try.
static enum verdict match(struct weir_view text, struct weir_view pattern, bool is_bytes)
{
    const char *t = text.data;
    const char *const t_end = text.data + text.size_bytes;
    const char *p = pattern.data;
    const char *const p_end = pattern.data + pattern.size_bytes;
    const char *retry_t = NULL; // where what follows the last % was tried, and that
    const char *retry_p = NULL;
    while (t < t_end) {
        if (p < p_end && *p == '%') {
            for (; p < p_end && (*p == '%' || *p == '_'); p++) {
                if (*p == '_') {
                    if (t == t_end) {
                        return MISMATCH;
                    }
                    t = next_character(t, t_end, is_bytes);
                }
            }
            if (p == p_end) {
                return MATCH;
            }
            if (*p == '\\' && p + 1 == p_end) {
                return BAD_PATTERN;
            }
            if (t == t_end) {
                return MISMATCH;
            }
            retry_t = t;
            retry_p = p;
        }
        if (p < p_end && *p == '_') {
            t = next_character(t, t_end, is_bytes);
            p++;
            continue;
        }
        if (p < p_end) {
            bool is_escaped = *p == '\\';
            if (is_escaped && p + 1 == p_end) {
                return BAD_PATTERN;
            }
            if (p[is_escaped] == *t) {
                p += 1 + is_escaped;
                t++;
                continue;
            }
        }
        if (retry_t == NULL) {
            return MISMATCH;
        }
        retry_t = next_character(retry_t, t_end, is_bytes);
        if (retry_t == t_end) {
            return MISMATCH;
        }
        t = retry_t;
        p = retry_p;
    }
    while (p < p_end && *p == '%') {
        p++;
    }
    return p == p_end ? MATCH : MISMATCH;
}

// --- constant patterns -----------------------------------------------------------------------

enum shape { SHAPE_GENERAL, SHAPE_EQUAL, SHAPE_PREFIX, SHAPE_SUFFIX, SHAPE_CONTAINS };

// The shape of a pattern, and its bytes without wildcards and escapes.
static enum shape shape_of(struct weir_kernel *kernel, struct weir_view pattern,
                           struct weir_view *literal)
{
    const char *p = pattern.data;
    const char *end = p + pattern.size_bytes;
    bool is_open_left = p < end && *p == '%';
    while (p < end && *p == '%') {
        p++;
    }
    char *text = weir_arena_alloc(kernel->arena, pattern.size_bytes);
    size_t size_bytes = 0;
    for (; p < end && *p != '%' && *p != '_'; p++) {
        if (*p == '\\' && ++p == end) {
            return SHAPE_GENERAL;
        }
        text[size_bytes++] = *p;
    }
    bool is_open_right = p < end && *p == '%';
    while (p < end && *p == '%') {
        p++;
    }
    *literal = (struct weir_view){.data = text, .size_bytes = size_bytes};
    if (p < end) {
        return SHAPE_GENERAL;
    }
    if (is_open_left) {
        return is_open_right || size_bytes == 0 ? SHAPE_CONTAINS : SHAPE_SUFFIX;
    }
    return is_open_right ? SHAPE_PREFIX : SHAPE_EQUAL;
}

static inline bool match_shape(enum shape shape, struct weir_view text, struct weir_view literal)
{
    switch (shape) {
    case SHAPE_EQUAL:
        return weir_view_equal(text, literal);
    case SHAPE_PREFIX:
        return text.size_bytes >= literal.size_bytes &&
               memcmp(text.data, literal.data, literal.size_bytes) == 0;
    case SHAPE_SUFFIX:
        return text.size_bytes >= literal.size_bytes &&
               memcmp(text.data + text.size_bytes - literal.size_bytes, literal.data,
                      literal.size_bytes) == 0;
    case SHAPE_CONTAINS:
        return literal.size_bytes == 0 ||
               memmem(text.data, text.size_bytes, literal.data, literal.size_bytes) != NULL;
    case SHAPE_GENERAL:
        break;
    }
    return false;
}

// --- kernels ---------------------------------------------------------------------------------

struct like {
    bool is_negated;
    bool ignores_case;
    bool is_bytes;
};

static void like_row(struct weir_kernel *kernel, uint32_t row, const struct like *like,
                     struct weir_view text, struct weir_view pattern)
{
    if (like->ignores_case) {
        text = weir_text_lower(kernel, text);
        pattern = weir_text_lower(kernel, pattern);
    }
    enum verdict verdict = match(text, pattern, like->is_bytes);
    if (verdict == BAD_PATTERN) {
        weir_kernel_fail(kernel, row, BAD_PATTERN_TEXT);
    }
    kernel->out->u8[row] = (verdict == MATCH) != like->is_negated;
}

static void like_all(struct weir_kernel *kernel, const struct like *like)
{
    const struct weir_view *texts = kernel->args[0].column.view;
    const struct weir_view *patterns = kernel->args[1].column.view;
    uint32_t text_mask = kernel->args[0].row_mask;
    uint32_t pattern_mask = kernel->args[1].row_mask;
    uint8_t *out = kernel->out->u8;
    struct weir_view literal;
    enum shape shape = SHAPE_GENERAL;
    if (pattern_mask == 0 && !like->ignores_case) {
        shape = shape_of(kernel, patterns[0], &literal);
    }
    if (shape != SHAPE_GENERAL) {
        WEIR_KERNEL_EACH(kernel, row,
                         out[row] = match_shape(shape, texts[row & text_mask], literal) !=
                                    like->is_negated);
        return;
    }
    WEIR_KERNEL_EACH(
        kernel, row,
        like_row(kernel, row, like, texts[row & text_mask], patterns[row & pattern_mask]));
}

static void kernel_like(struct weir_kernel *kernel)
{
    like_all(kernel, &(struct like){.is_negated = false});
}

static void kernel_not_like(struct weir_kernel *kernel)
{
    like_all(kernel, &(struct like){.is_negated = true});
}

static void kernel_ilike(struct weir_kernel *kernel)
{
    like_all(kernel, &(struct like){.ignores_case = true});
}

static void kernel_not_ilike(struct weir_kernel *kernel)
{
    like_all(kernel, &(struct like){.ignores_case = true, .is_negated = true});
}

static void kernel_like_bytes(struct weir_kernel *kernel)
{
    like_all(kernel, &(struct like){.is_bytes = true});
}

static void kernel_not_like_bytes(struct weir_kernel *kernel)
{
    like_all(kernel, &(struct like){.is_bytes = true, .is_negated = true});
}

// --- ESCAPE ----------------------------------------------------------------------------------

// The pattern with \ in place of the given escape. An empty one: no escapes at all.
static struct weir_view like_escape(struct weir_kernel *kernel, uint32_t row,
                                    struct weir_view pattern, struct weir_view escape)
{
    const char *escape_end = escape.data + escape.size_bytes;
    if (escape.size_bytes != 0 && weir_utf8_next(escape.data, escape_end) != escape_end) {
        weir_kernel_fail(kernel, row, "invalid escape string");
        return pattern;
    }
    if (weir_view_equal(escape, weir_view_of("\\"))) {
        return pattern;
    }
    const char *end = pattern.data + pattern.size_bytes;
    char *text = weir_kernel_text(kernel, 2 * pattern.size_bytes);
    char *out = text;
    bool is_escaped = false;
    for (const char *at = pattern.data; at < end;) {
        const char *next = weir_utf8_next(at, end);
        struct weir_view character = {.data = at, .size_bytes = (size_t)(next - at)};
        at = next;
        if (!is_escaped && escape.size_bytes != 0 && weir_view_equal(character, escape)) {
            *out++ = '\\';
            is_escaped = true;
            continue;
        }
        if (!is_escaped && character.data[0] == '\\') {
            *out++ = '\\'; // has no meaning here
        }
        memcpy(out, character.data, character.size_bytes);
        out += character.size_bytes;
        is_escaped = false;
    }
    weir_kernel_text_trim(kernel, out);
    return (struct weir_view){.data = text, .size_bytes = (size_t)(out - text)};
}

WEIR_KERNEL_2(kernel_like_escape, struct weir_view, struct weir_view, struct weir_view, like_escape)

// --- table -----------------------------------------------------------------------------------

#define ROW(the_name, type, result_type, the_kernel)                                               \
    {                                                                                              \
        .name = the_name, .arg_count = 2, .args = {WEIR_ARG_##type, WEIR_ARG_##type},              \
        .result = WEIR_ARG_##result_type, .kernel = the_kernel                                     \
    }

// char(n) with its blanks, where other functions take it without.
#define CHAR_ROW(the_name, the_kernel)                                                             \
    {                                                                                              \
        .name = the_name, .arg_count = 2, .args = {WEIR_ARG_CHAR, WEIR_ARG_TEXT},                  \
        .result = WEIR_ARG_BOOLEAN, .kernel = the_kernel                                           \
    }

static const struct weir_function FUNCTIONS[] = {
    CHAR_ROW("~~", kernel_like),
    CHAR_ROW("!~~", kernel_not_like),
    CHAR_ROW("~~*", kernel_ilike),
    CHAR_ROW("!~~*", kernel_not_ilike),
    ROW("~~", TEXT, BOOLEAN, kernel_like),
    ROW("~~", BYTEA, BOOLEAN, kernel_like_bytes),
    ROW("!~~", TEXT, BOOLEAN, kernel_not_like),
    ROW("!~~", BYTEA, BOOLEAN, kernel_not_like_bytes),
    ROW("~~*", TEXT, BOOLEAN, kernel_ilike),
    ROW("!~~*", TEXT, BOOLEAN, kernel_not_ilike),
    ROW("like", TEXT, BOOLEAN, kernel_like),
    ROW("like", BYTEA, BOOLEAN, kernel_like_bytes),
    ROW("notlike", TEXT, BOOLEAN, kernel_not_like),
    ROW("notlike", BYTEA, BOOLEAN, kernel_not_like_bytes),
    ROW("like_escape", TEXT, TEXT, kernel_like_escape),
    ROW("like_escape", BYTEA, BYTEA, NULL),
    ROW("~", TEXT, BOOLEAN, NULL),
    ROW("!~", TEXT, BOOLEAN, NULL),
    ROW("~*", TEXT, BOOLEAN, NULL),
    ROW("!~*", TEXT, BOOLEAN, NULL),
};

const struct weir_function_table weir_functions_like = {
    .functions = FUNCTIONS, .count = sizeof FUNCTIONS / sizeof FUNCTIONS[0]};
