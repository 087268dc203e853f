// SPDX-License-Identifier: Apache-2.0
// See json_scan.h. Every function takes the place it starts at and returns the one behind what it
// has read, NULL where the text is wrong (fail() has noted why). `p` never passes `end`, and no
// byte at or behind `end` is looked at: values lie in the client's buffers, next to other records.
// Recursion goes as deep as the composite types of the schema do; what is skipped is read in a
// loop with one bit for each open container, so that no text can exhaust the stack.
#include "kafka/json_scan.h"

#include "kafka/json_string.h"
#include "runtime/base/assert.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
// What the compiler would share between its callers: shared, it costs 6 % of a decoded record.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static const char *fail(struct weir_json_scanner *scanner, const char *place, const char *error)
{
    scanner->error = error;
    scanner->error_place = place;
    return NULL;
}

static inline uint32_t load_u32(const char *data)
{
    uint32_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

static inline const char *skip_space(const char *p, const char *end)
{
    while (p < end && UNLIKELY((uint8_t)*p <= ' ') &&
           (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
        p++;
    }
    return p;
}

static inline bool is_digit(char c)
{
    return (uint8_t)(c - '0') <= 9;
}

// Behind the opening quote of a string; returns the place of the closing one.
ALWAYS_INLINE const char *scan_string(struct weir_json_scanner *scanner, const char *p,
                                      bool *is_plain)
{
    struct weir_json_string string = {
        .begin = scanner->begin, .p = p, .end = scanner->end, .is_plain = true};
    if (UNLIKELY(!weir_json_string_scan(&string))) {
        return fail(scanner, string.p, string.error);
    }
    *is_plain = string.is_plain;
    return string.p;
}

// --- numbers and words -----------------------------------------------------------------------

// Behind at least one digit, or NULL.
static const char *scan_digits(struct weir_json_scanner *scanner, const char *p)
{
    const char *start = p;
    while (p < scanner->end && is_digit(*p)) {
        p++;
    }
    return p != start ? p : fail(scanner, p, "a digit is missing in the number");
}

// The digits at p, where there is one, up to eight in one step: texts of different lengths would
// have the processor guess the end of a loop anew each time. After Johnny Lee's "Fast numeric
// string to int", in the form that fast_float has: neighbours are added up to pairs, then the four
// pairs, each by its weight, to the eight.
ALWAYS_INLINE const char *scan_integer(const char *p, const char *end, uint64_t *value)
{
    *value = 0;
    if (LIKELY(end - p >= 8)) {
        const uint64_t ones = UINT64_C(0x0101010101010101);
        uint64_t digits = weir_json_load_u64(p) ^ (ones * '0');
        // The lowest marked byte is the first that is no digit; those above may be marked wrongly.
        uint64_t others = ((digits + ones * 6) | digits) & (ones * 0xf0);
        uint32_t digit_count = others != 0 ? (uint32_t)__builtin_ctzll(others) / 8 : 8;
        digits <<= 64 - 8 * digit_count; // zeros in front
        digits = digits * 10 + (digits >> 8);
        const uint64_t pairs = UINT64_C(0x000000ff000000ff);
        *value = ((digits & pairs) * (100 + (UINT64_C(1000000) << 32)) +
                  (digits >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >>
                 32;
        p += digit_count;
        if (LIKELY(digit_count < 8)) {
            return p;
        }
    }
    while (p < end && is_digit(*p)) {
        *value = *value * 10 + (uint64_t)(*p++ - '0');
    }
    return p;
}

// At a minus sign or a digit. `slot` may be NULL.
ALWAYS_INLINE const char *scan_number(struct weir_json_scanner *scanner, const char *p,
                                      struct weir_json_slot *slot)
{
    const char *start = p;
    const char *end = scanner->end;
    bool is_negative = *p == '-';
    p += is_negative;
    if (UNLIKELY(p == end || !is_digit(*p))) {
        return fail(scanner, p, "a digit is missing in the number");
    }
    const char *first_digit = p;
    uint64_t magnitude = 0; // wraps for long numbers, which is not plain then
    if (*p == '0') {
        p++;
    } else {
        p = scan_integer(p, end, &magnitude);
    }
    bool is_plain = p - first_digit <= 18;
    if (UNLIKELY(p < end && *p == '.')) {
        is_plain = false;
        p = scan_digits(scanner, p + 1);
        if (p == NULL) {
            return NULL;
        }
    }
    if (UNLIKELY(p < end && (*p == 'e' || *p == 'E'))) {
        is_plain = false;
        p++;
        p += p < end && (*p == '+' || *p == '-');
        p = scan_digits(scanner, p);
        if (p == NULL) {
            return NULL;
        }
    }
    if (slot != NULL) {
        slot->kind = WEIR_JSON_NUMBER;
        slot->data = start;
        slot->size_bytes = (uint32_t)(p - start);
        slot->is_plain = is_plain;
        slot->integer = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    }
    return p;
}

ALWAYS_INLINE const char *scan_word(struct weir_json_scanner *scanner, const char *p,
                                    struct weir_json_slot *slot)
{
    uint8_t kind = WEIR_JSON_ABSENT;
    uint32_t size_bytes = 4;
    if (scanner->end - p >= 4) {
        uint32_t word = load_u32(p);
        if (word == load_u32("null")) {
            kind = WEIR_JSON_NULL;
        } else if (word == load_u32("true")) {
            kind = WEIR_JSON_TRUE;
        } else if (word == load_u32("fals") && scanner->end - p >= 5 && p[4] == 'e') {
            kind = WEIR_JSON_FALSE;
            size_bytes = 5;
        }
    }
    if (UNLIKELY(kind == WEIR_JSON_ABSENT)) {
        return fail(scanner, p, "a value was expected");
    }
    if (slot != NULL) {
        slot->kind = kind;
        slot->data = p;
        slot->size_bytes = size_bytes;
        slot->is_plain = true;
    }
    return p + size_bytes;
}

// A string, a number or a word, at `p` < end. `slot` may be NULL.
ALWAYS_INLINE const char *scan_scalar(struct weir_json_scanner *scanner, const char *p,
                                      struct weir_json_slot *slot)
{
    if (*p == '"') {
        bool is_plain;
        const char *quote = scan_string(scanner, p + 1, &is_plain);
        if (UNLIKELY(quote == NULL)) {
            return NULL;
        }
        if (slot != NULL) {
            slot->kind = WEIR_JSON_STRING;
            slot->data = p + 1;
            slot->size_bytes = (uint32_t)(quote - p - 1);
            slot->is_plain = is_plain;
        }
        return quote + 1;
    }
    if (is_digit(*p) || *p == '-') {
        return scan_number(scanner, p, slot);
    }
    return scan_word(scanner, p, slot);
}

// --- containers ------------------------------------------------------------------------------

// At the colon behind a name, or space before it; returns the start of the value.
static inline const char *scan_colon(struct weir_json_scanner *scanner, const char *p)
{
    if (LIKELY(scanner->end - p >= 2 && p[0] == ':' && (uint8_t)p[1] > ' ')) {
        return p + 1;
    }
    p = skip_space(p, scanner->end);
    if (UNLIKELY(p == scanner->end || *p != ':')) {
        return fail(scanner, p, "a colon was expected");
    }
    p = skip_space(p + 1, scanner->end);
    return LIKELY(p < scanner->end) ? p : fail(scanner, p, "a value was expected");
}

// In an open container where an element must follow: returns the start of its value.
static const char *skip_to_value(struct weir_json_scanner *scanner, const char *p, bool is_object)
{
    if (p == scanner->end) {
        return fail(scanner, p, "the text ends within a value");
    }
    if (!is_object) {
        return p;
    }
    if (*p != '"') {
        return fail(scanner, p, "a name was expected");
    }
    bool is_plain;
    p = scan_string(scanner, p + 1, &is_plain);
    return p != NULL ? scan_colon(scanner, p + 1) : NULL;
}

// At a brace or bracket; returns what follows the one that closes it.
static const char *skip_container(struct weir_json_scanner *scanner, const char *p)
{
    const char *end = scanner->end;
    scanner->scratch.size_bytes = 0;
    char *is_object_bits = weir_buffer_reserve(&scanner->scratch, (size_t)(end - p) / 8 + 1);
    size_t depth = 0;
    bool is_object = false;
    for (;;) {
        if (*p == '{' || *p == '[') {
            is_object = *p == '{';
            char bit = (char)(1 << (depth % 8));
            char *byte = &is_object_bits[depth / 8];
            *byte = (char)((depth % 8 == 0 ? 0 : *byte) & ~bit);
            *byte = (char)(*byte | (is_object ? bit : 0));
            depth++;
            p = skip_space(p + 1, end);
            if (p == end || *p != (is_object ? '}' : ']')) {
                p = skip_to_value(scanner, p, is_object);
                if (p == NULL) {
                    return NULL;
                }
                continue;
            }
        } else {
            p = scan_scalar(scanner, p, NULL);
            if (p == NULL) {
                return NULL;
            }
            p = skip_space(p, end);
        }
        while (p < end && *p == (is_object ? '}' : ']')) {
            p++;
            depth--;
            if (depth == 0) {
                return p;
            }
            is_object = (is_object_bits[(depth - 1) / 8] >> ((depth - 1) % 8) & 1) != 0;
            p = skip_space(p, end);
        }
        if (p == end || *p != ',') {
            return fail(scanner, p,
                        is_object ? "a comma or } was expected" : "a comma or ] was expected");
        }
        p = skip_to_value(scanner, skip_space(p + 1, end), is_object);
        if (p == NULL) {
            return NULL;
        }
    }
}

static inline bool entry_matches(const struct weir_json_entry *entry, const char *p,
                                 const char *end)
{
    size_t left_bytes = (size_t)(end - p);
    uint32_t quoted_bytes = entry->quoted_bytes;
    if (UNLIKELY(left_bytes < 8 || left_bytes < quoted_bytes)) {
        return false;
    }
    if (((weir_json_load_u64(p) ^ entry->head) & entry->head_mask) != 0) {
        return false;
    }
    return quoted_bytes <= 8 ||
           (weir_json_load_u64(p + quoted_bytes - 8) == entry->tail &&
            (quoted_bytes <= 16 || memcmp(p + 8, entry->quoted + 8, quoted_bytes - 16) == 0));
}

// Another name than the one expected, or none. Returns what is behind its closing quote.
static const char *scan_name(struct weir_json_scanner *scanner, struct weir_json_shape *shape,
                             const char *p, struct weir_json_entry **entry)
{
    if (p == scanner->end || *p != '"') {
        return fail(scanner, p, "a name was expected");
    }
    bool is_plain;
    const char *quote = scan_string(scanner, p + 1, &is_plain);
    if (quote == NULL) {
        return NULL;
    }
    struct weir_view name = {.data = p + 1, .size_bytes = (size_t)(quote - p - 1)};
    if (!is_plain) {
        scanner->scratch.size_bytes = 0;
        char *unescaped = weir_buffer_reserve(&scanner->scratch, name.size_bytes);
        bool has_nul;
        name.size_bytes = weir_json_unescape(name, unescaped, &has_nul);
        name.data = unescaped;
    }
    *entry = weir_json_shape_find(shape, name);
    if (*entry == shape->entries && is_plain) {
        *entry = weir_json_shape_learn(shape, name);
    }
    return quote + 1;
}

static const char *scan_object(struct weir_json_scanner *scanner, struct weir_json_shape *shape,
                               const char *p);

// The value of a wanted member.
ALWAYS_INLINE const char *scan_member(struct weir_json_scanner *scanner,
                                      const struct weir_json_member *member, const char *p)
{
    struct weir_json_slot *slot = &scanner->slots[member->slot_idx];
    if (*p != '{' && *p != '[') {
        return scan_scalar(scanner, p, slot);
    }
    const char *start = p;
    uint8_t kind = *p == '{' ? WEIR_JSON_OBJECT : WEIR_JSON_ARRAY;
    if (member->shape != NULL && kind == WEIR_JSON_OBJECT) {
        if (UNLIKELY(slot->kind != WEIR_JSON_ABSENT)) { // a repeated name
            for (uint32_t i = member->shape->slot_first; i < member->shape->slot_end; i++) {
                scanner->slots[i].kind = WEIR_JSON_ABSENT;
            }
        }
        p = scan_object(scanner, member->shape, p);
    } else {
        p = skip_container(scanner, p);
    }
    slot->kind = kind;
    slot->data = start;
    slot->size_bytes = p != NULL ? (uint32_t)(p - start) : 0;
    return p;
}

static const char *skip_value(struct weir_json_scanner *scanner, const char *p)
{
    return *p == '{' || *p == '[' ? skip_container(scanner, p) : scan_scalar(scanner, p, NULL);
}

// At an opening brace.
static const char *scan_object(struct weir_json_scanner *scanner, struct weir_json_shape *shape,
                               const char *p)
{
    const char *end = scanner->end;
    p = skip_space(p + 1, end);
    if (p < end && *p == '}') {
        return p + 1;
    }
    struct weir_json_entry **expected = &shape->first;
    for (;;) {
        struct weir_json_entry *entry = *expected;
        if (LIKELY(entry_matches(entry, p, end))) {
            p += entry->quoted_bytes;
        } else {
            p = scan_name(scanner, shape, p, &entry);
            if (UNLIKELY(p == NULL)) {
                return NULL;
            }
            *expected = entry;
        }
        expected = &entry->next;
        p = scan_colon(scanner, p);
        if (UNLIKELY(p == NULL)) {
            return NULL;
        }
        p = entry->member_idx >= 0 ? scan_member(scanner, &shape->members[entry->member_idx], p)
                                   : skip_value(scanner, p);
        if (UNLIKELY(p == NULL)) {
            return NULL;
        }
        p = skip_space(p, end);
        if (LIKELY(p < end && *p == ',')) {
            p = skip_space(p + 1, end);
        } else if (p < end && *p == '}') {
            return p + 1;
        } else {
            return fail(scanner, p, "a comma or } was expected");
        }
    }
}

void weir_json_scanner_init(struct weir_json_scanner *scanner, struct weir_json_shape *shape,
                            uint32_t slot_count, struct weir_arena *arena)
{
    *scanner = (struct weir_json_scanner){.shape = shape, .slot_count = slot_count};
    scanner->slots = weir_arena_alloc_zero(arena, slot_count * sizeof *scanner->slots);
}

void weir_json_scanner_deinit(struct weir_json_scanner *scanner)
{
    weir_buffer_deinit(&scanner->scratch);
}

bool weir_json_scan(struct weir_json_scanner *scanner, struct weir_view text)
{
    WEIR_ASSERT(text.size_bytes <= INT32_MAX); // Kafka's own limit
    for (uint32_t i = 0; i < scanner->slot_count; i++) {
        scanner->slots[i].kind = WEIR_JSON_ABSENT;
    }
    const char *end = text.data + text.size_bytes;
    scanner->begin = text.data;
    scanner->end = end;
    const char *p = skip_space(text.data, end);
    if (p == end) {
        fail(scanner, p, "there is no value");
        return false;
    }
    if (*p != '{') {
        p = skip_value(scanner, p);
        if (p != NULL) {
            fail(scanner, text.data, "an object was expected");
        }
        return false;
    }
    p = scan_object(scanner, scanner->shape, p);
    if (p == NULL) {
        return false;
    }
    p = skip_space(p, end);
    if (p != end) {
        fail(scanner, p, "there is more behind the object");
    }
    return p == end;
}
