// SPDX-License-Identifier: Apache-2.0
// The table of variables: what exists, how it is read, where it goes, and the words that explain
// it. Private to the files app/config*.c and their tests. Thread: any; immutable.
#ifndef WEIR_APP_CONFIG_TABLE_H
#define WEIR_APP_CONFIG_TABLE_H

#include "app/config.h"

#include <stddef.h>

enum weir_variable_kind {
    WEIR_VARIABLE_TEXT,     // const char *
    WEIR_VARIABLE_INTEGER,  // uint32_t, minimum to maximum
    WEIR_VARIABLE_DURATION, // int64_t milliseconds, minimum to maximum
    WEIR_VARIABLE_SIZE,     // uint64_t bytes, at least minimum
    WEIR_VARIABLE_CHOICE,   // an enum: the position among the choices, plus minimum
    WEIR_VARIABLE_BOOLEAN,  // bool
    WEIR_VARIABLE_PARSED,   // what its parse function makes of it
};

// Reads a text into *config. The error's text follows the name of the variable and a colon.
typedef enum weir_status weir_variable_parse_fn(const char *text, struct weir_arena *arena,
                                                struct weir_config *config,
                                                struct weir_error *error);

struct weir_variable {
    const char *name;
    // What applies when it is not set, read like a given value; NULL: nothing does.
    const char *default_text;
    // Words for a default that the machine or another variable decides; NULL: default_text.
    const char *default_words;
    enum weir_variable_kind kind;
    size_t offset; // of its field in struct weir_config
    int64_t minimum;
    int64_t maximum;
    const char *const *choices; // NULL-terminated
    weir_variable_parse_fn *parse;
    bool is_required;
    bool is_secret;
    bool may_be_empty;
    const char *form;    // how a value looks, for people; NULL: said by the kind
    const char *meaning; // one sentence or more, Markdown
    const char *notice;  // what a run says when it is given and has no effect yet; NULL: none
};

extern const struct weir_variable weir_variables[];
extern const uint32_t weir_variable_count;

// Reads a text as the variable wants it, default or given.
enum weir_status weir_variable_parse(const struct weir_variable *variable, const char *text,
                                     struct weir_arena *arena, struct weir_config *config,
                                     struct weir_error *error);

// "a duration, 10ms to 1h", into text; returns it.
const char *weir_variable_form(const struct weir_variable *variable, char *text, size_t text_bytes);

weir_variable_parse_fn weir_parse_job_id;
weir_variable_parse_fn weir_parse_instance_id;
weir_variable_parse_fn weir_parse_bootstrap_servers;
weir_variable_parse_fn weir_parse_state_dir;
weir_variable_parse_fn weir_parse_checkpoint_dir;
weir_variable_parse_fn weir_parse_guarantee;
weir_variable_parse_fn weir_parse_restore;
weir_variable_parse_fn weir_parse_start;
weir_variable_parse_fn weir_parse_dead_letter_topic;
weir_variable_parse_fn weir_parse_quarantine;
weir_variable_parse_fn weir_parse_allow;
weir_variable_parse_fn weir_parse_http_listen;

#endif
