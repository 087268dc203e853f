// SPDX-License-Identifier: Apache-2.0
// See csv_format.h. A line is cut into fields first, so that a broken one is told before any value
// is looked at. Fields without doubled quotes stay views into the message.
#include "kafka/csv_format.h"

#include "runtime/base/assert.h"
#include "runtime/types/text_io.h"

#include <stdlib.h>

struct csv_decoder {
    struct weir_decoder base; // first: the interface
    const struct weir_schema *schema;
    const uint32_t *positions;
    uint32_t field_count;
    struct weir_view *fields; // of a line; data NULL: NULL
};

// A field between quotes, *at behind the first one. NULL: fine, else what is wrong.
static const char *take_quoted(const char **at, const char *end, struct weir_arena *arena,
                               struct weir_view *field)
{
    const char *start = *at;
    const char *p = start;
    size_t doubled = 0;
    while (p < end && (*p != '"' || (p + 1 < end && p[1] == '"'))) {
        doubled += *p == '"';
        p += *p == '"' ? 2 : 1;
    }
    if (p >= end) {
        return "a quoted field is not closed";
    }
    *field = (struct weir_view){.data = start, .size_bytes = (size_t)(p - start)};
    if (doubled != 0) {
        char *text = weir_arena_alloc(arena, field->size_bytes - doubled);
        size_t used = 0;
        for (const char *c = start; c < p; c++) {
            text[used++] = *c;
            c += *c == '"';
        }
        *field = (struct weir_view){.data = text, .size_bytes = used};
    }
    *at = p + 1;
    return NULL;
}

static const char *take_plain(const char **at, const char *end, struct weir_view *field)
{
    const char *start = *at;
    while (*at < end && **at != ',') {
        if (**at == '"') {
            return "a quote in a field without quotes";
        }
        if (**at == '\n' || **at == '\r') {
            return "a second line: a message holds one";
        }
        (*at)++;
    }
    field->data = *at == start ? NULL : start;
    field->size_bytes = (size_t)(*at - start);
    return NULL;
}

// NULL: *count fields; else what is wrong.
static const char *cut(struct csv_decoder *decoder, struct weir_view line, struct weir_arena *arena,
                       uint32_t *count)
{
    const char *at = line.data;
    const char *end = line.data + line.size_bytes;
    end -= end > at && end[-1] == '\n';
    end -= end > at && end[-1] == '\r';
    *count = 0;
    for (;;) {
        struct weir_view field = {0};
        const char *why;
        if (at < end && *at == '"') {
            at++;
            why = take_quoted(&at, end, arena, &field);
        } else {
            why = take_plain(&at, end, &field);
        }
        if (why != NULL) {
            return why;
        }
        if (*count < decoder->field_count) {
            decoder->fields[*count] = field;
        }
        (*count)++;
        if (at == end) {
            return NULL;
        }
        if (*at++ != ',') {
            return "characters behind a closing quote";
        }
    }
}

static bool is_text(enum weir_type_kind kind)
{
    return kind == WEIR_TYPE_TEXT || kind == WEIR_TYPE_VARCHAR || kind == WEIR_TYPE_CHAR;
}

static void set_null(struct weir_column *column, uint32_t row)
{
    weir_bitmap_clear(column->validity, row);
    for (uint32_t i = 0; column->children != NULL && i < column->type.composite->field_count; i++) {
        set_null(&column->children[i], row);
    }
}

struct run {
    struct csv_decoder *decoder;
    struct weir_arena *arena;
    struct weir_decoded *decoded;
    struct weir_bad_record *bad;
};

static bool refuse(struct run *run, uint32_t record_idx, enum weir_row_error_reason reason,
                   const char *message)
{
    run->bad[run->decoded->bad_count++] =
        (struct weir_bad_record){.record_idx = record_idx, .reason = reason, .message = message};
    return false;
}

static bool fill_row(struct run *run, uint32_t record_idx, uint32_t row)
{
    const struct csv_decoder *decoder = run->decoder;
    for (uint32_t c = 0; c < decoder->schema->column_count; c++) {
        struct weir_column *column = &run->decoded->columns[c];
        struct weir_view field = decoder->fields[decoder->positions[c]];
        struct weir_value_error error;
        set_null(column, row);
        if (field.data == NULL) {
            continue;
        }
        bool is_valid = weir_text_validate(field, &error);
        bool has_length = is_text(column->type.kind) && column->type.modifier >= 0;
        if (!is_valid || !weir_text_parse(column, row, field, run->arena, &error)) {
            bool has_detail = error.detail[0] != '\0';
            set_null(column, row);
            return refuse(run, record_idx,
                          is_valid && has_length ? WEIR_ROW_ERROR_CONSTRAINT
                                                 : WEIR_ROW_ERROR_DECODE,
                          weir_arena_printf(run->arena, "column \"%s\": %s%s%s",
                                            decoder->schema->columns[c].name, error.text,
                                            has_detail ? ": " : "", error.detail));
        }
    }
    return true;
}

static bool take_line(struct run *run, uint32_t record_idx, struct weir_view line, uint32_t row)
{
    uint32_t count;
    const char *why = cut(run->decoder, line, run->arena, &count);
    if (why != NULL) {
        return refuse(run, record_idx, WEIR_ROW_ERROR_DECODE,
                      weir_arena_printf(run->arena, "invalid CSV: %s", why));
    }
    if (count != run->decoder->field_count) {
        return refuse(run, record_idx, WEIR_ROW_ERROR_DECODE,
                      weir_arena_printf(run->arena, "invalid CSV: %u fields, the table has %u",
                                        count, run->decoder->field_count));
    }
    return fill_row(run, record_idx, row);
}

static void decode(struct weir_decoder *base, const struct weir_record *records,
                   uint32_t record_count, struct weir_arena *arena, struct weir_decoded *decoded)
{
    struct csv_decoder *decoder = (struct csv_decoder *)base;
    const struct weir_schema *schema = decoder->schema;
    WEIR_ASSERT(record_count <= WEIR_BATCH_ROWS_MAX);
    *decoded = (struct weir_decoded){0};
    decoded->columns =
        weir_arena_alloc_zero(arena, schema->column_count * sizeof *decoded->columns);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        weir_column_init(&decoded->columns[i], &schema->columns[i].type, record_count, true, arena);
    }
    uint16_t *record_of_row = weir_arena_alloc(arena, record_count * sizeof *record_of_row);
    struct run run = {.decoder = decoder,
                      .arena = arena,
                      .decoded = decoded,
                      .bad = weir_arena_alloc(arena, record_count * sizeof *run.bad)};
    for (uint32_t i = 0; i < record_count; i++) {
        if (records[i].value.data == NULL) {
            decoded->null_value_count++;
        } else if (take_line(&run, i, records[i].value, decoded->row_count)) {
            record_of_row[decoded->row_count++] = (uint16_t)i;
        } else {
            for (uint32_t c = 0; c < schema->column_count; c++) {
                set_null(&decoded->columns[c], decoded->row_count);
            }
        }
    }
    decoded->bad = run.bad;
    decoded->record_of_row = record_of_row;
}

static void destroy(struct weir_decoder *base)
{
    struct csv_decoder *decoder = (struct csv_decoder *)base;
    free(decoder->fields);
    free(decoder);
}

struct weir_decoder *weir_csv_decoder_create(const struct weir_schema *schema,
                                             const uint32_t *positions, uint32_t field_count)
{
    static const struct weir_decoder_ops ops = {.decode = decode, .destroy = destroy};
    struct csv_decoder *decoder = weir_alloc_zero(sizeof *decoder);
    decoder->base.ops = &ops;
    decoder->schema = schema;
    decoder->positions = positions;
    decoder->field_count = field_count;
    decoder->fields = weir_alloc(field_count * sizeof *decoder->fields);
    return &decoder->base;
}
