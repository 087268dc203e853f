// SPDX-License-Identifier: Apache-2.0
// See pointer.h.
#include "kafka/pointer.h"

#include <inttypes.h>
#include <stdio.h>

static_assert(2 * WEIR_ATTEMPT_BYTES == 16, "the width in the format of parse");
static_assert(sizeof "w1:" - 1 + 20 + 1 + 16 + 1 + 16 < WEIR_POINTER_BYTES_MAX,
              "the longest pointer fits");

void weir_pointer_format(const struct weir_pointer *pointer, char text[WEIR_POINTER_BYTES_MAX])
{
    snprintf(text, WEIR_POINTER_BYTES_MAX, "w1:%" PRId64 ":%s:%s", pointer->number,
             pointer->manifest_attempt.text, pointer->owner_attempt.text);
}

enum weir_pointer_state weir_pointer_parse(const struct weir_committed *committed,
                                           struct weir_pointer *pointer)
{
    if (!committed->has_offset) {
        return WEIR_POINTER_ABSENT;
    }
    int end = 0;
    if (sscanf(committed->metadata, "w1:%" SCNd64 ":%16[0-9a-f]:%16[0-9a-f]%n", &pointer->number,
               pointer->manifest_attempt.text, pointer->owner_attempt.text, &end) != 3 ||
        committed->metadata[end] != '\0' || pointer->number < 0) {
        return WEIR_POINTER_FOREIGN;
    }
    return WEIR_POINTER_PRESENT;
}

bool weir_pointer_greatest_committed(const struct weir_committed *committed, uint32_t count,
                                     struct weir_pointer *greatest)
{
    bool is_found = false;
    for (uint32_t i = 0; i < count; i++) {
        struct weir_pointer pointer;
        if (weir_pointer_parse(&committed[i], &pointer) == WEIR_POINTER_PRESENT &&
            (!is_found || pointer.number > greatest->number)) {
            *greatest = pointer;
            is_found = true;
        }
    }
    return is_found;
}
