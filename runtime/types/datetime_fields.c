// SPDX-License-Identifier: Apache-2.0
// See datetime_fields.h. Cuts where PostgreSQL cuts, since what a field is decides what it may
// mean.
#include "runtime/types/datetime_fields.h"

#include "runtime/types/digits.h"

// --- words -----------------------------------------------------------------------------------

struct word {
    const char *text;
    enum weir_datetime_word kind;
    int32_t value;
};

static const struct word words[] = {
    {"-infinity", WEIR_WORD_MINUS_INFINITY, 0},
    {"ad", WEIR_WORD_ERA, 0},
    {"allballs", WEIR_WORD_MIDNIGHT, 0},
    {"am", WEIR_WORD_MERIDIEM, 0},
    {"apr", WEIR_WORD_MONTH, 4},
    {"april", WEIR_WORD_MONTH, 4},
    {"at", WEIR_WORD_IGNORED, 0},
    {"aug", WEIR_WORD_MONTH, 8},
    {"august", WEIR_WORD_MONTH, 8},
    {"bc", WEIR_WORD_ERA, 1},
    {"d", WEIR_WORD_UNIT, WEIR_UNIT_DAY},
    {"dec", WEIR_WORD_MONTH, 12},
    {"december", WEIR_WORD_MONTH, 12},
    {"dow", WEIR_WORD_UNIT, WEIR_UNIT_NOT_INPUT},
    {"doy", WEIR_WORD_UNIT, WEIR_UNIT_NOT_INPUT},
    {"dst", WEIR_WORD_DAYLIGHT_SAVING, 0},
    {"epoch", WEIR_WORD_EPOCH, 0},
    {"feb", WEIR_WORD_MONTH, 2},
    {"february", WEIR_WORD_MONTH, 2},
    {"fri", WEIR_WORD_WEEKDAY, 5},
    {"friday", WEIR_WORD_WEEKDAY, 5},
    {"gmt", WEIR_WORD_UTC, 0},
    {"h", WEIR_WORD_UNIT, WEIR_UNIT_HOUR},
    {"infinity", WEIR_WORD_INFINITY, 0},
    {"isodow", WEIR_WORD_UNIT, WEIR_UNIT_NOT_INPUT},
    {"isoyear", WEIR_WORD_UNIT, WEIR_UNIT_NOT_INPUT},
    {"j", WEIR_WORD_UNIT, WEIR_UNIT_JULIAN},
    {"jan", WEIR_WORD_MONTH, 1},
    {"january", WEIR_WORD_MONTH, 1},
    {"jd", WEIR_WORD_UNIT, WEIR_UNIT_JULIAN},
    {"jul", WEIR_WORD_MONTH, 7},
    {"julian", WEIR_WORD_UNIT, WEIR_UNIT_JULIAN},
    {"july", WEIR_WORD_MONTH, 7},
    {"jun", WEIR_WORD_MONTH, 6},
    {"june", WEIR_WORD_MONTH, 6},
    {"m", WEIR_WORD_UNIT, WEIR_UNIT_MONTH},
    {"mar", WEIR_WORD_MONTH, 3},
    {"march", WEIR_WORD_MONTH, 3},
    {"may", WEIR_WORD_MONTH, 5},
    {"mm", WEIR_WORD_UNIT, WEIR_UNIT_MINUTE},
    {"mon", WEIR_WORD_WEEKDAY, 1},
    {"monday", WEIR_WORD_WEEKDAY, 1},
    {"nov", WEIR_WORD_MONTH, 11},
    {"november", WEIR_WORD_MONTH, 11},
    {"now", WEIR_WORD_CLOCK, 0},
    {"oct", WEIR_WORD_MONTH, 10},
    {"october", WEIR_WORD_MONTH, 10},
    {"on", WEIR_WORD_IGNORED, 0},
    {"pm", WEIR_WORD_MERIDIEM, 1},
    {"s", WEIR_WORD_UNIT, WEIR_UNIT_SECOND},
    {"sat", WEIR_WORD_WEEKDAY, 6},
    {"saturday", WEIR_WORD_WEEKDAY, 6},
    {"sep", WEIR_WORD_MONTH, 9},
    {"sept", WEIR_WORD_MONTH, 9},
    {"september", WEIR_WORD_MONTH, 9},
    {"sun", WEIR_WORD_WEEKDAY, 0},
    {"sunday", WEIR_WORD_WEEKDAY, 0},
    {"t", WEIR_WORD_TIME, WEIR_UNIT_TIME},
    {"thu", WEIR_WORD_WEEKDAY, 4},
    {"thur", WEIR_WORD_WEEKDAY, 4},
    {"thurs", WEIR_WORD_WEEKDAY, 4},
    {"thursday", WEIR_WORD_WEEKDAY, 4},
    {"today", WEIR_WORD_CLOCK, 0},
    {"tomorrow", WEIR_WORD_CLOCK, 0},
    {"tue", WEIR_WORD_WEEKDAY, 2},
    {"tues", WEIR_WORD_WEEKDAY, 2},
    {"tuesday", WEIR_WORD_WEEKDAY, 2},
    {"uct", WEIR_WORD_UTC, 0},
    {"ut", WEIR_WORD_UTC, 0},
    {"utc", WEIR_WORD_UTC, 0},
    {"wed", WEIR_WORD_WEEKDAY, 3},
    {"wednesday", WEIR_WORD_WEEKDAY, 3},
    {"weds", WEIR_WORD_WEEKDAY, 3},
    {"y", WEIR_WORD_UNIT, WEIR_UNIT_YEAR},
    {"yesterday", WEIR_WORD_CLOCK, 0},
    {"z", WEIR_WORD_UTC, 0},
    {"zulu", WEIR_WORD_UTC, 0},
};

enum weir_datetime_word weir_datetime_word_find(const char *text, int32_t *value)
{
    size_t low = 0;
    size_t high = sizeof words / sizeof words[0];
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(text, words[middle].text);
        if (order == 0) {
            *value = words[middle].value;
            return words[middle].kind;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    *value = 0;
    return WEIR_WORD_UNKNOWN;
}

// Zone names are no words of the calendar: "z+1" is one field, "t10" is two.
static bool is_calendar_word(const char *text)
{
    int32_t value;
    enum weir_datetime_word kind = weir_datetime_word_find(text, &value);
    return kind != WEIR_WORD_UNKNOWN && kind != WEIR_WORD_UTC;
}

// --- fields ----------------------------------------------------------------------------------

struct splitter {
    const char *at;
    const char *end;
    char *out;
    char *out_end;
    bool is_full;
};

static char peek(const struct splitter *splitter)
{
    return splitter->at < splitter->end ? *splitter->at : '\0';
}

static bool is_alphanumeric(char c)
{
    return weir_is_digit(c) || weir_is_alpha(c);
}

static void take(struct splitter *splitter)
{
    char c = *splitter->at++;
    if (splitter->out + 1 >= splitter->out_end) {
        splitter->is_full = true;
        return;
    }
    *splitter->out++ = weir_to_lower(c);
}

static void take_digits(struct splitter *splitter, const char *others)
{
    while (weir_is_digit(peek(splitter)) ||
           (peek(splitter) != '\0' && strchr(others, peek(splitter)) != NULL)) {
        take(splitter);
    }
}

static void take_letters(struct splitter *splitter)
{
    while (weir_is_alpha(peek(splitter))) {
        take(splitter);
    }
}

static enum weir_datetime_class split_after_digit(struct splitter *splitter)
{
    take_digits(splitter, "");
    char separator = peek(splitter);
    if (separator == ':') {
        take_digits(splitter, ":.");
        return WEIR_DATETIME_TIME;
    }
    if (separator != '-' && separator != '/' && separator != '.') {
        return WEIR_DATETIME_NUMBER;
    }
    const char same[2] = {separator, '\0'};
    take(splitter);
    if (!weir_is_digit(peek(splitter))) {
        while (is_alphanumeric(peek(splitter)) || peek(splitter) == separator) {
            take(splitter);
        }
        return WEIR_DATETIME_DATE;
    }
    take_digits(splitter, "");
    if (peek(splitter) == separator) { // three parts, so that 3.5 stays a number
        take_digits(splitter, same);
        return WEIR_DATETIME_DATE;
    }
    return separator == '.' ? WEIR_DATETIME_NUMBER : WEIR_DATETIME_DATE;
}

static enum weir_datetime_class split_after_letter(struct splitter *splitter, const char *start)
{
    take_letters(splitter);
    char next = peek(splitter);
    bool is_date = next == '-' || next == '/' || next == '.';
    if (next == '+' || weir_is_digit(next)) {
        *splitter->out = '\0';
        is_date = !is_calendar_word(start);
    }
    if (!is_date) {
        return WEIR_DATETIME_WORD;
    }
    while (next != '\0' && (is_alphanumeric(next) || strchr("+-/_.:", next) != NULL)) {
        take(splitter);
        next = peek(splitter);
    }
    return WEIR_DATETIME_DATE;
}

// false: the sign belongs to nothing.
static bool split_after_sign(struct splitter *splitter, enum weir_datetime_class *class)
{
    take(splitter);
    while (weir_is_space(peek(splitter))) {
        splitter->at++;
    }
    if (weir_is_digit(peek(splitter))) {
        take_digits(splitter, ":.-");
        *class = WEIR_DATETIME_ZONE;
        return true;
    }
    if (weir_is_alpha(peek(splitter))) {
        take_letters(splitter);
        *class = WEIR_DATETIME_WORD;
        return true;
    }
    return false;
}

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7f && !is_alphanumeric(c);
}

bool weir_datetime_split(struct weir_view text, struct weir_datetime_fields *out)
{
    struct splitter splitter = {
        .at = text.data,
        .end = text.data + text.size_bytes,
        .out = out->memory,
        .out_end = out->memory + sizeof out->memory,
    };
    out->count = 0;
    while (splitter.at < splitter.end) {
        char c = *splitter.at;
        if (weir_is_space(c) || (is_punctuation(c) && c != '+' && c != '-' && c != '.')) {
            splitter.at++;
            continue;
        }
        if (out->count == WEIR_DATETIME_FIELDS_MAX) {
            return false;
        }
        struct weir_datetime_field *field = &out->fields[out->count++];
        field->text = splitter.out;
        if (weir_is_digit(c)) {
            field->class = split_after_digit(&splitter);
        } else if (c == '.') {
            take(&splitter);
            take_digits(&splitter, "");
            field->class = WEIR_DATETIME_NUMBER;
        } else if (weir_is_alpha(c)) {
            field->class = split_after_letter(&splitter, field->text);
        } else if ((c != '+' && c != '-') || !split_after_sign(&splitter, &field->class)) {
            return false;
        }
        if (splitter.is_full) {
            return false;
        }
        *splitter.out++ = '\0';
    }
    return true;
}
