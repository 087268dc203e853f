// SPDX-License-Identifier: Apache-2.0
// Records that the broker keeps in each codec are read, and rows are written in each, as the
// broker's own files show; what they hold is compared, row by row.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdlib.h>

enum { ROWS = 3000 };

#define SQL                                                                                        \
    "CREATE TABLE input (n int, t text) WITH (topic = '$-in');\n"                                  \
    "CREATE TABLE output (n int, t text) WITH (topic = '$-out');\n"                                \
    "INSERT INTO output SELECT n, t FROM input;\n"

// Of the first batch in partition 0.
static const char *stored_codec(const struct sql_job *job, const char *suffix)
{
    enum { ATTRIBUTES_AT = 22, CODEC_MASK = 7 }; // the lower byte of two
    static const char *const names[] = {"uncompressed", "gzip", "snappy", "lz4", "zstd"};
    const char *log_path = weir_test_node_log_path(cluster, 0);
    const char *path = weir_test_format("%.*s/%s-0/00000000000000000000.log",
                                        (int)(strlen(log_path) - strlen(".log")), log_path,
                                        sql_job_topic(job, suffix));
    size_t size = 0;
    char *bytes = weir_test_read_file(path, &size);
    if (bytes == NULL || size <= ATTRIBUTES_AT) {
        WEIR_TEST_FAIL("nothing lies in %s", path);
    }
    int codec = bytes[ATTRIBUTES_AT] & CODEC_MASK;
    free(bytes);
    assert_in_range(codec, 0, sizeof names / sizeof names[0] - 1);
    return names[codec];
}

static char *row_of(int n)
{
    return weir_test_format("{\"n\":%d,\"t\":\"%.*s row %d\"}", n, n % 50,
                            "ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab", n);
}

static void read_and_write(const char *in, const char *out)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster),
                                         weir_test_format("%s-%s", in, out), SQL);
    weir_test_topic_create(job->bootstrap, sql_job_topic(job, "in"), 1,
                           (const char *const[]){"compression.type", in, NULL});
    sql_job_topic_create(job, "out", 1);
    struct weir_test_record *records = weir_test_alloc(ROWS * sizeof *records);
    const char **rows = weir_test_alloc((ROWS + 1) * sizeof *rows);
    for (int n = 0; n < ROWS; n++) {
        rows[n] = row_of(n);
        records[n] = weir_test_record_of(0, NULL, rows[n]);
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, ROWS);
    free(records);
    assert_string_equal(stored_codec(job, "in"), in);
    const char *codec = strcmp(out, "uncompressed") == 0 ? "none" : out;
    sql_job_run(job,
                SQL_JOB_EXTRA("WEIR_BOUNDED=true",
                              weir_test_format("WEIR_KAFKA_COMPRESSION_TYPE=%s", codec)),
                0, NULL);
    assert_string_equal(stored_codec(job, "out"), out);
    sql_job_expect_values(job, "out", 0, rows);
    free(rows);
}

static void test_each_codec_is_read_and_written(void **state)
{
    (void)state;
    static const char *const codecs[] = {"gzip", "snappy", "lz4", "zstd", "uncompressed"};
    enum { CODECS = sizeof codecs / sizeof codecs[0] };
    for (size_t i = 0; i < CODECS; i++) {
        read_and_write(codecs[i], codecs[(i + 1) % CODECS]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_codec_is_read_and_written),
    };
    return cmocka_run_group_tests_name("integration/compression", tests, cluster_start,
                                       cluster_stop);
}
