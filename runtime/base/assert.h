// SPDX-License-Identifier: Apache-2.0
// WEIR_ASSERT: programmer errors, on in every build; once per batch, message or transition.
// WEIR_DASSERT: the same for row loops, on in debug builds only. A failed assert ends the process:
// a crash is the path that recovery is tested on most.
#ifndef WEIR_RUNTIME_BASE_ASSERT_H
#define WEIR_RUNTIME_BASE_ASSERT_H

#include <stdio.h>
#include <stdlib.h>

#define WEIR_ASSERT(condition)                                                                     \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", __FILE__, __LINE__, __func__,     \
                    #condition);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#ifdef NDEBUG
#define WEIR_DASSERT(condition) ((void)sizeof(condition))
#else
#define WEIR_DASSERT(condition) WEIR_ASSERT(condition)
#endif

#endif
