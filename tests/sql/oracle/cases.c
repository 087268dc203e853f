// SPDX-License-Identifier: Apache-2.0
// See cases.h.
#include "tests/sql/oracle/cases.h"

#include "tests/harness/base.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 200 };

struct reading {
    struct oracle_cases cases;
    const char *file; // its name
    int line_number;
    int first_line_number; // of the query under way; 0: none is
    char *text;            // of the query under way
    const char *key;
    bool is_postgresql; // the query under way is the answer to the last case
};

static bool take_directive(struct reading *reading, const char *line)
{
    static const char key[] = "-- key: ";
    if (strncmp(line, key, strlen(key)) == 0) {
        reading->key = weir_test_format("%s", line + strlen(key));
    } else if (strcmp(line, "-- postgresql:") == 0) {
        reading->is_postgresql = true;
    }
    return strncmp(line, "--", 2) == 0;
}

static void end_query(struct reading *reading)
{
    struct oracle_cases *cases = &reading->cases;
    if (reading->is_postgresql) {
        cases->items[cases->count - 1].postgresql = reading->text;
    } else {
        if (cases->count == CASES_MAX) {
            WEIR_TEST_FAIL("more than %d queries", CASES_MAX);
        }
        cases->items[cases->count] = (struct oracle_case){
            .name = weir_test_format("%s:%d", reading->file, reading->first_line_number),
            .sink = weir_test_format("o%zu", cases->count),
            .key = reading->key,
            .weir = reading->text,
            .postgresql = reading->text};
        cases->count++;
    }
    reading->text = NULL;
    reading->key = NULL;
    reading->is_postgresql = false;
    reading->first_line_number = 0;
}

static void take_line(struct reading *reading, char *line)
{
    size_t size = strlen(line);
    bool is_in_query = reading->first_line_number != 0;
    if (!is_in_query && (size == 0 || take_directive(reading, line))) {
        return;
    }
    if (!is_in_query) {
        reading->first_line_number = reading->line_number;
        reading->text = weir_test_format("%s", "");
    }
    bool is_last = size != 0 && line[size - 1] == ';';
    if (is_last) {
        line[size - 1] = '\0';
    }
    reading->text = weir_test_format("%s%s\n", reading->text, line);
    if (is_last) {
        end_query(reading);
    }
}

static void read_cases(struct reading *reading, const char *path)
{
    char *rest = weir_test_read_file(path, NULL);
    if (rest == NULL) {
        WEIR_TEST_FAIL("cannot read %s", path);
    }
    reading->file = strrchr(path, '/') + 1;
    reading->line_number = 0;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        reading->line_number++;
        take_line(reading, line);
    }
    if (reading->first_line_number != 0) {
        WEIR_TEST_FAIL("%s:%d: no semicolon ends it", path, reading->first_line_number);
    }
}

struct oracle_cases oracle_cases_read(const char *folder)
{
    struct reading reading = {0};
    reading.cases.items = weir_test_alloc(CASES_MAX * sizeof *reading.cases.items);
    glob_t found;
    if (glob(weir_test_format("%s/*.sql", folder), 0, NULL, &found) != 0) {
        WEIR_TEST_FAIL("no queries in %s", folder);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        read_cases(&reading, weir_test_format("%s", found.gl_pathv[i]));
    }
    globfree(&found);
    return reading.cases;
}
