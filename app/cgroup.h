// SPDX-License-Identifier: Apache-2.0
// What the container allows: the CPU quota and the memory limit of the control groups (version 2
// and 1) that hold this process. Thread: any. Blocks on reading /proc and /sys.
#ifndef WEIR_APP_CGROUP_H
#define WEIR_APP_CGROUP_H

#include <stdint.h>

// CPUs that this process may use, rounded up, at least 1: the least of the quotas of its group and
// the groups above, and of the CPUs it may be scheduled on.
uint32_t weir_cgroup_cpu_count(const char *root_dir);

// The least memory limit of its group and the groups above; 0: none.
uint64_t weir_cgroup_memory_limit_bytes(const char *root_dir);

#endif
