// SPDX-License-Identifier: Apache-2.0
// Keys as bytes against the comparison of the values themselves, for odd values and random ones of
// every type; the way back, and bytes that are no key.
#include "runtime/types/array.h"
#include "runtime/types/compare.h"
#include "runtime/types/key.h"
#include "runtime/types/row_codec.h"
#include "runtime/types/text_io.h"

#include "tests/unit/cmocka_all.h"

#include <math.h>
#include <stdio.h>

enum { ROW_COUNT = 160, TEXT_BYTES = 64 };

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }

static const struct weir_field inner_fields[] = {{"n", PLAIN(NUMERIC)}, {"t", PLAIN(TEXT)}};
static const struct weir_composite inner = {"inner", 2, inner_fields};
static const struct weir_field outer_fields[] = {
    {"i", PLAIN(SMALLINT)}, {"c", {WEIR_TYPE_COMPOSITE, -1, &inner}}, {"b", PLAIN(BOOLEAN)}};
static const struct weir_field element_fields[] = {{"", PLAIN(NUMERIC)}};
static const struct weir_composite numerics = {"", 1, element_fields};
static const struct weir_field composite_element_fields[] = {
    {"", {WEIR_TYPE_COMPOSITE, -1, &inner}}};
static const struct weir_composite composites = {"", 1, composite_element_fields};
static const struct weir_composite outer = {"outer", 3, outer_fields};

static uint64_t seed = 42;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static uint32_t below(uint32_t bound)
{
    return (uint32_t)(next_random() % bound);
}

static int64_t random_integer(void)
{
    static const int64_t ODD[] = {0, 1, -1, INT64_MAX, INT64_MIN, 255, 256, -256, 65536};
    return below(2) == 0 ? ODD[below(9)] : (int64_t)(next_random() >> below(64));
}

static double random_double(void)
{
    static const double ODD[] = {0.0, -0.0, 1, -1, 5e-324, -5e-324, 1e308, -1e308, 0.5, 3};
    switch (below(6)) {
    case 0:
        return (double)NAN;
    case 1:
        return below(2) == 0 ? (double)INFINITY : -(double)INFINITY;
    case 2:
    case 3:
        return ODD[below(10)];
    default:
        return (double)(int64_t)next_random() / (double)(1 + below(1000));
    }
}

static struct weir_numeric random_numeric(struct weir_arena *arena)
{
    static const char *const ODD[] = {
        "0",     "0.00",   "1",     "1.0",   "10",    "10.00", "-1",  "-10",   "-1.00",  "0.1",
        "0.01",  "-0.010", "9",     "99",    "-99",   "NaN",   "inf", "-inf",  "100",    "1e40",
        "1e-40", "-1e40",  "12e39", "1e500", "-1e-9", "1.5",   "15",  "150.0", "-150.00"};
    char text[128];
    size_t size = 0;
    if (below(2) == 0) {
        size = (size_t)snprintf(text, sizeof text, "%s", ODD[below(sizeof ODD / sizeof *ODD)]);
    } else {
        text[size++] = below(2) == 0 ? '-' : '+';
        for (uint32_t i = below(30) + 1; i > 0; i--) {
            text[size++] = (char)('0' + below(10));
        }
        text[size++] = '.';
        for (uint32_t i = below(30) + 1; i > 0; i--) {
            text[size++] = (char)('0' + below(3) * below(5));
        }
    }
    struct weir_numeric value;
    assert_true(weir_numeric_parse((struct weir_view){text, size}, -1, arena, &value, NULL));
    return value;
}

// Short ones of few different bytes, so that some begin like others.
static struct weir_view random_bytes(struct weir_arena *arena)
{
    static const char BYTES[] = {0, 1, 2, 'a', 'b', (char)0xfe, (char)0xff};
    char text[16];
    size_t size = below(6);
    for (size_t i = 0; i < size; i++) {
        text[i] = BYTES[below(sizeof BYTES)];
    }
    struct weir_view view = weir_arena_copy(arena, (struct weir_view){text, size});
    view.data = view.data != NULL ? view.data : "";
    return view;
}

static void fill(struct weir_column *column, uint32_t row, struct weir_arena *arena);

// One or two dimensions, so that arrays of the same elements differ in shape.
static struct weir_view random_array(const struct weir_type *type, struct weir_arena *arena)
{
    struct weir_array array;
    weir_array_init(&array, type, below(5), arena);
    for (uint32_t i = 0; i < array.element_count; i++) {
        fill(&array.elements, i, arena);
    }
    if (array.element_count == 4 && below(2) == 0) {
        array.dimension_count = 2;
        array.lengths[0] = array.lengths[1] = 2;
        array.lower_bounds[1] = (int32_t)below(3) - 1;
    }
    return weir_array_close(&array, arena);
}

static struct weir_view random_view(const struct weir_type *type, struct weir_arena *arena)
{
    struct weir_view view;
    if (type->kind == WEIR_TYPE_ARRAY) {
        return random_array(type, arena);
    }
    if (type->kind == WEIR_TYPE_CHAR) {
        static const char *const texts[] = {"", "a", "ab", "a b", "abc"};
        assert_true(
            weir_char_fit(weir_view_of(texts[below(5)]), type->modifier, arena, &view, NULL));
        return view;
    }
    return random_bytes(arena);
}

static struct weir_interval random_interval(void)
{
    static const int64_t units[] = {0, 1, -1, 86400000000, -86400000000, INT64_MAX, INT64_MIN};
    return (struct weir_interval){.us = units[below(7)],
                                  .days = (int32_t)below(61) - 30,
                                  .months = below(10) == 0 ? INT32_MIN : (int32_t)below(3) - 1};
}

static void fill(struct weir_column *column, uint32_t row, struct weir_arena *arena)
{
    if (below(8) == 0) {
        return; // stays NULL
    }
    weir_bitmap_set(column->validity, row);
    switch (weir_type_layout(column->type.kind)) {
    case WEIR_LAYOUT_U8:
        column->u8[row] = (uint8_t)below(2);
        break;
    case WEIR_LAYOUT_I16:
        column->i16[row] = (int16_t)random_integer();
        break;
    case WEIR_LAYOUT_I32:
        column->i32[row] = (int32_t)random_integer();
        break;
    case WEIR_LAYOUT_I64:
        column->i64[row] = random_integer();
        break;
    case WEIR_LAYOUT_F32:
        column->f32[row] = (float)random_double();
        break;
    case WEIR_LAYOUT_F64:
        column->f64[row] = random_double();
        break;
    case WEIR_LAYOUT_NUMERIC:
        column->numeric[row] = random_numeric(arena);
        break;
    case WEIR_LAYOUT_VIEW:
        column->view[row] = random_view(&column->type, arena);
        break;
    case WEIR_LAYOUT_INTERVAL:
        column->interval[row] = random_interval();
        break;
    case WEIR_LAYOUT_UUID:
        for (size_t i = 0; i < sizeof column->uuid[row].bytes; i++) {
            column->uuid[row].bytes[i] = (uint8_t)(below(4) == 0 ? random_integer() : 0);
        }
        break;
    case WEIR_LAYOUT_COMPOSITE:
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            fill(&column->children[i], row, arena);
        }
        break;
    }
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static int compare_rows(const struct weir_column *columns, uint32_t count, uint32_t a, uint32_t b)
{
    int order = 0;
    for (uint32_t c = 0; c < count && order == 0; c++) {
        order = weir_compare_values(&columns[c], a, &columns[c], b);
    }
    return order;
}

struct table {
    struct weir_arena *arena;
    uint32_t column_count;
    struct weir_column columns[3];
    struct weir_buffer keys[ROW_COUNT];
};

static struct weir_view key_of(const struct table *table, uint32_t row)
{
    return (struct weir_view){table->keys[row].data, table->keys[row].size_bytes};
}

static void check_way_back(const struct table *table, uint32_t row)
{
    struct weir_arena *arena = weir_arena_create(1 << 12);
    struct weir_column back[3];
    for (uint32_t c = 0; c < table->column_count; c++) {
        weir_column_init(&back[c], &table->columns[c].type, 2, true, arena);
        // What was in the row before does not matter.
        fill(&back[c], 1, arena);
    }
    struct weir_view key = key_of(table, row);
    assert_true(weir_key_decode(key, back, table->column_count, 1, arena));
    struct weir_buffer again = {0};
    weir_key_encode(back, table->column_count, 1, &again);
    assert_true(weir_view_equal(key, (struct weir_view){again.data, again.size_bytes}));
    for (uint32_t c = 0; c < table->column_count; c++) {
        assert_int_equal(weir_compare_values(&table->columns[c], row, &back[c], 1), 0);
    }
    // Neither the beginning of a key nor one with more behind it is a key. The copies are exact, so
    // that a sanitizer sees what is read behind their ends.
    for (size_t size = 0; size < key.size_bytes + 1; size++) {
        char *part = weir_alloc(size + 1);
        memcpy(part, key.data, size < key.size_bytes ? size : key.size_bytes);
        part = weir_realloc(part, size == 0 ? 1 : size);
        if (size != key.size_bytes) {
            assert_false(weir_key_decode((struct weir_view){part, size}, back, table->column_count,
                                         1, arena));
        }
        free(part);
    }
    weir_buffer_append_char(&again, 1);
    assert_false(weir_key_decode((struct weir_view){again.data, again.size_bytes}, back,
                                 table->column_count, 1, arena));
    weir_buffer_deinit(&again);
    weir_arena_destroy(arena);
}

static void check(uint32_t column_count, const struct weir_type *types)
{
    struct table table = {.arena = weir_arena_create(1 << 14), .column_count = column_count};
    for (uint32_t c = 0; c < column_count; c++) {
        weir_column_init(&table.columns[c], &types[c], ROW_COUNT, true, table.arena);
    }
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        for (uint32_t c = 0; c < column_count; c++) {
            fill(&table.columns[c], row, table.arena);
        }
        weir_key_encode(table.columns, column_count, row, &table.keys[row]);
    }
    for (uint32_t a = 0; a < ROW_COUNT; a++) {
        for (uint32_t b = 0; b < ROW_COUNT; b++) {
            int expected = compare_rows(table.columns, column_count, a, b);
            int order = weir_compare_view(key_of(&table, a), key_of(&table, b));
            if (order != sign(expected)) {
                char name[64];
                struct weir_buffer text = {0};
                weir_text_append(&text, &table.columns[0], a);
                weir_buffer_printf(&text, " and ");
                weir_text_append(&text, &table.columns[0], b);
                fail_msg("%s: %s: %d for %d", weir_type_name(&types[0], name, sizeof name),
                         weir_buffer_text(&text), order, expected);
            }
            if (expected == 0) {
                assert_int_equal(weir_key_group(key_of(&table, a)),
                                 weir_key_group(key_of(&table, b)));
            }
        }
        check_way_back(&table, a);
    }
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        weir_buffer_deinit(&table.keys[row]);
    }
    weir_arena_destroy(table.arena);
}

static void test_key_order_and_equality_of_every_type(void **state)
{
    (void)state;
    static const struct weir_type TYPES[] = {
        PLAIN(BOOLEAN),
        PLAIN(SMALLINT),
        PLAIN(INTEGER),
        PLAIN(BIGINT),
        PLAIN(REAL),
        PLAIN(DOUBLE),
        PLAIN(NUMERIC),
        PLAIN(TEXT),
        PLAIN(VARCHAR),
        PLAIN(BYTEA),
        PLAIN(DATE),
        PLAIN(TIMESTAMP),
        PLAIN(TIMESTAMPTZ),
        {WEIR_TYPE_COMPOSITE, -1, &outer},
        PLAIN(TIME),
        PLAIN(INTERVAL),
        PLAIN(UUID),
        {WEIR_TYPE_CHAR, 4, NULL},
        {WEIR_TYPE_ARRAY, -1, &numerics},
        {WEIR_TYPE_ARRAY, -1, &composites},
    };
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        for (uint32_t round = 0; round < 4; round++) {
            check(1, &TYPES[i]);
        }
    }
}

static void test_key_order_of_several_columns(void **state)
{
    (void)state;
    static const struct weir_type TYPES[] = {
        PLAIN(BYTEA), {WEIR_TYPE_COMPOSITE, -1, &inner}, PLAIN(BYTEA)};
    for (uint32_t round = 0; round < 8; round++) {
        check(3, TYPES);
    }
}

// ("xy", "z") and ("x", "yz") are two keys.
static void test_key_columns_do_not_run_together(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(1 << 12);
    struct weir_type type = weir_type_plain(WEIR_TYPE_TEXT);
    struct weir_column columns[2];
    static const char *const TEXTS[2][2] = {{"xy", "z"}, {"x", "yz"}};
    struct weir_buffer keys[2] = {{0}, {0}};
    for (uint32_t c = 0; c < 2; c++) {
        weir_column_init(&columns[c], &type, 2, false, arena);
    }
    for (uint32_t row = 0; row < 2; row++) {
        columns[0].view[row] = weir_view_of(TEXTS[row][0]);
        columns[1].view[row] = weir_view_of(TEXTS[row][1]);
        weir_key_encode(columns, 2, row, &keys[row]);
    }
    assert_false(weir_view_equal((struct weir_view){keys[0].data, keys[0].size_bytes},
                                 (struct weir_view){keys[1].data, keys[1].size_bytes}));
    weir_buffer_deinit(&keys[0]);
    weir_buffer_deinit(&keys[1]);
    weir_arena_destroy(arena);
}

static void test_key_of_jsonb_goes_by_value(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "1",
        "1.0",
        "1.00",
        "10",
        "100",
        "-0.50",
        "-0.5",
        "0",
        "0.0",
        "\"1.0\"",
        "\"1.00\"",
        "{\"a\": 1.50}",
        "{\"a\": 1.5}",
        "[1.0, 2]",
        "[1, 2.0]",
        "[10, 2]",
        "\"\\\"1.0\"",
        "\"\\\"1.00\"",
        "true",
        "null",
        "[1.0,1.0]",
        "[\"1.0\",1.0]",
        "[\"1.0\",1]",
        "{\"1.0\":0}",
        "{\"1.00\":0}",
        "1e30",
        "1.0e30",
        "\"\\\\\"",
        "[]",
        "{}",
    };
    enum { COUNT = sizeof TEXTS / sizeof *TEXTS };
    struct weir_arena *arena = weir_arena_create(1 << 12);
    struct weir_type type = weir_type_plain(WEIR_TYPE_JSONB);
    struct weir_column column;
    struct weir_column back;
    struct weir_buffer keys[COUNT] = {{0}};
    weir_column_init(&column, &type, COUNT, true, arena);
    weir_column_init(&back, &type, 1, true, arena);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(weir_text_parse(&column, i, weir_view_of(TEXTS[i]), arena, NULL));
        weir_key_encode(&column, 1, i, &keys[i]);
        assert_true(weir_key_decode((struct weir_view){keys[i].data, keys[i].size_bytes}, &back, 1,
                                    0, arena));
        assert_int_equal(weir_compare_values(&column, i, &back, 0), 0);
    }
    for (uint32_t a = 0; a < COUNT; a++) {
        for (uint32_t b = 0; b < COUNT; b++) {
            bool is_same = weir_view_equal((struct weir_view){keys[a].data, keys[a].size_bytes},
                                           (struct weir_view){keys[b].data, keys[b].size_bytes});
            if (is_same != (weir_compare_values(&column, a, &column, b) == 0)) {
                fail_msg("%s and %s", TEXTS[a], TEXTS[b]);
            }
        }
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        weir_buffer_deinit(&keys[i]);
    }
    weir_arena_destroy(arena);
}

static void test_key_decode_survives_any_bytes(void **state)
{
    (void)state;
    static const struct weir_type TYPES[] = {
        {WEIR_TYPE_ARRAY, -1, &numerics}, {WEIR_TYPE_COMPOSITE, -1, &outer}, PLAIN(INTERVAL)};
    for (uint32_t round = 0; round < 20000; round++) {
        struct weir_arena *arena = weir_arena_create(1 << 12);
        struct weir_column columns[3];
        for (uint32_t c = 0; c < 3; c++) {
            weir_column_init(&columns[c], &TYPES[c], 1, true, arena);
            fill(&columns[c], 0, arena);
        }
        struct weir_buffer key = {0};
        struct weir_buffer row = {0};
        weir_key_encode(columns, 3, 0, &key);
        weir_row_encode(columns, 3, 0, &row);
        key.data[below((uint32_t)key.size_bytes)] = (char)next_random();
        row.data[below((uint32_t)row.size_bytes)] = (char)next_random();
        weir_key_decode((struct weir_view){key.data, key.size_bytes}, columns, 3, 0, arena);
        weir_row_decode((struct weir_view){row.data, row.size_bytes}, columns, 3, 0, arena);
        weir_buffer_deinit(&key);
        weir_buffer_deinit(&row);
        weir_arena_destroy(arena);
    }
}

// Rows, unlike keys, keep the spelling.
static void test_row_codec_gives_back_what_it_was_given(void **state)
{
    (void)state;
    static const struct weir_type TYPES[] = {PLAIN(BOOLEAN),
                                             PLAIN(SMALLINT),
                                             PLAIN(INTEGER),
                                             PLAIN(BIGINT),
                                             PLAIN(REAL),
                                             PLAIN(DOUBLE),
                                             PLAIN(NUMERIC),
                                             PLAIN(BYTEA),
                                             PLAIN(TIMESTAMP),
                                             {WEIR_TYPE_COMPOSITE, -1, &outer},
                                             PLAIN(INTERVAL),
                                             PLAIN(UUID),
                                             {WEIR_TYPE_ARRAY, -1, &composites},
                                             {WEIR_TYPE_ARRAY, -1, &numerics}};
    enum { COUNT = sizeof TYPES / sizeof *TYPES };
    struct weir_arena *arena = weir_arena_create(1 << 14);
    for (uint32_t round = 0; round < 300; round++) {
        weir_arena_reset(arena);
        struct weir_column columns[COUNT];
        struct weir_column back[COUNT];
        for (uint32_t c = 0; c < COUNT; c++) {
            weir_column_init(&columns[c], &TYPES[c], 3, true, arena);
            weir_column_init(&back[c], &TYPES[c], 2, true, arena);
            fill(&columns[c], 2, arena);
            fill(&back[c], 1, arena);
        }
        struct weir_buffer bytes = {0};
        weir_row_encode(columns, COUNT, 2, &bytes);
        struct weir_view view = {bytes.data, bytes.size_bytes};
        assert_true(weir_row_decode(view, back, COUNT, 1, arena));
        for (uint32_t c = 0; c < COUNT; c++) {
            assert_int_equal(weir_compare_values(&columns[c], 2, &back[c], 1), 0);
        }
        if (weir_column_is_valid(&columns[6], 2)) {
            assert_int_equal(columns[6].numeric[2].scale, back[6].numeric[1].scale);
        }
        assert_false(weir_row_decode((struct weir_view){view.data, view.size_bytes - 1}, back,
                                     COUNT, 1, arena));
        weir_buffer_deinit(&bytes);
    }
    weir_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_order_and_equality_of_every_type),
        cmocka_unit_test(test_key_order_of_several_columns),
        cmocka_unit_test(test_key_columns_do_not_run_together),
        cmocka_unit_test(test_key_of_jsonb_goes_by_value),
        cmocka_unit_test(test_key_decode_survives_any_bytes),
        cmocka_unit_test(test_row_codec_gives_back_what_it_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
