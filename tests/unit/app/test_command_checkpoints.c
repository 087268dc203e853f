// SPDX-License-Identifier: Apache-2.0
// `weir checkpoints` over a store with two checkpoints: as text, as JSON, whole and damaged.
#include "config_fixture.h"

#include "app/cli.h"
#include "app/exit_code.h"
#include "runtime/store.h"

#include <yyjson.h>

static const struct weir_attempt attempt = {.text = "00000000000000aa"};

// Checkpoints 7 (a start) and 8, whose state is one file of ten bytes.
static void write_store(struct fixture *fixture)
{
    static const struct weir_state_file file = {
        .name = "state/a.log", .size_bytes = 10, .xxh3 = UINT64_C(0x58f8a7cd8c8bd4c8), .number = 8};
    static const struct weir_state_rows rows = {.operator_id = "o", .count = 5};
    static const struct weir_state_handle handle = {.stage = "s",
                                                    .key_groups = {.first = 0, .count = 128},
                                                    .file_count = 1,
                                                    .files = &file,
                                                    .rows_count = 1,
                                                    .rows = &rows};
    static const struct weir_manifest_slot slot = {
        .what = "sum(v)", .argument = "bigint", .form = "wide"};
    static const struct weir_manifest_operator op = {.stage = "s",
                                                     .id = "o",
                                                     .name = "aggregate → t",
                                                     .layout = "",
                                                     .has_slots = true,
                                                     .slot_count = 1,
                                                     .slots = &slot};
    static const struct weir_manifest_position position = {
        .entry = {.table = "t", .topic = "in", .partition = 1, .offset = 12}, .topic_id = ""};
    struct weir_store *store;
    struct weir_error error;
    char *dir = weir_arena_printf(fixture->arena, "%s/store", fixture->root_dir);
    assert_int_equal(weir_store_open(dir, "flights", 0, &store, &error), WEIR_OK);
    assert_int_equal(weir_store_set_owner(store, &attempt, &error), WEIR_OK);
    struct weir_manifest manifest = {.number = 7,
                                     .attempt = attempt,
                                     .job_id = "flights",
                                     .cluster_id = "c",
                                     .kind = "start",
                                     .restore = "auto",
                                     .weir_version = "1",
                                     .created_ms = 1700000000000,
                                     .parallelism = 2,
                                     .position_count = 1,
                                     .positions = &position};
    assert_int_equal(weir_store_write_manifest(store, &manifest, &error), WEIR_OK);
    manifest.number = 8;
    manifest.kind = "checkpoint";
    manifest.state_count = 1;
    manifest.states = &handle;
    manifest.operator_count = 1;
    manifest.operators = &op;
    assert_int_equal(weir_store_write_manifest(store, &manifest, &error), WEIR_OK);
    fixture_file(fixture, "/store/flights/0/state/a.log", "0123456789");
    weir_store_close(store);
}

// What it prints; for free().
static char *run(const struct fixture *fixture, char *const *argv, int exit_code)
{
    char *out;
    char *err;
    size_t out_bytes;
    size_t err_bytes;
    char *dir =
        weir_arena_printf(fixture->arena, "WEIR_CHECKPOINT_DIR=%s/store", fixture->root_dir);
    struct weir_cli cli = {.out = open_memstream(&out, &out_bytes),
                           .err = open_memstream(&err, &err_bytes),
                           .environment = (char *[]){"WEIR_JOB_ID=flights", dir, NULL},
                           .root_dir = fixture->root_dir};
    int argc = 0;
    while (argv[argc] != NULL) {
        argc++;
    }
    int code = weir_cli_main(&cli, argc, argv);
    fclose(cli.out);
    fclose(cli.err);
    if (code != exit_code) {
        fail_msg("ended with %d: %s%s", code, out, err);
    }
    free(err);
    return out;
}

#define ARGV(...) ((char *[]){"weir", "checkpoints", __VA_ARGS__, NULL})

static yyjson_doc *run_json(const struct fixture *fixture, char *const *argv, int exit_code,
                            size_t count)
{
    char *out = run(fixture, argv, exit_code);
    yyjson_doc *doc = yyjson_read(out, strlen(out), 0);
    if (doc == NULL) {
        fail_msg("no JSON: %s", out);
    }
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_true(yyjson_is_str(yyjson_obj_get(root, "path")));
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "checkpoints")), count);
    free(out);
    return doc;
}

static yyjson_val *at(yyjson_doc *doc, const char *pointer)
{
    yyjson_val *value = yyjson_doc_ptr_get(doc, pointer);
    if (value == NULL) {
        fail_msg("no %s", pointer);
    }
    return value;
}

static void test_checkpoints_list(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    write_store(&fixture);
    yyjson_doc *doc = run_json(&fixture, ARGV("--json"), WEIR_EXIT_OK, 2);
    assert_int_equal(yyjson_get_int(at(doc, "/checkpoints/0/number")), 7);
    assert_string_equal(yyjson_get_str(at(doc, "/checkpoints/0/kind")), "start");
    assert_string_equal(yyjson_get_str(at(doc, "/checkpoints/1/attempt")), attempt.text);
    assert_int_equal(yyjson_get_int(at(doc, "/checkpoints/1/state_bytes")), 10);
    assert_int_equal(yyjson_get_int(at(doc, "/checkpoints/1/partition_count")), 1);
    assert_null(yyjson_doc_ptr_get(doc, "/checkpoints/1/states"));
    yyjson_doc_free(doc);
    char *text = run(&fixture, ARGV("list"), WEIR_EXIT_OK);
    assert_non_null(strstr(text, "       8  00000000000000aa  "));
    free(text);
    fixture_deinit(&fixture);
}

static void test_checkpoints_show(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    write_store(&fixture);
    yyjson_doc *doc = run_json(&fixture, ARGV("show", "8", "--json"), WEIR_EXIT_OK, 1);
    assert_int_equal(yyjson_get_int(at(doc, "/checkpoints/0/positions/0/offset")), 12);
    assert_string_equal(yyjson_get_str(at(doc, "/checkpoints/0/operators/0/keeps/0")), "sum(v)");
    assert_int_equal(yyjson_get_int(at(doc, "/checkpoints/0/states/0/rows/0/count")), 5);
    assert_string_equal(yyjson_get_str(at(doc, "/checkpoints/0/states/0/files/0/name")),
                        "state/a.log");
    assert_null(yyjson_doc_ptr_get(doc, "/checkpoints/0/faults"));
    yyjson_doc_free(doc);
    char *text = run(&fixture, ARGV("show", "8"), WEIR_EXIT_OK);
    assert_non_null(strstr(text, "at 2023-11-14T22:13:20Z\n"));
    assert_non_null(strstr(text, "    aggregate → t: 5 rows\n"));
    free(text);
    text = run(&fixture, ARGV("show", "9", "--json"), WEIR_EXIT_REFUSED);
    assert_string_equal(text, "");
    free(text);
    fixture_deinit(&fixture);
}

static void test_checkpoints_verify(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    write_store(&fixture);
    yyjson_doc *doc = run_json(&fixture, ARGV("verify", "7", "--json"), WEIR_EXIT_OK, 1);
    assert_int_equal(yyjson_arr_size(at(doc, "/checkpoints/0/faults")), 0);
    yyjson_doc_free(doc);
    fixture_file(&fixture, "/store/flights/0/state/a.log", "01234");
    doc = run_json(&fixture, ARGV("verify", "--json"), WEIR_EXIT_FAILED, 2);
    assert_int_equal(yyjson_arr_size(at(doc, "/checkpoints/0/faults")), 0);
    assert_int_equal(yyjson_arr_size(at(doc, "/checkpoints/1/faults")), 1);
    assert_non_null(strstr(yyjson_get_str(at(doc, "/checkpoints/1/faults/0")), "state/a.log"));
    yyjson_doc_free(doc);
    // A manifest that cannot be read is listed, and says why.
    char *name =
        weir_arena_printf(fixture.arena, "ls %s/store/flights/0/ | grep 8", fixture.root_dir);
    FILE *pipe = popen(name, "r");
    char file[256] = "";
    assert_non_null(fgets(file, sizeof file, pipe));
    pclose(pipe);
    file[strcspn(file, "\n")] = '\0';
    fixture_file(&fixture, weir_arena_printf(fixture.arena, "/store/flights/0/%s", file), "x");
    doc = run_json(&fixture, ARGV("list", "--json"), WEIR_EXIT_OK, 2);
    assert_int_equal(yyjson_arr_size(at(doc, "/checkpoints/1/faults")), 1);
    assert_null(yyjson_doc_ptr_get(doc, "/checkpoints/1/kind"));
    yyjson_doc_free(doc);
    fixture_deinit(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoints_list),
        cmocka_unit_test(test_checkpoints_show),
        cmocka_unit_test(test_checkpoints_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
