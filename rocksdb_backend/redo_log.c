// SPDX-License-Identifier: Apache-2.0
// See redo_log.h. Read as a whole into memory: a log is bounded by what may be dirty in one epoch.
#include "rocksdb_backend/redo_log.h"

#include "rocksdb_backend/files.h"
#include "runtime/base/disk.h"
#include "runtime/base/failpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    BLOCK_BYTES = 256 << 10, // stays in the processor's cache, and in malloc's heap
    SPARE_BYTES = 128 << 10, // a reader wants room behind the end of a file
    DIGEST_BYTES = 8,
    FORMAT_PLAIN = 1, // is only read: numbers of fixed size, values as they are
    WORD_BYTES = 8,
    VARINT_BYTES_MAX = 10,
};
static const char magic[8] = "weirlog";
static const uint32_t removed_mark = UINT32_MAX; // of FORMAT_PLAIN

// --- packed values ------------------------------------------------------------------------------
//
// What operators keep are mostly numbers of eight bytes, few of which need them. In front of two
// such words stands a byte: how many bytes of each are left without the zeros at its end. Then
// these bytes.

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word's upper bytes come last");

static inline size_t packed_bytes_max(size_t value_bytes)
{
    return value_bytes + value_bytes / (2 * WORD_BYTES) + 1 + WORD_BYTES;
}

// To room for packed_bytes_max; the end of what was written.
static char *pack(const char *value, size_t value_bytes, char *to)
{
    char *control = to;
    bool is_first = true;
    for (size_t at = 0; at < value_bytes; at += WORD_BYTES, is_first = !is_first) {
        size_t rest = value_bytes - at;
        uint64_t word = 0;
        memcpy(&word, value + at, rest < WORD_BYTES ? rest : WORD_BYTES);
        uint32_t kept = word == 0 ? 0 : (71 - (uint32_t)__builtin_clzll(word)) / 8;
        if (is_first) {
            control = to++;
            *control = (char)kept;
        } else {
            *control = (char)((uint32_t)*control | kept << 4);
        }
        memcpy(to, &word, WORD_BYTES);
        to += kept;
    }
    return to;
}

// --- writing ------------------------------------------------------------------------------------

struct writer {
    int file;
    int error_number; // of the first write that failed
    struct weir_buffer block;
    XXH3_state_t *digest;
    uint64_t size_bytes;
    uint64_t plain_bytes; // of all keys and values, as they are read back
};

static void flush(struct writer *writer)
{
    const char *data = writer->block.data;
    size_t rest = writer->block.size_bytes;
    if (rest != 0) {
        XXH3_64bits_update(writer->digest, data, rest);
    }
    writer->size_bytes += rest;
    if (writer->error_number == 0 && !weir_disk_write(writer->file, data, rest)) {
        writer->error_number = errno;
    }
    writer->block.size_bytes = 0;
}

static void put_bytes(struct writer *writer, const void *data, size_t size_bytes)
{
    weir_buffer_append(&writer->block, data, size_bytes);
}

static void put(struct writer *writer, uint64_t value, size_t size_bytes)
{
    char bytes[8];
    for (size_t i = 0; i < size_bytes; i++) {
        bytes[i] = (char)(value >> (8 * i) & 0xff);
    }
    put_bytes(writer, bytes, size_bytes);
}

// Seven bits a byte, the lowest ones first; all bytes but the last have the eighth set.
static char *put_varint(char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *to++ = (char)(value | 0x80);
    }
    *to++ = (char)value;
    return to;
}

static void put_version(struct writer *writer, const struct weir_version *version)
{
    struct weir_view value = weir_version_value(version);
    size_t key_bytes = version->key_bytes;
    char *begin = weir_buffer_reserve(&writer->block, 1 + 2 * VARINT_BYTES_MAX + key_bytes +
                                                          packed_bytes_max(value.size_bytes));
    char *to = put_varint(begin + 1, key_bytes);
    begin[0] = (char)version->key_group;
    char *size = to; // whose lowest bit says that the value is packed
    to = put_varint(to, value.data == NULL ? 0 : (uint64_t)(value.size_bytes + 1) << 1);
    memcpy(to, version->bytes, key_bytes);
    to += key_bytes;
    if (value.size_bytes != 0) {
        char *end = pack(value.data, value.size_bytes, to);
        if ((size_t)(end - to) < value.size_bytes) {
            *size = (char)(*size | 1);
            to = end;
        } else {
            memcpy(to, value.data, value.size_bytes);
            to += value.size_bytes;
        }
    }
    writer->block.size_bytes += (size_t)(to - begin);
    writer->plain_bytes += key_bytes + value.size_bytes;
}

static void put_list(struct writer *writer, const struct weir_version_list *list)
{
    put(writer, list->state_id, 8);
    put(writer, list->count, 8);
    for (uint32_t i = 0; i < list->count; i++) {
        weir_version_list_prefetch(list, i);
        put_version(writer, list->versions[i]);
        if (writer->block.size_bytes >= BLOCK_BYTES) {
            flush(writer);
        }
    }
}

static void put_set(struct writer *writer, const struct weir_frozen_set *set, const char *stage,
                    struct weir_key_group_range key_groups)
{
    uint32_t list_count = 0;
    for (uint32_t i = 0; i < set->list_count; i++) {
        list_count += set->lists[i].count > 0;
    }
    put_bytes(writer, magic, sizeof magic);
    put(writer, WEIR_REDO_LOG_FORMAT, 4);
    put(writer, key_groups.first, 2);
    put(writer, key_groups.count, 2);
    put(writer, (uint64_t)set->number, 8);
    put(writer, set->entry_count, 8);
    put(writer, list_count, 4);
    put(writer, strlen(stage), 4);
    put_bytes(writer, stage, strlen(stage));
    for (uint32_t i = 0; i < set->list_count; i++) {
        if (set->lists[i].count > 0) {
            put_list(writer, &set->lists[i]);
        }
    }
    put(writer, writer->plain_bytes, 8);
    flush(writer);
    put(writer, XXH3_64bits_digest(writer->digest), DIGEST_BYTES);
    flush(writer);
}

enum weir_status weir_redo_log_write(const struct weir_frozen_set *set, const char *stage,
                                     struct weir_key_group_range key_groups, const char *folder,
                                     const char *name, void (*written)(void *context),
                                     void *context, uint64_t *size_bytes, uint64_t *xxh3,
                                     struct weir_error *error)
{
    char path[WEIR_STATE_PATH_BYTES_MAX];
    char temporary[WEIR_STATE_PATH_BYTES_MAX + 8];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    struct writer writer = {.file =
                                open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640)};
    if (writer.file < 0) {
        return weir_file_error(error, WEIR_ACTION_RECOVER, "create", folder, name);
    }
    writer.digest = XXH3_createState();
    XXH3_64bits_reset(writer.digest);
    put_set(&writer, set, stage, key_groups);
    *size_bytes = writer.size_bytes;
    *xxh3 = XXH3_64bits_digest(writer.digest);
    if (writer.error_number == 0 && weir_failpoint("state.log.write")) {
        writer.error_number = EIO;
    }
    if (writer.error_number == 0 && written != NULL) {
        written(context);
    }
    if (writer.error_number == 0 && fsync(writer.file) != 0) {
        writer.error_number = errno;
    }
    close(writer.file);
    XXH3_freeState(writer.digest);
    weir_buffer_deinit(&writer.block);
    if (writer.error_number == 0) {
        weir_failpoint("state.log.written");
        writer.error_number = rename(temporary, path) != 0 ? errno : 0;
    }
    if (writer.error_number != 0) {
        errno = writer.error_number;
        enum weir_status status =
            weir_file_error(error, WEIR_ACTION_RECOVER, "write", folder, name);
        unlink(temporary);
        return status;
    }
    weir_failpoint("state.log.renamed");
    return weir_folder_sync(folder, error);
}

// --- reading ------------------------------------------------------------------------------------

// A file in memory, read from its beginning on.
struct reader {
    const char *data;
    size_t size_bytes;
    size_t at;
    bool is_short; // more was asked for than there is, or it makes no sense
    uint64_t format;
    struct weir_buffer *plain; // unpacked keys and values; has room for all
    struct weir_key_group_range key_groups;
};

static const char *get_bytes(struct reader *reader, size_t size_bytes)
{
    if (reader->is_short || reader->size_bytes - reader->at < size_bytes) {
        reader->is_short = true;
        return NULL;
    }
    reader->at += size_bytes;
    return reader->data + reader->at - size_bytes;
}

static uint64_t get(struct reader *reader, size_t size_bytes)
{
    const char *bytes = get_bytes(reader, size_bytes);
    uint64_t value = 0;
    for (size_t i = 0; bytes != NULL && i < size_bytes; i++) {
        value |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    }
    return value;
}

static uint64_t get_varint(struct reader *reader)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        uint64_t byte = get(reader, 1);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            return value;
        }
    }
    reader->is_short = true;
    return 0;
}

// Room among the plain bytes; NULL: there is none.
static char *reserve_plain(struct reader *reader, size_t size_bytes)
{
    struct weir_buffer *plain = reader->plain;
    if (reader->is_short || plain->capacity_bytes - plain->size_bytes < size_bytes) {
        reader->is_short = true;
        return NULL;
    }
    plain->size_bytes += size_bytes;
    return plain->data + plain->size_bytes - size_bytes;
}

static struct weir_view get_plain(struct reader *reader, size_t size_bytes)
{
    const char *from = get_bytes(reader, size_bytes);
    char *to = from != NULL ? reserve_plain(reader, size_bytes) : NULL;
    if (to != NULL) {
        memcpy(to, from, size_bytes);
    }
    return (struct weir_view){.data = to, .size_bytes = size_bytes};
}

static struct weir_view get_packed(struct reader *reader, size_t size_bytes)
{
    char *to = reserve_plain(reader, size_bytes);
    uint64_t control = 0;
    for (size_t at = 0; at < size_bytes && !reader->is_short; at += WORD_BYTES, control >>= 4) {
        if (at % (2 * WORD_BYTES) == 0) {
            control = get(reader, 1);
        }
        size_t rest = size_bytes - at < WORD_BYTES ? size_bytes - at : WORD_BYTES;
        size_t kept = control & 0xf;
        const char *from = kept <= rest ? get_bytes(reader, kept) : NULL;
        if (from == NULL) {
            reader->is_short = true;
            break;
        }
        memset(to + at, 0, rest);
        memcpy(to + at, from, kept);
    }
    return (struct weir_view){.data = to, .size_bytes = size_bytes};
}

static void get_entry(struct reader *reader, struct weir_state_key *key, struct weir_view *value)
{
    key->key_group = (uint16_t)get(reader, 1);
    uint64_t key_bytes = get_varint(reader);
    uint64_t size = get_varint(reader);
    key->bytes = get_plain(reader, (size_t)key_bytes);
    *value = (struct weir_view){.data = NULL};
    if (size != 0) {
        size_t value_bytes = (size_t)(size >> 1) - 1;
        *value = (size & 1) != 0 ? get_packed(reader, value_bytes) : get_plain(reader, value_bytes);
    }
}

static void get_plain_entry(struct reader *reader, struct weir_state_key *key,
                            struct weir_view *value)
{
    uint64_t key_group = get(reader, 4);
    key->key_group = key_group < UINT16_MAX ? (uint16_t)key_group : UINT16_MAX; // of no range
    key->bytes.size_bytes = (size_t)get(reader, 4);
    uint64_t value_bytes = get(reader, 4);
    key->bytes.data = get_bytes(reader, key->bytes.size_bytes);
    *value = (struct weir_view){.data = NULL};
    if (value_bytes != removed_mark) {
        value->size_bytes = (size_t)value_bytes;
        value->data = get_bytes(reader, value->size_bytes);
    }
}

static enum weir_status read_whole(const char *folder, const struct weir_state_file *file,
                                   struct weir_buffer *out, struct weir_error *error)
{
    char path[WEIR_STATE_PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file->name);
    weir_buffer_reserve(out, (size_t)file->size_bytes + SPARE_BYTES); // in one piece
    // One that is too large is not what the manifest says, which is told below.
    if (!weir_disk_read(path, (size_t)file->size_bytes + 1, out) && errno != EFBIG) {
        return weir_file_error(error, WEIR_ACTION_REFUSE, "read", folder, file->name);
    }
    uint64_t xxh3 = XXH3_64bits(out->data, out->size_bytes);
    if (out->size_bytes != file->size_bytes || xxh3 != file->xxh3) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: %s is damaged: expected %" PRIu64
                              " bytes with checksum %016" PRIx64
                              ", found %zu with %016" PRIx64 WEIR_STATE_REPAIR_HINT,
                              path, file->size_bytes, file->xxh3, out->size_bytes, xxh3);
    }
    return WEIR_OK;
}

static enum weir_status not_ours(const struct weir_state_file *file, const char *what,
                                 struct weir_error *error)
{
    return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                          "state: %s is %s, although its checksum is that of the manifest",
                          file->name, what);
}

static enum weir_status read_head(struct reader *reader, const struct weir_state_file *file,
                                  const char *stage, struct weir_key_group_range key_groups,
                                  uint64_t *entry_count, uint32_t *list_count,
                                  struct weir_error *error)
{
    const char *found_magic = get_bytes(reader, sizeof magic);
    uint64_t format = reader->format = get(reader, 4);
    if (found_magic == NULL || memcmp(found_magic, magic, sizeof magic) != 0) {
        return not_ours(file, "no redo log", error);
    }
    if (format == 0 || format > WEIR_REDO_LOG_FORMAT) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: %s has format %" PRIu64 "; this weir knows formats up to %d",
                              file->name, format, WEIR_REDO_LOG_FORMAT);
    }
    uint64_t first = get(reader, 2);
    uint64_t count = get(reader, 2);
    uint64_t number = get(reader, 8);
    *entry_count = get(reader, 8);
    *list_count = (uint32_t)get(reader, 4);
    struct weir_view found_stage = {.size_bytes = (size_t)get(reader, 4)};
    found_stage.data = get_bytes(reader, found_stage.size_bytes);
    if (found_stage.data == NULL || !weir_view_equal(found_stage, weir_view_of(stage))) {
        return not_ours(file, "of another stage", error);
    }
    if (first != key_groups.first || count != key_groups.count) {
        return not_ours(file, "of other key groups", error);
    }
    if (number != (uint64_t)file->number) {
        return not_ours(file, "of another checkpoint", error);
    }
    return WEIR_OK;
}

// Visits the entries of one state; how many there were is taken off *entry_count.
static void visit_list(struct reader *reader, uint64_t *entry_count,
                       void (*visit)(void *context, uint64_t state_id,
                                     const struct weir_state_key *key, struct weir_view value),
                       void *context)
{
    uint64_t state_id = get(reader, 8);
    uint64_t count = get(reader, 8);
    for (uint64_t i = 0; i < count; i++) {
        struct weir_state_key key;
        struct weir_view value;
        if (reader->format == FORMAT_PLAIN) {
            get_plain_entry(reader, &key, &value);
        } else {
            get_entry(reader, &key, &value);
        }
        // Of another task: a restore would pass it over, and what it says would be lost.
        reader->is_short = reader->is_short || key.key_group < reader->key_groups.first ||
                           key.key_group - reader->key_groups.first >= reader->key_groups.count;
        if (reader->is_short) {
            return;
        }
        (*entry_count)--;
        visit(context, state_id, &key, value);
    }
}

// Makes room for what is unpacked, of which the end of the file tells the size.
static void begin_plain(struct reader *reader)
{
    enum { PLAIN_BYTES = 8, GROWTH_MAX = 2 * WORD_BYTES }; // one byte can stand for two words
    if (reader->size_bytes < PLAIN_BYTES + DIGEST_BYTES) {
        reader->is_short = true;
        return;
    }
    struct reader end = *reader;
    end.at = reader->size_bytes - PLAIN_BYTES - DIGEST_BYTES;
    uint64_t bytes = get(&end, PLAIN_BYTES);
    reader->is_short = reader->is_short || bytes / GROWTH_MAX > reader->size_bytes;
    if (!reader->is_short) {
        weir_buffer_reserve(reader->plain, (size_t)bytes + 1);
    }
}

static enum weir_status read_entries(struct reader *reader, const struct weir_state_file *file,
                                     const char *stage, struct weir_key_group_range key_groups,
                                     void (*visit)(void *context, uint64_t state_id,
                                                   const struct weir_state_key *key,
                                                   struct weir_view value),
                                     void *context, struct weir_error *error)
{
    uint64_t entry_count = 0;
    uint32_t list_count = 0;
    if (read_head(reader, file, stage, key_groups, &entry_count, &list_count, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    bool is_plain = reader->format == FORMAT_PLAIN;
    if (!is_plain) {
        begin_plain(reader);
    }
    for (uint32_t i = 0; i < list_count && !reader->is_short; i++) {
        visit_list(reader, &entry_count, visit, context);
    }
    uint64_t plain_bytes = is_plain ? 0 : get(reader, 8);
    uint64_t digest = XXH3_64bits(reader->data, reader->at);
    if (get(reader, DIGEST_BYTES) != digest || reader->is_short || entry_count != 0 ||
        reader->at != reader->size_bytes || plain_bytes != reader->plain->size_bytes) {
        return not_ours(file, "not what a redo log looks like", error);
    }
    return WEIR_OK;
}

enum weir_status
weir_redo_log_read(const char *folder, const struct weir_state_file *file, const char *stage,
                   struct weir_key_group_range key_groups, struct weir_buffer *bytes,
                   void (*visit)(void *context, uint64_t state_id, const struct weir_state_key *key,
                                 struct weir_view value),
                   void *context, struct weir_error *error)
{
    struct weir_buffer whole = {0};
    bytes->size_bytes = 0;
    enum weir_status status = read_whole(folder, file, &whole, error);
    if (status == WEIR_OK) {
        struct reader reader = {.data = whole.data,
                                .size_bytes = whole.size_bytes,
                                .plain = bytes,
                                .key_groups = key_groups};
        status = read_entries(&reader, file, stage, key_groups, visit, context, error);
        if (reader.format == FORMAT_PLAIN) { // the entries lie in the file itself
            weir_buffer_deinit(bytes);
            *bytes = whole;
            return status;
        }
    }
    weir_buffer_deinit(&whole);
    return status;
}
