// SPDX-License-Identifier: Apache-2.0
// Selections and columns of an evaluation. See eval.h. Thread: the task's.
#include "operators/eval.h"

// --- selections ------------------------------------------------------------------------------

uint16_t *weir_eval_alloc_rows(struct weir_eval *eval, uint32_t count)
{
    return weir_arena_alloc(eval->arena, count * sizeof(uint16_t));
}

struct weir_selection weir_eval_select_bits(struct weir_eval *eval, const uint64_t *bits,
                                            struct weir_selection selection)
{
    uint16_t *rows = weir_eval_alloc_rows(eval, selection.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_selection_row(selection, i);
        rows[count] = (uint16_t)row;
        count += weir_bitmap_get(bits, row);
    }
    return (struct weir_selection){.rows = rows, .count = count};
}

void weir_eval_split(struct weir_eval *eval, const struct weir_vector *vector, uint8_t value,
                     struct weir_selection selection, struct weir_selection *equal,
                     struct weir_selection *rest)
{
    uint16_t *equal_rows = weir_eval_alloc_rows(eval, selection.count);
    uint16_t *rest_rows = weir_eval_alloc_rows(eval, selection.count);
    uint32_t equal_count = 0;
    uint32_t rest_count = 0;
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_selection_row(selection, i);
        bool is_equal = weir_vector_is_valid(vector, row) &
                        (vector->column.u8[row & vector->row_mask] == value);
        equal_rows[equal_count] = (uint16_t)row;
        rest_rows[rest_count] = (uint16_t)row;
        equal_count += is_equal;
        rest_count += !is_equal;
    }
    *equal = (struct weir_selection){.rows = equal_rows, .count = equal_count};
    *rest = (struct weir_selection){.rows = rest_rows, .count = rest_count};
}

// --- columns ---------------------------------------------------------------------------------

uint32_t weir_eval_validity_words(const struct weir_eval *eval)
{
    return (eval->batch->row_count + 63) / 64;
}

void weir_eval_start(struct weir_eval *eval, const struct weir_type *type, struct weir_vector *out)
{
    weir_column_init(&out->column, type, eval->batch->row_count, false, eval->arena);
    out->row_mask = UINT32_MAX;
}

void weir_eval_start_null(struct weir_eval *eval, const struct weir_type *type,
                          struct weir_vector *out)
{
    weir_column_init(&out->column, type, eval->batch->row_count, true, eval->arena);
    out->row_mask = UINT32_MAX;
}

#define COPY_EACH(type)                                                                            \
    do {                                                                                           \
        type *to = out->data;                                                                      \
        const type *from = in->column.data;                                                        \
        for (uint32_t i = 0; i < selection.count; i++) {                                           \
            uint32_t row = weir_selection_row(selection, i);                                       \
            to[row] = from[row & in->row_mask];                                                    \
        }                                                                                          \
    } while (0)

void weir_eval_copy_rows(struct weir_column *out, const struct weir_vector *in,
                         struct weir_selection selection)
{
    switch (weir_type_layout(out->type.kind)) {
    case WEIR_LAYOUT_U8:
        COPY_EACH(uint8_t);
        break;
    case WEIR_LAYOUT_I16:
        COPY_EACH(int16_t);
        break;
    case WEIR_LAYOUT_I32:
    case WEIR_LAYOUT_F32:
        COPY_EACH(uint32_t);
        break;
    case WEIR_LAYOUT_I64:
    case WEIR_LAYOUT_F64:
        COPY_EACH(uint64_t);
        break;
    case WEIR_LAYOUT_NUMERIC:
        COPY_EACH(struct weir_numeric);
        break;
    case WEIR_LAYOUT_VIEW:
        COPY_EACH(struct weir_view);
        break;
    case WEIR_LAYOUT_INTERVAL:
        COPY_EACH(struct weir_interval);
        break;
    case WEIR_LAYOUT_UUID:
        COPY_EACH(struct weir_uuid);
        break;
    case WEIR_LAYOUT_COMPOSITE:
        for (uint32_t i = 0; i < out->type.composite->field_count; i++) {
            struct weir_vector child = {.column = in->column.children[i], .row_mask = in->row_mask};
            weir_eval_copy_rows(&out->children[i], &child, selection);
        }
        break;
    }
    for (uint32_t i = 0; i < selection.count; i++) {
        uint32_t row = weir_selection_row(selection, i);
        if (weir_vector_is_valid(in, row)) {
            weir_bitmap_set(out->validity, row);
        } else {
            weir_bitmap_clear(out->validity, row);
        }
    }
}

uint64_t *weir_eval_combine_validity(struct weir_eval *eval, uint32_t arg_count,
                                     const struct weir_vector *args)
{
    uint64_t *validity = NULL;
    uint32_t word_count = weir_eval_validity_words(eval);
    for (uint32_t i = 0; i < arg_count; i++) {
        if (args[i].column.validity == NULL) {
            continue;
        }
        bool is_constant = weir_vector_is_constant(&args[i]);
        if (is_constant && weir_vector_is_valid(&args[i], 0)) {
            continue;
        }
        if (validity == NULL) {
            validity = weir_arena_alloc(eval->arena, word_count * sizeof(uint64_t));
            memset(validity, 0xff, word_count * sizeof(uint64_t));
        }
        for (uint32_t word = 0; word < word_count; word++) {
            validity[word] &= is_constant ? 0 : args[i].column.validity[word];
        }
    }
    return validity;
}
