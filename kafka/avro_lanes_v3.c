// SPDX-License-Identifier: Apache-2.0
// See avro_lanes.h: compiled with AVX2 and BMI where there is such a thing (CMakeLists.txt).
#include "kafka/avro_lanes_run.h"

bool weir_avro_run_lanes_v3(const struct weir_avro_program *program,
                            const struct weir_avro_slot *slots, uint32_t first_row, uint32_t count,
                            const struct weir_view *bodies, struct weir_arena *arena)
{
    return run_all(program, slots, first_row, count, bodies, arena);
}
