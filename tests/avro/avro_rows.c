// SPDX-License-Identifier: Apache-2.0
// weir's side of differential.py. Each line of standard input is a case: {"writer": schema text,
// "reader": schema text, "columns": [[name, type], …], "hex": record}; types are names, {"record":
// columns} or {"array": type}. Each line of output: {"row": …, "schema": text, "hex": …} with the
// row as JSON, the schema that its columns have, and the row encoded by it; or {"bad": message}.
#include "kafka/avro_decode.h"
#include "kafka/avro_derive.h"
#include "kafka/avro_encode.h"
#include "runtime/types/array.h"
#include "runtime/types/json_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

enum { COLUMNS_MAX = 64 };

struct row_case {
    struct weir_avro_schemas schemas; // first: the interface
    struct weir_arena *arena;
    const struct weir_avro_type *writer;
    const struct weir_avro_type *reader;
    struct weir_schema schema;
    uint32_t composite_count;
};

static enum weir_avro_lookup find(struct weir_avro_schemas *schemas, uint32_t id,
                                  const struct weir_avro_type **type, const char **why)
{
    (void)id;
    (void)why;
    *type = ((struct row_case *)schemas)->writer;
    return WEIR_AVRO_FOUND;
}

static void end_with(const char *what)
{
    fprintf(stderr, "avro_rows: %s\n", what);
    exit(1);
}

static const struct weir_field *read_columns(struct row_case *of, yyjson_val *list,
                                             uint32_t *count);

static struct weir_type read_type(struct row_case *of, yyjson_val *value)
{
    static const struct {
        const char *name;
        enum weir_type_kind kind;
    } names[] = {
        {"boolean", WEIR_TYPE_BOOLEAN}, {"integer", WEIR_TYPE_INTEGER},
        {"bigint", WEIR_TYPE_BIGINT},   {"real", WEIR_TYPE_REAL},
        {"double", WEIR_TYPE_DOUBLE},   {"text", WEIR_TYPE_TEXT},
        {"bytea", WEIR_TYPE_BYTEA},     {"date", WEIR_TYPE_DATE},
        {"time", WEIR_TYPE_TIME},       {"timestamp", WEIR_TYPE_TIMESTAMP},
        {"uuid", WEIR_TYPE_UUID},       {"timestamptz", WEIR_TYPE_TIMESTAMPTZ},
        {"jsonb", WEIR_TYPE_JSONB},
    };
    yyjson_val *record = yyjson_obj_get(value, "record");
    yyjson_val *item = yyjson_obj_get(value, "array");
    const char *name = yyjson_get_str(value);
    if (record != NULL) {
        struct weir_composite *composite = weir_arena_alloc_zero(of->arena, sizeof *composite);
        composite->name = weir_arena_printf(of->arena, "composite%u", of->composite_count++);
        composite->fields = read_columns(of, record, &composite->field_count);
        return (struct weir_type){WEIR_TYPE_COMPOSITE, -1, composite};
    }
    if (item != NULL) {
        struct weir_type element = read_type(of, item);
        return weir_array_type(&element, of->arena);
    }
    for (size_t i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i].name) == 0) {
            return weir_type_plain(names[i].kind);
        }
    }
    int precision = 0;
    int scale = 0;
    if (name == NULL || sscanf(name, "numeric(%d,%d)", &precision, &scale) != 2) {
        end_with("no such type");
    }
    struct weir_type type = weir_type_plain(WEIR_TYPE_NUMERIC);
    type.modifier = weir_numeric_modifier(precision, scale);
    return type;
}

static const struct weir_field *read_columns(struct row_case *of, yyjson_val *list, uint32_t *count)
{
    struct weir_field *fields =
        weir_arena_alloc_zero(of->arena, (yyjson_arr_size(list) + 1) * sizeof *fields);
    *count = 0;
    size_t idx;
    size_t max;
    yyjson_val *column;
    yyjson_arr_foreach(list, idx, max, column)
    {
        fields[idx].name = weir_arena_strdup(of->arena, yyjson_get_str(yyjson_arr_get(column, 0)));
        fields[idx].type = read_type(of, yyjson_arr_get(column, 1));
        ++*count;
    }
    return fields;
}

static const struct weir_avro_type *read_schema(struct row_case *of, yyjson_val *text)
{
    const struct weir_avro_type *type = NULL;
    struct weir_error error;
    if (weir_avro_schema_parse(of->arena, 0, NULL,
                               (struct weir_view){yyjson_get_str(text), yyjson_get_len(text)},
                               &type, &error) != WEIR_OK) {
        end_with(error.text);
    }
    return type;
}

static void print_bad(const char *message)
{
    struct weir_buffer out = {0};
    weir_buffer_printf(&out, "{\"bad\":");
    weir_json_append_string(&out, weir_view_of(message));
    weir_buffer_append_char(&out, '}');
    puts(weir_buffer_text(&out));
    weir_buffer_deinit(&out);
}

static void print_row(struct row_case *of, struct weir_decoded *decoded)
{
    uint32_t idxs[COLUMNS_MAX];
    struct weir_avro_derive_column columns[COLUMNS_MAX];
    struct weir_buffer text = {0};
    struct weir_buffer bytes = {0};
    struct weir_buffer out = {0};
    struct weir_error error;
    struct weir_encoder *encoder = NULL;
    const struct weir_avro_type *type = NULL;
    if (of->schema.column_count > COLUMNS_MAX) {
        end_with("too many columns");
    }
    for (uint32_t i = 0; i < of->schema.column_count; i++) {
        idxs[i] = i;
        columns[i] = (struct weir_avro_derive_column){
            &of->schema.columns[i], i % 2 == 0 && weir_column_is_valid(&decoded->columns[i], 0)};
    }
    if (weir_avro_derive("row", "weir", "", of->schema.column_count, columns, &text, &error) !=
            WEIR_OK ||
        weir_avro_schema_parse(of->arena, 0, NULL, (struct weir_view){text.data, text.size_bytes},
                               &type, &error) != WEIR_OK ||
        weir_avro_encoder_create(
            &(struct weir_avro_encode_config){.schema = &of->schema,
                                              .column_count = of->schema.column_count,
                                              .column_idxs = idxs,
                                              .type = type,
                                              .id = 1},
            &encoder, &error) != WEIR_OK) {
        end_with(error.text);
    }
    const struct weir_batch batch = {.schema = &of->schema,
                                     .row_count = 1,
                                     .selected_count = 1,
                                     .columns = decoded->columns,
                                     .arena = of->arena};
    struct weir_encoded encoded;
    weir_encoder_encode(encoder, &batch, 0, 1, &bytes, &encoded);
    if (encoded.failure != NULL) {
        end_with(encoded.failure);
    }
    weir_buffer_printf(&out, "{\"row\":");
    weir_json_append_row(&out, &of->schema, decoded->columns, 0);
    weir_buffer_printf(&out, ",\"schema\":");
    weir_json_append_string(&out, (struct weir_view){text.data, text.size_bytes});
    weir_buffer_printf(&out, ",\"hex\":\"");
    struct weir_view record = weir_encoded_view(&bytes, &encoded);
    for (size_t i = WEIR_AVRO_FRAME_BYTES; i < record.size_bytes; i++) {
        weir_buffer_printf(&out, "%02x", (uint8_t)record.data[i]);
    }
    weir_buffer_printf(&out, "\"}");
    puts(weir_buffer_text(&out));
    weir_encoder_destroy(encoder);
    weir_buffer_deinit(&text);
    weir_buffer_deinit(&bytes);
    weir_buffer_deinit(&out);
}

static void run_case(yyjson_val *root)
{
    struct row_case of = {.schemas = {.find = find}, .arena = weir_arena_create(64 * 1024)};
    of.writer = read_schema(&of, yyjson_obj_get(root, "writer"));
    of.reader = read_schema(&of, yyjson_obj_get(root, "reader"));
    of.schema.columns = read_columns(&of, yyjson_obj_get(root, "columns"), &of.schema.column_count);
    const char *hex = yyjson_get_str(yyjson_obj_get(root, "hex"));
    size_t size_bytes = WEIR_AVRO_FRAME_BYTES + strlen(hex) / 2;
    char *frame = malloc(size_bytes); // of its own, so that a sanitizer sees a byte too far
    if (frame == NULL) {
        end_with("out of memory");
    }
    memset(frame, 0, WEIR_AVRO_FRAME_BYTES);
    for (size_t i = WEIR_AVRO_FRAME_BYTES; i < size_bytes; i++) {
        char pair[3] = {hex[0], hex[1], '\0'};
        frame[i] = (char)strtoul(pair, NULL, 16);
        hex += 2;
    }
    struct weir_record record = {.value = {frame, size_bytes}};
    struct weir_decoded decoded;
    struct weir_decoder *decoder = weir_avro_decoder_create(
        &of.schema, &(struct weir_avro_decode_options){.schemas = &of.schemas,
                                                       .reader = of.reader,
                                                       .is_reader_strict = true,
                                                       .timestamp_digits = 3});
    weir_decoder_decode(decoder, &record, 1, of.arena, &decoded);
    if (decoded.row_count == 1) {
        print_row(&of, &decoded);
    } else {
        print_bad(decoded.bad[0].message);
    }
    weir_decoder_destroy(decoder);
    weir_arena_destroy(of.arena);
    free(frame);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size_bytes;
    while ((size_bytes = getline(&line, &capacity, stdin)) > 0) {
        yyjson_doc *document = yyjson_read(line, (size_t)size_bytes, 0);
        if (document == NULL) {
            end_with("a line is no JSON");
        }
        run_case(yyjson_doc_get_root(document));
        yyjson_doc_free(document);
    }
    free(line);
    return 0;
}
