// SPDX-License-Identifier: Apache-2.0
// See state_scan.h.
#include "runtime/state_scan.h"

struct item {
    uint32_t key_bytes;
    uint32_t value_bytes;
    size_t offset;
};

void weir_state_scan_deinit(struct weir_state_scan *scan)
{
    weir_buffer_deinit(&scan->bytes);
    weir_buffer_deinit(&scan->items);
}

static bool add(void *context, const struct weir_state_key *key, struct weir_view value)
{
    struct weir_state_scan *scan = context;
    struct item item = {.key_bytes = (uint32_t)key->bytes.size_bytes,
                        .value_bytes = (uint32_t)value.size_bytes,
                        .offset = scan->bytes.size_bytes};
    weir_buffer_append(&scan->bytes, key->bytes.data, key->bytes.size_bytes);
    weir_buffer_append(&scan->bytes, value.data, value.size_bytes);
    weir_buffer_append(&scan->items, &item, sizeof item);
    return scan->count_max == 0 || weir_state_scan_count(scan) < scan->count_max;
}

void weir_state_scan_run(struct weir_state_scan *scan, struct weir_state *state, uint16_t key_group,
                         struct weir_view from, struct weir_view to, uint32_t count_max)
{
    scan->key_group = key_group;
    scan->count_max = count_max;
    scan->bytes.size_bytes = 0;
    scan->items.size_bytes = 0;
    state->ops->scan(state, key_group, from, to, add, scan);
}

uint32_t weir_state_scan_count(const struct weir_state_scan *scan)
{
    return (uint32_t)(scan->items.size_bytes / sizeof(struct item));
}

static struct item item_at(const struct weir_state_scan *scan, uint32_t idx)
{
    struct item item;
    memcpy(&item, scan->items.data + idx * sizeof item, sizeof item);
    return item;
}

// Never without data, which would mean no key.
static struct weir_view view_at(const struct weir_state_scan *scan, size_t offset,
                                size_t size_bytes)
{
    return (struct weir_view){.data = size_bytes != 0 ? scan->bytes.data + offset : "",
                              .size_bytes = size_bytes};
}

struct weir_state_key weir_state_scan_key(const struct weir_state_scan *scan, uint32_t idx)
{
    struct item item = item_at(scan, idx);
    return (struct weir_state_key){.key_group = scan->key_group,
                                   .bytes = view_at(scan, item.offset, item.key_bytes)};
}

struct weir_view weir_state_scan_value(const struct weir_state_scan *scan, uint32_t idx)
{
    struct item item = item_at(scan, idx);
    return view_at(scan, item.offset + item.key_bytes, item.value_bytes);
}

void weir_state_scan_remove(const struct weir_state_scan *scan, struct weir_state *state)
{
    for (uint32_t i = 0; i < weir_state_scan_count(scan); i++) {
        struct weir_state_key key = weir_state_scan_key(scan, i);
        state->ops->remove(state, &key);
    }
}

struct weir_view weir_state_step_behind(struct weir_buffer *bytes)
{
    while (bytes->size_bytes > 0 && (uint8_t)bytes->data[bytes->size_bytes - 1] == 0xff) {
        bytes->size_bytes--;
    }
    if (bytes->size_bytes == 0) {
        return (struct weir_view){.data = NULL};
    }
    bytes->data[bytes->size_bytes - 1]++;
    return weir_buffer_view(bytes);
}
