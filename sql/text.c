// SPDX-License-Identifier: Apache-2.0
// Places, excerpts and tokens of a job's text (text.h).
#include "sql/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    EXCERPT_BYTES_MAX = 160, // longer lines are cut
    EXCERPT_BEFORE_BYTES = 100,
};

static bool is_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

static bool is_word(char c)
{
    return is_word_start(c) || isdigit((unsigned char)c) || c == '$';
}

static bool is_continuation(char c)
{
    return (c & 0xc0) == 0x80;
}

static size_t skip_block_comment(const struct weir_sql_text *text, size_t offset)
{
    int depth = 0;
    while (offset < text->size_bytes) {
        if (strncmp(text->data + offset, "/*", 2) == 0) {
            depth++;
            offset += 2;
        } else if (strncmp(text->data + offset, "*/", 2) == 0) {
            offset += 2;
            if (--depth == 0) {
                break;
            }
        } else {
            offset++;
        }
    }
    return offset;
}

static size_t skip_blank(const struct weir_sql_text *text, size_t offset)
{
    while (offset < text->size_bytes) {
        const char *at = text->data + offset;
        if (isspace((unsigned char)*at)) {
            offset++;
        } else if (strncmp(at, "--", 2) == 0) {
            offset += strcspn(at, "\r\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            offset = skip_block_comment(text, offset);
        } else {
            break;
        }
    }
    return offset;
}

// Behind the closing quote. offset: that of the opening one.
static size_t skip_quoted(const struct weir_sql_text *text, size_t offset, bool has_escapes)
{
    char quote = text->data[offset++];
    while (offset < text->size_bytes) {
        char c = text->data[offset];
        if (c == '\\' && has_escapes && offset + 1 < text->size_bytes) {
            offset += 2;
        } else if (c != quote) {
            offset++;
        } else if (text->data[offset + 1] == quote) {
            offset += 2;
        } else {
            return offset + 1;
        }
    }
    return text->size_bytes;
}

// Behind the closing $tag$; 0: no dollar quote begins here.
static size_t skip_dollar_quoted(const struct weir_sql_text *text, size_t offset)
{
    size_t tag_end = offset + 1;
    while (is_word(text->data[tag_end]) && text->data[tag_end] != '$') {
        tag_end++;
    }
    if (text->data[tag_end] != '$' || isdigit((unsigned char)text->data[offset + 1])) {
        return 0;
    }
    size_t tag_bytes = tag_end + 1 - offset;
    const char *close = memmem(text->data + tag_end + 1, text->size_bytes - tag_end - 1,
                               text->data + offset, tag_bytes);
    return close == NULL ? text->size_bytes : (size_t)(close - text->data) + tag_bytes;
}

// Words, and the strings and identifiers that begin with a letter: E'…', U&"…".
static struct weir_sql_token word_at(const struct weir_sql_text *text, size_t offset)
{
    const char *at = text->data + offset;
    bool is_unicode = (at[0] | 0x20) == 'u' && at[1] == '&' && (at[2] == '\'' || at[2] == '"');
    bool is_prefixed = strchr("eEbBxXnN", at[0]) != NULL && at[1] == '\'';
    size_t end = offset;
    enum weir_sql_token_kind kind = WEIR_SQL_TOKEN_WORD;
    if (is_unicode || is_prefixed) {
        size_t quote = offset + (is_unicode ? 2 : 1);
        kind = text->data[quote] == '"' ? WEIR_SQL_TOKEN_QUOTED : WEIR_SQL_TOKEN_STRING;
        end = skip_quoted(text, quote, (at[0] | 0x20) == 'e');
    } else {
        while (end < text->size_bytes && is_word(text->data[end])) {
            end++;
        }
    }
    return (struct weir_sql_token){.kind = kind, .offset = offset, .size_bytes = end - offset};
}

static size_t skip_number(const struct weir_sql_text *text, size_t offset)
{
    while (isdigit((unsigned char)text->data[offset]) || text->data[offset] == '.') {
        offset++;
    }
    if ((text->data[offset] | 0x20) == 'e') {
        size_t digits =
            offset + 1 +
            (strchr("+-", text->data[offset + 1]) != NULL && text->data[offset + 1] != '\0');
        while (isdigit((unsigned char)text->data[digits])) {
            offset = ++digits;
        }
    }
    return offset;
}

struct weir_sql_token weir_sql_token_at(const struct weir_sql_text *text, size_t offset)
{
    offset = skip_blank(text, offset);
    struct weir_sql_token token = {.kind = WEIR_SQL_TOKEN_OTHER, .offset = offset, .size_bytes = 1};
    if (offset >= text->size_bytes) {
        token = (struct weir_sql_token){.kind = WEIR_SQL_TOKEN_END, .offset = text->size_bytes};
        return token;
    }
    char c = text->data[offset];
    size_t end = offset + 1;
    if (is_word_start(c)) {
        return word_at(text, offset);
    }
    if (c == '"') {
        token.kind = WEIR_SQL_TOKEN_QUOTED;
        end = skip_quoted(text, offset, false);
    } else if (c == '\'') {
        token.kind = WEIR_SQL_TOKEN_STRING;
        end = skip_quoted(text, offset, false);
    } else if (isdigit((unsigned char)c) ||
               (c == '.' && isdigit((unsigned char)text->data[offset + 1]))) {
        token.kind = WEIR_SQL_TOKEN_NUMBER;
        end = skip_number(text, offset);
    } else if (c == '$') {
        size_t quoted_end = skip_dollar_quoted(text, offset);
        if (quoted_end != 0) {
            token.kind = WEIR_SQL_TOKEN_STRING;
            end = quoted_end;
        }
    }
    token.size_bytes = end - offset;
    return token;
}

bool weir_sql_token_is(const struct weir_sql_text *text, const struct weir_sql_token *token,
                       const char *word)
{
    return token->kind == WEIR_SQL_TOKEN_WORD && token->size_bytes == strlen(word) &&
           strncasecmp(text->data + token->offset, word, token->size_bytes) == 0;
}

int32_t weir_sql_keyword_before(const struct weir_sql_text *text, size_t from, size_t to,
                                const char *keyword)
{
    int32_t found = -1;
    struct weir_sql_token token = weir_sql_token_at(text, from);
    while (token.kind != WEIR_SQL_TOKEN_END && token.offset < to) {
        if (weir_sql_token_is(text, &token, keyword)) {
            found = (int32_t)token.offset;
        }
        token = weir_sql_token_at(text, weir_sql_token_end(&token));
    }
    return found;
}

int32_t weir_sql_keyword_after(const struct weir_sql_text *text, size_t from, const char *keyword)
{
    struct weir_sql_token token = weir_sql_token_at(text, from);
    while (token.kind != WEIR_SQL_TOKEN_END && text->data[token.offset] != ';') {
        if (weir_sql_token_is(text, &token, keyword)) {
            return (int32_t)token.offset;
        }
        token = weir_sql_token_at(text, weir_sql_token_end(&token));
    }
    return -1;
}

static size_t line_start(const struct weir_sql_text *text, size_t offset)
{
    while (offset > 0 && text->data[offset - 1] != '\n') {
        offset--;
    }
    return offset;
}

void weir_sql_text_place(const struct weir_sql_text *text, size_t offset, int32_t *line_number,
                         int32_t *column_number)
{
    *line_number = 1;
    *column_number = 1;
    for (size_t i = 0; i < offset && i < text->size_bytes; i++) {
        if (text->data[i] == '\n') {
            *line_number += 1;
            *column_number = 1;
        } else if (!is_continuation(text->data[i + 1])) {
            *column_number += 1;
        }
    }
}

size_t weir_sql_text_offset(const struct weir_sql_text *text, size_t character_idx)
{
    size_t offset = 0;
    for (; character_idx > 0 && offset < text->size_bytes; character_idx--) {
        do {
            offset++;
        } while (offset < text->size_bytes && is_continuation(text->data[offset]));
    }
    return offset;
}

void weir_sql_text_excerpt(const struct weir_sql_text *text, size_t offset, struct weir_buffer *out)
{
    size_t start = line_start(text, offset);
    size_t end = start + strcspn(text->data + start, "\r\n");
    if (end - start > EXCERPT_BYTES_MAX) {
        if (offset - start > EXCERPT_BEFORE_BYTES) {
            start = offset - EXCERPT_BEFORE_BYTES;
        }
        if (end - start > EXCERPT_BYTES_MAX) {
            end = start + EXCERPT_BYTES_MAX;
        }
        while (is_continuation(text->data[start])) {
            start++;
        }
        while (end > offset && is_continuation(text->data[end])) {
            end--;
        }
    }
    weir_buffer_append(out, "  ", 2);
    weir_buffer_append(out, text->data + start, end - start);
    weir_buffer_append(out, "\n  ", 3);
    for (size_t i = start; i < offset; i++) {
        if (!is_continuation(text->data[i])) {
            weir_buffer_append_char(out, text->data[i] == '\t' ? '\t' : ' ');
        }
    }
    weir_buffer_append(out, "^\n", 2);
}
