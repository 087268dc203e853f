// SPDX-License-Identifier: Apache-2.0
// A length of time as options give it: PostgreSQL's spellings of an interval ('5 seconds',
// '1 minute 30 s', '250ms', '00:00:05', 'PT5S') as far as they have a fixed length. Thread: any.
#ifndef WEIR_SQL_INTERVAL_H
#define WEIR_SQL_INTERVAL_H

#include "runtime/base/memory.h"

#include <stdbool.h>
#include <stdint.h>

// False: *why says what is wrong with it. Signs are taken; a number alone has no unit and is not.
bool weir_sql_length_parse(const char *text, int64_t *us, const char **why);

// interval '5' minute: by PostgreSQL's number of the field the text as '5 minute'. As it is where
// it has words already, or the field is another.
const char *weir_sql_length_with_unit(struct weir_arena *arena, int64_t modifier, const char *text);

#endif
