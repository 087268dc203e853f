// SPDX-License-Identifier: Apache-2.0
// See job_util.h. The expected rows are computed here from the record's number alone.
#include "tests/integration/job_util.h"

#include "tests/unit/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEED_BATCH = 2000 };

#define JOB_SQL \
    "CREATE TABLE input (n bigint NOT NULL, v int,\n" \
    "    part int GENERATED ALWAYS AS (kafka_partition()) STORED,\n" \
    "    off bigint GENERATED ALWAYS AS (kafka_offset()) STORED)\n" \
    "  WITH (topic = '%s-in', on_error = 'dead_letter', dead_letter_topic = '%s-dead');\n" \
    "CREATE TABLE all_rows (n bigint, part int, off bigint, q int) WITH (topic = '%s-all');\n" \
    "CREATE TABLE even_rows (n bigint, part int) WITH (topic = '%s-even', key = 'part');\n" \
    "INSERT INTO all_rows SELECT n, part, off, 100 / v FROM input;\n" \
    "INSERT INTO even_rows SELECT n, part FROM input WHERE n %% 2 = 0;\n"

static bool is_rubbish(int64_t n)
{
    return n % 100 == 7;
}

static bool divides_by_zero(int64_t n)
{
    return n % 100 == 13;
}

struct job *job_create(const char *bootstrap, const char *name)
{
    struct job *job = weir_test_alloc(sizeof *job);
    const char *dir = weir_test_dir_create(name);
    *job = (struct job){.bootstrap = bootstrap,
                        .name = name,
                        .dir = dir,
                        .store_dir = weir_test_format("%s/store", dir),
                        .sql_path = weir_test_format("%s/job.sql", dir)};
    FILE *sql = fopen(job->sql_path, "w");
    assert_non_null(sql);
    fprintf(sql, JOB_SQL, name, name, name, name);
    fclose(sql);
    const char *suffixes[] = {"in", "all", "even", "dead"};
    const int32_t counts[] = {JOB_PARTITIONS, JOB_PARTITIONS, JOB_EVEN_PARTITIONS, 2};
    for (int i = 0; i < 4; i++) {
        weir_test_topic_create(bootstrap, weir_test_format("%s-%s", name, suffixes[i]), counts[i], NULL);
    }
    return job;
}

static char *record_text(int64_t n)
{
    if (is_rubbish(n)) {
        return weir_test_format("{\"n\": %" PRId64 ", rubbish", n);
    }
    return weir_test_format("{\"n\": %" PRId64 ", \"v\": %d}", n, divides_by_zero(n) ? 0 : 5);
}

void job_feed(struct job *job, int64_t count)
{
    const char *topic = weir_test_format("%s-in", job->name);
    struct weir_test_record *records = weir_test_alloc(FEED_BATCH * sizeof *records);
    while (count > 0) {
        size_t batch = count < FEED_BATCH ? (size_t)count : FEED_BATCH;
        for (size_t i = 0; i < batch; i++) {
            int64_t n = job->fed_count + (int64_t)i;
            records[i] = weir_test_record_of((int32_t)(n % JOB_PARTITIONS), NULL, record_text(n));
        }
        weir_test_produce(job->bootstrap, topic, records, batch);
        for (size_t i = 0; i < batch; i++) {
            free((void *)records[i].value);
        }
        job->fed_count += (int64_t)batch;
        count -= (int64_t)batch;
    }
    free(records);
}

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

struct weir_test_process *job_start(struct job *job, bool own_state_dir, const char *const *extra)
{
    char *state_dir = own_state_dir ? weir_test_format("%s/state-%d", job->dir, job->start_count)
                                    : weir_test_format("%s/state", job->dir);
    const char *defaults[] = {
        weir_test_format("WEIR_SQL_FILE=%s", job->sql_path),
        weir_test_format("WEIR_JOB_ID=%s", job->name),
        weir_test_format("WEIR_STATE_DIR=%s", state_dir),
        weir_test_format("WEIR_CHECKPOINT_DIR=%s", job->store_dir),
        weir_test_format("WEIR_KAFKA_BOOTSTRAP_SERVERS=%s", job->bootstrap),
        "WEIR_CHECKPOINT_INTERVAL=100ms",
        "WEIR_PARALLELISM=2",
        "WEIR_LOG_LEVEL=debug",
        "WEIR_HTTP_LISTEN=",
        "ASAN_OPTIONS=abort_on_error=1",
        "TSAN_OPTIONS=halt_on_error=1",
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
    const char *argv[] = {WEIR_TEST_PROGRAM, "run", NULL};
    return weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv,
        .environment = environment,
        .is_environment_empty = true, // WEIR_TEST_… is for the tests
        .log_path = weir_test_format("%s/run-%03d.log", job->dir, job->start_count++),
    });
}

void job_finish(struct job *job)
{
    const char *extra[] = {"WEIR_BOUNDED=true", NULL};
    struct weir_test_process *process = job_start(job, false, extra);
    struct weir_test_exit how;
    if (!weir_test_process_wait(process, 120000, &how) || how.is_signalled || how.code != 0) {
        WEIR_TEST_FAIL("the last run did not end well:\n%s", weir_test_process_output(process));
    }
    weir_test_process_destroy(process);
}

// The n-th record of a partition that is expected to give a row.
struct expectation {
    int64_t next[JOB_PARTITIONS]; // by source partition: the next number to be seen
};

static void expect_begin(struct expectation *expectation)
{
    for (int p = 0; p < JOB_PARTITIONS; p++) {
        expectation->next[p] = p;
    }
}

// Takes the next number of that partition which `gives` a row, and compares.
static void expect_next(struct expectation *expectation, const char *topic, int32_t part, int64_t n,
                        int64_t fed_count, bool (*gives)(int64_t n))
{
    int64_t wanted = expectation->next[part];
    while (wanted < fed_count && !gives(wanted)) {
        wanted += JOB_PARTITIONS;
    }
    if (n != wanted) {
        WEIR_TEST_FAIL("%s: of source partition %d the next row is %" PRId64
                       ", it should be %" PRId64 " (%s)",
                       topic, part, n, wanted, n < wanted ? "twice or out of order" : "lost");
    }
    expectation->next[part] = n + JOB_PARTITIONS;
}

static void expect_end(struct expectation *expectation, const char *topic, int64_t fed_count,
                       bool (*gives)(int64_t n))
{
    for (int32_t p = 0; p < JOB_PARTITIONS; p++) {
        int64_t wanted = expectation->next[p];
        while (wanted < fed_count && !gives(wanted)) {
            wanted += JOB_PARTITIONS;
        }
        if (wanted < fed_count) {
            WEIR_TEST_FAIL("%s: of source partition %d row %" PRId64 " and what follows is lost",
                           topic, p, wanted);
        }
    }
}

static bool gives_row(int64_t n)
{
    return !is_rubbish(n) && !divides_by_zero(n);
}

static bool gives_even_row(int64_t n)
{
    return !is_rubbish(n) && n % 2 == 0;
}

static bool gives_dead_letter(int64_t n)
{
    return is_rubbish(n) || divides_by_zero(n);
}

static char *text_of(const struct weir_test_record *record)
{
    char *text = weir_test_alloc(record->value_bytes + 1);
    memcpy(text, record->value, record->value_bytes);
    text[record->value_bytes] = '\0';
    return text;
}

static void check_all(const struct job *job)
{
    const char *topic = weir_test_format("%s-all", job->name);
    struct weir_test_log *log = weir_test_read(job->bootstrap, topic, NULL);
    struct expectation expectation;
    expect_begin(&expectation);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = text_of(&log->partitions[p].records[i]);
            int64_t n = -1;
            int32_t part = -1;
            int64_t offset = -1;
            int q = -1;
            if (sscanf(text, "{\"n\":%" SCNd64 ",\"part\":%" SCNd32 ",\"off\":%" SCNd64 ",\"q\":%d}",
                       &n, &part, &offset, &q) != 4 ||
                part != p || offset != n / JOB_PARTITIONS || q != 20) {
                WEIR_TEST_FAIL("%s partition %d holds %s", topic, p, text);
            }
            expect_next(&expectation, topic, part, n, job->fed_count, gives_row);
            free(text);
        }
    }
    expect_end(&expectation, topic, job->fed_count, gives_row);
    weir_test_log_destroy(log);
}

static void check_even(const struct job *job)
{
    const char *topic = weir_test_format("%s-even", job->name);
    struct weir_test_log *log = weir_test_read(job->bootstrap, topic, NULL);
    struct expectation expectation;
    expect_begin(&expectation);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            char *text = text_of(&log->partitions[p].records[i]);
            int64_t n = -1;
            int32_t part = -1;
            if (sscanf(text, "{\"n\":%" SCNd64 ",\"part\":%" SCNd32 "}", &n, &part) != 2 ||
                n % JOB_PARTITIONS != part) {
                WEIR_TEST_FAIL("%s partition %d holds %s", topic, p, text);
            }
            expect_next(&expectation, topic, part, n, job->fed_count, gives_even_row);
            free(text);
        }
    }
    expect_end(&expectation, topic, job->fed_count, gives_even_row);
    weir_test_log_destroy(log);
}

static void check_dead(const struct job *job)
{
    const char *topic = weir_test_format("%s-dead", job->name);
    struct weir_test_log *log = weir_test_read(job->bootstrap, topic, NULL);
    struct expectation expectation;
    expect_begin(&expectation);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            char *text = text_of(record);
            int64_t n = -1;
            const struct weir_test_header *why = weir_test_record_header(record, "weir.error");
            if (sscanf(text, "{\"n\": %" SCNd64, &n) != 1 || why == NULL) {
                WEIR_TEST_FAIL("%s partition %d holds %s", topic, p, text);
            }
            char *original = record_text(n);
            if (strcmp(original, text) != 0 ||
                !weir_test_bytes_are(why->value, why->value_bytes,
                                     is_rubbish(n) ? "decode" : "expression")) {
                WEIR_TEST_FAIL("%s: the dead letter of %" PRId64 " is %s with error %.*s", topic, n,
                               text, (int)why->value_bytes, (const char *)why->value);
            }
            expect_next(&expectation, topic, (int32_t)(n % JOB_PARTITIONS), n, job->fed_count,
                        gives_dead_letter);
            free(original);
            free(text);
        }
    }
    expect_end(&expectation, topic, job->fed_count, gives_dead_letter);
    weir_test_log_destroy(log);
}

void job_check(const struct job *job)
{
    check_all(job);
    check_even(job);
    check_dead(job);
}
