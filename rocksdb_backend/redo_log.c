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
    BLOCK_BYTES = 1 << 20,
    DIGEST_BYTES = 8,
};
static const char magic[8] = "weirlog";
static const uint32_t removed_mark = UINT32_MAX;

struct writer {
    int file;
    int error_number; // of the first write that failed
    struct weir_buffer block;
    XXH3_state_t *digest;
    uint64_t size_bytes;
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

static void put_list(struct writer *writer, const struct weir_version_list *list)
{
    put(writer, list->state_id, 8);
    put(writer, list->count, 8);
    for (uint32_t i = 0; i < list->count; i++) {
        weir_version_list_prefetch(list, i);
        const struct weir_version *version = list->versions[i];
        struct weir_view value = weir_version_value(version);
        put(writer, version->key_group, 4);
        put(writer, version->key_bytes, 4);
        put(writer, value.data == NULL ? removed_mark : version->value_bytes, 4);
        put_bytes(writer, version->bytes, version->key_bytes);
        put_bytes(writer, value.data, value.size_bytes);
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
    flush(writer);
    put(writer, XXH3_64bits_digest(writer->digest), DIGEST_BYTES);
    flush(writer);
}

enum weir_status weir_redo_log_write(const struct weir_frozen_set *set, const char *stage,
                                     struct weir_key_group_range key_groups, const char *folder,
                                     const char *name, uint64_t *size_bytes, uint64_t *xxh3,
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

// A file in memory, read from its beginning on.
struct reader {
    const char *data;
    size_t size_bytes;
    size_t at;
    bool is_short; // more was asked for than there is
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

static enum weir_status read_whole(const char *folder, const struct weir_state_file *file,
                                   struct weir_buffer *out, struct weir_error *error)
{
    char path[WEIR_STATE_PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file->name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor < 0 ? -1 : 0;
    if (descriptor >= 0) {
        weir_buffer_reserve(out, (size_t)file->size_bytes + BLOCK_BYTES); // in one piece
        do {
            got = read(descriptor, weir_buffer_reserve(out, BLOCK_BYTES), BLOCK_BYTES);
            out->size_bytes += got > 0 ? (size_t)got : 0;
        } while ((got > 0 && out->size_bytes <= file->size_bytes) || (got < 0 && errno == EINTR));
        int saved = errno;
        close(descriptor);
        errno = saved;
    }
    if (got < 0) {
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
    uint64_t format = get(reader, 4);
    if (found_magic == NULL || memcmp(found_magic, magic, sizeof magic) != 0) {
        return not_ours(file, "no redo log", error);
    }
    if (format != WEIR_REDO_LOG_FORMAT) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: %s has format %" PRIu64 "; this weir knows format %d",
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
        struct weir_state_key key = {.key_group = (uint16_t)get(reader, 4)};
        key.bytes.size_bytes = (size_t)get(reader, 4);
        uint64_t value_bytes = get(reader, 4);
        struct weir_view value = {.data = NULL};
        key.bytes.data = get_bytes(reader, key.bytes.size_bytes);
        if (value_bytes != removed_mark) {
            value.size_bytes = (size_t)value_bytes;
            value.data = get_bytes(reader, value.size_bytes);
        }
        if (reader->is_short) {
            return;
        }
        (*entry_count)--;
        visit(context, state_id, &key, value);
    }
}

enum weir_status
weir_redo_log_read(const char *folder, const struct weir_state_file *file, const char *stage,
                   struct weir_key_group_range key_groups, struct weir_buffer *bytes,
                   void (*visit)(void *context, uint64_t state_id, const struct weir_state_key *key,
                                 struct weir_view value),
                   void *context, struct weir_error *error)
{
    uint64_t entry_count = 0;
    uint32_t list_count = 0;
    bytes->size_bytes = 0;
    if (read_whole(folder, file, bytes, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    struct reader reader = {.data = bytes->data, .size_bytes = bytes->size_bytes};
    if (read_head(&reader, file, stage, key_groups, &entry_count, &list_count, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < list_count && !reader.is_short; i++) {
        visit_list(&reader, &entry_count, visit, context);
    }
    uint64_t digest = XXH3_64bits(reader.data, reader.at);
    if (get(&reader, DIGEST_BYTES) != digest || reader.is_short || entry_count != 0 ||
        reader.at != reader.size_bytes) {
        return not_ours(file, "not what a redo log looks like", error);
    }
    return WEIR_OK;
}
