// SPDX-License-Identifier: Apache-2.0
// See metrics_util.h.
#include "tests/integration/metrics_util.h"

#include "tests/harness/base.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct metrics_page *page;
    const char *line; // for messages
    char *family;     // whose HELP was read last; NULL: none
    char *type;       // NULL: its TYPE was not read yet
    double bucket_le; // of the histogram being read
    double bucket_count;
};

static void fail(const struct reader *reader, const char *what)
{
    WEIR_TEST_FAIL("%s: %.*s", what, (int)strcspn(reader->line, "\n"), reader->line);
}

static size_t name_size(const char *at, bool is_label)
{
    size_t size = 0;
    while (isalpha((unsigned char)at[size]) || at[size] == '_' || (!is_label && at[size] == ':') ||
           (size > 0 && isdigit((unsigned char)at[size]))) {
        size++;
    }
    return size;
}

// The bytes of one UTF-8 character; 0: it is none.
static size_t utf8_size(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    size_t size = c[0] < 0x80 ? 1 : c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : c[0] >= 0xc2 ? 2 : 0;
    for (size_t i = 1; i < size; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return size;
}

// Behind the closing brace.
static const char *skip_labels(const struct reader *reader, const char *at)
{
    for (at++; *at != '}';) {
        size_t size = name_size(at, true);
        if (size == 0 || strncmp(at, "__", 2) == 0 || at[size] != '=' || at[size + 1] != '"') {
            fail(reader, "no label");
        }
        at += size + 2;
        while (*at != '"') {
            if (*at == '\\') {
                at++;
                if (*at != '\\' && *at != '"' && *at != 'n') {
                    fail(reader, "an escape that there is not");
                }
            }
            size_t bytes = utf8_size(at);
            if (bytes == 0 || *at == '\n' || *at == '\0') {
                fail(reader, "a label's value does not end, or is no UTF-8");
            }
            at += bytes;
        }
        at++;
        if (*at == ',' && at[1] != '}') {
            at++;
        } else if (*at != '}') {
            fail(reader, "no comma between labels");
        }
    }
    return at + 1;
}

static double number(const struct reader *reader, const char *at)
{
    char *end;
    if (strncmp(at, "+Inf\n", 5) == 0 || strncmp(at, "-Inf\n", 5) == 0 ||
        strncmp(at, "NaN\n", 4) == 0) {
        return at[0] == 'N' ? (double)NAN : at[0] == '+' ? (double)INFINITY : -(double)INFINITY;
    }
    double value = strtod(at, &end);
    if (end == at || *end != '\n' || !(isdigit((unsigned char)*at) || *at == '-') || isinf(value)) {
        fail(reader, "no number, or something behind it");
    }
    return value;
}

static void check_suffix(struct reader *reader, const struct metrics_sample *sample)
{
    size_t size = strlen(reader->family);
    const char *suffix = sample->name + size;
    if (strncmp(sample->name, reader->family, size) != 0) {
        fail(reader, "a sample of another family");
    }
    if (strcmp(reader->type, "histogram") != 0) {
        if (*suffix != '\0') {
            fail(reader, "a sample of another family");
        }
        return;
    }
    if (strcmp(suffix, "_bucket") == 0) {
        const char *le = strstr(sample->labels, "le=\"");
        double bound = le == NULL ? (double)NAN : strtod(le + 4, NULL);
        if (!(bound > reader->bucket_le) || sample->value < reader->bucket_count) {
            fail(reader, "buckets do not ascend");
        }
        reader->bucket_le = bound;
        reader->bucket_count = sample->value;
    } else if (strcmp(suffix, "_count") == 0) {
        if (!isinf(reader->bucket_le) || sample->value != reader->bucket_count) {
            fail(reader, "the count is not that of the bucket +Inf");
        }
    } else if (strcmp(suffix, "_sum") != 0) {
        fail(reader, "a sample of another family");
    }
}

static void add_sample(struct reader *reader, const char *at)
{
    struct metrics_page *page = reader->page;
    size_t size = name_size(at, false);
    if (size == 0 || reader->type == NULL) {
        fail(reader, "a sample without name, or without HELP and TYPE in front of it");
    }
    const char *labels = at + size;
    const char *behind = *labels == '{' ? skip_labels(reader, labels) : labels;
    if (*behind != ' ') {
        fail(reader, "no blank in front of the value");
    }
    struct metrics_sample sample = {
        .name = weir_test_format("%.*s", (int)size, at),
        .labels =
            weir_test_format("%.*s", behind > labels ? (int)(behind - labels - 2) : 0, labels + 1),
        .value = number(reader, behind + 1),
    };
    check_suffix(reader, &sample);
    bool is_counter = strcmp(reader->type, "counter") == 0;
    bool is_total = size > 6 && strcmp(sample.name + size - 6, "_total") == 0;
    if (is_counter != is_total ||
        (is_counter && (sample.value < 0 || sample.value != floor(sample.value)))) {
        fail(reader, "counters, and only they, end in _total and are whole numbers");
    }
    for (size_t i = 0; i < page->count; i++) {
        if (strcmp(page->samples[i].name, sample.name) == 0 &&
            strcmp(page->samples[i].labels, sample.labels) == 0) {
            fail(reader, "the series is there twice");
        }
    }
    page->samples = weir_test_realloc(page->samples, (page->count + 1) * sizeof *page->samples);
    page->samples[page->count++] = sample;
}

static void begin_family(struct reader *reader, const char *at)
{
    struct metrics_page *page = reader->page;
    size_t size = name_size(at, false);
    if (size == 0 || at[size] != ' ' || at[size + 1] == '\n' || strncmp(at, "weir_", 5) != 0) {
        fail(reader, "no HELP");
    }
    free(reader->family);
    reader->family = weir_test_format("%.*s", (int)size, at);
    reader->type = NULL;
    for (size_t i = 0; i < page->family_count; i++) {
        if (strcmp(page->families[i], reader->family) == 0) {
            fail(reader, "the family is there twice");
        }
    }
}

static void add_type(struct reader *reader, const char *at)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    struct metrics_page *page = reader->page;
    size_t size = reader->family != NULL ? strlen(reader->family) : 0;
    if (reader->family == NULL || reader->type != NULL || strncmp(at, reader->family, size) != 0 ||
        at[size] != ' ') {
        fail(reader, "a TYPE that does not follow its HELP");
    }
    at += size + 1;
    for (int i = 0; i < 3; i++) {
        if (strncmp(at, types[i], strlen(types[i])) == 0 && at[strlen(types[i])] == '\n') {
            reader->type = weir_test_format("%s", types[i]);
        }
    }
    if (reader->type == NULL) {
        fail(reader, "a TYPE that there is not");
    }
    reader->bucket_le = -(double)INFINITY;
    reader->bucket_count = 0;
    page->families =
        weir_test_realloc(page->families, (page->family_count + 1) * sizeof *page->families);
    page->types = weir_test_realloc(page->types, (page->family_count + 1) * sizeof *page->types);
    page->families[page->family_count] = weir_test_format("%s", reader->family);
    page->types[page->family_count++] = reader->type;
}

struct metrics_page *metrics_read(const char *text)
{
    struct reader reader = {.page = weir_test_alloc(sizeof *reader.page)};
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        reader.line = line;
        if (strchr(line, '\n') == NULL) {
            fail(&reader, "the last line does not end");
        }
        if (strncmp(line, "# HELP ", 7) == 0) {
            begin_family(&reader, line + 7);
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            add_type(&reader, line + 7);
        } else {
            add_sample(&reader, line);
        }
    }
    free(reader.family);
    return reader.page;
}

void metrics_free(struct metrics_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        free(page->samples[i].name);
        free(page->samples[i].labels);
    }
    for (size_t i = 0; i < page->family_count; i++) {
        free(page->families[i]);
        free(page->types[i]);
    }
    free(page->samples);
    free(page->families);
    free(page->types);
    free(page);
}

const char *metrics_type(const struct metrics_page *page, const char *family)
{
    for (size_t i = 0; i < page->family_count; i++) {
        if (strcmp(page->families[i], family) == 0) {
            return page->types[i];
        }
    }
    return NULL;
}

static bool has_labels(const struct metrics_sample *sample, const char *labels)
{
    for (const char *at = labels; *at != '\0';) {
        size_t size = strcspn(at, ";");
        char *wanted = weir_test_format("%.*s", (int)size, at);
        bool is_there = strstr(sample->labels, wanted) != NULL;
        free(wanted);
        if (!is_there) {
            return false;
        }
        at += size + (at[size] == ';' ? 1 : 0);
    }
    return true;
}

double metrics_sum(const struct metrics_page *page, const char *name, const char *labels,
                   size_t *count)
{
    double sum = 0;
    size_t found = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (strcmp(page->samples[i].name, name) == 0 && has_labels(&page->samples[i], labels)) {
            sum += page->samples[i].value;
            found++;
        }
    }
    if (count != NULL) {
        *count = found;
    }
    return sum;
}
