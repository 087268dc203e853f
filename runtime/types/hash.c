// SPDX-License-Identifier: Apache-2.0
// See hash.h. One function a kind of layout; composites combine their fields.
#include "runtime/types/hash.h"

#include "runtime/base/assert.h"
#include "runtime/types/array.h"
#include "runtime/types/interval.h"
#include "runtime/types/jsonb.h"
#include "runtime/types/text_io.h"

#define XXH_INLINE_ALL // keys are short: a call would cost as much as the hash
#include <xxhash.h>

uint64_t weir_hash_bytes(const void *data, size_t size_bytes)
{
    return XXH3_64bits(data, size_bytes);
}

uint64_t weir_hash_double(double value)
{
    if (value == 0) {
        value = 0; // -0 too
    }
    uint64_t bits = UINT64_C(0x7ff8000000000000); // every NaN
    if (value == value) {
        memcpy(&bits, &value, sizeof bits);
    }
    return weir_hash_mix(bits);
}

static uint64_t hash_boolean(const struct weir_column *column, uint32_t row)
{
    return weir_hash_i64(column->u8[row] != 0);
}

static uint64_t hash_i16(const struct weir_column *column, uint32_t row)
{
    return weir_hash_i64(column->i16[row]);
}

static uint64_t hash_i32(const struct weir_column *column, uint32_t row)
{
    return weir_hash_i64(column->i32[row]);
}

static uint64_t hash_i64(const struct weir_column *column, uint32_t row)
{
    return weir_hash_i64(column->i64[row]);
}

static uint64_t hash_real(const struct weir_column *column, uint32_t row)
{
    return weir_hash_double((double)column->f32[row]);
}

static uint64_t hash_double(const struct weir_column *column, uint32_t row)
{
    return weir_hash_double(column->f64[row]);
}

static uint64_t hash_numeric(const struct weir_column *column, uint32_t row)
{
    return weir_numeric_hash(column->numeric[row]);
}

static uint64_t hash_view(const struct weir_column *column, uint32_t row)
{
    return weir_hash_bytes(column->view[row].data, column->view[row].size_bytes);
}

static uint64_t hash_jsonb(const struct weir_column *column, uint32_t row)
{
    return weir_jsonb_hash(column->view[row]);
}

static uint64_t hash_char(const struct weir_column *column, uint32_t row)
{
    struct weir_view text = weir_char_trim(column->view[row]);
    return weir_hash_bytes(text.data, text.size_bytes);
}

static uint64_t hash_interval(const struct weir_column *column, uint32_t row)
{
    __int128 span = weir_interval_span(column->interval[row]);
    return weir_hash_combine(weir_hash_i64((int64_t)(span >> 64)), (uint64_t)span);
}

static uint64_t hash_uuid(const struct weir_column *column, uint32_t row)
{
    return weir_hash_bytes(&column->uuid[row], sizeof(struct weir_uuid));
}

static uint64_t hash_array(const struct weir_column *column, uint32_t row)
{
    return weir_array_hash(column->view[row], &column->type);
}

static uint64_t hash_composite(const struct weir_column *column, uint32_t row)
{
    uint64_t hash = WEIR_HASH_START;
    for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
        hash = weir_hash_combine(hash, weir_hash_value(&column->children[i], row));
    }
    return hash;
}

weir_hash_fn weir_hash_function(enum weir_type_kind kind)
{
    switch (kind) {
    case WEIR_TYPE_BOOLEAN:
        return hash_boolean;
    case WEIR_TYPE_SMALLINT:
        return hash_i16;
    case WEIR_TYPE_INTEGER:
    case WEIR_TYPE_DATE:
        return hash_i32;
    case WEIR_TYPE_BIGINT:
    case WEIR_TYPE_TIMESTAMP:
    case WEIR_TYPE_TIMESTAMPTZ:
    case WEIR_TYPE_TIME:
        return hash_i64;
    case WEIR_TYPE_REAL:
        return hash_real;
    case WEIR_TYPE_DOUBLE:
        return hash_double;
    case WEIR_TYPE_NUMERIC:
        return hash_numeric;
    case WEIR_TYPE_TEXT:
    case WEIR_TYPE_VARCHAR:
    case WEIR_TYPE_BYTEA:
    case WEIR_TYPE_JSON:
        return hash_view;
    case WEIR_TYPE_JSONB:
        return hash_jsonb;
    case WEIR_TYPE_COMPOSITE:
        return hash_composite;
    case WEIR_TYPE_CHAR:
        return hash_char;
    case WEIR_TYPE_INTERVAL:
        return hash_interval;
    case WEIR_TYPE_UUID:
        return hash_uuid;
    case WEIR_TYPE_ARRAY:
        return hash_array;
    }
    WEIR_ASSERT(false && "a type that does not exist");
    return NULL;
}
