// SPDX-License-Identifier: Apache-2.0
// What decoding and encoding JSON costs, against building yyjson's tree from the same bytes in the
// same run: absolute figures drift from machine to machine and from minute to minute, the ratio
// less. The input is NEXMark: bids with five of seven nested fields wanted, as query 0 reads them.
//
//   json_bench [ROUNDS]
//
// Each line is the median, over rounds that take turns, of CPU nanoseconds per record.
#include "bench/nexmark.h"
#include "kafka/json_decode.h"
#include "kafka/json_encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <yyjson.h>

enum {
    BATCH_COUNT = 32,
    RECORD_COUNT = BATCH_COUNT * WEIR_BATCH_ROWS_MAX,
    ROUNDS_DEFAULT = 21,
    ROUNDS_MAX = 1000,
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

static void end_with(const char *text)
{
    fprintf(stderr, "json_bench: %s\n", text);
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

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
            end_with("yyjson refuses an event");
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
        end_with(decoded.bad[0].message);
    }
}

static void run_count(struct bench *bench, uint32_t first)
{
    struct weir_decoded decoded;
    weir_arena_reset(bench->arena);
    weir_decoder_decode(bench->counter, &bench->records[first], WEIR_BATCH_ROWS_MAX, bench->arena,
                        &decoded);
    if (decoded.row_count != WEIR_BATCH_ROWS_MAX) {
        end_with("an event was not counted");
    }
}

// The rows to encode are decoded first, off the clock.
static double time_encode(struct bench *bench, uint32_t first)
{
    static struct weir_encoded encoded[WEIR_BATCH_ROWS_MAX];
    struct weir_decoded decoded;
    weir_arena_reset(bench->arena);
    weir_decoder_decode(bench->decoder, &bench->records[first], WEIR_BATCH_ROWS_MAX, bench->arena,
                        &decoded);
    const struct weir_batch batch = {.schema = &bid_schema,
                                     .row_count = decoded.row_count,
                                     .selected_count = decoded.row_count,
                                     .columns = decoded.columns[0].children,
                                     .arena = bench->arena};
    double start_ns = cpu_ns();
    bench->out.size_bytes = 0;
    weir_encoder_encode(bench->encoder, &batch, 0, batch.selected_count, &bench->out, encoded);
    return cpu_ns() - start_ns;
}

// --- rounds ----------------------------------------------------------------------------------

static double time_all(struct bench *bench, void (*run)(struct bench *bench, uint32_t first))
{
    double start_ns = cpu_ns();
    for (uint32_t i = 0; i < RECORD_COUNT; i += WEIR_BATCH_ROWS_MAX) {
        run(bench, i);
    }
    return (cpu_ns() - start_ns) / RECORD_COUNT;
}

static double time_all_encodes(struct bench *bench)
{
    double total_ns = 0;
    for (uint32_t i = 0; i < RECORD_COUNT; i += WEIR_BATCH_ROWS_MAX) {
        total_ns += time_encode(bench, i);
    }
    return total_ns / RECORD_COUNT;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

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
    static double times[5][ROUNDS_MAX];
    static const char *const names[5] = {"yyjson tree", "yyjson tree, numbers as text",
                                         "decode, 5 of 7 fields", "decode, count only",
                                         "encode, 5 fields"};
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS_DEFAULT;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        end_with("rounds: 1 to 1000");
    }
    const struct weir_json_decode_options options = {.timestamp_digits = 3};
    struct bench bench = {
        .decoder = weir_json_decoder_create(&event_schema, &options),
        .counter = weir_json_decoder_create(&no_schema, &options),
        .encoder = weir_json_encoder_create(&bid_schema),
        .arena = weir_arena_create(1 << 20),
        .pool = weir_alloc(POOL_BYTES),
    };
    make_bids(&bench);
    for (long round = 0; round < rounds; round++) {
        times[0][round] = time_all(&bench, run_tree);
        times[1][round] = time_all(&bench, run_tree_raw_numbers);
        times[2][round] = time_all(&bench, run_decode);
        times[3][round] = time_all(&bench, run_count);
        times[4][round] = time_all_encodes(&bench);
    }
    double tree_ns = median(times[0], (size_t)rounds);
    for (int i = 0; i < 5; i++) {
        double ns = median(times[i], (size_t)rounds);
        printf("%-30s %6.1f ns  %.2f of the tree\n", names[i], ns, ns / tree_ns);
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
