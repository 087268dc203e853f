// SPDX-License-Identifier: Apache-2.0
#include "../cmocka_all.h"
#include "kafka/avro_schema.h"

#include <stdio.h>

static struct weir_arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = weir_arena_create(64 * 1024);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_arena_destroy(arena);
    return 0;
}

static const char *fault_of(const char *text)
{
    const struct weir_avro_type *type;
    struct weir_error error;
    if (weir_avro_schema_parse(arena, 0, NULL, weir_view_of(text), &type, &error) == WEIR_OK) {
        return "none";
    }
    return weir_arena_strdup(arena, error.text);
}

static const struct weir_avro_type *parse(const char *text)
{
    const struct weir_avro_type *type = NULL;
    struct weir_error error = {0};
    if (weir_avro_schema_parse(arena, 0, NULL, weir_view_of(text), &type, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    return type;
}

#define RECORD(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"

// C029: refused with the type's name and path.
static void test_recursion_is_refused_by_name_and_path(void **state)
{
    (void)state;
    assert_string_equal(
        fault_of(
            RECORD("Tree", FIELD("label", "\"string\"") "," FIELD("child", "[\"null\",\"Tree\"]"))),
        "Tree.child: record Tree refers to itself: recursive types cannot become columns");
    assert_non_null(strstr(fault_of(RECORD("Tree", FIELD("c", "{\"type\":\"array\",\"items\":"
                                                              "\"Tree\"}"))),
                           "Tree.c: record Tree refers to itself"));
    assert_non_null(strstr(fault_of(RECORD("Tree", FIELD("c", "{\"type\":\"map\",\"values\":"
                                                              "\"Tree\"}"))),
                           "Tree.c: record Tree refers to itself"));
    assert_non_null(
        strstr(fault_of(RECORD("P", FIELD("q", RECORD("Q", FIELD("p", "[\"null\",\"P\"]"))))),
               "P.q.p: record P refers to itself"));
}

static void test_deep_and_large_schemas_are_refused(void **state)
{
    (void)state;
    struct weir_buffer text = {0};
    for (int i = 0; i < 10000; i++) {
        weir_buffer_printf(&text, "{\"type\":\"array\",\"items\":");
    }
    weir_buffer_printf(&text, "\"int\"");
    for (int i = 0; i < 10000; i++) {
        weir_buffer_append_char(&text, '}');
    }
    assert_non_null(strstr(fault_of(weir_buffer_text(&text)), "nested more than 64 deep"));
    // Each record names the one before twice: 2^40 types.
    text.size_bytes = 0;
    weir_buffer_printf(&text, "[" RECORD("r0", FIELD("a", "\"int\"")));
    for (int i = 1; i <= 40; i++) {
        weir_buffer_printf(&text,
                           ",{\"type\":\"record\",\"name\":\"r%d\",\"fields\":[{\"name\":\"a\","
                           "\"type\":\"r%d\"},{\"name\":\"b\",\"type\":\"r%d\"}]}",
                           i, i - 1, i - 1);
    }
    weir_buffer_append_char(&text, ']');
    assert_non_null(strstr(fault_of(weir_buffer_text(&text)), "more than 100000 types"));
    weir_buffer_deinit(&text);
}

static void test_faults(void **state)
{
    static const struct {
        const char *text;
        const char *fault;
    } cases[] = {
        {"", "not JSON"},
        {"{\"type\":\"record\"", "not JSON"},
        {"12", "a type is a name, an object or a list of branches"},
        {"\"integer\"", "type \"integer\" is not defined"},
        {"{\"type\":\"record\",\"fields\":[]}", "has no name"},
        {RECORD("r", FIELD("a", "\"int\"") "," FIELD("a", "\"int\"")), "defined twice"},
        {"[\"int\",\"int\"]", "two branches of one type"},
        {"[\"int\",[\"null\"]]", "a union is a branch of a union"},
        {"[]", "a union has from 1"},
        {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[]}", "no symbols"},
        {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", "a fixed has a size"},
        {"{\"type\":\"array\"}", "has no \"items\""},
        {RECORD("1r", FIELD("a", "\"int\"")), "not a valid Avro schema"},
        {RECORD("r", FIELD("a", RECORD("r", FIELD("b", "\"int\"")))), "defined twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *fault = fault_of(cases[i].text);
        if (strstr(fault, cases[i].fault) == NULL) {
            fail_msg("%s: %s", cases[i].text, fault);
        }
    }
}

static void test_names_and_namespaces(void **state)
{
    (void)state;
    const struct weir_avro_type *type =
        parse("{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"com.acme\",\"fields\":["
              "{\"name\":\"a\",\"type\":{\"type\":\"enum\",\"name\":\"Kind\",\"symbols\":[\"X\"]}},"
              "{\"name\":\"b\",\"type\":\"Kind\"},{\"name\":\"c\",\"type\":\"com.acme.Kind\"},"
              "{\"name\":\"d\",\"type\":{\"type\":\"fixed\",\"name\":\"other.F\",\"size\":2}},"
              "{\"name\":\"e\",\"type\":\"other.F\"}]}");
    assert_string_equal(type->name, "com.acme.Order");
    assert_ptr_equal(type->fields[0].type, type->fields[1].type);
    assert_ptr_equal(type->fields[0].type, type->fields[2].type);
    assert_ptr_equal(type->fields[3].type, type->fields[4].type);
    struct weir_buffer text = {0};
    weir_avro_schema_append_canonical(type, &text);
    assert_string_equal(
        weir_buffer_text(&text),
        "{\"name\":\"com.acme.Order\",\"type\":\"record\",\"fields\":[{\"name\":\"a\",\"type\":{"
        "\"name\":\"com.acme.Kind\",\"type\":\"enum\",\"symbols\":[\"X\"]}},{\"name\":\"b\","
        "\"type\":\"com.acme.Kind\"},{\"name\":\"c\",\"type\":\"com.acme.Kind\"},{\"name\":\"d\","
        "\"type\":{\"name\":\"other.F\",\"type\":\"fixed\",\"size\":2}},{\"name\":\"e\",\"type\":"
        "\"other.F\"}]}");
    weir_buffer_deinit(&text);
}

static void test_references_to_other_schemas(void **state)
{
    const struct weir_view references[] = {
        weir_view_of("{\"type\":\"enum\",\"name\":\"a.Kind\",\"symbols\":[\"X\",\"Y\"]}"),
        weir_view_of(RECORD("b.Line", FIELD("kind", "\"a.Kind\""))),
    };
    const struct weir_avro_type *type = NULL;
    struct weir_error error;
    (void)state;
    assert_int_equal(weir_avro_schema_parse(
                         arena, 2, references,
                         weir_view_of(RECORD("c.Order", FIELD("l", "\"b.Line\""))), &type, &error),
                     WEIR_OK);
    assert_string_equal(type->fields[0].type->fields[0].type->name, "a.Kind");
}

// What does not fit is no logical type, as the specification says.
static void test_logical_types(void **state)
{
    static const struct {
        const char *text;
        enum weir_avro_logical logical;
    } cases[] = {
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":2}",
         WEIR_AVRO_DECIMAL},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":5}",
         WEIR_AVRO_LOGICAL_NONE},
        {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":2,\"logicalType\":\"decimal\","
         "\"precision\":5}",
         WEIR_AVRO_LOGICAL_NONE},
        {"{\"type\":\"string\",\"logicalType\":\"uuid\"}", WEIR_AVRO_UUID},
        {"{\"type\":\"int\",\"logicalType\":\"timestamp-millis\"}", WEIR_AVRO_LOGICAL_NONE},
        {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":12,\"logicalType\":\"duration\"}",
         WEIR_AVRO_DURATION},
        {"{\"type\":{\"type\":\"int\",\"logicalType\":\"date\"}}", WEIR_AVRO_DATE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(cases[i].text)->logical, cases[i].logical);
    }
}

static void test_defaults_in_binary(void **state)
{
    static const struct {
        const char *type;
        const char *value;
        const char *bytes; // NULL: no default
        size_t size_bytes;
    } cases[] = {
        {"\"int\"", "-1", "\x01", 1},
        {"\"int\"", "4294967296", NULL, 0},
        {"\"bytes\"", "\"\\u0000\"", "\x02\x00", 2}, // C018
        {"\"bytes\"", "\"\\u00e9\\u0100\"", NULL, 0},
        {"[\"null\",\"string\"]", "null", "\x00", 1},
        {"[\"null\",\"string\"]", "\"x\"", "\x02\x02x", 3},
        {"\"string\"", "null", NULL, 0},
        {"{\"type\":\"map\",\"values\":\"int\"}", "{\"a\":1}", "\x02\x02\x61\x02\x00", 5},
        {"{\"type\":\"array\",\"items\":\"int\"}", "[]", "\x00", 1},
        {"\"null\"", "null", "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, RECORD("r", "{\"name\":\"a\",\"type\":%s,\"default\":%s}"),
                 cases[i].type, cases[i].value);
        struct weir_view bytes = parse(text)->fields[0].default_bytes;
        assert_int_equal(bytes.data != NULL, cases[i].bytes != NULL);
        assert_int_equal(bytes.size_bytes, cases[i].size_bytes);
        if (bytes.data != NULL) {
            assert_memory_equal(bytes.data, cases[i].bytes, bytes.size_bytes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recursion_is_refused_by_name_and_path),
        cmocka_unit_test(test_deep_and_large_schemas_are_refused),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_names_and_namespaces),
        cmocka_unit_test(test_references_to_other_schemas),
        cmocka_unit_test(test_logical_types),
        cmocka_unit_test(test_defaults_in_binary),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
