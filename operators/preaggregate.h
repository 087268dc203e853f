// SPDX-License-Identifier: Apache-2.0
// The door in front of the exchange of a GROUP BY: rows of one group are folded into one partial
// there, which goes through the exchange and is merged into the group behind it (aggregate.h). It
// works only while it pays: where nearly every row has a group of its own, rows pass as they are.
#ifndef WEIR_OPERATORS_PREAGGREGATE_H
#define WEIR_OPERATORS_PREAGGREGATE_H

#include "operators/aggregate.h"

// What a partial's value begins with; the slots of the aggregates lie behind it, as in the state.
struct weir_partial_header {
    int64_t row_count;
    int64_t event_time_us; // the largest one
};

// Can rows be folded with the same outcome? Not where rows are taken back, values counted once
// (DISTINCT), kept as texts or numerics or summed as floats, or keys spelt in several ways. Of the
// config it needs what comes before `output`. Asked while a job is planned. Thread: any.
bool weir_preaggregate_is_exact(const struct weir_aggregate_config *config);

// The config is that of the aggregate behind the exchange; of it store, key_groups, first_epoch and
// output are not looked at. is_exact holds.
struct weir_operator *weir_preaggregate_create(const char *id, const char *name,
                                               const struct weir_aggregate_config *config);

#endif
