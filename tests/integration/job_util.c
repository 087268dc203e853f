// SPDX-License-Identifier: Apache-2.0
// See job_util.h. The expected rows are computed here from the record's number alone.
#include "tests/integration/job_util.h"

#include "tests/unit/cmocka_all.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FEED_BATCH = 2000, JOB_HANDLES = 4, JOB_START_MS_MAX = 60000, MARKERS_MS_MAX = 5000 };

#define JOB_SQL                                                                                    \
    "CREATE TABLE input (n bigint NOT NULL, v int,\n"                                              \
    "    part int GENERATED ALWAYS AS (kafka_partition()) STORED,\n"                               \
    "    off bigint GENERATED ALWAYS AS (kafka_offset()) STORED)\n"                                \
    "  WITH (topic = '%s-in', on_error = 'dead_letter', dead_letter_topic = '%s-dead');\n"         \
    "CREATE TABLE all_rows (n bigint, part int, off bigint, q int) WITH (topic = '%s-all');\n"     \
    "CREATE TABLE even_rows (n bigint, part int) WITH (topic = '%s-even', key = 'part');\n"        \
    "INSERT INTO all_rows SELECT n, part, off, 100 / v FROM input;\n"                              \
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
        weir_test_topic_create(bootstrap, weir_test_format("%s-%s", name, suffixes[i]), counts[i],
                               NULL);
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

// What one output topic must hold, and the first thing that is wrong with it.
struct check {
    const struct job *job;
    char *topic;
    bool (*gives)(int64_t n);     // does record n give a row here?
    int64_t next[JOB_PARTITIONS]; // by source partition: the next number to be seen
    char *fault;                  // NULL: none so far
};

// Notes the first fault and returns false.
static bool note(struct check *check, char *fault)
{
    if (check->fault == NULL) {
        check->fault = fault;
    } else {
        free(fault);
    }
    return false;
}

static int64_t next_wanted(const struct check *check, int32_t part)
{
    int64_t wanted = check->next[part];
    while (wanted < check->job->fed_count && !check->gives(wanted)) {
        wanted += JOB_PARTITIONS;
    }
    return wanted;
}

// Takes the next number of that source partition which gives a row, and compares.
static bool expect_next(struct check *check, int32_t part, int64_t n)
{
    int64_t wanted = next_wanted(check, part);
    if (n != wanted) {
        return note(check, weir_test_format("%s: of source partition %d the next row is %" PRId64
                                            ", it should be %" PRId64 " (%s)",
                                            check->topic, part, n, wanted,
                                            n < wanted ? "twice or out of order" : "lost"));
    }
    check->next[part] = n + JOB_PARTITIONS;
    return true;
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

static bool look_at_row(struct check *check, int32_t partition, const char *text,
                        const struct weir_test_record *record)
{
    (void)record;
    int64_t n = -1;
    int32_t part = -1;
    int64_t offset = -1;
    int q = -1;
    if (sscanf(text, "{\"n\":%" SCNd64 ",\"part\":%" SCNd32 ",\"off\":%" SCNd64 ",\"q\":%d}", &n,
               &part, &offset, &q) != 4 ||
        part != partition || n % JOB_PARTITIONS != part || offset != n / JOB_PARTITIONS ||
        q != 20) {
        return note(check,
                    weir_test_format("%s partition %d holds %s", check->topic, partition, text));
    }
    return expect_next(check, part, n);
}

static bool look_at_even_row(struct check *check, int32_t partition, const char *text,
                             const struct weir_test_record *record)
{
    (void)record;
    int64_t n = -1;
    int32_t part = -1;
    if (sscanf(text, "{\"n\":%" SCNd64 ",\"part\":%" SCNd32 "}", &n, &part) != 2 || n < 0 ||
        n % JOB_PARTITIONS != part) {
        return note(check,
                    weir_test_format("%s partition %d holds %s", check->topic, partition, text));
    }
    return expect_next(check, part, n);
}

static bool look_at_dead_letter(struct check *check, int32_t partition, const char *text,
                                const struct weir_test_record *record)
{
    int64_t n = -1;
    const struct weir_test_header *why = weir_test_record_header(record, "weir.error");
    if (sscanf(text, "{\"n\": %" SCNd64, &n) != 1 || n < 0 || why == NULL) {
        return note(check,
                    weir_test_format("%s partition %d holds %s", check->topic, partition, text));
    }
    char *original = record_text(n);
    bool is_right =
        strcmp(original, text) == 0 &&
        weir_test_bytes_are(why->value, why->value_bytes, is_rubbish(n) ? "decode" : "expression");
    free(original);
    if (!is_right) {
        return note(check,
                    weir_test_format("%s: the dead letter of %" PRId64 " is %s with error %.*s",
                                     check->topic, n, text, (int)why->value_bytes,
                                     (const char *)why->value));
    }
    return expect_next(check, (int32_t)(n % JOB_PARTITIONS), n);
}

// A broker answers a commit before its markers are written. Transactions that stay open (of a
// process that was killed) are not waited for beyond that.
static bool wait_for_markers(const struct job *job, const char *topic)
{
    bool is_stable = true;
    int64_t deadline_ms = weir_test_now_ms() + MARKERS_MS_MAX;
    int32_t count = weir_test_topic_partition_count(job->bootstrap, topic);
    for (int32_t p = 0; p < count; p++) {
        while (weir_test_topic_stable_offset(job->bootstrap, topic, p) <
                   weir_test_topic_end_offset(job->bootstrap, topic, p) &&
               weir_test_now_ms() < deadline_ms) {
            weir_test_sleep_ms(20);
        }
        is_stable = is_stable && weir_test_now_ms() < deadline_ms;
    }
    return is_stable;
}

// The first fault of one output topic, for free(); NULL: none.
static char *topic_fault(const struct job *job, const char *suffix, bool (*gives)(int64_t n),
                         bool (*look_at)(struct check *check, int32_t partition, const char *text,
                                         const struct weir_test_record *record))
{
    struct check check = {
        .job = job, .topic = weir_test_format("%s-%s", job->name, suffix), .gives = gives};
    for (int p = 0; p < JOB_PARTITIONS; p++) {
        check.next[p] = p;
    }
    bool is_stable = wait_for_markers(job, check.topic);
    struct weir_test_log *log = weir_test_read(job->bootstrap, check.topic, NULL);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; check.fault == NULL && i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            char *text =
                weir_test_format("%.*s", (int)record->value_bytes, (const char *)record->value);
            look_at(&check, p, text, record);
            free(text);
        }
    }
    weir_test_log_destroy(log);
    for (int32_t p = 0; check.fault == NULL && p < JOB_PARTITIONS; p++) {
        int64_t wanted = next_wanted(&check, p);
        if (wanted < job->fed_count) {
            note(&check, weir_test_format("%s: of source partition %d row %" PRId64
                                          " and what follows is lost%s",
                                          check.topic, p, wanted,
                                          is_stable ? "" : ", or behind a transaction left open"));
        }
    }
    free(check.topic);
    return check.fault;
}

char *job_fault(const struct job *job)
{
    char *fault = topic_fault(job, "all", gives_row, look_at_row);
    if (fault == NULL) {
        fault = topic_fault(job, "even", gives_even_row, look_at_even_row);
    }
    if (fault == NULL) {
        fault = topic_fault(job, "dead", gives_dead_letter, look_at_dead_letter);
    }
    return fault;
}

void job_check(const struct job *job)
{
    char *fault = job_fault(job);
    if (fault != NULL) {
        WEIR_TEST_FAIL("%s (the processes' logs: %s)", fault, job->dir);
    }
}

// --- what tests of faults need -------------------------------------------------------------------

void job_wait_running(struct weir_test_process *process)
{
    if (!weir_test_process_wait_text(process, " is running: ", JOB_START_MS_MAX, NULL)) {
        WEIR_TEST_FAIL("the job does not come to run:\n%s", weir_test_process_output(process));
    }
}

void job_expect_end(struct weir_test_process *process, int code, int timeout_ms, const char *text)
{
    struct weir_test_exit how;
    bool is_over = weir_test_process_wait(process, timeout_ms, &how);
    char *output = weir_test_process_output(process);
    if (!is_over) {
        WEIR_TEST_FAIL("did not end within %d ms:\n%s", timeout_ms, output);
    }
    if (how.is_signalled || how.code != code) {
        WEIR_TEST_FAIL("ended with %s %d instead of exit code %d:\n%s",
                       how.is_signalled ? "signal" : "exit code", how.code, code, output);
    }
    if (text != NULL && strstr(output, text) == NULL) {
        WEIR_TEST_FAIL("its log does not say \"%s\":\n%s", text, output);
    }
    free(output);
}

int job_count_text(struct weir_test_process *process, const char *text)
{
    char *output = weir_test_process_output(process);
    int count = 0;
    for (const char *at = strstr(output, text); at != NULL; at = strstr(at + 1, text)) {
        count++;
    }
    free(output);
    return count;
}

char *job_transactional_id(const struct job *job, int64_t epoch)
{
    return weir_test_format("%s-0-%d", job->name, (int)(epoch % JOB_HANDLES));
}

struct job_pointer job_pointer(const struct job *job)
{
    char *topic = weir_test_format("%s-in", job->name);
    int32_t count;
    struct weir_test_committed *committed =
        weir_test_group_committed(job->bootstrap, job->name, topic, true, &count);
    struct job_pointer greatest = {.number = -1};
    for (int32_t p = 0; p < count; p++) {
        struct job_pointer pointer = {.number = -1};
        if (committed[p].offset >= 0 &&
            sscanf(committed[p].metadata, "w1:%" SCNd64 ":%16[0-9a-f]:%16[0-9a-f]", &pointer.number,
                   pointer.manifest_attempt, pointer.owner_attempt) != 3) {
            WEIR_TEST_FAIL("%s partition %d has the pointer %s", topic, p, committed[p].metadata);
        }
        greatest = pointer.number > greatest.number ? pointer : greatest;
    }
    weir_test_committed_destroy(committed, count);
    free(topic);
    return greatest;
}

void job_wait_committed(const struct job *job, struct weir_test_process *process, int64_t number,
                        int timeout_ms)
{
    int64_t deadline_ms = weir_test_now_ms() + timeout_ms;
    for (int64_t found = job_pointer(job).number; found < number; found = job_pointer(job).number) {
        if (!weir_test_process_is_running(process) || weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("the pointer stands at %" PRId64 ", checkpoint %" PRId64
                           " is not committed:\n%s",
                           found, number, weir_test_process_output(process));
        }
        weir_test_sleep_ms(20);
    }
}

void job_wait_read(const struct job *job, struct weir_test_process *process, int timeout_ms)
{
    char *topic = weir_test_format("%s-in", job->name);
    int64_t deadline_ms = weir_test_now_ms() + timeout_ms;
    int64_t read_count;
    do {
        if (!weir_test_process_is_running(process) || weir_test_now_ms() >= deadline_ms) {
            WEIR_TEST_FAIL("not everything is read and committed:\n%s",
                           weir_test_process_output(process));
        }
        weir_test_sleep_ms(20);
        int32_t count;
        struct weir_test_committed *committed =
            weir_test_group_committed(job->bootstrap, job->name, topic, true, &count);
        read_count = 0;
        for (int32_t p = 0; p < count; p++) {
            read_count += committed[p].offset > 0 ? committed[p].offset : 0;
        }
        weir_test_committed_destroy(committed, count);
    } while (read_count < job->fed_count);
    free(topic);
}

void job_end_and_check(struct job *job, struct weir_test_process *process, int timeout_ms)
{
    job_wait_read(job, process, timeout_ms);
    weir_test_process_signal(process, SIGTERM);
    job_expect_end(process, 0, timeout_ms, NULL);
    weir_test_process_destroy(process);
    job_finish(job);
    job_check(job);
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

char *job_store_listing(const struct job *job)
{
    enum { LINES_MAX = 4096 };
    char *dir = weir_test_format("%s/%s/0", job->store_dir, job->name);
    char **lines = weir_test_alloc(LINES_MAX * sizeof *lines);
    int count = 0;
    DIR *folder = opendir(dir);
    assert_non_null(folder);
    for (struct dirent *found = readdir(folder); found != NULL; found = readdir(folder)) {
        struct stat info;
        if (found->d_name[0] != '.' && fstatat(dirfd(folder), found->d_name, &info, 0) == 0) {
            assert_true(count < LINES_MAX);
            lines[count++] = weir_test_format("%s %lld bytes at %lld.%09ld\n", found->d_name,
                                              (long long)info.st_size,
                                              (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
        }
    }
    closedir(folder);
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    char *listing = weir_test_format("%s", "");
    for (int i = 0; i < count; i++) {
        char *longer = weir_test_format("%s%s", listing, lines[i]);
        free(listing);
        free(lines[i]);
        listing = longer;
    }
    free(lines);
    free(dir);
    return listing;
}
