// SPDX-License-Identifier: Apache-2.0
// See row_codec.h. A value is a marker (1, or 0 for NULL) and then:
//   numbers, dates, times   as they lie in the column
//   text, bytea, json, arrays  size in four bytes, the bytes
//   numeric                 kind, scale, then the unscaled number: eight bytes, or (when it is
//                           large) size in four bytes and two's complement, the high byte first
//   composite               its fields
#include "runtime/types/row_codec.h"

enum { MARK_NULL = 0, MARK_VALUE = 1 };

static void put_sized(struct weir_buffer *out, const char *data, size_t size_bytes)
{
    WEIR_ASSERT(size_bytes <= UINT32_MAX);
    uint32_t size = (uint32_t)size_bytes;
    weir_buffer_append(out, &size, sizeof size);
    weir_buffer_append(out, data, size_bytes);
}

static void put_numeric(struct weir_buffer *out, struct weir_numeric value)
{
    weir_buffer_append_char(out, (char)value.kind);
    weir_buffer_append(out, &value.scale, sizeof value.scale);
    if (value.kind == WEIR_NUMERIC_SMALL) {
        weir_buffer_append(out, &value.small, sizeof value.small);
    } else if (value.kind == WEIR_NUMERIC_BIG) {
        uint32_t size = 0;
        size_t size_at = out->size_bytes;
        weir_buffer_append(out, &size, sizeof size);
        weir_numeric_append_unscaled_bytes(out, value);
        size = (uint32_t)(out->size_bytes - size_at - sizeof size);
        memcpy(out->data + size_at, &size, sizeof size);
    }
}

void weir_row_encode(const struct weir_column *columns, uint32_t column_count, uint32_t row,
                     struct weir_buffer *out)
{
    for (uint32_t c = 0; c < column_count; c++) {
        const struct weir_column *column = &columns[c];
        bool is_valid = weir_column_is_valid(column, row);
        weir_buffer_append_char(out, is_valid ? MARK_VALUE : MARK_NULL);
        if (!is_valid) {
            continue;
        }
        enum weir_layout layout = weir_type_layout(column->type.kind);
        size_t value_bytes = weir_layout_bytes(layout);
        switch (layout) {
        case WEIR_LAYOUT_U8:
        case WEIR_LAYOUT_I16:
        case WEIR_LAYOUT_I32:
        case WEIR_LAYOUT_I64:
        case WEIR_LAYOUT_F32:
        case WEIR_LAYOUT_F64:
        case WEIR_LAYOUT_INTERVAL:
        case WEIR_LAYOUT_UUID:
            weir_buffer_append(out, (const char *)column->data + row * value_bytes, value_bytes);
            break;
        case WEIR_LAYOUT_NUMERIC:
            put_numeric(out, column->numeric[row]);
            break;
        case WEIR_LAYOUT_VIEW:
            put_sized(out, column->view[row].data, column->view[row].size_bytes);
            break;
        case WEIR_LAYOUT_COMPOSITE:
            weir_row_encode(column->children, column->type.composite->field_count, row, out);
            break;
        }
    }
}

// --- back -------------------------------------------------------------------------------------

struct reader {
    const char *at;
    const char *end;
    struct weir_arena *arena;
};

static bool get(struct reader *reader, void *to, size_t size_bytes)
{
    if ((size_t)(reader->end - reader->at) < size_bytes) {
        return false;
    }
    memcpy(to, reader->at, size_bytes);
    reader->at += size_bytes;
    return true;
}

static bool get_sized(struct reader *reader, struct weir_view *view)
{
    uint32_t size;
    if (!get(reader, &size, sizeof size) || (size_t)(reader->end - reader->at) < size) {
        return false;
    }
    *view = (struct weir_view){.data = reader->at, .size_bytes = size};
    reader->at += size;
    return true;
}

static bool get_numeric(struct reader *reader, struct weir_numeric *value)
{
    *value = weir_numeric_small(0, 0);
    if (!get(reader, &value->kind, 1) || !get(reader, &value->scale, sizeof value->scale)) {
        return false;
    }
    struct weir_view bytes;
    switch ((enum weir_numeric_kind)value->kind) {
    case WEIR_NUMERIC_SMALL:
        return get(reader, &value->small, sizeof value->small);
    case WEIR_NUMERIC_BIG:
        return get_sized(reader, &bytes) &&
               weir_numeric_from_unscaled_bytes(bytes, value->scale, reader->arena, value);
    case WEIR_NUMERIC_NAN:
    case WEIR_NUMERIC_INFINITY:
    case WEIR_NUMERIC_MINUS_INFINITY:
        return true;
    }
    return false;
}

static void set_null(struct weir_column *column, uint32_t row)
{
    weir_bitmap_clear(column->validity, row);
    if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            set_null(&column->children[i], row);
        }
    }
}

static bool get_columns(struct reader *reader, struct weir_column *columns, uint32_t column_count,
                        uint32_t row)
{
    for (uint32_t c = 0; c < column_count; c++) {
        struct weir_column *column = &columns[c];
        char mark;
        if (!get(reader, &mark, 1) || (mark != MARK_NULL && mark != MARK_VALUE)) {
            return false;
        }
        if (mark == MARK_NULL) {
            set_null(column, row);
            continue;
        }
        enum weir_layout layout = weir_type_layout(column->type.kind);
        size_t value_bytes = weir_layout_bytes(layout);
        bool is_good = false;
        switch (layout) {
        case WEIR_LAYOUT_U8:
        case WEIR_LAYOUT_I16:
        case WEIR_LAYOUT_I32:
        case WEIR_LAYOUT_I64:
        case WEIR_LAYOUT_F32:
        case WEIR_LAYOUT_F64:
        case WEIR_LAYOUT_INTERVAL:
        case WEIR_LAYOUT_UUID:
            is_good = get(reader, (char *)column->data + row * value_bytes, value_bytes);
            break;
        case WEIR_LAYOUT_NUMERIC:
            is_good = get_numeric(reader, &column->numeric[row]);
            break;
        case WEIR_LAYOUT_VIEW:
            is_good = get_sized(reader, &column->view[row]);
            break;
        case WEIR_LAYOUT_COMPOSITE:
            is_good =
                get_columns(reader, column->children, column->type.composite->field_count, row);
            break;
        }
        if (!is_good) {
            return false;
        }
        weir_bitmap_set(column->validity, row);
    }
    return true;
}

bool weir_row_decode(struct weir_view bytes, struct weir_column *columns, uint32_t column_count,
                     uint32_t row, struct weir_arena *arena)
{
    struct reader reader = {.at = bytes.data, .end = bytes.data + bytes.size_bytes, .arena = arena};
    return get_columns(&reader, columns, column_count, row) && reader.at == reader.end;
}

bool weir_rows_decode(struct weir_view *bytes, struct weir_column *column, uint32_t row_count,
                      struct weir_arena *arena)
{
    const char *end = bytes->data + bytes->size_bytes;
    struct reader reader = {.at = bytes->data, .end = end, .arena = arena};
    for (uint32_t row = 0; row < row_count; row++) {
        if (!get_columns(&reader, column, 1, row)) {
            return false;
        }
    }
    *bytes = (struct weir_view){.data = reader.at, .size_bytes = (size_t)(end - reader.at)};
    return true;
}
