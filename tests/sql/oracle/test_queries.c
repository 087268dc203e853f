// SPDX-License-Identifier: Apache-2.0
// Every query of *.sql, by the real program and by PostgreSQL 15 over the same random rows
// (fixture/): the sorted results must be the same bytes, keys of messages included. One job holds
// all queries; it runs with one task and with three, undisturbed and killed in the middle.
// $WEIR_TEST_SEED chooses other rows.
#include "tests/integration/sql_job_util.h"
#include "tests/sql/oracle/cases.h"
#include "tests/sql/oracle/postgres.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    INPUT_PARTITIONS = 3,
    LINES_MAX = 2000, // of one result
    SKIPPED = 77,
};

struct lines {
    char **items;
    size_t count;
};

static struct weir_test_cluster *cluster;
static const char *work_dir;
static struct oracle_cases cases;
static struct lines input;   // values
static struct lines changes; // key, tab, value or nothing

// --- PostgreSQL ----------------------------------------------------------------------------------

static struct lines split(char *text)
{
    struct lines lines = {.items = weir_test_alloc(LINES_MAX * sizeof *lines.items)};
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        if (*line != '\0') {
            assert_in_range(lines.count, 0, LINES_MAX - 1);
            lines.items[lines.count++] = line;
        }
    }
    return lines;
}

static struct lines read_lines(const char *name)
{
    char *text = weir_test_read_file(weir_test_format("%s/%s", work_dir, name), NULL);
    assert_non_null(text);
    return split(text);
}

// A result as messages: the key as JSON, a tab, the row as JSON.
static void put_query(FILE *script, const struct oracle_case *each)
{
    fprintf(script, "\\echo %s\nCREATE TEMP VIEW %s AS\n%s;\n", each->name, each->sink,
            each->postgresql);
    fprintf(script, "\\o %s/%s.rows\n", work_dir, each->sink);
    if (each->key == NULL) {
        fprintf(script, "SELECT row_to_json(all_of_it) FROM %s AS all_of_it;\n", each->sink);
    } else {
        // A subquery without FROM sees the columns of the view.
        fprintf(
            script,
            "SELECT (SELECT row_to_json(its_key) FROM (SELECT %s) AS its_key)::text || E'\\t' || "
            "row_to_json(all_of_it) FROM %s AS all_of_it;\n",
            each->key, each->sink);
    }
    fprintf(script,
            "\\o %s/%s.columns\n"
            "SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), "
            "', ' ORDER BY attnum)\n"
            "FROM pg_attribute WHERE attrelid = '%s'::regclass;\n\\o\n",
            work_dir, each->sink, each->sink);
}

static void ask_postgres(const char *host)
{
    const char *path = weir_test_format("%s/ask.sql", work_dir);
    FILE *script = fopen(path, "w");
    assert_non_null(script);
    const char *seed = getenv("WEIR_TEST_SEED");
    fprintf(script, "SET timezone = 'UTC';\n\\set seed %s\n\\i " ORACLE_DIR "/fixture/rows.sql\n",
            seed != NULL ? seed : "0.42");
    fprintf(script, "\\o %s/input\n", work_dir);
    fprintf(script, "SELECT row_to_json(r) FROM (SELECT * FROM input ORDER BY id) AS r;\n");
    fprintf(script, "\\o %s/changes\n", work_dir);
    fprintf(script,
            "SELECT (SELECT row_to_json(key) FROM (SELECT k) AS key)::text || E'\\t' || CASE WHEN "
            "is_deleted THEN '' ELSE\n"
            "(SELECT row_to_json(value) FROM (SELECT g, v, t) AS value)::text END\n"
            "FROM changes ORDER BY seq;\n\\o\n");
    for (size_t i = 0; i < cases.count; i++) {
        put_query(script, &cases.items[i]);
    }
    fclose(script);
    oracle_postgres_run(host, path);
    input = read_lines("input");
    changes = read_lines("changes");
    assert_in_range(input.count, 100, LINES_MAX);
    assert_in_range(changes.count, 100, LINES_MAX);
}

// --- weir ----------------------------------------------------------------------------------------

static const char *job_sql(void)
{
    char *sql = weir_test_read_file(ORACLE_DIR "/fixture/tables.sql", NULL);
    assert_non_null(sql);
    for (size_t i = 0; i < cases.count; i++) {
        const struct oracle_case *each = &cases.items[i];
        const char *with =
            weir_test_format("WITH (topic = '$-%s', partitions = 2, replicas = 1)", each->sink);
        sql =
            each->key == NULL
                ? weir_test_format("%s-- %s\nCREATE TABLE %s %s AS\n%s;\n", sql, each->name,
                                   each->sink, with, each->weir)
                : weir_test_format("%s-- %s\nCREATE TABLE %s (%s, PRIMARY KEY (%s)) %s;\n"
                                   "INSERT INTO %s\n%s;\n",
                                   sql, each->name, each->sink,
                                   read_lines(weir_test_format("%s.columns", each->sink)).items[0],
                                   each->key, with, each->sink, each->weir);
    }
    return sql;
}

// A share of all rows: from the part-th to before the end-th of four quarters.
static void feed(const struct sql_job *job, size_t part, size_t end)
{
    struct weir_test_record *records = weir_test_alloc(LINES_MAX * sizeof *records);
    size_t count = 0;
    for (size_t i = input.count * part / 4; i < input.count * end / 4; i++) {
        records[count++] =
            weir_test_record_of((int32_t)(i % INPUT_PARTITIONS), NULL, input.items[i]);
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "input"), records, count);
    count = 0;
    for (size_t i = changes.count * part / 4; i < changes.count * end / 4; i++) {
        const char *tab = strchr(changes.items[i], '\t');
        const char *key = weir_test_format("%.*s", (int)(tab - changes.items[i]), changes.items[i]);
        records[count++] = weir_test_record_of(-1, key, tab[1] == '\0' ? NULL : tab + 1);
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "latest"), records, count);
    free(records);
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void sort(struct lines *lines)
{
    qsort(lines->items, lines->count, sizeof *lines->items, compare_lines);
}

// A keyed message replaces the one of its key; a tombstone removes it.
static void compact(struct lines *lines, char *key, char *value)
{
    size_t key_size = strlen(key);
    size_t i = 0;
    while (i < lines->count &&
           (strncmp(lines->items[i], key, key_size) != 0 || lines->items[i][key_size] != '\t')) {
        i++;
    }
    if (value != NULL) {
        lines->items[i] = weir_test_format("%s\t%s", key, value);
        lines->count += i == lines->count ? 1 : 0;
    } else if (i < lines->count) {
        lines->items[i] = lines->items[--lines->count];
    }
}

static struct lines read_result(const struct sql_job *job, const struct oracle_case *each)
{
    struct lines lines = {.items = weir_test_alloc(LINES_MAX * sizeof *lines.items)};
    struct weir_test_log *log = sql_job_read(job, each->sink);
    for (int32_t p = 0; p < log->partition_count; p++) {
        for (size_t i = 0; i < log->partitions[p].record_count; i++) {
            const struct weir_test_record *record = &log->partitions[p].records[i];
            assert_in_range(lines.count, 0, LINES_MAX - 1);
            char *value = record->value != NULL ? sql_job_text(record) : NULL;
            if (each->key != NULL) {
                compact(&lines,
                        weir_test_format("%.*s", (int)record->key_bytes, (const char *)record->key),
                        value);
            } else {
                lines.items[lines.count++] = value;
            }
        }
    }
    weir_test_log_destroy(log);
    return lines;
}

// --- the comparison ------------------------------------------------------------------------------

// Prints what one has and the other has not. Returns whether there is such a line.
static bool print_difference(const struct oracle_case *each, const struct lines *weir,
                             const struct lines *postgresql)
{
    enum { SHOWN_MAX = 6 };
    size_t difference_count = 0;
    for (size_t w = 0, p = 0; w < weir->count || p < postgresql->count;) {
        int order = w == weir->count         ? 1
                    : p == postgresql->count ? -1
                                             : strcmp(weir->items[w], postgresql->items[p]);
        if (order != 0 && difference_count++ < SHOWN_MAX) {
            printf("%s: only %s has\n    %s\n", each->name, order < 0 ? "weir" : "PostgreSQL",
                   order < 0 ? weir->items[w] : postgresql->items[p]);
        }
        w += order <= 0 ? 1 : 0;
        p += order >= 0 ? 1 : 0;
    }
    if (difference_count != 0) {
        printf("%s: %zu lines differ; weir has %zu, PostgreSQL %zu:\n%s", each->name,
               difference_count, weir->count, postgresql->count, each->weir);
    }
    return difference_count != 0;
}

static void compare(const struct sql_job *job)
{
    size_t wrong_count = 0;
    for (size_t i = 0; i < cases.count; i++) {
        const struct oracle_case *each = &cases.items[i];
        struct lines weir = read_result(job, each);
        struct lines postgresql = read_lines(weir_test_format("%s.rows", each->sink));
        sort(&weir);
        sort(&postgresql);
        wrong_count += print_difference(each, &weir, &postgresql) ? 1 : 0;
    }
    if (wrong_count != 0) {
        WEIR_TEST_FAIL("%s: %zu of %zu queries differ", job->name, wrong_count, cases.count);
    }
}

static struct sql_job *create_job(int parallelism, const char *kind)
{
    struct sql_job *job =
        sql_job_create(weir_test_cluster_bootstrap(cluster),
                       weir_test_format("oracle-%s-%d", kind, parallelism), job_sql());
    sql_job_topic_create(job, "input", INPUT_PARTITIONS);
    sql_job_topic_create(job, "latest", INPUT_PARTITIONS);
    return job;
}

static void run_whole(int parallelism)
{
    struct sql_job *job = create_job(parallelism, "whole");
    feed(job, 0, 4);
    sql_job_run(
        job,
        SQL_JOB_EXTRA("WEIR_BOUNDED=true", weir_test_format("WEIR_PARALLELISM=%d", parallelism)), 0,
        NULL);
    compare(job);
}

// The second life finds a checkpoint, results that were never committed, and half of the rows.
static void run_killed(int parallelism)
{
    struct sql_job *job = create_job(parallelism, "killed");
    const char *tasks = weir_test_format("WEIR_PARALLELISM=%d", parallelism);
    feed(job, 0, 2);
    struct weir_test_process *process = sql_job_start(job, SQL_JOB_EXTRA(tasks));
    WEIR_TEST_WAIT_UNTIL(
        sql_job_committed(job, "input", 0) > 0 || !weir_test_process_is_running(process), 60000);
    feed(job, 2, 3);
    if (!weir_test_process_is_running(process)) {
        WEIR_TEST_FAIL("it ended by itself:\n%s", weir_test_process_output(process));
    }
    sql_job_kill(process);
    feed(job, 3, 4);
    sql_job_run(job, SQL_JOB_EXTRA("WEIR_BOUNDED=true", tasks), 0, NULL);
    compare(job);
}

static void test_one_task(void **state)
{
    (void)state;
    run_whole(1);
}

static void test_three_tasks(void **state)
{
    (void)state;
    run_whole(3);
}

static void test_one_task_killed(void **state)
{
    (void)state;
    run_killed(1);
}

static void test_three_tasks_killed(void **state)
{
    (void)state;
    run_killed(3);
}

static int begin(void **state)
{
    (void)state;
    work_dir = weir_test_dir_create("oracle");
    cases = oracle_cases_read(ORACLE_DIR);
    ask_postgres(oracle_postgres_start());
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){.node_count = 1});
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_test_cluster_destroy(cluster);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_task),
        cmocka_unit_test(test_three_tasks),
        cmocka_unit_test(test_one_task_killed),
        cmocka_unit_test(test_three_tasks_killed),
    };
    const char *missing = oracle_postgres_missing();
    if (missing != NULL) {
        printf("skipped: %s\n", missing);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, begin, end);
}
