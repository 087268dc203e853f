// SPDX-License-Identifier: Apache-2.0
// See footprint_util.h.
#include "tests/integration/footprint_util.h"

#include "tests/harness/base.h"

#include "tests/unit/cmocka_all.h"

#include <dirent.h>
#include <stdio.h>

static int count_entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count - 2;
}

struct footprint footprint_look(struct weir_test_process *process)
{
    int pid = (int)weir_test_process_pid(process);
    struct footprint found = {.threads = count_entries(weir_test_format("/proc/%d/task", pid)),
                              .files = count_entries(weir_test_format("/proc/%d/fd", pid))};
    FILE *status = fopen(weir_test_format("/proc/%d/status", pid), "r");
    assert_non_null(status);
    char line[256];
    while (fgets(line, sizeof line, status) != NULL) {
        long kib;
        if (sscanf(line, "VmRSS: %ld kB", &kib) == 1) {
            found.resident_mib = (int)(kib / 1024);
        }
    }
    fclose(status);
    print_message("%d threads, %d open files, %d MiB resident\n", found.threads, found.files,
                  found.resident_mib);
    return found;
}
