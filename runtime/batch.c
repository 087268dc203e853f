// SPDX-License-Identifier: Apache-2.0
// See batch.h. Columns are laid out here and nowhere else.
#include "runtime/batch.h"

void weir_column_init(struct weir_column *column, const struct weir_type *type, uint32_t row_count,
                      bool with_validity, struct weir_arena *arena)
{
    *column = (struct weir_column){.type = *type};
    if (with_validity) {
        column->validity = weir_arena_alloc_zero(arena, (row_count + 63) / 64 * sizeof(uint64_t));
    }
    if (type->kind != WEIR_TYPE_COMPOSITE) {
        size_t value_bytes = weir_layout_bytes(weir_type_layout(type->kind));
        column->data = weir_arena_alloc(arena, value_bytes * row_count);
        return;
    }
    WEIR_ASSERT(type->composite != NULL);
    uint32_t field_count = type->composite->field_count;
    column->children = weir_arena_alloc(arena, field_count * sizeof *column->children);
    for (uint32_t i = 0; i < field_count; i++) {
        weir_column_init(&column->children[i], &type->composite->fields[i].type, row_count,
                         with_validity, arena);
    }
}
