// SPDX-License-Identifier: Apache-2.0
// See live.h. What is not RocksDB's default, and why:
// - no write-ahead log: the redo logs of the checkpoints take its place;
// - Bloom filters of 10 bits: a new key costs no disk read;
// - index and filter blocks in the block cache, so that memory is bounded, and in pieces: the
// filter
//   of a whole table is half a megabyte, which a small cache would read again for each key;
// - small memtables: the cache in front holds what is hot, and a native checkpoint flushes them.
#include "rocksdb_backend/live.h"

#include "runtime/base/assert.h"

#include <errno.h>
#include <rocksdb/c.h>
#include <stdio.h>

enum {
    BATCH_BYTES = 1 << 20,
    GET_MANY_MAX = 1024,
    MEMTABLE_BYTES_MIN = 1 << 20,
    MEMTABLE_BYTES_MAX = 32 << 20,
    MEMTABLE_COUNT = 3,
    BLOOM_BITS = 10,
    CACHE_SHARD_BITS = 2, // few threads read, and each part must have room for what is hot
    BACKGROUND_JOBS = 2,
    LOADED_FILE_BYTES = 64 << 20,
    PATH_BYTES_MAX = 4096,
};

static const double MEMTABLE_BLOOM_RATIO = 0.1;

struct weir_live {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_readoptions_t *read_options;
    rocksdb_writeoptions_t *write_options;
    rocksdb_column_family_handle_t *family;
    uint32_t loaded_count; // files brought in
    // What the last get, or get_many, handed out.
    rocksdb_pinnableslice_t *pinned[GET_MANY_MAX];
    uint32_t pinned_count;
    // get_many's arguments, of GET_MANY_MAX.
    const char **key_data;
    size_t *key_bytes;
    char **errors;
};

struct weir_live_iterator {
    rocksdb_iterator_t *iterator;
    rocksdb_readoptions_t *options;
    struct weir_buffer upper_bound; // must live as long as the iterator
};

struct weir_live_batch {
    struct weir_live *live;
    rocksdb_writebatch_t *batch;
    size_t bytes;
};

struct weir_live_loader {
    struct weir_live *live;
    char *folder;
    rocksdb_envoptions_t *env_options;
    rocksdb_sstfilewriter_t *writer;
    bool is_open;
    uint64_t bytes;
    uint32_t file_count;
    char **files;
};

void weir_live_key_make(struct weir_buffer *out, uint16_t key_group, uint64_t state_id,
                        struct weir_view key)
{
    out->size_bytes = 0;
    char *bytes = weir_buffer_reserve(out, WEIR_LIVE_KEY_PREFIX_BYTES + key.size_bytes);
    bytes[0] = (char)(key_group >> 8);
    bytes[1] = (char)(key_group & 0xff);
    for (int i = 0; i < 8; i++) {
        bytes[2 + i] = (char)(state_id >> (8 * (7 - i)) & 0xff);
    }
    if (key.size_bytes != 0) {
        memcpy(bytes + WEIR_LIVE_KEY_PREFIX_BYTES, key.data, key.size_bytes);
    }
    out->size_bytes = WEIR_LIVE_KEY_PREFIX_BYTES + key.size_bytes;
}

// Takes RocksDB's message over.
static enum weir_status translate(struct weir_error *error, enum weir_error_action action,
                                  const char *what, char *message)
{
    // RocksDB tells of the system's errors in words only.
    bool is_full =
        strstr(message, strerror(ENOSPC)) != NULL || strstr(message, strerror(EDQUOT)) != NULL;
    weir_error_set(error, WEIR_DOMAIN_STORE, is_full ? WEIR_ACTION_RECOVER : action,
                   "state: RocksDB cannot %s: %s", what, message);
    rocksdb_free(message);
    return WEIR_ERROR;
}

static rocksdb_options_t *make_options(size_t memory_bytes)
{
    size_t memtable_bytes = memory_bytes / 12;
    memtable_bytes = memtable_bytes < MEMTABLE_BYTES_MIN   ? MEMTABLE_BYTES_MIN
                     : memtable_bytes > MEMTABLE_BYTES_MAX ? MEMTABLE_BYTES_MAX
                                                           : memtable_bytes;
    size_t memtables_bytes = MEMTABLE_COUNT * memtable_bytes;
    size_t block_cache_bytes =
        memory_bytes > 2 * memtables_bytes ? memory_bytes - memtables_bytes : memory_bytes / 2;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_write_buffer_size(options, memtable_bytes);
    rocksdb_options_set_max_write_buffer_number(options, MEMTABLE_COUNT);
    rocksdb_options_set_max_background_jobs(options, BACKGROUND_JOBS);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_target_file_size_base(options, (uint64_t)32 << 20);
    rocksdb_options_set_allow_concurrent_memtable_write(options, 0); // one thread writes
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, MEMTABLE_BLOOM_RATIO);
    rocksdb_options_set_memtable_whole_key_filtering(options, 1);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_keep_log_file_num(options, 1);
    // The header at the open and nothing after it: on a full disk a line that cannot be written
    // ends the process with the one after it (an assertion). Errors come back by its calls.
    rocksdb_options_set_info_log_level(options, 5);

    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_lru_cache_options_t *cache_options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(cache_options, block_cache_bytes);
    rocksdb_lru_cache_options_set_num_shard_bits(cache_options, CACHE_SHARD_BITS);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts(cache_options);
    rocksdb_lru_cache_options_destroy(cache_options);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_cache_destroy(cache); // the options have a share of it
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
    rocksdb_block_based_options_set_index_type(
        table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    return options;
}

static struct weir_live *create(size_t memory_bytes)
{
    struct weir_live *live = weir_alloc_zero(sizeof *live);
    live->options = make_options(memory_bytes);
    live->read_options = rocksdb_readoptions_create();
    live->write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(live->write_options, 1);
    live->key_data = weir_alloc(GET_MANY_MAX * sizeof(char *));
    live->key_bytes = weir_alloc(GET_MANY_MAX * sizeof(size_t));
    live->errors = weir_alloc(GET_MANY_MAX * sizeof(char *));
    return live;
}

static enum weir_status open_db(const char *path, bool is_read_only, struct weir_live *live,
                                struct weir_error *error)
{
    const char *names[] = {"default"};
    const rocksdb_options_t *options[] = {live->options};
    char *message = NULL;
    if (is_read_only) {
        live->db = rocksdb_open_for_read_only_column_families(live->options, path, 1, names,
                                                              options, &live->family, 0, &message);
    } else {
        live->db = rocksdb_open_column_families(live->options, path, 1, names, options,
                                                &live->family, &message);
    }
    if (message != NULL) {
        char what[PATH_BYTES_MAX];
        snprintf(what, sizeof what, "open %s", path);
        return translate(error, WEIR_ACTION_REFUSE, what, message);
    }
    return WEIR_OK;
}

enum weir_status weir_live_open(const char *path, size_t memory_bytes, struct weir_live **live,
                                struct weir_error *error)
{
    *live = create(memory_bytes);
    if (open_db(path, false, *live, error) != WEIR_OK) {
        weir_live_close(*live);
        *live = NULL;
        return WEIR_ERROR;
    }
    return WEIR_OK;
}

enum weir_status weir_live_open_read_only(const char *path, struct weir_live **live,
                                          struct weir_error *error)
{
    *live = create((size_t)16 << 20); // one pass over it
    if (open_db(path, true, *live, error) != WEIR_OK) {
        weir_live_close(*live);
        *live = NULL;
        return WEIR_ERROR;
    }
    return WEIR_OK;
}

static void unpin(struct weir_live *live)
{
    for (uint32_t i = 0; i < live->pinned_count; i++) {
        if (live->pinned[i] != NULL) {
            rocksdb_pinnableslice_destroy(live->pinned[i]);
        }
    }
    live->pinned_count = 0;
}

void weir_live_close(struct weir_live *live)
{
    if (live == NULL) {
        return;
    }
    unpin(live);
    if (live->db != NULL) {
        rocksdb_cancel_all_background_work(live->db, 1);
        rocksdb_column_family_handle_destroy(live->family);
        rocksdb_close(live->db);
    }
    rocksdb_options_destroy(live->options);
    rocksdb_readoptions_destroy(live->read_options);
    rocksdb_writeoptions_destroy(live->write_options);
    free(live->key_data);
    free(live->key_bytes);
    free(live->errors);
    free(live);
}

static struct weir_view value_of(rocksdb_pinnableslice_t *pinned)
{
    struct weir_view value = {.data = NULL};
    if (pinned != NULL) {
        value.data = rocksdb_pinnableslice_value(pinned, &value.size_bytes);
        value.data = value.data != NULL ? value.data : "";
    }
    return value;
}

uint64_t weir_live_figure(const struct weir_live *live, enum weir_live_figure figure)
{
    uint64_t number = 0;
    const char *name =
        figure == WEIR_LIVE_ENTRIES ? "rocksdb.estimate-num-keys" : "rocksdb.live-sst-files-size";
    if (rocksdb_property_int_cf(live->db, live->family, name, &number) != 0) {
        return 0;
    }
    uint64_t memtables = 0;
    if (figure == WEIR_LIVE_BYTES &&
        rocksdb_property_int_cf(live->db, live->family, "rocksdb.cur-size-all-mem-tables",
                                &memtables) == 0) {
        number += memtables;
    }
    return number;
}

enum weir_status weir_live_get(struct weir_live *live, struct weir_view key,
                               struct weir_view *value, struct weir_error *error)
{
    unpin(live);
    char *message = NULL;
    live->pinned[0] = rocksdb_get_pinned_cf(live->db, live->read_options, live->family, key.data,
                                            key.size_bytes, &message);
    live->pinned_count = 1;
    if (message != NULL) {
        return translate(error, WEIR_ACTION_RECOVER, "read", message);
    }
    *value = value_of(live->pinned[0]);
    return WEIR_OK;
}

enum weir_status weir_live_get_many(struct weir_live *live, uint32_t count,
                                    const struct weir_view *keys, struct weir_view *values,
                                    struct weir_error *error)
{
    WEIR_ASSERT(count <= GET_MANY_MAX);
    unpin(live);
    for (uint32_t i = 0; i < count; i++) {
        live->key_data[i] = keys[i].data;
        live->key_bytes[i] = keys[i].size_bytes;
    }
    rocksdb_batched_multi_get_cf(live->db, live->read_options, live->family, count, live->key_data,
                                 live->key_bytes, live->pinned, live->errors, false);
    live->pinned_count = count;
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (live->errors[i] != NULL && status == WEIR_OK) {
            status = translate(error, WEIR_ACTION_RECOVER, "read", live->errors[i]);
        } else if (live->errors[i] != NULL) {
            rocksdb_free(live->errors[i]);
        }
        values[i] = value_of(live->pinned[i]);
    }
    return status;
}

struct weir_live_iterator *weir_live_iterate(struct weir_live *live, struct weir_view from,
                                             struct weir_view to)
{
    struct weir_live_iterator *made = weir_alloc_zero(sizeof *made);
    weir_buffer_append(&made->upper_bound, to.data, to.size_bytes);
    made->options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_iterate_upper_bound(made->options, made->upper_bound.data,
                                                made->upper_bound.size_bytes);
    made->iterator = rocksdb_create_iterator_cf(live->db, made->options, live->family);
    rocksdb_iter_seek(made->iterator, from.data, from.size_bytes);
    return made;
}

bool weir_live_iterator_at(const struct weir_live_iterator *iterator, struct weir_view *key,
                           struct weir_view *value)
{
    if (!rocksdb_iter_valid(iterator->iterator)) {
        return false;
    }
    key->data = rocksdb_iter_key(iterator->iterator, &key->size_bytes);
    value->data = rocksdb_iter_value(iterator->iterator, &value->size_bytes);
    return true;
}

void weir_live_iterator_next(struct weir_live_iterator *iterator)
{
    rocksdb_iter_next(iterator->iterator);
}

enum weir_status weir_live_iterator_close(struct weir_live_iterator *iterator,
                                          struct weir_error *error)
{
    char *message = NULL;
    rocksdb_iter_get_error(iterator->iterator, &message);
    rocksdb_iter_destroy(iterator->iterator);
    rocksdb_readoptions_destroy(iterator->options);
    weir_buffer_deinit(&iterator->upper_bound);
    free(iterator);
    return message == NULL ? WEIR_OK : translate(error, WEIR_ACTION_RECOVER, "scan", message);
}

struct weir_live_batch *weir_live_batch_create(struct weir_live *live)
{
    struct weir_live_batch *batch = weir_alloc_zero(sizeof *batch);
    batch->live = live;
    batch->batch = rocksdb_writebatch_create();
    return batch;
}

enum weir_status weir_live_batch_flush(struct weir_live_batch *batch, struct weir_error *error)
{
    char *message = NULL;
    rocksdb_write(batch->live->db, batch->live->write_options, batch->batch, &message);
    rocksdb_writebatch_clear(batch->batch);
    batch->bytes = 0;
    return message == NULL ? WEIR_OK : translate(error, WEIR_ACTION_RECOVER, "write", message);
}

static enum weir_status count_batch(struct weir_live_batch *batch, size_t bytes,
                                    struct weir_error *error)
{
    batch->bytes += bytes;
    return batch->bytes < BATCH_BYTES ? WEIR_OK : weir_live_batch_flush(batch, error);
}

enum weir_status weir_live_batch_put(struct weir_live_batch *batch, struct weir_view key,
                                     struct weir_view value, struct weir_error *error)
{
    rocksdb_writebatch_put(batch->batch, key.data, key.size_bytes, value.data, value.size_bytes);
    return count_batch(batch, key.size_bytes + value.size_bytes, error);
}

enum weir_status weir_live_batch_remove(struct weir_live_batch *batch, struct weir_view key,
                                        struct weir_error *error)
{
    rocksdb_writebatch_delete(batch->batch, key.data, key.size_bytes);
    return count_batch(batch, key.size_bytes, error);
}

void weir_live_batch_destroy(struct weir_live_batch *batch)
{
    rocksdb_writebatch_destroy(batch->batch);
    free(batch);
}

enum weir_status weir_live_checkpoint(struct weir_live *live, const char *path,
                                      struct weir_error *error)
{
    char *message = NULL;
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(live->db, &message);
    if (message == NULL) {
        rocksdb_checkpoint_create(checkpoint, path, 0, &message); // 0: the memtable is flushed
        rocksdb_checkpoint_object_destroy(checkpoint);
    }
    return message == NULL ? WEIR_OK
                           : translate(error, WEIR_ACTION_RECOVER, "make a checkpoint", message);
}

struct weir_live_loader *weir_live_loader_create(struct weir_live *live, const char *folder)
{
    struct weir_live_loader *loader = weir_alloc_zero(sizeof *loader);
    loader->live = live;
    loader->folder = weir_strdup(folder);
    loader->env_options = rocksdb_envoptions_create();
    loader->writer = rocksdb_sstfilewriter_create(loader->env_options, live->options);
    return loader;
}

static enum weir_status open_loaded(struct weir_live_loader *loader, struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    // A number that comes once: the file of an earlier one may be RocksDB's own now.
    snprintf(path, sizeof path, "%s/load-%u.sst", loader->folder, loader->live->loaded_count++);
    loader->files = weir_realloc(loader->files, (loader->file_count + 1) * sizeof *loader->files);
    loader->files[loader->file_count++] = weir_strdup(path);
    char *message = NULL;
    rocksdb_sstfilewriter_open(loader->writer, path, &message);
    if (message != NULL) {
        return translate(error, WEIR_ACTION_RECOVER, "write a file to load", message);
    }
    loader->is_open = true;
    loader->bytes = 0;
    return WEIR_OK;
}

static enum weir_status finish_loaded(struct weir_live_loader *loader, struct weir_error *error)
{
    char *message = NULL;
    rocksdb_sstfilewriter_finish(loader->writer, &message);
    loader->is_open = false;
    return message == NULL ? WEIR_OK
                           : translate(error, WEIR_ACTION_RECOVER, "write a file to load", message);
}

enum weir_status weir_live_loader_add(struct weir_live_loader *loader, struct weir_view key,
                                      struct weir_view value, struct weir_error *error)
{
    if (!loader->is_open && open_loaded(loader, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    char *message = NULL;
    if (value.data != NULL) {
        rocksdb_sstfilewriter_put(loader->writer, key.data, key.size_bytes, value.data,
                                  value.size_bytes, &message);
    } else {
        rocksdb_sstfilewriter_delete(loader->writer, key.data, key.size_bytes, &message);
    }
    if (message != NULL) {
        return translate(error, WEIR_ACTION_RECOVER, "write a file to load", message);
    }
    loader->bytes += key.size_bytes + value.size_bytes;
    return loader->bytes < LOADED_FILE_BYTES ? WEIR_OK : finish_loaded(loader, error);
}

enum weir_status weir_live_loader_finish(struct weir_live_loader *loader, struct weir_error *error)
{
    if (loader->is_open && finish_loaded(loader, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (loader->file_count == 0) {
        return WEIR_OK;
    }
    rocksdb_ingestexternalfileoptions_t *options = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(options, 1);
    char *message = NULL;
    rocksdb_ingest_external_file(loader->live->db, (const char *const *)loader->files,
                                 loader->file_count, options, &message);
    rocksdb_ingestexternalfileoptions_destroy(options);
    return message == NULL ? WEIR_OK : translate(error, WEIR_ACTION_RECOVER, "load files", message);
}

void weir_live_loader_destroy(struct weir_live_loader *loader)
{
    rocksdb_sstfilewriter_destroy(loader->writer);
    rocksdb_envoptions_destroy(loader->env_options);
    for (uint32_t i = 0; i < loader->file_count; i++) {
        free(loader->files[i]);
    }
    free(loader->files);
    free(loader->folder);
    free(loader);
}
