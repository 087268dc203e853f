// SPDX-License-Identifier: Apache-2.0
// See secret.h.
#include "app/secret.h"

#include <ctype.h>
#include <string.h>

enum { SECRET_BYTES_MIN = 4 };

// Compared with '.', '_' and '-' as one, so that variables, properties and options meet.
static const char *const secret_words[] = {
    "password",    "passwd",      "passphrase",         "secret",    "token", "credential",
    "private.key", "ssl.key.pem", "oauthbearer.config", "assertion",
};

static char folded(char c)
{
    return c == '_' || c == '-' ? '.' : (char)tolower((unsigned char)c);
}

static bool contains_folded(const char *name, const char *word)
{
    size_t word_bytes = strlen(word);
    size_t name_bytes = strlen(name);
    for (size_t at = 0; at + word_bytes <= name_bytes; at++) {
        size_t i = 0;
        while (i < word_bytes && folded(name[at + i]) == word[i]) {
            i++;
        }
        if (i == word_bytes) {
            return true;
        }
    }
    return false;
}

bool weir_name_is_secret(const char *name)
{
    for (size_t i = 0; i < sizeof secret_words / sizeof secret_words[0]; i++) {
        if (contains_folded(name, secret_words[i])) {
            return true;
        }
    }
    return false;
}

void weir_secrets_init(struct weir_secrets *secrets, struct weir_arena *arena)
{
    *secrets = (struct weir_secrets){.arena = arena};
}

static void add_view(struct weir_secrets *secrets, const char *text, size_t size_bytes)
{
    if (size_bytes == 0) {
        return;
    }
    if (secrets->count == secrets->capacity) {
        uint32_t capacity = secrets->capacity != 0 ? secrets->capacity * 2 : 8;
        secrets->texts =
            weir_arena_realloc(secrets->arena, secrets->texts, secrets->capacity * sizeof(char *),
                               capacity * sizeof(char *));
        secrets->capacity = capacity;
    }
    secrets->texts[secrets->count++] =
        weir_arena_printf(secrets->arena, "%.*s", (int)size_bytes, text);
}

void weir_secrets_add(struct weir_secrets *secrets, const char *text)
{
    add_view(secrets, text, strlen(text));
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void add_percent_decoded(struct weir_secrets *secrets, const char *text, size_t size_bytes)
{
    char *decoded = weir_arena_alloc(secrets->arena, size_bytes + 1);
    size_t used = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        int high = text[i] == '%' && i + 2 < size_bytes ? hex_digit(text[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low >= 0) {
            decoded[used++] = (char)(high * 16 + low);
            i += 2;
        } else {
            decoded[used++] = text[i];
        }
    }
    add_view(secrets, decoded, used);
}

// --- secrets inside a text --------------------------------------------------------------------

typedef void visit_secret_fn(void *context, const char *begin, size_t size_bytes);

// `authority` is what follows "://".
static void visit_credentials(const char *authority, visit_secret_fn *visit, void *context)
{
    size_t size = strcspn(authority, "/?#'\" \t\r\n");
    // The last '@': one inside a password would else leave the password's rest.
    const char *at = memrchr(authority, '@', size);
    if (at == NULL) {
        return;
    }
    const char *colon = memchr(authority, ':', (size_t)(at - authority));
    visit(context, authority, (size_t)(at - authority));
    if (colon != NULL) {
        visit(context, colon + 1, (size_t)(at - colon - 1));
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

// `word` is the beginning of a word in a text: "name = 'value'", also with the name in quotes.
static void visit_assigned(const char *word, size_t word_bytes, visit_secret_fn *visit,
                           void *context)
{
    char name[128];
    if (word_bytes >= sizeof name) {
        return;
    }
    memcpy(name, word, word_bytes);
    name[word_bytes] = '\0';
    if (!weir_name_is_secret(name)) {
        return;
    }
    const char *at = word + word_bytes;
    at += strspn(at, "'\" \t\r\n");
    if (*at != '=' && *at != ':') {
        return;
    }
    at++;
    at += strspn(at, " \t\r\nEe");
    char quote = *at;
    if (quote != '\'' && quote != '"') {
        return;
    }
    const char *begin = ++at;
    // A doubled quote stands for one: each side of it is a secret by itself.
    const char *end = strchr(begin, quote);
    while (end != NULL && end[1] == quote) {
        visit(context, begin, (size_t)(end - begin));
        begin = end + 2;
        end = strchr(begin, quote);
    }
    visit(context, begin, end != NULL ? (size_t)(end - begin) : strlen(begin));
}

static void visit_secrets(const char *text, visit_secret_fn *visit, void *context)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (strncmp(at, "://", 3) == 0) {
            visit_credentials(at + 3, visit, context);
        }
        if (is_word(*at) && (at == text || !is_word(at[-1]))) {
            size_t size = 1;
            while (is_word(at[size])) {
                size++;
            }
            visit_assigned(at, size, visit, context);
        }
    }
}

static void add_found(void *context, const char *begin, size_t size_bytes)
{
    add_view(context, begin, size_bytes);
    if (memchr(begin, '%', size_bytes) != NULL) {
        add_percent_decoded(context, begin, size_bytes);
    }
}

void weir_secrets_add_from_text(struct weir_secrets *secrets, const char *text)
{
    visit_secrets(text, add_found, secrets);
}

struct marks {
    const char *text;
    bool *is_secret; // one a byte
};

static void mark_found(void *context, const char *begin, size_t size_bytes)
{
    struct marks *marks = context;
    memset(marks->is_secret + (begin - marks->text), true, size_bytes);
}

const char *weir_text_blank_secrets(struct weir_arena *arena, const char *text)
{
    size_t size = strlen(text);
    struct marks marks = {.text = text, .is_secret = weir_arena_alloc_zero(arena, size + 1)};
    visit_secrets(text, mark_found, &marks);
    char *blanked = weir_arena_alloc(arena, size + 1);
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        if (!marks.is_secret[i]) {
            blanked[used++] = text[i];
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            blanked[used++] = text[i] == '\n' ? '\n' : '*'; // one a character: columns stay
        }
    }
    blanked[used] = '\0';
    return blanked;
}

void weir_secrets_mask(const struct weir_secrets *secrets, const char *text,
                       struct weir_buffer *out)
{
    const char *at = text;
    while (*at != '\0') {
        size_t longest = 0; // one secret may begin with another
        for (uint32_t i = 0; i < secrets->count; i++) {
            size_t size = strlen(secrets->texts[i]);
            if (size >= SECRET_BYTES_MIN && size > longest &&
                strncmp(at, secrets->texts[i], size) == 0) {
                longest = size;
            }
        }
        if (longest != 0) {
            weir_buffer_append(out, WEIR_SECRET_MASK, strlen(WEIR_SECRET_MASK));
            at += longest;
        } else {
            weir_buffer_append_char(out, *at);
            at++;
        }
    }
}

void weir_append_escaped(struct weir_buffer *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '\n') {
            weir_buffer_append(out, "\\n", 2);
        } else if (c < 0x20 || c == 0x7f) {
            weir_buffer_printf(out, "\\x%02x", c);
        } else {
            weir_buffer_append_char(out, (char)c);
        }
    }
}
