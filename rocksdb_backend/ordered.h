// SPDX-License-Identifier: Apache-2.0
// The versions of one key group of one state in the order of their keys, for states that are
// scanned: blocks of sorted entries under one array. An entry carries the first eight bytes of its
// key, so that most comparisons touch no version. Thread: the task's.
#ifndef WEIR_ROCKSDB_BACKEND_ORDERED_H
#define WEIR_ROCKSDB_BACKEND_ORDERED_H

#include "rocksdb_backend/version.h"

struct weir_ordered;

struct weir_ordered *weir_ordered_create(void);
void weir_ordered_destroy(struct weir_ordered *ordered); // accepts NULL; versions stay

void weir_ordered_insert(struct weir_ordered *ordered, struct weir_version *version); // a new key
void weir_ordered_erase(struct weir_ordered *ordered, const struct weir_version *version);
// Puts `version` where `old`, of the same key, stands.
void weir_ordered_replace(struct weir_ordered *ordered, const struct weir_version *old,
                          struct weir_version *version);
size_t weir_ordered_bytes(const struct weir_ordered *ordered);

// A place. Valid until the next change.
struct weir_ordered_cursor {
    const struct weir_ordered *ordered;
    uint32_t block_idx;
    uint32_t entry_idx;
};

// The first entry whose key is not below `from`.
struct weir_ordered_cursor weir_ordered_seek(const struct weir_ordered *ordered,
                                             struct weir_view from);
// The entry at the place, NULL at the end.
struct weir_version *weir_ordered_at(const struct weir_ordered_cursor *cursor);
void weir_ordered_next(struct weir_ordered_cursor *cursor);

// The order of keys: as memcmp, a prefix first.
static inline int weir_key_compare(struct weir_view a, struct weir_view b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common != 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

#endif
