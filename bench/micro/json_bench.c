// SPDX-License-Identifier: Apache-2.0
// What decoding and encoding JSON costs, against building yyjson's tree from the same bytes in the
// same run: absolute figures drift from machine to machine and from minute to minute, the ratio
// less. The input is NEXMark: bids with five of seven nested fields wanted, as query 0 reads them.
//
//   json_bench [ROUNDS]
//
// Each line is the median, over rounds that take turns, of CPU nanoseconds per record.
#include "bench/micro/rounds.h"
#include "bench/nexmark.h"
#include "kafka/json_decode.h"
#include "kafka/json_encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

enum {
    BATCH_COUNT = 32,
    RECORD_COUNT = BATCH_COUNT * WEIR_BATCH_ROWS_MAX,
    POOL_BYTES = 1 << 20,
};

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }
static const struct weir_field bid_fields[] = {{"auction", PLAIN(BIGINT)},
                                               {"bidder", PLAIN(BIGINT)},
                                               {"price", PLAIN(BIGINT)},
                                               {"dateTime", PLAIN(TIMESTAMP)},
                                               {"extra", PLAIN(TEXT)}};
static const struct weir_composite bid_type = {"bid_type", 5, bid_fields};
static const struct weir_field event_fields[] = {{"bid", {WEIR_TYPE_COMPOSITE, -1, &bid_type}}};
static const struct weir_schema event_schema = {1, event_fields};
static const struct weir_schema bid_schema = {5, bid_fields};
static const struct weir_schema no_schema = {0, NULL};

struct bench {
    struct weir_record *records;
    struct weir_decoder *decoder;
    struct weir_decoder *counter;
    struct weir_encoder *encoder;
    struct weir_arena *arena;
    struct weir_buffer out;
    char *pool;
};

// --- what is measured ------------------------------------------------------------------------

static void build_tree(struct bench *bench, uint32_t first, yyjson_read_flag flags)
{
    for (uint32_t i = first; i < first + WEIR_BATCH_ROWS_MAX; i++) {
        yyjson_alc allocator;
        yyjson_alc_pool_init(&allocator, bench->pool, POOL_BYTES);
        struct weir_view value = bench->records[i].value;
        // Without the in-situ flag the text is not written to.
        yyjson_doc *document = yyjson_read_opts((char *)(uintptr_t)value.data, value.size_bytes,
                                                flags, &allocator, NULL);
        if (document == NULL) {
            rounds_end_with("yyjson refuses an event");
        }
    }
}

static void run_tree(struct bench *bench, uint32_t first)
{
    build_tree(bench, first, 0);
}

static void run_tree_raw_numbers(struct bench *bench, uint32_t first)
{
    build_tree(bench, first, YYJSON_READ_NUMBER_AS_RAW);
}

static void run_decode(struct bench *bench, uint32_t first)
{
    struct weir_decoded decoded;
    weir_arena_reset(bench->arena);
    weir_decoder_decode(bench->decoder, &bench->records[first], WEIR_BATCH_ROWS_MAX, bench->arena,
                        &decoded);
    if (decoded.row_count != WEIR_BATCH_ROWS_MAX) {
        rounds_end_with(decoded.bad[0].message);
    }
}

static void run_count(struct bench *bench, uint32_t first)
{
    struct weir_decoded decoded;
    weir_arena_reset(bench->arena);
    weir_decoder_decode(bench->counter, &bench->records[first], WEIR_BATCH_ROWS_MAX, bench->arena,
                        &decoded);
    if (decoded.row_count != WEIR_BATCH_ROWS_MAX) {
        rounds_end_with("an event was not counted");
    }
}

// The rows to encode are decoded first, off the clock.
static double time_encode(struct bench *bench)
{
    static struct weir_encoded encoded[WEIR_BATCH_ROWS_MAX];
    double total_ns = 0;
    for (uint32_t i = 0; i < RECORD_COUNT; i += WEIR_BATCH_ROWS_MAX) {
        struct weir_decoded decoded;
        weir_arena_reset(bench->arena);
        weir_decoder_decode(bench->decoder, &bench->records[i], WEIR_BATCH_ROWS_MAX, bench->arena,
                            &decoded);
        const struct weir_batch batch = {.schema = &bid_schema,
                                         .row_count = decoded.row_count,
                                         .selected_count = decoded.row_count,
                                         .columns = decoded.columns[0].children,
                                         .arena = bench->arena};
        double start_ns = rounds_cpu_ns();
        bench->out.size_bytes = 0;
        weir_encoder_encode(bench->encoder, &batch, 0, batch.selected_count, &bench->out, encoded);
        total_ns += rounds_cpu_ns() - start_ns;
    }
    return total_ns;
}

// --- the input -------------------------------------------------------------------------------

static void make_bids(struct bench *bench)
{
    const struct weir_nexmark_config config = weir_nexmark_config_default();
    struct weir_nexmark *generator = weir_nexmark_create(&config);
    bench->records = weir_alloc_zero(RECORD_COUNT * sizeof *bench->records);
    size_t total_bytes = 0;
    uint32_t count = 0;
    for (int64_t number = 0; count < RECORD_COUNT; number++) {
        if (weir_nexmark_kind_of(generator, number) != WEIR_NEXMARK_BID) {
            continue;
        }
        struct weir_nexmark_event event;
        char text[WEIR_NEXMARK_JSON_BYTES_MAX];
        weir_nexmark_make(generator, number, &event);
        size_t size_bytes = weir_nexmark_write_json(&event, text);
        char *copy = weir_alloc(size_bytes);
        memcpy(copy, text, size_bytes);
        bench->records[count++].value = (struct weir_view){copy, size_bytes};
        total_bytes += size_bytes;
    }
    weir_nexmark_destroy(generator);
    printf("%d bids of %.0f bytes\n", (int)RECORD_COUNT, (double)total_bytes / RECORD_COUNT);
}

int main(int argc, char **argv)
{
    static const struct rounds_line lines[] = {
        {"yyjson tree", .run = run_tree},
        {"yyjson tree, numbers as text", .run = run_tree_raw_numbers},
        {"decode, 5 of 7 fields", .run = run_decode},
        {"decode, count only", .run = run_count},
        {"encode, 5 fields", .time = time_encode},
    };
    enum { LINES = sizeof lines / sizeof lines[0] };
    long rounds = rounds_of(argc, argv);
    const struct weir_json_decode_options options = {.timestamp_digits = 3};
    struct bench bench = {
        .decoder = weir_json_decoder_create(&event_schema, &options),
        .counter = weir_json_decoder_create(&no_schema, &options),
        .encoder = weir_json_encoder_create(&bid_schema),
        .arena = weir_arena_create(1 << 20),
        .pool = weir_alloc(POOL_BYTES),
    };
    make_bids(&bench);
    double medians[LINES];
    rounds_measure(&bench, lines, LINES, RECORD_COUNT, rounds, medians);
    for (int i = 0; i < LINES; i++) {
        printf("%-30s %6.1f ns  %.2f of the tree\n", lines[i].name, medians[i],
               medians[i] / medians[0]);
    }
    for (uint32_t i = 0; i < RECORD_COUNT; i++) {
        free((char *)(uintptr_t)bench.records[i].value.data);
    }
    free(bench.records);
    free(bench.pool);
    weir_buffer_deinit(&bench.out);
    weir_arena_destroy(bench.arena);
    weir_encoder_destroy(bench.encoder);
    weir_decoder_destroy(bench.counter);
    weir_decoder_destroy(bench.decoder);
    return 0;
}
