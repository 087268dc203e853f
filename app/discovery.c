// SPDX-License-Identifier: Apache-2.0
// See discovery.h. A broker that does not answer is no news: the question is asked again later.
#include "app/discovery.h"

#include "app/retry.h"
#include "app/wall_clock.h"
#include "runtime/base/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    INTERVAL_MS = 5000,     // a new partition is to be found within 15 s
    STABLE_ROUNDS = 3,      // each so many: who holds partitions up
    GONE_COUNT_TO_FAIL = 3, // answers in a row: metadata of a broker that restarts can be empty
};

struct weir_discovery {
    struct weir_discovery_config config;
    struct weir_mailbox *wake; // never gets mail: only to be woken by
    uint32_t *gone_counts;     // by topic
    struct weir_wall_clock wall_clock;
    bool has_asked_rebuild;
    bool has_failed;
    bool has_answer;        // in this round of questions
    struct weir_error last; // of the questions without answer
    uint32_t question_count;
    uint32_t round_count;
    atomic_bool is_stopped;
    pthread_t thread;
};

static void fail(struct weir_discovery *discovery, const struct weir_error *error)
{
    struct weir_error *copy = weir_alloc(sizeof *copy);
    *copy = *error;
    discovery->has_failed = true;
    weir_mailbox_post(discovery->config.coordinator,
                      &(struct weir_mail){.kind = WEIR_MAIL_FAILED, .payload = copy});
}

// What a broker said, or that none did.
static enum weir_status asked(struct weir_discovery *discovery, enum weir_status status,
                              const struct weir_error *error)
{
    discovery->question_count++;
    if (status == WEIR_OK) {
        discovery->has_answer = true;
    } else {
        discovery->last = *error;
    }
    return status;
}

static bool is_source_topic(const struct weir_discovery *discovery, const char *topic)
{
    for (uint32_t i = 0; i < discovery->config.tasks->count; i++) {
        const struct weir_table *table = discovery->config.tasks->tasks[i].table;
        if (table != NULL && strcmp(table->topic, topic) == 0) {
            return true;
        }
    }
    return false;
}

static void check_topic(struct weir_discovery *discovery, uint32_t idx)
{
    const struct weir_topic *topic = &discovery->config.topics->topics[idx];
    struct weir_topic_info info;
    struct weir_error error;
    enum weir_status status = discovery->config.kafka->ops->topic_info(
        discovery->config.kafka, topic->name, &info, WEIR_CALL_TIMEOUT_MS, &error);
    if (asked(discovery, status, &error) != WEIR_OK) {
        return;
    }
    discovery->gone_counts[idx] = info.exists ? 0 : discovery->gone_counts[idx] + 1;
    if (discovery->gone_counts[idx] >= GONE_COUNT_TO_FAIL) {
        weir_error_set(&error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FAIL,
                       "topic %s was deleted while the job was reading it", topic->name);
        fail(discovery, &error);
        return;
    }
    bool is_other = info.exists && info.topic_id[0] != '\0' && topic->topic_id[0] != '\0' &&
                    strcmp(info.topic_id, topic->topic_id) != 0;
    if (is_other || (info.exists && info.partition_count < topic->partition_count)) {
        weir_error_set(
            &error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FAIL,
            "topic %s was created anew while the job was reading it: its positions belong "
            "to the old one",
            topic->name);
        fail(discovery, &error);
        return;
    }
    if (info.exists && info.partition_count > topic->partition_count &&
        !discovery->has_asked_rebuild) {
        weir_log(
            WEIR_LOG_INFO,
            "topic %s has %u partitions, %u before: taking a checkpoint, then reading them too",
            topic->name, info.partition_count, topic->partition_count);
        discovery->has_asked_rebuild = true;
        weir_mailbox_post(discovery->config.coordinator,
                          &(struct weir_mail){.kind = WEIR_MAIL_REQUEST_REBUILD});
    }
}

// Was the topic there when it was last asked about? Questions about partitions of one that is gone
// are only answered by their time-out.
static bool is_there(const struct weir_discovery *discovery, const char *topic)
{
    for (uint32_t i = 0; i < discovery->config.topics->count; i++) {
        if (strcmp(discovery->config.topics->topics[i].name, topic) == 0) {
            return discovery->gone_counts[i] == 0;
        }
    }
    return false;
}

// A topic made anew with fewer records than were read: the position lies beyond its end.
static void check_end(struct weir_discovery *discovery, const struct weir_topic_partition *at,
                      int64_t position, int64_t end)
{
    if (end >= 0 && end < position && !discovery->has_failed) {
        struct weir_error error;
        weir_error_set(&error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_FAIL,
                       "topic %s partition %" PRId32 " ends at offset %" PRId64
                       ", before position %" PRId64
                       ": the topic was created anew and the position belongs to the old one",
                       at->topic, at->partition, end, position);
        fail(discovery, &error);
    }
}

// Asks for the ends of the task's partitions; those in quarantine apart from the others, as no
// leader may answer for them.
static void check_ends(struct weir_discovery *discovery, uint32_t task_idx, bool is_quarantined)
{
    const struct weir_job_task *task = &discovery->config.tasks->tasks[task_idx];
    if (task->table == NULL || !is_there(discovery, task->table->topic)) {
        return;
    }
    struct weir_topic_partition *at = weir_alloc(task->partition_count * sizeof *at);
    uint32_t *idxs = weir_alloc(task->partition_count * sizeof *idxs);
    int64_t *positions = weir_alloc(task->partition_count * sizeof *positions);
    int64_t *ends = weir_alloc(task->partition_count * sizeof *ends);
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->partition_count; i++) {
        if (weir_source_is_quarantined(task->source, i) == is_quarantined) {
            at[count] = (struct weir_topic_partition){.topic = task->table->topic,
                                                      .partition = task->partitions[i]};
            positions[count] = weir_source_position(task->source, i); // before the ends
            idxs[count++] = i;
        }
    }
    if (count > 0) {
        struct weir_error error;
        enum weir_status status =
            discovery->config.kafka->ops->offsets(discovery->config.kafka, WEIR_OFFSET_LATEST, 0,
                                                  count, at, ends, WEIR_CALL_TIMEOUT_MS, &error);
        asked(discovery, status, &error);
        weir_watch_note_held_up(discovery->config.watch, task_idx,
                                weir_task_times(task->task).blocked_us / 1000);
        for (uint32_t i = 0; status == WEIR_OK && i < count; i++) {
            weir_watch_note_end(discovery->config.watch, task_idx, idxs[i], ends[i]);
            check_end(discovery, &at[i], positions[i], ends[i]);
        }
    }
    free(at);
    free(idxs);
    free(positions);
    free(ends);
}

// Once a transaction was met again it is worth two questions: when it began, and whose it is.
static void look_at_transaction(struct weir_discovery *discovery, uint32_t task_idx,
                                uint32_t partition_idx, const struct weir_topic_partition *at)
{
    struct weir_watch *watch = discovery->config.watch;
    struct weir_open_transaction open = weir_watch_open_transaction(watch, task_idx, partition_idx);
    if (open.offset >= 0 && open.age_ms >= INTERVAL_MS) {
        weir_open_transaction_ask(&open, discovery->config.kafka, at);
        weir_watch_note_transaction(watch, task_idx, partition_idx, open.offset, open.record_ms,
                                    &open.owner);
    }
}

// Partitions with more behind what was read, after their ends have been asked for: does an open
// transaction hold them up?
static void check_stable(struct weir_discovery *discovery, uint32_t task_idx)
{
    const struct weir_job_task *task = &discovery->config.tasks->tasks[task_idx];
    struct weir_watch *watch = discovery->config.watch;
    if (task->table == NULL || !is_there(discovery, task->table->topic)) {
        return;
    }
    struct weir_topic_partition *at = weir_alloc((task->partition_count + 1) * sizeof *at);
    uint32_t *idxs = weir_alloc((task->partition_count + 1) * sizeof *idxs);
    int64_t *stable = weir_alloc((task->partition_count + 1) * sizeof *stable);
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->partition_count; i++) {
        if (weir_watch_lag(watch, task_idx, i) <= 0) {
            weir_watch_note_stable(watch, task_idx, i, INT64_MAX);
        } else if (!weir_source_is_quarantined(task->source, i)) {
            at[count] = (struct weir_topic_partition){.topic = task->table->topic,
                                                      .partition = task->partitions[i]};
            idxs[count++] = i;
        }
    }
    if (count > 0) {
        struct weir_error error;
        enum weir_status status =
            discovery->config.kafka->ops->offsets(discovery->config.kafka, WEIR_OFFSET_STABLE, 0,
                                                  count, at, stable, WEIR_CALL_TIMEOUT_MS, &error);
        asked(discovery, status, &error);
        for (uint32_t i = 0; status == WEIR_OK && i < count; i++) {
            weir_watch_note_stable(watch, task_idx, idxs[i], stable[i]);
            if (atomic_load(&discovery->is_stopped)) {
                break; // with hundreds held up, the questions would hold the stop up
            }
            look_at_transaction(discovery, task_idx, idxs[i], &at[i]);
        }
    }
    free(at);
    free(idxs);
    free(stable);
}

// A job without rows sends no request by which the brokers could tell it that it is fenced.
static void check_owner(struct weir_discovery *discovery)
{
    struct weir_error error;
    if (weir_store_check_owner(discovery->config.store, &discovery->config.attempt, &error) !=
            WEIR_OK &&
        error.action == WEIR_ACTION_FENCED) {
        fail(discovery, &error);
    }
}

static void check_wall_clock(struct weir_discovery *discovery)
{
    const struct weir_clock *clock = discovery->config.clock;
    int64_t back_ms = weir_wall_clock_went_back_ms(&discovery->wall_clock, weir_now_ms(clock),
                                                   weir_wall_ms(clock));
    if (back_ms > 0) {
        struct weir_error error;
        weir_error_set(&error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RECOVER,
                       "the wall clock was set back by %" PRId64
                       " s, for which the Kafka client would wait",
                       back_ms / 1000);
        fail(discovery, &error);
    }
}

static void *run(void *argument)
{
    struct weir_discovery *discovery = argument;
    while (!atomic_load(&discovery->is_stopped)) {
        weir_mailbox_wait(discovery->wake, INTERVAL_MS);
        discovery->question_count = 0;
        discovery->has_answer = false;
        bool is_stable_round = discovery->round_count++ % STABLE_ROUNDS == 0;
        if (!discovery->has_failed) {
            check_owner(discovery);
        }
        if (!discovery->has_failed) {
            check_wall_clock(discovery);
        }
        for (uint32_t i = 0; i < discovery->config.topics->count; i++) {
            if (!atomic_load(&discovery->is_stopped) && !discovery->has_failed &&
                is_source_topic(discovery, discovery->config.topics->topics[i].name)) {
                check_topic(discovery, i);
            }
        }
        for (uint32_t i = 0; i < discovery->config.tasks->count; i++) {
            if (!atomic_load(&discovery->is_stopped) && !discovery->has_failed) {
                check_ends(discovery, i, false);
                check_ends(discovery, i, true);
            }
            if (is_stable_round && !atomic_load(&discovery->is_stopped) && !discovery->has_failed) {
                check_stable(discovery, i);
            }
        }
        if (discovery->question_count > 0) {
            weir_watch_note_round(discovery->config.watch, discovery->has_answer,
                                  discovery->last.text);
        }
        weir_progress_note(discovery->config.progress);
    }
    return NULL;
}

struct weir_discovery *weir_discovery_start(const struct weir_discovery_config *config)
{
    struct weir_discovery *discovery = weir_alloc_zero(sizeof *discovery);
    discovery->config = *config;
    discovery->wake = weir_mailbox_create();
    discovery->gone_counts =
        weir_alloc_zero(config->topics->count * sizeof *discovery->gone_counts);
    int failed = pthread_create(&discovery->thread, NULL, run, discovery);
    WEIR_ASSERT(failed == 0);
    pthread_setname_np(discovery->thread, "discovery");
    return discovery;
}

void weir_discovery_stop(struct weir_discovery *discovery)
{
    if (discovery == NULL) {
        return;
    }
    atomic_store(&discovery->is_stopped, true);
    weir_mailbox_wake(discovery->wake);
    pthread_join(discovery->thread, NULL);
    weir_mailbox_destroy(discovery->wake, NULL);
    free(discovery->gone_counts);
    free(discovery);
}
