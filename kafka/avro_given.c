// SPDX-License-Identifier: Apache-2.0
// See avro_given.h.
#include "kafka/avro_given.h"

#include "runtime/base/assert.h"

#include <assert.h>

enum { MARKER_BYTES = 2, FINGERPRINT_BYTES = 8 };

static_assert(MARKER_BYTES + FINGERPRINT_BYTES == WEIR_AVRO_FRAME_BYTES_MAX, "the longest frame");

uint64_t weir_avro_fingerprint(struct weir_view canonical)
{
    static const uint64_t empty = UINT64_C(0xc15d213aa4d7a795);
    uint64_t fingerprint = empty;
    for (size_t i = 0; i < canonical.size_bytes; i++) {
        uint64_t part = (fingerprint ^ (uint8_t)canonical.data[i]) & 0xff;
        for (int bit = 0; bit < 8; bit++) {
            part = part >> 1 ^ (empty & -(part & 1));
        }
        fingerprint = fingerprint >> 8 ^ part;
    }
    return fingerprint;
}

static enum weir_avro_lookup find(struct weir_avro_schemas *schemas, uint32_t id,
                                  const struct weir_avro_type **type, const char **why)
{
    (void)id;
    (void)why;
    *type = ((struct weir_avro_given *)schemas)->type;
    return WEIR_AVRO_FOUND;
}

enum weir_status weir_avro_given_create(struct weir_arena *arena, enum weir_avro_framing framing,
                                        const char *schema, struct weir_avro_given **out,
                                        struct weir_error *error)
{
    struct weir_avro_given *given = weir_arena_alloc_zero(arena, sizeof *given);
    WEIR_ASSERT(framing != WEIR_AVRO_FRAMING_REGISTRY);
    given->schemas.find = find;
    given->frame.framing = framing;
    if (weir_avro_schema_parse(arena, 0, NULL, weir_view_of(schema), &given->type, error) !=
        WEIR_OK) {
        error->domain = WEIR_DOMAIN_CONFIG;
        error->action = WEIR_ACTION_REFUSE;
        return WEIR_ERROR;
    }
    if (framing == WEIR_AVRO_FRAMING_SINGLE_OBJECT) {
        static const char marker[MARKER_BYTES] = {(char)0xc3, 0x01};
        struct weir_buffer canonical = {0};
        weir_avro_schema_append_canonical(given->type, &canonical);
        uint64_t fingerprint =
            weir_avro_fingerprint((struct weir_view){canonical.data, canonical.size_bytes});
        weir_buffer_deinit(&canonical);
        memcpy(given->frame.bytes, marker, sizeof marker);
        memcpy(given->frame.bytes + sizeof marker, &fingerprint,
               sizeof fingerprint); // little-endian
        given->frame.size_bytes = WEIR_AVRO_FRAME_BYTES_MAX;
    }
    *out = given;
    return WEIR_OK;
}
