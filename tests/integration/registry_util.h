// SPDX-License-Identifier: Apache-2.0
// Schema registries for tests: a stand-in (harness/registry_standin.py) whose store is a file and
// which can be told to misbehave, and the real one that tools/registry-fetch.sh has fetched.
// Failures end the running test. Thread: the tests'.
#ifndef WEIR_TESTS_INTEGRATION_REGISTRY_UTIL_H
#define WEIR_TESTS_INTEGRATION_REGISTRY_UTIL_H

#include "tests/integration/sql_job_util.h"

struct registry_standin {
    int port;
    int holder; // of the port
    const char *store;
    const char *log;
    const char *const *options; // see registry_standin.py; NULL-terminated
    struct weir_test_process *process;
};

// Starts it, with its store in the job's folder. options live as long as the stand-in.
void registry_standin_create(struct registry_standin *registry, const struct sql_job *job,
                             const char *store_text, const char *const *options);
void registry_standin_start(struct registry_standin *registry); // again, after a kill
void registry_standin_kill(struct registry_standin *registry);
void registry_standin_destroy(struct registry_standin *registry);

// --- the real one: Apicurio's, its API under a path, its schemas in a topic of the job's cluster
// ---

#define REGISTRY_PATH "/apis/ccompat/v7"

struct registry_real {
    int port;
    int holder; // of the port
    const char *log;
    const char *folder; // of tools/registry-fetch.sh
    const char *bootstrap;
    struct weir_test_process *process;
};

// False: it cannot be had here (the log of the attempt is printed); the test is to be skipped.
bool registry_real_create(struct registry_real *registry, const struct sql_job *job);
void registry_real_start(struct registry_real *registry); // again, with what it knew
void registry_real_kill(struct registry_real *registry);
void registry_real_destroy(struct registry_real *registry);
const char *registry_real_setting(const struct registry_real *registry); // WEIR_SCHEMA_REGISTRY=…
// Registers a schema (JSON text, no quotes in names); its id.
uint32_t registry_real_register(const struct registry_real *registry, const char *subject,
                                const char *schema);

// --- records by hand -------------------------------------------------------------------------

struct avro_bytes {
    char data[256];
    size_t count;
};

void avro_begin(struct avro_bytes *to, uint32_t id); // the frame
void avro_put_long(struct avro_bytes *to, int64_t value);
void avro_put_text(struct avro_bytes *to, const char *text);
int64_t avro_take_long(const unsigned char **at);

// --- certificates ----------------------------------------------------------------------------

// ca.pem, server.pem (of 127.0.0.1) and client.pem, each with its key, in a folder of the job.
const char *registry_certificates(const struct sql_job *job);

#endif
