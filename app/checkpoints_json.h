// SPDX-License-Identifier: Apache-2.0
// Checkpoints as JSON, for `weir checkpoints --json`. Members are described in
// docs/checkpoints.md; a member may be added, none changes its meaning. Thread: any.
#ifndef WEIR_APP_CHECKPOINTS_JSON_H
#define WEIR_APP_CHECKPOINTS_JSON_H

#include "runtime/store.h"

#include <stdio.h>

struct weir_checkpoints_json;

// {"path": …, "checkpoints": […]}
struct weir_checkpoints_json *weir_checkpoints_json_begin(const char *path);

// One more, as its manifest says; is_whole: with all that is in it, else a line of a list.
void weir_checkpoints_json_add(struct weir_checkpoints_json *json,
                               const struct weir_store_entry *entry,
                               const struct weir_manifest *manifest, bool is_whole);
// One that cannot be read.
void weir_checkpoints_json_add_broken(struct weir_checkpoints_json *json,
                                      const struct weir_store_entry *entry, const char *fault);
// Of the newest one: what is wrong with one of its files. Says that it was verified, with NULL.
void weir_checkpoints_json_fault(struct weir_checkpoints_json *json, const char *fault);

// Prints it (out NULL: not) and frees it.
void weir_checkpoints_json_end(struct weir_checkpoints_json *json, FILE *out);

#endif
