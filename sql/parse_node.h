// SPDX-License-Identifier: Apache-2.0
// Reading the parse tree as libpg_query prints it (JSON), node by node. All of yyjson that sql/
// uses is behind this header. A missing node is NULL and may be asked like any other: it has no
// members. libpg_query leaves out members that are 0, false, empty or NULL. Thread: any; read only.
#ifndef WEIR_SQL_PARSE_NODE_H
#define WEIR_SQL_PARSE_NODE_H

#include "runtime/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct weir_parse_document;
struct weir_parse_node;

// NULL: not JSON (a libpg_query that is not understood). The text is not needed afterwards.
struct weir_parse_document *weir_parse_document_create(const char *json, size_t size_bytes);
void weir_parse_document_destroy(struct weir_parse_document *document); // accepts NULL
const struct weir_parse_node *weir_parse_root(const struct weir_parse_document *document);

const struct weir_parse_node *weir_parse_get(const struct weir_parse_node *node, const char *name);
bool weir_parse_has(const struct weir_parse_node *node, const char *name);
bool weir_parse_bool(const struct weir_parse_node *node, const char *name);
int64_t weir_parse_int(const struct weir_parse_node *node, const char *name);
// NULL: there is none. Lives as long as the document.
const char *weir_parse_text(const struct weir_parse_node *node, const char *name);
bool weir_parse_text_is(const struct weir_parse_node *node, const char *name, const char *text);
// Member `location`.
int32_t weir_parse_location(const struct weir_parse_node *node);

// The members of a list, in the arena; an empty one for what is no list.
struct weir_parse_list {
    uint32_t count;
    const struct weir_parse_node **items;
};
struct weir_parse_list weir_parse_items(const struct weir_parse_node *node, const char *name,
                                        struct weir_arena *arena);

// A node is an object with one member: its kind. The kind, and its body; "" for a missing node.
const char *weir_parse_kind(const struct weir_parse_node *node,
                            const struct weir_parse_node **body);
// The body if the node is of this kind, else NULL.
const struct weir_parse_node *weir_parse_as(const struct weir_parse_node *node, const char *kind);
// The text of a String node; NULL: it is none.
const char *weir_parse_string(const struct weir_parse_node *node);

#endif
