// SPDX-License-Identifier: Apache-2.0
// See config_table.h. A new variable is a row here, a field in struct weir_config, and the page
// made anew (`weir config --markdown > docs/configuration.md`).
#include "app/config_table.h"

#include "runtime/base/limits.h"

#include <string.h>

#define FIELD(name) offsetof(struct weir_config, name)

#define SECOND_MS INT64_C(1000)
#define HOUR_MS INT64_C(3600000)
#define DAY_MS INT64_C(86400000)

// In the order of the enums in sql/plan.h and runtime/base/log.h.
static const char *const on_bad_record_choices[] = {"fail", "skip", "dead_letter", NULL};
static const char *const log_level_choices[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_format_choices[] = {"text", "json", NULL};

// WEIR_PARALLELISM: a task owns at least one of the 128 key groups.
enum { PARALLELISM_MAX = 128 };

const struct weir_variable weir_variables[] = {
    {
        .name = "WEIR_SQL",
        .default_words = "`/etc/weir/job.sql` if it exists",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(sql_text),
        .is_required = true,
        .form = "SQL",
        .meaning = "The job: its statements, or with `WEIR_SQL_FILE` the file that holds them.",
    },
    {
        .name = "WEIR_JOB_ID",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_job_id,
        .is_required = true,
        .form = "1 to 100 of the characters `A-Z a-z 0-9 . _ -`",
        .meaning = "Names the job: its consumer group, its transactional ids and its folder of "
                   "checkpoints. Two jobs must never share one.",
    },
    {
        .name = "WEIR_INSTANCE_ID",
        .default_text = "0",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_instance_id,
        .form = "`0`",
        .meaning = "Ordinal of this instance of the job. Anything but 0 is refused: a job runs in "
                   "one process.",
    },
    {
        .name = "WEIR_KAFKA_BOOTSTRAP_SERVERS",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_bootstrap_servers,
        .is_required = true,
        .form = "`host:port`, comma-separated",
        .meaning = "Brokers to ask first.",
    },
    {
        .name = "WEIR_STATE_DIR",
        .default_text = "/var/lib/weir",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_state_dir,
        .form = "a path",
        .meaning = "Folder of the working state and, unless said otherwise, of the checkpoints. It "
                   "belongs to one process at a time.",
    },
    {
        .name = "WEIR_CHECKPOINT_DIR",
        .default_words = "`$WEIR_STATE_DIR/checkpoints`",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_checkpoint_dir,
        .form = "a path or `file://` and a path",
        .meaning = "The checkpoint store. It must outlive the process; two processes that may run "
                   "the same job must see the same one. Object stores (`s3://`) are refused: they "
                   "do not exist yet.",
    },
    {
        .name = "WEIR_CHECKPOINT_INTERVAL",
        .default_text = "1s",
        .kind = WEIR_VARIABLE_DURATION,
        .offset = FIELD(checkpoint_interval_ms),
        .minimum = 10,
        .maximum = HOUR_MS,
        .meaning = "Time from one checkpoint to the next. Results become visible to "
                   "`read_committed` readers once an interval.",
    },
    {
        .name = "WEIR_CHECKPOINT_TIMEOUT",
        .default_text = "60s",
        .kind = WEIR_VARIABLE_DURATION,
        .offset = FIELD(checkpoint_timeout_ms),
        .minimum = SECOND_MS,
        .maximum = HOUR_MS,
        .meaning = "A pending checkpoint older than this is cancelled.",
    },
    {
        .name = "WEIR_CHECKPOINT_MIN_PAUSE",
        .default_text = "0s",
        .kind = WEIR_VARIABLE_DURATION,
        .offset = FIELD(checkpoint_min_pause_ms),
        .minimum = 0,
        .maximum = HOUR_MS,
        .meaning = "Least time between the end of a checkpoint and the start of the next.",
    },
    {
        .name = "WEIR_CHECKPOINT_MAX_CONCURRENT",
        .default_text = "1",
        .kind = WEIR_VARIABLE_INTEGER,
        .offset = FIELD(checkpoint_concurrent_max),
        .minimum = 1,
        .maximum = WEIR_CHECKPOINTS_CONCURRENT_MAX,
        .meaning = "Checkpoints that may be under way at the same time.",
    },
    {
        .name = "WEIR_CHECKPOINT_TOLERABLE_FAILURES",
        .default_text = "3",
        .kind = WEIR_VARIABLE_INTEGER,
        .offset = FIELD(checkpoint_tolerable_failures),
        .minimum = 0,
        .maximum = 1000000,
        .meaning = "Consecutive failures that `at_least_once` takes before it recovers. Under "
                   "`exactly_once` a checkpoint that fails after its barrier went out always means "
                   "recovery from the last committed one.",
    },
    {
        .name = "WEIR_CHECKPOINT_RETAINED",
        .default_text = "2",
        .kind = WEIR_VARIABLE_INTEGER,
        .offset = FIELD(checkpoints_retained),
        .minimum = 1,
        .maximum = 1000000,
        .meaning = "Completed checkpoints that are kept at least. Nothing younger than a minute is "
                   "deleted.",
    },
    {
        .name = "WEIR_GUARANTEE",
        .default_text = "exactly_once",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_guarantee,
        .form = "`exactly_once` or `at_least_once`",
        .meaning = "What readers of the output may rely on. `at_least_once`: rows are visible at "
                   "once and can come twice after a crash; nothing is lost, and no task waits for "
                   "barriers.",
    },
    {
        .name = "WEIR_RESTORE",
        .default_text = "auto",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_restore,
        .form = "`auto`, `savepoint:` and a path, or `discard:` and a word",
        .meaning =
            "Where a start goes on. `auto`: from the committed pointer. `savepoint:<path>`: from "
            "that savepoint's state and positions. `discard:<word>`: from `WEIR_START` with empty "
            "state, on purpose. The value is recorded, so that a restart with the same one goes on "
            "from the committed pointer; another one is obeyed anew.",
    },
    {
        .name = "WEIR_START",
        .default_text = "earliest",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_start,
        .form = "`earliest`, `latest` or a timestamp",
        .meaning = "Where a source without a committed position begins; a table's `start` wins. "
                   "Timestamps: milliseconds since 1970, or ISO 8601 or PostgreSQL's spelling, in "
                   "UTC where no zone is given.",
    },
    {
        .name = "WEIR_BOUNDED",
        .default_text = "false",
        .kind = WEIR_VARIABLE_BOOLEAN,
        .offset = FIELD(is_bounded),
        .meaning = "`true`: read up to the end offsets seen at the start, advance time to the end, "
                   "commit a final checkpoint and exit 0.",
    },
    {
        .name = "WEIR_PARALLELISM",
        .default_words = "the CPU quota, else the online CPUs",
        .kind = WEIR_VARIABLE_INTEGER,
        .offset = FIELD(parallelism),
        .minimum = 1,
        .maximum = PARALLELISM_MAX,
        .meaning = "Tasks of a parallel stage. Another value at a restart just goes on.",
    },
    {
        .name = "WEIR_MEMORY",
        .default_words = "80 % of the container's limit, else `1GiB`",
        .kind = WEIR_VARIABLE_SIZE,
        .offset = FIELD(memory_bytes),
        .minimum = INT64_C(128) << 20,
        .meaning = "The one budget of memory: the resident size stays under it.",
    },
    {
        .name = "WEIR_CONNECT_TIMEOUT",
        .default_text = "60s",
        .kind = WEIR_VARIABLE_DURATION,
        .offset = FIELD(connect_timeout_ms),
        .minimum = 100,
        .maximum = DAY_MS,
        .meaning = "How long a start waits for brokers before it exits with 1.",
    },
    {
        .name = "WEIR_ON_BAD_RECORD",
        .default_text = "fail",
        .kind = WEIR_VARIABLE_CHOICE,
        .offset = FIELD(on_bad_record),
        .minimum = WEIR_ON_ERROR_FAIL,
        .choices = on_bad_record_choices,
        .meaning =
            "What becomes of a record that cannot be used: `fail` stops the job before that "
            "record's epoch commits, `skip` counts it by reason, `dead_letter` writes it to the "
            "dead-letter topic inside the same transaction. A table's `on_error` wins.",
    },
    {
        .name = "WEIR_DEAD_LETTER_TOPIC",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_dead_letter_topic,
        .form = "a topic's name",
        .meaning = "Topic for bad records under `dead_letter`. A table's `dead_letter_topic` wins.",
    },
    {
        .name = "WEIR_QUARANTINE",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_quarantine,
        .form = "comma-separated `table:partition`",
        .meaning =
            "Partitions that are left alone, one by one: they are not read, their positions stay "
            "in every checkpoint as they are, and event time does not wait for them. A start "
            "without the variable goes on where they stand ([http.md](http.md), Quarantine).",
    },
    {
        .name = "WEIR_ALLOW",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_allow,
        .form = "comma-separated `unverified_transactions`, `state_loss`",
        .meaning =
            "What is allowed on purpose. `unverified_transactions`: brokers that do not verify "
            "transactions, where a late request can double or rewind results, or do not let weir's "
            "user ask whether they do. `state_loss`: a "
            "changed job that drops state.",
    },
    {
        .name = "WEIR_RESTART_ATTEMPTS",
        .default_text = "10",
        .kind = WEIR_VARIABLE_INTEGER,
        .offset = FIELD(restart_attempts_max),
        .minimum = 0,
        .maximum = 1000000,
        .meaning = "Restarts inside the process before it exits with 1. The count begins anew "
                   "after a healthy period.",
    },
    {
        .name = "WEIR_RESTART_BACKOFF",
        .default_text = "1s",
        .kind = WEIR_VARIABLE_DURATION,
        .offset = FIELD(restart_backoff_ms),
        .minimum = 1,
        .maximum = HOUR_MS,
        .meaning = "Pause before the first restart; it doubles with each one that follows.",
    },
    {
        .name = "WEIR_RESTART_BACKOFF_MAX",
        .default_text = "60s",
        .kind = WEIR_VARIABLE_DURATION,
        .offset = FIELD(restart_backoff_max_ms),
        .minimum = 1,
        .maximum = HOUR_MS,
        .meaning = "Longest pause before a restart.",
    },
    {
        .name = "WEIR_HTTP_LISTEN",
        .default_text = "0.0.0.0:8080",
        .kind = WEIR_VARIABLE_PARSED,
        .parse = weir_parse_http_listen,
        .may_be_empty = true,
        .form = "`host:port` or empty",
        .meaning = "Where HTTP is served ([http.md](http.md)); empty: nowhere. `[::]:8080` takes "
                   "IPv6 and IPv4; port 0 takes one that is free and says so in the log.",
    },
    {
        .name = "WEIR_HTTP_TOKEN",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(http_token),
        .is_secret = true,
        .form = "text",
        .meaning = "Bearer token of HTTP requests that change something. Without it they are "
                   "refused except from the machine itself.",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry),
        .form = "a URL",
        .meaning = "The schema registry (Confluent's API) of tables in Avro; it may have a path. A "
                   "table's `schema_registry` wins.",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY_USERNAME",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry_username),
        .form = "text",
        .meaning = "User of the schema registry (basic authentication).",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY_PASSWORD",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry_password),
        .is_secret = true,
        .form = "text",
        .meaning = "Password of the schema registry.",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY_TOKEN",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry_token),
        .is_secret = true,
        .form = "text",
        .meaning = "Bearer token for the schema registry, instead of user and password.",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY_CERTIFICATE",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry_certificate),
        .form = "a path",
        .meaning = "File with the certificate (PEM) that an `https` registry wants to see of its "
                   "clients.",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY_KEY",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry_key),
        .form = "a path",
        .meaning = "File with the private key (PEM) of that certificate; without it the key is "
                   "in the certificate's file.",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY_KEY_PASSWORD",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry_key_password),
        .is_secret = true,
        .form = "text",
        .meaning = "Password of the private key.",
    },
    {
        .name = "WEIR_SCHEMA_REGISTRY_CA",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(schema_registry_ca),
        .form = "a path",
        .meaning = "File of certificates (PEM) that vouch for an `https` registry; without it the "
                   "system's do.",
    },
    {
        .name = "WEIR_LOG_LEVEL",
        .default_text = "info",
        .kind = WEIR_VARIABLE_CHOICE,
        .offset = FIELD(log_level),
        .minimum = WEIR_LOG_DEBUG,
        .choices = log_level_choices,
        .meaning = "The least level that is written.",
    },
    {
        .name = "WEIR_LOG_FORMAT",
        .default_text = "text",
        .kind = WEIR_VARIABLE_CHOICE,
        .offset = FIELD(log_format),
        .minimum = WEIR_LOG_TEXT,
        .choices = log_format_choices,
        .meaning = "How messages are written: one line each, to standard error.",
    },
    {
        .name = "WEIR_FAILPOINTS",
        .kind = WEIR_VARIABLE_TEXT,
        .offset = FIELD(failpoints),
        .form = "comma-separated `name=kill`, `name=error`, `name=sleep:<ms>`, each with `@<hit>` "
                "or not",
        .meaning = "**An aid of tests, never for production**: makes the process die, fail or wait "
                   "at named places.",
    },
};

const uint32_t weir_variable_count = sizeof weir_variables / sizeof weir_variables[0];
