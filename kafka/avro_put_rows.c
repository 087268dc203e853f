// SPDX-License-Identifier: Apache-2.0
// See avro_put.h: many rows of a record whose values have sizes that are known beforehand, but for
// the lengths of their texts. Each row gets room for the most that it can take, so that nothing is
// checked while it is written; and field by field for some rows at a time, so that the writes of
// one row do not wait for those of another. Rows have gaps between them, which nobody reads.
//
// Invariants
// 1. A value takes no more than WEIR_AVRO_VALUE_BYTES_MAX and its text's length: a write may touch
//    as much behind itself, which a later one of the same row overwrites or nobody reads.
// 2. What does not fit is said by weir_avro_put, for that row alone: one meaning, one text.
#include "kafka/avro_put_value.h"

enum { BRANCH_MAX = 63 }; // whose number is one byte

uint32_t weir_avro_put_most_bytes(const struct weir_avro_put *record)
{
    uint32_t total = 1; // no row is without room
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

struct rows {
    const struct weir_batch *batch;
    uint32_t count;
    uint32_t rows[WEIR_AVRO_PUT_ROWS_MAX];
    char *to[WEIR_AVRO_PUT_ROWS_MAX];
    struct weir_encoded *encoded;
};

__attribute__((cold)) static void fail(struct rows *rows, uint32_t idx,
                                       const struct weir_avro_put *put,
                                       const struct weir_column *column)
{
    struct weir_buffer rubbish = {0};
    const char *failure = NULL;
    bool is_good =
        weir_avro_put(put, column, rows->rows[idx], rows->batch->arena, &rubbish, &failure);
    WEIR_ASSERT(!is_good);
    weir_buffer_deinit(&rubbish);
    if (rows->encoded[idx].failure == NULL) {
        rows->encoded[idx].failure = failure;
    }
}

// Of a column that may have NULLs, or a union.
static void write_conditional(struct rows *rows, const struct weir_avro_put *put,
                              const struct weir_column *column)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        char *to = rows->to[i];
        uint32_t row = rows->rows[i];
        if (!weir_column_is_valid(column, row)) {
            *to = (char)(put->null_branch * 2);
            to = put->null_branch < 0 ? NULL : to + 1;
        } else {
            *to = (char)(put->branch * 2);
            to = weir_avro_write_value(put, column, row, put->branch < 0 ? to : to + 1);
        }
        if (__builtin_expect(to == NULL, 0)) {
            fail(rows, i, put, column);
        } else {
            rows->to[i] = to;
        }
    }
}

// The two that most columns are: nothing is looked at but the values.
static bool write_plain(struct rows *rows, const struct weir_avro_put *put,
                        const struct weir_column *column)
{
    if (put->code == WEIR_AVRO_PUT_I64 && !put->is_int) {
        for (uint32_t i = 0; i < rows->count; i++) {
            rows->to[i] = weir_avro_write_long(rows->to[i], column->i64[rows->rows[i]]);
        }
        return true;
    }
    for (uint32_t i = 0; put->code == WEIR_AVRO_PUT_BYTES && i < rows->count; i++) {
        rows->to[i] = weir_avro_write_bytes(rows->to[i], column->view[rows->rows[i]]);
    }
    return put->code == WEIR_AVRO_PUT_BYTES;
}

static void write_all(struct rows *rows, const struct weir_avro_put *put,
                      const struct weir_column *column)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        char *to = weir_avro_write_value(put, column, rows->rows[i], rows->to[i]);
        if (__builtin_expect(to == NULL, 0)) {
            fail(rows, i, put, column);
        } else {
            rows->to[i] = to;
        }
    }
}

// Room for the rows, one behind the other; the frame is written.
static void begin(struct rows *rows, const struct weir_avro_put *record, struct weir_view frame,
                  uint32_t most, struct weir_buffer *out)
{
    size_t sizes[WEIR_AVRO_PUT_ROWS_MAX];
    size_t total_bytes = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        sizes[i] = most + frame.size_bytes;
    }
    for (uint32_t part = 0; part < record->part_count; part++) {
        const struct weir_avro_put *put = &record->parts[part];
        const struct weir_column *column = &rows->batch->columns[put->column_idx];
        for (uint32_t i = 0; put->code == WEIR_AVRO_PUT_BYTES && i < rows->count; i++) {
            bool is_valid = weir_column_is_valid(column, rows->rows[i]);
            sizes[i] += is_valid ? column->view[rows->rows[i]].size_bytes : 0;
        }
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->encoded[i] = (struct weir_encoded){.offset_bytes = out->size_bytes + total_bytes};
        total_bytes += sizes[i];
    }
    weir_buffer_reserve(out, total_bytes);
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->to[i] = out->data + rows->encoded[i].offset_bytes;
        memcpy(rows->to[i], frame.data, frame.size_bytes);
        rows->to[i] += frame.size_bytes;
    }
    out->size_bytes += total_bytes;
}

void weir_avro_put_rows(const struct weir_avro_put *record, uint32_t most_bytes_of_row,
                        struct weir_view frame, const struct weir_batch *batch, uint32_t first,
                        uint32_t count, struct weir_buffer *out, struct weir_encoded *encoded)
{
    struct rows rows = {.batch = batch, .count = count, .encoded = encoded};
    WEIR_ASSERT(count > 0 && count <= WEIR_AVRO_PUT_ROWS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        rows.rows[i] = weir_batch_row(batch, first + i);
    }
    begin(&rows, record, frame, most_bytes_of_row, out);
    for (uint32_t i = 0; i < record->part_count; i++) {
        const struct weir_avro_put *put = &record->parts[i];
        const struct weir_column *column = &batch->columns[put->column_idx];
        if (column->validity != NULL || put->branch >= 0) {
            write_conditional(&rows, put, column);
        } else if (!write_plain(&rows, put, column)) {
            write_all(&rows, put, column);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        encoded[i].size_bytes = (size_t)(rows.to[i] - out->data) - encoded[i].offset_bytes;
    }
    out->size_bytes = (size_t)(rows.to[count - 1] - out->data); // no gap behind the last one
}
