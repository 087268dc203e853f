// SPDX-License-Identifier: Apache-2.0
// The log: one line a message, to standard error, as text or JSON. Never secrets, never row data
// beyond what an error must show. Thread: any; a message is one write.
#ifndef WEIR_RUNTIME_BASE_LOG_H
#define WEIR_RUNTIME_BASE_LOG_H

#include <stdbool.h>

enum weir_log_level {
    WEIR_LOG_DEBUG,
    WEIR_LOG_INFO,
    WEIR_LOG_WARN,
    WEIR_LOG_ERROR,
};

enum weir_log_format {
    WEIR_LOG_TEXT,
    WEIR_LOG_JSON,
};

// Once, before threads start.
void weir_log_init(enum weir_log_level level, enum weir_log_format format);

bool weir_log_is_on(enum weir_log_level level);

void weir_log(enum weir_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
