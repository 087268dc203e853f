// SPDX-License-Identifier: Apache-2.0
// A cluster that trusts nobody: one broker with an authorizer that allows nothing by default, where
// clients come by TLS and a password (PLAIN, SCRAM) or a token (OAUTHBEARER), or by a certificate
// of their own. The harness itself comes by the listener without any, as the one that may do
// everything. Users, rights and certificates. Failures end the running test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_SECURE_UTIL_H
#define WEIR_TESTS_INTEGRATION_SECURE_UTIL_H

#include "tests/integration/cluster_util.h"
#include "tests/integration/sql_job_util.h"

// How a job comes in, and so who it is.
enum secure_login {
    SECURE_PLAIN,     // User:weir-plain
    SECURE_SCRAM_256, // User:weir-scram
    SECURE_SCRAM_512, // User:weir-scram
    SECURE_TLS,       // User:CN=weir-tls
    SECURE_OAUTH,     // User:weir-oauth, by a token that nobody has signed
    SECURE_LOGIN_COUNT,
};

// What passwords are made of: everything that some syntax on the way could take for its own.
#define SECURE_PLAIN_PASSWORD "Zx9-;=\"\\ 'p$%#"
#define SECURE_SCRAM_PASSWORD "Zx9-;:\"\\ 's$%#"
#define SECURE_KEY_PASSWORD "Zx9-;=\"\\ 'k$%#"

// A fixture of a group, with cluster_stop as the other end.
int secure_cluster_start(void **state);

// The same with SCRAM's user, of a release at which the linked librdkafka can log in by it: before
// its 2.6.1 Kafka 4.0 and later refuse it.
int secure_cluster_start_for_scram(void **state);

// In the folder of certificates: ca.pem; client.pem and client.key (behind SECURE_KEY_PASSWORD);
// other-ca.pem and other-client.pem, whom nobody knows; expired-ca.pem, which is ca.pem in all but
// its time; old-client.pem, whose time is over.
const char *secure_file(const char *name);

// Settings of weir for that login, passwords in files, then those of `extra` (may be NULL), which
// take the place of others of their name.
const char *const *secure_settings(enum secure_login login, const char *const *extra);

// As the protocol numbers them.
enum secure_operation {
    SECURE_READ = 3,
    SECURE_WRITE = 4,
    SECURE_CREATE = 5,
    SECURE_DESCRIBE = 8,
    SECURE_DESCRIBE_CONFIGS = 10,
    SECURE_IDEMPOTENT_WRITE = 12,
};
enum secure_resource {
    SECURE_TOPIC = 2,
    SECURE_GROUP = 3,
    SECURE_CLUSTER = 4,
    SECURE_TRANSACTIONAL_ID = 5,
};

struct secure_right {
    enum secure_operation operation;
    enum secure_resource resource;
    const char *name; // "$" stands for the job's id
    bool is_prefix;
};

// Returns when the broker goes by it.
void secure_allow(const struct sql_job *job, enum secure_login login,
                  const struct secure_right *right);
void secure_forbid(const struct sql_job *job, enum secure_login login,
                   const struct secure_right *right);

#endif
