// SPDX-License-Identifier: Apache-2.0
// The simulated disk: everything below /sim/. What was written is in the machine's memory first: a
// loss of power leaves of a file that was not synced what it was, what it is now or something torn
// between, and of the names in a folder that was not synced those of some moment since (or any
// part of them). A process that dies alone loses nothing. Folders themselves are durable at once.
// Thread: there is one.
#ifndef WEIR_TESTS_SIM_DISK_H
#define WEIR_TESTS_SIM_DISK_H

#include "runtime/base/view.h"
#include "tests/sim/fiber.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

static inline bool sim_is_path(const char *path)
{
    return strncmp(path, "/sim/", 5) == 0;
}

void sim_disk_lose_power(void);
// No byte can be written until then.
void sim_disk_fill_until(int64_t until_us);
// Descriptors, and with them locks, of a process that has died.
void sim_disk_close_all(const struct sim_process *process);

// Called before a name goes (removed, or taken by a file that is not durably the same).
void sim_disk_watch_removals(void (*removed)(const char *path));

// What a loss of power would surely leave; false: nothing under this name. Valid until the next
// change of the file.
bool sim_disk_durable(const char *path, struct weir_view *content);
bool sim_disk_current(const char *path, struct weir_view *content);
void sim_disk_each(const char *folder, void (*visit)(void *context, const char *name),
                   void *context);

ssize_t sim_file_read(int descriptor, void *bytes, size_t size_bytes);
ssize_t sim_file_write(int descriptor, const void *bytes, size_t size_bytes);
int sim_file_close(int descriptor);

#endif
