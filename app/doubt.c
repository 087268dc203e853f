// SPDX-License-Identifier: Apache-2.0
// See doubt.h. A question that gets no answer leaves the doubt: the recovery asks again.
#include "app/doubt.h"

#include "app/retry.h"
#include "runtime/base/memory.h"

#include <stdlib.h>

static bool is_same(const struct weir_committed *a, const struct weir_committed *b)
{
    return a->has_offset == b->has_offset &&
           (!a->has_offset || (a->offset == b->offset && strcmp(a->metadata, b->metadata) == 0));
}

// The pointer is older than the checkpoints that were found.
static enum weir_status look_at_pointer(const struct weir_doubt *doubt, bool *is_moved,
                                        struct weir_error *error)
{
    struct weir_committed *now = weir_alloc(doubt->partition_count * sizeof *now);
    enum weir_status status =
        doubt->kafka->ops->committed(doubt->kafka, WEIR_READ_UNCOMMITTED, doubt->partition_count,
                                     doubt->partitions, now, WEIR_CALL_TIMEOUT_MS, error);
    *is_moved = false;
    for (uint32_t i = 0; status == WEIR_OK && i < doubt->partition_count; i++) {
        *is_moved = *is_moved || !is_same(&doubt->committed[i], &now[i]);
    }
    free(now);
    return status;
}

// The partitions that were found are fewer than those that the checkpoint's owner read.
static enum weir_status look_at_topics(const struct weir_doubt *doubt,
                                       const struct weir_topic **grown, struct weir_error *error)
{
    *grown = NULL;
    for (uint32_t i = 0; i < doubt->topics->count; i++) {
        const struct weir_topic *topic = &doubt->topics->topics[i];
        struct weir_topic_info info;
        if (doubt->kafka->ops->topic_info(doubt->kafka, topic->name, &info, WEIR_CALL_TIMEOUT_MS,
                                          error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (info.exists && info.partition_count > topic->partition_count) {
            *grown = topic;
        }
    }
    return WEIR_OK;
}

enum weir_status weir_doubt_refusal(const struct weir_doubt *doubt, struct weir_error *error)
{
    if (error->action != WEIR_ACTION_REFUSE || doubt->committed == NULL) {
        return WEIR_ERROR;
    }
    bool is_moved;
    const struct weir_topic *grown;
    struct weir_error unasked;
    if (look_at_pointer(doubt, &is_moved, &unasked) != WEIR_OK ||
        look_at_topics(doubt, &grown, &unasked) != WEIR_OK) {
        error->action = WEIR_ACTION_RECOVER;
        return weir_error_context(error, "asked once more, the brokers gave no answer (%s)",
                                  unasked.text);
    }
    if (is_moved) {
        return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                              "another instance has committed during this recovery");
    }
    if (grown != NULL) {
        return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                              "topic %s has more partitions than when this recovery began",
                              grown->name);
    }
    return WEIR_ERROR;
}
