// SPDX-License-Identifier: Apache-2.0
// See json_shape.h. Built once for a decoder, then read by every scan; only `next`, `first` and the
// learned entries change. Entry numbers are stable, entries are never taken back.
#include "kafka/json_shape.h"

#include "kafka/json_string.h"
#include "runtime/base/assert.h"

static uint32_t hash_name(struct weir_view name)
{
    uint64_t hash = name.size_bytes * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = 0;
    for (; i + 8 <= name.size_bytes; i += 8) {
        hash = (hash ^ weir_json_load_u64(name.data + i)) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    uint64_t rest = 0;
    if (i < name.size_bytes) {
        memcpy(&rest, name.data + i, name.size_bytes - i);
    }
    hash = (hash ^ rest) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(hash >> 32);
}

static struct weir_view entry_name(const struct weir_json_entry *entry)
{
    return (struct weir_view){.data = entry->quoted + 1, .size_bytes = entry->name_bytes};
}

struct weir_json_entry *weir_json_shape_find(const struct weir_json_shape *shape,
                                             struct weir_view name)
{
    uint32_t i = hash_name(name) & shape->table_mask;
    while (shape->table[i] != 0 &&
           !weir_view_equal(entry_name(&shape->entries[shape->table[i]]), name)) {
        i = (i + 1) & shape->table_mask;
    }
    return &shape->entries[shape->table[i]];
}

static struct weir_json_entry *add_entry(struct weir_json_shape *shape, struct weir_view name,
                                         int32_t member_idx)
{
    WEIR_ASSERT(shape->entry_count < shape->entry_capacity);
    uint32_t entry_idx = shape->entry_count++;
    struct weir_json_entry *entry = &shape->entries[entry_idx];
    uint32_t quoted_bytes = (uint32_t)name.size_bytes + 2;
    char *quoted = weir_arena_alloc_zero(shape->arena, quoted_bytes + sizeof(uint64_t));
    quoted[0] = '"';
    memcpy(quoted + 1, name.data, name.size_bytes);
    quoted[quoted_bytes - 1] = '"';
    uint32_t head_bytes = quoted_bytes < 8 ? quoted_bytes : 8;
    char mask[8] = {0};
    memset(mask, 0xff, head_bytes);
    *entry = (struct weir_json_entry){
        .head_mask = weir_json_load_u64(mask),
        .head = weir_json_load_u64(quoted) & weir_json_load_u64(mask),
        .tail = quoted_bytes > 8 ? weir_json_load_u64(quoted + quoted_bytes - 8) : 0,
        .quoted = quoted,
        .quoted_bytes = weir_json_is_literal(name) ? quoted_bytes : UINT32_MAX,
        .name_bytes = (uint32_t)name.size_bytes,
        .member_idx = member_idx,
        .next = shape->entries,
    };
    uint32_t i = hash_name(name) & shape->table_mask;
    while (shape->table[i] != 0) {
        i = (i + 1) & shape->table_mask;
    }
    shape->table[i] = (uint16_t)entry_idx;
    return entry;
}

struct weir_json_entry *weir_json_shape_learn(struct weir_json_shape *shape, struct weir_view name)
{
    if (shape->entry_count == shape->entry_capacity ||
        name.size_bytes > WEIR_JSON_LEARNED_NAME_BYTES_MAX) {
        return shape->entries;
    }
    return add_entry(shape, name, -1);
}

struct weir_json_shape *weir_json_shape_create(uint32_t field_count,
                                               const struct weir_field *fields,
                                               uint32_t *slot_count, struct weir_arena *arena)
{
    WEIR_ASSERT(field_count < INT16_MAX - WEIR_JSON_LEARNED_MAX);
    struct weir_json_shape *shape = weir_arena_alloc_zero(arena, sizeof *shape);
    shape->arena = arena;
    shape->member_count = field_count;
    shape->members = weir_arena_alloc_zero(arena, field_count * sizeof *shape->members);
    shape->entry_capacity = 1 + field_count + WEIR_JSON_LEARNED_MAX;
    shape->entries = weir_arena_alloc_zero(arena, shape->entry_capacity * sizeof *shape->entries);
    shape->entries[0] = (struct weir_json_entry){
        .quoted_bytes = UINT32_MAX, .member_idx = -1, .next = shape->entries};
    shape->entry_count = 1;
    shape->first = shape->entries;
    uint32_t table_size = 1;
    while (table_size < 2 * shape->entry_capacity) {
        table_size *= 2;
    }
    shape->table_mask = table_size - 1;
    shape->table = weir_arena_alloc_zero(arena, table_size * sizeof *shape->table);

    shape->slot_first = *slot_count;
    *slot_count += field_count;
    for (uint32_t i = 0; i < field_count; i++) {
        struct weir_json_member *member = &shape->members[i];
        member->slot_idx = shape->slot_first + i;
        if (fields[i].type.kind == WEIR_TYPE_COMPOSITE) {
            const struct weir_composite *composite = fields[i].type.composite;
            member->shape = weir_json_shape_create(composite->field_count, composite->fields,
                                                   slot_count, arena);
        }
        struct weir_view name = weir_view_of(fields[i].name);
        WEIR_ASSERT(weir_json_shape_find(shape, name) == shape->entries); // no name twice
        struct weir_json_entry *entry = add_entry(shape, name, (int32_t)i);
        // Until records have shown theirs, the declared order is expected.
        *(i == 0 ? &shape->first : &entry[-1].next) = entry;
    }
    shape->slot_end = *slot_count;
    return shape;
}
