// SPDX-License-Identifier: Apache-2.0
// How the value of a variable is read. Every refusal quotes what was given and says what is
// accepted instead; secrets never come here with a rule that could refuse them.
#include "app/config_table.h"
#include "runtime/base/limits.h"
#include "runtime/base/text.h"
#include "runtime/types/datetime.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TOPIC_BYTES_MAX = 249 };

// Names that are safe in file names, Kafka's ids and metric labels alike.
static const char name_characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789._-";

static enum weir_status refuse(struct weir_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum weir_status refuse(struct weir_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum weir_status status =
        weir_error_set_va(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE, format, args);
    va_end(args);
    return status;
}

static bool is_name(const char *text, size_t bytes_max)
{
    size_t size = strlen(text);
    return size > 0 && size <= bytes_max && strspn(text, name_characters) == size;
}

// --- kinds ------------------------------------------------------------------------------------

static enum weir_status parse_integer(const struct weir_variable *variable, const char *text,
                                      uint32_t *field, struct weir_error *error)
{
    int64_t value;
    if (!weir_text_integer_parse(text, &value)) {
        return refuse(error, "\"%s\" is not a whole number from %" PRId64 " to %" PRId64, text,
                      variable->minimum, variable->maximum);
    }
    if (value < variable->minimum || value > variable->maximum) {
        return refuse(error, "\"%s\" is out of range; it is a number from %" PRId64 " to %" PRId64,
                      text, variable->minimum, variable->maximum);
    }
    *field = (uint32_t)value;
    return WEIR_OK;
}

static enum weir_status parse_duration(const struct weir_variable *variable, const char *text,
                                       int64_t *field, struct weir_error *error)
{
    int64_t value;
    if (weir_duration_parse(text, &value, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (value < variable->minimum || value > variable->maximum) {
        char least[WEIR_DURATION_TEXT_BYTES];
        char most[WEIR_DURATION_TEXT_BYTES];
        return refuse(error, "\"%s\" is out of range; it is a duration from %s to %s", text,
                      weir_duration_format(variable->minimum, least, sizeof least),
                      weir_duration_format(variable->maximum, most, sizeof most));
    }
    *field = value;
    return WEIR_OK;
}

static enum weir_status parse_size(const struct weir_variable *variable, const char *text,
                                   uint64_t *field, struct weir_error *error)
{
    uint64_t value;
    if (weir_size_parse(text, &value, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (value < (uint64_t)variable->minimum) {
        char least[WEIR_SIZE_TEXT_BYTES];
        return refuse(error, "\"%s\" is out of range; it is a size of at least %s", text,
                      weir_size_format((uint64_t)variable->minimum, least, sizeof least));
    }
    *field = value;
    return WEIR_OK;
}

// "fail, skip or dead_letter", cut to fit.
static const char *join_choices(const char *const *choices, const char *quote, char *text,
                                size_t text_bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; choices[i] != NULL && used < text_bytes; i++) {
        const char *between = i == 0 ? "" : choices[i + 1] == NULL ? " or " : ", ";
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%s%s%s", between, quote,
                                 choices[i], quote);
    }
    return text;
}

static enum weir_status parse_choice(const struct weir_variable *variable, const char *text,
                                     void *field, struct weir_error *error)
{
    for (uint32_t i = 0; variable->choices[i] != NULL; i++) {
        if (strcmp(variable->choices[i], text) == 0) {
            unsigned value = (unsigned)variable->minimum + i;
            memcpy(field, &value, sizeof value);
            return WEIR_OK;
        }
    }
    char list[256];
    return refuse(error, "\"%s\" is not known; write %s", text,
                  join_choices(variable->choices, "", list, sizeof list));
}

static enum weir_status parse_boolean(const char *text, bool *field, struct weir_error *error)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return refuse(error, "\"%s\" is not known; write true or false", text);
    }
    *field = text[0] == 't';
    return WEIR_OK;
}

enum weir_status weir_variable_parse(const struct weir_variable *variable, const char *text,
                                     struct weir_arena *arena, struct weir_config *config,
                                     struct weir_error *error)
{
    void *field = (char *)config + variable->offset;
    switch (variable->kind) {
    case WEIR_VARIABLE_TEXT:
        *(const char **)field = text;
        return WEIR_OK;
    case WEIR_VARIABLE_INTEGER:
        return parse_integer(variable, text, field, error);
    case WEIR_VARIABLE_DURATION:
        return parse_duration(variable, text, field, error);
    case WEIR_VARIABLE_SIZE:
        return parse_size(variable, text, field, error);
    case WEIR_VARIABLE_CHOICE:
        return parse_choice(variable, text, field, error);
    case WEIR_VARIABLE_BOOLEAN:
        return parse_boolean(text, field, error);
    case WEIR_VARIABLE_PARSED:
        return variable->parse(text, arena, config, error);
    }
    return refuse(error, "no reader for this kind of variable");
}

const char *weir_variable_form(const struct weir_variable *variable, char *text, size_t text_bytes)
{
    char least[WEIR_DURATION_TEXT_BYTES];
    char most[WEIR_DURATION_TEXT_BYTES];
    switch (variable->kind) {
    case WEIR_VARIABLE_INTEGER:
        snprintf(text, text_bytes, "a number, %" PRId64 " to %" PRId64, variable->minimum,
                 variable->maximum);
        return text;
    case WEIR_VARIABLE_DURATION:
        snprintf(text, text_bytes, "a duration, `%s` to `%s`",
                 weir_duration_format(variable->minimum, least, sizeof least),
                 weir_duration_format(variable->maximum, most, sizeof most));
        return text;
    case WEIR_VARIABLE_SIZE:
        snprintf(text, text_bytes, "a size, at least `%s`",
                 weir_size_format((uint64_t)variable->minimum, least, sizeof least));
        return text;
    case WEIR_VARIABLE_CHOICE:
        return join_choices(variable->choices, "`", text, text_bytes);
    case WEIR_VARIABLE_BOOLEAN:
        return "`true` or `false`";
    case WEIR_VARIABLE_TEXT:
    case WEIR_VARIABLE_PARSED:
        break;
    }
    return variable->form;
}

// --- single variables -------------------------------------------------------------------------

enum weir_status weir_parse_job_id(const char *text, struct weir_arena *arena,
                                   struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    if (!is_name(text, WEIR_JOB_ID_BYTES_MAX)) {
        return refuse(error,
                      "\"%s\" is not a job id; write 1 to %d of the characters A-Z a-z 0-9 . "
                      "_ -",
                      text, WEIR_JOB_ID_BYTES_MAX);
    }
    config->job_id = text;
    return WEIR_OK;
}

enum weir_status weir_parse_instance_id(const char *text, struct weir_arena *arena,
                                        struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    if (strcmp(text, "0") != 0) {
        return refuse(error, "\"%s\" is refused: a job runs in one process, whose instance id is 0",
                      text);
    }
    config->instance_id = 0;
    return WEIR_OK;
}

// Whether `text` of that size ends in ":<port>" with something in front of it.
static bool has_host_and_port(const char *text, size_t size_bytes, int64_t port_min)
{
    char port_text[8];
    const char *colon = memrchr(text, ':', size_bytes);
    if (colon == NULL || colon == text) {
        return false;
    }
    size_t port_bytes = (size_t)(text + size_bytes - colon - 1);
    if (port_bytes == 0 || port_bytes >= sizeof port_text) {
        return false;
    }
    memcpy(port_text, colon + 1, port_bytes);
    port_text[port_bytes] = '\0';
    int64_t port;
    return weir_text_integer_parse(port_text, &port) && port >= port_min && port <= 65535 &&
           strcspn(text, " \t\n") >= size_bytes;
}

// Without a port librdkafka takes 9092. With it, so that a slip does not become a time-out.
enum weir_status weir_parse_bootstrap_servers(const char *text, struct weir_arena *arena,
                                              struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    const char *at = text;
    for (;;) {
        size_t size = strcspn(at, ",");
        if (!has_host_and_port(at, size, 1)) {
            return refuse(error,
                          "\"%.*s\" is not a broker; write host:port, several with commas "
                          "between and no blanks",
                          (int)size, at);
        }
        if (at[size] == '\0') {
            break;
        }
        at += size + 1;
    }
    config->bootstrap_servers = text;
    return WEIR_OK;
}

enum weir_status weir_parse_state_dir(const char *text, struct weir_arena *arena,
                                      struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    if (strstr(text, "://") != NULL) {
        return refuse(error, "\"%s\" is not a path", text);
    }
    config->state_dir = text;
    return WEIR_OK;
}

enum weir_status weir_parse_checkpoint_dir(const char *text, struct weir_arena *arena,
                                           struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    static const char file_scheme[] = "file://";
    const char *path = text;
    if (strncmp(text, "s3://", 5) == 0) {
        return refuse(error,
                      "\"%s\" is refused: checkpoints in an object store do not exist yet; "
                      "write a path or file:// and a path",
                      text);
    }
    if (strncmp(text, file_scheme, strlen(file_scheme)) == 0) {
        path = text + strlen(file_scheme);
        if (path[0] != '/') {
            return refuse(error, "\"%s\" names another host; write file:/// and a path", text);
        }
    } else if (strstr(text, "://") != NULL) {
        return refuse(error, "\"%s\" is not a checkpoint store; write a path or file:// and a path",
                      text);
    }
    config->checkpoint_dir = path;
    return WEIR_OK;
}

enum weir_status weir_parse_guarantee(const char *text, struct weir_arena *arena,
                                      struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    config->is_at_least_once = strcmp(text, "at_least_once") == 0;
    if (!config->is_at_least_once && strcmp(text, "exactly_once") != 0) {
        return refuse(error, "\"%s\" is not known; write exactly_once or at_least_once", text);
    }
    return WEIR_OK;
}

enum weir_status weir_parse_restore(const char *text, struct weir_arena *arena,
                                    struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    static const char discard[] = "discard:";
    static const char savepoint[] = "savepoint:";
    config->restore_text = text;
    config->restore_value = "";
    if (strcmp(text, "auto") == 0) {
        config->restore_kind = WEIR_RESTORE_AUTO;
        return WEIR_OK;
    }
    if (strncmp(text, savepoint, strlen(savepoint)) == 0) {
        const char *path = text + strlen(savepoint);
        path += strncmp(path, "file://", 7) == 0 ? 7 : 0;
        if (path[0] != '/') {
            return refuse(error,
                          "\"%s\" needs the absolute path of a savepoint's folder behind the colon",
                          text);
        }
        config->restore_kind = WEIR_RESTORE_SAVEPOINT;
        config->restore_value = text + strlen(savepoint);
        return WEIR_OK;
    }
    if (strncmp(text, discard, strlen(discard)) != 0) {
        return refuse(error, "\"%s\" is not known; write auto, savepoint:<path> or discard:<word>",
                      text);
    }
    if (!is_name(text + strlen(discard), WEIR_JOB_ID_BYTES_MAX)) {
        return refuse(error,
                      "\"%s\" needs a word behind the colon: 1 to %d of the characters A-Z "
                      "a-z 0-9 . _ -, another one for each discarding",
                      text, WEIR_JOB_ID_BYTES_MAX);
    }
    config->restore_kind = WEIR_RESTORE_DISCARD;
    config->restore_value = text + strlen(discard);
    return WEIR_OK;
}

enum weir_status weir_parse_start(const char *text, struct weir_arena *arena,
                                  struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    struct weir_position position = {.kind = WEIR_POSITION_TIMESTAMP};
    int64_t since_2000_us;
    struct weir_value_error value_error;
    if (strcmp(text, "earliest") == 0) {
        position.kind = WEIR_POSITION_EARLIEST;
    } else if (strcmp(text, "latest") == 0) {
        position.kind = WEIR_POSITION_LATEST;
    } else if (weir_text_integer_parse(text, &position.timestamp_ms)) {
        // Milliseconds since 1970.
    } else if (weir_timestamptz_parse(weir_view_of(text), &since_2000_us, &value_error)) {
        if (!weir_timestamp_is_finite(since_2000_us)) {
            return refuse(error, "\"%s\" is no place in a topic; write earliest or latest", text);
        }
        // Every valid timestamp is far from the ends of int64_t, so the shift cannot overflow once
        // it is made in milliseconds. Rounded up: the first record at or after it.
        int64_t up = since_2000_us % 1000 > 0 ? 1 : 0;
        position.timestamp_ms = since_2000_us / 1000 + up + WEIR_EPOCH_SHIFT_MS;
    } else {
        return refuse(error,
                      "\"%s\" is not known; write earliest, latest or a timestamp, such as "
                      "2024-05-01T00:00:00Z or milliseconds since 1970",
                      text);
    }
    // Kafka's own questions use negative numbers with a meaning of their own.
    if (position.timestamp_ms < 0) {
        return refuse(error, "\"%s\" lies before 1970, and so before every record; write earliest",
                      text);
    }
    config->start = position;
    return WEIR_OK;
}

enum weir_status weir_parse_dead_letter_topic(const char *text, struct weir_arena *arena,
                                              struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    if (!is_name(text, TOPIC_BYTES_MAX) || strcmp(text, ".") == 0 || strcmp(text, "..") == 0) {
        return refuse(error,
                      "\"%s\" is not a topic's name: those have 1 to %d of the characters "
                      "A-Z a-z 0-9 . _ -",
                      text, TOPIC_BYTES_MAX);
    }
    config->dead_letter_topic = text;
    return WEIR_OK;
}

// The last colon counts: a quoted table may have others in its name.
enum weir_status weir_parse_quarantine(const char *text, struct weir_arena *arena,
                                       struct weir_config *config, struct weir_error *error)
{
    struct weir_quarantined *list =
        weir_arena_alloc(arena, (strlen(text) / 2 + 1) * sizeof *list); // "t:" at least
    uint32_t count = 0;
    char *items = weir_arena_strdup(arena, text);
    for (char *item = items; item != NULL;) {
        char *comma = strchr(item, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        char *colon = strrchr(item, ':');
        int64_t partition;
        if (colon == NULL || colon == item || !weir_text_integer_parse(colon + 1, &partition) ||
            partition < 0 || partition > INT32_MAX) {
            return refuse(error,
                          "\"%s\" is no partition of a table; write table:number, several with "
                          "commas between and no blanks",
                          item);
        }
        *colon = '\0';
        list[count++] = (struct weir_quarantined){.table = item, .partition = (int32_t)partition};
        item = comma != NULL ? comma + 1 : NULL;
    }
    config->quarantined_count = count;
    config->quarantined = list;
    return WEIR_OK;
}

enum weir_status weir_parse_allow(const char *text, struct weir_arena *arena,
                                  struct weir_config *config, struct weir_error *error)
{
    static const char *const names[] = {"unverified_transactions", "state_loss"};
    bool *const fields[] = {&config->is_unverified_transactions_allowed,
                            &config->is_state_loss_allowed};
    char *items = weir_arena_strdup(arena, text);
    for (char *item = items; item != NULL;) {
        char *comma = strchr(item, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        uint32_t i = 0;
        while (i < 2 && strcmp(item, names[i]) != 0) {
            i++;
        }
        if (i == 2) {
            return refuse(error,
                          "\"%s\" is not known; the nearest is %s (both: "
                          "unverified_transactions,state_loss)",
                          item, weir_text_nearest(item, 2, names, UINT32_MAX));
        }
        *fields[i] = true;
        item = comma != NULL ? comma + 1 : NULL;
    }
    return WEIR_OK;
}

enum weir_status weir_parse_http_listen(const char *text, struct weir_arena *arena,
                                        struct weir_config *config, struct weir_error *error)
{
    (void)arena;
    if (text[0] != '\0' && !has_host_and_port(text, strlen(text), 0)) {
        return refuse(error,
                      "\"%s\" is not an address; write host:port such as 0.0.0.0:8080, or "
                      "leave it empty for no HTTP",
                      text);
    }
    config->http_listen = text;
    return WEIR_OK;
}
