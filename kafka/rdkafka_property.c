// SPDX-License-Identifier: Apache-2.0
// See rdkafka_property.h. librdkafka has no call that lists its properties but the one that writes
// its reference as a Markdown table; that table is read back here:
//   name | C/P | range | default | importance | text <br>*Type: integer*
#include "kafka/rdkafka_property.h"

#include "runtime/base/assert.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_GROUP "partitions are assigned by weir itself, no group is joined"
#define COMMITS "positions are committed in the transaction of each checkpoint"
#define KEEPS_ORDER "rows would be lost, doubled or reordered with another value"
#define DEADLINES "the transaction's time-out decides (transaction.timeout.ms)"

const struct weir_rdkafka_owned weir_rdkafka_owned[] = {
    {"group.id", "it is the job id (WEIR_JOB_ID)"},
    {"group.instance.id", NO_GROUP},
    {"group.protocol", NO_GROUP},
    {"group.protocol.type", NO_GROUP},
    {"group.remote.assignor", NO_GROUP},
    {"partition.assignment.strategy", NO_GROUP},
    {"transactional.id", "it is made from the job id (WEIR_JOB_ID)"},
    {"enable.auto.commit", COMMITS},
    {"auto.commit.enable", COMMITS},
    {"auto.commit.interval.ms", COMMITS},
    {"enable.auto.offset.store", COMMITS},
    {"offset.store.method", COMMITS},
    {"offset.store.path", COMMITS},
    {"offset.store.sync.interval.ms", COMMITS},
    {"auto.offset.reset", "reading begins at the committed position, else at WEIR_START or the "
                          "table's start"},
    {"isolation.level", "only committed records are read"},
    {"enable.partition.eof", "time and bounded runs need to know where a partition ends"},
    {"enable.idempotence", KEEPS_ORDER},
    {"acks", KEEPS_ORDER},
    {"request.required.acks", KEEPS_ORDER},
    {"retries", KEEPS_ORDER},
    {"message.send.max.retries", KEEPS_ORDER},
    {"max.in.flight.requests.per.connection", KEEPS_ORDER},
    {"max.in.flight", KEEPS_ORDER},
    {"queuing.strategy", KEEPS_ORDER},
    {"message.timeout.ms", DEADLINES},
    {"delivery.timeout.ms", DEADLINES},
    {"request.timeout.ms", DEADLINES},
    {"partitioner", "the partition follows from the key as in Kafka's Java client (murmur2)"},
    {"delivery.report.only.error", "every delivery is counted"},
    {"enabled_events", "every delivery is counted"},
    {"log.queue", "the client's messages go to weir's log"},
    {"allow.auto.create.topics",
     "a missing topic is refused, or made as its table's partitions and "
     "replicas say"},
    {"metadata.broker.list", "it is WEIR_KAFKA_BOOTSTRAP_SERVERS"},
    {"test.mock.num.brokers", "it would put brokers of its own, which keep nothing, in place of "
                              "yours"},
};

const uint32_t weir_rdkafka_owned_count = sizeof weir_rdkafka_owned / sizeof weir_rdkafka_owned[0];

// Cuts the next column off `*row`, without the blanks around it. NULL: no column is left.
static char *take_column(char **row)
{
    char *begin = *row;
    if (begin == NULL) {
        return NULL;
    }
    char *bar = strchr(begin, '|');
    char *end = bar != NULL ? bar : begin + strlen(begin);
    *row = bar != NULL ? bar + 1 : NULL;
    while (begin < end && *begin == ' ') {
        begin++;
    }
    while (end > begin && end[-1] == ' ') {
        end--;
    }
    *end = '\0';
    return begin;
}

static const char *alias_in(struct weir_arena *arena, const char *text)
{
    static const char mark[] = "Alias for `";
    const char *found = strstr(text, mark);
    if (found == NULL) {
        return NULL;
    }
    const char *name = found + strlen(mark);
    char *copy = weir_arena_strdup(arena, name);
    copy[strcspn(copy, "`")] = '\0';
    return copy;
}

// False: a line that is no property, or one whose value is not text.
static bool read_row(struct weir_arena *arena, char *line, struct weir_rdkafka_property *property)
{
    char *row = line;
    const char *name = take_column(&row);
    const char *side = take_column(&row);
    if (side == NULL || row == NULL || strstr(row, "*Type: ") == NULL ||
        strstr(row, "*Type: see dedicated API*") != NULL ||
        strstr(row, "*Type: pointer*") != NULL) {
        return false;
    }
    *property = (struct weir_rdkafka_property){
        .name = weir_arena_strdup(arena, name),
        .alias_of = alias_in(arena, row),
        .is_for_consumer = strcmp(side, "P") != 0,
        .is_for_producer = strcmp(side, "C") != 0,
    };
    return true;
}

static bool is_listed(const struct weir_rdkafka_property *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t weir_rdkafka_known_properties(struct weir_arena *arena,
                                       const struct weir_rdkafka_property **properties)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *stream = open_memstream(&text, &text_bytes);
    WEIR_ASSERT(stream != NULL);
    rd_kafka_conf_properties_show(stream);
    WEIR_ASSERT(fclose(stream) == 0);

    uint32_t line_count = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        line_count++;
    }
    struct weir_rdkafka_property *list = weir_arena_alloc(arena, line_count * sizeof *list);
    uint32_t count = 0;
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line != NULL;
         line = strtok_r(NULL, "\n", &state)) {
        // A property of handles comes before one of topics with the same name, and counts.
        if (read_row(arena, line, &list[count]) && !is_listed(list, count, list[count].name)) {
            count++;
        }
    }
    free(text);
    *properties = list;
    return count;
}

enum weir_status weir_rdkafka_property_check(const char *name, const char *value,
                                             struct weir_error *error)
{
    char text[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name, value, text, sizeof text);
    rd_kafka_conf_destroy(conf);
    if (result == RD_KAFKA_CONF_OK) {
        return WEIR_OK;
    }
    return weir_error_set(error, WEIR_DOMAIN_KAFKA, WEIR_ACTION_REFUSE, "%s", text);
}
