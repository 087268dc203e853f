// SPDX-License-Identifier: Apache-2.0
// Order and hash of jsonb in its canonical text (jsonb.h), without building a tree. PostgreSQL's
// order: object > array > boolean > number > string > null; more members before members; a value
// that stands alone counts as an array of one that is smaller than a real one. (So an empty array
// is smaller than any scalar, which looks like an accident but is what is stored in indexes.)
#include "runtime/base/assert.h"
#include "runtime/types/digits.h"
#include "runtime/types/hash.h"
#include "runtime/types/jsonb.h"

enum rank { RANK_NULL, RANK_STRING, RANK_NUMBER, RANK_BOOLEAN, RANK_ARRAY, RANK_OBJECT };

static enum rank rank_of(char first)
{
    switch (first) {
    case 'n':
        return RANK_NULL;
    case '"':
        return RANK_STRING;
    case 't':
    case 'f':
        return RANK_BOOLEAN;
    case '[':
        return RANK_ARRAY;
    case '{':
        return RANK_OBJECT;
    default:
        return RANK_NUMBER;
    }
}

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

// Behind the closing quote of the string at `at`.
static const char *skip_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
    }
    return at + 1;
}

// Members of the array or object at `at`.
static int64_t member_count(const char *at)
{
    if (at[1] == ']' || at[1] == '}') {
        return 0;
    }
    int64_t count = 1;
    int64_t depth = 0;
    do {
        switch (*at) {
        case '"':
            at = skip_string(at);
            continue;
        case '[':
        case '{':
            depth++;
            break;
        case ']':
        case '}':
            depth--;
            break;
        case ',':
            count += depth == 1;
            break;
        default:
            break;
        }
        at++;
    } while (depth > 0);
    return count;
}

// --- scalars ---------------------------------------------------------------------------------

static uint8_t hex_of(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

// The next byte of a string's text, its escape undone.
static uint8_t next_byte(const char **at)
{
    const char *p = *at;
    if (*p != '\\') {
        *at = p + 1;
        return (uint8_t)*p;
    }
    *at = p + 2;
    switch (p[1]) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'u': // only control characters are left in this form
        *at = p + 6;
        return (uint8_t)(hex_of(p[4]) << 4 | hex_of(p[5]));
    default:
        return (uint8_t)p[1];
    }
}

static int compare_strings(const char **a, const char **b)
{
    ++*a;
    ++*b;
    while (**a != '"' && **b != '"') {
        uint8_t byte_a = next_byte(a);
        uint8_t byte_b = next_byte(b);
        if (byte_a != byte_b) {
            return byte_a < byte_b ? -1 : 1;
        }
    }
    int order = order_of(**a != '"', **b != '"');
    ++*a;
    ++*b;
    return order;
}

struct decimal {
    bool is_negative;
    struct weir_view whole;    // without sign
    struct weir_view fraction; // without zeros at its end
};

static struct decimal scan_decimal(const char **at, const char *end)
{
    struct decimal decimal = {.is_negative = **at == '-'};
    const char *p = *at + decimal.is_negative;
    decimal.whole.data = p;
    while (p < end && weir_is_digit(*p)) {
        p++;
    }
    decimal.whole.size_bytes = (size_t)(p - decimal.whole.data);
    decimal.fraction.data = p;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        const char *last = fraction; // behind the last digit that is not 0
        for (; p < end && weir_is_digit(*p); p++) {
            last = *p != '0' ? p + 1 : last;
        }
        decimal.fraction = (struct weir_view){fraction, (size_t)(last - fraction)};
    }
    *at = p;
    return decimal;
}

static int compare_magnitudes(const struct decimal *a, const struct decimal *b)
{
    if (a->whole.size_bytes != b->whole.size_bytes) {
        return order_of((int64_t)a->whole.size_bytes, (int64_t)b->whole.size_bytes);
    }
    int order = memcmp(a->whole.data, b->whole.data, a->whole.size_bytes);
    if (order == 0) {
        size_t common = a->fraction.size_bytes < b->fraction.size_bytes ? a->fraction.size_bytes
                                                                        : b->fraction.size_bytes;
        order = memcmp(a->fraction.data, b->fraction.data, common);
    }
    if (order == 0) {
        return order_of((int64_t)a->fraction.size_bytes, (int64_t)b->fraction.size_bytes);
    }
    return order < 0 ? -1 : 1;
}

// --- values ----------------------------------------------------------------------------------

struct pair_of_texts {
    const char *a;
    const char *b;
    const char *end_a;
    const char *end_b;
};

static int compare_at(struct pair_of_texts *texts);

static int compare_numbers(struct pair_of_texts *texts)
{
    struct decimal a = scan_decimal(&texts->a, texts->end_a);
    struct decimal b = scan_decimal(&texts->b, texts->end_b);
    if (a.is_negative != b.is_negative) {
        return a.is_negative ? -1 : 1;
    }
    int order = compare_magnitudes(&a, &b);
    return a.is_negative ? -order : order;
}

static int compare_booleans(struct pair_of_texts *texts)
{
    bool is_true_a = *texts->a == 't';
    bool is_true_b = *texts->b == 't';
    texts->a += is_true_a ? 4 : 5;
    texts->b += is_true_b ? 4 : 5;
    return order_of(is_true_a, is_true_b);
}

// Both arrays or both objects.
static int compare_containers(struct pair_of_texts *texts, bool is_object)
{
    int64_t count = member_count(texts->a);
    int order = order_of(count, member_count(texts->b));
    texts->a++;
    texts->b++;
    for (int64_t i = 0; order == 0 && i < count; i++) {
        if (i != 0) {
            texts->a += 2; // ", "
            texts->b += 2;
        }
        if (is_object) {
            order = compare_strings(&texts->a, &texts->b);
            texts->a += 2; // ": "
            texts->b += 2;
        }
        if (order == 0) {
            order = compare_at(texts);
        }
    }
    texts->a++;
    texts->b++;
    return order;
}

// Equal: both places move behind the value.
static int compare_at(struct pair_of_texts *texts)
{
    enum rank rank = rank_of(*texts->a);
    enum rank rank_b = rank_of(*texts->b);
    if (rank != rank_b) {
        return rank < rank_b ? -1 : 1;
    }
    switch (rank) {
    case RANK_NULL:
        texts->a += 4;
        texts->b += 4;
        return 0;
    case RANK_STRING:
        return compare_strings(&texts->a, &texts->b);
    case RANK_NUMBER:
        return compare_numbers(texts);
    case RANK_BOOLEAN:
        return compare_booleans(texts);
    case RANK_ARRAY:
    case RANK_OBJECT:
        break;
    }
    return compare_containers(texts, rank == RANK_OBJECT);
}

int weir_jsonb_compare(struct weir_view a, struct weir_view b)
{
    WEIR_DASSERT(a.size_bytes > 0 && b.size_bytes > 0);
    if (weir_view_equal(a, b)) {
        return 0;
    }
    enum rank rank_a = rank_of(a.data[0]);
    enum rank rank_b = rank_of(b.data[0]);
    bool is_scalar_a = rank_a < RANK_ARRAY;
    bool is_scalar_b = rank_b < RANK_ARRAY;
    if (is_scalar_a != is_scalar_b && rank_a != RANK_OBJECT && rank_b != RANK_OBJECT) {
        int64_t count_a = is_scalar_a ? 1 : member_count(a.data);
        int64_t count_b = is_scalar_b ? 1 : member_count(b.data);
        if (count_a != count_b) {
            return count_a < count_b ? -1 : 1;
        }
        return is_scalar_a ? -1 : 1;
    }
    struct pair_of_texts texts = {
        .a = a.data,
        .b = b.data,
        .end_a = a.data + a.size_bytes,
        .end_b = b.data + b.size_bytes,
    };
    return compare_at(&texts);
}

// The text is hashed in pieces that end behind each number, its last zeros left out.
uint64_t weir_jsonb_hash(struct weir_view value)
{
    uint64_t hash = WEIR_HASH_START;
    const char *at = value.data;
    const char *end = value.data + value.size_bytes;
    const char *piece = at;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '-' || weir_is_digit(*at)) {
            struct decimal decimal = scan_decimal(&at, end);
            const char *last = decimal.fraction.size_bytes != 0
                                   ? decimal.fraction.data + decimal.fraction.size_bytes
                                   : decimal.whole.data + decimal.whole.size_bytes;
            hash = weir_hash_combine(hash, weir_hash_bytes(piece, (size_t)(last - piece)));
            piece = at;
        } else {
            at++;
        }
    }
    return weir_hash_combine(hash, weir_hash_bytes(piece, (size_t)(end - piece)));
}
