// SPDX-License-Identifier: Apache-2.0
// The parse tree's JSON by yyjson (parse_node.h): the one file of sql/ that knows that library.
#include "sql/parse_node.h"

#include <string.h>
#include <yyjson.h>

static yyjson_val *value_of(const struct weir_parse_node *node)
{
    return (yyjson_val *)(uintptr_t)node;
}

static const struct weir_parse_node *node_of(const yyjson_val *value)
{
    return (const struct weir_parse_node *)value;
}

struct weir_parse_document *weir_parse_document_create(const char *json, size_t size_bytes)
{
    return (struct weir_parse_document *)yyjson_read(json, size_bytes, YYJSON_READ_NOFLAG);
}

void weir_parse_document_destroy(struct weir_parse_document *document)
{
    yyjson_doc_free((yyjson_doc *)document);
}

const struct weir_parse_node *weir_parse_root(const struct weir_parse_document *document)
{
    return node_of(yyjson_doc_get_root((yyjson_doc *)(uintptr_t)document));
}

const struct weir_parse_node *weir_parse_get(const struct weir_parse_node *node, const char *name)
{
    return node_of(yyjson_obj_get(value_of(node), name));
}

bool weir_parse_has(const struct weir_parse_node *node, const char *name)
{
    return weir_parse_get(node, name) != NULL;
}

bool weir_parse_bool(const struct weir_parse_node *node, const char *name)
{
    return yyjson_get_bool(yyjson_obj_get(value_of(node), name));
}

int64_t weir_parse_int(const struct weir_parse_node *node, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(value_of(node), name));
}

const char *weir_parse_text(const struct weir_parse_node *node, const char *name)
{
    return yyjson_get_str(yyjson_obj_get(value_of(node), name));
}

bool weir_parse_text_is(const struct weir_parse_node *node, const char *name, const char *text)
{
    const char *found = weir_parse_text(node, name);
    return found != NULL && strcmp(found, text) == 0;
}

int32_t weir_parse_location(const struct weir_parse_node *node)
{
    return (int32_t)weir_parse_int(node, "location");
}

struct weir_parse_list weir_parse_items(const struct weir_parse_node *node, const char *name,
                                        struct weir_arena *arena)
{
    yyjson_val *array = yyjson_obj_get(value_of(node), name);
    size_t count = yyjson_arr_size(array);
    struct weir_parse_list list = {
        .count = (uint32_t)count,
        .items = weir_arena_alloc(arena, count * sizeof(struct weir_parse_node *)),
    };
    size_t idx;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(array, idx, max, item)
    {
        list.items[idx] = node_of(item);
    }
    return list;
}

const char *weir_parse_kind(const struct weir_parse_node *node, const struct weir_parse_node **body)
{
    yyjson_obj_iter iter;
    *body = NULL;
    if (!yyjson_obj_iter_init(value_of(node), &iter)) {
        return "";
    }
    yyjson_val *key = yyjson_obj_iter_next(&iter);
    if (key == NULL) {
        return "";
    }
    *body = node_of(yyjson_obj_iter_get_val(key));
    return yyjson_get_str(key);
}

const struct weir_parse_node *weir_parse_as(const struct weir_parse_node *node, const char *kind)
{
    return weir_parse_get(node, kind);
}

const char *weir_parse_string(const struct weir_parse_node *node)
{
    const struct weir_parse_node *body = weir_parse_as(node, "String");
    if (body == NULL) {
        return NULL;
    }
    const char *text = weir_parse_text(body, "sval");
    if (text == NULL) {
        text = weir_parse_text(body, "str");
    }
    return text != NULL ? text : ""; // an empty string is left out
}
