// SPDX-License-Identifier: Apache-2.0
// What kernel files of text share. Private to operators/. Thread: the task's.
#ifndef WEIR_OPERATORS_TEXT_H
#define WEIR_OPERATORS_TEXT_H

#include "operators/kernel.h"

// Lower case by Unicode's simple mappings, in the batch's arena (kernel_text_form.c).
struct weir_view weir_text_lower(struct weir_kernel *kernel, struct weir_view text);

#endif
