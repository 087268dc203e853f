// SPDX-License-Identifier: Apache-2.0
// Some JSON texts decoded against a schema, and the rows in PostgreSQL's text form: what the tests
// of decoding have in common.
#ifndef WEIR_TESTS_UNIT_KAFKA_JSON_CASE_H
#define WEIR_TESTS_UNIT_KAFKA_JSON_CASE_H

#include "kafka/json_decode.h"
#include "runtime/types/text_io.h"

enum { MILLISECONDS = 3 };

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }
#define NUMERIC(precision, scale)                                                                  \
    {                                                                                              \
        WEIR_TYPE_NUMERIC, (precision) << 16 | (scale), NULL                                       \
    }
#define VARCHAR(char_count)                                                                        \
    {                                                                                              \
        WEIR_TYPE_VARCHAR, char_count, NULL                                                        \
    }

static inline void append_value(struct weir_buffer *out, const struct weir_column *column,
                                uint32_t row)
{
    if (!weir_column_is_valid(column, row)) {
        weir_buffer_printf(out, "NULL");
    } else if (column->type.kind == WEIR_TYPE_COMPOSITE) {
        weir_buffer_append_char(out, '(');
        for (uint32_t i = 0; i < column->type.composite->field_count; i++) {
            weir_buffer_append(out, ",", i != 0);
            append_value(out, &column->children[i], row);
        }
        weir_buffer_append_char(out, ')');
    } else {
        weir_text_append(out, column, row);
    }
}

// Values between |.
static inline void append_row(struct weir_buffer *out, const struct weir_schema *schema,
                              const struct weir_decoded *decoded, uint32_t row)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        weir_buffer_append(out, "|", i != 0);
        append_value(out, &decoded->columns[i], row);
    }
}

// Rows between newlines.
static inline void append_rows(struct weir_buffer *out, const struct weir_schema *schema,
                               const struct weir_decoded *decoded)
{
    for (uint32_t row = 0; row < decoded->row_count; row++) {
        weir_buffer_append(out, "\n", row != 0);
        append_row(out, schema, decoded, row);
    }
}

struct decoded_case {
    struct weir_arena *arena;
    struct weir_decoder *decoder;
    struct weir_decoded decoded;
    struct weir_buffer text; // of all rows
};

// texts: record_count JSON texts, NULL is a null value. Values are put into blocks of just their
// size, which live as long as the case.
static inline void json_case_decode(struct decoded_case *run, const struct weir_schema *schema,
                                    uint32_t timestamp_digits, const char *const *texts,
                                    uint32_t record_count)
{
    struct weir_json_decode_options options = {.timestamp_digits = timestamp_digits};
    *run = (struct decoded_case){0};
    run->arena = weir_arena_create(64 * 1024);
    run->decoder = weir_json_decoder_create(schema, &options);
    struct weir_record *records = weir_arena_alloc_zero(run->arena, record_count * sizeof *records);
    for (uint32_t i = 0; i < record_count; i++) {
        if (texts[i] != NULL) {
            records[i].value = weir_view_of(texts[i]);
        }
    }
    weir_decoder_decode(run->decoder, records, record_count, run->arena, &run->decoded);
    append_rows(&run->text, schema, &run->decoded);
}

static inline void json_case_release(struct decoded_case *run)
{
    weir_decoder_destroy(run->decoder);
    weir_arena_destroy(run->arena);
    weir_buffer_deinit(&run->text);
}

#endif
