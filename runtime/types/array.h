// SPDX-License-Identifier: Apache-2.0
// Arrays: of any type but arrays, with up to six dimensions, NULL elements and lower bounds, as
// PostgreSQL 15 has them. A value lies in its column as a view of bytes that are complete in
// themselves: dimensions, then the elements as row_codec.h writes them. Texts of an opened array
// point into those bytes. Thread: any.
#ifndef WEIR_RUNTIME_TYPES_ARRAY_H
#define WEIR_RUNTIME_TYPES_ARRAY_H

#include "runtime/batch.h"
#include "runtime/types/value_error.h"

enum { WEIR_ARRAY_DIMENSIONS_MAX = 6 };
// Elements of one array: what PostgreSQL allows.
#define WEIR_ARRAY_ELEMENTS_MAX UINT32_C(134217727)

struct weir_array {
    uint32_t dimension_count; // 0: an empty array
    uint32_t lengths[WEIR_ARRAY_DIMENSIONS_MAX];
    int32_t lower_bounds[WEIR_ARRAY_DIMENSIONS_MAX];
    uint32_t element_count; // the product of the lengths
    // element_count rows with validity, row-major; of the array's element type.
    struct weir_column elements;
};

// A type of arrays of `element`; both live in the arena.
struct weir_type weir_array_type(const struct weir_type *element, struct weir_arena *arena);

// Dimensions only; elements stay as they are. Returns where the elements' bytes begin.
const char *weir_array_read_header(struct weir_view value, struct weir_array *out);
// The whole: elements are columns in the arena.
void weir_array_open(struct weir_view value, const struct weir_type *type, struct weir_arena *arena,
                     struct weir_array *out);
// One element without the others: idx < element_count. *element has room for one row with validity.
void weir_array_element(struct weir_view value, uint32_t idx, struct weir_column *element,
                        struct weir_arena *arena);

// The bytes of a value: appended; in the arena.
void weir_array_append(struct weir_buffer *buffer, const struct weir_array *array);
struct weir_view weir_array_close(const struct weir_array *array, struct weir_arena *arena);
// The header alone: the elements are to be appended by weir_row_encode, one by one.
void weir_array_append_header(struct weir_buffer *buffer, const struct weir_array *array);
// Room for `element_count` elements (all NULL) in one dimension from 1; 0: an empty array.
void weir_array_init(struct weir_array *array, const struct weir_type *type, uint32_t element_count,
                     struct weir_arena *arena);

// PostgreSQL's order: element by element, NULL last; then by size and dimensions.
int weir_array_compare(struct weir_view a, struct weir_view b, const struct weir_type *type);
uint64_t weir_array_hash(struct weir_view value, const struct weir_type *type);

// {1,NULL,"a b"}, {{1,2},{3,4}}, [0:1]={1,2}. "malformed array literal: …".
bool weir_array_parse(struct weir_view text, const struct weir_type *type, struct weir_arena *arena,
                      struct weir_view *out, struct weir_value_error *error);
void weir_array_append_text(struct weir_buffer *buffer, struct weir_view value,
                            const struct weir_type *type);
// [1,null,"a b"], [[1,2],[3,4]]
void weir_array_append_json(struct weir_buffer *buffer, struct weir_view value,
                            const struct weir_type *type);

#endif
