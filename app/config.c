// SPDX-License-Identifier: Apache-2.0
// See config.h. In order: the variables of the table, the defaults that the machine or another
// variable decides, what must fit together, the Kafka client's properties, and at last every WEIR_
// variable that nobody asked for. A fault never stops the reading.
#include "app/config.h"

#include "app/cgroup.h"
#include "app/config_environment.h"
#include "app/config_kafka.h"
#include "app/config_table.h"
#include "app/registry_columns.h"
#include "app/secret.h"
#include "runtime/base/assert.h"
#include "runtime/base/text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct loader {
    const struct weir_config_input *input;
    struct weir_arena *arena;
    struct weir_fault_list *faults;
    struct weir_fault_list notices;
    struct weir_environment environment;
    struct weir_config *config;
    struct weir_setting *settings;
    uint32_t setting_count;
};

static bool is_named(const struct weir_variable *variable, const char *name)
{
    return strcmp(variable->name, name) == 0;
}

static const char *default_sql(struct loader *loader, const char **source)
{
    const char *path =
        weir_arena_printf(loader->arena, "%s/etc/weir/job.sql", loader->input->root_dir);
    const char *reason;
    const char *text = weir_file_read(path, loader->arena, &reason);
    if (text != NULL) {
        *source = path;
        loader->config->sql_source = path;
    } else if (access(path, F_OK) == 0) {
        weir_fault_list_add(loader->faults, "WEIR_SQL (not given): cannot read \"%s\": %s", path,
                            reason);
    } else if (!loader->input->is_sql_optional) {
        weir_fault_list_add(loader->faults,
                            "WEIR_SQL: there is no job: neither WEIR_SQL nor "
                            "WEIR_SQL_FILE is given, and %s is not there",
                            path);
    }
    return text;
}

static const char *default_memory(struct loader *loader)
{
    uint64_t limit_bytes = weir_cgroup_memory_limit_bytes(loader->input->root_dir);
    if (limit_bytes == 0) {
        return "1GiB";
    }
    // In whole MiB, for readers.
    uint64_t size_bytes = (limit_bytes / 5 * 4) >> 20 << 20;
    char *text = weir_arena_alloc(loader->arena, WEIR_SIZE_TEXT_BYTES);
    return weir_size_format(size_bytes, text, WEIR_SIZE_TEXT_BYTES);
}

// A default that the table gives only in words. The value is read like a given one; NULL: none.
static const char *computed_default(struct loader *loader, const struct weir_variable *variable,
                                    const char **source)
{
    if (is_named(variable, "WEIR_SQL")) {
        return default_sql(loader, source);
    }
    if (is_named(variable, "WEIR_PARALLELISM")) {
        uint32_t cpu_count = weir_cgroup_cpu_count(loader->input->root_dir);
        return weir_arena_printf(loader->arena, "%" PRIu32,
                                 cpu_count < variable->maximum ? cpu_count
                                                               : (uint32_t)variable->maximum);
    }
    if (is_named(variable, "WEIR_MEMORY")) {
        return default_memory(loader);
    }
    WEIR_ASSERT(is_named(variable, "WEIR_CHECKPOINT_DIR"));
    const char *state_dir = loader->config->state_dir;
    return state_dir == NULL ? NULL : weir_arena_printf(loader->arena, "%s/checkpoints", state_dir);
}

static void load_variable(struct loader *loader, const struct weir_variable *variable)
{
    struct weir_given given =
        weir_environment_lookup(&loader->environment, variable->name, variable->may_be_empty);
    bool is_given = given.value != NULL || given.is_faulty;
    struct weir_setting *setting = &loader->settings[loader->setting_count++];
    *setting = (struct weir_setting){
        .name = variable->name,
        .value = given.value,
        .source = given.source,
        .default_text = variable->default_words != NULL  ? variable->default_words
                        : variable->default_text != NULL ? variable->default_text
                                                         : "",
        .is_secret = variable->is_secret,
    };
    if (!is_given) {
        setting->source = "default";
        setting->value = variable->default_words != NULL
                             ? computed_default(loader, variable, &setting->source)
                             : variable->default_text;
        // The missing job has said so itself.
        if (setting->value == NULL && variable->is_required && !loader->input->is_partial_ok &&
            variable->default_words == NULL) {
            weir_fault_list_add(loader->faults, "%s: not set, and required", variable->name);
        }
    }
    if (setting->value == NULL) {
        return;
    }
    struct weir_error error;
    if (weir_variable_parse(variable, setting->value, loader->arena, loader->config, &error) !=
        WEIR_OK) {
        weir_fault_list_add(loader->faults, "%s%s: %s", given.label, is_given ? "" : " (not given)",
                            error.text);
    }
    if (is_given && variable->notice != NULL) {
        weir_fault_list_add(&loader->notices, "%s %s", variable->name, variable->notice);
    }
    if (is_given && is_named(variable, "WEIR_SQL")) {
        loader->config->sql_source =
            strcmp(given.label, variable->name) == 0 ? variable->name : given.source;
    }
}

// --- unknown names ----------------------------------------------------------------------------

// Kubernetes tells every pod about the Services of its namespace in variables that are named after
// them; for one named weir or weir-something they begin with WEIR_.
static bool is_of_kubernetes(const struct weir_environment_entry *entry)
{
    return strstr(entry->name, "_SERVICE_HOST") != NULL ||
           strstr(entry->name, "_SERVICE_PORT") != NULL ||
           strncmp(entry->value, "tcp://", 6) == 0 || strncmp(entry->value, "udp://", 6) == 0 ||
           strstr(entry->name, "_TCP_") != NULL || strstr(entry->name, "_UDP_") != NULL;
}

static void refuse_unknown(struct loader *loader)
{
    const char **names = weir_arena_alloc(loader->arena, weir_variable_count * 2 * sizeof *names);
    uint32_t name_count = 0;
    for (uint32_t i = 0; i < weir_variable_count; i++) {
        names[name_count++] = weir_variables[i].name;
    }
    for (uint32_t i = 0; i < weir_variable_count; i++) {
        names[name_count++] = weir_arena_printf(loader->arena, "%s_FILE", weir_variables[i].name);
    }
    for (uint32_t i = 0; i < loader->environment.count; i++) {
        const struct weir_environment_entry *entry = &loader->environment.entries[i];
        if (entry->is_used) {
            continue;
        }
        // The value is not shown: a secret may have a misspelt name.
        weir_fault_list_add(
            loader->faults, "%s: no such variable; the nearest is %s%s", entry->name,
            weir_text_nearest(entry->name, name_count, names, UINT32_MAX),
            is_of_kubernetes(entry) ? " (Kubernetes sets such variables for a Service whose name "
                                      "begins with weir: enableServiceLinks: false stops it)"
                                    : "");
    }
}

// --- what must fit together -------------------------------------------------------------------

uint64_t weir_config_shared_bytes(const struct weir_config *config)
{
    // An idle job of 100 partitions is resident with 25 MiB; an eighth is lost between blocks.
    const uint64_t fixed_bytes = UINT64_C(32) << 20;
    return config->memory_bytes - fixed_bytes - config->memory_bytes / 8;
}

int64_t weir_transaction_timeout_ms(int64_t checkpoint_interval_ms, int64_t checkpoint_timeout_ms,
                                    uint32_t checkpoint_concurrent_max)
{
    int64_t timeout_ms = (checkpoint_interval_ms + checkpoint_timeout_ms) *
                             ((int64_t)checkpoint_concurrent_max + 1) +
                         30000;
    return timeout_ms > 90000 ? timeout_ms : 90000;
}

static void settle_transaction_timeout(struct loader *loader)
{
    struct weir_config *config = loader->config;
    int64_t rule_ms =
        weir_transaction_timeout_ms(config->checkpoint_interval_ms, config->checkpoint_timeout_ms,
                                    config->checkpoint_concurrent_max);
    if (!config->is_transaction_timeout_given) {
        config->transaction_timeout_ms = rule_ms;
        loader->settings[loader->setting_count++] = (struct weir_setting){
            .name = "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS",
            .value = weir_arena_printf(loader->arena, "%" PRId64, rule_ms),
            .source = "default",
            .default_text = "from the checkpoints' interval, time-out and number",
        };
    } else if (config->transaction_timeout_ms < rule_ms) {
        weir_fault_list_add(&loader->notices,
                            "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS %" PRId64
                            " is less than the %" PRId64
                            " that the checkpoint settings need: slow checkpoints will be replayed",
                            config->transaction_timeout_ms, rule_ms);
    }
}

static bool is_set(const struct loader *loader, const char *name)
{
    for (uint32_t i = 0; i < loader->setting_count; i++) {
        if (strcmp(loader->settings[i].name, name) == 0) {
            return strcmp(loader->settings[i].source, "default") != 0;
        }
    }
    return false;
}

static void check_together(struct loader *loader)
{
    struct weir_config *config = loader->config;
    if (!config->is_at_least_once && is_set(loader, "WEIR_CHECKPOINT_TOLERABLE_FAILURES")) {
        weir_fault_list_add(&loader->notices, "WEIR_CHECKPOINT_TOLERABLE_FAILURES has no effect "
                                              "under exactly_once");
    }
    // One that could not be read is 0, and has its fault already.
    if (config->restart_backoff_max_ms != 0 &&
        config->restart_backoff_ms > config->restart_backoff_max_ms) {
        char least[WEIR_DURATION_TEXT_BYTES];
        char most[WEIR_DURATION_TEXT_BYTES];
        weir_fault_list_add(
            loader->faults,
            "WEIR_RESTART_BACKOFF (%s) is longer than WEIR_RESTART_BACKOFF_MAX "
            "(%s)",
            weir_duration_format(config->restart_backoff_ms, least, sizeof least),
            weir_duration_format(config->restart_backoff_max_ms, most, sizeof most));
    }
    uint64_t limit_bytes = weir_cgroup_memory_limit_bytes(loader->input->root_dir);
    if (limit_bytes != 0 && config->memory_bytes > limit_bytes) {
        char given[WEIR_SIZE_TEXT_BYTES];
        char limit[WEIR_SIZE_TEXT_BYTES];
        weir_fault_list_add(&loader->notices,
                            "WEIR_MEMORY %s is more than the container's limit of %s: the process "
                            "may be killed for memory",
                            weir_size_format(config->memory_bytes, given, sizeof given),
                            weir_size_format(limit_bytes, limit, sizeof limit));
    }
}

// --- secrets ----------------------------------------------------------------------------------

static void collect_secrets(struct loader *loader)
{
    struct weir_secrets secrets;
    weir_secrets_init(&secrets, loader->arena);
    for (uint32_t i = 0; i < loader->setting_count; i++) {
        const struct weir_setting *setting = &loader->settings[i];
        if (setting->value == NULL) {
            continue;
        }
        if (setting->is_secret) {
            weir_secrets_add(&secrets, setting->value);
        }
        weir_secrets_add_from_text(&secrets, setting->value);
    }
    loader->config->secrets = secrets;
}

// One line a fault, whatever a value holds, and no secret that a value carried along.
static void clean_faults(struct loader *loader, uint32_t first)
{
    struct weir_buffer text = {0};
    for (uint32_t i = first; i < loader->faults->count; i++) {
        struct weir_buffer line = {0};
        weir_secrets_mask(&loader->config->secrets, loader->faults->texts[i], &line);
        text.size_bytes = 0;
        weir_append_escaped(&text, weir_buffer_text(&line));
        loader->faults->texts[i] = weir_arena_strdup(loader->arena, weir_buffer_text(&text));
        weir_buffer_deinit(&line);
    }
    weir_buffer_deinit(&text);
}

// ----------------------------------------------------------------------------------------------

enum weir_status weir_config_load(const struct weir_config_input *input, struct weir_arena *arena,
                                  struct weir_config *config, struct weir_fault_list *faults)
{
    uint32_t fault_count_before = faults->count;
    struct loader loader = {.input = input, .arena = arena, .faults = faults, .config = config};
    *config = (struct weir_config){0};
    weir_fault_list_init(&loader.notices, arena);
    weir_environment_init(&loader.environment, input->environment, arena, faults);
    loader.settings = weir_arena_alloc(arena, (weir_variable_count + loader.environment.count + 1) *
                                                  sizeof *loader.settings);
    for (uint32_t i = 0; i < weir_variable_count; i++) {
        load_variable(&loader, &weir_variables[i]);
    }
    check_together(&loader);
    weir_config_kafka_load(&loader.environment, config, loader.settings, &loader.setting_count);
    settle_transaction_timeout(&loader);
    refuse_unknown(&loader);
    collect_secrets(&loader);
    clean_faults(&loader, fault_count_before);

    config->setting_count = loader.setting_count;
    config->settings = loader.settings;
    config->notice_count = loader.notices.count;
    config->notices = loader.notices.texts;
    config->columns = weir_registry_columns_create(config, arena);
    return faults->count == fault_count_before ? WEIR_OK : WEIR_ERROR;
}
