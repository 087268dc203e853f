// SPDX-License-Identifier: Apache-2.0
// See owner.h.
#include "app/owner.h"

#include "runtime/base/memory.h"

#include <stdlib.h>

struct weir_attempt weir_owner_begin(struct weir_owner *owner)
{
    owner->attempts =
        weir_realloc(owner->attempts, (owner->attempt_count + 1) * sizeof *owner->attempts);
    owner->attempts[owner->attempt_count] = weir_attempt_random();
    return owner->attempts[owner->attempt_count++];
}

void weir_owner_meet(struct weir_owner *owner, const struct weir_pointer *pointer,
                     const struct weir_attempt *holder)
{
    if (owner->has_looked) {
        return;
    }
    owner->has_looked = true;
    owner->had_predecessor = pointer != NULL;
    owner->holder = *holder;
    if (pointer != NULL) {
        owner->predecessor = pointer->owner_attempt;
    }
}

bool weir_owner_look(const struct weir_owner *owner, const struct weir_pointer *pointer)
{
    if (pointer == NULL) {
        return true;
    }
    if (weir_attempt_equal(&pointer->owner_attempt, &owner->holder) ||
        (owner->had_predecessor &&
         weir_attempt_equal(&pointer->owner_attempt, &owner->predecessor))) {
        return true;
    }
    for (uint32_t i = 0; i < owner->attempt_count; i++) {
        if (weir_attempt_equal(&pointer->owner_attempt, &owner->attempts[i])) {
            return true;
        }
    }
    return false;
}

void weir_owner_deinit(struct weir_owner *owner)
{
    free(owner->attempts);
    *owner = (struct weir_owner){0};
}
