// SPDX-License-Identifier: Apache-2.0
// See recovery.h. decide() walks the table from the top: no pointer at all; the pointer's manifest;
// whose it is; then every partition. The first line that fits decides.
#include "runtime/recovery.h"

#include <inttypes.h>

#define DISCARD_HINT                                                                               \
    "to start anew on purpose, with empty state and from WEIR_START, set "                         \
    "WEIR_RESTORE=discard:<word>"

const char *weir_recovery_refusal_name(enum weir_recovery_refusal refusal)
{
    switch (refusal) {
    case WEIR_REFUSAL_NONE:
        return "none";
    case WEIR_REFUSAL_POINTER_LOST:
        return "pointer_lost";
    case WEIR_REFUSAL_OFFSETS_FOREIGN:
        return "offsets_foreign";
    case WEIR_REFUSAL_MANIFEST_MISSING:
        return "manifest_missing";
    case WEIR_REFUSAL_MANIFEST_BROKEN:
        return "manifest_broken";
    case WEIR_REFUSAL_OTHER_CLUSTER:
        return "other_cluster";
    case WEIR_REFUSAL_OTHER_JOB:
        return "other_job";
    case WEIR_REFUSAL_POSITION_DIFFERS:
        return "position_differs";
    case WEIR_REFUSAL_PARTITION_POINTER_LOST:
        return "partition_pointer_lost";
    case WEIR_REFUSAL_PARTITION_GONE:
        return "partition_gone";
    case WEIR_REFUSAL_TOPIC_ANEW:
        return "topic_anew";
    case WEIR_REFUSAL_RECORDS_MISSING:
        return "records_missing";
    }
    return "unknown";
}

static enum weir_status refuse(struct weir_recovery *recovery, enum weir_recovery_refusal refusal,
                               struct weir_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static enum weir_status refuse(struct weir_recovery *recovery, enum weir_recovery_refusal refusal,
                               struct weir_error *error, const char *format, ...)
{
    recovery->kind = WEIR_RECOVERY_REFUSE;
    recovery->refusal = refusal;
    va_list args;
    va_start(args, format);
    weir_error_set_va(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE, format, args);
    va_end(args);
    return WEIR_ERROR;
}

const struct weir_pointer *weir_pointer_greatest(const struct weir_found *found)
{
    const struct weir_pointer *greatest = NULL;
    for (uint32_t i = 0; i < found->partition_count; i++) {
        const struct weir_found_partition *partition = &found->partitions[i];
        if (partition->pointer_state == WEIR_POINTER_PRESENT &&
            (greatest == NULL || partition->pointer.number > greatest->number)) {
            greatest = &partition->pointer;
        }
    }
    return greatest;
}

const struct weir_manifest_position *
weir_manifest_find_position(const struct weir_manifest *manifest, const char *table,
                            const char *topic, int32_t partition)
{
    const struct weir_manifest_position *of_topic = NULL;
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        const struct weir_manifest_position *position = &manifest->positions[i];
        if (position->entry.partition != partition || strcmp(position->entry.topic, topic) != 0) {
            continue;
        }
        if (strcmp(position->entry.table, table) == 0) {
            return position;
        }
        if (of_topic == NULL || position->entry.offset < of_topic->entry.offset) {
            of_topic = position;
        }
    }
    return of_topic;
}

int64_t weir_manifest_committed_offset(const struct weir_manifest *manifest, const char *topic,
                                       int32_t partition)
{
    int64_t least = -1;
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        const struct weir_position_entry *entry = &manifest->positions[i].entry;
        if (entry->partition == partition && strcmp(entry->topic, topic) == 0 &&
            (least < 0 || entry->offset < least)) {
            least = entry->offset;
        }
    }
    return least;
}

static const struct weir_found_manifest *
find_manifest(const struct weir_found *found, int64_t number, const struct weir_attempt *attempt)
{
    for (uint32_t i = 0; i < found->manifest_count; i++) {
        if (found->manifests[i].number == number &&
            weir_attempt_equal(&found->manifests[i].attempt, attempt)) {
            return &found->manifests[i];
        }
    }
    return NULL;
}

static bool has_topic(const struct weir_found *found, const char *topic)
{
    for (uint32_t i = 0; i < found->partition_count; i++) {
        if (strcmp(found->partitions[i].topic, topic) == 0) {
            return true;
        }
    }
    return false;
}

enum weir_status weir_recovery_check_identity(const struct weir_found *found,
                                              const struct weir_manifest *manifest,
                                              struct weir_recovery *recovery,
                                              struct weir_error *error)
{
    if (strcmp(manifest->cluster_id, found->cluster_id) != 0) {
        return refuse(recovery, WEIR_REFUSAL_OTHER_CLUSTER, error,
                      "checkpoint %" PRId64
                      " in %s was made on Kafka cluster %s, the brokers given "
                      "are cluster %s: check WEIR_KAFKA_BOOTSTRAP_SERVERS and WEIR_JOB_ID",
                      manifest->number, found->store_path, manifest->cluster_id, found->cluster_id);
    }
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        if (has_topic(found, manifest->positions[i].entry.topic)) {
            return WEIR_OK;
        }
    }
    if (manifest->position_count == 0) {
        return WEIR_OK;
    }
    return refuse(recovery, WEIR_REFUSAL_OTHER_JOB, error,
                  "checkpoint %" PRId64 " in %s belongs to a job that reads other topics (\"%s\" "
                  "among them): is WEIR_JOB_ID=%s used by two jobs?",
                  manifest->number, found->store_path, manifest->positions[0].entry.topic,
                  found->job_id);
}

// Is the topic still the one that was read up to that position?
static enum weir_status check_topic(const struct weir_found_partition *partition,
                                    const struct weir_manifest_position *position,
                                    struct weir_recovery *recovery, struct weir_error *error)
{
    bool is_other_id = partition->topic_id[0] != '\0' && position->topic_id[0] != '\0' &&
                       strcmp(partition->topic_id, position->topic_id) != 0;
    if (position->entry.offset > partition->high_offset) {
        return refuse(recovery, WEIR_REFUSAL_TOPIC_ANEW, error,
                      "topic %s partition %" PRId32 " ends at offset %" PRId64
                      ", before position %" PRId64 ": the topic was created anew and the position "
                      "belongs to the old one; " DISCARD_HINT,
                      partition->topic, partition->partition, partition->high_offset,
                      position->entry.offset);
    }
    if (is_other_id || partition->last_record == WEIR_LAST_RECORD_DIFFERENT) {
        return refuse(
            recovery, WEIR_REFUSAL_TOPIC_ANEW, error,
            "topic %s partition %" PRId32 ": %s differs from the one that was read before "
            "position %" PRId64 ": the topic was created anew and the position belongs to "
            "the old one; " DISCARD_HINT,
            partition->topic, partition->partition,
            is_other_id ? "its topic id" : "the last record", position->entry.offset);
    }
    return WEIR_OK;
}

// Nobody stands in the topic any more: every table that reads it begins where it is told to.
static bool is_reset(const struct weir_found *found, const char *topic)
{
    for (uint32_t i = 0; i < found->partition_count; i++) {
        if (strcmp(found->partitions[i].topic, topic) == 0 && !found->partitions[i].is_reset) {
            return false;
        }
    }
    return true;
}

// Every partition that the manifest knows for a topic of the job must still be there.
static enum weir_status check_none_gone(const struct weir_found *found,
                                        const struct weir_manifest *manifest,
                                        struct weir_recovery *recovery, struct weir_error *error)
{
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        const struct weir_position_entry *entry = &manifest->positions[i].entry;
        bool is_there = !has_topic(found, entry->topic) || is_reset(found, entry->topic);
        for (uint32_t j = 0; !is_there && j < found->partition_count; j++) {
            is_there = found->partitions[j].partition == entry->partition &&
                       strcmp(found->partitions[j].topic, entry->topic) == 0;
        }
        if (!is_there) {
            return refuse(recovery, WEIR_REFUSAL_PARTITION_GONE, error,
                          "checkpoint %" PRId64 " knows topic %s partition %" PRId32
                          ", which is no longer there: the topic was created anew with fewer "
                          "partitions; " DISCARD_HINT,
                          manifest->number, entry->topic, entry->partition);
        }
    }
    return WEIR_OK;
}

// The newest one that can be read, and the greatest number of all; -1: none.
static const struct weir_found_manifest *newest_intact(const struct weir_found *found,
                                                       int64_t *greatest_number)
{
    const struct weir_found_manifest *newest = NULL;
    *greatest_number = -1;
    for (uint32_t i = 0; i < found->manifest_count; i++) { // by number, then time
        const struct weir_found_manifest *manifest = &found->manifests[i];
        *greatest_number =
            manifest->number > *greatest_number ? manifest->number : *greatest_number;
        newest = manifest->state == WEIR_MANIFEST_INTACT ? manifest : newest;
    }
    return newest;
}

// Checkpoints were committed, but nothing of it is left in Kafka: say why where it can be known.
static enum weir_status refuse_lost_pointer(const struct weir_found *found, int64_t number,
                                            const struct weir_manifest *manifest,
                                            struct weir_recovery *recovery,
                                            struct weir_error *error)
{
    if (manifest != NULL && check_none_gone(found, manifest, recovery, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    for (uint32_t i = 0; manifest != NULL && i < found->partition_count; i++) {
        const struct weir_found_partition *partition = &found->partitions[i];
        const struct weir_manifest_position *position = weir_manifest_find_position(
            manifest, partition->table, partition->topic, partition->partition);
        // Deleting a topic deletes its committed offsets.
        if (position != NULL && check_topic(partition, position, recovery, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return refuse(
        recovery, WEIR_REFUSAL_POINTER_LOST, error,
        "the checkpoint store %s holds checkpoint %" PRId64
        ", but consumer group \"%s\" has no committed offsets: they have expired "
        "(offsets.retention.minutes) or were deleted, with their topics or by hand; " DISCARD_HINT,
        found->store_path, number, found->job_id);
}

// One that is more than a beginning. What a run begins with is written before it is claimed, so
// that such a manifest alone says nothing about commits; one that cannot be read may be any.
static bool has_checkpoint(const struct weir_found *found)
{
    for (uint32_t i = 0; i < found->manifest_count; i++) {
        const struct weir_found_manifest *manifest = &found->manifests[i];
        if (manifest->number > 0 && (manifest->state == WEIR_MANIFEST_BROKEN ||
                                     strcmp(manifest->manifest->kind, "start") != 0)) {
            return true;
        }
    }
    return false;
}

// Nothing was ever committed, as far as Kafka knows.
static enum weir_status decide_without_pointer(const struct weir_found *found,
                                               struct weir_recovery *recovery,
                                               struct weir_error *error)
{
    int64_t greatest_number;
    const struct weir_found_manifest *newest = newest_intact(found, &greatest_number);
    if (newest != NULL &&
        weir_recovery_check_identity(found, newest->manifest, recovery, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (has_checkpoint(found)) {
        return refuse_lost_pointer(found, greatest_number, newest != NULL ? newest->manifest : NULL,
                                   recovery, error);
    }
    if (newest == NULL) {
        recovery->kind = WEIR_RECOVERY_FRESH;
        recovery->number = greatest_number > 0 ? greatest_number : 0;
        return WEIR_OK;
    }
    recovery->kind = WEIR_RECOVERY_RESTORE;
    recovery->number = newest->number;
    recovery->attempt = newest->attempt;
    recovery->manifest = newest->manifest;
    return WEIR_OK;
}

static enum weir_status
decide_known(const struct weir_found *found, const struct weir_found_partition *partition,
             const struct weir_manifest_position *position, struct weir_recovery *recovery,
             struct weir_partition_decision *decision, struct weir_error *error)
{
    int64_t wanted =
        weir_manifest_committed_offset(recovery->manifest, partition->topic, partition->partition);
    // What is committed belongs to the checkpoint that the pointer names, not to a savepoint.
    bool is_rewind = recovery->kind == WEIR_RECOVERY_REWIND;
    bool was_claimed = !is_rewind && weir_pointer_greatest(found) != NULL;
    if (partition->pointer_state == WEIR_POINTER_ABSENT && was_claimed) {
        return refuse(recovery, WEIR_REFUSAL_PARTITION_POINTER_LOST, error,
                      "checkpoint %" PRId64 " knows topic %s partition %" PRId32
                      " at offset %" PRId64 ", but group \"%s\" has no committed offset there: the "
                      "topic was created anew or the offset was deleted; " DISCARD_HINT,
                      recovery->number, partition->topic, partition->partition, wanted,
                      found->job_id);
    }
    if (!is_rewind && partition->pointer_state == WEIR_POINTER_PRESENT &&
        partition->committed_offset != wanted) {
        return refuse(recovery, WEIR_REFUSAL_POSITION_DIFFERS, error,
                      "topic %s partition %" PRId32 ": group \"%s\" has committed offset %" PRId64
                      ", checkpoint %" PRId64 " is at %" PRId64
                      ": offsets were reset by hand, or the store is an old copy; " DISCARD_HINT,
                      partition->topic, partition->partition, found->job_id,
                      partition->committed_offset, recovery->number, wanted);
    }
    if (check_topic(partition, position, recovery, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    decision->kind = WEIR_START_AT_OFFSET;
    decision->offset = position->entry.offset;
    decision->position = position;
    int64_t missing_count = partition->low_offset - position->entry.offset;
    if (missing_count > 0 && !partition->can_skip_missing) {
        return refuse(recovery, WEIR_REFUSAL_RECORDS_MISSING, error,
                      "topic %s partition %" PRId32 ": wanted offset %" PRId64
                      ", the first record there has offset %" PRId64 ": %" PRId64
                      " records were removed before they were read; the table option "
                      "on_missing = 'continue' goes on without them",
                      partition->topic, partition->partition, position->entry.offset,
                      partition->low_offset, missing_count);
    }
    if (missing_count > 0) {
        decision->offset = partition->low_offset;
        decision->missing_count = missing_count;
    }
    return WEIR_OK;
}

static bool has_table(const struct weir_found *found, const char *table, const char *topic)
{
    for (uint32_t i = 0; i < found->partition_count; i++) {
        if (strcmp(found->partitions[i].table, table) == 0 &&
            strcmp(found->partitions[i].topic, topic) == 0) {
            return true;
        }
    }
    return false;
}

// The position of a partition in the manifest: of its table; else of one that is gone from the job
// and read the same topic (the table was renamed). NULL: none. *is_known: the manifest knows
// the table (or the renamed one), with or without that partition.
static const struct weir_manifest_position *
find_own_position(const struct weir_found *found, const struct weir_manifest *manifest,
                  const struct weir_found_partition *partition, bool *is_known)
{
    const struct weir_manifest_position *renamed = NULL;
    *is_known = false;
    for (uint32_t i = 0; i < manifest->position_count; i++) {
        const struct weir_manifest_position *position = &manifest->positions[i];
        bool is_own = strcmp(position->entry.table, partition->table) == 0;
        if (strcmp(position->entry.topic, partition->topic) != 0 ||
            (!is_own && has_table(found, position->entry.table, partition->topic))) {
            continue;
        }
        *is_known = true;
        if (position->entry.partition == partition->partition && is_own) {
            return position;
        }
        if (position->entry.partition == partition->partition && renamed == NULL) {
            renamed = position;
        }
    }
    return renamed;
}

static enum weir_status decide_partitions(const struct weir_found *found,
                                          struct weir_recovery *recovery,
                                          struct weir_partition_decision *decisions,
                                          struct weir_error *error)
{
    for (uint32_t i = 0; i < found->partition_count; i++) {
        const struct weir_found_partition *partition = &found->partitions[i];
        bool is_known_table;
        const struct weir_manifest_position *position =
            find_own_position(found, recovery->manifest, partition, &is_known_table);
        decisions[i] = (struct weir_partition_decision){0};
        if (partition->is_reset) {
            decisions[i].kind = WEIR_START_RESET;
        } else if (position == NULL) {
            decisions[i].kind = is_known_table ? WEIR_START_EARLIEST : WEIR_START_TABLE;
        } else if (decide_known(found, partition, position, recovery, &decisions[i], error) !=
                   WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return check_none_gone(found, recovery->manifest, recovery, error);
}

// The manifest that the pointer names, intact.
static enum weir_status find_pointed(const struct weir_found *found,
                                     const struct weir_pointer *pointer,
                                     struct weir_recovery *recovery, struct weir_error *error)
{
    const struct weir_found_manifest *pointed =
        find_manifest(found, pointer->number, &pointer->manifest_attempt);
    recovery->number = pointer->number;
    recovery->attempt = pointer->manifest_attempt;
    if (pointed == NULL) {
        return refuse(
            recovery, WEIR_REFUSAL_MANIFEST_MISSING, error,
            "group \"%s\" points at checkpoint %" PRId64 " of attempt %s, which is not in "
            "%s: mount the volume (WEIR_CHECKPOINT_DIR) that the job ran with; " DISCARD_HINT,
            found->job_id, pointer->number, pointer->manifest_attempt.text, found->store_path);
    }
    if (pointed->state == WEIR_MANIFEST_BROKEN) {
        return refuse(recovery, WEIR_REFUSAL_MANIFEST_BROKEN, error,
                      "%s; put the file back from a copy, or go on from a savepoint "
                      "(WEIR_RESTORE=savepoint:<path>); " DISCARD_HINT,
                      pointed->error_text);
    }
    recovery->kind = WEIR_RECOVERY_RESTORE;
    recovery->manifest = pointed->manifest;
    return WEIR_OK;
}

bool weir_restore_is_due(const char *restore, const struct weir_manifest *pointed)
{
    return strcmp(restore, "auto") != 0 &&
           (pointed == NULL || strcmp(pointed->restore, restore) != 0);
}

static bool is_due(const struct weir_found *found, const struct weir_pointer *pointer)
{
    const struct weir_found_manifest *pointed =
        pointer == NULL ? NULL : find_manifest(found, pointer->number, &pointer->manifest_attempt);
    return weir_restore_is_due(found->restore, pointed != NULL ? pointed->manifest : NULL);
}

// Numbers never go back: one more than anything that a pointer or a file has ever used.
static int64_t next_free_number(const struct weir_found *found, const struct weir_pointer *pointer)
{
    int64_t number = pointer != NULL ? pointer->number : -1;
    for (uint32_t i = 0; i < found->manifest_count; i++) {
        number = found->manifests[i].number > number ? found->manifests[i].number : number;
    }
    return number + 1;
}

enum weir_status weir_recovery_decide(const struct weir_found *found,
                                      struct weir_recovery *recovery,
                                      struct weir_partition_decision *decisions,
                                      struct weir_error *error)
{
    *recovery = (struct weir_recovery){0};
    const struct weir_pointer *pointer = weir_pointer_greatest(found);
    if (is_due(found, pointer) && found->savepoint == NULL) {
        WEIR_ASSERT(strncmp(found->restore, "discard:", 8) == 0); // savepoints were read before
        recovery->kind = WEIR_RECOVERY_FRESH;
        recovery->is_discarded = true;
        recovery->number = next_free_number(found, pointer);
        return WEIR_OK;
    }
    if (is_due(found, pointer)) {
        recovery->kind = WEIR_RECOVERY_REWIND;
        recovery->number = next_free_number(found, pointer);
        if (recovery->number <= found->savepoint->number) {
            recovery->number = found->savepoint->number + 1; // its files bear its number
        }
        recovery->manifest = found->savepoint;
        return weir_recovery_check_identity(found, recovery->manifest, recovery, error) == WEIR_OK
                   ? decide_partitions(found, recovery, decisions, error)
                   : WEIR_ERROR;
    }
    for (uint32_t i = 0; i < found->partition_count; i++) {
        if (found->partitions[i].pointer_state == WEIR_POINTER_FOREIGN) {
            return refuse(
                recovery, WEIR_REFUSAL_OFFSETS_FOREIGN, error,
                "consumer group \"%s\" has a committed offset for topic %s partition "
                "%" PRId32 " that weir did not write: the group belongs to something else "
                "or its offsets were reset; choose another WEIR_JOB_ID, or " DISCARD_HINT,
                found->job_id, found->partitions[i].topic, found->partitions[i].partition);
        }
    }
    enum weir_status status = pointer == NULL ? decide_without_pointer(found, recovery, error)
                                              : find_pointed(found, pointer, recovery, error);
    if (status != WEIR_OK || recovery->kind == WEIR_RECOVERY_FRESH) {
        return status;
    }
    if (weir_recovery_check_identity(found, recovery->manifest, recovery, error) != WEIR_OK ||
        decide_partitions(found, recovery, decisions, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    // Without a pointer nothing was ever committed: there is no position to move.
    if (found->is_reset && pointer != NULL) {
        recovery->kind = WEIR_RECOVERY_REWIND;
        recovery->number = next_free_number(found, pointer);
    }
    return WEIR_OK;
}
