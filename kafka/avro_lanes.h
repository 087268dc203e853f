// SPDX-License-Identifier: Apache-2.0
// Decode programs (avro_program.h) over several records at a time. Private to the Avro format.
// Thread: the task's.
#ifndef WEIR_KAFKA_AVRO_LANES_H
#define WEIR_KAFKA_AVRO_LANES_H

#include "kafka/avro_program.h"

enum { WEIR_AVRO_LANES_MAX = 32 }; // their bytes and columns fit the nearest cache

// What weir_avro_program_run does, for `count` bodies at once, into the rows from first_row on.
// False: at least one of them is bad; bits of all these rows may be set.
typedef bool (*weir_avro_lanes_fn)(const struct weir_avro_program *program,
                                   const struct weir_avro_slot *slots, uint32_t first_row,
                                   uint32_t count, const struct weir_view *bodies,
                                   struct weir_arena *arena);

// For every processor.
bool weir_avro_run_lanes(const struct weir_avro_program *program,
                         const struct weir_avro_slot *slots, uint32_t first_row, uint32_t count,
                         const struct weir_view *bodies, struct weir_arena *arena);

// For x86-64 with AVX2 and BMI (level v3 of the processors' manual, since 2013); elsewhere the same
// as the other.
bool weir_avro_run_lanes_v3(const struct weir_avro_program *program,
                            const struct weir_avro_slot *slots, uint32_t first_row, uint32_t count,
                            const struct weir_view *bodies, struct weir_arena *arena);

// The best one for the processor that this runs on.
weir_avro_lanes_fn weir_avro_lanes_choose(void);

#endif
