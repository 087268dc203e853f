// SPDX-License-Identifier: Apache-2.0
// What decoding and encoding Avro costs, against Avro-C's value interface over the same bytes in
// the same run: absolute figures drift from machine to machine and from minute to minute, the ratio
// less. The input is NEXMark's bids: seven fields, of which all are wanted. Two lines of Avro-C are
// told for reading: the value alone, and with its fields looked at one by one, which is what
// columns are made from.
//
//   avro_bench [ROUNDS]
//
// Each line is the median, over rounds that take turns, of CPU nanoseconds per record.
#include "bench/micro/rounds.h"
#include "bench/nexmark.h"
#include "kafka/avro_decode.h"
#include "kafka/avro_encode.h"

#include <avro.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BATCH_COUNT = 2,
    RECORD_COUNT = BATCH_COUNT * WEIR_BATCH_ROWS_MAX,
    FIELD_COUNT = 7,
    BID_BYTES_MAX = 4096,
};

#define LONG(name) "{\"name\":\"" name "\",\"type\":\"long\"}"
#define STRING(name) "{\"name\":\"" name "\",\"type\":\"string\"}"
static const char schema_text[] =
    "{\"type\":\"record\",\"name\":\"bid\",\"fields\":[" LONG("auction") "," LONG(
        "bidder") "," LONG("price") "," STRING("channel") "," STRING("url") ",{\"name\":\"date_"
                                                                            "time\",\"type\":{"
                                                                            "\"type\":\"long\","
                                                                            "\"logicalType\":"
                                                                            "\"timestamp-millis\"}}"
                                                                            "," STRING(
                                                                                "extra") "]}";

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }
static const struct weir_field fields[FIELD_COUNT] = {
    {"auction", PLAIN(BIGINT)}, {"bidder", PLAIN(BIGINT)}, {"price", PLAIN(BIGINT)},
    {"channel", PLAIN(TEXT)},   {"url", PLAIN(TEXT)},      {"date_time", PLAIN(TIMESTAMP)},
    {"extra", PLAIN(TEXT)}};
static const struct weir_schema schema = {FIELD_COUNT, fields};
static const struct weir_schema no_schema = {0, NULL};

struct bench {
    struct weir_avro_schemas schemas; // first: the interface
    const struct weir_avro_type *type;
    struct weir_record *records;
    struct weir_decoder *decoder;
    struct weir_decoder *counter;
    struct weir_encoder *encoder;
    struct weir_arena *arena;
    struct weir_buffer out;
    avro_schema_t avro_schema;
    avro_value_t value;
    avro_reader_t reader;
    avro_writer_t writer;
    char room[BID_BYTES_MAX];
    uint64_t sum; // so that nothing is left out
};

static enum weir_avro_lookup find(struct weir_avro_schemas *schemas, uint32_t id,
                                  const struct weir_avro_type **type, const char **why)
{
    (void)id;
    (void)why;
    *type = ((struct bench *)schemas)->type;
    return WEIR_AVRO_FOUND;
}

// --- what is measured ------------------------------------------------------------------------

static void read_value(struct bench *bench, uint32_t idx)
{
    struct weir_view bytes = bench->records[idx].value;
    avro_reader_memory_set_source(bench->reader, bytes.data + WEIR_AVRO_FRAME_BYTES,
                                  (int64_t)(bytes.size_bytes - WEIR_AVRO_FRAME_BYTES));
    if (avro_value_read(bench->reader, &bench->value) != 0) {
        rounds_end_with(avro_strerror());
    }
}

static void run_value(struct bench *bench, uint32_t first)
{
    for (uint32_t i = first; i < first + WEIR_BATCH_ROWS_MAX; i++) {
        read_value(bench, i);
    }
}

// The fields are looked at, as whoever wants columns has to.
static void run_value_fields(struct bench *bench, uint32_t first)
{
    for (uint32_t i = first; i < first + WEIR_BATCH_ROWS_MAX; i++) {
        read_value(bench, i);
        for (size_t field = 0; field < FIELD_COUNT; field++) {
            avro_value_t part;
            const char *text = NULL;
            size_t size_bytes = 0;
            int64_t number = 0;
            avro_value_get_by_index(&bench->value, field, &part, NULL);
            if (avro_value_get_type(&part) == AVRO_STRING) {
                avro_value_get_string(&part, &text, &size_bytes);
            } else {
                avro_value_get_long(&part, &number);
            }
            bench->sum += size_bytes + (uint64_t)number;
        }
    }
}

static void decode(struct bench *bench, struct weir_decoder *decoder, uint32_t first,
                   struct weir_decoded *decoded)
{
    weir_arena_reset(bench->arena);
    weir_decoder_decode(decoder, &bench->records[first], WEIR_BATCH_ROWS_MAX, bench->arena,
                        decoded);
    if (decoded->row_count != WEIR_BATCH_ROWS_MAX) {
        rounds_end_with(decoded->bad[0].message);
    }
}

static void run_decode(struct bench *bench, uint32_t first)
{
    struct weir_decoded decoded;
    decode(bench, bench->decoder, first, &decoded);
}

static void run_count(struct bench *bench, uint32_t first)
{
    struct weir_decoded decoded;
    decode(bench, bench->counter, first, &decoded);
}

// The values to write are read first, off the clock.
static double time_value_write(struct bench *bench)
{
    double total_ns = 0;
    for (uint32_t i = 0; i < RECORD_COUNT; i += 64) {
        read_value(bench, i);
        double start_ns = rounds_cpu_ns();
        for (int again = 0; again < 64; again++) {
            avro_writer_reset(bench->writer);
            if (avro_value_write(bench->writer, &bench->value) != 0) {
                rounds_end_with(avro_strerror());
            }
        }
        total_ns += rounds_cpu_ns() - start_ns;
    }
    return total_ns;
}

static double time_encode(struct bench *bench)
{
    static struct weir_encoded encoded[WEIR_BATCH_ROWS_MAX];
    double total_ns = 0;
    for (uint32_t i = 0; i < RECORD_COUNT; i += WEIR_BATCH_ROWS_MAX) {
        struct weir_decoded decoded;
        decode(bench, bench->decoder, i, &decoded);
        const struct weir_batch batch = {.schema = &schema,
                                         .row_count = decoded.row_count,
                                         .selected_count = decoded.row_count,
                                         .columns = decoded.columns,
                                         .arena = bench->arena};
        double start_ns = rounds_cpu_ns();
        bench->out.size_bytes = 0;
        weir_encoder_encode(bench->encoder, &batch, 0, batch.selected_count, &bench->out, encoded);
        total_ns += rounds_cpu_ns() - start_ns;
        // It is what was read.
        for (uint32_t j = 0; j < WEIR_BATCH_ROWS_MAX; j++) {
            if (!weir_view_equal(weir_encoded_view(&bench->out, &encoded[j]),
                                 bench->records[i + j].value)) {
                rounds_end_with("other bytes are written than were read");
            }
        }
    }
    return total_ns;
}

// --- the input -------------------------------------------------------------------------------

static void set_string(const avro_value_t *value, size_t idx, const char *text, size_t size_bytes)
{
    avro_value_t part;
    avro_value_get_by_index(value, idx, &part, NULL);
    char *copy = strndup(text, size_bytes);
    avro_value_set_string_len(&part, copy, size_bytes + 1);
    free(copy);
}

static void set_long(const avro_value_t *value, size_t idx, int64_t number)
{
    avro_value_t part;
    avro_value_get_by_index(value, idx, &part, NULL);
    avro_value_set_long(&part, number);
}

// Avro-C writes them.
static void make_bids(struct bench *bench)
{
    const struct weir_nexmark_config config = weir_nexmark_config_default();
    struct weir_nexmark *generator = weir_nexmark_create(&config);
    bench->records = weir_alloc_zero(RECORD_COUNT * sizeof *bench->records);
    size_t total_bytes = 0;
    uint32_t count = 0;
    for (int64_t number = 0; count < RECORD_COUNT; number++) {
        struct weir_nexmark_event event;
        if (weir_nexmark_kind_of(generator, number) != WEIR_NEXMARK_BID) {
            continue;
        }
        weir_nexmark_make(generator, number, &event);
        set_long(&bench->value, 0, event.bid.auction);
        set_long(&bench->value, 1, event.bid.bidder);
        set_long(&bench->value, 2, event.bid.price);
        set_string(&bench->value, 3, event.bid.channel, strlen(event.bid.channel));
        set_string(&bench->value, 4, event.bid.url, strlen(event.bid.url));
        set_long(&bench->value, 5, event.time_ms);
        set_string(&bench->value, 6, event.extra, event.extra_bytes);
        avro_writer_reset(bench->writer);
        if (avro_value_write(bench->writer, &bench->value) != 0) {
            rounds_end_with(avro_strerror());
        }
        size_t size_bytes = WEIR_AVRO_FRAME_BYTES + (size_t)avro_writer_tell(bench->writer);
        char *copy = weir_alloc_zero(size_bytes);
        copy[4] = 1;
        memcpy(copy + WEIR_AVRO_FRAME_BYTES, bench->room, size_bytes - WEIR_AVRO_FRAME_BYTES);
        bench->records[count++].value = (struct weir_view){copy, size_bytes};
        total_bytes += size_bytes;
    }
    weir_nexmark_destroy(generator);
    printf("%d bids of %.0f bytes\n", (int)RECORD_COUNT, (double)total_bytes / RECORD_COUNT);
}

static void prepare(struct bench *bench)
{
    static const uint32_t idxs[FIELD_COUNT] = {0, 1, 2, 3, 4, 5, 6};
    struct weir_error error;
    bench->schemas.find = find;
    bench->arena = weir_arena_create(1 << 20);
    if (weir_avro_schema_parse(weir_arena_create(4096), 0, NULL, weir_view_of(schema_text),
                               &bench->type, &error) != WEIR_OK ||
        weir_avro_encoder_create(&(struct weir_avro_encode_config){.schema = &schema,
                                                                   .column_count = FIELD_COUNT,
                                                                   .column_idxs = idxs,
                                                                   .type = bench->type,
                                                                   .id = 1},
                                 &bench->encoder, &error) != WEIR_OK) {
        rounds_end_with(error.text);
    }
    const struct weir_avro_decode_options options = {.schemas = &bench->schemas};
    bench->decoder = weir_avro_decoder_create(&schema, &options);
    bench->counter = weir_avro_decoder_create(&no_schema, &options);
    if (avro_schema_from_json_length(schema_text, strlen(schema_text), &bench->avro_schema) != 0) {
        rounds_end_with(avro_strerror());
    }
    avro_value_iface_t *class = avro_generic_class_from_schema(bench->avro_schema);
    avro_generic_value_new(class, &bench->value);
    bench->reader = avro_reader_memory(bench->room, sizeof bench->room);
    bench->writer = avro_writer_memory(bench->room, sizeof bench->room);
    make_bids(bench);
}

int main(int argc, char **argv)
{
    static const struct rounds_line lines[] = {
        {"avro-c value read", .run = run_value},
        {"avro-c value read, 7 fields", .run = run_value_fields},
        {"decode, 7 fields", .run = run_decode},
        {"decode, count only", .run = run_count},
        {"avro-c value write", .time = time_value_write},
        {"encode, 7 fields", .time = time_encode},
    };
    enum { LINES = sizeof lines / sizeof lines[0] };
    static struct bench bench;
    long rounds = rounds_of(argc, argv);
    prepare(&bench);
    double medians[LINES];
    rounds_measure(&bench, lines, LINES, RECORD_COUNT, rounds, medians);
    for (int i = 0; i < LINES; i++) {
        printf("%-30s %6.1f ns  ", lines[i].name, medians[i]);
        if (i < 4) {
            printf("avro-c's value is %.1f times that, with its fields %.1f\n",
                   medians[0] / medians[i], medians[1] / medians[i]);
        } else {
            printf("avro-c's value is %.1f times that\n", medians[4] / medians[i]);
        }
    }
    return bench.sum == 0 ? 1 : 0;
}
