// SPDX-License-Identifier: Apache-2.0
// See json_headers.h.
#include "kafka/json_headers.h"

#include "runtime/types/array.h"

#include <stdlib.h>
#include <yyjson.h>

void weir_row_headers_deinit(struct weir_row_headers *list)
{
    free(list->headers);
    *list = (struct weir_row_headers){0};
}

static void add(struct weir_row_headers *list, const char *name, struct weir_view value)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 8;
        list->headers = weir_realloc(list->headers, list->capacity * sizeof *list->headers);
    }
    list->headers[list->count++] = (struct weir_header){.name = name, .value = value};
}

// --- jsonb -----------------------------------------------------------------------------------

static void add_json(struct weir_row_headers *list, const char *name, yyjson_val *value,
                     struct weir_arena *arena)
{
    struct weir_view text = {0};
    if (yyjson_is_str(value)) {
        text = (struct weir_view){yyjson_get_str(value), yyjson_get_len(value)};
    } else if (yyjson_is_raw(value)) {
        text = (struct weir_view){yyjson_get_raw(value), yyjson_get_len(value)};
    } else if (!yyjson_is_null(value)) {
        size_t size_bytes;
        char *written = yyjson_val_write(value, 0, &size_bytes);
        text = weir_arena_copy(arena, (struct weir_view){written, size_bytes});
        free(written);
        add(list, name, text);
        return;
    }
    if (text.data != NULL) {
        text = weir_arena_copy(arena, text);
        text.data = text.data != NULL ? text.data : "";
    }
    add(list, name, text);
}

static bool read_jsonb(struct weir_row_headers *list, struct weir_view json,
                       struct weir_arena *arena, const char **why)
{
    yyjson_doc *document = yyjson_read(json.data, json.size_bytes, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_val *root = yyjson_doc_get_root(document);
    bool is_object = yyjson_is_obj(root);
    size_t idx, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(root, idx, count, key, value)
    {
        const char *name = weir_arena_strdup(arena, yyjson_get_str(key));
        if (!yyjson_is_arr(value)) {
            add_json(list, name, value, arena);
            continue;
        }
        size_t item_idx, item_count;
        yyjson_val *item;
        yyjson_arr_foreach(value, item_idx, item_count, item)
        {
            add_json(list, name, item, arena);
        }
    }
    yyjson_doc_free(document);
    *why = "headers are a JSON object of names and values";
    return is_object;
}

// --- text[] ----------------------------------------------------------------------------------

static bool read_array(struct weir_row_headers *list, struct weir_view value,
                       const struct weir_type *type, struct weir_arena *arena, const char **why)
{
    struct weir_array array;
    weir_array_open(value, type, arena, &array);
    bool is_pairs = array.dimension_count == 2 && array.lengths[1] == 2;
    *why = "headers are names and values in turn, {name,value,name,value}, or pairs of them";
    if (array.element_count % 2 != 0 || (array.dimension_count > 1 && !is_pairs)) {
        return false;
    }
    for (uint32_t i = 0; i < array.element_count; i += 2) {
        if (!weir_column_is_valid(&array.elements, i)) {
            *why = "the name of a header is NULL";
            return false;
        }
        struct weir_view name = array.elements.view[i];
        struct weir_view text = {0};
        if (weir_column_is_valid(&array.elements, i + 1)) {
            text = array.elements.view[i + 1];
        }
        add(list, weir_arena_printf(arena, "%.*s", (int)name.size_bytes, name.data), text);
    }
    return true;
}

bool weir_row_headers_read(struct weir_row_headers *list, const struct weir_column *column,
                           uint32_t row, struct weir_arena *arena, const char **why)
{
    list->count = 0;
    if (!weir_column_is_valid(column, row)) {
        return true;
    }
    return column->type.kind == WEIR_TYPE_JSONB
               ? read_jsonb(list, column->view[row], arena, why)
               : read_array(list, column->view[row], &column->type, arena, why);
}
