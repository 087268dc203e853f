// SPDX-License-Identifier: Apache-2.0
// The text of a job as something to point at: offsets in bytes become lines and columns (in
// characters, both from 1) and excerpts with a caret; a small scanner finds the keyword or the
// value that the parse tree gives no place for. Knows PostgreSQL's lexical rules (comments, quotes,
// dollar quotes), not its grammar. Thread: any; nothing is kept.
#ifndef WEIR_SQL_TEXT_H
#define WEIR_SQL_TEXT_H

#include "runtime/base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_sql_text {
    const char *data; // with NUL behind the last byte
    size_t size_bytes;
};

enum weir_sql_token_kind {
    WEIR_SQL_TOKEN_END,
    WEIR_SQL_TOKEN_WORD,   // keyword or identifier without quotes
    WEIR_SQL_TOKEN_QUOTED, // identifier in double quotes
    WEIR_SQL_TOKEN_STRING,
    WEIR_SQL_TOKEN_NUMBER,
    WEIR_SQL_TOKEN_OTHER, // one character
};

struct weir_sql_token {
    enum weir_sql_token_kind kind;
    size_t offset;
    size_t size_bytes;
};

// The token at or behind offset; comments and white space are passed over. Its end is where the
// next one is looked for. Unterminated quotes and comments end with the text.
struct weir_sql_token weir_sql_token_at(const struct weir_sql_text *text, size_t offset);

static inline size_t weir_sql_token_end(const struct weir_sql_token *token)
{
    return token->offset + token->size_bytes;
}

// Whether the token is this word without quotes, in any case.
bool weir_sql_token_is(const struct weir_sql_text *text, const struct weir_sql_token *token,
                       const char *word);

// The last place of a keyword in [from, to); -1: none.
int32_t weir_sql_keyword_before(const struct weir_sql_text *text, size_t from, size_t to,
                                const char *keyword);
// The first place of a keyword at or behind `from` and before the end of the statement.
int32_t weir_sql_keyword_after(const struct weir_sql_text *text, size_t from, const char *keyword);

void weir_sql_text_place(const struct weir_sql_text *text, size_t offset, int32_t *line_number,
                         int32_t *column_number);
// Byte offset of the character with this number, from 0.
size_t weir_sql_text_offset(const struct weir_sql_text *text, size_t character_idx);

// The line of offset and below it a caret, each indented by two blanks and ended by a newline; long
// lines are cut around the caret.
void weir_sql_text_excerpt(const struct weir_sql_text *text, size_t offset,
                           struct weir_buffer *out);

#endif
