// SPDX-License-Identifier: Apache-2.0
// See restore.h. Two ways:
// - The checkpoint has a handle of exactly our key groups: the files of its materialisation get a
//   second name in the live folder (RocksDB never writes to its tables; the few other files are
//   copied), then the logs are written in.
// - Otherwise our groups' entries are read out of each materialisation that has some and brought in
//   as sorted files, then the logs of all, each filtered by key group. So it is, too, where the job
//   has changed and entries become others on the way (convert.h).
#include "rocksdb_backend/restore.h"

#include "rocksdb_backend/bulk.h"
#include "rocksdb_backend/convert.h"
#include "rocksdb_backend/files.h"
#include "rocksdb_backend/redo_log.h"
#include "runtime/base/failpoint.h"

#include <inttypes.h>
#include <stdio.h>

// Of logs that are written at a time: what they take more than once comes out of RocksDB's memory.
enum { LOGS_BYTES_MIN = 8 << 20, LOGS_BYTES_MAX = 128 << 20 };

static uint32_t end_of(struct weir_key_group_range range)
{
    return (uint32_t)range.first + range.count;
}

static struct weir_key_group_range intersect(struct weir_key_group_range a,
                                             struct weir_key_group_range b)
{
    uint32_t first = a.first > b.first ? a.first : b.first;
    uint32_t end = end_of(a) < end_of(b) ? end_of(a) : end_of(b);
    return (struct weir_key_group_range){.first = (uint16_t)first,
                                         .count = (uint16_t)(end > first ? end - first : 0)};
}

static bool concerns_us(const struct weir_restore *restore, const struct weir_state_handle *handle)
{
    return intersect(restore->key_groups, handle->key_groups).count > 0;
}

// Each of our groups is in exactly one handle.
static enum weir_status check_cover(const struct weir_restore *restore, struct weir_error *error)
{
    for (uint32_t group = restore->key_groups.first; group < end_of(restore->key_groups); group++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < restore->handle_count; i++) {
            struct weir_key_group_range range = restore->handles[i].key_groups;
            count += group >= range.first && group < end_of(range);
        }
        if (count != 1) {
            return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                                  "state: checkpoint %" PRId64 " of stage %s has key group %u %s",
                                  restore->number, restore->stage, group,
                                  count == 0 ? "in no part" : "in more than one part");
        }
    }
    return WEIR_OK;
}

// The order that handles promise: files of one materialisation, then logs that ascend.
static enum weir_status check_order(const struct weir_restore *restore,
                                    const struct weir_state_handle *handle,
                                    struct weir_error *error)
{
    int64_t last = 0;
    bool is_good = true;
    for (uint32_t i = 0; i < handle->file_count; i++) {
        const struct weir_state_file *file = &handle->files[i];
        bool is_first = i == 0;
        if (file->is_materialised) {
            is_good = is_good && weir_state_name_local(file->name) != NULL &&
                      (is_first || (handle->files[i - 1].is_materialised && file->number == last));
        } else {
            is_good = is_good && (is_first || file->number > last);
        }
        last = file->number;
    }
    if (!is_good || last > restore->number) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: the files of stage %s, key groups %u to %u, do not make up "
                              "checkpoint %" PRId64,
                              restore->stage, (unsigned)handle->key_groups.first,
                              end_of(handle->key_groups) - 1, restore->number);
    }
    return WEIR_OK;
}

static enum weir_status verify(const struct weir_restore *restore,
                               const struct weir_state_handle *handle, struct weir_error *error)
{
    if (strcmp(handle->stage, restore->stage) != 0) {
        return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                              "state: stage %s was given files of stage %s", restore->stage,
                              handle->stage);
    }
    if (check_order(restore, handle, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < handle->file_count; i++) {
        if (weir_file_verify(restore->store_folder, &handle->files[i], error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

static uint32_t materialised_count(const struct weir_state_handle *handle)
{
    uint32_t count = 0;
    while (count < handle->file_count && handle->files[count].is_materialised) {
        count++;
    }
    return count;
}

// Gives RocksDB's names back to the files of the handle's materialisation, in a new folder.
static enum weir_status lay_out(const struct weir_restore *restore,
                                const struct weir_state_handle *handle, const char *folder,
                                struct weir_error *error)
{
    if (weir_folder_remake(folder, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; i < materialised_count(handle); i++) {
        const char *name = handle->files[i].name;
        if (weir_file_link(restore->store_folder, name, folder, weir_state_name_local(name),
                           !weir_state_name_is_table(name), error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    weir_failpoint("state.restore.laid_out");
    return WEIR_OK;
}

// Entries of a state come together.
struct converting {
    const struct weir_restore *restore;
    uint64_t state_id;
    const struct weir_state_conversion *conversion; // of that state; NULL: none
    bool is_found;                                  // state_id and conversion are set
    struct weir_buffer value;
};

// *is_dropped: the entry goes. The value is valid until the next call, which empties the buffer.
static enum weir_status convert_entry(struct converting *converting, uint64_t state_id,
                                      struct weir_view *value, bool *is_dropped,
                                      struct weir_error *error)
{
    const struct weir_restore *restore = converting->restore;
    if (!converting->is_found || converting->state_id != state_id) {
        converting->conversion =
            weir_convert_find(restore->conversion_count, restore->conversions, state_id);
        converting->state_id = state_id;
        converting->is_found = true;
    }
    const struct weir_state_conversion *conversion = converting->conversion;
    *is_dropped = conversion != NULL && conversion->convert == NULL;
    if (conversion == NULL || *is_dropped || value->data == NULL) {
        return WEIR_OK;
    }
    converting->value.size_bytes = 0;
    enum weir_status status = weir_convert_value(conversion, *value, &converting->value, error);
    *value = (struct weir_view){.data = converting->value.data,
                                .size_bytes = converting->value.size_bytes};
    return status;
}

// The entries of our groups in one handle's materialisation.
static enum weir_status load_groups(const struct weir_restore *restore, struct weir_live *source,
                                    struct weir_key_group_range groups,
                                    struct weir_live_loader *loader, bool *is_any,
                                    struct weir_error *error)
{
    struct converting converting = {.restore = restore};
    char from[] = {(char)(groups.first >> 8), (char)(groups.first & 0xff)};
    char to[] = {(char)(end_of(groups) >> 8), (char)(end_of(groups) & 0xff)};
    struct weir_live_iterator *iterator = weir_live_iterate(
        source, (struct weir_view){from, sizeof from}, (struct weir_view){to, sizeof to});
    enum weir_status status = WEIR_OK;
    struct weir_view key;
    struct weir_view value;
    while (status == WEIR_OK && weir_live_iterator_at(iterator, &key, &value)) {
        bool is_dropped;
        status = convert_entry(&converting, weir_state_id_of(key), &value, &is_dropped, error);
        if (status == WEIR_OK && !is_dropped) {
            *is_any = true;
            status = weir_live_loader_add(loader, key, value, error);
        }
        weir_live_iterator_next(iterator);
    }
    weir_buffer_deinit(&converting.value);
    struct weir_error other;
    if (weir_live_iterator_close(iterator, &other) != WEIR_OK && status == WEIR_OK) {
        *error = other;
        status = WEIR_ERROR;
    }
    return status;
}

static enum weir_status load_handle(struct weir_restore *restore,
                                    const struct weir_state_handle *handle,
                                    struct weir_live_loader *loader, bool *is_any,
                                    struct weir_error *error)
{
    if (materialised_count(handle) == 0) {
        return WEIR_OK;
    }
    char folder[WEIR_STATE_PATH_BYTES_MAX];
    snprintf(folder, sizeof folder, "%s/source", restore->work_folder);
    struct weir_live *source = NULL;
    enum weir_status status = lay_out(restore, handle, folder, error);
    if (status == WEIR_OK) {
        status = weir_live_open_read_only(folder, &source, error);
    }
    if (status == WEIR_OK) {
        status = load_groups(restore, source, intersect(restore->key_groups, handle->key_groups),
                             loader, is_any, error);
    }
    weir_live_close(source);
    weir_folder_remove(folder);
    return status;
}

struct applying {
    struct weir_key_group_range key_groups;
    struct weir_bulk *bulk;
    bool *is_any;
    struct converting converting;
    struct weir_arena *arena; // of converted values, until they are written
    struct weir_error error;
    bool is_failed;
};

static void apply_entry(void *context, uint64_t state_id, const struct weir_state_key *key,
                        struct weir_view value)
{
    struct applying *applying = context;
    if (key->key_group >= applying->key_groups.first &&
        key->key_group < end_of(applying->key_groups)) {
        bool is_dropped;
        bool is_converted = value.data != NULL;
        if (applying->is_failed || convert_entry(&applying->converting, state_id, &value,
                                                 &is_dropped, &applying->error) != WEIR_OK) {
            applying->is_failed = true;
            return;
        }
        if (is_dropped) {
            return;
        }
        *applying->is_any = true;
        is_converted = is_converted && applying->converting.conversion != NULL;
        weir_bulk_add(applying->bulk, state_id, key,
                      is_converted ? weir_arena_copy(applying->arena, value) : value);
    }
}

// As many logs at a time as the memory for them allows.
static enum weir_status apply_logs(struct weir_restore *restore,
                                   const struct weir_state_handle *handle, bool *is_any,
                                   struct weir_error *error)
{
    struct applying applying = {
        .key_groups = restore->key_groups,
        .bulk = weir_bulk_create(restore->live, restore->work_folder, restore->load_bytes_min),
        .is_any = is_any,
        .converting = {.restore = restore},
        .arena = weir_arena_create(64 << 10)};
    struct weir_buffer *logs = weir_alloc_zero((handle->file_count + 1) * sizeof *logs);
    size_t bytes_max = restore->memory_bytes / 2;
    bytes_max = bytes_max < LOGS_BYTES_MIN   ? LOGS_BYTES_MIN
                : bytes_max > LOGS_BYTES_MAX ? LOGS_BYTES_MAX
                                             : bytes_max;
    enum weir_status status = WEIR_OK;
    for (uint32_t i = materialised_count(handle); i < handle->file_count && status == WEIR_OK;
         i++) {
        status = weir_redo_log_read(restore->store_folder, &handle->files[i], restore->stage,
                                    handle->key_groups, &logs[i], apply_entry, &applying, error);
        if (status == WEIR_OK && applying.is_failed) {
            *error = applying.error;
            status = WEIR_ERROR;
        }
        bool is_last = i + 1 == handle->file_count;
        if (status == WEIR_OK && (is_last || weir_bulk_bytes(applying.bulk) >= bytes_max)) {
            status = weir_bulk_write(applying.bulk, error);
            weir_failpoint("state.restore.applied");
            weir_arena_reset(applying.arena);
            for (uint32_t j = 0; j <= i; j++) {
                weir_buffer_deinit(&logs[j]);
            }
        }
    }
    for (uint32_t i = 0; i < handle->file_count; i++) {
        weir_buffer_deinit(&logs[i]);
    }
    free(logs);
    weir_bulk_destroy(applying.bulk);
    weir_buffer_deinit(&applying.converting.value);
    weir_arena_destroy(applying.arena);
    return status;
}

static int compare_handles(const void *left, const void *right)
{
    const struct weir_state_handle *const *a = left;
    const struct weir_state_handle *const *b = right;
    return (int)(*a)->key_groups.first - (int)(*b)->key_groups.first;
}

// By key group, so that the loader's keys ascend.
static enum weir_status restore_parts(struct weir_restore *restore, const char *live_folder,
                                      const struct weir_state_handle **parts, uint32_t part_count,
                                      bool *is_any, struct weir_error *error)
{
    if (weir_live_open(live_folder, restore->memory_bytes, &restore->live, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    qsort(parts, part_count, sizeof(struct weir_state_handle *), compare_handles);
    struct weir_live_loader *loader = weir_live_loader_create(restore->live, restore->work_folder);
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < part_count && status == WEIR_OK; i++) {
        status = load_handle(restore, parts[i], loader, is_any, error);
    }
    if (status == WEIR_OK) {
        status = weir_live_loader_finish(loader, error);
    }
    weir_live_loader_destroy(loader);
    for (uint32_t i = 0; i < part_count && status == WEIR_OK; i++) {
        status = apply_logs(restore, parts[i], is_any, error);
    }
    return status;
}

static enum weir_status restore_same(struct weir_restore *restore, const char *live_folder,
                                     const struct weir_state_handle *handle, bool *is_any,
                                     struct weir_error *error)
{
    *is_any = materialised_count(handle) > 0;
    if (lay_out(restore, handle, live_folder, error) != WEIR_OK ||
        weir_live_open(live_folder, restore->memory_bytes, &restore->live, error) != WEIR_OK ||
        apply_logs(restore, handle, is_any, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    restore->same = handle;
    return WEIR_OK;
}

enum weir_status weir_restore_run(struct weir_restore *restore, struct weir_error *error)
{
    char live_folder[WEIR_STATE_PATH_BYTES_MAX];
    snprintf(live_folder, sizeof live_folder, "%s/live", restore->work_folder);
    restore->live = NULL;
    restore->same = NULL;
    restore->is_empty = true;
    if (restore->handle_count == 0) {
        return weir_live_open(live_folder, restore->memory_bytes, &restore->live, error);
    }
    const struct weir_state_handle **parts =
        weir_alloc(restore->handle_count * sizeof(struct weir_state_handle *));
    uint32_t part_count = 0;
    bool is_any = false;
    enum weir_status status = check_cover(restore, error);
    for (uint32_t i = 0; i < restore->handle_count && status == WEIR_OK; i++) {
        if (concerns_us(restore, &restore->handles[i])) {
            parts[part_count++] = &restore->handles[i];
            status = verify(restore, &restore->handles[i], error);
        }
    }
    if (status == WEIR_OK) {
        weir_failpoint("state.restore.verified");
        bool is_same = restore->conversion_count == 0 && part_count == 1 &&
                       parts[0]->key_groups.first == restore->key_groups.first &&
                       parts[0]->key_groups.count == restore->key_groups.count;
        status = is_same ? restore_same(restore, live_folder, parts[0], &is_any, error)
                         : restore_parts(restore, live_folder, parts, part_count, &is_any, error);
    }
    free(parts);
    restore->is_empty = !is_any;
    if (status != WEIR_OK) {
        weir_live_close(restore->live);
        restore->live = NULL;
    }
    return status;
}
