// SPDX-License-Identifier: Apache-2.0
// A configuration loaded from a few variables, for the tests of app/config*.c. Files lie in a
// folder of the test's own, which is the root of /etc, /proc and /sys.
#ifndef WEIR_TESTS_UNIT_APP_CONFIG_FIXTURE_H
#define WEIR_TESTS_UNIT_APP_CONFIG_FIXTURE_H

#include "app/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { VARIABLES_MAX = 64 };

// What every complete configuration needs.
#define WITH_REQUIRED                                                                              \
    "WEIR_SQL=SELECT 1", "WEIR_JOB_ID=flights", "WEIR_KAFKA_BOOTSTRAP_SERVERS=broker:9092",        \
        "WEIR_HTTP_LISTEN="

struct fixture {
    char root_dir[64];
    struct weir_arena *arena;
    struct weir_config config;
    struct weir_fault_list faults;
};

static inline void fixture_init(struct fixture *fixture)
{
    *fixture = (struct fixture){.root_dir = "/tmp/weir-test-XXXXXX"};
    assert_non_null(mkdtemp(fixture->root_dir));
    fixture->arena = weir_arena_create(65536);
    weir_fault_list_init(&fixture->faults, fixture->arena);
}

static inline void fixture_deinit(struct fixture *fixture)
{
    char command[128];
    weir_arena_destroy(fixture->arena);
    snprintf(command, sizeof command, "rm -rf %s", fixture->root_dir);
    assert_int_equal(system(command), 0);
}

// Writes a file below the root, with the folders that it needs; returns its path.
static inline const char *fixture_file(struct fixture *fixture, const char *name, const char *text)
{
    char *path = weir_arena_printf(fixture->arena, "%s%s", fixture->root_dir, name);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

// Loads from variables that end with NULL.
static inline enum weir_status fixture_load_all(struct fixture *fixture,
                                                const char *const *variables)
{
    char *environment[VARIABLES_MAX + 1];
    uint32_t count = 0;
    while (variables[count] != NULL) {
        assert_true(count < VARIABLES_MAX);
        environment[count] = weir_arena_strdup(fixture->arena, variables[count]);
        count++;
    }
    environment[count] = NULL;
    weir_fault_list_init(&fixture->faults, fixture->arena);
    return weir_config_load(
        &(struct weir_config_input){.environment = environment, .root_dir = fixture->root_dir},
        fixture->arena, &fixture->config, &fixture->faults);
}

static inline void fixture_load_ok_all(struct fixture *fixture, const char *const *variables)
{
    if (fixture_load_all(fixture, variables) != WEIR_OK || fixture->faults.count != 0) {
        fail_msg("unexpected fault: %s", fixture->faults.texts[0]);
    }
}

#define fixture_load_ok(fixture, ...)                                                              \
    fixture_load_ok_all((fixture), (const char *const[]){__VA_ARGS__, NULL})

#define fixture_load(fixture, ...)                                                                 \
    fixture_load_all((fixture), (const char *const[]){__VA_ARGS__, NULL})

// The faults must be these, which end with NULL, in this order.
static inline void fixture_expect_all(const struct fixture *fixture, const char *const *texts)
{
    uint32_t count = 0;
    for (; texts[count] != NULL && count < fixture->faults.count; count++) {
        assert_string_equal(fixture->faults.texts[count], texts[count]);
    }
    if (texts[count] != NULL) {
        fail_msg("missing fault: %s", texts[count]);
    }
    if (count < fixture->faults.count) {
        fail_msg("unexpected fault: %s", fixture->faults.texts[count]);
    }
}

#define fixture_expect(fixture, ...)                                                               \
    fixture_expect_all((fixture), (const char *const[]){__VA_ARGS__, NULL})

#endif
