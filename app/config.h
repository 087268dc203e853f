// SPDX-License-Identifier: Apache-2.0
// The configuration of a job: read once at start from the environment, immutable afterwards.
// Every variable is a row of the table in config_table.c, from which come parsing, `weir config`
// and docs/configuration.md. Nothing is touched here: no broker, no folder, only files that a
// variable names are read. Thread: any, once loaded.
#ifndef WEIR_APP_CONFIG_H
#define WEIR_APP_CONFIG_H

#include "app/fault_list.h"
#include "app/secret.h"
#include "kafka/client.h"
#include "runtime/base/log.h"
#include "runtime/base/memory.h"
#include "sql/plan.h"

#include <stdbool.h>
#include <stdint.h>

enum weir_restore_kind {
    WEIR_RESTORE_AUTO,      // the committed pointer
    WEIR_RESTORE_SAVEPOINT, // restore_value: its path
    WEIR_RESTORE_DISCARD,   // restore_value: the word that tells one discarding from the next
};

// A partition that this run leaves alone.
struct weir_quarantined {
    const char *table;
    int32_t partition;
};

// One line of `weir config`.
struct weir_setting {
    const char *name;         // WEIR_…
    const char *value;        // as given, or the default that applies; NULL: not set
    const char *source;       // "default", "environment" or the path of the file
    const char *default_text; // "" where there is none
    bool is_secret;
};

// All texts live in the arena given to weir_config_load.
struct weir_config {
    const char *job_id;
    uint32_t instance_id;
    const char *sql_text;   // NULL: none found (a fault)
    const char *sql_source; // "WEIR_SQL" or the path of the file
    const char *state_dir;
    const char *checkpoint_dir; // a path, also where file:// was given
    int64_t checkpoint_interval_ms;
    int64_t checkpoint_timeout_ms;
    int64_t checkpoint_min_pause_ms;
    uint32_t checkpoint_concurrent_max;
    uint32_t checkpoint_tolerable_failures;
    uint32_t checkpoints_retained;
    bool is_at_least_once; // else exactly once
    enum weir_restore_kind restore_kind;
    const char *restore_value;  // "" for auto
    const char *restore_text;   // WEIR_RESTORE as given: what a manifest records
    struct weir_position start; // never WEIR_POSITION_DEFAULT
    bool is_bounded;
    uint32_t parallelism;
    uint64_t memory_bytes;
    int64_t connect_timeout_ms;
    enum weir_on_error on_bad_record; // never WEIR_ON_ERROR_DEFAULT
    const char *dead_letter_topic;    // NULL: none
    uint32_t quarantined_count;
    const struct weir_quarantined *quarantined;
    bool is_unverified_transactions_allowed;
    bool is_state_loss_allowed;
    uint32_t restart_attempts_max;
    int64_t restart_backoff_ms;
    int64_t restart_backoff_max_ms;
    const char *http_listen;     // "": off
    const char *http_token;      // NULL: none
    const char *schema_registry; // NULL: none, like those that follow
    const char *schema_registry_username;
    const char *schema_registry_password;
    const char *schema_registry_token;
    const char *schema_registry_ca; // NULL: the system's
    const char *schema_registry_certificate;
    const char *schema_registry_key;
    const char *schema_registry_key_password;
    enum weir_log_level log_level;
    enum weir_log_format log_format;
    const char *failpoints; // NULL: none

    // Properties of the Kafka client, in librdkafka's spelling, checked by name and value;
    // bootstrap.servers is among the first ones. transaction.timeout.ms is in none of the lists:
    // it is the number below, given by the operator or computed.
    const char *bootstrap_servers;
    uint32_t property_count; // both sides
    const struct weir_property *properties;
    uint32_t consumer_property_count;
    const struct weir_property *consumer_properties;
    uint32_t producer_property_count;
    const struct weir_property *producer_properties;
    int64_t transaction_timeout_ms;
    bool is_transaction_timeout_given;

    uint32_t setting_count; // every variable and every Kafka property that was given
    const struct weir_setting *settings;
    uint32_t notice_count; // what a run warns about at its start, a line each
    const char **notices;
    struct weir_secrets secrets; // what no output may show

    // Who is asked for the columns of tables that are created without any, whenever the SQL is
    // planned: by the main thread.
    struct weir_sql_columns *columns;
};

struct weir_config_input {
    char *const *environment; // "NAME=value", NULL-terminated
    const char *root_dir;     // "" but in tests: put in front of /etc/weir, /proc and /sys
    // Required variables may be missing (commands that need the SQL only).
    bool is_partial_ok;
    bool is_sql_optional; // commands that look at the store only
};

// Reads everything and adds one fault a mistake. WEIR_OK: *config is complete. WEIR_ERROR: at least
// one fault was added; fields without fault, settings and secrets are filled all the same.
// May block on reading the files that variables name.
enum weir_status weir_config_load(const struct weir_config_input *input, struct weir_arena *arena,
                                  struct weir_config *config, struct weir_fault_list *faults);

// What of WEIR_MEMORY is divided among state, what is fetched ahead and what is being sent. The
// rest is the program itself, its threads, batches on their way, and what the allocator cannot give
// back.
uint64_t weir_config_shared_bytes(const struct weir_config *config);

// What of it a Kafka client is made with; how long its queues may be is the caller's to set.
struct weir_kafka_config weir_config_client(const struct weir_config *config, const char *group_id);

// (interval + time-out) × (concurrent + 1) + 30 s, at least 90 s.
int64_t weir_transaction_timeout_ms(int64_t checkpoint_interval_ms, int64_t checkpoint_timeout_ms,
                                    uint32_t checkpoint_concurrent_max);

// `weir config`: every variable with value, source and default; secrets masked.
void weir_config_print(const struct weir_config *config, struct weir_buffer *out);

// docs/configuration.md, from the tables alone.
void weir_config_print_markdown(struct weir_buffer *out);

#endif
