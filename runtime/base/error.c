// SPDX-License-Identifier: Apache-2.0
// See error.h. Plain formatting into the caller's struct; no allocation, no locks.
#include "runtime/base/error.h"

#include <stdio.h>
#include <string.h>

enum weir_status weir_error_set_va(struct weir_error *error, enum weir_error_domain domain,
                                   enum weir_error_action action, const char *format, va_list args)
{
    if (error != NULL) {
        error->domain = domain;
        error->action = action;
        error->line_number = 0;
        error->column_number = 0;
        vsnprintf(error->text, sizeof error->text, format, args);
    }
    return WEIR_ERROR;
}

enum weir_status weir_error_set(struct weir_error *error, enum weir_error_domain domain,
                                enum weir_error_action action, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    weir_error_set_va(error, domain, action, format, args);
    va_end(args);
    return WEIR_ERROR;
}

enum weir_status weir_error_context(struct weir_error *error, const char *format, ...)
{
    if (error == NULL) {
        return WEIR_ERROR;
    }
    char inner[WEIR_ERROR_TEXT_BYTES_MAX];
    memcpy(inner, error->text, sizeof inner);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof error->text - 3) {
        int room = (int)sizeof error->text - used - 3; // behind ": ", in front of the NUL
        snprintf(error->text + used, sizeof error->text - (size_t)used, ": %.*s", room, inner);
    }
    return WEIR_ERROR;
}

const char *weir_error_action_name(enum weir_error_action action)
{
    switch (action) {
    case WEIR_ACTION_REFUSE:
        return "refuse";
    case WEIR_ACTION_RETRY:
        return "retry";
    case WEIR_ACTION_RECOVER:
        return "recover";
    case WEIR_ACTION_FENCED:
        return "fenced";
    case WEIR_ACTION_FAIL:
        return "fail";
    }
    return "unknown";
}

const char *weir_error_domain_name(enum weir_error_domain domain)
{
    switch (domain) {
    case WEIR_DOMAIN_CONFIG:
        return "config";
    case WEIR_DOMAIN_SQL:
        return "sql";
    case WEIR_DOMAIN_KAFKA:
        return "kafka";
    case WEIR_DOMAIN_ACCESS:
        return "access";
    case WEIR_DOMAIN_STORE:
        return "store";
    case WEIR_DOMAIN_DATA:
        return "data";
    case WEIR_DOMAIN_RUNTIME:
        return "runtime";
    }
    return "unknown";
}
