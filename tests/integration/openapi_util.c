// SPDX-License-Identifier: Apache-2.0
// See openapi_util.h. Of JSON Schema as much as the description uses.
#include "tests/integration/openapi_util.h"

#include "tests/harness/base.h"

#include <stdio.h>
#include <string.h>

json_t *openapi_load(void)
{
    const char *end = strstr(__FILE__, "tests/integration/");
    char *path = weir_test_format("%.*sdocs/openapi.json", (int)(end - __FILE__), __FILE__);
    json_error_t error;
    json_t *description = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (description == NULL) {
        WEIR_TEST_FAIL("%s: line %d: %s", path, error.line, error.text);
    }
    return description;
}

static const json_t *resolve(const json_t *description, const json_t *schema)
{
    static const char prefix[] = "#/components/schemas/";
    const char *name = json_string_value(json_object_get(schema, "$ref"));
    if (name == NULL) {
        return schema;
    }
    const json_t *all = json_object_get(json_object_get(description, "components"), "schemas");
    const json_t *found = json_object_get(all, name + strlen(prefix));
    if (found == NULL) {
        WEIR_TEST_FAIL("no schema %s", name);
    }
    return found;
}

static bool has_type(const json_t *value, const char *type)
{
    return strcmp(type, "object") == 0    ? json_is_object(value)
           : strcmp(type, "array") == 0   ? json_is_array(value)
           : strcmp(type, "string") == 0  ? json_is_string(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
           : strcmp(type, "integer") == 0 ? json_is_integer(value)
           : strcmp(type, "number") == 0  ? json_is_number(value)
                                          : false;
}

static void check(const json_t *description, const json_t *given, const json_t *value,
                  const char *where);

static void check_object(const json_t *description, const json_t *schema, const json_t *value,
                         const char *where)
{
    const json_t *properties = json_object_get(schema, "properties");
    size_t idx;
    json_t *name;
    json_array_foreach(json_object_get(schema, "required"), idx, name)
    {
        if (json_object_get(value, json_string_value(name)) == NULL) {
            WEIR_TEST_FAIL("%s: %s is missing", where, json_string_value(name));
        }
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        const json_t *known = json_object_get(properties, key);
        const json_t *others = json_object_get(schema, "additionalProperties");
        if (known == NULL && json_is_true(others)) {
            continue;
        }
        known = known == NULL && json_is_object(others) ? others : known;
        if (known == NULL) {
            WEIR_TEST_FAIL("%s: %s is not described", where, key);
        }
        char *place = weir_test_format("%s.%s", where, key);
        check(description, known, member, place);
        free(place);
    }
}

static void check(const json_t *description, const json_t *given, const json_t *value,
                  const char *where)
{
    const json_t *schema = resolve(description, given);
    if (json_is_null(value) && json_is_true(json_object_get(schema, "nullable"))) {
        return;
    }
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (type == NULL || !has_type(value, type)) {
        WEIR_TEST_FAIL("%s is not of type %s", where, type);
    }
    const json_t *choices = json_object_get(schema, "enum");
    bool is_choice = choices == NULL;
    size_t idx;
    json_t *item;
    json_array_foreach(choices, idx, item)
    {
        is_choice = is_choice || json_equal(item, value);
    }
    if (!is_choice) {
        WEIR_TEST_FAIL("%s: %s is not among what is described", where, json_string_value(value));
    }
    if (json_is_object(value)) {
        check_object(description, schema, value, where);
    }
    json_array_foreach(value, idx, item)
    {
        char *place = weir_test_format("%s[%zu]", where, idx);
        check(description, json_object_get(schema, "items"), item, place);
        free(place);
    }
}

void openapi_check(const json_t *description, const char *path, const char *method, int status,
                   const char *body)
{
    const json_t *operation =
        json_object_get(json_object_get(json_object_get(description, "paths"), path), method);
    char code[8];
    snprintf(code, sizeof code, "%d", status);
    const json_t *answer = json_object_get(json_object_get(operation, "responses"), code);
    if (answer == NULL) {
        WEIR_TEST_FAIL("%s %s: the answer %d is not described: %s", method, path, status, body);
    }
    const json_t *json = json_object_get(json_object_get(answer, "content"), "application/json");
    if (json == NULL) {
        return; // a text
    }
    json_error_t error;
    json_t *value = json_loads(body, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (value == NULL) {
        WEIR_TEST_FAIL("%s: line %d: %s\n%s", path, error.line, error.text, body);
    }
    check(description, json_object_get(json, "schema"), value, path);
    json_decref(value);
}
