// SPDX-License-Identifier: Apache-2.0
// The one place where errors of librdkafka and of brokers become a struct weir_error: what to do
// next, and a text with the call, the transactional id where there is one, the broker's words and
// the name of the code.
#ifndef WEIR_KAFKA_RDKAFKA_ERROR_H
#define WEIR_KAFKA_RDKAFKA_ERROR_H

#include "runtime/base/error.h"

#include <librdkafka/rdkafka.h>

// What was being done: the same code means different things.
enum weir_rdkafka_call {
    WEIR_RDKAFKA_ASK,     // questions and admin calls
    WEIR_RDKAFKA_CONSUME, // a partition that is read
    WEIR_RDKAFKA_PRODUCE, // produce() and delivery reports
    WEIR_RDKAFKA_TRANSACT,
};

// What librdkafka says about an error of a transactional call.
struct weir_rdkafka_verdict {
    rd_kafka_resp_err_t code;
    bool is_fatal;
    bool is_retriable;
    bool is_abort_required;
};

// Pure: what the table of codes in rdkafka_error.c says.
enum weir_error_action weir_rdkafka_error_action(enum weir_rdkafka_call call,
                                                 const struct weir_rdkafka_verdict *verdict);

// "<format…>: <reason> (<NAME>)". reason NULL: librdkafka's text for the code. Returns WEIR_ERROR.
enum weir_status weir_rdkafka_error_set(struct weir_error *error, enum weir_rdkafka_call call,
                                        rd_kafka_resp_err_t code, const char *reason,
                                        const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// Behind a text of one of the above, where the code says that a right is missing: which one, on
// what, and what to do. "Read on topic 'a'": operation, then the name (NULL: the text has it).
enum weir_status weir_rdkafka_error_name_right(struct weir_error *error, rd_kafka_resp_err_t code,
                                               const char *operation, const char *name);

// The same for the fatal error of a handle (its code says nothing but "fatal"). transactional_id
// may be NULL.
enum weir_status weir_rdkafka_error_set_fatal(struct weir_error *error, enum weir_rdkafka_call call,
                                              rd_kafka_t *handle, const char *what,
                                              const char *transactional_id);

// The outcome of a transactional call; cause is taken (NULL: WEIR_OK). A state error is a bug of
// the caller and ends the process.
enum weir_status weir_rdkafka_error_take(struct weir_error *error, rd_kafka_t *handle,
                                         rd_kafka_error_t *cause, const char *what,
                                         const char *transactional_id);

#endif
