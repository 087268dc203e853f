// SPDX-License-Identifier: Apache-2.0
// See avro_put.h: many rows of a record whose values have sizes that are known beforehand, but for
// the lengths of their texts. Each row gets room for the most that it can take, so that nothing is
// checked while it is written; and field by field for some rows at a time, so that the writes of
// one row do not wait for those of another. Rows have gaps between them, which nobody reads.
//
// Invariants
// 1. A value takes no more than most_bytes says, and its text's length: a write may touch as much
//    behind itself, which a later one of the same row overwrites or nobody reads.
// 2. What does not fit is said by weir_avro_put, for that row alone: one meaning, one text.
#include "kafka/avro_put.h"
#include "runtime/types/datetime.h"

enum {
    LONG_BYTES_MAX = 10,
    BRANCH_MAX = 63,         // whose number is one byte
    DATE_SHIFT_DAYS = 10957, // from 1970-01-01 to 2000-01-01
};

// Of a value without its union's branch. 0: not known beforehand.
static uint32_t most_bytes(const struct weir_avro_put *put)
{
    switch (put->code) {
    case WEIR_AVRO_PUT_BOOLEAN:
    case WEIR_AVRO_PUT_I16:
    case WEIR_AVRO_PUT_I32:
    case WEIR_AVRO_PUT_I64:
    case WEIR_AVRO_PUT_F64:
    case WEIR_AVRO_PUT_BYTES:
    case WEIR_AVRO_PUT_DATE:
    case WEIR_AVRO_PUT_TIMESTAMP_MS:
    case WEIR_AVRO_PUT_TIMESTAMP_US:
        return LONG_BYTES_MAX;
    case WEIR_AVRO_PUT_F32:
    case WEIR_AVRO_PUT_F32_DOUBLE:
    case WEIR_AVRO_PUT_FIXED:
    case WEIR_AVRO_PUT_ENUM:
    case WEIR_AVRO_PUT_DECIMAL:
    case WEIR_AVRO_PUT_TIME_MS:
    case WEIR_AVRO_PUT_DURATION:
    case WEIR_AVRO_PUT_UUID_FIXED:
    case WEIR_AVRO_PUT_TEXT:
    case WEIR_AVRO_PUT_RECORD:
    case WEIR_AVRO_PUT_ARRAY:
    case WEIR_AVRO_PUT_DEFAULT:
        break;
    }
    return 0;
}

uint32_t weir_avro_put_most_bytes(const struct weir_avro_put *record)
{
    uint32_t total = 1; // no row is without room
    for (uint32_t i = 0; i < record->part_count; i++) {
        const struct weir_avro_put *part = &record->parts[i];
        uint32_t most = most_bytes(part);
        if (most == 0 || part->branch > BRANCH_MAX || part->null_branch > BRANCH_MAX) {
            return 0;
        }
        total += 1 + most;
    }
    return total;
}

__attribute__((noinline)) static char *write_long_slow(char *to, uint64_t zigzag)
{
    for (; zigzag >= 0x80; zigzag >>= 7) {
        *to++ = (char)(zigzag | 0x80);
    }
    *to++ = (char)zigzag;
    return to;
}

// Up to 55 bits are spread over eight bytes at once, with no branch that depends on the length.
__attribute__((always_inline)) static inline char *write_long(char *to, int64_t value)
{
    uint64_t zigzag = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    if (__builtin_expect(zigzag >> 56 != 0, 0)) {
        return write_long_slow(to, zigzag);
    }
    uint32_t more_bytes = (63u - (uint32_t)__builtin_clzll(zigzag | 1)) * 37 >> 8; // by 7
    uint64_t word = (zigzag & UINT64_C(0x0fffffff)) | (zigzag & UINT64_C(0xfffffff0000000)) << 4;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x0fffc0000fffc000)) << 2;
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x3f803f803f803f80)) << 1;
    word |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << (8 * more_bytes)) - 1);
    memcpy(to, &word, sizeof word);
    return to + more_bytes + 1;
}

// Parts of 16 bytes that overlap, or are the last one again: few branches depend on the
// length, as that cannot be foreseen.
__attribute__((always_inline)) static inline char *write_text(char *to, struct weir_view text)
{
    const char *from = text.data;
    size_t size = text.size_bytes;
    if (__builtin_expect(size > 80, 0)) {
        to = write_long(to, (int64_t)size);
        memcpy(to, from, size);
        return to + size;
    }
    uint32_t has_two = size >= 64;
    to[0] = (char)(size << 1 | has_two << 7);
    to[1] = (char)(size >> 6);
    to += 1 + has_two;
    if (size >= 16) {
        size_t last = size - 16;
        size_t second = last < 16 ? last : 16;
        size_t third = last < 32 ? last : 32;
        size_t fourth = last < 48 ? last : 48;
        memcpy(to, from, 16);
        memcpy(to + second, from + second, 16);
        memcpy(to + third, from + third, 16);
        memcpy(to + fourth, from + fourth, 16);
        memcpy(to + last, from + last, 16);
    } else if (size >= 8) {
        memcpy(to, from, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        memcpy(to, from, 4);
        memcpy(to + size - 4, from + size - 4, 4);
    } else if (size != 0) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
    return to + size;
}

static inline char *write_number(const struct weir_avro_put *put, char *to, int64_t value)
{
    return __builtin_expect(put->is_int && value != (int32_t)value, 0) ? NULL
                                                                       : write_long(to, value);
}

static inline char *write_timestamp(const struct weir_avro_put *put, char *to, int64_t us)
{
    int64_t unix_us;
    if (__builtin_expect(!weir_timestamp_is_finite(us), 0)) {
        return NULL;
    }
    if (put->code == WEIR_AVRO_PUT_TIMESTAMP_MS) {
        int64_t ms = us / 1000 - (us % 1000 < 0 ? 1 : 0);
        return write_long(to, ms + WEIR_EPOCH_SHIFT_MS);
    }
    return __builtin_add_overflow(us, WEIR_EPOCH_SHIFT_US, &unix_us) ? NULL
                                                                     : write_long(to, unix_us);
}

// NULL: it does not fit.
__attribute__((always_inline)) static inline char *write_value(const struct weir_avro_put *put,
                                                               const struct weir_column *column,
                                                               uint32_t row, char *to)
{
    switch ((int)put->code) {
    case WEIR_AVRO_PUT_I64:
        return write_number(put, to, column->i64[row]);
    case WEIR_AVRO_PUT_BYTES:
        return write_text(to, column->view[row]);
    case WEIR_AVRO_PUT_TIMESTAMP_MS:
    case WEIR_AVRO_PUT_TIMESTAMP_US:
        return write_timestamp(put, to, column->i64[row]);
    case WEIR_AVRO_PUT_I32:
        return write_long(to, column->i32[row]);
    case WEIR_AVRO_PUT_I16:
        return write_long(to, column->i16[row]);
    case WEIR_AVRO_PUT_F64:
        memcpy(to, &column->f64[row], sizeof(double));
        return to + sizeof(double);
    case WEIR_AVRO_PUT_BOOLEAN:
        *to = (char)column->u8[row];
        return to + 1;
    }
    int32_t days = column->i32[row]; // DATE
    return weir_date_is_finite(days) ? write_long(to, (int64_t)days + DATE_SHIFT_DAYS) : NULL;
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
            to = write_value(put, column, row, put->branch < 0 ? to : to + 1);
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
            rows->to[i] = write_long(rows->to[i], column->i64[rows->rows[i]]);
        }
        return true;
    }
    for (uint32_t i = 0; put->code == WEIR_AVRO_PUT_BYTES && i < rows->count; i++) {
        rows->to[i] = write_text(rows->to[i], column->view[rows->rows[i]]);
    }
    return put->code == WEIR_AVRO_PUT_BYTES;
}

static void write_all(struct rows *rows, const struct weir_avro_put *put,
                      const struct weir_column *column)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        char *to = write_value(put, column, rows->rows[i], rows->to[i]);
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
