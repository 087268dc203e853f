// SPDX-License-Identifier: Apache-2.0
// Cases in which comparable systems went wrong, by their numbers, from topic to topic: numbers,
// texts, timestamps and NULLs in messages, expressions that fail on one row of a batch. Units and
// PostgreSQL hold the same values elsewhere; here they pass through the whole program.
#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

#include <stdio.h>
#include <stdlib.h>

// One statement over the input: what is selected, into which columns, and the rows that come out.
struct statement {
    const char *columns;
    const char *select;
    const char *const *rows;
};

enum { STATEMENTS_MAX = 8 };

// All statements read the same messages; `dead` are the values of the dead letters, in any order.
struct one_case {
    const char *name;
    const char *columns;
    const char *options; // of the input table
    const char *const *messages;
    struct statement statements[STATEMENTS_MAX]; // up to the first without columns
    const char *const *dead;
};

static size_t count_of(const char *const *texts)
{
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL) {
        count++;
    }
    return count;
}

static size_t occurrences(const char *const *texts, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        count += strcmp(texts[i], text) == 0 ? 1 : 0;
    }
    return count;
}

static void expect_dead_letters(const struct sql_job *job, const char *const *expected)
{
    struct weir_test_log *log = sql_job_read(job, "dead");
    const struct weir_test_log_partition *dead = &log->partitions[0];
    const char **found = weir_test_alloc((dead->record_count + 1) * sizeof *found);
    for (size_t i = 0; i < dead->record_count; i++) {
        found[i] = sql_job_text(&dead->records[i]);
        if (occurrences(expected, found[i]) == 0) {
            WEIR_TEST_FAIL("%s: a dead letter too many: %s", job->name, found[i]);
        }
    }
    for (size_t i = 0; expected != NULL && expected[i] != NULL; i++) {
        if (occurrences(found, expected[i]) != occurrences(expected, expected[i])) {
            WEIR_TEST_FAIL("%s: as a dead letter %zu times: %s", job->name,
                           occurrences(found, expected[i]), expected[i]);
        }
    }
    free(found);
    weir_test_log_destroy(log);
}

static void run_case(const struct one_case *one)
{
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), one->name, NULL);
    sql_job_topic_create(job, "in", 1);
    sql_job_topic_create(job, "dead", 1);
    char *sql = weir_test_format("CREATE TABLE input (%s) WITH (topic = '$-in'%s);\n", one->columns,
                                 one->options != NULL ? one->options : "");
    for (int i = 0; i < STATEMENTS_MAX && one->statements[i].columns != NULL; i++) {
        sql_job_topic_create(job, weir_test_format("out-%d", i), 1);
        sql = weir_test_format("%sCREATE TABLE out_%d (%s) WITH (topic = '$-out-%d');\n"
                               "INSERT INTO out_%d SELECT %s;\n",
                               sql, i, one->statements[i].columns, i, i, one->statements[i].select);
    }
    sql_job_set_sql(job, sql);
    size_t count = count_of(one->messages);
    struct weir_test_record *records = weir_test_alloc(count * sizeof *records);
    for (size_t i = 0; i < count; i++) {
        records[i] = weir_test_record_of(0, NULL, one->messages[i]);
    }
    weir_test_produce(job->bootstrap, sql_job_topic(job, "in"), records, count);
    free(records);
    sql_job_run(job,
                SQL_JOB_EXTRA("WEIR_BOUNDED=true", "WEIR_ON_BAD_RECORD=dead_letter",
                              weir_test_format("WEIR_DEAD_LETTER_TOPIC=%s-dead", one->name)),
                0, NULL);
    for (int i = 0; i < STATEMENTS_MAX && one->statements[i].columns != NULL; i++) {
        sql_job_expect_values(job, weir_test_format("out-%d", i), 0, one->statements[i].rows);
    }
    expect_dead_letters(job, one->dead);
}

static void test_c001_integers_keep_their_last_digits(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c001",
        .columns = "id bigint",
        .messages = SQL_JOB_TEXTS("{\"id\":9007199254740991}", "{\"id\":9007199254740993}",
                                  "{\"id\":-8123456789012345679}", "{\"id\":9223372036854775808}",
                                  "{\"id\":9223372036854775807}", "{\"id\":-9223372036854775807}"),
        .statements = {{"id bigint, t text", "id, id::text FROM input",
                        SQL_JOB_TEXTS(
                            "{\"id\":9007199254740991,\"t\":\"9007199254740991\"}",
                            "{\"id\":9007199254740993,\"t\":\"9007199254740993\"}",
                            "{\"id\":-8123456789012345679,\"t\":\"-8123456789012345679\"}",
                            "{\"id\":9223372036854775807,\"t\":\"9223372036854775807\"}",
                            "{\"id\":-9223372036854775807,\"t\":\"-9223372036854775807\"}")}},
        .dead = SQL_JOB_TEXTS("{\"id\":9223372036854775808}"),
    });
}

static void test_c002_c009_c012_numbers_and_missing_members(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c002",
        .columns =
            "id int, f numeric(38,18), q numeric(10,2), d double precision, t text, \"N\" int",
        .messages = SQL_JOB_TEXTS(
            "{\"id\":1,\"f\":123456.789012345678901234}", "{\"q\":31,\"d\":8}",
            "{\"q\":1234.56,\"d\":8.0}", "{\"q\":-0,\"d\":8}", "{\"id\":7}",
            "{\"id\":8,\"t\":null,\"more\":[1]}", "{}", "{\"N\":30,\"id\":9,\"t\":\"\"}"),
        .statements =
            {{"f numeric(38,18)", "f FROM input WHERE f IS NOT NULL",
              SQL_JOB_TEXTS("{\"f\":123456.789012345678901234}")},
             {"q numeric(10,2), d double precision", "q, d FROM input WHERE q IS NOT NULL",
              SQL_JOB_TEXTS("{\"q\":31.00,\"d\":8}", "{\"q\":1234.56,\"d\":8}",
                            "{\"q\":0.00,\"d\":8}")},
             {"n int, t text, \"N\" int", "id, t, \"N\" FROM input WHERE f IS NULL AND q IS NULL",
              SQL_JOB_TEXTS("{\"n\":7,\"t\":null,\"N\":null}", "{\"n\":8,\"t\":null,\"N\":null}",
                            "{\"n\":null,\"t\":null,\"N\":null}",
                            "{\"n\":9,\"t\":\"\",\"N\":30}")}},
    });
}

static void test_c004_c005_repeated_names_and_half_pairs(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c004",
        .columns = "a int, o jsonb, s text",
        .messages = SQL_JOB_TEXTS("{\"a\":4,\"a\":9,\"o\":{\"p\":1,\"p\":{\"q\":2},\"p\":8}}",
                                  "{\"s\":\"\\ud83d\\ude80\"}", "{\"s\":\"\\ud83d\"}",
                                  "{\"s\":\"\\ude80\\ud83d\"}", "{\"\\ud83d\":1,\"s\":\"ok\"}"),
        .statements = {{"a int, o jsonb", "a, o FROM input WHERE a > 0",
                        SQL_JOB_TEXTS("{\"a\":9,\"o\":{\"p\": 8}}")},
                       {"s text, n int", "s, char_length(s) FROM input WHERE s IS NOT NULL",
                        SQL_JOB_TEXTS("{\"s\":\"🚀\",\"n\":1}")}},
        .dead = SQL_JOB_TEXTS("{\"s\":\"\\ud83d\"}", "{\"s\":\"\\ude80\\ud83d\"}",
                              "{\"\\ud83d\":1,\"s\":\"ok\"}"),
    });
}

static void test_c011_no_bare_words_for_nan_and_infinity(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c011",
        .columns = "n int",
        .messages = SQL_JOB_TEXTS("{\"n\":1}"),
        .statements = {{"a double precision, b double precision, c real, d numeric",
                        "'NaN'::float8, 'Infinity'::float8, '-Infinity'::float4, 'NaN'::numeric "
                        "FROM input",
                        SQL_JOB_TEXTS("{\"a\":\"NaN\",\"b\":\"Infinity\",\"c\":\"-Infinity\","
                                      "\"d\":\"NaN\"}")}},
    });
}

static void test_c092_integers_do_not_wrap(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c092",
        .columns = "op text, a int, b int, x bigint",
        .messages = SQL_JOB_TEXTS(
            "{\"op\":\"+\",\"a\":2147483647,\"b\":1}", "{\"op\":\"-\",\"a\":-2147483648,\"b\":1}",
            "{\"op\":\"/\",\"a\":-2147483648,\"b\":-1}",
            "{\"op\":\"%\",\"a\":-2147483648,\"b\":-1}", "{\"op\":\"+\",\"a\":2147483646,\"b\":1}",
            "{\"op\":\"neg\",\"x\":-9223372036854775808}",
            "{\"op\":\"abs\",\"x\":-9223372036854775808}",
            "{\"op\":\"neg\",\"x\":-9223372036854775807}",
            "{\"op\":\"twice\",\"x\":4611686018427387904}"),
        .statements = {{"r int",
                        "CASE op WHEN '+' THEN a + b WHEN '-' THEN a - b WHEN '/' THEN a / b "
                        "WHEN '%' THEN a % b END FROM input WHERE a IS NOT NULL",
                        SQL_JOB_TEXTS("{\"r\":0}", "{\"r\":2147483647}")},
                       {"r bigint",
                        "CASE op WHEN 'neg' THEN -x WHEN 'abs' THEN abs(x) ELSE x * 2 END "
                        "FROM input WHERE x IS NOT NULL",
                        SQL_JOB_TEXTS("{\"r\":9223372036854775807}")}},
        .dead = SQL_JOB_TEXTS("{\"op\":\"+\",\"a\":2147483647,\"b\":1}",
                              "{\"op\":\"-\",\"a\":-2147483648,\"b\":1}",
                              "{\"op\":\"/\",\"a\":-2147483648,\"b\":-1}",
                              "{\"op\":\"neg\",\"x\":-9223372036854775808}",
                              "{\"op\":\"abs\",\"x\":-9223372036854775808}",
                              "{\"op\":\"twice\",\"x\":4611686018427387904}"),
    });
}

static void test_c093_one_zero_divisor_concerns_one_row(void **state)
{
    (void)state;
    const char *zero = "{\"x\":0}";
    run_case(&(struct one_case){
        .name = "c093",
        .columns = "x int",
        .messages = SQL_JOB_TEXTS("{\"x\":0}", "{\"x\":1}", "{\"x\":5}", "{\"x\":null}"),
        .statements = {{"r int", "12 / x FROM input",
                        SQL_JOB_TEXTS("{\"r\":12}", "{\"r\":2}", "{\"r\":null}")},
                       {"r int", "12 % x FROM input",
                        SQL_JOB_TEXTS("{\"r\":0}", "{\"r\":2}", "{\"r\":null}")},
                       {"r numeric", "12.0 / x FROM input",
                        SQL_JOB_TEXTS("{\"r\":12.0000000000000000}", "{\"r\":2.4000000000000000}",
                                      "{\"r\":null}")},
                       {"x int", "x FROM input WHERE 12 / x > 0",
                        SQL_JOB_TEXTS("{\"x\":1}", "{\"x\":5}")},
                       {"r int", "CASE WHEN x <> 0 THEN 12 / x ELSE -1 END FROM input",
                        SQL_JOB_TEXTS("{\"r\":-1}", "{\"r\":12}", "{\"r\":2}", "{\"r\":-1}")}},
        .dead = SQL_JOB_TEXTS(zero, zero, zero, zero),
    });
}

static void test_c094_c097_rounding_and_scale(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c094",
        .columns =
            "n numeric, f double precision, i int, j int, p numeric(38,19), q numeric(38,19)",
        .messages = SQL_JOB_TEXTS("{\"n\":0.5,\"f\":0.5,\"i\":9,\"j\":4}",
                                  "{\"n\":-2.5,\"f\":2.5,\"i\":-9,\"j\":4}",
                                  "{\"n\":4.5,\"f\":4.5,\"i\":2,\"j\":3}",
                                  "{\"n\":-0.5,\"f\":-0.5,\"i\":1,\"j\":1,\"p\":3.5,\"q\":2.4}"),
        .statements = {{"a numeric, b double precision, c int, d int",
                        "round(n), round(f), n::int, f::int "
                        "FROM input",
                        SQL_JOB_TEXTS("{\"a\":1,\"b\":0,\"c\":1,\"d\":0}",
                                      "{\"a\":-3,\"b\":2,\"c\":-3,\"d\":2}",
                                      "{\"a\":5,\"b\":4,\"c\":5,\"d\":4}",
                                      "{\"a\":-1,\"b\":-0,\"c\":-1,\"d\":0}")},
                       {"a int, b int, c numeric", "i / j, i % j, i / (j * 1.0) FROM input",
                        SQL_JOB_TEXTS("{\"a\":2,\"b\":1,\"c\":2.2500000000000000}",
                                      "{\"a\":-2,\"b\":-1,\"c\":-2.2500000000000000}",
                                      "{\"a\":0,\"b\":2,\"c\":0.66666666666666666667}",
                                      "{\"a\":1,\"b\":0,\"c\":1.00000000000000000000}")},
                       {"r numeric", "p * q FROM input WHERE p IS NOT NULL",
                        SQL_JOB_TEXTS("{\"r\":8.40000000000000000000000000000000000000}")}},
    });
}

static void test_c099_c100_timestamps_of_numbers_and_texts(void **state)
{
    (void)state;
    static const char *const units[] = {"ms", "us"};
    static const char *const rows[][2] = {{"{\"at\":\"1970-01-01T00:00:00.25+00:00\"}",
                                           "{\"at\":\"54256-06-02T05:22:03.456+00:00\"}"},
                                          {"{\"at\":\"1970-01-01T00:00:00.00025+00:00\"}",
                                           "{\"at\":\"2022-04-15T05:20:00.123456+00:00\"}"}};
    for (int i = 0; i < 2; i++) {
        run_case(&(struct one_case){
            .name = weir_test_format("c099-%s", units[i]),
            .columns = "at timestamptz",
            .options = weir_test_format(", timestamp_unit = '%s'", units[i]),
            .messages = SQL_JOB_TEXTS(
                "{\"at\":250}", "{\"at\":1650000000123456}",
                "{\"at\":\"2024-05-06T07:08:09.654321Z\"}", "{\"at\":\"2024-05-06 07:08:09.5\"}",
                "{\"at\":\"2025-03-04T05:06:07.123456789+02:00\"}",
                "{\"at\":\"2025-03-04T05:06:07.9999999Z\"}",
                "{\"at\":\"2025-03-04T05:06:07+0530\"}", "{\"at\":\"20250102T000000Z\"}",
                "{\"at\":\"2024-12-31 23:59:60\"}", "{\"at\":\"2025-01-02 24:00:00\"}",
                "{\"at\":\"2025-01-02T00:00:00,5Z\"}", "{\"at\":\"2025-02-29\"}",
                "{\"at\":\"now\"}"),
            .statements = {{"at timestamptz", "at FROM input",
                            SQL_JOB_TEXTS(rows[i][0], rows[i][1],
                                          "{\"at\":\"2024-05-06T07:08:09.654321+00:00\"}",
                                          "{\"at\":\"2024-05-06T07:08:09.5+00:00\"}",
                                          "{\"at\":\"2025-03-04T03:06:07.123457+00:00\"}",
                                          "{\"at\":\"2025-03-04T05:06:08+00:00\"}",
                                          "{\"at\":\"2025-03-03T23:36:07+00:00\"}",
                                          "{\"at\":\"2025-01-02T00:00:00+00:00\"}",
                                          "{\"at\":\"2025-01-01T00:00:00+00:00\"}",
                                          "{\"at\":\"2025-01-03T00:00:00+00:00\"}")}},
            .dead = SQL_JOB_TEXTS("{\"at\":\"2025-01-02T00:00:00,5Z\"}", "{\"at\":\"2025-02-29\"}",
                                  "{\"at\":\"now\"}"),
        });
    }
}

static void test_c114_c115_unknown_is_not_false(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c114",
        .columns = "id int, n int, w text",
        .messages = SQL_JOB_TEXTS("{\"id\":1,\"n\":7,\"w\":\"ash\"}", "{\"id\":2}",
                                  "{\"id\":3,\"n\":0,\"w\":\"birch\"}",
                                  "{\"id\":4,\"n\":9,\"w\":\"cedar\"}"),
        .statements =
            {{"id int", "id FROM input WHERE NOT (n + 1 = 8)",
              SQL_JOB_TEXTS("{\"id\":3}", "{\"id\":4}")},
             {"id int", "id FROM input WHERE w NOT LIKE 'a%'",
              SQL_JOB_TEXTS("{\"id\":3}", "{\"id\":4}")},
             {"id int", "id FROM input WHERE NOT (n IN (7,9))", SQL_JOB_TEXTS("{\"id\":3}")},
             {"id int", "id FROM input WHERE NOT (n + 1 = 8 OR w LIKE 'b%')",
              SQL_JOB_TEXTS("{\"id\":4}")},
             {"a int, b int, c int, d bigint",
              "CASE WHEN n > 0 THEN 3 WHEN n >= 0 THEN 4 END, CASE WHEN NULL THEN 1 ELSE 2 END, "
              "CASE n WHEN NULL THEN 1 WHEN 0 THEN 2 END, "
              "CASE WHEN id = 1 THEN id ELSE 7000000000 END FROM input",
              SQL_JOB_TEXTS("{\"a\":3,\"b\":2,\"c\":null,\"d\":1}",
                            "{\"a\":null,\"b\":2,\"c\":null,\"d\":7000000000}",
                            "{\"a\":4,\"b\":2,\"c\":2,\"d\":7000000000}",
                            "{\"a\":3,\"b\":2,\"c\":null,\"d\":7000000000}")}},
    });
}

static void test_c117_c118_patterns_and_characters(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c117",
        .columns = "s text, p text",
        .messages = SQL_JOB_TEXTS(
            "{\"s\":\"row_id\",\"p\":\"row\\\\_id\"}", "{\"s\":\"rowXid\",\"p\":\"row\\\\_id\"}",
            "{\"s\":\"猫犬鳥\",\"p\":\"猫_鳥\"}", "{\"s\":\"a\\nb\",\"p\":\"a%b\"}",
            "{\"s\":\"abcd\",\"p\":\"abc\\\\\"}"),
        .statements = {{"s text, r boolean", "s, s LIKE p FROM input",
                        SQL_JOB_TEXTS(
                            "{\"s\":\"row_id\",\"r\":true}", "{\"s\":\"rowXid\",\"r\":false}",
                            "{\"s\":\"猫犬鳥\",\"r\":true}", "{\"s\":\"a\\nb\",\"r\":true}")},
                       {"a int, b int, c text, d text",
                        "char_length(s), octet_length(s), substr(s, 2, 1), upper(s) FROM input "
                        "WHERE s LIKE '%犬%'",
                        SQL_JOB_TEXTS("{\"a\":3,\"b\":9,\"c\":\"犬\",\"d\":\"猫犬鳥\"}")}},
        .dead = SQL_JOB_TEXTS("{\"s\":\"abcd\",\"p\":\"abc\\\\\"}"),
    });
}

static void test_c114_c115_constants_and_types_of_choices(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c115",
        .columns = "p boolean, q boolean, small int, big bigint",
        .messages = SQL_JOB_TEXTS("{\"p\":true,\"q\":true,\"small\":1,\"big\":1}",
                                  "{\"p\":false,\"q\":true,\"small\":2,\"big\":7000000000}"),
        .statements =
            {{"a int, b int, c int, d int, e bigint",
              "CASE WHEN p THEN 3 WHEN q THEN 4 END, CASE WHEN NULL THEN 1 ELSE 2 END, "
              "CASE 3 WHEN NULL THEN 1 WHEN 3 THEN 2 END, CASE NULL WHEN NULL THEN 1 ELSE 2 END, "
              "CASE WHEN small = 1 THEN small ELSE big END FROM input",
              SQL_JOB_TEXTS("{\"a\":3,\"b\":2,\"c\":2,\"d\":2,\"e\":1}",
                            "{\"a\":4,\"b\":2,\"c\":2,\"d\":2,\"e\":7000000000}")},
             {"a boolean, b boolean, c boolean, d boolean, e boolean",
              "2 IN (NULL), 2 IN (2, NULL), 6 NOT IN (3, 4, NULL), NULL AND false, NULL OR true "
              "FROM input WHERE p",
              SQL_JOB_TEXTS("{\"a\":null,\"b\":true,\"c\":null,\"d\":false,\"e\":true}")}},
    });
}

static void test_c117_escapes(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c117-escapes",
        .columns = "s text",
        .messages = SQL_JOB_TEXTS("{\"s\":\"a_b\"}", "{\"s\":\"c_d\"}", "{\"s\":\"SKIP_1\"}",
                                  "{\"s\":\"ab\"}", "{\"s\":\"SKIPab\"}", "{\"s\":\"5%off\"}"),
        .statements = {{"s text", "s FROM input WHERE s LIKE '%\\_%' AND s NOT LIKE 'SKIP%'",
                        SQL_JOB_TEXTS("{\"s\":\"a_b\"}", "{\"s\":\"c_d\"}")},
                       {"s text", "s FROM input WHERE s LIKE '5#%o%' ESCAPE '#'",
                        SQL_JOB_TEXTS("{\"s\":\"5%off\"}")}},
    });
}

static void test_c118_characters_are_not_bytes(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c118",
        .columns = "z text, l text, c text, b text, e text, o text, w text, n int",
        .messages = SQL_JOB_TEXTS(
            "{\"z\":\"Zoë\",\"l\":\"Zoëlle\",\"c\":\"猫犬鳥\",\"b\":\"ß\",\"e\":\"x😀y\","
            "\"o\":\"o\\u0308\",\"w\":\"world\",\"n\":3}",
            "{\"w\":\"abc\",\"n\":-1}"),
        .statements =
            {{"a text, b int, c int, d int, e text, f text, g text, h text",
              "substr(z, 2, 2), length(z), octet_length(z), position('ë' in z), "
              "overlay(l placing 'XX' from 3 for 1), left(c, 2), lpad(b, 3, '*'), reverse(e) "
              "FROM input WHERE n > 0",
              SQL_JOB_TEXTS("{\"a\":\"oë\",\"b\":3,\"c\":4,\"d\":3,\"e\":\"ZoXXlle\","
                            "\"f\":\"猫犬\",\"g\":\"**ß\",\"h\":\"y😀x\"}")},
             {"a int, b int, c int, d text, e text",
              "strpos(c, '鳥'), ascii(b), char_length(o), substr(w, -1, 4), substr(w, 0, 3) "
              "FROM input WHERE n > 0",
              SQL_JOB_TEXTS("{\"a\":3,\"b\":223,\"c\":2,\"d\":\"wo\",\"e\":\"wo\"}")},
             {"a text", "substr(w, 2, n) FROM input", SQL_JOB_TEXTS("{\"a\":\"orl\"}")}},
        .dead = SQL_JOB_TEXTS("{\"w\":\"abc\",\"n\":-1}"),
    });
}

static void test_c021_c033_base64_is_no_number_and_bytes_are_hex(void **state)
{
    (void)state;
    run_case(&(struct one_case){
        .name = "c021",
        .columns = "p numeric(6,3), y bytea",
        .messages = SQL_JOB_TEXTS("{\"p\":\"MDk=\"}", "{\"p\":12.345}", "{\"p\":\"12.345\"}",
                                  "{\"p\":1,\"y\":\"\\\\x01fe7f\"}", "{\"p\":2,\"y\":\"\\\\x\"}",
                                  "{\"p\":3,\"y\":\"\\\\x0010ff\"}"),
        .statements = {{"p numeric(6,3)", "p FROM input",
                        SQL_JOB_TEXTS("{\"p\":12.345}", "{\"p\":12.345}", "{\"p\":1.000}",
                                      "{\"p\":2.000}", "{\"p\":3.000}")},
                       {"y bytea", "y FROM input WHERE y IS NOT NULL",
                        SQL_JOB_TEXTS("{\"y\":\"\\\\x01fe7f\"}", "{\"y\":\"\\\\x\"}",
                                      "{\"y\":\"\\\\x0010ff\"}")}},
        .dead = SQL_JOB_TEXTS("{\"p\":\"MDk=\"}"),
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c001_integers_keep_their_last_digits),
        cmocka_unit_test(test_c002_c009_c012_numbers_and_missing_members),
        cmocka_unit_test(test_c004_c005_repeated_names_and_half_pairs),
        cmocka_unit_test(test_c011_no_bare_words_for_nan_and_infinity),
        cmocka_unit_test(test_c092_integers_do_not_wrap),
        cmocka_unit_test(test_c093_one_zero_divisor_concerns_one_row),
        cmocka_unit_test(test_c094_c097_rounding_and_scale),
        cmocka_unit_test(test_c099_c100_timestamps_of_numbers_and_texts),
        cmocka_unit_test(test_c114_c115_unknown_is_not_false),
        cmocka_unit_test(test_c117_c118_patterns_and_characters),
        cmocka_unit_test(test_c114_c115_constants_and_types_of_choices),
        cmocka_unit_test(test_c117_escapes),
        cmocka_unit_test(test_c118_characters_are_not_bytes),
        cmocka_unit_test(test_c021_c033_base64_is_no_number_and_bytes_are_hex),
    };
    return cmocka_run_group_tests(tests, cluster_start, cluster_stop);
}
