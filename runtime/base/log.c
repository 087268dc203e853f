// SPDX-License-Identifier: Apache-2.0
// See log.h. A message is formatted on the stack and written with one write(2), so that lines of
// several threads do not mix; what is longer than the buffer is cut.
#include "runtime/base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 4096 };

static enum weir_log_level level_min = WEIR_LOG_INFO;
static enum weir_log_format line_format = WEIR_LOG_TEXT;

void weir_log_init(enum weir_log_level level, enum weir_log_format format)
{
    level_min = level;
    line_format = format;
}

bool weir_log_is_on(enum weir_log_level level)
{
    return level >= level_min;
}

static const char *level_name(enum weir_log_level level)
{
    switch (level) {
    case WEIR_LOG_DEBUG:
        return "debug";
    case WEIR_LOG_INFO:
        return "info";
    case WEIR_LOG_WARN:
        return "warn";
    case WEIR_LOG_ERROR:
        return "error";
    }
    return "?";
}

// Appends text with control characters (and, for JSON, quotes and backslashes) escaped; returns the
// new length, at most max.
static size_t append_escaped(char *line, size_t used, size_t max, const char *text, bool is_json)
{
    for (; *text != '\0' && used + 7 < max; text++) {
        unsigned char c = (unsigned char)*text;
        if (is_json && (c == '"' || c == '\\')) {
            line[used++] = '\\';
            line[used++] = (char)c;
        } else if (c == '\n') {
            line[used++] = is_json ? '\\' : '\n';
            line[used++] = is_json ? 'n' : ' ';
        } else if (c < 0x20) {
            used += (size_t)snprintf(line + used, max - used, "\\u%04x", c);
        } else {
            line[used++] = (char)c;
        }
    }
    return used;
}

void weir_log(enum weir_log_level level, const char *format, ...)
{
    if (level < level_min) {
        return;
    }
    char message[LINE_BYTES_MAX - 128];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);

    struct timeval now;
    gettimeofday(&now, NULL);
    struct tm utc;
    gmtime_r(&now.tv_sec, &utc);
    char when[40];
    size_t when_size = strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(when + when_size, sizeof when - when_size, ".%03dZ", (int)(now.tv_usec / 1000));

    char line[LINE_BYTES_MAX];
    bool is_json = line_format == WEIR_LOG_JSON;
    int head = is_json
                   ? snprintf(line, sizeof line, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":\"",
                              when, level_name(level))
                   : snprintf(line, sizeof line, "%s %-5s ", when, level_name(level));
    size_t used = append_escaped(line, (size_t)head, sizeof line - 4, message, is_json);
    if (is_json) {
        line[used++] = '"';
        line[used++] = '}';
    }
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written; // nowhere left to report it
}
