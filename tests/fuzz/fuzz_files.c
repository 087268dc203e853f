// SPDX-License-Identifier: Apache-2.0
// Any bytes as what weir has left behind and reads again at a start: manifests, redo logs, the
// metadata of committed offsets, rows and keys of keyed state. The first byte chooses. Checksums
// are made right, as a fault behind a right checksum is the one that gets far. What is read must
// come back the same when it is written and read again.
#include "fuzz.h"
#include "kafka/pointer.h"
#include "rocksdb_backend/redo_log.h"
#include "runtime/manifest.h"
#include "runtime/types/array.h"
#include "runtime/types/compare.h"
#include "runtime/types/key.h"
#include "runtime/types/row_codec.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

enum kind { MANIFEST, MANIFEST_HEAD, REDO_LOG, POINTER, ROW, KEY, KIND_COUNT };

// --- manifests -----------------------------------------------------------------------------------

static void check_manifest(struct weir_view bytes, struct weir_arena *arena)
{
    struct weir_manifest manifest;
    struct weir_manifest again;
    struct weir_error error;
    struct weir_buffer texts[2] = {{0}};
    if (weir_manifest_decode("the manifest", bytes, arena, &manifest, &error) != WEIR_OK) {
        require(strstr(error.text, "the manifest") != NULL, "a refusal that does not say of what");
        return;
    }
    weir_manifest_encode(&manifest, &texts[0]);
    struct weir_view written = {texts[0].data, texts[0].size_bytes};
    require(weir_manifest_decode("again", written, arena, &again, &error) == WEIR_OK, error.text);
    weir_manifest_encode(&again, &texts[1]);
    require(is_same_bytes(&texts[0], &texts[1]), "another manifest comes back");
    weir_buffer_deinit(&texts[0]);
    weir_buffer_deinit(&texts[1]);
}

static void check_manifest_body(struct weir_view body, struct weir_arena *arena)
{
    struct weir_buffer bytes = {0};
    weir_buffer_printf(&bytes, "weir-manifest %d xxh3=%016" PRIx64 " bytes=%zu\n",
                       WEIR_MANIFEST_FORMAT, (uint64_t)XXH3_64bits(body.data, body.size_bytes),
                       body.size_bytes);
    weir_buffer_append(&bytes, body.data, body.size_bytes);
    check_manifest((struct weir_view){bytes.data, bytes.size_bytes}, arena);
    weir_buffer_deinit(&bytes);
}

// --- redo logs -----------------------------------------------------------------------------------

static const struct weir_key_group_range key_groups = {.first = 0, .count = 4};

static void visit(void *context, uint64_t state_id, const struct weir_state_key *key,
                  struct weir_view value)
{
    uint64_t *sum = context; // every byte is read, for the sanitizer
    *sum += state_id;
    require(key->key_group < key_groups.count, "an entry of another key group");
    for (size_t i = 0; i < key->bytes.size_bytes; i++) {
        *sum += (unsigned char)key->bytes.data[i];
    }
    for (size_t i = 0; value.data != NULL && i < value.size_bytes; i++) {
        *sum += (unsigned char)value.data[i];
    }
}

// The log lies in a file in memory, which has a path as an open descriptor.
static void check_redo_log(struct weir_view input)
{
    struct weir_buffer bytes = {0};
    struct weir_buffer plain = {0};
    struct weir_error error;
    char name[16];
    weir_buffer_append(&bytes, input.data, input.size_bytes);
    uint64_t digest = XXH3_64bits(input.data, input.size_bytes);
    weir_buffer_append(&bytes, &digest, sizeof digest);
    int log = memfd_create("log", 0);
    require(log >= 0 && write(log, bytes.data, bytes.size_bytes) == (ssize_t)bytes.size_bytes,
            "no file in memory");
    snprintf(name, sizeof name, "%d", log);
    struct weir_state_file file = {.name = name,
                                   .size_bytes = bytes.size_bytes,
                                   .xxh3 = XXH3_64bits(bytes.data, bytes.size_bytes),
                                   .number = 7};
    uint64_t sum = 0;
    if (weir_redo_log_read("/proc/self/fd", &file, "s", key_groups, &plain, visit, &sum, &error) !=
        WEIR_OK) {
        require(strstr(error.text, name) != NULL, "a refusal that does not say of what");
    }
    close(log);
    weir_buffer_deinit(&bytes);
    weir_buffer_deinit(&plain);
}

// --- pointers ------------------------------------------------------------------------------------

static void check_pointer(struct weir_view input)
{
    struct weir_committed committed = {.has_offset = true};
    snprintf(committed.metadata, sizeof committed.metadata, "%.*s", (int)input.size_bytes,
             input.data);
    struct weir_pointer pointer;
    struct weir_pointer again;
    char text[WEIR_POINTER_BYTES_MAX];
    if (weir_pointer_parse(&committed, &pointer) != WEIR_POINTER_PRESENT) {
        return;
    }
    weir_pointer_format(&pointer, text);
    snprintf(committed.metadata, sizeof committed.metadata, "%s", text);
    require(weir_pointer_parse(&committed, &again) == WEIR_POINTER_PRESENT &&
                again.number == pointer.number &&
                weir_attempt_equal(&again.manifest_attempt, &pointer.manifest_attempt) &&
                weir_attempt_equal(&again.owner_attempt, &pointer.owner_attempt),
            "another pointer comes back");
}

// --- rows and keys -------------------------------------------------------------------------------

static const struct weir_field pair_fields[] = {{"a", {WEIR_TYPE_BIGINT, -1, NULL}},
                                                {"b", {WEIR_TYPE_TEXT, -1, NULL}}};
static const struct weir_composite pair = {"pair", 2, pair_fields};
static const struct weir_field numeric_element[] = {{"", {WEIR_TYPE_NUMERIC, -1, NULL}}};
static const struct weir_composite numerics = {"", 1, numeric_element};
static const struct weir_field pair_element[] = {{"", {WEIR_TYPE_COMPOSITE, -1, &pair}}};
static const struct weir_composite pairs = {"", 1, pair_element};

// The second byte chooses one, so that short inputs reach each of them.
static const struct weir_type types[] = {
    {WEIR_TYPE_BOOLEAN, -1, NULL},    {WEIR_TYPE_SMALLINT, -1, NULL},
    {WEIR_TYPE_INTEGER, -1, NULL},    {WEIR_TYPE_BIGINT, -1, NULL},
    {WEIR_TYPE_REAL, -1, NULL},       {WEIR_TYPE_DOUBLE, -1, NULL},
    {WEIR_TYPE_NUMERIC, -1, NULL},    {WEIR_TYPE_TEXT, -1, NULL},
    {WEIR_TYPE_BYTEA, -1, NULL},      {WEIR_TYPE_DATE, -1, NULL},
    {WEIR_TYPE_TIME, -1, NULL},       {WEIR_TYPE_TIMESTAMPTZ, -1, NULL},
    {WEIR_TYPE_UUID, -1, NULL},       {WEIR_TYPE_INTERVAL, -1, NULL},
    {WEIR_TYPE_JSONB, -1, NULL},      {WEIR_TYPE_COMPOSITE, -1, &pair},
    {WEIR_TYPE_ARRAY, -1, &numerics}, {WEIR_TYPE_ARRAY, -1, &pairs},
};

static bool decode(enum kind kind, struct weir_view bytes, struct weir_column *columns,
                   struct weir_arena *arena)
{
    return kind == ROW ? weir_row_decode(bytes, columns, 2, 0, arena)
                       : weir_key_decode(bytes, columns, 2, 0, arena);
}

static void check_columns(enum kind kind, struct weir_view input, struct weir_arena *arena)
{
    if (input.size_bytes == 0) {
        return;
    }
    const struct weir_type *type =
        &types[(unsigned char)input.data[0] % (sizeof types / sizeof types[0])];
    struct weir_view bytes = {input.data + 1, input.size_bytes - 1};
    struct weir_column columns[2][2];
    for (int i = 0; i < 2; i++) {
        weir_column_init(&columns[i][0], type, 1, true, arena);
        weir_column_init(&columns[i][1], &types[7], 1, true, arena);
    }
    // Arrays in rows, and jsonb, are bytes that nobody looks into before they are asked: in a key a
    // canonical form is made of them.
    if (!decode(kind, bytes, columns[0], arena) || (kind == KEY && type->kind == WEIR_TYPE_JSONB)) {
        return;
    }
    struct weir_buffer written[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        if (kind == ROW) {
            weir_row_encode(columns[i], 2, 0, &written[i]);
        } else {
            weir_key_encode(columns[i], 2, 0, &written[i]);
        }
        bytes = (struct weir_view){written[i].data, written[i].size_bytes};
        require(i == 1 || decode(kind, bytes, columns[1], arena), "what was written is refused");
    }
    require(is_same_bytes(&written[0], &written[1]), "another row comes back");
    bool is_comparable =
        kind == KEY || (type->kind != WEIR_TYPE_ARRAY && type->kind != WEIR_TYPE_JSONB);
    require(!is_comparable || !weir_column_is_valid(&columns[0][0], 0) ||
                weir_compare_values(&columns[0][0], 0, &columns[1][0], 0) == 0,
            "another value comes back");
    weir_buffer_deinit(&written[0]);
    weir_buffer_deinit(&written[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0) {
        return 0;
    }
    char *block = copy_exactly(data + 1, size_bytes - 1);
    struct weir_view input = {block, size_bytes - 1};
    struct weir_arena *arena = weir_arena_create(16 * 1024);
    enum kind kind = (enum kind)(data[0] % KIND_COUNT);
    switch (kind) {
    case MANIFEST:
        check_manifest_body(input, arena);
        break;
    case MANIFEST_HEAD:
        check_manifest(input, arena);
        break;
    case REDO_LOG:
        check_redo_log(input);
        break;
    case POINTER:
        check_pointer(input);
        break;
    case ROW:
    case KEY:
        check_columns(kind, input, arena);
        break;
    case KIND_COUNT:
        break;
    }
    weir_arena_destroy(arena);
    free(block);
    return 0;
}
