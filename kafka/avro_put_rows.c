// SPDX-License-Identifier: Apache-2.0
// See avro_put.h: many rows of a record whose values have sizes that are known beforehand, but for
// the lengths of their texts. All rows together get room for the most that they can take, so that
// nothing is checked while they are written, one behind the other.
//
// Invariants
// 1. A value takes no more than WEIR_AVRO_VALUE_BYTES_MAX and its text's length: a write may touch
//    as much behind itself, which a later one overwrites or nobody reads.
// 2. What does not fit is said by weir_avro_put, for that row alone: one meaning, one text.
#include "kafka/avro_put_value.h"

enum { BRANCH_MAX = 63 }; // whose number is one byte

uint32_t weir_avro_put_most_bytes(const struct weir_avro_put *record)
{
    uint32_t total = WEIR_AVRO_FRAME_ROOM_BYTES; // which is more than the frame
    for (uint32_t i = 0; i < record->part_count; i++) {
        const struct weir_avro_put *part = &record->parts[i];
        if (!weir_avro_put_is_plain(part) || part->branch > BRANCH_MAX ||
            part->null_branch > BRANCH_MAX) {
            return 0;
        }
        total += 1 + WEIR_AVRO_VALUE_BYTES_MAX;
    }
    return total;
}

// A field with what its rows are written from.
struct field {
    enum { LONG, TEXT, OTHER } kind; // the first two: without NULLs, and no union
    const void *data;
    const struct weir_avro_put *put;
    const struct weir_column *column;
};

static struct field *make_fields(const struct weir_avro_put *record, const struct weir_batch *batch)
{
    struct field *fields =
        weir_arena_alloc(batch->arena, (record->part_count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < record->part_count; i++) {
        const struct weir_avro_put *put = &record->parts[i];
        const struct weir_column *column = &batch->columns[put->column_idx];
        bool is_sure = column->validity == NULL && put->branch < 0;
        bool is_long = put->code == WEIR_AVRO_PUT_I64 && !put->is_int;
        fields[i] = (struct field){
            .kind = is_sure && is_long                            ? LONG
                    : is_sure && put->code == WEIR_AVRO_PUT_BYTES ? TEXT
                                                                  : OTHER,
            .data = column->data,
            .put = put,
            .column = column,
        };
    }
    return fields;
}

// Of all texts of these rows.
static size_t text_bytes_of(const struct weir_avro_put *record, const struct weir_batch *batch,
                            uint32_t first, uint32_t count)
{
    size_t total_bytes = 0;
    for (uint32_t part = 0; part < record->part_count; part++) {
        const struct weir_avro_put *put = &record->parts[part];
        const struct weir_column *column = &batch->columns[put->column_idx];
        for (uint32_t i = first; put->code == WEIR_AVRO_PUT_BYTES && i < first + count; i++) {
            uint32_t row = weir_batch_row(batch, i);
            total_bytes += weir_column_is_valid(column, row) ? column->view[row].size_bytes : 0;
        }
    }
    return total_bytes;
}

// Of a column that may have NULLs, or a union, or is neither number nor text. NULL: it does not
// fit.
static char *write_other(const struct field *field, uint32_t row, char *to)
{
    const struct weir_avro_put *put = field->put;
    if (!weir_column_is_valid(field->column, row)) {
        *to = (char)(put->null_branch * 2);
        return put->null_branch < 0 ? NULL : to + 1;
    }
    *to = (char)(put->branch * 2);
    return weir_avro_write_value(put, field->column, row, put->branch < 0 ? to : to + 1);
}

// The place behind the row. NULL: *failed does not fit.
static inline char *write_row(const struct field *fields, const struct field *end, uint32_t row,
                              char *to, const struct field **failed)
{
    for (const struct field *field = fields; field < end; field++) {
        if (field->kind == LONG) {
            to = weir_avro_write_long(to, ((const int64_t *)field->data)[row]);
        } else if (field->kind == TEXT) {
            to = weir_avro_write_bytes(to, ((const struct weir_view *)field->data)[row]);
        } else {
            to = write_other(field, row, to);
            if (__builtin_expect(to == NULL, 0)) {
                *failed = field;
                return NULL;
            }
        }
    }
    return to;
}

__attribute__((cold)) static const char *fail(const struct field *field, uint32_t row,
                                              struct weir_arena *arena)
{
    struct weir_buffer rubbish = {0};
    const char *failure = NULL;
    bool is_good = weir_avro_put(field->put, field->column, row, arena, &rubbish, &failure);
    WEIR_ASSERT(!is_good);
    weir_buffer_deinit(&rubbish);
    return failure;
}

void weir_avro_put_rows(const struct weir_avro_put *record, uint32_t most_bytes_of_row,
                        const char *frame, size_t frame_bytes, const struct weir_batch *batch,
                        uint32_t first, uint32_t count, struct weir_buffer *out,
                        struct weir_encoded *encoded)
{
    const struct field *fields = make_fields(record, batch);
    const struct field *failed = NULL;
    char *to = weir_buffer_reserve(out, (size_t)count * (most_bytes_of_row + frame_bytes) +
                                            text_bytes_of(record, batch, first, count));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = weir_batch_row(batch, first + i);
        memcpy(to, frame, WEIR_AVRO_FRAME_ROOM_BYTES);
        char *end = write_row(fields, fields + record->part_count, row, to + frame_bytes, &failed);
        encoded[i] = (struct weir_encoded){.offset_bytes = (size_t)(to - out->data)};
        if (__builtin_expect(end == NULL, 0)) {
            encoded[i].failure = fail(failed, row, batch->arena);
        } else {
            encoded[i].size_bytes = (size_t)(end - to);
            to = end;
        }
    }
    out->size_bytes = (size_t)(to - out->data);
}
