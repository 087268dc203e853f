// SPDX-License-Identifier: Apache-2.0
// See convert.h.
#include "rocksdb_backend/convert.h"

#include <stdlib.h>
#include <xxhash.h>

uint64_t weir_state_id(const char *operator_id, const char *name)
{
    XXH3_state_t *hash = XXH3_createState();
    XXH3_64bits_reset(hash);
    XXH3_64bits_update(hash, operator_id, strlen(operator_id) + 1);
    XXH3_64bits_update(hash, name, strlen(name) + 1);
    uint64_t id = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return id;
}

uint64_t weir_state_id_of(struct weir_view stored_key)
{
    uint64_t id = 0;
    WEIR_ASSERT(stored_key.size_bytes >= WEIR_LIVE_KEY_PREFIX_BYTES);
    for (size_t i = 2; i < WEIR_LIVE_KEY_PREFIX_BYTES; i++) { // behind the key group
        id = id << 8 | (uint8_t)stored_key.data[i];
    }
    return id;
}

const struct weir_state_conversion *
weir_convert_find(uint32_t count, const struct weir_state_conversion *conversions,
                  uint64_t state_id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (weir_state_id(conversions[i].operator_id, conversions[i].state) == state_id) {
            return &conversions[i];
        }
    }
    return NULL;
}

enum weir_status weir_convert_value(const struct weir_state_conversion *conversion,
                                    struct weir_view value, struct weir_buffer *out,
                                    struct weir_error *error)
{
    return conversion->convert(conversion->context, value, out)
               ? WEIR_OK
               : weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                                "state: an entry of operator %s, state %s, is not laid out as the "
                                "checkpoint's manifest says",
                                conversion->operator_id, conversion->state);
}

enum weir_status weir_live_count(struct weir_live *live, uint32_t *count,
                                 struct weir_state_count **counts, struct weir_error *error)
{
    static const char to[] = {(char)0xff, (char)0xff}; // key groups are fewer
    struct weir_live_iterator *iterator =
        weir_live_iterate(live, (struct weir_view){"", 0}, (struct weir_view){to, sizeof to});
    struct weir_view key;
    struct weir_view value;
    uint32_t idx = 0; // entries of a state come together
    *count = 0;
    *counts = NULL;
    for (; weir_live_iterator_at(iterator, &key, &value); weir_live_iterator_next(iterator)) {
        uint64_t id = weir_state_id_of(key);
        if (idx >= *count || (*counts)[idx].state_id != id) {
            for (idx = 0; idx < *count && (*counts)[idx].state_id != id;) {
                idx++;
            }
        }
        if (idx == *count) {
            *counts = weir_realloc(*counts, (*count + 1) * sizeof **counts);
            (*counts)[(*count)++] = (struct weir_state_count){.state_id = id};
        }
        (*counts)[idx].count++;
    }
    if (weir_live_iterator_close(iterator, error) != WEIR_OK) {
        free(*counts);
        *counts = NULL;
        *count = 0;
        return WEIR_ERROR;
    }
    return WEIR_OK;
}
