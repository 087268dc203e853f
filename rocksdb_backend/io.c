// SPDX-License-Identifier: Apache-2.0
// See io.h.
//
// Invariants
// 1. written_through moves to n only when all of log n has been written, which need not be durable
//    yet; clean_through only when all sets up to there are in the live RocksDB; each as the last
//    use of the sets.
// 2. A handle lists only files that were synced before, and a folder entry that was.
// 3. The handle of n lists one materialisation m < n that is whole for n (or none), and all logs of
//    numbers in (m, n] that there are: a task without changes writes no log.
// 4. After a failure no set becomes durable and no snapshot is let go of other than abandoned. What
//    RocksDB or a materialisation has of a set that is not durable is in no handle: the live folder
//    of a life that failed is never used, and a handle comes after all logs before it.
// 5. A file that a handle lists no more is listed by no later one. So what the manifests that are
//    kept do not list and an older one did can go (retention.h).
#include "rocksdb_backend/io.h"

#include "rocksdb_backend/bulk.h"
#include "rocksdb_backend/files.h"
#include "rocksdb_backend/redo_log.h"
#include "rocksdb_backend/worker.h"
#include "runtime/base/assert.h"
#include "runtime/base/failpoint.h"
#include "runtime/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { LOGS_PER_STATE = 4 }; // bytes of logs for each byte of the last materialisation

struct file_list {
    struct weir_state_file *files; // names owned
    uint32_t count;
    uint32_t capacity;
};

struct native_checkpoint {
    int64_t number;
    uint32_t whole_epoch;
    char *folder;
};

struct weir_io {
    struct weir_io_config config;
    struct weir_worker *log;
    struct weir_worker *live;
    struct weir_worker *publish;
    _Atomic uint64_t progress; // written_through in the upper half, clean_through in the lower
    atomic_bool is_failed;
    atomic_bool is_materialising;
    int64_t materialised_ms; // task: when the last one was begun; -1: none was

    pthread_mutex_t lock;
    struct weir_error error;       // guarded by lock, as all below
    struct file_list materialised; // the one that is listed, all with its number
    uint64_t materialised_bytes;
    struct file_list next; // published, listed from next_epoch on; empty: there is none
    uint32_t next_epoch;
    struct file_list logs; // after `materialised`
    uint64_t logs_bytes;
};

static void append(struct file_list *list, const struct weir_state_file *file)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->files = weir_realloc(list->files, list->capacity * sizeof *list->files);
    }
    list->files[list->count] = *file;
    list->files[list->count++].name = weir_strdup(file->name);
}

static void deinit_list(struct file_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free((char *)list->files[i].name);
    }
    free(list->files);
    *list = (struct file_list){0};
}

void weir_io_fail(struct weir_io *io, const struct weir_error *error)
{
    pthread_mutex_lock(&io->lock);
    if (!atomic_load(&io->is_failed)) {
        io->error = *error;
        atomic_store(&io->is_failed, true);
    }
    pthread_mutex_unlock(&io->lock);
    weir_mailbox_wake(io->config.mailbox);
}

enum weir_status weir_io_check(struct weir_io *io, struct weir_error *error)
{
    if (!atomic_load(&io->is_failed)) {
        return WEIR_OK;
    }
    pthread_mutex_lock(&io->lock);
    *error = io->error;
    pthread_mutex_unlock(&io->lock);
    return WEIR_ERROR;
}

struct weir_io_progress weir_io_progress(const struct weir_io *io)
{
    uint64_t progress = atomic_load_explicit(&io->progress, memory_order_acquire);
    return (struct weir_io_progress){.written_through = (uint32_t)(progress >> 32),
                                     .clean_through = (uint32_t)progress};
}

// Each half has one writer, which only moves it up: nothing is carried over.
static void add_progress(struct weir_io *io, uint64_t more)
{
    atomic_fetch_add_explicit(&io->progress, more, memory_order_release);
    weir_mailbox_wake(io->config.mailbox);
}

static void drop_logs_through(struct weir_io *io, int64_t number)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < io->logs.count; i++) {
        struct weir_state_file *file = &io->logs.files[i];
        if (file->number <= number) {
            io->logs_bytes -= file->size_bytes;
            free((char *)file->name);
        } else {
            io->logs.files[kept++] = *file;
        }
    }
    io->logs.count = kept;
}

static uint64_t bytes_of(const struct file_list *list)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        bytes += list->files[i].size_bytes;
    }
    return bytes;
}

// With the lock: the published materialisation takes the place of the one before.
static void list_next(struct weir_io *io)
{
    deinit_list(&io->materialised);
    io->materialised = io->next;
    io->materialised_bytes = bytes_of(&io->materialised);
    io->next = (struct file_list){0};
    drop_logs_through(io, io->materialised.files[0].number);
}

// A set on its way into its log: what is still to be known of it when it is the task's again.
struct logging {
    struct weir_io *io;
    struct weir_snapshot *snapshot;
    uint32_t epoch;
    uint32_t rows_count;
    struct weir_state_rows *rows; // malloc
};

static void note_rows(struct logging *logging, const struct weir_frozen_set *set)
{
    logging->rows = weir_alloc((set->list_count + 1) * sizeof *logging->rows);
    for (uint32_t i = 0; i < set->list_count; i++) {
        if (set->lists[i].rows_of != NULL) {
            logging->rows[logging->rows_count++] = (struct weir_state_rows){
                .operator_id = set->lists[i].rows_of, .count = set->lists[i].row_count};
        }
    }
}

// The handle of the set's checkpoint, whose log (if it has one) is in the list already.
static void add_handle(struct weir_io *io, const struct logging *logging)
{
    pthread_mutex_lock(&io->lock);
    if (io->next.count > 0 && logging->epoch >= io->next_epoch) {
        list_next(io);
    }
    uint32_t count = io->materialised.count + io->logs.count;
    struct weir_state_file *files = weir_alloc((count + 1) * sizeof *files);
    if (io->materialised.count > 0) {
        memcpy(files, io->materialised.files, io->materialised.count * sizeof *files);
    }
    if (io->logs.count > 0) {
        memcpy(files + io->materialised.count, io->logs.files, io->logs.count * sizeof *files);
    }
    struct weir_state_handle handle = {.stage = io->config.stage,
                                       .key_groups = io->config.key_groups,
                                       .file_count = count,
                                       .files = files,
                                       .rows_count = logging->rows_count,
                                       .rows = logging->rows};
    weir_snapshot_set_state(logging->snapshot, &handle);
    pthread_mutex_unlock(&io->lock);
    free(files);
}

// From here on the set is the task's again.
static void give_back(void *context)
{
    const struct logging *logging = context;
    uint32_t steps = logging->epoch - weir_io_progress(logging->io).written_through;
    add_progress(logging->io, (uint64_t)steps << 32);
}

static enum weir_status write_log(struct logging *logging, const struct weir_frozen_set *set,
                                  struct weir_error *error)
{
    struct weir_io *io = logging->io;
    struct weir_state_file file = {.number = set->number};
    char *name = weir_state_name_of_log(io->config.name_prefix, set->number);
    file.name = name;
    enum weir_status status =
        weir_redo_log_write(set, io->config.stage, io->config.key_groups, io->config.store_folder,
                            name, give_back, logging, &file.size_bytes, &file.xxh3, error);
    if (status == WEIR_OK) {
        pthread_mutex_lock(&io->lock);
        append(&io->logs, &file);
        io->logs_bytes += file.size_bytes;
        pthread_mutex_unlock(&io->lock);
    }
    free(name);
    return status;
}

static void run_log(void *context, void *item)
{
    struct weir_io *io = context;
    struct weir_frozen_set *set = item;
    struct logging logging = {.io = io, .snapshot = set->snapshot, .epoch = set->epoch};
    struct weir_error error;
    bool is_good = !atomic_load(&io->is_failed);
    set->snapshot = NULL;
    note_rows(&logging, set);
    if (is_good && set->entry_count == 0) {
        give_back(&logging);
    } else if (is_good && write_log(&logging, set, &error) != WEIR_OK) {
        weir_io_fail(io, &error);
        is_good = false;
    }
    if (is_good) {
        add_handle(io, &logging);
        weir_snapshot_release(logging.snapshot);
    } else {
        weir_snapshot_abandon(logging.snapshot);
    }
    free(logging.rows);
}

static void drop_log(void *context, void *item)
{
    (void)context;
    struct weir_frozen_set *set = item;
    struct weir_snapshot *snapshot = set->snapshot;
    set->snapshot = NULL;
    weir_snapshot_abandon(snapshot);
}

static void add_set(struct weir_bulk *bulk, const struct weir_frozen_set *set)
{
    for (uint32_t i = 0; i < set->list_count; i++) {
        const struct weir_version_list *list = &set->lists[i];
        for (uint32_t j = 0; j < list->count; j++) {
            weir_version_list_prefetch(list, j);
            const struct weir_version *version = list->versions[j];
            if (version != NULL) {
                struct weir_state_key key = {.key_group = version->key_group,
                                             .bytes = weir_version_key(version)};
                weir_bulk_add(bulk, list->state_id, &key, weir_version_value(version));
            }
        }
    }
}

static enum weir_status write_live(struct weir_io *io, const struct weir_application *application,
                                   struct weir_error *error)
{
    if (weir_failpoint("state.live.write")) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_RECOVER,
                              "state: RocksDB cannot write: failpoint");
    }
    struct weir_bulk *bulk =
        weir_bulk_create(io->config.live, io->config.work_folder, io->config.load_bytes_min);
    for (uint32_t i = 0; i < application->set_count; i++) {
        add_set(bulk, application->sets[i]);
    }
    enum weir_status status = weir_bulk_write(bulk, error);
    weir_bulk_destroy(bulk);
    return status;
}

uint64_t weir_io_materialise_log_bytes(const struct weir_io_config *config,
                                       uint64_t materialised_bytes)
{
    uint64_t bytes = LOGS_PER_STATE * materialised_bytes;
    bytes = bytes < config->materialise_log_bytes_min ? config->materialise_log_bytes_min : bytes;
    return bytes > config->materialise_log_bytes || materialised_bytes == 0
               ? config->materialise_log_bytes
               : bytes;
}

bool weir_io_wants_materialisation(struct weir_io *io)
{
    if (atomic_load(&io->is_materialising)) {
        return false;
    }
    bool is_forced = weir_failpoint("state.materialise");
    int64_t now_ms = weir_now_ms(io->config.clock);
    if (!is_forced && io->materialised_ms >= 0 &&
        now_ms - io->materialised_ms < io->config.materialise_pause_ms) {
        return false;
    }
    pthread_mutex_lock(&io->lock);
    // One that no handle has listed yet is not replaced: nobody would ever remove its files.
    bool wants =
        io->next.count == 0 &&
        (is_forced || io->logs.count >= io->config.materialise_log_count ||
         io->logs_bytes >= weir_io_materialise_log_bytes(&io->config, io->materialised_bytes));
    pthread_mutex_unlock(&io->lock);
    return wants;
}

void weir_io_apply(struct weir_io *io, struct weir_application *application)
{
    if (application->is_materialised) {
        io->materialised_ms = weir_now_ms(io->config.clock);
        atomic_store(&io->is_materialising, true);
    }
    weir_worker_push(io->live, application);
}

static void drop_publish(void *context, void *item)
{
    (void)context;
    struct native_checkpoint *native = item;
    free(native->folder);
    free(native);
}

// A failure leaves the last one and its logs in place, which are enough: it is tried again.
static void materialise(struct weir_io *io, int64_t number, uint32_t whole_epoch)
{
    struct native_checkpoint *native = weir_alloc(sizeof *native);
    struct weir_buffer folder = {0};
    weir_buffer_printf(&folder, "%s/native-%" PRId64, io->config.work_folder, number);
    *native = (struct native_checkpoint){.number = number,
                                         .whole_epoch = whole_epoch,
                                         .folder = weir_strdup(weir_buffer_text(&folder))};
    weir_buffer_deinit(&folder);
    struct weir_error error;
    if (weir_live_checkpoint(io->config.live, native->folder, &error) != WEIR_OK) {
        weir_log(WEIR_LOG_WARN, "%s", error.text);
        weir_folder_remove(native->folder);
        drop_publish(io, native);
        atomic_store(&io->is_materialising, false);
        return;
    }
    weir_failpoint("state.checkpointed");
    weir_worker_push(io->publish, native);
}

static void run_live(void *context, void *item)
{
    struct weir_io *io = context;
    struct weir_application *application = item;
    struct weir_error error;
    if (!atomic_load(&io->is_failed)) {
        if (write_live(io, application, &error) != WEIR_OK) {
            weir_io_fail(io, &error);
        } else {
            // From here on the sets are the task's again.
            add_progress(io, application->epoch - weir_io_progress(io).clean_through);
            if (application->is_materialised) {
                materialise(io, application->number, application->whole_epoch);
            }
        }
    }
    free(application);
}

static void drop_live(void *context, void *item)
{
    (void)context;
    free(item); // the sets are the task's
}

// The file of the list that is RocksDB's table of this name, NULL: none.
static const struct weir_state_file *find_table(const struct file_list *list,
                                                const char *local_name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const char *local = weir_state_name_local(list->files[i].name);
        if (local != NULL && strcmp(local, local_name) == 0) {
            return &list->files[i];
        }
    }
    return NULL;
}

struct publishing {
    struct weir_io *io;
    int64_t number;
    const char *folder;
    struct file_list files;
};

// A table that the last materialisation has is in the store already, its checksum known.
static enum weir_status publish_one(void *context, const char *name, struct weir_error *error)
{
    struct publishing *publishing = context;
    struct weir_io *io = publishing->io;
    struct weir_state_file file = {.is_materialised = true, .number = publishing->number};
    // While there is none to follow it, nobody replaces the materialisation: no lock.
    const struct weir_state_file *known =
        weir_state_name_is_table(name) ? find_table(&io->materialised, name) : NULL;
    if (known != NULL) {
        file.name = known->name;
        file.size_bytes = known->size_bytes;
        file.xxh3 = known->xxh3;
        append(&publishing->files, &file);
        return WEIR_OK;
    }
    char *store_name = weir_state_name_of_db(io->config.name_prefix, publishing->number, name);
    file.name = store_name;
    enum weir_status status =
        weir_file_digest(publishing->folder, name, &file.size_bytes, &file.xxh3, error);
    if (status == WEIR_OK) {
        status =
            weir_file_publish(publishing->folder, name, io->config.store_folder, store_name, error);
    }
    if (status == WEIR_OK) {
        append(&publishing->files, &file);
    }
    free(store_name);
    return status;
}

// What a publication that failed has brought into the store; nothing lists it.
static void unpublish(struct weir_io *io, const struct file_list *files)
{
    for (uint32_t i = 0; i < files->count; i++) {
        const char *local = weir_state_name_local(files->files[i].name);
        if (find_table(&io->materialised, local) == NULL) {
            weir_file_remove(io->config.store_folder, files->files[i].name);
        }
    }
}

enum weir_status weir_io_publish(struct weir_io *io, int64_t number, uint32_t whole_epoch,
                                 const char *folder, struct weir_error *error)
{
    struct publishing publishing = {.io = io, .number = number, .folder = folder};
    enum weir_status status = weir_folder_each(folder, publish_one, &publishing, error);
    if (status == WEIR_OK) {
        weir_failpoint("state.published");
        status = weir_folder_sync(io->config.store_folder, error);
    }
    if (status == WEIR_OK) {
        pthread_mutex_lock(&io->lock);
        io->next = publishing.files;
        io->next_epoch = whole_epoch;
        pthread_mutex_unlock(&io->lock);
    } else {
        unpublish(io, &publishing.files);
        deinit_list(&publishing.files);
    }
    return status;
}

static void run_publish(void *context, void *item)
{
    struct weir_io *io = context;
    struct native_checkpoint *native = item;
    struct weir_error error;
    if (weir_io_publish(io, native->number, native->whole_epoch, native->folder, &error) !=
        WEIR_OK) {
        weir_log(WEIR_LOG_WARN, "%s; the state's checkpoints go on from the one before",
                 error.text);
    }
    weir_folder_remove(native->folder);
    drop_publish(io, native);
    atomic_store(&io->is_materialising, false);
}

struct weir_io *weir_io_create(const struct weir_io_config *config, uint32_t file_count,
                               const struct weir_state_file *files)
{
    struct weir_io *io = weir_alloc_zero(sizeof *io);
    io->config = *config;
    io->config.stage = weir_strdup(config->stage);
    io->config.work_folder = weir_strdup(config->work_folder);
    io->config.store_folder = weir_strdup(config->store_folder);
    io->config.name_prefix = weir_strdup(config->name_prefix);
    io->materialised_ms = -1;
    pthread_mutex_init(&io->lock, NULL);
    for (uint32_t i = 0; i < file_count; i++) {
        append(files[i].is_materialised ? &io->materialised : &io->logs, &files[i]);
        io->logs_bytes += files[i].is_materialised ? 0 : files[i].size_bytes;
    }
    io->materialised_bytes = bytes_of(&io->materialised);
    struct weir_worker_config worker = {.context = io, .is_stepped = config->is_stepped};
    worker.name = "weir-state-pub";
    worker.run = run_publish;
    worker.drop = drop_publish;
    io->publish = weir_worker_create(&worker);
    worker.name = "weir-state-live";
    worker.run = run_live;
    worker.drop = drop_live;
    io->live = weir_worker_create(&worker);
    worker.name = "weir-state-log";
    worker.run = run_log;
    worker.drop = drop_log;
    io->log = weir_worker_create(&worker);
    return io;
}

void weir_io_submit(struct weir_io *io, struct weir_frozen_set *set)
{
    weir_worker_push(io->log, set);
}

bool weir_io_step(struct weir_io *io, enum weir_io_step step)
{
    switch (step) {
    case WEIR_IO_STEP_LOG:
        return weir_worker_step(io->log);
    case WEIR_IO_STEP_LIVE:
        return weir_worker_step(io->live);
    case WEIR_IO_STEP_PUBLISH:
        return weir_worker_step(io->publish);
    }
    return false;
}

// In the order of the hand-over: a worker that is stopped gets nothing any more.
void weir_io_stop(struct weir_io *io)
{
    weir_worker_stop(io->log);
    weir_worker_stop(io->live);
    weir_worker_stop(io->publish);
}

void weir_io_destroy(struct weir_io *io)
{
    if (io == NULL) {
        return;
    }
    weir_worker_destroy(io->log);
    weir_worker_destroy(io->live);
    weir_worker_destroy(io->publish);
    pthread_mutex_destroy(&io->lock);
    deinit_list(&io->materialised);
    deinit_list(&io->next);
    deinit_list(&io->logs);
    free((char *)io->config.stage);
    free((char *)io->config.work_folder);
    free((char *)io->config.store_folder);
    free((char *)io->config.name_prefix);
    free(io);
}
