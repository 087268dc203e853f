// SPDX-License-Identifier: Apache-2.0
// What the SQL text of a job means: its tables and a graph of plan nodes, from sources to sinks.
// The plan says what is computed and knows no thread, task or client; app/job_build.c turns it into
// tasks and operators. Everything lives in the arena given to weir_sql_plan. Immutable afterwards.
#ifndef WEIR_SQL_PLAN_H
#define WEIR_SQL_PLAN_H

#include "operators/aggregate.h"
#include "operators/expr.h"
#include "operators/window.h"
#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "runtime/batch.h"

enum weir_format {
    WEIR_FORMAT_JSON,
    WEIR_FORMAT_RAW,           // one column, text or bytea
    WEIR_FORMAT_DEBEZIUM_JSON, // sources with a PRIMARY KEY
    WEIR_FORMAT_CSV,           // sources
    WEIR_FORMAT_AVRO,          // framed, with a schema registry
};

enum weir_on_error {
    WEIR_ON_ERROR_DEFAULT, // WEIR_ON_BAD_RECORD
    WEIR_ON_ERROR_FAIL,
    WEIR_ON_ERROR_SKIP,
    WEIR_ON_ERROR_DEAD_LETTER,
};

enum weir_on_missing {
    WEIR_ON_MISSING_FAIL,
    WEIR_ON_MISSING_CONTINUE,
};

enum weir_timestamp_unit {
    WEIR_UNIT_S,
    WEIR_UNIT_MS,
    WEIR_UNIT_US,
    WEIR_UNIT_NS,
};

// Where reading begins or ends.
enum weir_position_kind {
    WEIR_POSITION_DEFAULT, // start: WEIR_START; end: none
    WEIR_POSITION_EARLIEST,
    WEIR_POSITION_LATEST,
    WEIR_POSITION_TIMESTAMP,
};

struct weir_position {
    enum weir_position_kind kind;
    int64_t timestamp_ms; // Unix epoch
};

struct weir_table_column {
    const char *name;
    struct weir_type type;
    bool is_not_null;
    bool is_generated;
    bool is_event_time;
};

// What stands in front of a record in Avro.
enum weir_framing {
    WEIR_FRAMING_REGISTRY,
    WEIR_FRAMING_SINGLE_OBJECT,
    WEIR_FRAMING_NONE,
};

// How subjects are named from a table, as Confluent's serialisers do.
enum weir_subject_strategy {
    WEIR_SUBJECT_TOPIC,        // <topic>-value, <topic>-key
    WEIR_SUBJECT_RECORD,       // <record's full name>
    WEIR_SUBJECT_TOPIC_RECORD, // <topic>-<record's full name>
};

struct weir_table {
    const char *name;
    const char *topic;
    uint32_t column_count;
    const struct weir_table_column *columns; // as declared
    enum weir_format format;
    enum weir_format key_format;
    // A PRIMARY KEY makes the table keyed: upserts and tombstones, the key columns in the message
    // key. Without: option `key`, the columns that become the message key of a sink.
    bool is_keyed;
    uint32_t key_column_count;
    const uint32_t *key_columns;
    const char *late_topic;     // NULL: late rows are counted only
    int32_t event_time_column;  // -1: the record's timestamp
    int64_t watermark_delay_us; // -1: none given
    int64_t idle_timeout_ms;
    int64_t event_time_max_ahead_us; // -1: none
    int64_t close_after_ms;          // -1: off
    struct weir_position start;
    struct weir_position end;
    enum weir_timestamp_unit timestamp_unit;
    enum weir_on_error on_error;
    enum weir_on_missing on_missing;
    double on_error_max_ratio;     // 0: none
    const char *dead_letter_topic; // NULL: WEIR_DEAD_LETTER_TOPIC
    bool is_timestamp_now;         // sink option timestamp = 'now'
    int32_t headers_column;        // sink option headers: not in the value; -1: none
    int32_t partition_count;       // 0: the topic must exist
    int32_t replica_count;
    const char *schema_registry; // Avro; NULL: WEIR_SCHEMA_REGISTRY, like the three that follow
    const char *schema_registry_username;
    const char *schema_registry_password;
    const char *schema_registry_token;
    enum weir_framing framing; // of values in Avro
    const char *avro_schema;   // their schema, where no registry has it
    const char *subject;       // of values; NULL: by the strategy
    enum weir_subject_strategy subject_strategy;
    const char *record_name; // full name of the values' record; NULL: weir.<table>
    bool is_registering;     // a sink's schema is registered; false: the registered one is used
    bool is_source;
    bool is_sink;
};

// How far a query's time stays behind the rows; only windows insist that it is given.
static inline int64_t weir_table_delay_us(const struct weir_table *table)
{
    return table->watermark_delay_us >= 0 ? table->watermark_delay_us : 0;
}

enum weir_plan_kind {
    WEIR_PLAN_SOURCE,  // reads `table`; schema: the columns to decode (subset, composites pruned)
    WEIR_PLAN_DERIVE,  // schema: input's columns, then one for each of `exprs`; checks; event time
    WEIR_PLAN_FILTER,  // keeps rows for which exprs[0] is true
    WEIR_PLAN_PROJECT, // schema: one column for each of `exprs`
    WEIR_PLAN_SINK,    // writes its input (columns in the table's order) to `table`
    WEIR_PLAN_WATERMARK, // keeps the time of each partition of `table`; schema of its input
    WEIR_PLAN_TUMBLE,    // schema: input's columns, then window_start, window_end; `window`
    WEIR_PLAN_EXCHANGE,  // to the tasks that own key_columns; cuts stages; schema of its input
    WEIR_PLAN_NORMALIZE, // upserts by key_columns become changes; schema of its input
    WEIR_PLAN_AGGREGATE, // schema: key_columns, then one column for each of `aggregates`
};

// A condition over the columns of the node's schema that a row must meet, or be reported with
// reason constraint.
struct weir_plan_check {
    const struct weir_expr *condition; // false (not NULL) is a violation; NULL for NOT NULL
    int32_t not_null_column;           // -1: `condition` instead
    const char *message;               // PostgreSQL's wording, e.g. null value in column "x" …
};

struct weir_plan_node {
    enum weir_plan_kind kind;
    uint32_t idx;         // in weir_plan.nodes; inputs come before the nodes they feed
    const char *id;       // stable: a hash of kind, inputs' ids, table, expressions
    const char *name;     // for people: "project → fast_flights"
    uint32_t input_count; // 0 for sources; more than one is UNION ALL: rows of any, as they come
    struct weir_plan_node **inputs;
    struct weir_schema schema; // of what it gives out
    const struct weir_table *table;
    uint32_t expr_count;
    const struct weir_expr **exprs;
    uint32_t check_count;
    const struct weir_plan_check *checks;
    // EXCHANGE, NORMALIZE, AGGREGATE: of the input's schema. None: an aggregate without GROUP BY
    // and the exchange in front of it, all rows are one group.
    uint32_t key_column_count;
    const uint32_t *key_columns;
    // EXCHANGE: the aggregate behind it, whose rows may be folded before it (preaggregate.h); NULL:
    // they must go through it one by one.
    const struct weir_plan_node *folded_for;
    bool is_changing;          // its rows carry change kinds (what it gives out may be taken back)
    struct weir_tumble window; // TUMBLE
    int32_t window_end_column; // AGGREGATE: of the input; -1: no window
    int64_t state_ttl_us;      // AGGREGATE: groups without rows for so long are forgotten; 0: none
    uint32_t aggregate_count;
    const struct weir_aggregate *aggregates;
    int32_t event_time_column; // DERIVE: the column of `schema` that is event time; -1: as it was
    // Something above computes by time: a row without event time is a bad record. False: such a row
    // keeps the record's timestamp.
    bool is_event_time_needed;
};

struct weir_plan {
    uint32_t table_count;
    struct weir_table **tables;
    uint32_t node_count;
    struct weir_plan_node **nodes;
};

// Parses, binds and plans the text of a job. Errors (domain SQL, action REFUSE) carry the line and
// column of the first fault; their text is complete as it is (several lines): for every fault the
// statement's number, line and column, what is wrong, the line with a caret, what to write instead.
// As many faults as there is room for; weir_sql_plan_all gives all of them.
// Thread: any, but one at a time per process (libpg_query). Blocks on nothing.
enum weir_status weir_sql_plan(const char *sql_text, struct weir_arena *arena,
                               const struct weir_plan **plan, struct weir_error *error);

// Who knows the columns of a table that is created without any: CREATE TABLE t ().
struct weir_sql_columns {
    // table: its name, topic, and the options of tables in Avro, unchecked. has_key: the message
    // key holds columns. Fields live as long as this object; those of the key come first. Error:
    // what is wrong. May block.
    enum weir_status (*ask)(struct weir_sql_columns *columns, const struct weir_table *table,
                            bool has_key, uint32_t *count, const struct weir_field **fields,
                            struct weir_error *error);
};

// As weir_sql_plan, which asks nobody: such tables are faults. `columns` outlives the plan.
enum weir_status weir_sql_plan_asking(const char *sql_text, struct weir_sql_columns *columns,
                                      struct weir_arena *arena, const struct weir_plan **plan,
                                      struct weir_error *error);

struct weir_sql_fault {
    uint32_t statement_number; // from 1; 0: of no statement
    int32_t line_number;       // from 1; 0: no place
    int32_t column_number;     // in characters, from 1
    const char *message;       // what is wrong, one line
    const char *hint;          // what to write instead; NULL: nothing is known
    const char *text;          // all of it as in struct weir_error
};

struct weir_sql_faults {
    uint32_t count;
    const struct weir_sql_fault *items; // in the order of the text, but for a few about the whole
};

// The same, with every fault in the arena; WEIR_ERROR if there is one.
enum weir_status weir_sql_plan_all(const char *sql_text, struct weir_arena *arena,
                                   const struct weir_plan **plan, struct weir_sql_faults *faults);

struct weir_buffer;

enum weir_explain_form {
    WEIR_EXPLAIN_TEXT,
    WEIR_EXPLAIN_DOT,
    WEIR_EXPLAIN_JSON,
    WEIR_EXPLAIN_SVG,
};

void weir_plan_explain(const struct weir_plan *plan, enum weir_explain_form form,
                       struct weir_buffer *out);
// WEIR_EXPLAIN_SVG: the picture.
void weir_plan_draw(const struct weir_plan *plan, struct weir_buffer *out);

#endif
