// SPDX-License-Identifier: Apache-2.0
// See disk.h: what is kept, and what a loss of power makes of it. Files are never freed: a run is
// short, and its process ends with it.
#include "tests/sim/disk_model.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"
#include "tests/sim/random.h"

#include <string.h>

enum { FOLDERS_MAX = 256 };

static struct sim_folder *folders[FOLDERS_MAX];
static uint32_t folder_count;
static int64_t full_until_us;
static void (*on_removed)(const char *path);

struct sim_folder *sim_folder_find(const char *path)
{
    for (uint32_t i = 0; i < folder_count; i++) {
        if (strcmp(folders[i]->path, path) == 0) {
            return folders[i];
        }
    }
    return NULL;
}

struct sim_folder *sim_folder_make(const char *path)
{
    WEIR_ASSERT(folder_count < FOLDERS_MAX);
    struct sim_folder *folder = weir_alloc_zero(sizeof *folder);
    folder->path = weir_strdup(path);
    folders[folder_count++] = folder;
    return folder;
}

void sim_folder_drop(struct sim_folder *folder)
{
    for (uint32_t i = 0; i < folder_count; i++) {
        if (folders[i] == folder) {
            folders[i] = folders[--folder_count];
            return;
        }
    }
}

uint32_t sim_folder_count(void)
{
    return folder_count;
}

struct sim_folder *sim_folder_at(uint32_t idx)
{
    return folders[idx];
}

struct sim_folder *sim_folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];
    WEIR_ASSERT(slash != NULL && (size_t)(slash - path) < sizeof folder);
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    *name = slash + 1;
    return sim_folder_find(folder);
}

static struct sim_entry *find_entry(const struct sim_entries *entries, const char *name)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        if (strcmp(entries->entries[i].name, name) == 0) {
            return &entries->entries[i];
        }
    }
    return NULL;
}

struct sim_file *sim_folder_get(const struct sim_folder *folder, const char *name)
{
    const struct sim_entry *entry = find_entry(&folder->now, name);
    return entry != NULL ? entry->file : NULL;
}

static void set_entry(struct sim_entries *entries, const char *name, struct sim_file *file)
{
    struct sim_entry *entry = find_entry(entries, name);
    if (file == NULL) {
        if (entry != NULL) {
            *entry = entries->entries[--entries->count];
        }
    } else if (entry != NULL) {
        entry->file = file;
    } else {
        entries->entries =
            weir_realloc(entries->entries, (entries->count + 1) * sizeof *entries->entries);
        entries->entries[entries->count++] =
            (struct sim_entry){.name = weir_strdup(name), .file = file};
    }
}

static void apply_change(struct sim_entries *entries, const struct sim_change *change)
{
    set_entry(entries, change->name, change->file);
    if (change->other != NULL) {
        set_entry(entries, change->other, NULL);
    }
}

// Durably the same: what a savepoint brings back into the store that it was taken from.
static bool is_same(const struct sim_file *former, const struct sim_file *file)
{
    return file != NULL && !file->is_dirty && file->synced.size_bytes == former->now.size_bytes &&
           memcmp(file->synced.data, former->now.data, former->now.size_bytes) == 0;
}

void sim_folder_change(struct sim_folder *folder, const char *name, struct sim_file *file,
                       const char *other)
{
    char path[4096];
    const struct sim_file *former = sim_folder_get(folder, name);
    if (on_removed != NULL && former != NULL && !is_same(former, file)) {
        snprintf(path, sizeof path, "%s/%s", folder->path, name);
        on_removed(path);
    }
    folder->changes =
        weir_realloc(folder->changes, (folder->change_count + 1) * sizeof *folder->changes);
    struct sim_change *change = &folder->changes[folder->change_count++];
    *change = (struct sim_change){.name = weir_strdup(name),
                                  .file = file,
                                  .other = other != NULL ? weir_strdup(other) : NULL};
    apply_change(&folder->now, change);
}

static void copy_entries(struct sim_entries *to, const struct sim_entries *from)
{
    to->count = from->count;
    to->entries = weir_realloc(to->entries, (from->count + 1) * sizeof *to->entries);
    if (from->count > 0) {
        memcpy(to->entries, from->entries, from->count * sizeof *to->entries);
    }
}

void sim_folder_sync(struct sim_folder *folder)
{
    copy_entries(&folder->synced, &folder->now);
    folder->change_count = 0;
}

struct sim_file *sim_file_create(void)
{
    struct sim_file *file = weir_alloc_zero(sizeof *file);
    file->modified_us = sim_wall_us();
    return file;
}

void sim_bytes_set(struct sim_bytes *bytes, const char *data, size_t size_bytes)
{
    if (size_bytes > bytes->capacity_bytes) {
        bytes->capacity_bytes = size_bytes + size_bytes / 2;
        bytes->data = weir_realloc(bytes->data, bytes->capacity_bytes);
    }
    if (size_bytes > 0) {
        memmove(bytes->data, data, size_bytes);
    }
    bytes->size_bytes = size_bytes;
}

void sim_file_sync(struct sim_file *file)
{
    if (file->is_dirty) {
        sim_bytes_set(&file->synced, file->now.data, file->now.size_bytes);
        file->is_dirty = false;
    }
}

// Some blocks have reached the disk: what lies behind is zero, or was never allocated.
static void tear(struct sim_file *file)
{
    size_t kept = file->now.size_bytes > 0 ? sim_random() % (file->now.size_bytes + 1) : 0;
    if (sim_one_in(2)) {
        file->now.size_bytes = kept;
    } else if (file->now.size_bytes > kept) {
        memset(file->now.data + kept, 0, file->now.size_bytes - kept);
    }
}

static void lose_content(struct sim_file *file)
{
    if (!file->is_dirty) {
        return;
    }
    switch (sim_below(3)) {
    case 0:
        sim_bytes_set(&file->now, file->synced.data, file->synced.size_bytes);
        break;
    case 1:
        tear(file);
        break;
    default:
        break; // was written back in time
    }
    file->is_dirty = true;
    sim_file_sync(file);
}

// A journal keeps the order of changes; without one any of them may be on the disk.
static void lose_names(struct sim_folder *folder)
{
    bool has_journal = !sim_one_in(4);
    uint32_t kept_count = sim_below(folder->change_count + 1);
    for (uint32_t i = 0; i < folder->change_count; i++) {
        if (has_journal ? i < kept_count : sim_one_in(2)) {
            apply_change(&folder->synced, &folder->changes[i]);
        }
    }
    copy_entries(&folder->now, &folder->synced);
    folder->change_count = 0;
}

void sim_disk_lose_power(void)
{
    for (uint32_t i = 0; i < folder_count; i++) {
        lose_names(folders[i]);
    }
    for (uint32_t i = 0; i < folder_count; i++) {
        for (uint32_t j = 0; j < folders[i]->now.count; j++) {
            lose_content(folders[i]->now.entries[j].file);
        }
    }
}

void sim_disk_fill_until(int64_t until_us)
{
    full_until_us = until_us;
}

bool sim_disk_is_full(void)
{
    return sim_now_us() < full_until_us;
}

void sim_disk_watch_removals(void (*removed)(const char *path))
{
    on_removed = removed;
}

bool sim_disk_durable(const char *path, struct weir_view *content)
{
    const char *name;
    const struct sim_folder *folder = sim_folder_of(path, &name);
    const struct sim_entry *entry = folder != NULL ? find_entry(&folder->synced, name) : NULL;
    if (entry == NULL || sim_folder_get(folder, name) != entry->file) {
        return false;
    }
    *content = (struct weir_view){.data = entry->file->synced.data,
                                  .size_bytes = entry->file->synced.size_bytes};
    return true;
}

bool sim_disk_current(const char *path, struct weir_view *content)
{
    const char *name;
    const struct sim_folder *folder = sim_folder_of(path, &name);
    const struct sim_file *file = folder != NULL ? sim_folder_get(folder, name) : NULL;
    if (file == NULL) {
        return false;
    }
    *content = (struct weir_view){.data = file->now.data, .size_bytes = file->now.size_bytes};
    return true;
}

void sim_disk_each(const char *path, void (*visit)(void *context, const char *name), void *context)
{
    const struct sim_folder *folder = sim_folder_find(path);
    for (uint32_t i = 0; folder != NULL && i < folder->now.count; i++) {
        visit(context, folder->now.entries[i].name);
    }
}
