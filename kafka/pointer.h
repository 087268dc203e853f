// SPDX-License-Identifier: Apache-2.0
// The committed pointer: the metadata that every committed offset of a job carries. It is the only
// truth about which checkpoint is the last one.
#ifndef WEIR_KAFKA_POINTER_H
#define WEIR_KAFKA_POINTER_H

#include "kafka/client.h"
#include "runtime/recovery.h"

enum { WEIR_POINTER_BYTES_MAX = 64 }; // short: all offsets of a commit share one record batch

// "w1:<number>:<attempt of the manifest>:<attempt of the owner>".
void weir_pointer_format(const struct weir_pointer *pointer, char text[WEIR_POINTER_BYTES_MAX]);

// What a committed offset says.
enum weir_pointer_state weir_pointer_parse(const struct weir_committed *committed,
                                           struct weir_pointer *pointer);

// The greatest pointer among them; false: there is none.
bool weir_pointer_greatest_committed(const struct weir_committed *committed, uint32_t count,
                                     struct weir_pointer *greatest);

#endif
