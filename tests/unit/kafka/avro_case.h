// SPDX-License-Identifier: Apache-2.0
// Some framed Avro records, in hex, decoded against columns, and the rows in PostgreSQL's text
// form: what the tests of Avro have in common.
#ifndef WEIR_TESTS_UNIT_KAFKA_AVRO_CASE_H
#define WEIR_TESTS_UNIT_KAFKA_AVRO_CASE_H

#include "json_case.h"
#include "kafka/avro_decode.h"

#include <stdio.h>
#include <stdlib.h>

enum { AVRO_CASE_SCHEMAS_MAX = 8 };

// Schemas by id, as a registry knows them.
struct avro_case {
    struct weir_avro_schemas schemas; // first: the interface
    struct weir_arena *arena;
    struct {
        uint32_t id;
        const struct weir_avro_type *type; // NULL: pending
    } known[AVRO_CASE_SCHEMAS_MAX];
    uint32_t known_count;
    struct weir_decoder *decoder;
    struct weir_decoded decoded;
    struct weir_buffer text;
    char *blocks[WEIR_BATCH_ROWS_MAX];
    uint32_t block_count;
};

static inline enum weir_avro_lookup avro_case_find(struct weir_avro_schemas *schemas, uint32_t id,
                                                   const struct weir_avro_type **type,
                                                   const char **why)
{
    struct avro_case *run = (struct avro_case *)schemas;
    for (uint32_t i = 0; i < run->known_count; i++) {
        if (run->known[i].id == id) {
            *type = run->known[i].type;
            return *type != NULL ? WEIR_AVRO_FOUND : WEIR_AVRO_PENDING;
        }
    }
    *why = weir_arena_printf(run->arena, "schema id %u is unknown to the registry", id);
    return WEIR_AVRO_REFUSED;
}

static inline void avro_case_begin(struct avro_case *run)
{
    memset(run, 0, sizeof *run);
    run->schemas.find = avro_case_find;
    run->arena = weir_arena_create(64 * 1024);
}

static inline const struct weir_avro_type *avro_case_parse(struct avro_case *run, const char *text)
{
    const struct weir_avro_type *type = NULL;
    struct weir_error error;
    if (weir_avro_schema_parse(run->arena, 0, NULL, weir_view_of(text), &type, &error) != WEIR_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return type;
}

static inline const struct weir_avro_type *avro_case_add(struct avro_case *run, uint32_t id,
                                                         const char *text)
{
    run->known[run->known_count].id = id;
    run->known[run->known_count].type = avro_case_parse(run, text);
    return run->known[run->known_count++].type;
}

// Hex with blanks to a block of just its size, so that the sanitizer sees a byte too far.
static inline struct weir_view avro_case_bytes(struct avro_case *run, const char *hex)
{
    size_t size_bytes = 0;
    char *block = malloc(strlen(hex) / 2 + 1);
    for (const char *at = hex; block != NULL && *at != '\0';) {
        if (*at == ' ') {
            at++;
            continue;
        }
        char pair[3] = {at[0], at[1], '\0'};
        block[size_bytes++] = (char)strtoul(pair, NULL, 16);
        at += 2;
    }
    char *exact = malloc(size_bytes + (size_bytes == 0));
    if (exact == NULL || block == NULL) {
        abort();
    }
    memcpy(exact, block, size_bytes);
    free(block);
    run->blocks[run->block_count++] = exact;
    return (struct weir_view){.data = exact, .size_bytes = size_bytes};
}

// frames: record_count of them in hex; NULL is a null value.
static inline void avro_case_decode(struct avro_case *run, const struct weir_schema *schema,
                                    struct weir_avro_decode_options options,
                                    const char *const *frames, uint32_t record_count)
{
    options.schemas = &run->schemas;
    weir_decoder_destroy(run->decoder);
    run->decoder = weir_avro_decoder_create(schema, &options);
    run->text.size_bytes = 0;
    struct weir_record *records =
        weir_arena_alloc_zero(run->arena, (record_count + 1) * sizeof *records);
    for (uint32_t i = 0; i < record_count; i++) {
        if (frames[i] != NULL) {
            records[i].value = avro_case_bytes(run, frames[i]);
        }
    }
    weir_decoder_decode(run->decoder, records, record_count, run->arena, &run->decoded);
    append_rows(&run->text, schema, &run->decoded);
    weir_buffer_text(&run->text);
}

static inline void avro_case_end(struct avro_case *run)
{
    weir_decoder_destroy(run->decoder);
    weir_arena_destroy(run->arena);
    weir_buffer_deinit(&run->text);
    for (uint32_t i = 0; i < run->block_count; i++) {
        free(run->blocks[i]);
    }
}

#endif
