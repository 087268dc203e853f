// SPDX-License-Identifier: Apache-2.0
// See topics.h.
#include "app/topics.h"

#include "kafka/pointer.h"
#include "runtime/base/log.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    // One commit of offsets is one record batch of the broker (message.max.bytes, 1 MB by default).
    COMMIT_BYTES_MAX = 900000,
    COMMIT_OVERHEAD_BYTES = 64, // of one offset, beside group, topic and metadata
};

const struct weir_topic *weir_topics_find(const struct weir_topics *topics, const char *name)
{
    for (uint32_t i = 0; i < topics->count; i++) {
        if (strcmp(topics->topics[i].name, name) == 0) {
            return &topics->topics[i];
        }
    }
    return NULL;
}

enum weir_on_error weir_table_on_error(const struct weir_table *table,
                                       const struct weir_config *config)
{
    return table->on_error != WEIR_ON_ERROR_DEFAULT ? table->on_error : config->on_bad_record;
}

const char *weir_table_dead_letter_topic(const struct weir_table *table,
                                         const struct weir_config *config)
{
    if (weir_table_on_error(table, config) != WEIR_ON_ERROR_DEAD_LETTER) {
        return NULL;
    }
    return table->dead_letter_topic != NULL ? table->dead_letter_topic : config->dead_letter_topic;
}

static enum weir_status create(struct weir_kafka *kafka, const struct weir_table *table,
                               const char *name, const struct weir_retry *retry,
                               struct weir_topic_info *info, struct weir_error *error)
{
    int32_t replica_count = table->replica_count > 0 ? table->replica_count : -1;
    while (kafka->ops->create_topic(kafka, name, table->partition_count, replica_count,
                                    weir_retry_call_timeout_ms(retry), error) != WEIR_OK) {
        if (!weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    weir_log(WEIR_LOG_INFO, "table %s: created topic %s with %" PRId32 " partitions", table->name,
             name, table->partition_count);
    // Metadata may lag behind the creation.
    do {
        if (weir_ask_topic(kafka, retry, name, info, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (!info->exists) {
            weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_RETRY,
                           "topic %s was created but is not known yet", name);
        }
    } while (!info->exists && weir_retry_again(retry, error));
    return info->exists ? WEIR_OK : WEIR_ERROR;
}

static enum weir_status ask_limit(struct weir_kafka *kafka, const char *name,
                                  const struct weir_retry *retry, uint64_t *size_bytes,
                                  struct weir_error *error)
{
    char value[64];
    while (kafka->ops->topic_config(kafka, name, "max.message.bytes", value, sizeof value,
                                    weir_retry_call_timeout_ms(retry), error) != WEIR_OK) {
        if (!weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    *size_bytes = strtoull(value, NULL, 10);
    return WEIR_OK;
}

static enum weir_status resolve_one(struct weir_kafka *kafka, const struct weir_topic_wish *wish,
                                    const struct weir_retry *retry, struct weir_arena *arena,
                                    struct weir_topics *topics, struct weir_error *error)
{
    const struct weir_table *table = wish->table;
    struct weir_topic_info info;
    if (weir_ask_topic(kafka, retry, wish->name, &info, error) != WEIR_OK) {
        return weir_error_context(error, "table %s", table->name);
    }
    if (!info.exists && weir_topic_made_partitions(wish) > 0 &&
        create(kafka, table, wish->name, retry, &info, error) != WEIR_OK) {
        return weir_error_context(error, "table %s: creating topic %s", table->name, wish->name);
    }
    if (!info.exists) {
        return weir_topic_refuse_missing(wish, error);
    }
    struct weir_topic *topic = &topics->topics[topics->count++];
    *topic = (struct weir_topic){.name = weir_arena_strdup(arena, wish->name),
                                 .partition_count = info.partition_count,
                                 .topic_id = weir_arena_strdup(arena, info.topic_id)};
    return wish->is_written ? ask_limit(kafka, wish->name, retry, &topic->message_bytes_max, error)
                            : WEIR_OK;
}

int32_t weir_topic_made_partitions(const struct weir_topic_wish *wish)
{
    return wish->is_written ? wish->table->partition_count : 0;
}

enum weir_status weir_topic_refuse_missing(const struct weir_topic_wish *wish,
                                           struct weir_error *error)
{
    return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_REFUSE,
                          "table %s: its %s \"%s\" does not exist; create it%s", wish->table->name,
                          wish->role, wish->name,
                          wish->is_written ? ", or give the table option partitions" : "");
}

// No batch may be larger than the least of the topics takes: it would be refused with all of its
// rows.
static enum weir_status limit_batches(struct weir_kafka *kafka, struct weir_topics *topics,
                                      struct weir_error *error)
{
    uint64_t least_bytes = 0;
    for (uint32_t i = 0; i < topics->count; i++) {
        uint64_t size_bytes = topics->topics[i].message_bytes_max;
        if (size_bytes > 0 && (least_bytes == 0 || size_bytes < least_bytes)) {
            least_bytes = size_bytes;
        }
    }
    kafka->ops->limit_batches(kafka, least_bytes);
    return kafka->ops->limits(kafka, &topics->client, error);
}

static void add_wish(struct weir_topic_wish *wishes, uint32_t *count,
                     const struct weir_topic_wish *wish)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(wishes[i].name, wish->name) == 0) {
            return;
        }
    }
    wishes[(*count)++] = *wish;
}

// Rows of keyed stages descend from many tables: their dead letters go to the job's own topic.
static bool has_job_dead_letters(const struct weir_plan *plan, const struct weir_config *config)
{
    bool has_keyed_stage = false;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        has_keyed_stage = has_keyed_stage || plan->nodes[i]->kind == WEIR_PLAN_EXCHANGE;
    }
    return has_keyed_stage && config->on_bad_record == WEIR_ON_ERROR_DEAD_LETTER;
}

enum weir_status weir_topics_wanted(const struct weir_plan *plan, const struct weir_config *config,
                                    struct weir_arena *arena, struct weir_topic_wish **wishes,
                                    uint32_t *count, struct weir_error *error)
{
    // A table has at most three: its own, late rows, dead letters; the job one more.
    struct weir_topic_wish *list =
        weir_arena_alloc_zero(arena, (3 * plan->table_count + 1) * sizeof *list);
    *wishes = list;
    *count = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const struct weir_table *table = plan->tables[i];
        if (!table->is_source && !table->is_sink) {
            continue;
        }
        const char *dead_letters =
            table->is_source ? weir_table_dead_letter_topic(table, config) : NULL;
        add_wish(list, count,
                 &(struct weir_topic_wish){table, table->topic, "topic", table->is_sink});
        if (table->is_source && table->late_topic != NULL) {
            add_wish(list, count,
                     &(struct weir_topic_wish){table, table->late_topic, "late topic", true});
        }
        if (dead_letters != NULL) {
            add_wish(list, count,
                     &(struct weir_topic_wish){table, dead_letters, "dead-letter topic", true});
        }
    }
    static const struct weir_table job = {.name = "(all)"};
    if (!has_job_dead_letters(plan, config)) {
        return WEIR_OK;
    }
    if (config->dead_letter_topic == NULL) {
        return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                              "WEIR_ON_BAD_RECORD=dead_letter: the job groups rows of several "
                              "records, and their dead letters need WEIR_DEAD_LETTER_TOPIC");
    }
    add_wish(list, count,
             &(struct weir_topic_wish){&job, config->dead_letter_topic, "WEIR_DEAD_LETTER_TOPIC",
                                       false});
    return WEIR_OK;
}

enum weir_status weir_topics_resolve(struct weir_kafka *kafka, const struct weir_plan *plan,
                                     const struct weir_config *config,
                                     const struct weir_retry *retry, struct weir_arena *arena,
                                     struct weir_topics *topics, struct weir_error *error)
{
    struct weir_topic_wish *wishes;
    uint32_t count;
    *topics = (struct weir_topics){0};
    if (weir_topics_wanted(plan, config, arena, &wishes, &count, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    topics->topics = weir_arena_alloc_zero(arena, (count + 1) * sizeof *topics->topics);
    for (uint32_t i = 0; i < count; i++) {
        if (resolve_one(kafka, &wishes[i], retry, arena, topics, error) != WEIR_OK) {
            return WEIR_ERROR;
        }
    }
    return limit_batches(kafka, topics, error);
}

static enum weir_status ask_config(struct weir_kafka *kafka, const char *name,
                                   const struct weir_retry *retry, char *value, size_t size_bytes,
                                   struct weir_error *error)
{
    while (kafka->ops->broker_config(kafka, name, value, size_bytes,
                                     weir_retry_call_timeout_ms(retry), error) != WEIR_OK) {
        if (!weir_retry_again(retry, error)) {
            return WEIR_ERROR;
        }
    }
    return WEIR_OK;
}

// Not everybody who may run a job may look at the settings of brokers.
static enum weir_status pass_unasked(const struct weir_error *error)
{
    if (error->domain != WEIR_DOMAIN_ACCESS) {
        return WEIR_ERROR;
    }
    weir_log(WEIR_LOG_WARN,
             "%s; going on without it (allowed by WEIR_ALLOW=unverified_transactions)",
             error->text);
    return WEIR_OK;
}

static enum weir_status check_verification(struct weir_kafka *kafka,
                                           const struct weir_config *config,
                                           const struct weir_retry *retry, struct weir_error *error)
{
    char value[64];
    if (ask_config(kafka, "transaction.partition.verification.enable", retry, value, sizeof value,
                   error) != WEIR_OK) {
        return config->is_unverified_transactions_allowed ? pass_unasked(error) : WEIR_ERROR;
    }
    if (strcmp(value, "true") == 0) {
        return WEIR_OK;
    }
    const char *what = value[0] == '\0' ? "do not know transaction verification (Kafka before 3.6)"
                                        : "have it switched off on at least one broker";
    if (config->is_unverified_transactions_allowed) {
        weir_log(WEIR_LOG_WARN,
                 "the brokers %s: a request that arrives late can lose or double rows "
                 "(allowed by WEIR_ALLOW=unverified_transactions)",
                 what);
        return WEIR_OK;
    }
    return weir_error_set(
        error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_REFUSE,
        "the brokers %s; without it a request that arrives late can move committed "
        "offsets back. Set transaction.partition.verification.enable=true, or "
        "WEIR_ALLOW=unverified_transactions to run all the same",
        what);
}

static enum weir_status check_transaction_timeout(struct weir_kafka *kafka,
                                                  const struct weir_config *config,
                                                  const struct weir_retry *retry,
                                                  struct weir_error *error)
{
    char value[64];
    if (ask_config(kafka, "transaction.max.timeout.ms", retry, value, sizeof value, error) !=
        WEIR_OK) {
        return config->is_unverified_transactions_allowed ? pass_unasked(error) : WEIR_ERROR;
    }
    int64_t max_ms = strtoll(value, NULL, 10);
    if (max_ms <= 0 || config->transaction_timeout_ms <= max_ms) {
        return WEIR_OK;
    }
    return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_REFUSE,
                          "the transaction time-out is %" PRId64 " ms, the brokers allow %" PRId64
                          " ms (transaction.max.timeout.ms): lower WEIR_CHECKPOINT_INTERVAL, "
                          "WEIR_CHECKPOINT_TIMEOUT or WEIR_CHECKPOINT_MAX_CONCURRENT, or set "
                          "WEIR_KAFKA_TRANSACTION_TIMEOUT_MS",
                          config->transaction_timeout_ms, max_ms);
}

static enum weir_status check_commit_size(const struct weir_plan *plan,
                                          const struct weir_topics *topics,
                                          const struct weir_config *config,
                                          struct weir_error *error)
{
    uint64_t size_bytes = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (plan->tables[i]->is_source) {
            const struct weir_topic *topic = weir_topics_find(topics, plan->tables[i]->topic);
            size_bytes +=
                (uint64_t)topic->partition_count * (strlen(config->job_id) + strlen(topic->name) +
                                                    WEIR_POINTER_BYTES_MAX + COMMIT_OVERHEAD_BYTES);
        }
    }
    if (size_bytes <= COMMIT_BYTES_MAX) {
        return WEIR_OK;
    }
    return weir_error_set(
        error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_REFUSE,
        "the offsets of all source partitions take about %" PRIu64
        " bytes a commit, a broker takes %d: read fewer partitions in one job, or "
        "shorten WEIR_JOB_ID",
        size_bytes, COMMIT_BYTES_MAX);
}

enum weir_status weir_brokers_check(struct weir_kafka *kafka, const struct weir_plan *plan,
                                    const struct weir_topics *topics,
                                    const struct weir_config *config,
                                    const struct weir_retry *retry, struct weir_error *error)
{
    if (check_verification(kafka, config, retry, error) != WEIR_OK ||
        check_transaction_timeout(kafka, config, retry, error) != WEIR_OK ||
        check_commit_size(plan, topics, config, error) != WEIR_OK) {
        return WEIR_ERROR;
    }
    if (weir_rdkafka_version_is_suspect()) {
        weir_log(WEIR_LOG_WARN,
                 "librdkafka %s can hang in a commit after the group coordinator's broker is lost; "
                 "the process then ends by itself and the next start goes on",
                 weir_rdkafka_version());
    }
    return WEIR_OK;
}
