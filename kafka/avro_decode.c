// SPDX-License-Identifier: Apache-2.0
// See avro_decode.h. A program is compiled for each schema id when its first record comes; records
// of one id follow one another, so that the last one is looked at first.
//
// Rows are filled from the front: a record that fails gives its row to the next one, after the bits
// that it has set are cleared.
#include "kafka/avro_decode.h"

#include "kafka/avro_lanes.h"

#include <stdlib.h>

enum {
    // Programs and refusals that are kept. Only garbage has so many ids.
    ENTRIES_MAX = 4096,
    SLOTS_OF_TABLE = 2 * ENTRIES_MAX,
    NO_FRAME = 1,       // no frame, as frame_of's low bytes are zero
    PREFETCH_AHEAD = 8, // records; their messages lie wherever the client has put them
};

struct entry {
    uint32_t id;
    bool is_used;
    const struct weir_avro_program *program; // NULL: refused
    const char *why;
};

struct avro_decoder {
    struct weir_decoder base; // first: the interface
    const struct weir_schema *schema;
    struct weir_avro_decode_options options;
    size_t frame_bytes;
    struct weir_avro_program_config program_config;
    weir_avro_lanes_fn run_lanes;
    struct weir_arena *arena; // programs
    struct entry *entries;    // by id, open addressing
    uint32_t entry_count;
    const struct entry *last;
    uint64_t last_frame; // NO_FRAME: its records are to be looked at
    struct weir_avro_slot *slots;
    uint32_t slot_count;
};

// What one call of decode is about.
struct run {
    struct avro_decoder *decoder;
    struct weir_arena *arena;
    uint32_t record_count;
    struct weir_decoded *decoded;
    struct weir_bad_record *bad;
    uint16_t *record_of_row;
    const struct weir_avro_program *program; // of the rows since first_row
    uint32_t first_row;
    uint32_t row_count;
};

static inline uint32_t load_id(const struct avro_decoder *decoder, struct weir_view frame)
{
    if (__builtin_expect(decoder->options.frame.framing != WEIR_AVRO_FRAMING_REGISTRY, 0)) {
        return 0;
    }
    uint32_t id;
    memcpy(&id, frame.data + 1, sizeof id);
    return __builtin_bswap32(id);
}

static inline bool is_framed(const struct avro_decoder *decoder, struct weir_view value)
{
    if (__builtin_expect(value.size_bytes < decoder->frame_bytes, 0)) {
        return false;
    }
    const struct weir_avro_frame *frame = &decoder->options.frame;
    return frame->framing == WEIR_AVRO_FRAMING_REGISTRY
               ? value.data[0] == 0
               : memcmp(value.data, frame->bytes, frame->size_bytes) == 0;
}

// --- programs --------------------------------------------------------------------------------

static struct entry *find_slot(const struct avro_decoder *decoder, uint32_t id)
{
    uint32_t at = (id * UINT32_C(2654435761)) % SLOTS_OF_TABLE;
    while (decoder->entries[at].is_used && decoder->entries[at].id != id) {
        at = (at + 1) % SLOTS_OF_TABLE;
    }
    return &decoder->entries[at];
}

static void forget_all(struct avro_decoder *decoder)
{
    memset(decoder->entries, 0, SLOTS_OF_TABLE * sizeof *decoder->entries);
    decoder->entry_count = 0;
    decoder->last = NULL;
    decoder->last_frame = NO_FRAME;
    weir_arena_reset(decoder->arena);
}

static void compile(struct avro_decoder *decoder, const struct weir_avro_type *type,
                    struct entry *entry)
{
    struct weir_avro_program *program;
    struct weir_error error;
    if (weir_avro_program_create(decoder->arena, &decoder->program_config, type, &program,
                                 &error) == WEIR_OK) {
        entry->program = program;
    } else {
        entry->why = weir_arena_printf(decoder->arena, "schema %u: %s", entry->id, error.text);
    }
}

// What frame_of gives for records of the last entry.
static uint64_t last_frame_of(const struct avro_decoder *decoder, const struct entry *last)
{
    bool has_frame =
        decoder->options.frame.framing == WEIR_AVRO_FRAMING_REGISTRY && last->program != NULL;
    return has_frame ? (uint64_t)__builtin_bswap32(last->id) << 32 : NO_FRAME;
}

// The five bytes of a registry's frame, of a record of eight bytes or more, as one number: a zero
// and the id, which end up in the upper half.
static inline uint64_t frame_of(struct weir_view value)
{
    uint64_t word;
    memcpy(&word, value.data, sizeof word); // little-endian: the first bytes are the lowest
    return word << (64 - 8 * WEIR_AVRO_FRAME_BYTES);
}

// The entry of that id; NULL: its schema is not known yet.
static const struct entry *ensure_slow(struct avro_decoder *decoder, uint32_t id)
{
    struct entry *entry = find_slot(decoder, id);
    if (!entry->is_used) {
        const struct weir_avro_type *type = NULL;
        const char *why = NULL;
        enum weir_avro_lookup found =
            decoder->options.schemas->find(decoder->options.schemas, id, &type, &why);
        if (found == WEIR_AVRO_PENDING) {
            return NULL;
        }
        if (decoder->entry_count == ENTRIES_MAX) {
            forget_all(decoder);
            entry = find_slot(decoder, id);
        }
        decoder->entry_count++;
        *entry = (struct entry){.id = id, .is_used = true, .why = why};
        if (found == WEIR_AVRO_FOUND) {
            compile(decoder, type, entry);
        }
    }
    decoder->last = entry;
    decoder->last_frame = last_frame_of(decoder, entry);
    return entry;
}

static inline const struct entry *ensure(struct avro_decoder *decoder, uint32_t id)
{
    if (__builtin_expect(decoder->last != NULL && decoder->last->id == id, 1)) {
        return decoder->last;
    }
    return ensure_slow(decoder, id);
}

// --- records ---------------------------------------------------------------------------------

__attribute__((cold)) static void report_bad(struct run *run, uint32_t record_idx,
                                             enum weir_row_error_reason reason, const char *message)
{
    if (run->bad == NULL) {
        run->bad = weir_arena_alloc(run->arena, run->record_count * sizeof *run->bad);
        run->decoded->bad = run->bad;
    }
    run->bad[run->decoded->bad_count++] =
        (struct weir_bad_record){.record_idx = record_idx, .reason = reason, .message = message};
}

__attribute__((cold)) static void report_frame(struct run *run, uint32_t record_idx,
                                               struct weir_view value)
{
    if (run->decoder->options.frame.framing == WEIR_AVRO_FRAMING_SINGLE_OBJECT) {
        bool is_marked = value.size_bytes >= 2 && memcmp(value.data, "\xc3\x01", 2) == 0;
        report_bad(run, record_idx, is_marked ? WEIR_ROW_ERROR_SCHEMA : WEIR_ROW_ERROR_FRAMING,
                   is_marked ? "its fingerprint is not that of the given schema"
                             : "not in single-object encoding: it does not begin with C3 01");
        return;
    }
    if (value.size_bytes != 0 && value.data[0] != 0) {
        report_bad(run, record_idx, WEIR_ROW_ERROR_FRAMING,
                   weir_arena_printf(run->arena,
                                     "not framed: it begins with byte 0x%02x, records of a schema "
                                     "registry with 0x00 and a schema id",
                                     (uint8_t)value.data[0]));
        return;
    }
    report_bad(run, record_idx, WEIR_ROW_ERROR_DECODE,
               weir_arena_printf(run->arena, "too short for Avro with a schema id: %zu bytes",
                                 value.size_bytes));
}

__attribute__((cold)) static void report_fault(struct run *run, uint32_t record_idx, uint32_t id,
                                               const struct weir_avro_fault *fault)
{
    const char *path = fault->path != NULL ? fault->path : "";
    bool has_path = path[0] != '\0';
    bool has_detail = fault->error.detail[0] != '\0';
    bool has_id = run->decoder->options.frame.framing == WEIR_AVRO_FRAMING_REGISTRY;
    report_bad(run, record_idx, fault->reason,
               weir_arena_printf(run->arena, has_id ? "%s%s%s%s%s%s (schema %u)" : "%s%s%s%s%s%s",
                                 has_path ? "column \"" : "", path, has_path ? "\": " : "",
                                 fault->error.text, has_detail ? ": " : "",
                                 has_detail ? fault->error.detail : "", id));
}

static void clear_row(struct avro_decoder *decoder, uint32_t row)
{
    for (uint32_t i = 0; i < decoder->slot_count; i++) {
        if (!decoder->slots[i].is_element) {
            weir_bitmap_clear(decoder->slots[i].validity, row);
        }
    }
}

// The rows of one program are complete: another one follows, or the end.
static void end_program(struct run *run)
{
    if (run->program != NULL) {
        weir_avro_mark_rows(run->program, run->decoder->slots, run->first_row, run->row_count);
    }
    run->first_row = run->row_count;
}

static void begin_program(struct run *run, const struct weir_avro_program *program)
{
    if (program != run->program) {
        end_program(run);
        run->program = program;
    }
}

static bool decode_record(struct run *run, uint32_t record_idx, struct weir_view value)
{
    struct avro_decoder *decoder = run->decoder;
    if (__builtin_expect(!is_framed(decoder, value), 0)) {
        report_frame(run, record_idx, value);
        return false;
    }
    uint32_t id = load_id(decoder, value);
    const struct entry *entry = ensure(decoder, id);
    if (__builtin_expect(entry == NULL || entry->program == NULL, 0)) {
        report_bad(run, record_idx, WEIR_ROW_ERROR_SCHEMA,
                   entry != NULL ? weir_arena_strdup(run->arena, entry->why)
                                 : weir_arena_printf(run->arena, "schema %u is not known yet", id));
        return false;
    }
    begin_program(run, entry->program);
    struct weir_avro_fault fault; // its texts are some 400 bytes: not set up here
    struct weir_view body = {.data = value.data + decoder->frame_bytes,
                             .size_bytes = value.size_bytes - decoder->frame_bytes};
    if (__builtin_expect(!weir_avro_program_run(entry->program, decoder->slots, run->row_count,
                                                body, run->arena, &fault),
                         0)) {
        clear_row(decoder, run->row_count);
        report_fault(run, record_idx, id, &fault);
        return false;
    }
    return true;
}

// From here on rows and records have different numbers.
static void begin_mapping(struct run *run)
{
    if (run->record_of_row != NULL) {
        return;
    }
    size_t size_bytes = run->record_count * sizeof *run->record_of_row;
    run->record_of_row = weir_arena_alloc(run->arena, size_bytes);
    for (uint32_t i = 0; i < run->row_count; i++) {
        run->record_of_row[i] = (uint16_t)i;
    }
    run->decoded->record_of_row = run->record_of_row;
}

// The next row is that record's.
static inline void add_row(struct run *run, uint32_t record_idx)
{
    if (run->record_of_row != NULL) {
        run->record_of_row[run->row_count] = (uint16_t)record_idx;
    }
    run->row_count++;
}

// The program of a record with a body. NULL: that is another case.
static inline const struct weir_avro_program *program_of(struct avro_decoder *decoder,
                                                         struct weir_view value)
{
    if (__builtin_expect(
            value.size_bytes >= sizeof(uint64_t) && frame_of(value) == decoder->last_frame, 1)) {
        return decoder->last->program;
    }
    if (value.data == NULL || !is_framed(decoder, value)) {
        return NULL;
    }
    const struct entry *entry = ensure(decoder, load_id(decoder, value));
    return entry != NULL ? entry->program : NULL;
}

// Records from `first` on that can be tried together: they have bodies, and one program. How many;
// 0: the first one is another case.
static uint32_t gather(const struct run *run, const struct weir_record *records, uint32_t first,
                       struct weir_view *bodies, const struct weir_avro_program **program)
{
    uint32_t most = run->record_count - first;
    most = most < WEIR_AVRO_LANES_MAX ? most : WEIR_AVRO_LANES_MAX;
    for (uint32_t i = 0; i < most; i++) {
        struct weir_view value = records[first + i].value;
        if (first + i + PREFETCH_AHEAD < run->record_count) {
            const char *ahead = records[first + i + PREFETCH_AHEAD].value.data;
            __builtin_prefetch(ahead); // of NULL as well: never faults
            __builtin_prefetch(ahead + 64);
            __builtin_prefetch(ahead + 128);
        }
        const struct weir_avro_program *found = program_of(run->decoder, value);
        if (__builtin_expect(found == NULL || (i != 0 && found != *program), 0)) {
            return i;
        }
        *program = found;
        bodies[i] = (struct weir_view){.data = value.data + run->decoder->frame_bytes,
                                       .size_bytes = value.size_bytes - run->decoder->frame_bytes};
    }
    return most;
}

// `count` records from `first` on, whose bodies are of one program. False: none of them, as one is
// bad.
static bool decode_together(struct run *run, const struct weir_avro_program *program,
                            uint32_t first, uint32_t count, const struct weir_view *bodies)
{
    begin_program(run, program);
    if (!run->decoder->run_lanes(program, run->decoder->slots, run->row_count, count, bodies,
                                 run->arena)) {
        for (uint32_t i = 0; i < count; i++) {
            clear_row(run->decoder, run->row_count + i);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        add_row(run, first + i);
    }
    return true;
}

static void decode_alone(struct run *run, uint32_t record_idx, struct weir_view value)
{
    if (value.data == NULL) {
        run->decoded->null_value_count++;
        begin_mapping(run);
    } else if (!decode_record(run, record_idx, value)) {
        begin_mapping(run);
    } else {
        add_row(run, record_idx);
    }
}

// What can be tried together from `first` on, else the one record; how many.
static uint32_t decode_some(struct run *run, const struct weir_record *records, uint32_t first)
{
    struct weir_view bodies[WEIR_AVRO_LANES_MAX];
    const struct weir_avro_program *program = NULL;
    uint32_t count = gather(run, records, first, bodies, &program);
    if (count == 0) {
        decode_alone(run, first, records[first].value);
        return 1;
    }
    if (!decode_together(run, program, first, count, bodies)) {
        for (uint32_t i = first; i < first + count; i++) {
            decode_alone(run, i, records[i].value);
        }
    }
    return count;
}

static void drop_full_bitmaps(struct avro_decoder *decoder, uint32_t row_count)
{
    for (uint32_t i = 0; i < decoder->slot_count; i++) {
        const struct weir_avro_slot *slot = &decoder->slots[i];
        if (slot->is_element) {
            continue;
        }
        uint32_t valid_count = 0;
        for (uint32_t word = 0; word < (row_count + 63) / 64; word++) {
            valid_count += (uint32_t)__builtin_popcountll(slot->validity[word]);
        }
        WEIR_ASSERT(valid_count <= row_count); // no bit of a row that does not exist
        if (valid_count == row_count) {
            slot->column->validity = NULL;
        }
    }
}

static void decode(struct weir_decoder *base, const struct weir_record *records,
                   uint32_t record_count, struct weir_arena *arena, struct weir_decoded *decoded)
{
    struct avro_decoder *decoder = (struct avro_decoder *)base;
    const struct weir_schema *schema = decoder->schema;
    WEIR_ASSERT(record_count <= WEIR_BATCH_ROWS_MAX);
    if (decoder->entry_count > ENTRIES_MAX - WEIR_BATCH_ROWS_MAX) {
        forget_all(decoder); // no program goes while rows of it are being made
    }
    *decoded = (struct weir_decoded){0};
    decoded->columns =
        weir_arena_alloc_zero(arena, schema->column_count * sizeof(struct weir_column));
    for (uint32_t i = 0; i < schema->column_count; i++) {
        weir_column_init(&decoded->columns[i], &schema->columns[i].type, record_count, true, arena);
    }
    weir_avro_bind(schema, decoded->columns, arena, decoder->slots);
    struct run run = {
        .decoder = decoder, .arena = arena, .record_count = record_count, .decoded = decoded};
    uint32_t done = 0;
    while (done < record_count) {
        done += decode_some(&run, records, done);
    }
    end_program(&run);
    decoded->row_count = run.row_count;
    drop_full_bitmaps(decoder, run.row_count);
}

static bool missing(struct weir_decoder *base, const struct weir_record *record, uint32_t *id)
{
    struct avro_decoder *decoder = (struct avro_decoder *)base;
    if (record->value.data == NULL || !is_framed(decoder, record->value)) {
        return false;
    }
    *id = load_id(decoder, record->value);
    return ensure(decoder, *id) == NULL;
}

static bool is_missing(struct weir_decoder *base, uint32_t id)
{
    return ensure((struct avro_decoder *)base, id) == NULL;
}

static void destroy(struct weir_decoder *base)
{
    struct avro_decoder *decoder = (struct avro_decoder *)base;
    struct weir_avro_schemas *schemas = decoder->options.schemas;
    if (schemas->unwatch != NULL && decoder->options.wake_descriptor != 0) {
        schemas->unwatch(schemas, decoder->options.wake_descriptor);
    }
    weir_arena_destroy(decoder->arena);
    free(decoder->entries);
    free(decoder->slots);
    free(decoder);
}

struct weir_decoder *weir_avro_decoder_create(const struct weir_schema *schema,
                                              const struct weir_avro_decode_options *options)
{
    static const struct weir_decoder_ops ops = {
        .decode = decode, .missing = missing, .is_missing = is_missing, .destroy = destroy};
    struct avro_decoder *decoder = weir_alloc_zero(sizeof *decoder);
    decoder->base.ops = &ops;
    decoder->schema = schema;
    decoder->options = *options;
    decoder->run_lanes = options->is_portable ? weir_avro_run_lanes : weir_avro_lanes_choose();
    decoder->frame_bytes = options->frame.framing == WEIR_AVRO_FRAMING_REGISTRY
                               ? WEIR_AVRO_FRAME_BYTES
                               : options->frame.size_bytes;
    decoder->program_config = (struct weir_avro_program_config){
        .schema = schema,
        .timestamp_digits = options->timestamp_digits,
        .is_single_column = options->is_single_column,
        .reader = options->reader,
        .is_reader_strict = options->is_reader_strict,
    };
    decoder->arena = weir_arena_create(16 * 1024);
    decoder->last_frame = NO_FRAME;
    decoder->entries = weir_alloc_zero(SLOTS_OF_TABLE * sizeof *decoder->entries);
    decoder->slot_count = weir_avro_slot_count(schema);
    decoder->slots = weir_alloc((decoder->slot_count + 1) * sizeof *decoder->slots);
    if (options->schemas->watch != NULL && options->wake_descriptor != 0) {
        options->schemas->watch(options->schemas, options->wake_descriptor);
    }
    return &decoder->base;
}
