// SPDX-License-Identifier: Apache-2.0
// Who owns the job: the attempts of this process, and the owner that it found when it came. A
// pointer by anybody else means that a newer instance has taken over.
#ifndef WEIR_APP_OWNER_H
#define WEIR_APP_OWNER_H

#include "runtime/recovery.h"

struct weir_owner {
    bool has_looked;
    bool had_predecessor;
    struct weir_attempt predecessor; // the owner of the pointer when this process first looked
    struct weir_attempt holder;      // of the store then; "": nobody
    uint32_t attempt_count;
    struct weir_attempt *attempts; // of this process, newest last
};

// A new attempt of this process.
struct weir_attempt weir_owner_begin(struct weir_owner *owner);

// At each look without fencing, before the look below. The first one says whom this process came
// after: the owner of the pointer, and the holder of the store, whose claim may have been committed
// and its offset not yet be visible.
void weir_owner_meet(struct weir_owner *owner, const struct weir_pointer *pointer,
                     const struct weir_attempt *holder);

// At each look at the pointer (NULL: none): false when another instance has claimed the job since
// this process first looked.
bool weir_owner_look(const struct weir_owner *owner, const struct weir_pointer *pointer);

void weir_owner_deinit(struct weir_owner *owner);

#endif
