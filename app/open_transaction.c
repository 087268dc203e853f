// SPDX-License-Identifier: Apache-2.0
// See open_transaction.h.
#include "app/open_transaction.h"

#include "app/retry.h"
#include "app/secret.h"

#include <inttypes.h>

struct weir_open_transaction weir_open_transaction_at(int64_t offset)
{
    return (struct weir_open_transaction){
        .offset = offset, .record_ms = -1, .owner.producer_id = -1};
}

void weir_open_transaction_ask(struct weir_open_transaction *open, struct weir_kafka *kafka,
                               const struct weir_topic_partition *at)
{
    struct weir_error ignored;
    if (open->record_ms < 0) {
        bool is_found = false;
        int64_t timestamp_ms;
        uint32_t crc32;
        if (kafka->ops->record_at(kafka, at, open->offset, &is_found, &timestamp_ms, &crc32,
                                  WEIR_CALL_TIMEOUT_MS, &ignored) == WEIR_OK &&
            is_found) {
            open->record_ms = timestamp_ms;
        }
    }
    if (open->owner.producer_id < 0 && kafka->ops->transaction_owner != NULL) {
        (void)kafka->ops->transaction_owner(kafka, at, open->offset, &open->owner,
                                            WEIR_CALL_TIMEOUT_MS, &ignored);
    }
}

void weir_open_transaction_describe_owner(const struct weir_open_transaction *open,
                                          struct weir_buffer *line)
{
    if (open->owner.producer_id < 0) {
        return;
    }
    weir_buffer_printf(line, ", by producer %" PRId64, open->owner.producer_id);
    if (open->owner.transactional_id[0] != '\0') {
        weir_buffer_printf(line, " with transactional id ");
        weir_append_escaped(line, open->owner.transactional_id);
    }
}
