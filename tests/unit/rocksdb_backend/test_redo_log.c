// SPDX-License-Identifier: Apache-2.0
// Redo logs: what was written is read; what is cut, of a newer format or simply no log is refused
// even when the manifest has its checksum.
#include "rocksdb_backend/cache.h"
#include "rocksdb_backend/files.h"
#include "rocksdb_backend/redo_log.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const struct weir_key_group_range range = {.first = 3, .count = 4};

struct fixture {
    char folder[64];
    struct weir_cache cache;
    struct weir_cached_state states[3];
    struct weir_state_file file;
    uint32_t entry_count; // seen
    uint64_t sum;
};

// Entries are told apart by state, key and value; their sum is that of what was written.
static uint64_t sum_of(uint64_t state_id, const struct weir_state_key *key, struct weir_view value)
{
    uint64_t sum = state_id * 31 + key->key_group;
    for (size_t i = 0; i < key->bytes.size_bytes; i++) {
        sum = sum * 131 + (unsigned char)key->bytes.data[i];
    }
    for (size_t i = 0; value.data != NULL && i < value.size_bytes; i++) {
        sum = sum * 137 + (unsigned char)value.data[i];
    }
    return value.data == NULL ? ~sum : sum * 3 + value.size_bytes;
}

static void count(void *context, uint64_t state_id, const struct weir_state_key *key,
                  struct weir_view value)
{
    struct fixture *fixture = context;
    fixture->entry_count++;
    fixture->sum += sum_of(state_id, key, value);
}

static enum weir_status read_log(struct fixture *fixture, struct weir_error *error)
{
    struct weir_buffer bytes = {0};
    fixture->entry_count = 0;
    fixture->sum = 0;
    enum weir_status status = weir_redo_log_read(fixture->folder, &fixture->file, "stage", range,
                                                 &bytes, count, fixture, error);
    weir_buffer_deinit(&bytes);
    return status;
}

static struct fixture *create(void)
{
    struct fixture *fixture = weir_alloc_zero(sizeof *fixture);
    snprintf(fixture->folder, sizeof fixture->folder, "/tmp/weir-log-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    weir_cache_init(&fixture->cache, range, (size_t)1 << 20);
    for (uint32_t i = 0; i < 3; i++) {
        weir_cache_add_state(&fixture->cache, &fixture->states[i], UINT64_MAX - i, true);
    }
    return fixture;
}

static void destroy(struct fixture *fixture)
{
    weir_cache_deinit(&fixture->cache);
    weir_folder_remove(fixture->folder);
    free(fixture);
}

// State 1 stays without changes. Returns the sum of all entries.
static uint64_t write_log(struct fixture *fixture, uint32_t entry_count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < entry_count; i++) {
        char bytes[8];
        memcpy(bytes, &i, sizeof i);
        struct weir_state_key key = {.key_group = (uint16_t)(range.first + i % range.count),
                                     .bytes = {bytes, i == 0 ? 0 : 4}};
        struct weir_cached_state *state = &fixture->states[i % 2 * 2];
        struct weir_group *group = weir_cache_group(&fixture->cache, state, key.key_group);
        uint32_t hash = weir_cache_hash(key.bytes);
        struct weir_view value = {.data = NULL};
        if (i % 7 == 3) {
            weir_cache_remove(&fixture->cache, state, group, NULL, hash, &key);
        } else {
            bool existed;
            value.size_bytes = i % 90;
            value.data = weir_version_data(weir_cache_write(&fixture->cache, state, group, NULL,
                                                            hash, &key, i % 90, &existed));
            memset((char *)value.data, (int)i, value.size_bytes);
            // Every other one as numbers that need few of their eight bytes: those are packed.
            for (size_t at = 0; i % 2 == 0 && at < value.size_bytes; at++) {
                if (at % 8 >= (at / 8 + i / 2) % 9) {
                    ((char *)value.data)[at] = 0;
                }
            }
        }
        sum += sum_of(state->id, &key, value);
    }
    char name[] = "log";
    struct weir_error error;
    struct weir_frozen_set *set = weir_cache_freeze(&fixture->cache, 9);
    if (weir_redo_log_write(set, "stage", range, fixture->folder, name, NULL, NULL,
                            &fixture->file.size_bytes, &fixture->file.xxh3, &error) != WEIR_OK) {
        fail_msg("%s", error.text);
    }
    fixture->file.name = "log";
    fixture->file.number = 9;
    return sum;
}

static void test_redo_log_is_read_as_written(void **state)
{
    (void)state;
    static const uint32_t entry_counts[] = {1, 2, 100, 50000}; // the last over several blocks
    for (size_t i = 0; i < sizeof entry_counts / sizeof *entry_counts; i++) {
        struct fixture *fixture = create();
        uint64_t sum = write_log(fixture, entry_counts[i]);
        struct weir_error error;
        assert_int_equal(weir_file_verify(fixture->folder, &fixture->file, &error), WEIR_OK);
        assert_int_equal(read_log(fixture, &error), WEIR_OK);
        assert_int_equal(fixture->entry_count, entry_counts[i]);
        assert_int_equal(fixture->sum, sum);
        destroy(fixture);
    }
}

// Writes other bytes under the name, with the checksum that is theirs.
static void put_file(struct fixture *fixture, const char *bytes, size_t size_bytes)
{
    char path[128];
    snprintf(path, sizeof path, "%s/log", fixture->folder);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    fclose(file);
    struct weir_error error;
    assert_int_equal(weir_file_digest(fixture->folder, "log", &fixture->file.size_bytes,
                                      &fixture->file.xxh3, &error),
                     WEIR_OK);
}

static void test_redo_log_refuses_what_is_none(void **state)
{
    (void)state;
    struct fixture *fixture = create();
    write_log(fixture, 100);
    char path[128];
    char bytes[16384];
    snprintf(path, sizeof path, "%s/log", fixture->folder);
    FILE *file = fopen(path, "rb");
    size_t size_bytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct weir_error error;

    // Cut at every place.
    for (size_t i = 0; i < size_bytes; i += 1 + i / 50) {
        put_file(fixture, bytes, i);
        assert_int_equal(read_log(fixture, &error), WEIR_ERROR);
        assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    }
    bytes[8]++;
    put_file(fixture, bytes, size_bytes);
    assert_int_equal(read_log(fixture, &error), WEIR_ERROR);
    assert_non_null(strstr(error.text, "log has format 3; this weir knows formats up to 2"));
    bytes[8]--;
    bytes[0] = 'x';
    put_file(fixture, bytes, size_bytes);
    assert_int_equal(read_log(fixture, &error), WEIR_ERROR);
    assert_non_null(strstr(error.text, "no redo log"));
    bytes[0] = 'w';
    put_file(fixture, bytes, size_bytes);
    assert_int_equal(read_log(fixture, &error), WEIR_OK);
    fixture->file.size_bytes--; // as the manifest has it
    assert_int_equal(read_log(fixture, &error), WEIR_ERROR);
    assert_int_equal(error.action, WEIR_ACTION_REFUSE);
    assert_non_null(strstr(error.text, "log is damaged: expected "));
    destroy(fixture);
}

// With every checksum right, as only a fault of weir's own can leave it.
static void test_redo_log_refuses_entries_of_other_key_groups(void **state)
{
    (void)state;
    enum { KEY_GROUP_AT = 8 + 4 + 2 + 2 + 8 + 8 + 4 + 4 + 5 /* the head, with "stage" */ + 8 + 8 };
    struct fixture *fixture = create();
    write_log(fixture, 1);
    char path[128];
    char bytes[1024];
    snprintf(path, sizeof path, "%s/log", fixture->folder);
    FILE *file = fopen(path, "rb");
    size_t size_bytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (int i = -1; i <= range.count; i++) {
        bool is_own = i >= 0 && i < range.count;
        struct weir_error error;
        bytes[KEY_GROUP_AT] = (char)(range.first + i);
        uint64_t digest = XXH3_64bits(bytes, size_bytes - sizeof digest);
        memcpy(bytes + size_bytes - sizeof digest, &digest, sizeof digest);
        put_file(fixture, bytes, size_bytes);
        assert_int_equal(read_log(fixture, &error), is_own ? WEIR_OK : WEIR_ERROR);
    }
    destroy(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_redo_log_is_read_as_written),
        cmocka_unit_test(test_redo_log_refuses_what_is_none),
        cmocka_unit_test(test_redo_log_refuses_entries_of_other_key_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
