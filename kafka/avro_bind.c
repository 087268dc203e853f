// SPDX-License-Identifier: Apache-2.0
// Where a decode program writes: the columns of a batch as slots (avro_program.h).
#include "kafka/avro_op.h"

static uint32_t slots_of(uint32_t field_count, const struct weir_field *fields)
{
    uint32_t count = field_count;
    for (uint32_t i = 0; i < field_count; i++) {
        const struct weir_composite *composite = fields[i].type.composite; // arrays have one, too
        if (composite != NULL) {
            count += slots_of(composite->field_count, composite->fields);
        }
    }
    return count;
}

uint32_t weir_avro_slot_count(const struct weir_schema *schema)
{
    return slots_of(schema->column_count, schema->columns);
}

static struct weir_avro_slot *bind(uint32_t count, struct weir_column *columns, bool is_element,
                                   struct weir_arena *arena, struct weir_avro_slot *slots)
{
    for (uint32_t i = 0; i < count; i++) {
        struct weir_column *column = &columns[i];
        *slots++ = (struct weir_avro_slot){.data = column->data,
                                           .validity = column->validity,
                                           .column = column,
                                           .is_element = is_element};
        if (column->type.kind == WEIR_TYPE_COMPOSITE) {
            slots = bind(column->type.composite->field_count, column->children, is_element, arena,
                         slots);
        } else if (column->type.kind == WEIR_TYPE_ARRAY) {
            struct weir_column *element = weir_arena_alloc(arena, sizeof *element);
            weir_column_init(element, weir_type_element(&column->type), 1, true, arena);
            slots = bind(1, element, true, arena, slots);
        }
    }
    return slots;
}

void weir_avro_bind(const struct weir_schema *schema, struct weir_column *columns,
                    struct weir_arena *arena, struct weir_avro_slot *slots)
{
    bind(schema->column_count, columns, false, arena, slots);
}

static void set_bits(uint64_t *bitmap, uint32_t first, uint32_t end)
{
    for (; first < end && first % 64 != 0; first++) {
        weir_bitmap_set(bitmap, first);
    }
    for (; first + 64 <= end; first += 64) {
        bitmap[first / 64] = UINT64_MAX;
    }
    for (; first < end; first++) {
        weir_bitmap_set(bitmap, first);
    }
}

void weir_avro_mark_rows(const struct weir_avro_program *program,
                         const struct weir_avro_slot *slots, uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < program->always_count; i++) {
        set_bits(slots[program->always[i]].validity, first, end);
    }
}
