// SPDX-License-Identifier: Apache-2.0
// Memory of versions: size classes carved from pages, so that the budget can be counted exactly, an
// entry costs no malloc, and neighbours share pages that the machine translates quickly. A page
// that has become empty serves any class. Thread: the task's.
#ifndef WEIR_ROCKSDB_BACKEND_SLAB_H
#define WEIR_ROCKSDB_BACKEND_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_slab;

// is_large: huge pages are asked for.
struct weir_slab *weir_slab_create(bool is_large);
void weir_slab_destroy(struct weir_slab *slab); // with everything in it; accepts NULL

// At least size_bytes, aligned to 16 and not zeroed; *room_bytes says how many there are.
void *weir_slab_alloc(struct weir_slab *slab, size_t size_bytes, uint32_t *room_bytes);
void weir_slab_free(struct weir_slab *slab, void *memory, uint32_t room_bytes);

// The rooms handed out and not given back.
size_t weir_slab_used_bytes(const struct weir_slab *slab);
// What was taken from the system for them.
size_t weir_slab_held_bytes(const struct weir_slab *slab);

#endif
