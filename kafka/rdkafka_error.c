// SPDX-License-Identifier: Apache-2.0
// The translation table of librdkafka's and the brokers' error codes, and the texts. No state; any
// thread. What is not in the table is asked again (questions) or costs a replay (everything else):
// both are safe, and both are bounded by the caller.
#include "kafka/rdkafka_error.h"

#include "runtime/base/assert.h"

#include <stdio.h>
#include <string.h>

// What to do by kind of call.
struct translation {
    rd_kafka_resp_err_t code;
    enum weir_error_domain domain;
    enum weir_error_action ask;
    enum weir_error_action consume;
    enum weir_error_action produce;
    enum weir_error_action transact;
};

#define ROW(name, domain, ask, consume, produce, transact)                                         \
    {                                                                                              \
        RD_KAFKA_RESP_ERR_##name, WEIR_DOMAIN_##domain, WEIR_ACTION_##ask, WEIR_ACTION_##consume,  \
            WEIR_ACTION_##produce, WEIR_ACTION_##transact                                          \
    }

static const struct translation unlisted = ROW(UNKNOWN, KAFKA, RETRY, RECOVER, RECOVER, RECOVER);

static const struct translation translations[] = {
    // Somebody else holds the transactional id, or the coordinator timed our transaction out.
    ROW(_FENCED, KAFKA, FENCED, FENCED, FENCED, FENCED),
    ROW(INVALID_PRODUCER_EPOCH, KAFKA, FENCED, FENCED, FENCED, FENCED),
    ROW(PRODUCER_FENCED, KAFKA, FENCED, FENCED, FENCED, FENCED),

    // Rights: somebody has to give them. Whoever holds the error decides by the domain, as they can
    // be taken and given back while a job runs.
    ROW(TOPIC_AUTHORIZATION_FAILED, ACCESS, REFUSE, FAIL, FAIL, FAIL),
    ROW(GROUP_AUTHORIZATION_FAILED, ACCESS, REFUSE, FAIL, FAIL, FAIL),
    ROW(CLUSTER_AUTHORIZATION_FAILED, ACCESS, REFUSE, FAIL, FAIL, FAIL),
    ROW(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ACCESS, REFUSE, FAIL, FAIL, FAIL),

    // Settings: the operator has to change something.
    ROW(SASL_AUTHENTICATION_FAILED, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(UNSUPPORTED_SASL_MECHANISM, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(SECURITY_DISABLED, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(UNSUPPORTED_VERSION, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(UNSUPPORTED_FOR_MESSAGE_FORMAT, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(_UNSUPPORTED_FEATURE, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(_NOT_CONFIGURED, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(_INVALID_ARG, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(INVALID_TRANSACTION_TIMEOUT, KAFKA, REFUSE, REFUSE, REFUSE, REFUSE),
    ROW(INVALID_GROUP_ID, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(TOPIC_EXCEPTION, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(INVALID_PARTITIONS, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(INVALID_REPLICATION_FACTOR, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(INVALID_REPLICA_ASSIGNMENT, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(INVALID_CONFIG, KAFKA, REFUSE, FAIL, FAIL, FAIL),
    ROW(POLICY_VIOLATION, KAFKA, REFUSE, FAIL, FAIL, FAIL),

    // A replay makes the same rows, positions and requests again.
    ROW(MSG_SIZE_TOO_LARGE, DATA, REFUSE, FAIL, FAIL, FAIL),
    ROW(RECORD_LIST_TOO_LARGE, DATA, REFUSE, FAIL, FAIL, FAIL),
    ROW(INVALID_TIMESTAMP, DATA, REFUSE, FAIL, FAIL, FAIL),
    ROW(INVALID_RECORD, DATA, REFUSE, FAIL, FAIL, FAIL),
    ROW(OFFSET_METADATA_TOO_LARGE, KAFKA, REFUSE, FAIL, FAIL, FAIL),

    // Removed before they were read, or the topic was made anew: the recovery finds out which, and
    // says it or goes on.
    ROW(OFFSET_OUT_OF_RANGE, KAFKA, RETRY, RECOVER, RECOVER, RECOVER),
    ROW(_AUTO_OFFSET_RESET, KAFKA, RETRY, RECOVER, RECOVER, RECOVER),
};

static const struct translation *translation_of(rd_kafka_resp_err_t code)
{
    for (size_t i = 0; i < sizeof(translations) / sizeof(translations[0]); i++) {
        if (translations[i].code == code) {
            return &translations[i];
        }
    }
    return &unlisted;
}

static enum weir_error_action action_of(const struct translation *translation,
                                        enum weir_rdkafka_call call)
{
    switch (call) {
    case WEIR_RDKAFKA_ASK:
        return translation->ask;
    case WEIR_RDKAFKA_CONSUME:
        return translation->consume;
    case WEIR_RDKAFKA_PRODUCE:
        return translation->produce;
    case WEIR_RDKAFKA_TRANSACT:
        return translation->transact;
    }
    return translation->transact;
}

enum weir_error_action weir_rdkafka_error_action(enum weir_rdkafka_call call,
                                                 const struct weir_rdkafka_verdict *verdict)
{
    // A call that conflicts with another one still under way can only be got rid of with its
    // handle, although librdkafka calls it retriable.
    bool is_conflict = verdict->code == RD_KAFKA_RESP_ERR__CONFLICT ||
                       verdict->code == RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS;
    if (verdict->is_retriable && !verdict->is_fatal && !verdict->is_abort_required &&
        !is_conflict) {
        return WEIR_ACTION_RETRY;
    }
    enum weir_error_action action = action_of(translation_of(verdict->code), call);
    if (action == WEIR_ACTION_RETRY && (verdict->is_fatal || verdict->is_abort_required)) {
        action = WEIR_ACTION_RECOVER;
    }
    return action;
}

__attribute__((format(printf, 5, 0))) static enum weir_status
set_with_action(struct weir_error *error, enum weir_error_action action, rd_kafka_resp_err_t code,
                const char *reason, const char *format, va_list args)
{
    if (reason == NULL || reason[0] == '\0') {
        reason = rd_kafka_err2str(code);
    }
    weir_error_set(error, translation_of(code)->domain, action, "%s (%s)", reason,
                   rd_kafka_err2name(code));
    char what[512];
    vsnprintf(what, sizeof(what), format, args);
    return weir_error_context(error, "%s", what);
}

enum weir_status weir_rdkafka_error_set(struct weir_error *error, enum weir_rdkafka_call call,
                                        rd_kafka_resp_err_t code, const char *reason,
                                        const char *format, ...)
{
    const struct weir_rdkafka_verdict verdict = {.code = code};
    va_list args;
    va_start(args, format);
    enum weir_status status = set_with_action(error, weir_rdkafka_error_action(call, &verdict),
                                              code, reason, format, args);
    va_end(args);
    return status;
}

enum weir_status weir_rdkafka_error_name_right(struct weir_error *error, rd_kafka_resp_err_t code,
                                               const char *operation, const char *name)
{
    static const struct {
        rd_kafka_resp_err_t code;
        const char *named;
        const char *unnamed;
    } resources[] = {
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "topic", "one of the topics"},
        {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, "group", "the group of the job"},
        {RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transactional id",
         "the transactional ids of the job"},
        {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, NULL, "the cluster"},
    };
    for (size_t i = 0; error != NULL && i < sizeof(resources) / sizeof(resources[0]); i++) {
        if (resources[i].code != code) {
            continue;
        }
        size_t used = strlen(error->text);
        bool is_named = name != NULL && resources[i].named != NULL;
        snprintf(error->text + used, sizeof(error->text) - used,
                 "; weir's user lacks the right %s on %s%s%s%s: grant it (docs/security.md)",
                 operation, is_named ? resources[i].named : resources[i].unnamed,
                 is_named ? " '" : "", is_named ? name : "", is_named ? "'" : "");
    }
    return WEIR_ERROR;
}

// What a transaction asks for, by what was refused.
static void name_right_of_transaction(struct weir_error *error, rd_kafka_resp_err_t code,
                                      const char *transactional_id)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        weir_rdkafka_error_name_right(error, code, "Write (of a sink) or Read (of a source)", NULL);
        break;
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        weir_rdkafka_error_name_right(error, code, "Read", NULL);
        break;
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED: // a producer without transactions
        weir_rdkafka_error_name_right(error, code, "IdempotentWrite", NULL);
        break;
    default:
        weir_rdkafka_error_name_right(error, code, "Write", transactional_id);
        break;
    }
}

static enum weir_status set_transactional(struct weir_error *error, enum weir_rdkafka_call call,
                                          const struct weir_rdkafka_verdict *verdict,
                                          const char *reason, const char *what,
                                          const char *transactional_id)
{
    weir_error_set(error, translation_of(verdict->code)->domain,
                   weir_rdkafka_error_action(call, verdict), "%s (%s)", reason,
                   rd_kafka_err2name(verdict->code));
    name_right_of_transaction(error, verdict->code, transactional_id);
    if (transactional_id == NULL) {
        return weir_error_context(error, "%s", what);
    }
    return weir_error_context(error, "%s, transactional id '%s'", what, transactional_id);
}

enum weir_status weir_rdkafka_error_set_fatal(struct weir_error *error, enum weir_rdkafka_call call,
                                              rd_kafka_t *handle, const char *what,
                                              const char *transactional_id)
{
    char reason[512] = "the client has failed for good";
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(handle, reason, sizeof(reason));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = RD_KAFKA_RESP_ERR__FATAL;
    }
    const struct weir_rdkafka_verdict verdict = {.code = code, .is_fatal = true};
    return set_transactional(error, call, &verdict, reason, what, transactional_id);
}

enum weir_status weir_rdkafka_error_take(struct weir_error *error, rd_kafka_t *handle,
                                         rd_kafka_error_t *cause, const char *what,
                                         const char *transactional_id)
{
    if (cause == NULL) {
        return WEIR_OK;
    }
    const struct weir_rdkafka_verdict verdict = {
        .code = rd_kafka_error_code(cause),
        .is_fatal = rd_kafka_error_is_fatal(cause) != 0,
        .is_retriable = rd_kafka_error_is_retriable(cause) != 0,
        .is_abort_required = rd_kafka_error_txn_requires_abort(cause) != 0,
    };
    enum weir_status status;
    if (verdict.is_fatal && verdict.code == RD_KAFKA_RESP_ERR__FATAL) {
        status = weir_rdkafka_error_set_fatal(error, WEIR_RDKAFKA_TRANSACT, handle, what,
                                              transactional_id);
    } else {
        status = set_transactional(error, WEIR_RDKAFKA_TRANSACT, &verdict,
                                   rd_kafka_error_string(cause), what, transactional_id);
    }
    bool is_misuse = verdict.code == RD_KAFKA_RESP_ERR__STATE && !verdict.is_fatal &&
                     !verdict.is_retriable && !verdict.is_abort_required;
    if (is_misuse) {
        fprintf(stderr, "%s: %s\n", what, rd_kafka_error_string(cause));
    }
    rd_kafka_error_destroy(cause);
    WEIR_ASSERT(!is_misuse);
    return status;
}
