// SPDX-License-Identifier: Apache-2.0
// A manifest that was written is read back whole; one that was touched is named and refused.
#include "runtime/base/clock.h"
#include "runtime/manifest.h"

#include "tests/unit/cmocka_all.h"

static const struct weir_manifest_position positions[] = {
    {.entry = {.table = "flights \"x\"",
               .topic = "in",
               .partition = 3,
               .offset = INT64_MAX,
               .end_offset = -1,
               .last_offset = 41,
               .last_timestamp_ms = 1357016400000,
               .last_crc32 = UINT32_MAX},
     .topic_id = "t1"},
    {.entry = {.table = "u", .topic = "in2", .last_offset = -1}, .topic_id = ""},
};

static const struct weir_state_file files[] = {
    {.name = "state/a.sst", .size_bytes = 5, .xxh3 = UINT64_MAX, .is_materialised = true},
    {.name = "state/b.log", .size_bytes = 6, .xxh3 = 7, .number = 42},
};

static const struct weir_state_rows rows[] = {{.operator_id = "o", .count = INT64_MAX}};

static const struct weir_state_handle states[] = {
    {.stage = "s",
     .key_groups = {.first = 64, .count = 64},
     .file_count = 2,
     .files = files,
     .rows_count = 1,
     .rows = rows},
};

static const struct weir_manifest_slot slots[] = {
    {.number = 3, .what = "sum(\"x y\")", .argument = "bigint", .form = "wide"},
    {.number = 0, .what = "count(*)", .argument = "", .form = "count"},
};

// Of an aggregate, of one that has keys only, of a table.
static const struct weir_manifest_operator operators[] = {
    {.stage = "s",
     .id = "o",
     .name = "aggregate → t",
     .layout = "l",
     .has_slots = true,
     .slot_count = 2,
     .slots = slots},
    {.stage = "s", .id = "p", .name = "n", .layout = "l", .has_slots = true},
    {.stage = "s", .id = "q", .name = "n", .layout = "l"},
};

static void encode_with(const struct weir_operator_state_part *parts, uint32_t part_count,
                        struct weir_buffer *out)
{
    struct weir_manifest manifest = {
        .number = 42,
        .attempt = {.text = "0123456789abcdef"},
        .job_id = "job",
        .instance_id = 0,
        .cluster_id = "cluster",
        .kind = "checkpoint",
        .restore = "auto",
        .weir_version = "1",
        .created_ms = 1700000000000,
        .parallelism = 2,
        .position_count = 2,
        .positions = positions,
        .state_count = 1,
        .states = states,
        .operator_count = 3,
        .operators = operators,
        .operator_state_count = part_count,
        .operator_states = parts,
    };
    weir_manifest_encode(&manifest, out);
}

static void encode(struct weir_buffer *out)
{
    encode_with(NULL, 0, out);
}

static enum weir_status decode(struct weir_view bytes, struct weir_arena *arena,
                               struct weir_manifest *manifest, struct weir_error *error)
{
    // A copy of exactly that size, so that a read past the end is one.
    char *copy = weir_alloc(bytes.size_bytes);
    memcpy(copy, bytes.data, bytes.size_bytes);
    enum weir_status status = weir_manifest_decode(
        "m.json", (struct weir_view){.data = copy, .size_bytes = bytes.size_bytes}, arena, manifest,
        error);
    free(copy);
    return status;
}

static void test_manifest_round_trip(void **state)
{
    (void)state;
    struct weir_buffer bytes = {0};
    encode(&bytes);
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_manifest manifest;
    struct weir_error error = {.text = ""};
    struct weir_view view = {.data = bytes.data, .size_bytes = bytes.size_bytes};
    if (decode(view, arena, &manifest, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(manifest.number, 42);
    assert_string_equal(manifest.attempt.text, "0123456789abcdef");
    assert_string_equal(manifest.cluster_id, "cluster");
    assert_int_equal(manifest.position_count, 2);
    const struct weir_position_entry *entry = &manifest.positions[0].entry;
    assert_string_equal(entry->table, "flights \"x\"");
    assert_int_equal(entry->offset, INT64_MAX);
    assert_int_equal(entry->end_offset, -1);
    assert_int_equal(entry->last_crc32, UINT32_MAX);
    assert_string_equal(manifest.positions[0].topic_id, "t1");
    assert_int_equal(manifest.state_count, 1);
    assert_int_equal(manifest.states[0].key_groups.first, 64);
    assert_true(manifest.states[0].files[0].xxh3 == UINT64_MAX);
    assert_true(manifest.states[0].files[0].is_materialised);
    assert_string_equal(manifest.states[0].files[1].name, "state/b.log");
    assert_int_equal(manifest.states[0].files[1].number, 42);
    assert_int_equal(manifest.states[0].rows_count, 1);
    assert_string_equal(manifest.states[0].rows[0].operator_id, "o");
    assert_int_equal(manifest.states[0].rows[0].count, INT64_MAX);
    assert_int_equal(manifest.operator_count, 3);
    assert_true(manifest.operators[0].has_slots);
    assert_int_equal(manifest.operators[0].slot_count, 2);
    assert_int_equal(manifest.operators[0].slots[0].number, 3);
    assert_string_equal(manifest.operators[0].slots[0].what, "sum(\"x y\")");
    assert_string_equal(manifest.operators[0].slots[0].argument, "bigint");
    assert_string_equal(manifest.operators[0].slots[1].form, "count");
    assert_true(manifest.operators[1].has_slots);
    assert_int_equal(manifest.operators[1].slot_count, 0);
    assert_false(manifest.operators[2].has_slots);
    weir_arena_destroy(arena);
    weir_buffer_deinit(&bytes);
}

static void test_manifest_every_flipped_byte_and_every_cut_is_refused(void **state)
{
    (void)state;
    struct weir_buffer bytes = {0};
    encode(&bytes);
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_manifest manifest;
    struct weir_error error;
    for (size_t i = 0; i < bytes.size_bytes; i++) {
        bytes.data[i] ^= 0x20;
        struct weir_view view = {.data = bytes.data, .size_bytes = bytes.size_bytes};
        // Upper and lower case of the checksum's hex digits mean the same; nothing else does.
        bool is_hex_letter =
            i < 64 && (bytes.data[i] | 0x20) >= 'a' && (bytes.data[i] | 0x20) <= 'f';
        if (decode(view, arena, &manifest, &error) == WEIR_OK && !is_hex_letter) {
            fail_msg("byte %zu flipped, and it was taken", i);
        }
        bytes.data[i] ^= 0x20;
        weir_arena_reset(arena);
    }
    for (size_t size = 0; size < bytes.size_bytes; size++) {
        struct weir_view view = {.data = bytes.data, .size_bytes = size};
        assert_int_equal(decode(view, arena, &manifest, &error), WEIR_ERROR);
        assert_non_null(strstr(error.text, "m.json is damaged"));
        assert_int_equal(error.action, WEIR_ACTION_REFUSE);
        weir_arena_reset(arena);
    }
    weir_arena_destroy(arena);
    weir_buffer_deinit(&bytes);
}

static void test_manifest_of_a_newer_format_says_so(void **state)
{
    (void)state;
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_manifest manifest;
    struct weir_error error;
    struct weir_view view = weir_view_of("weir-manifest 99 whatever\n{}");
    assert_int_equal(decode(view, arena, &manifest, &error), WEIR_ERROR);
    assert_non_null(strstr(error.text, "written by a newer weir"));
    weir_arena_destroy(arena);
}

// A broadcast state can be one item as large as all may be. Reading it takes time for its bytes,
// not for the square of them, which would be half a minute of a start.
static void test_manifest_with_a_large_operator_state_is_read_at_once(void **state)
{
    (void)state;
    struct weir_buffer item = {0};
    for (uint32_t i = 0; i < WEIR_OPERATOR_STATE_BYTES_MAX; i++) {
        weir_buffer_append_char(&item, (char)(i * 7));
    }
    const struct weir_view items[] = {{.data = item.data, .size_bytes = item.size_bytes},
                                      {.data = "", .size_bytes = 0}};
    const struct weir_operator_state_part part = {.operator_id = "o",
                                                  .name = "rules",
                                                  .kind = WEIR_OPERATOR_STATE_RAW,
                                                  .task_count = 1,
                                                  .item_count = 2,
                                                  .items = items};
    struct weir_buffer bytes = {0};
    encode_with(&part, 1, &bytes);
    struct weir_arena *arena = weir_arena_create(4096);
    struct weir_manifest manifest;
    struct weir_error error;
    struct weir_view view = {.data = bytes.data, .size_bytes = bytes.size_bytes};
    int64_t before_us = weir_thread_cpu_us();
    assert_int_equal(decode(view, arena, &manifest, &error), WEIR_OK);
    assert_true(weir_thread_cpu_us() - before_us < 2000000);
    assert_int_equal(manifest.operator_state_count, 1);
    assert_int_equal(manifest.operator_states[0].item_count, 2);
    assert_true(weir_view_equal(manifest.operator_states[0].items[0], items[0]));
    assert_int_equal(manifest.operator_states[0].items[1].size_bytes, 0);
    weir_arena_destroy(arena);
    weir_buffer_deinit(&bytes);
    weir_buffer_deinit(&item);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manifest_round_trip),
        cmocka_unit_test(test_manifest_every_flipped_byte_and_every_cut_is_refused),
        cmocka_unit_test(test_manifest_of_a_newer_format_says_so),
        cmocka_unit_test(test_manifest_with_a_large_operator_state_is_read_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
