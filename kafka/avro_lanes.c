// SPDX-License-Identifier: Apache-2.0
// See avro_lanes.h: for every processor, and which one is chosen.
#include "kafka/avro_lanes_run.h"

bool weir_avro_run_lanes(const struct weir_avro_program *program,
                         const struct weir_avro_slot *slots, uint32_t first_row, uint32_t count,
                         const struct weir_view *bodies, struct weir_arena *arena)
{
    return run_all(program, slots, first_row, count, bodies, arena);
}

weir_avro_lanes_fn weir_avro_lanes_choose(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2")) {
        return weir_avro_run_lanes_v3;
    }
#endif
    return weir_avro_run_lanes;
}
