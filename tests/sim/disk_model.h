// SPDX-License-Identifier: Apache-2.0
// Files and folders as the simulated disk keeps them; for disk.c and files.c only.
#ifndef WEIR_TESTS_SIM_DISK_MODEL_H
#define WEIR_TESTS_SIM_DISK_MODEL_H

#include "tests/sim/disk.h"

struct sim_bytes {
    char *data;
    size_t size_bytes;
    size_t capacity_bytes;
};

struct sim_file {
    struct sim_bytes now;
    struct sim_bytes synced;
    bool is_dirty; // now differs from synced
    int64_t modified_us;
    const struct sim_process *locked_by;
};

struct sim_entry {
    char *name;
    struct sim_file *file;
};

// A change of names that is not durable yet. A rename is one change: both names or none.
struct sim_change {
    char *name;
    struct sim_file *file; // NULL: the name goes
    char *other;           // goes with it; NULL: none
};

struct sim_entries {
    struct sim_entry *entries;
    uint32_t count;
};

struct sim_folder {
    char *path;
    struct sim_entries now;
    struct sim_entries synced;
    struct sim_change *changes; // from synced to now
    uint32_t change_count;
};

struct sim_folder *sim_folder_find(const char *path); // NULL: none
struct sim_folder *sim_folder_make(const char *path);
void sim_folder_drop(struct sim_folder *folder);
uint32_t sim_folder_count(void);
struct sim_folder *sim_folder_at(uint32_t idx);
// The folder of a path, and the name in it; NULL: there is no such folder.
struct sim_folder *sim_folder_of(const char *path, const char **name);

struct sim_file *sim_folder_get(const struct sim_folder *folder, const char *name);
// file NULL: the name goes. `other` is the name that goes with it, NULL: none.
void sim_folder_change(struct sim_folder *folder, const char *name, struct sim_file *file,
                       const char *other);
void sim_folder_sync(struct sim_folder *folder);

struct sim_file *sim_file_create(void);
void sim_bytes_set(struct sim_bytes *bytes, const char *data, size_t size_bytes);
void sim_file_sync(struct sim_file *file);
bool sim_disk_is_full(void);

#endif
