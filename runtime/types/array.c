// SPDX-License-Identifier: Apache-2.0
// See array.h: the bytes of an array, its order and its hash. Bytes: the number of dimensions, then
// for each its length and lower bound in four bytes, then the elements.
#include "runtime/types/array.h"

#include "runtime/types/compare.h"
#include "runtime/types/hash.h"
#include "runtime/types/row_codec.h"

enum { SCRATCH_BLOCK_BYTES = 2048, DIMENSION_BYTES = 8 };

struct weir_type weir_array_type(const struct weir_type *element, struct weir_arena *arena)
{
    struct weir_field *field = weir_arena_alloc(arena, sizeof *field);
    struct weir_composite *of = weir_arena_alloc(arena, sizeof *of);
    *field = (struct weir_field){.name = "", .type = *element};
    *of = (struct weir_composite){.name = "", .field_count = 1, .fields = field};
    struct weir_type type = weir_type_plain(WEIR_TYPE_ARRAY);
    type.composite = of;
    return type;
}

// --- bytes -----------------------------------------------------------------------------------

static void count_elements(struct weir_array *array)
{
    uint64_t count = array->dimension_count != 0;
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        count = count <= WEIR_ARRAY_ELEMENTS_MAX ? count * array->lengths[i] : count;
    }
    array->element_count =
        count <= WEIR_ARRAY_ELEMENTS_MAX ? (uint32_t)count : WEIR_ARRAY_ELEMENTS_MAX + 1;
}

// NULL: these are no such bytes.
static const char *read_header(struct weir_view value, struct weir_array *out)
{
    const char *at = value.data;
    out->dimension_count = value.size_bytes != 0 ? (uint8_t)*at++ : WEIR_ARRAY_DIMENSIONS_MAX + 1;
    if (out->dimension_count > WEIR_ARRAY_DIMENSIONS_MAX ||
        value.size_bytes - 1 < out->dimension_count * (size_t)DIMENSION_BYTES) {
        return NULL;
    }
    for (uint32_t i = 0; i < out->dimension_count; i++) {
        memcpy(&out->lengths[i], at, sizeof out->lengths[i]);
        memcpy(&out->lower_bounds[i], at + 4, sizeof out->lower_bounds[i]);
        at += DIMENSION_BYTES;
    }
    count_elements(out);
    // An element takes a byte at least.
    size_t rest_bytes = (size_t)(value.data + value.size_bytes - at);
    return out->element_count <= rest_bytes ? at : NULL;
}

const char *weir_array_read_header(struct weir_view value, struct weir_array *out)
{
    const char *at = read_header(value, out);
    WEIR_ASSERT(at != NULL);
    return at;
}

void weir_array_open(struct weir_view value, const struct weir_type *type, struct weir_arena *arena,
                     struct weir_array *out)
{
    const char *at = weir_array_read_header(value, out);
    weir_column_init(&out->elements, weir_type_element(type), out->element_count, true, arena);
    struct weir_view rest = {.data = at,
                             .size_bytes = value.size_bytes - (size_t)(at - value.data)};
    bool is_good = weir_rows_decode(&rest, &out->elements, out->element_count, arena) &&
                   rest.size_bytes == 0;
    WEIR_ASSERT(is_good);
}

void weir_array_element(struct weir_view value, uint32_t idx, struct weir_column *element,
                        struct weir_arena *arena)
{
    struct weir_array array;
    const char *at = weir_array_read_header(value, &array);
    WEIR_ASSERT(idx < array.element_count);
    struct weir_view rest = {.data = at,
                             .size_bytes = value.size_bytes - (size_t)(at - value.data)};
    for (uint32_t i = 0; i <= idx; i++) {
        bool is_good = weir_rows_decode(&rest, element, 1, arena);
        WEIR_ASSERT(is_good);
    }
}

void weir_array_append_header(struct weir_buffer *buffer, const struct weir_array *array)
{
    WEIR_ASSERT(array->dimension_count <= WEIR_ARRAY_DIMENSIONS_MAX);
    weir_buffer_append_char(buffer, (char)array->dimension_count);
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        weir_buffer_append(buffer, &array->lengths[i], sizeof array->lengths[i]);
        weir_buffer_append(buffer, &array->lower_bounds[i], sizeof array->lower_bounds[i]);
    }
}

void weir_array_append(struct weir_buffer *buffer, const struct weir_array *array)
{
    weir_array_append_header(buffer, array);
    for (uint32_t i = 0; i < array->element_count; i++) {
        weir_row_encode(&array->elements, 1, i, buffer);
    }
}

struct weir_view weir_array_close(const struct weir_array *array, struct weir_arena *arena)
{
    struct weir_buffer bytes = {0};
    weir_array_append(&bytes, array);
    struct weir_view value = weir_arena_copy(
        arena, (struct weir_view){.data = bytes.data, .size_bytes = bytes.size_bytes});
    weir_buffer_deinit(&bytes);
    return value;
}

void weir_array_init(struct weir_array *array, const struct weir_type *type, uint32_t element_count,
                     struct weir_arena *arena)
{
    *array = (struct weir_array){
        .dimension_count = element_count != 0,
        .lengths = {element_count},
        .lower_bounds = {1},
        .element_count = element_count,
    };
    weir_column_init(&array->elements, weir_type_element(type), element_count, true, arena);
}

// --- order, hash -----------------------------------------------------------------------------

static int compare_shapes(const struct weir_array *a, const struct weir_array *b)
{
    int order = weir_compare_i64(a->element_count, b->element_count);
    order = order != 0 ? order : weir_compare_i64(a->dimension_count, b->dimension_count);
    for (uint32_t i = 0; order == 0 && i < a->dimension_count; i++) {
        order = weir_compare_i64(a->lengths[i], b->lengths[i]);
    }
    for (uint32_t i = 0; order == 0 && i < a->dimension_count; i++) {
        order = weir_compare_i64(a->lower_bounds[i], b->lower_bounds[i]);
    }
    return order;
}

int weir_array_compare(struct weir_view a, struct weir_view b, const struct weir_type *type)
{
    if (weir_view_equal(a, b)) {
        return 0;
    }
    struct weir_arena *scratch = weir_arena_create(SCRATCH_BLOCK_BYTES);
    struct weir_array one, other;
    weir_array_open(a, type, scratch, &one);
    weir_array_open(b, type, scratch, &other);
    int order = 0;
    for (uint32_t i = 0; order == 0 && i < one.element_count && i < other.element_count; i++) {
        order = weir_compare_values(&one.elements, i, &other.elements, i);
    }
    if (order == 0) {
        order = compare_shapes(&one, &other);
    }
    weir_arena_destroy(scratch);
    return order;
}

uint64_t weir_array_hash(struct weir_view value, const struct weir_type *type)
{
    struct weir_arena *scratch = weir_arena_create(SCRATCH_BLOCK_BYTES);
    struct weir_array array;
    weir_array_open(value, type, scratch, &array);
    uint64_t hash = WEIR_HASH_START;
    for (uint32_t i = 0; i < array.element_count; i++) {
        hash = weir_hash_combine(hash, weir_hash_value(&array.elements, i));
    }
    for (uint32_t i = 0; i < array.dimension_count; i++) {
        hash = weir_hash_combine(hash, array.lengths[i]);
        hash = weir_hash_combine(hash, (uint64_t)(int64_t)array.lower_bounds[i]);
    }
    weir_arena_destroy(scratch);
    return hash;
}
