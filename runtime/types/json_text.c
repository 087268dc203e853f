// SPDX-License-Identifier: Apache-2.0
// See json_text.h.
#include "runtime/types/json_text.h"

#include <yyjson.h>

bool weir_json_validate(struct weir_view text, struct weir_value_error *error)
{
    yyjson_read_err read_error = {0};
    char *data = (char *)(uintptr_t)text.data; // only read, without YYJSON_READ_INSITU
    yyjson_doc *document =
        yyjson_read_opts(data, text.size_bytes, YYJSON_READ_NUMBER_AS_RAW, NULL, &read_error);
    if (document == NULL) {
        weir_value_error_set(error, "invalid input syntax for type json");
        return weir_value_error_detail(error, "%s at byte %zu", read_error.msg, read_error.pos);
    }
    yyjson_doc_free(document);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void weir_json_append_compact(struct weir_buffer *buffer, struct weir_view json)
{
    const char *at = json.data;
    const char *end = json.data + json.size_bytes;
    while (at < end) {
        const char *start = at;
        bool is_string = *at == '"';
        if (is_blank(*at)) {
            at++;
            continue;
        }
        at++;
        while (at < end && (is_string ? *at != '"' : *at != '"' && !is_blank(*at))) {
            at += is_string && *at == '\\' ? 2 : 1;
        }
        at += is_string;
        at = at < end ? at : end;
        weir_buffer_append(buffer, start, (size_t)(at - start));
    }
}
