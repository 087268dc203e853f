// SPDX-License-Identifier: Apache-2.0
// One pass over the text of a record: checks that it is JSON as RFC 8259 has it (valid UTF-8, no
// lone surrogates, numbers as written there, nothing behind the value) and notes where the wanted
// values lie. Builds no tree and copies nothing. Private to the JSON format. Thread: the decoder's.
#ifndef WEIR_KAFKA_JSON_SCAN_H
#define WEIR_KAFKA_JSON_SCAN_H

#include "kafka/json_shape.h"
#include "runtime/base/memory.h"

struct weir_json_scanner {
    struct weir_json_shape *shape; // of the top-level object
    struct weir_json_slot *slots;  // slot_count of them, filled by a scan
    uint32_t slot_count;
    struct weir_buffer scratch; // open containers of a skipped value, one bit each; escaped names
    const char *begin;          // of the text being scanned
    const char *end;            // of it: not looked at
    const char *error;          // what is wrong with it
    const char *error_place;    // where
};

void weir_json_scanner_init(struct weir_json_scanner *scanner, struct weir_json_shape *shape,
                            uint32_t slot_count, struct weir_arena *arena);
void weir_json_scanner_deinit(struct weir_json_scanner *scanner);

// False: the text is not a well-formed JSON object; error and error_place (a byte of the text or
// the one behind it) say why. Names repeated in an object: the last wins, composites start afresh.
bool weir_json_scan(struct weir_json_scanner *scanner, struct weir_view text);

#endif
