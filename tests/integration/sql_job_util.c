// SPDX-License-Identifier: Apache-2.0
// See sql_job_util.h.
#include "tests/integration/sql_job_util.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

enum {
    RUN_TIMEOUT_MS = 90000,
    SETTLED_TIMEOUT_MS = 10000,
    FEED_MAX = 4000,
    FILES_MAX = 256,
};

struct sql_job *sql_job_create(const char *bootstrap, const char *name, const char *sql)
{
    struct sql_job *job = weir_test_alloc(sizeof *job);
    const char *dir = weir_test_dir_create(name);
    *job = (struct sql_job){.bootstrap = bootstrap,
                            .name = name,
                            .dir = dir,
                            .store_dir = weir_test_format("%s/store", dir),
                            .sql_path = weir_test_format("%s/job.sql", dir)};
    if (sql != NULL) {
        sql_job_set_sql(job, sql);
    }
    return job;
}

void sql_job_set_sql(struct sql_job *job, const char *sql)
{
    FILE *file = fopen(job->sql_path, "w");
    assert_non_null(file);
    for (const char *c = sql; *c != '\0'; c++) {
        if (*c == '$') {
            fputs(job->name, file);
        } else {
            fputc(*c, file);
        }
    }
    fclose(file);
}

// --- topics --------------------------------------------------------------------------------------

const char *sql_job_topic(const struct sql_job *job, const char *suffix)
{
    return weir_test_format("%s-%s", job->name, suffix);
}

void sql_job_topic_create(const struct sql_job *job, const char *suffix, int32_t partition_count)
{
    weir_test_topic_create(job->bootstrap, sql_job_topic(job, suffix), partition_count, NULL);
}

void sql_job_feed(const struct sql_job *job, const char *suffix, int32_t partition,
                  const char *value)
{
    struct weir_test_record record = weir_test_record_of(partition, NULL, value);
    weir_test_produce(job->bootstrap, sql_job_topic(job, suffix), &record, 1);
}

void sql_job_feed_keyed(const struct sql_job *job, const char *suffix, const char *key,
                        const char *value)
{
    struct weir_test_record record = weir_test_record_of(-1, key, value);
    weir_test_produce(job->bootstrap, sql_job_topic(job, suffix), &record, 1);
}

void sql_job_feed_each(const struct sql_job *job, const char *suffix, int64_t first, int64_t count,
                       struct weir_test_record (*make)(const void *context, int64_t n),
                       const void *context)
{
    assert_true(count > 0);
    struct weir_test_record *records = weir_test_alloc((size_t)count * sizeof *records);
    for (int64_t i = 0; i < count; i++) {
        records[i] = make(context, first + i);
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, suffix), records, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        free((void *)records[i].key);
        free((void *)records[i].value);
    }
    free(records);
}

static struct weir_test_record number_record(const void *context, int64_t n)
{
    const int32_t *partition = context;
    return weir_test_record_of(*partition, NULL, weir_test_format("{\"n\":%" PRId64 "}", n));
}

void sql_job_feed_numbers(const struct sql_job *job, const char *suffix, int32_t partition,
                          int first, int count)
{
    assert_in_range(count, 1, FEED_MAX);
    sql_job_feed_each(job, suffix, first, count, number_record, &partition);
}

char *sql_job_text(const struct weir_test_record *record)
{
    if (record->value == NULL) {
        return weir_test_format("∅");
    }
    return weir_test_format("%.*s", (int)record->value_bytes, (const char *)record->value);
}

// Is a transaction still open there? A commit returns before its markers are written.
static bool is_settled(const struct sql_job *job, const char *topic)
{
    int32_t count = weir_test_topic_partition_count(job->bootstrap, topic);
    for (int32_t p = 0; p < count; p++) {
        if (weir_test_topic_stable_offset(job->bootstrap, topic, p) <
            weir_test_topic_end_offset(job->bootstrap, topic, p)) {
            return false;
        }
    }
    return true;
}

struct weir_test_log *sql_job_read(const struct sql_job *job, const char *suffix)
{
    const char *topic = sql_job_topic(job, suffix);
    int64_t deadline_ms = weir_test_now_ms() + SETTLED_TIMEOUT_MS;
    while (!is_settled(job, topic) && weir_test_now_ms() < deadline_ms) {
        weir_test_sleep_ms(20);
    }
    return weir_test_read(job->bootstrap, topic, NULL);
}

void sql_job_wait_count(const struct sql_job *job, const char *suffix, size_t count)
{
    const char *topic = sql_job_topic(job, suffix);
    struct weir_test_log *log = weir_test_read_count(job->bootstrap, topic, count, 60000);
    if (log->record_count != count) {
        WEIR_TEST_FAIL("%s: %zu records instead of %zu", topic, log->record_count, count);
    }
    weir_test_log_destroy(log);
}

void sql_job_expect_values(const struct sql_job *job, const char *suffix, int32_t partition,
                           const char *const *values)
{
    const char *topic = sql_job_topic(job, suffix);
    struct weir_test_log *log = sql_job_read(job, suffix);
    assert_in_range(partition, 0, log->partition_count - 1);
    const struct weir_test_log_partition *found = &log->partitions[partition];
    size_t count = 0;
    for (; values[count] != NULL && count < found->record_count; count++) {
        if (!weir_test_value_is(&found->records[count], values[count])) {
            WEIR_TEST_FAIL("%s partition %d: row %zu is\n%s\ninstead of\n%s", topic, partition,
                           count, sql_job_text(&found->records[count]), values[count]);
        }
    }
    if (values[count] != NULL) {
        WEIR_TEST_FAIL("%s partition %d: row %zu is missing: %s", topic, partition, count,
                       values[count]);
    }
    if (count < found->record_count) {
        WEIR_TEST_FAIL("%s partition %d: row %zu is one too many: %s", topic, partition, count,
                       sql_job_text(&found->records[count]));
    }
    weir_test_log_destroy(log);
}

void sql_job_expect_last(const struct sql_job *job, const char *suffix, int k, const char *value)
{
    struct weir_test_log *log = sql_job_read(job, suffix);
    const char *last = "nothing";
    const char *begin = weir_test_format("{\"k\":%d,", k);
    for (size_t i = 0; i < log->partitions[0].record_count; i++) {
        const char *text = sql_job_text(&log->partitions[0].records[i]);
        last = strncmp(text, begin, strlen(begin)) == 0 ? text : last;
    }
    assert_string_equal(last, value);
    weir_test_log_destroy(log);
}

void sql_job_expect_numbers(const struct sql_job *job, const char *suffix, int32_t partition,
                            int first, int count)
{
    const char **values = weir_test_alloc(((size_t)count + 1) * sizeof *values);
    for (int i = 0; i < count; i++) {
        values[i] = weir_test_format("{\"n\":%d}", first + i);
    }
    sql_job_expect_values(job, suffix, partition, values);
    free(values);
}

// --- processes -----------------------------------------------------------------------------------

// "NAME=value" of `extra` takes the place of a default of that name.
static bool is_overridden(const char *setting, const char *const *extra)
{
    size_t size = strcspn(setting, "=") + 1;
    for (size_t i = 0; extra != NULL && extra[i] != NULL; i++) {
        if (strncmp(setting, extra[i], size) == 0) {
            return true;
        }
    }
    return false;
}

struct weir_test_process *sql_job_start_command(struct sql_job *job, const char *const *words,
                                                const char *const *extra)
{
    const char *defaults[] = {
        weir_test_format("WEIR_SQL_FILE=%s", job->sql_path),
        weir_test_format("WEIR_JOB_ID=%s", job->name),
        weir_test_format("WEIR_STATE_DIR=%s/state", job->dir),
        weir_test_format("WEIR_CHECKPOINT_DIR=%s", job->store_dir),
        weir_test_format("WEIR_KAFKA_BOOTSTRAP_SERVERS=%s", job->bootstrap),
        "WEIR_CHECKPOINT_INTERVAL=100ms",
        "WEIR_PARALLELISM=2",
        "WEIR_LOG_LEVEL=debug",
        "WEIR_HTTP_LISTEN=",
        "ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1",
    };
    const char *environment[64];
    size_t count = 0;
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (!is_overridden(defaults[i], extra)) {
            environment[count++] = defaults[i];
        }
    }
    for (size_t i = 0; extra != NULL && extra[i] != NULL; i++) {
        environment[count++] = extra[i];
    }
    environment[count] = NULL;
    const char *argv[16] = {WEIR_TEST_PROGRAM};
    for (size_t i = 0; words[i] != NULL; i++) {
        assert_in_range(i, 0, 13);
        argv[i + 1] = words[i];
    }
    return weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv,
        .environment = environment,
        .is_environment_empty = true, // WEIR_TEST_… is for the tests
        .log_path = weir_test_format("%s/run-%03d.log", job->dir, job->start_count++),
    });
}

struct weir_test_process *sql_job_start(struct sql_job *job, const char *const *extra)
{
    return sql_job_start_command(job, SQL_JOB_TEXTS("run"), extra);
}

const char *sql_job_run_command(struct sql_job *job, const char *const *words,
                                const char *const *extra, int code, const char *const *texts)
{
    return sql_job_expect_exit(sql_job_start_command(job, words, extra), code, texts);
}

void sql_job_wait_running(struct weir_test_process *process)
{
    if (!weir_test_process_wait_text(process, " is running: ", RUN_TIMEOUT_MS, NULL)) {
        WEIR_TEST_FAIL("it does not run:\n%s", weir_test_process_output(process));
    }
}

const char *sql_job_expect_exit(struct weir_test_process *process, int code,
                                const char *const *texts)
{
    struct weir_test_exit how;
    if (!weir_test_process_wait(process, RUN_TIMEOUT_MS, &how)) {
        WEIR_TEST_FAIL("it does not end:\n%s", weir_test_process_output(process));
    }
    const char *output = weir_test_process_output(process);
    if (how.is_signalled != (code < 0) || how.code != abs(code)) {
        WEIR_TEST_FAIL("ended with %s %d instead of %d:\n%s", how.is_signalled ? "signal" : "code",
                       how.code, code, output);
    }
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        if (strstr(output, texts[i]) == NULL) {
            WEIR_TEST_FAIL("it does not say \"%s\":\n%s", texts[i], output);
        }
    }
    weir_test_process_destroy(process);
    return output;
}

const char *sql_job_run(struct sql_job *job, const char *const *extra, int code,
                        const char *const *texts)
{
    return sql_job_expect_exit(sql_job_start(job, extra), code, texts);
}

const char *sql_job_run_bounded(struct sql_job *job)
{
    return sql_job_run(job, SQL_JOB_BOUNDED, 0, NULL);
}

void sql_job_stop(struct weir_test_process *process)
{
    weir_test_process_signal(process, SIGTERM);
    sql_job_expect_exit(process, 0, NULL);
}

void sql_job_kill(struct weir_test_process *process)
{
    weir_test_process_kill(process);
    weir_test_process_destroy(process);
}

// --- keyed results -------------------------------------------------------------------------------

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

char *sql_job_compacted(const struct sql_job *job, const char *suffix)
{
    enum { KEYS_MAX = 256 };
    char *keys[KEYS_MAX];
    char *values[KEYS_MAX];
    size_t count = 0;
    struct weir_test_log *log = sql_job_read(job, suffix);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            char *key = weir_test_format("%.*s", (int)record->key_bytes, (const char *)record->key);
            size_t idx = 0;
            while (idx < count && strcmp(keys[idx], key) != 0) {
                idx++;
            }
            assert_in_range(idx, 0, KEYS_MAX - 1);
            count = idx == count ? count + 1 : count;
            keys[idx] = key;
            values[idx] = record->value == NULL ? NULL : sql_job_text(record);
        }
    }
    weir_test_log_destroy(log);
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] != NULL) {
            values[left++] = values[i];
        }
    }
    qsort(values, left, sizeof *values, compare_texts);
    char *text = weir_test_format("%s", "");
    for (size_t i = 0; i < left; i++) {
        text = weir_test_format("%s%s\n", text, values[i]);
    }
    return text;
}

// --- what it leaves behind -----------------------------------------------------------------------

int64_t sql_job_committed(const struct sql_job *job, const char *suffix, int32_t partition)
{
    int32_t count;
    struct weir_test_committed *committed = weir_test_group_committed(
        job->bootstrap, job->name, sql_job_topic(job, suffix), false, &count);
    assert_in_range(partition, 0, count - 1);
    int64_t offset = committed[partition].offset;
    weir_test_committed_destroy(committed, count);
    return offset;
}

// The greatest number and its manifest's attempt.
static long long read_pointer(const struct sql_job *job, const char *suffix, char attempt[17])
{
    int32_t count;
    struct weir_test_committed *committed = weir_test_group_committed(
        job->bootstrap, job->name, sql_job_topic(job, suffix), false, &count);
    long long greatest = -1;
    for (int32_t i = 0; i < count; i++) {
        long long number = -1;
        char found[17];
        if (sscanf(committed[i].metadata, "w1:%lld:%16[0-9a-f]", &number, found) == 2 &&
            number > greatest) {
            greatest = number;
            memcpy(attempt, found, sizeof found);
        }
    }
    weir_test_committed_destroy(committed, count);
    return greatest;
}

long long sql_job_pointer(const struct sql_job *job, const char *suffix)
{
    char attempt[17];
    return read_pointer(job, suffix, attempt);
}

char **sql_job_files(const struct sql_job *job, const char *prefix)
{
    char **paths = weir_test_alloc((FILES_MAX + 1) * sizeof *paths);
    size_t count = 0;
    char *folder = weir_test_format("%s/%s/0", job->store_dir, job->name);
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; open_folder != NULL && (entry = readdir(open_folder)) != NULL;) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            assert_in_range(count, 0, FILES_MAX - 1);
            paths[count++] = weir_test_format("%s/%s", folder, entry->d_name);
        }
    }
    if (open_folder != NULL) {
        closedir(open_folder);
    }
    free(folder);
    qsort(paths, count, sizeof *paths, compare_texts);
    return paths;
}

char **sql_job_manifests(const struct sql_job *job)
{
    return sql_job_files(job, "manifest-");
}

char *sql_job_pointed_manifest(const struct sql_job *job, const char *suffix)
{
    char attempt[17] = "";
    long long number = read_pointer(job, suffix, attempt);
    assert_true(number >= 0);
    return weir_test_format("%s/%s/0/manifest-%020lld-%s.json", job->store_dir, job->name, number,
                            attempt);
}

char *sql_job_store_print(const struct sql_job *job)
{
    char *text = weir_test_format("%s", "");
    char **paths = sql_job_files(job, "");
    for (size_t i = 0; paths[i] != NULL; i++) {
        size_t bytes = 0;
        char *content = weir_test_read_file(paths[i], &bytes);
        struct stat info;
        assert_int_equal(stat(paths[i], &info), 0);
        char *longer = weir_test_format("%s%s %zu bytes, crc %08lx, at %lld.%09ld\n", text,
                                        strrchr(paths[i], '/') + 1, bytes,
                                        crc32_z(0, (const unsigned char *)content, bytes),
                                        (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
        free(content);
        free(text);
        text = longer;
    }
    return text;
}

// Committed offsets of every partition that the group knows of "in", and the ends of "out".
static char *kafka_print(const struct sql_job *job)
{
    char *text = weir_test_format("%s", "");
    const char *in = sql_job_topic(job, "in");
    const char *out = sql_job_topic(job, "out");
    if (weir_test_topic_partition_count(job->bootstrap, in) > 0) {
        int32_t count;
        struct weir_test_committed *committed =
            weir_test_group_committed(job->bootstrap, job->name, in, false, &count);
        for (int32_t i = 0; i < count; i++) {
            text = weir_test_format("%sin %d: %" PRId64 " %s\n", text, i, committed[i].offset,
                                    committed[i].metadata);
        }
        weir_test_committed_destroy(committed, count);
    }
    int32_t out_count = weir_test_topic_partition_count(job->bootstrap, out);
    for (int32_t i = 0; i < out_count; i++) {
        text = weir_test_format("%sout %d: %" PRId64 "\n", text, i,
                                weir_test_topic_end_offset(job->bootstrap, out, i));
    }
    return text;
}

const char *sql_job_expect_refused(struct sql_job *job, const char *const *extra,
                                   const char *const *texts)
{
    return sql_job_expect_untouched(job, SQL_JOB_TEXTS("run"), extra, 2, texts);
}

const char *sql_job_expect_untouched(struct sql_job *job, const char *const *words,
                                     const char *const *extra, int code, const char *const *texts)
{
    char *store_before = sql_job_store_print(job);
    char *kafka_before = kafka_print(job);
    const char *output = sql_job_run_command(job, words, extra, code, texts);
    assert_string_equal(sql_job_store_print(job), store_before);
    assert_string_equal(kafka_print(job), kafka_before);
    return output;
}
