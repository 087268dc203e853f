// SPDX-License-Identifier: Apache-2.0
// Many rows at a time: written together and read together they are what they are one by one,
// whatever the lengths, NULLs and failures of the others beside them; on every processor.
#include "../cmocka_all.h"
#include "avro_case.h"
#include "kafka/avro_encode.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ROW_COUNT = 300, COLUMN_COUNT = 10, TEXT_BYTES_MAX = 210 };

static const struct weir_field fields[COLUMN_COUNT] = {
    {"a", PLAIN(BIGINT)},      {"b", PLAIN(BIGINT)},  {"c", PLAIN(TEXT)},   {"d", PLAIN(TEXT)},
    {"e", PLAIN(TIMESTAMPTZ)}, {"f", PLAIN(INTEGER)}, {"g", PLAIN(DOUBLE)}, {"h", PLAIN(BOOLEAN)},
    {"i", PLAIN(DATE)},        {"j", PLAIN(BYTEA)},
};
static const struct weir_schema schema = {COLUMN_COUNT, fields};

// clang-format off
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define OR_NULL(type) "[\"null\"," type "]"
static const char schema_text[] =
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
    FIELD("a", "\"long\"") "," FIELD("b", OR_NULL("\"int\"")) ","
    FIELD("c", "\"string\"") "," FIELD("d", OR_NULL("\"string\"")) ","
    FIELD("e", "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}") ","
    FIELD("f", "\"long\"") "," FIELD("g", "\"double\"") "," FIELD("h", "\"boolean\"") ","
    FIELD("i", OR_NULL("{\"type\":\"int\",\"logicalType\":\"date\"}")) ","
    FIELD("j", "\"bytes\"") "]}";
// clang-format on

struct rows {
    struct avro_case run; // whose id 1 is the schema
    bool is_portable;
    char *pages; // two a row, of which the second one cannot be read
    size_t page_bytes;
    struct weir_column columns[COLUMN_COUNT];
    struct weir_batch batch;
    struct weir_encoder *encoder;
    struct weir_buffer out;
    struct weir_encoded encoded[ROW_COUNT];
};

static struct weir_view make_text(struct weir_arena *arena, uint32_t row, bool is_ascii)
{
    size_t size_bytes = row % TEXT_BYTES_MAX;
    char *data =
        weir_arena_alloc(arena, size_bytes + 1); // of just its size: read past its end, seen
    for (size_t i = 0; i < size_bytes; i++) {
        data[i] = (char)('a' + (row + i) % 26);
    }
    if (!is_ascii && size_bytes >= 2) {
        memcpy(data + row * 7 % (size_bytes - 1), "\xc3\xa4", 2);
    }
    return (struct weir_view){data, size_bytes};
}

// Numbers of every length, both signs.
static int64_t make_long(uint32_t row)
{
    int64_t value = row % 65 == 64 ? INT64_MIN : (INT64_C(1) << (row % 63)) + row;
    return row % 2 == 0 ? value : -(value + 1);
}

static void begin(struct rows *rows, bool is_portable)
{
    static const uint32_t idxs[COLUMN_COUNT] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    memset(rows, 0, sizeof *rows);
    avro_case_begin(&rows->run);
    rows->is_portable = is_portable;
    rows->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    rows->pages =
        mmap(NULL, 2 * ROW_COUNT * rows->page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(rows->pages, MAP_FAILED);
    struct weir_arena *arena = rows->run.arena;
    struct weir_error error;
    struct weir_avro_encode_config config = {.schema = &schema,
                                             .column_count = COLUMN_COUNT,
                                             .column_idxs = idxs,
                                             .type = avro_case_add(&rows->run, 1, schema_text),
                                             .id = 1};
    assert_int_equal(weir_avro_encoder_create(&config, &rows->encoder, &error), WEIR_OK);
    struct weir_column *columns = rows->columns;
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        bool has_nulls = i == 1 || i == 3 || i == 8;
        weir_column_init(&columns[i], &fields[i].type, ROW_COUNT, has_nulls, arena);
    }
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        columns[0].i64[row] = make_long(row);
        columns[1].i64[row] = (int32_t)(row * UINT32_C(2654435761));
        columns[2].view[row] = make_text(arena, row, row % 5 != 0);
        columns[3].view[row] = make_text(arena, row * 11, row % 3 != 0);
        columns[4].i64[row] = make_long(row % 40) * 1000;
        columns[5].i32[row] = (int32_t)(row << (row % 24)) - 1000;
        columns[6].f64[row] = row * 0.37;
        columns[7].u8[row] = row % 3 == 0;
        columns[8].i32[row] = (int32_t)row * 97 - 10000;
        columns[9].view[row] = make_text(arena, row * 3, true);
        for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
            if (columns[i].validity != NULL && (row * 31 + i) % 4 != 0) {
                weir_bitmap_set(columns[i].validity, row);
            } else if (columns[i].validity != NULL) { // what lies below a NULL is nobody's business
                memset((char *)columns[i].data +
                           row * weir_layout_bytes(weir_type_layout(fields[i].type.kind)),
                       0xee, weir_layout_bytes(weir_type_layout(fields[i].type.kind)));
            }
        }
    }
    rows->batch = (struct weir_batch){.schema = &schema,
                                      .row_count = ROW_COUNT,
                                      .selected_count = ROW_COUNT,
                                      .columns = columns,
                                      .arena = arena};
}

static void end(struct rows *rows)
{
    weir_encoder_destroy(rows->encoder);
    weir_buffer_deinit(&rows->out);
    munmap(rows->pages, 2 * ROW_COUNT * rows->page_bytes);
    avro_case_end(&rows->run);
}

// A copy whose last byte is the last one of a page: a byte too far is seen without sanitizers, too.
static char *copy_to_page_end(const struct rows *rows, uint32_t idx, struct weir_view bytes)
{
    char *page = rows->pages + 2 * idx * rows->page_bytes;
    assert_true(bytes.size_bytes <= rows->page_bytes);
    assert_int_equal(mprotect(page, rows->page_bytes, PROT_READ | PROT_WRITE), 0);
    char *copy = page + rows->page_bytes - bytes.size_bytes;
    memcpy(copy, bytes.data, bytes.size_bytes);
    return copy;
}

static void decode(struct rows *rows, uint32_t count, struct weir_record *records)
{
    for (uint32_t i = 0; i < count; i++) {
        struct weir_view bytes = weir_encoded_view(&rows->out, &rows->encoded[i]);
        records[i] =
            (struct weir_record){.value = {copy_to_page_end(rows, i, bytes), bytes.size_bytes}};
    }
    weir_decoder_destroy(rows->run.decoder);
    rows->run.decoder = weir_avro_decoder_create(
        &schema, &(struct weir_avro_decode_options){.schemas = &rows->run.schemas,
                                                    .is_portable = rows->is_portable});
    weir_decoder_decode(rows->run.decoder, records, count, rows->run.arena, &rows->run.decoded);
}

static void assert_same(const struct rows *rows, uint32_t decoded_row, uint32_t row)
{
    struct weir_buffer is = {0};
    struct weir_buffer should_be = {0};
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        const struct weir_column *column = &rows->run.decoded.columns[i];
        is.size_bytes = should_be.size_bytes = 0;
        assert_int_equal(weir_column_is_valid(column, decoded_row),
                         weir_column_is_valid(&rows->columns[i], row));
        if (weir_column_is_valid(column, decoded_row)) {
            weir_text_append(&is, column, decoded_row);
            weir_text_append(&should_be, &rows->columns[i], row);
        }
        if (strcmp(weir_buffer_text(&is), weir_buffer_text(&should_be)) != 0) {
            fail_msg("row %u, column %s: %s, should be %s", row, fields[i].name, is.data,
                     should_be.data);
        }
    }
    weir_buffer_deinit(&is);
    weir_buffer_deinit(&should_be);
}

static void check_rows_come_back_as_they_were(bool is_portable)
{
    static struct rows rows;
    static struct weir_record records[ROW_COUNT];
    begin(&rows, is_portable);
    weir_buffer_append(&rows.out, "before", 6); // stays
    weir_encoder_encode(rows.encoder, &rows.batch, 0, ROW_COUNT, &rows.out, rows.encoded);
    assert_memory_equal(rows.out.data, "before", 6);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        assert_null(rows.encoded[i].failure);
    }
    decode(&rows, ROW_COUNT, records);
    assert_int_equal(rows.run.decoded.row_count, ROW_COUNT);
    assert_null(rows.run.decoded.record_of_row);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        assert_same(&rows, i, i);
    }
    // Alone they give the same bytes.
    struct weir_buffer alone = {0};
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        struct weir_encoded encoded;
        alone.size_bytes = 0;
        weir_encoder_encode(rows.encoder, &rows.batch, i, 1, &alone, &encoded);
        assert_true(weir_view_equal(weir_encoded_view(&alone, &encoded),
                                    weir_encoded_view(&rows.out, &rows.encoded[i])));
    }
    weir_buffer_deinit(&alone);
    end(&rows);
}

static void check_selected_rows_and_those_that_fail(bool is_portable)
{
    static struct rows rows;
    static uint16_t selected[ROW_COUNT];
    begin(&rows, is_portable);
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        if (row % 3 != 1) {
            selected[rows.batch.selected_count - ROW_COUNT] = (uint16_t)row;
            rows.batch.selected_count++;
        }
    }
    rows.batch.selected_count -= ROW_COUNT;
    rows.batch.selected = selected;
    rows.columns[4].i64[selected[70]] = INT64_MAX; // infinity
    weir_bitmap_set(rows.columns[1].validity, selected[71]);
    rows.columns[1].i64[selected[71]] = INT64_C(1) << 40;
    weir_encoder_encode(rows.encoder, &rows.batch, 50, 100, &rows.out, rows.encoded);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(rows.encoded[i].failure != NULL, i == 20 || i == 21);
    }
    assert_non_null(strstr(rows.encoded[20].failure, "infinite timestamp"));
    assert_non_null(strstr(rows.encoded[21].failure, "does not fit an Avro int"));
    static struct weir_record records[ROW_COUNT];
    rows.encoded[20] = rows.encoded[19];
    rows.encoded[21] = rows.encoded[19];
    decode(&rows, 100, records);
    assert_int_equal(rows.run.decoded.row_count, 100);
    for (uint32_t i = 0; i < 100; i++) {
        assert_same(&rows, i, selected[50 + (i == 20 || i == 21 ? 19 : i)]);
    }
    end(&rows);
}

static void check_bad_records_leave_the_others_as_they_are(bool is_portable)
{
    static struct rows rows;
    static struct weir_record records[ROW_COUNT];
    for (uint32_t bad = 100; bad < 130; bad += 7) {
        begin(&rows, is_portable);
        weir_encoder_encode(rows.encoder, &rows.batch, 0, ROW_COUNT, &rows.out, rows.encoded);
        rows.encoded[bad].size_bytes -= 1 + bad % 9; // cut off
        decode(&rows, ROW_COUNT, records);
        assert_int_equal(rows.run.decoded.row_count, ROW_COUNT - 1);
        assert_int_equal(rows.run.decoded.bad_count, 1);
        assert_int_equal(rows.run.decoded.bad[0].record_idx, bad);
        for (uint32_t i = 0; i < ROW_COUNT - 1; i++) {
            assert_int_equal(rows.run.decoded.record_of_row[i], i + (i >= bad));
            assert_same(&rows, i, i + (i >= bad));
        }
        end(&rows);
    }
}

// One byte of each tenth record is another: what is a row and what is bad, and why, does not depend
// on the processor.
static void test_broken_records_are_the_same_on_every_processor(void **state)
{
    static struct rows rows[2];
    static struct weir_record records[ROW_COUNT];
    (void)state;
    for (uint32_t seed = 1; seed < 40; seed++) {
        for (int i = 0; i < 2; i++) {
            begin(&rows[i], i == 1);
            weir_encoder_encode(rows[i].encoder, &rows[i].batch, 0, ROW_COUNT, &rows[i].out,
                                rows[i].encoded);
            for (uint32_t row = seed % 10; row < ROW_COUNT; row += 10) {
                const struct weir_encoded *encoded = &rows[i].encoded[row];
                uint32_t random = (seed * 977 + row) * UINT32_C(2654435761);
                size_t at = 5 + (random >> 8) % (encoded->size_bytes - 5);
                rows[i].out.data[encoded->offset_bytes + at] = (char)random;
            }
            decode(&rows[i], ROW_COUNT, records);
            append_rows(&rows[i].run.text, &schema, &rows[i].run.decoded);
        }
        const struct weir_decoded *decoded[2] = {&rows[0].run.decoded, &rows[1].run.decoded};
        assert_int_equal(decoded[0]->bad_count, decoded[1]->bad_count);
        for (uint32_t i = 0; i < decoded[0]->bad_count; i++) {
            assert_int_equal(decoded[0]->bad[i].record_idx, decoded[1]->bad[i].record_idx);
            assert_string_equal(decoded[0]->bad[i].message, decoded[1]->bad[i].message);
        }
        assert_string_equal(weir_buffer_text(&rows[0].run.text),
                            weir_buffer_text(&rows[1].run.text));
        end(&rows[0]);
        end(&rows[1]);
    }
}

#define ON_EACH(name)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        check_##name(false);                                                                       \
        check_##name(true);                                                                        \
    }
ON_EACH(rows_come_back_as_they_were)
ON_EACH(selected_rows_and_those_that_fail)
ON_EACH(bad_records_leave_the_others_as_they_are)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_come_back_as_they_were),
        cmocka_unit_test(test_selected_rows_and_those_that_fail),
        cmocka_unit_test(test_bad_records_leave_the_others_as_they_are),
        cmocka_unit_test(test_broken_records_are_the_same_on_every_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
