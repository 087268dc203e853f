// SPDX-License-Identifier: Apache-2.0
// See compare.h. One function a kind of layout; composites go field by field.
#include "runtime/types/compare.h"

#include "runtime/base/assert.h"
#include "runtime/types/array.h"
#include "runtime/types/interval.h"
#include "runtime/types/jsonb.h"
#include "runtime/types/text_io.h"

static int compare_boolean(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                           uint32_t row_b)
{
    return (a->u8[row_a] > b->u8[row_b]) - (a->u8[row_a] < b->u8[row_b]);
}

static int compare_i16(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                       uint32_t row_b)
{
    return weir_compare_i64(a->i16[row_a], b->i16[row_b]);
}

static int compare_i32(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                       uint32_t row_b)
{
    return weir_compare_i64(a->i32[row_a], b->i32[row_b]);
}

static int compare_i64(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                       uint32_t row_b)
{
    return weir_compare_i64(a->i64[row_a], b->i64[row_b]);
}

static int compare_real(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                        uint32_t row_b)
{
    return weir_compare_double((double)a->f32[row_a], (double)b->f32[row_b]);
}

static int compare_double(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                          uint32_t row_b)
{
    return weir_compare_double(a->f64[row_a], b->f64[row_b]);
}

static int compare_numeric(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                           uint32_t row_b)
{
    return weir_numeric_compare(a->numeric[row_a], b->numeric[row_b]);
}

static int compare_view(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                        uint32_t row_b)
{
    return weir_compare_view(a->view[row_a], b->view[row_b]);
}

static int compare_jsonb(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                         uint32_t row_b)
{
    return weir_jsonb_compare(a->view[row_a], b->view[row_b]);
}

static int compare_char(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                        uint32_t row_b)
{
    return weir_compare_view(weir_char_trim(a->view[row_a]), weir_char_trim(b->view[row_b]));
}

static int compare_interval(const struct weir_column *a, uint32_t row_a,
                            const struct weir_column *b, uint32_t row_b)
{
    return weir_interval_compare(a->interval[row_a], b->interval[row_b]);
}

static int compare_uuid(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                        uint32_t row_b)
{
    int order = memcmp(&a->uuid[row_a], &b->uuid[row_b], sizeof(struct weir_uuid));
    return (order > 0) - (order < 0);
}

static int compare_array(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                         uint32_t row_b)
{
    return weir_array_compare(a->view[row_a], b->view[row_b], &a->type);
}

static int compare_composite(const struct weir_column *a, uint32_t row_a,
                             const struct weir_column *b, uint32_t row_b)
{
    uint32_t field_count = a->type.composite->field_count;
    WEIR_DASSERT(field_count == b->type.composite->field_count);
    for (uint32_t i = 0; i < field_count; i++) {
        int order = weir_compare_values(&a->children[i], row_a, &b->children[i], row_b);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

weir_compare_fn weir_compare_function(enum weir_type_kind kind)
{
    switch (kind) {
    case WEIR_TYPE_BOOLEAN:
        return compare_boolean;
    case WEIR_TYPE_SMALLINT:
        return compare_i16;
    case WEIR_TYPE_INTEGER:
    case WEIR_TYPE_DATE:
        return compare_i32;
    case WEIR_TYPE_BIGINT:
    case WEIR_TYPE_TIMESTAMP:
    case WEIR_TYPE_TIMESTAMPTZ:
    case WEIR_TYPE_TIME:
        return compare_i64;
    case WEIR_TYPE_REAL:
        return compare_real;
    case WEIR_TYPE_DOUBLE:
        return compare_double;
    case WEIR_TYPE_NUMERIC:
        return compare_numeric;
    case WEIR_TYPE_TEXT:
    case WEIR_TYPE_VARCHAR:
    case WEIR_TYPE_BYTEA:
    case WEIR_TYPE_JSON:
        return compare_view;
    case WEIR_TYPE_JSONB:
        return compare_jsonb;
    case WEIR_TYPE_COMPOSITE:
        return compare_composite;
    case WEIR_TYPE_CHAR:
        return compare_char;
    case WEIR_TYPE_INTERVAL:
        return compare_interval;
    case WEIR_TYPE_UUID:
        return compare_uuid;
    case WEIR_TYPE_ARRAY:
        return compare_array;
    }
    WEIR_ASSERT(false && "a type that does not exist");
    return NULL;
}

int weir_compare_values(const struct weir_column *a, uint32_t row_a, const struct weir_column *b,
                        uint32_t row_b)
{
    bool has_a = weir_column_is_valid(a, row_a);
    bool has_b = weir_column_is_valid(b, row_b);
    if (!has_a || !has_b) {
        return has_b - has_a;
    }
    return weir_compare_function(a->type.kind)(a, row_a, b, row_b);
}
