// SPDX-License-Identifier: Apache-2.0
// A stand-in for rocksdb_backend/live.c: RocksDB runs threads of its own, which nobody can step.
// Everything above it (cache, io, redo logs, materialisations, restore) is the real one. It keeps
// RocksDB's promises and no more: tables are written once under numbers that come once; what was
// written is in memory, and in the folder when a table happens to be flushed, which is not synced;
// a native checkpoint is made of links and a list.
//
// A folder: tables NNNNNN.sst, each with changes in order; CURRENT lists them, oldest first.
#include "rocksdb_backend/live.h"

#include "runtime/base/assert.h"
#include "tests/sim/fiber.h"
#include "tests/sim/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES_MAX = 4096, FLUSH_ONE_IN = 3, COMPACT_COUNT = 6 };
static const uint32_t removed_mark = UINT32_MAX;

struct pair {
    char *key;
    uint32_t key_bytes;
    char *value; // NULL: removed (in a memtable only)
    uint32_t value_bytes;
};

struct pairs { // in the order of the keys
    struct pair *pairs;
    uint32_t count;
    uint32_t capacity;
};

struct weir_live {
    char *folder;
    bool is_read_only;
    struct pairs all;    // what a read sees
    struct pairs recent; // not in a table yet
    uint32_t next_table;
    uint32_t table_count;
    uint32_t *tables; // numbers, oldest first
};

struct weir_live_iterator {
    struct pairs pairs;
    uint32_t next;
};

struct weir_live_batch {
    struct weir_live *live;
};

struct weir_live_loader {
    struct weir_live *live;
    struct pairs pairs;
};

void weir_live_key_make(struct weir_buffer *out, uint16_t key_group, uint64_t state_id,
                        struct weir_view key)
{
    out->size_bytes = 0;
    weir_buffer_append_char(out, (char)(key_group >> 8));
    weir_buffer_append_char(out, (char)(key_group & 0xff));
    for (int i = 0; i < 8; i++) {
        weir_buffer_append_char(out, (char)(state_id >> (8 * (7 - i)) & 0xff));
    }
    weir_buffer_append(out, key.data, key.size_bytes);
}

// --- pairs -------------------------------------------------------------------------------------

static int compare(const struct pair *pair, struct weir_view key)
{
    size_t least = pair->key_bytes < key.size_bytes ? pair->key_bytes : key.size_bytes;
    int order = least > 0 ? memcmp(pair->key, key.data, least) : 0;
    return order != 0 ? order
                      : (pair->key_bytes > key.size_bytes) - (pair->key_bytes < key.size_bytes);
}

// Where the key is or would be.
static uint32_t seek(const struct pairs *pairs, struct weir_view key)
{
    uint32_t low = 0;
    uint32_t high = pairs->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (compare(&pairs->pairs[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const struct pairs *pairs, uint32_t at, struct weir_view key)
{
    return at < pairs->count && compare(&pairs->pairs[at], key) == 0;
}

static char *copy(struct weir_view view)
{
    char *bytes = weir_alloc(view.size_bytes + 1);
    if (view.size_bytes > 0) {
        memcpy(bytes, view.data, view.size_bytes);
    }
    return bytes;
}

// What a read has handed out stays valid: nothing is freed before the database is closed, and a
// process of the simulator is short.
static void set(struct pairs *pairs, struct weir_view key, struct weir_view value)
{
    uint32_t at = seek(pairs, key);
    if (!is_at(pairs, at, key)) {
        if (pairs->count == pairs->capacity) {
            pairs->capacity = pairs->capacity == 0 ? 16 : 2 * pairs->capacity;
            pairs->pairs = weir_realloc(pairs->pairs, pairs->capacity * sizeof *pairs->pairs);
        }
        memmove(&pairs->pairs[at + 1], &pairs->pairs[at],
                (pairs->count - at) * sizeof *pairs->pairs);
        pairs->count++;
        pairs->pairs[at] = (struct pair){.key = copy(key), .key_bytes = (uint32_t)key.size_bytes};
    }
    pairs->pairs[at].value = value.data != NULL ? copy(value) : NULL;
    pairs->pairs[at].value_bytes = (uint32_t)value.size_bytes;
}

static void unset(struct pairs *pairs, struct weir_view key)
{
    uint32_t at = seek(pairs, key);
    if (is_at(pairs, at, key)) {
        pairs->count--;
        memmove(&pairs->pairs[at], &pairs->pairs[at + 1],
                (pairs->count - at) * sizeof *pairs->pairs);
    }
}

static void change(struct pairs *all, struct weir_view key, struct weir_view value)
{
    if (value.data != NULL) {
        set(all, key, value);
    } else {
        unset(all, key);
    }
}

// --- tables ------------------------------------------------------------------------------------

static enum weir_status io_error(struct weir_error *error, const char *what, const char *path)
{
    return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_RECOVER,
                          "state: the simulated RocksDB cannot %s %s: %s", what, path,
                          strerror(errno));
}

static enum weir_status write_file(const char *folder, const char *name,
                                   const struct weir_buffer *bytes, struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (file < 0) {
        return io_error(error, "create", path);
    }
    for (size_t at = 0; at < bytes->size_bytes;) {
        ssize_t written = write(file, bytes->data + at, bytes->size_bytes - at);
        if (written <= 0) {
            close(file);
            return io_error(error, "write", path);
        }
        at += (size_t)written;
    }
    close(file);
    return WEIR_OK;
}

static enum weir_status read_file(const char *folder, const char *name, struct weir_buffer *bytes,
                                  struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return io_error(error, "open", path);
    }
    ssize_t got;
    while ((got = read(file, weir_buffer_reserve(bytes, 4096), 4096)) > 0) {
        bytes->size_bytes += (size_t)got;
    }
    close(file);
    return WEIR_OK;
}

static void put_u32(struct weir_buffer *bytes, uint32_t number)
{
    weir_buffer_append(bytes, &number, sizeof number);
}

static void encode(const struct pairs *pairs, struct weir_buffer *bytes)
{
    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct pair *pair = &pairs->pairs[i];
        put_u32(bytes, pair->key_bytes);
        put_u32(bytes, pair->value == NULL ? removed_mark : pair->value_bytes);
        weir_buffer_append(bytes, pair->key, pair->key_bytes);
        weir_buffer_append(bytes, pair->value, pair->value_bytes);
    }
}

static bool get_u32(const struct weir_buffer *bytes, size_t *at, uint32_t *number)
{
    if (bytes->size_bytes - *at < sizeof *number) {
        return false;
    }
    memcpy(number, bytes->data + *at, sizeof *number);
    *at += sizeof *number;
    return true;
}

static bool decode(const struct weir_buffer *bytes, struct pairs *all)
{
    for (size_t at = 0; at < bytes->size_bytes;) {
        uint32_t key_bytes;
        uint32_t value_bytes;
        if (!get_u32(bytes, &at, &key_bytes) || !get_u32(bytes, &at, &value_bytes)) {
            return false;
        }
        bool is_removed = value_bytes == removed_mark;
        size_t needed = (size_t)key_bytes + (is_removed ? 0 : value_bytes);
        if (bytes->size_bytes - at < needed) {
            return false;
        }
        struct weir_view key = {bytes->data + at, key_bytes};
        struct weir_view value = {is_removed ? NULL : bytes->data + at + key_bytes,
                                  is_removed ? 0 : value_bytes};
        change(all, key, value);
        at += needed;
    }
    return true;
}

static void table_name(uint32_t number, char name[32])
{
    snprintf(name, 32, "%06u.sst", number);
}

static enum weir_status write_current(struct weir_live *live, const char *folder,
                                      struct weir_error *error)
{
    struct weir_buffer bytes = {0};
    put_u32(&bytes, live->next_table);
    for (uint32_t i = 0; i < live->table_count; i++) {
        put_u32(&bytes, live->tables[i]);
    }
    enum weir_status status = write_file(folder, "CURRENT", &bytes, error);
    weir_buffer_deinit(&bytes);
    return status;
}

static enum weir_status add_table(struct weir_live *live, const struct pairs *pairs,
                                  struct weir_error *error)
{
    char name[32];
    uint32_t number = live->next_table++;
    table_name(number, name);
    struct weir_buffer bytes = {0};
    encode(pairs, &bytes);
    enum weir_status status = write_file(live->folder, name, &bytes, error);
    weir_buffer_deinit(&bytes);
    if (status == WEIR_OK) {
        live->tables = weir_realloc(live->tables, (live->table_count + 1) * sizeof *live->tables);
        live->tables[live->table_count++] = number;
    }
    return status;
}

static enum weir_status flush(struct weir_live *live, struct weir_error *error)
{
    bool is_compacted = live->table_count >= COMPACT_COUNT;
    if (live->recent.count > 0) {
        if (add_table(live, is_compacted ? &live->all : &live->recent, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        live->recent.count = 0;
    }
    if (is_compacted && live->table_count > COMPACT_COUNT) {
        live->tables[0] = live->tables[live->table_count - 1];
        live->table_count = 1; // the files stay: links of checkpoints are not ours to count
    }
    return write_current(live, live->folder, error);
}

// --- the interface -----------------------------------------------------------------------------

static enum weir_status load(struct weir_live *live, struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    struct stat info;
    snprintf(path, sizeof path, "%s/CURRENT", live->folder);
    if (stat(path, &info) != 0) {
        return WEIR_OK;
    }
    struct weir_buffer list = {0};
    if (read_file(live->folder, "CURRENT", &list, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    size_t at = 0;
    uint32_t number;
    if (!get_u32(&list, &at, &live->next_table)) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE, "no list in %s", path);
    }
    while (get_u32(&list, &at, &number)) {
        char name[32];
        struct weir_buffer bytes = {0};
        table_name(number, name);
        if (read_file(live->folder, name, &bytes, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (!decode(&bytes, &live->all)) {
            return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE, "%s/%s is torn",
                                  live->folder, name);
        }
        live->tables = weir_realloc(live->tables, (live->table_count + 1) * sizeof *live->tables);
        live->tables[live->table_count++] = number;
        weir_buffer_deinit(&bytes);
    }
    weir_buffer_deinit(&list);
    return WEIR_OK;
}

static enum weir_status open_in(const char *path, bool is_read_only, struct weir_live **out,
                                struct weir_error *error)
{
    struct weir_live *live = weir_alloc_zero(sizeof *live);
    live->folder = weir_strdup(path);
    live->is_read_only = is_read_only;
    live->next_table = 1;
    mkdir(path, 0750);
    if (load(live, error) != WEIR_OK) {
        error->action = WEIR_ACTION_REFUSE;
        return WEIR_ERROR;
    }
    *out = live;
    return WEIR_OK;
}

enum weir_status weir_live_open(const char *path, size_t memory_bytes, struct weir_live **live,
                                struct weir_error *error)
{
    (void)memory_bytes;
    return open_in(path, false, live, error);
}

enum weir_status weir_live_open_read_only(const char *path, struct weir_live **live,
                                          struct weir_error *error)
{
    return open_in(path, true, live, error);
}

void weir_live_close(struct weir_live *live)
{
    free(live);
}

// Nobody looks.
uint64_t weir_live_figure(const struct weir_live *live, enum weir_live_figure figure)
{
    return figure == WEIR_LIVE_ENTRIES ? live->all.count : 0;
}

enum weir_status weir_live_get(struct weir_live *live, struct weir_view key,
                               struct weir_view *value, struct weir_error *error)
{
    (void)error;
    sim_point("live get");
    uint32_t at = seek(&live->all, key);
    *value = (struct weir_view){0};
    if (is_at(&live->all, at, key)) {
        *value = (struct weir_view){live->all.pairs[at].value, live->all.pairs[at].value_bytes};
    }
    return WEIR_OK;
}

enum weir_status weir_live_get_many(struct weir_live *live, uint32_t count,
                                    const struct weir_view *keys, struct weir_view *values,
                                    struct weir_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        weir_live_get(live, keys[i], &values[i], error);
    }
    return WEIR_OK;
}

struct weir_live_iterator *weir_live_iterate(struct weir_live *live, struct weir_view from,
                                             struct weir_view to)
{
    struct weir_live_iterator *iterator = weir_alloc_zero(sizeof *iterator);
    uint32_t begin = seek(&live->all, from);
    uint32_t end = seek(&live->all, to);
    uint32_t count = end > begin ? end - begin : 0;
    iterator->pairs.pairs = weir_alloc((count + 1) * sizeof *iterator->pairs.pairs);
    iterator->pairs.count = count;
    if (count > 0) {
        memcpy(iterator->pairs.pairs, &live->all.pairs[begin],
               count * sizeof *iterator->pairs.pairs);
    }
    return iterator;
}

bool weir_live_iterator_at(const struct weir_live_iterator *iterator, struct weir_view *key,
                           struct weir_view *value)
{
    if (iterator->next == iterator->pairs.count) {
        return false;
    }
    const struct pair *pair = &iterator->pairs.pairs[iterator->next];
    *key = (struct weir_view){pair->key, pair->key_bytes};
    *value = (struct weir_view){pair->value, pair->value_bytes};
    return true;
}

void weir_live_iterator_next(struct weir_live_iterator *iterator)
{
    iterator->next++;
}

enum weir_status weir_live_iterator_close(struct weir_live_iterator *iterator,
                                          struct weir_error *error)
{
    (void)error;
    free(iterator->pairs.pairs);
    free(iterator);
    return WEIR_OK;
}

struct weir_live_batch *weir_live_batch_create(struct weir_live *live)
{
    struct weir_live_batch *batch = weir_alloc_zero(sizeof *batch);
    batch->live = live;
    return batch;
}

static void write_one(struct weir_live *live, struct weir_view key, struct weir_view value)
{
    sim_point("live write");
    change(&live->all, key, value);
    set(&live->recent, key, value);
}

enum weir_status weir_live_batch_put(struct weir_live_batch *batch, struct weir_view key,
                                     struct weir_view value, struct weir_error *error)
{
    (void)error;
    write_one(batch->live, key,
              (struct weir_view){value.data != NULL ? value.data : "", value.size_bytes});
    return WEIR_OK;
}

enum weir_status weir_live_batch_remove(struct weir_live_batch *batch, struct weir_view key,
                                        struct weir_error *error)
{
    (void)error;
    write_one(batch->live, key, (struct weir_view){0});
    return WEIR_OK;
}

enum weir_status weir_live_batch_flush(struct weir_live_batch *batch, struct weir_error *error)
{
    return sim_one_in(FLUSH_ONE_IN) ? flush(batch->live, error) : WEIR_OK;
}

void weir_live_batch_destroy(struct weir_live_batch *batch)
{
    free(batch);
}

enum weir_status weir_live_checkpoint(struct weir_live *live, const char *path,
                                      struct weir_error *error)
{
    if (flush(live, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (mkdir(path, 0750) != 0) {
        return io_error(error, "make", path);
    }
    for (uint32_t i = 0; i < live->table_count; i++) {
        char name[32];
        char from[PATH_BYTES_MAX];
        char to[PATH_BYTES_MAX];
        table_name(live->tables[i], name);
        snprintf(from, sizeof from, "%s/%s", live->folder, name);
        snprintf(to, sizeof to, "%s/%s", path, name);
        if (link(from, to) != 0) {
            return io_error(error, "link", to);
        }
    }
    return write_current(live, path, error);
}

struct weir_live_loader *weir_live_loader_create(struct weir_live *live, const char *folder)
{
    (void)folder;
    struct weir_live_loader *loader = weir_alloc_zero(sizeof *loader);
    loader->live = live;
    return loader;
}

enum weir_status weir_live_loader_add(struct weir_live_loader *loader, struct weir_view key,
                                      struct weir_view value, struct weir_error *error)
{
    (void)error;
    struct pairs *pairs = &loader->pairs;
    WEIR_ASSERT(pairs->count == 0 || compare(&pairs->pairs[pairs->count - 1], key) < 0);
    set(pairs, key, value);
    return WEIR_OK;
}

enum weir_status weir_live_loader_finish(struct weir_live_loader *loader, struct weir_error *error)
{
    sim_point("live load");
    for (uint32_t i = 0; i < loader->pairs.count; i++) {
        const struct pair *pair = &loader->pairs.pairs[i];
        struct weir_view key = {pair->key, pair->key_bytes};
        struct weir_view value = {pair->value, pair->value_bytes};
        change(&loader->live->all, key, value);
        set(&loader->live->recent, key, value);
    }
    return flush(loader->live, error);
}

void weir_live_loader_destroy(struct weir_live_loader *loader)
{
    free(loader->pairs.pairs);
    free(loader);
}
