// SPDX-License-Identifier: Apache-2.0
// See cgroup.h. /proc/self/cgroup names the group in each hierarchy. In a container with its own
// cgroup namespace that is "/"; without one the path may not exist below the container's
// /sys/fs/cgroup at all, so every level is tried and those that are missing say nothing.
#include "app/cgroup.h"

#include "runtime/base/text.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES_MAX = 4096, LINE_BYTES_MAX = 4096 };

// Version 1 writes a number near INT64_MAX, rounded down to pages, for "no limit".
static const uint64_t unlimited_bytes = UINT64_C(1) << 60;

static bool read_line(const char *path, char *line, size_t line_bytes)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    bool has_line = fgets(line, (int)line_bytes, file) != NULL;
    fclose(file);
    if (has_line) {
        line[strcspn(line, "\n")] = '\0';
    }
    return has_line;
}

// Whether `list` ("cpu,cpuacct") holds `item`.
static bool list_has(const char *list, const char *item)
{
    size_t item_bytes = strlen(item);
    while (*list != '\0') {
        size_t size = strcspn(list, ",");
        if (size == item_bytes && memcmp(list, item, size) == 0) {
            return true;
        }
        list += size + (list[size] == ',' ? 1 : 0);
    }
    return false;
}

// The path of the group in the hierarchy of `controller` (version 1) or, with "", in version 2's.
static bool group_path(const char *root_dir, const char *controller, char *path, size_t path_bytes)
{
    char name[PATH_BYTES_MAX];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root_dir);
    FILE *file = fopen(name, "re");
    if (file == NULL) {
        return false;
    }
    bool found = false;
    char line[LINE_BYTES_MAX];
    while (!found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) {
            continue;
        }
        *group = '\0';
        bool is_it =
            controller[0] == '\0' ? controllers[1] == '\0' : list_has(controllers + 1, controller);
        if (is_it) {
            snprintf(path, path_bytes, "%s", group + 1);
            found = true;
        }
    }
    fclose(file);
    return found;
}

typedef void visit_fn(const char *directory, void *context);

// Visits the group's directory and each one above it, up to that of the hierarchy.
static void visit_groups(const char *root_dir, const char *controller, visit_fn *visit,
                         void *context)
{
    char group[PATH_BYTES_MAX];
    if (!group_path(root_dir, controller, group, sizeof group)) {
        group[0] = '\0';
    }
    for (;;) {
        size_t length = strlen(group);
        while (length > 0 && group[length - 1] == '/') {
            group[--length] = '\0';
        }
        char directory[2 * PATH_BYTES_MAX];
        snprintf(directory, sizeof directory, "%s/sys/fs/cgroup%s%s%s", root_dir,
                 controller[0] != '\0' ? "/" : "", controller, group);
        visit(directory, context);
        char *slash = strrchr(group, '/');
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

static void lower_cpus(uint32_t *cpu_count, int64_t quota, int64_t period)
{
    if (quota > 0 && period > 0) {
        int64_t cpus = (quota + period - 1) / period;
        if (cpus < *cpu_count) {
            *cpu_count = (uint32_t)cpus;
        }
    }
}

static bool read_number(const char *directory, const char *file, int64_t *value)
{
    char path[3 * PATH_BYTES_MAX];
    char line[64];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return read_line(path, line, sizeof line) && weir_text_integer_parse(line, value);
}

// "max 100000" or "150000 100000"
static void visit_cpu_2(const char *directory, void *context)
{
    char path[3 * PATH_BYTES_MAX];
    char line[64];
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (!read_line(path, line, sizeof line)) {
        return;
    }
    char *space = strchr(line, ' ');
    if (space != NULL) {
        *space = '\0';
        int64_t quota;
        int64_t period;
        if (weir_text_integer_parse(line, &quota) && weir_text_integer_parse(space + 1, &period)) {
            lower_cpus(context, quota, period);
        }
    }
}

static void visit_cpu_1(const char *directory, void *context)
{
    int64_t quota;
    int64_t period;
    if (read_number(directory, "cpu.cfs_quota_us", &quota) &&
        read_number(directory, "cpu.cfs_period_us", &period)) {
        lower_cpus(context, quota, period);
    }
}

uint32_t weir_cgroup_cpu_count(const char *root_dir)
{
    cpu_set_t set;
    uint32_t cpu_count = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        cpu_count = (uint32_t)CPU_COUNT(&set);
    }
    visit_groups(root_dir, "", visit_cpu_2, &cpu_count);
    visit_groups(root_dir, "cpu", visit_cpu_1, &cpu_count);
    return cpu_count;
}

static void lower_limit(uint64_t *limit_bytes, int64_t bytes)
{
    if (bytes > 0 && (uint64_t)bytes < unlimited_bytes &&
        (*limit_bytes == 0 || (uint64_t)bytes < *limit_bytes)) {
        *limit_bytes = (uint64_t)bytes;
    }
}

static void visit_memory_2(const char *directory, void *context)
{
    int64_t bytes; // "max" is no number
    if (read_number(directory, "memory.max", &bytes)) {
        lower_limit(context, bytes);
    }
}

static void visit_memory_1(const char *directory, void *context)
{
    int64_t bytes;
    if (read_number(directory, "memory.limit_in_bytes", &bytes)) {
        lower_limit(context, bytes);
    }
}

uint64_t weir_cgroup_memory_limit_bytes(const char *root_dir)
{
    uint64_t limit_bytes = 0;
    visit_groups(root_dir, "", visit_memory_2, &limit_bytes);
    visit_groups(root_dir, "memory", visit_memory_1, &limit_bytes);
    return limit_bytes;
}
