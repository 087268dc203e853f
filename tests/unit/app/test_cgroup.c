// SPDX-License-Identifier: Apache-2.0
// CPU quota and memory limit out of made-up /proc and /sys trees.
#include "app/cgroup.h"

#include "config_fixture.h"

#include <sched.h>

static uint32_t schedulable_cpus(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return (uint32_t)CPU_COUNT(&set);
}

static void test_without_groups(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), schedulable_cpus());
    assert_true(weir_cgroup_memory_limit_bytes(fixture.root_dir) == 0);
    fixture_deinit(&fixture);
}

static void test_version_2(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_file(&fixture, "/proc/self/cgroup", "0::/\n");
    fixture_file(&fixture, "/sys/fs/cgroup/cpu.max", "100000 100000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/memory.max", "536870912\n");
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), 1);
    assert_true(weir_cgroup_memory_limit_bytes(fixture.root_dir) == 536870912);

    fixture_file(&fixture, "/sys/fs/cgroup/cpu.max", "max 100000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/memory.max", "max\n");
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), schedulable_cpus());
    assert_true(weir_cgroup_memory_limit_bytes(fixture.root_dir) == 0);

    // Less than one CPU is one task, and a quota above the machine changes nothing.
    fixture_file(&fixture, "/sys/fs/cgroup/cpu.max", "10000 100000\n");
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), 1);
    fixture_file(&fixture, "/sys/fs/cgroup/cpu.max", "999900000 100000\n");
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), schedulable_cpus());
    fixture_deinit(&fixture);
}

// The group's own limit and those above it: the least counts.
static void test_groups_above(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_file(&fixture, "/proc/self/cgroup", "0::/a.slice/b.scope\n");
    fixture_file(&fixture, "/sys/fs/cgroup/a.slice/memory.max", "300000000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/a.slice/b.scope/memory.max", "500000000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), 1);
    assert_true(weir_cgroup_memory_limit_bytes(fixture.root_dir) == 300000000);
    fixture_deinit(&fixture);
}

static void test_version_1(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    fixture_file(&fixture, "/proc/self/cgroup",
                 "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n0::/\n");
    fixture_file(&fixture, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    fixture_file(&fixture, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "400000000\n");
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), 1);
    assert_true(weir_cgroup_memory_limit_bytes(fixture.root_dir) == 400000000);

    // "None" is -1 and a number near the greatest.
    fixture_file(&fixture, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    fixture_file(&fixture, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(weir_cgroup_cpu_count(fixture.root_dir), schedulable_cpus());
    assert_true(weir_cgroup_memory_limit_bytes(fixture.root_dir) == 0);
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_groups),
        cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_groups_above),
        cmocka_unit_test(test_version_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
