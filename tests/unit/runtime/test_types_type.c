// SPDX-License-Identifier: Apache-2.0
// Names, layouts and equality of types; how columns are laid out.
#include "runtime/batch.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct weir_field inner_fields[] = {{"x", {WEIR_TYPE_INTEGER, -1, NULL}}};
static const struct weir_composite inner = {"inner", 1, inner_fields};
static const struct weir_field outer_fields[] = {
    {"a", {WEIR_TYPE_TEXT, -1, NULL}},
    {"b", {WEIR_TYPE_COMPOSITE, -1, &inner}},
};
static const struct weir_composite outer = {"outer", 2, outer_fields};
static const struct weir_composite outer_again = {"outer", 2, outer_fields};
static const struct weir_field other_fields[] = {
    {"a", {WEIR_TYPE_TEXT, -1, NULL}},
    {"b", {WEIR_TYPE_INTEGER, -1, NULL}},
};
static const struct weir_composite other = {"outer", 2, other_fields};

static void check_name(struct weir_type type, const char *expected)
{
    char name[64];
    assert_string_equal(weir_type_name(&type, name, sizeof name), expected);
}

static void test_type_names_are_format_type_s(void **state)
{
    (void)state;
    check_name(weir_type_plain(WEIR_TYPE_DOUBLE), "double precision");
    check_name(weir_type_plain(WEIR_TYPE_TIMESTAMP), "timestamp without time zone");
    check_name(weir_type_plain(WEIR_TYPE_TIMESTAMPTZ), "timestamp with time zone");
    check_name(weir_type_plain(WEIR_TYPE_NUMERIC), "numeric");
    check_name((struct weir_type){WEIR_TYPE_NUMERIC, weir_numeric_modifier(12, 2), NULL},
               "numeric(12,2)");
    check_name((struct weir_type){WEIR_TYPE_NUMERIC, weir_numeric_modifier(5, -2), NULL},
               "numeric(5,-2)");
    check_name((struct weir_type){WEIR_TYPE_NUMERIC, weir_numeric_modifier(1000, 1000), NULL},
               "numeric(1000,1000)");
    check_name((struct weir_type){WEIR_TYPE_VARCHAR, 10, NULL}, "character varying(10)");
    check_name(weir_type_plain(WEIR_TYPE_VARCHAR), "character varying");
    check_name((struct weir_type){WEIR_TYPE_COMPOSITE, -1, &outer}, "outer");
    char cut[6];
    struct weir_type bigint = weir_type_plain(WEIR_TYPE_BIGINT);
    assert_string_equal(weir_type_name(&bigint, cut, sizeof cut), "bigin");
}

static void test_type_equal_looks_into_composites(void **state)
{
    (void)state;
    struct weir_type a = {WEIR_TYPE_COMPOSITE, -1, &outer};
    struct weir_type b = {WEIR_TYPE_COMPOSITE, -1, &outer_again};
    struct weir_type c = {WEIR_TYPE_COMPOSITE, -1, &other};
    assert_true(weir_type_equal(&a, &b));
    assert_false(weir_type_equal(&a, &c));
    struct weir_type narrow = {WEIR_TYPE_VARCHAR, 3, NULL};
    struct weir_type wide = {WEIR_TYPE_VARCHAR, 4, NULL};
    struct weir_type text = weir_type_plain(WEIR_TYPE_TEXT);
    assert_false(weir_type_equal(&narrow, &wide));
    assert_false(weir_type_equal(&narrow, &text));
    assert_true(weir_type_equal(&narrow, &narrow));
}

static void test_type_layouts_have_sizes(void **state)
{
    (void)state;
    for (int kind = WEIR_TYPE_BOOLEAN; kind <= WEIR_TYPE_COMPOSITE; kind++) {
        uint32_t bytes = weir_layout_bytes(weir_type_layout((enum weir_type_kind)kind));
        assert_true((bytes == 0) == (kind == WEIR_TYPE_COMPOSITE));
    }
    assert_int_equal(weir_layout_bytes(weir_type_layout(WEIR_TYPE_DATE)), 4);
    assert_int_equal(weir_layout_bytes(weir_type_layout(WEIR_TYPE_TIMESTAMPTZ)), 8);
    assert_int_equal(weir_layout_bytes(weir_type_layout(WEIR_TYPE_NUMERIC)), 16);
}

static void test_column_init_makes_room_for_every_row(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_column column;
    struct weir_type bigint = weir_type_plain(WEIR_TYPE_BIGINT);
    weir_column_init(&column, &bigint, 130, true, arena);
    for (uint32_t row = 0; row < 130; row++) {
        assert_false(weir_column_is_valid(&column, row));
        column.i64[row] = row;
        weir_bitmap_set(column.validity, row);
        assert_true(weir_column_is_valid(&column, row));
    }
    weir_bitmap_clear(column.validity, 64);
    assert_false(weir_column_is_valid(&column, 64));
    assert_true(weir_column_is_valid(&column, 63));

    weir_column_init(&column, &bigint, 130, false, arena);
    assert_null(column.validity);
    assert_true(weir_column_is_valid(&column, 129));
    weir_arena_destroy(arena);
}

static void test_column_init_goes_into_composites(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_column column;
    struct weir_type type = {WEIR_TYPE_COMPOSITE, -1, &outer};
    weir_column_init(&column, &type, 5, true, arena);
    assert_null(column.data);
    assert_int_equal(column.children[0].type.kind, WEIR_TYPE_TEXT);
    assert_non_null(column.children[0].view);
    assert_int_equal(column.children[1].children[0].type.kind, WEIR_TYPE_INTEGER);
    column.children[1].children[0].i32[4] = 7;
    assert_false(weir_column_is_valid(&column.children[1].children[0], 4));
    weir_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type_names_are_format_type_s),
        cmocka_unit_test(test_type_equal_looks_into_composites),
        cmocka_unit_test(test_type_layouts_have_sizes),
        cmocka_unit_test(test_column_init_makes_room_for_every_row),
        cmocka_unit_test(test_column_init_goes_into_composites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
