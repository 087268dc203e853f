// SPDX-License-Identifier: Apache-2.0
// The words of row_error.h.
#include "runtime/row_error.h"

const char *weir_row_error_reason_name(enum weir_row_error_reason reason)
{
    switch (reason) {
    case WEIR_ROW_ERROR_DECODE:
        return "decode";
    case WEIR_ROW_ERROR_KEY:
        return "key";
    case WEIR_ROW_ERROR_CONSTRAINT:
        return "constraint";
    case WEIR_ROW_ERROR_EXPRESSION:
        return "expression";
    case WEIR_ROW_ERROR_EVENT_TIME:
        return "event_time";
    case WEIR_ROW_ERROR_OVERSIZE:
        return "oversize";
    case WEIR_ROW_ERROR_LATE:
        return "late";
    case WEIR_ROW_ERROR_FRAMING:
        return "framing";
    case WEIR_ROW_ERROR_SCHEMA:
        return "schema";
    case WEIR_ROW_ERROR_REASON_COUNT:
        break;
    }
    return "unknown";
}
