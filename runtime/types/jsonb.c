// SPDX-License-Identifier: Apache-2.0
// JSON text to the canonical text of jsonb (jsonb.h). yyjson checks the syntax and gives a tree
// with numbers as written; the writer sorts keys, drops repeated ones and puts numbers into the
// form of numeric. Recursion is bounded by WEIR_JSONB_DEPTH_MAX, frames are small.
#include "runtime/types/jsonb.h"

#include "runtime/types/json_out.h"
#include "runtime/types/numeric.h"

#include <stdlib.h>
#include <yyjson.h>

struct pair {
    struct weir_view key;
    yyjson_val *value;
    uint32_t idx; // in the text: the last of equal keys wins
};

enum { PAIRS_INLINE = 32, TREE_BYTES_ON_STACK = 16384 };

struct writer {
    struct weir_buffer out;
    struct weir_arena *arena; // digits of large numbers
    struct pair *pairs;       // of the objects being written, innermost last
    size_t pair_count;
    size_t pair_capacity;
    struct weir_value_error *error;
    struct pair inline_pairs[PAIRS_INLINE]; // enough for nearly all; then the heap
};

static bool write_value(struct writer *writer, yyjson_val *value, uint32_t depth);

static void append_literal(struct writer *writer, const char *text)
{
    weir_buffer_append(&writer->out, text, strlen(text));
}

static bool write_string(struct writer *writer, struct weir_view text)
{
    if (memchr(text.data, '\0', text.size_bytes) != NULL) {
        weir_value_error_set(writer->error, "unsupported Unicode escape sequence");
        return weir_value_error_detail(writer->error, "\\u0000 cannot be converted to text.");
    }
    weir_json_append_string(&writer->out, text);
    return true;
}

// A JSON number without exponent is written as numeric writes it, but for -0 and limits.
static bool is_canonical_number(struct weir_view text)
{
    if (text.size_bytes > 1000) {
        return false;
    }
    bool is_zero = true;
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.data[i];
        if (c == 'e' || c == 'E') {
            return false;
        }
        is_zero &= c < '1' || c > '9';
    }
    return text.data[0] != '-' || !is_zero;
}

static bool write_number(struct writer *writer, struct weir_view text)
{
    if (is_canonical_number(text)) {
        weir_buffer_append(&writer->out, text.data, text.size_bytes);
        return true;
    }
    struct weir_numeric number;
    if (!weir_numeric_parse(text, -1, writer->arena, &number, writer->error)) {
        return false;
    }
    weir_numeric_append(&writer->out, number);
    return true;
}

static bool too_deep(struct writer *writer)
{
    return weir_value_error_set(writer->error, "json is nested deeper than %d arrays and objects",
                                WEIR_JSONB_DEPTH_MAX);
}

static bool write_array(struct writer *writer, yyjson_val *array, uint32_t depth)
{
    if (depth == WEIR_JSONB_DEPTH_MAX) {
        return too_deep(writer);
    }
    weir_buffer_append_char(&writer->out, '[');
    yyjson_arr_iter iterator;
    yyjson_arr_iter_init(array, &iterator);
    for (size_t i = 0; yyjson_arr_iter_has_next(&iterator); i++) {
        if (i != 0) {
            append_literal(writer, ", ");
        }
        if (!write_value(writer, yyjson_arr_iter_next(&iterator), depth + 1)) {
            return false;
        }
    }
    weir_buffer_append_char(&writer->out, ']');
    return true;
}

// By length, bytes, place in the text.
static int compare_pairs(const void *one, const void *other)
{
    const struct pair *a = one;
    const struct pair *b = other;
    if (a->key.size_bytes != b->key.size_bytes) {
        return a->key.size_bytes < b->key.size_bytes ? -1 : 1;
    }
    int order = memcmp(a->key.data, b->key.data, a->key.size_bytes);
    if (order != 0) {
        return order;
    }
    return (a->idx > b->idx) - (a->idx < b->idx);
}

static void push_pair(struct writer *writer, struct pair pair)
{
    if (writer->pair_count == writer->pair_capacity) {
        bool is_inline = writer->pairs == writer->inline_pairs;
        writer->pair_capacity *= 2;
        writer->pairs = weir_realloc(is_inline ? NULL : writer->pairs,
                                     writer->pair_capacity * sizeof *writer->pairs);
        if (is_inline) {
            memcpy(writer->pairs, writer->inline_pairs, sizeof writer->inline_pairs);
        }
    }
    writer->pairs[writer->pair_count++] = pair;
}

// The pairs of an object on top of the others, sorted; returns where they begin.
static size_t push_sorted(struct writer *writer, yyjson_val *object)
{
    size_t start = writer->pair_count;
    bool is_sorted = true;
    yyjson_obj_iter iterator;
    yyjson_obj_iter_init(object, &iterator);
    for (uint32_t idx = 0; yyjson_obj_iter_has_next(&iterator); idx++) {
        yyjson_val *key = yyjson_obj_iter_next(&iterator);
        struct pair pair = {
            .key = {yyjson_get_str(key), yyjson_get_len(key)},
            .value = yyjson_obj_iter_get_val(key),
            .idx = idx,
        };
        push_pair(writer, pair);
        is_sorted = is_sorted &&
                    (idx == 0 || compare_pairs(&writer->pairs[writer->pair_count - 2], &pair) < 0);
    }
    if (!is_sorted) {
        qsort(writer->pairs + start, writer->pair_count - start, sizeof *writer->pairs,
              compare_pairs);
    }
    return start;
}

static bool write_object(struct writer *writer, yyjson_val *object, uint32_t depth)
{
    if (depth == WEIR_JSONB_DEPTH_MAX) {
        return too_deep(writer);
    }
    size_t start = push_sorted(writer, object);
    size_t end = writer->pair_count;
    bool is_first = true;
    weir_buffer_append_char(&writer->out, '{');
    for (size_t i = start; i < end; i++) {
        struct pair pair = writer->pairs[i]; // the array may move below
        if (i + 1 < end && weir_view_equal(pair.key, writer->pairs[i + 1].key)) {
            // The value is lost, but what cannot be in a jsonb is refused all the same.
            size_t size_bytes = writer->out.size_bytes;
            if (!write_value(writer, pair.value, depth + 1)) {
                return false;
            }
            writer->out.size_bytes = size_bytes;
            continue;
        }
        if (!is_first) {
            append_literal(writer, ", ");
        }
        is_first = false;
        if (!write_string(writer, pair.key)) {
            return false;
        }
        append_literal(writer, ": ");
        if (!write_value(writer, pair.value, depth + 1)) {
            return false;
        }
    }
    weir_buffer_append_char(&writer->out, '}');
    writer->pair_count = start;
    return true;
}

static bool write_value(struct writer *writer, yyjson_val *value, uint32_t depth)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL:
        append_literal(writer, "null");
        return true;
    case YYJSON_TYPE_BOOL:
        append_literal(writer, yyjson_is_true(value) ? "true" : "false");
        return true;
    case YYJSON_TYPE_RAW:
        return write_number(writer,
                            (struct weir_view){yyjson_get_raw(value), yyjson_get_len(value)});
    case YYJSON_TYPE_STR:
        return write_string(writer,
                            (struct weir_view){yyjson_get_str(value), yyjson_get_len(value)});
    case YYJSON_TYPE_ARR:
        return write_array(writer, value, depth);
    case YYJSON_TYPE_OBJ:
        return write_object(writer, value, depth);
    default:
        return weir_value_error_set(writer->error, "invalid input syntax for type json");
    }
}

static bool write_document(yyjson_doc *document, size_t text_bytes, struct weir_arena *arena,
                           struct weir_view *out, struct weir_value_error *error)
{
    struct writer writer;
    writer.out = (struct weir_buffer){0};
    writer.arena = arena;
    writer.pairs = writer.inline_pairs;
    writer.pair_count = 0;
    writer.pair_capacity = PAIRS_INLINE;
    writer.error = error;
    weir_buffer_reserve(&writer.out, text_bytes + text_bytes / 2); // blanks behind , and :
    bool is_written = write_value(&writer, yyjson_doc_get_root(document), 0);
    if (is_written) {
        *out = weir_arena_copy(arena, (struct weir_view){writer.out.data, writer.out.size_bytes});
    }
    weir_buffer_deinit(&writer.out);
    if (writer.pairs != writer.inline_pairs) {
        free(writer.pairs);
    }
    return is_written;
}

static bool refuse_syntax(const yyjson_read_err *read_error, struct weir_value_error *error)
{
    weir_value_error_set(error, "invalid input syntax for type json");
    return weir_value_error_detail(error, "%s at byte %zu", read_error->msg, read_error->pos);
}

bool weir_jsonb_parse(struct weir_view text, struct weir_arena *arena, struct weir_view *out,
                      struct weir_value_error *error)
{
    yyjson_read_flag flags = YYJSON_READ_NUMBER_AS_RAW;
    char tree_memory[TREE_BYTES_ON_STACK];
    yyjson_alc pool;
    const yyjson_alc *allocator = NULL; // the heap
    if (yyjson_read_max_memory_usage(text.size_bytes, flags) + 256 < sizeof tree_memory &&
        yyjson_alc_pool_init(&pool, tree_memory, sizeof tree_memory)) {
        allocator = &pool;
    }
    // Without YYJSON_READ_INSITU the text is only read.
    char *data = (char *)(uintptr_t)text.data;
    yyjson_read_err read_error = {0};
    yyjson_doc *document = yyjson_read_opts(data, text.size_bytes, flags, allocator, &read_error);
    if (document == NULL) {
        return refuse_syntax(&read_error, error);
    }
    bool is_written = write_document(document, text.size_bytes, arena, out, error);
    yyjson_doc_free(document);
    return is_written;
}
