// SPDX-License-Identifier: Apache-2.0
// Whole files: what was written is read, limits and missing folders are told by errno.
#include "runtime/base/disk.h"

#include "tests/unit/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/weir-disk-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void test_disk_reads_what_was_written(void **state)
{
    (void)state;
    size_t size_bytes = 200000; // more than a block
    char *data = malloc(size_bytes);
    for (size_t i = 0; i < size_bytes; i++) {
        data[i] = (char)(i * 7 + i / 251);
    }
    assert_true(weir_disk_write_file(path_of("long"), "an older and longer one", 23));
    assert_true(weir_disk_write_file(path_of("long"), data, size_bytes));
    struct weir_buffer read = {0};
    weir_buffer_printf(&read, "before");
    assert_true(weir_disk_read(path_of("long"), size_bytes + 1, &read));
    assert_int_equal(read.size_bytes, 6 + size_bytes);
    assert_memory_equal(read.data, "before", 6);
    assert_memory_equal(read.data + 6, data, size_bytes);
    weir_buffer_deinit(&read);
    free(data);
}

static void test_disk_tells_why_nothing_is_read(void **state)
{
    (void)state;
    struct weir_buffer read = {0};
    assert_false(weir_disk_read(path_of("missing"), 10, &read));
    assert_int_equal(errno, ENOENT);
    assert_true(weir_disk_write_file(path_of("ten"), "0123456789", 10));
    assert_false(weir_disk_read(path_of("ten"), 10, &read));
    assert_int_equal(errno, EFBIG);
    read.size_bytes = 0;
    assert_true(weir_disk_read(path_of("ten"), 11, &read));
    assert_int_equal(read.size_bytes, 10);
    weir_buffer_deinit(&read);
}

static void test_disk_tells_why_nothing_is_written(void **state)
{
    (void)state;
    assert_false(weir_disk_write_file(path_of("no/such/folder"), "x", 1));
    assert_int_equal(errno, ENOENT);
    assert_false(weir_disk_write(-1, "x", 1));
    assert_int_equal(errno, EBADF);
    assert_true(weir_disk_write(-1, "", 0)); // nothing to do
    assert_false(weir_disk_sync_folder(path_of("no")));
    assert_int_equal(errno, ENOENT);
    assert_true(weir_disk_sync_folder(folder));
}

static void test_disk_makes_every_folder_of_a_path(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/a/b/c", folder);
    assert_true(weir_disk_make_folders(path));
    assert_true(weir_disk_make_folders(path)); // are there
    assert_int_equal(access(path_of("a/b/c"), W_OK), 0);
    assert_true(weir_disk_write_file(path_of("a/file"), "x", 1));
    snprintf(path, sizeof path, "%s/a/file/b/c", folder);
    assert_false(weir_disk_make_folders(path));
    assert_int_equal(errno, ENOTDIR);
    assert_string_equal(path, path_of("a/file/b")); // the one that could not be made
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_reads_what_was_written),
        cmocka_unit_test(test_disk_tells_why_nothing_is_read),
        cmocka_unit_test(test_disk_tells_why_nothing_is_written),
        cmocka_unit_test(test_disk_makes_every_folder_of_a_path),
    };
    return cmocka_run_group_tests_name("runtime/test_disk", tests, make_folder, remove_folder);
}
