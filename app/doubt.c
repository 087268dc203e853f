// SPDX-License-Identifier: Apache-2.0
// See doubt.h. A question that gets no answer leaves the refusal as it is.
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
static bool has_pointer_moved(const struct weir_doubt *doubt)
{
    struct weir_error ignored;
    struct weir_committed *now = weir_alloc(doubt->partition_count * sizeof *now);
    bool is_moved = false;
    if (doubt->kafka->ops->committed(doubt->kafka, WEIR_READ_UNCOMMITTED, doubt->partition_count,
                                     doubt->partitions, now, WEIR_CALL_TIMEOUT_MS,
                                     &ignored) == WEIR_OK) {
        for (uint32_t i = 0; i < doubt->partition_count; i++) {
            is_moved = is_moved || !is_same(&doubt->committed[i], &now[i]);
        }
    }
    free(now);
    return is_moved;
}

// The partitions that were found are fewer than those that the checkpoint's owner read.
static const struct weir_topic *find_grown(const struct weir_doubt *doubt)
{
    for (uint32_t i = 0; i < doubt->topics->count; i++) {
        const struct weir_topic *topic = &doubt->topics->topics[i];
        struct weir_topic_info info;
        struct weir_error ignored;
        if (doubt->kafka->ops->topic_info(doubt->kafka, topic->name, &info, WEIR_CALL_TIMEOUT_MS,
                                          &ignored) == WEIR_OK &&
            info.exists && info.partition_count > topic->partition_count) {
            return topic;
        }
    }
    return NULL;
}

enum weir_status weir_doubt_refusal(const struct weir_doubt *doubt, struct weir_error *error)
{
    if (error->action != WEIR_ACTION_REFUSE || doubt->committed == NULL) {
        return WEIR_ERROR;
    }
    if (has_pointer_moved(doubt)) {
        return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                              "another instance has committed during this recovery");
    }
    const struct weir_topic *grown = find_grown(doubt);
    if (grown != NULL) {
        return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                              "topic %s has more partitions than when this recovery began",
                              grown->name);
    }
    return WEIR_ERROR;
}
