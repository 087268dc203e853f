// SPDX-License-Identifier: Apache-2.0
// See registry_util.h.
#include "tests/integration/registry_util.h"

#include "tests/integration/http_job_util.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAIT_MS = 60000, OPTIONS_MAX = 16, FETCH_MS = 600000 };

void registry_standin_start(struct registry_standin *registry)
{
    const char *argv[4 + OPTIONS_MAX + 1] = {
        "python3", WEIR_TEST_REGISTRY, weir_test_format("%d", registry->port), registry->store};
    for (int i = 0; registry->options[i] != NULL; i++) {
        assert_true(i < OPTIONS_MAX);
        argv[4 + i] = registry->options[i];
    }
    registry->process = weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = registry->log});
    if (!weir_test_process_wait_text(registry->process, "is listening", WAIT_MS, NULL)) {
        WEIR_TEST_FAIL("the stand-in registry does not start");
    }
}

void registry_standin_kill(struct registry_standin *registry)
{
    weir_test_process_destroy(registry->process); // kills it
    registry->process = NULL;
}

void registry_standin_create(struct registry_standin *registry, const struct sql_job *job,
                             const char *store_text, const char *const *options)
{
    registry->holder = weir_test_port_reserve(&registry->port);
    registry->store = weir_test_format("%s/registry.json", job->dir);
    registry->log = weir_test_format("%s/registry.log", job->dir);
    registry->options = options;
    weir_test_write_file(registry->store, store_text);
    registry_standin_start(registry);
}

void registry_standin_destroy(struct registry_standin *registry)
{
    registry_standin_kill(registry);
    close(registry->holder);
}

// --- the real one ----------------------------------------------------------------------------

static const char *fetch(const struct sql_job *job)
{
    const char *const argv[] = {WEIR_TEST_TOOLS "/registry-fetch.sh", NULL};
    struct weir_test_process *process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .log_path = weir_test_format("%s/registry-fetch.log", job->dir)});
    struct weir_test_exit how = {0};
    bool is_over = weir_test_process_wait(process, FETCH_MS, &how);
    char *output = weir_test_process_output(process);
    weir_test_process_destroy(process);
    if (!is_over || how.is_signalled || how.code != 0) {
        print_message("skipped: no registry can be had: %s\n", output);
        return NULL;
    }
    output[strcspn(output, "\n")] = '\0';
    return output;
}

static bool is_open(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_good = connect(descriptor, (const struct sockaddr *)&address, sizeof address) == 0;
    close(descriptor);
    return is_good;
}

static bool is_ready(const struct registry_real *registry)
{
    if (!is_open(registry->port)) {
        return false;
    }
    struct http_answer answer =
        http_ask((uint16_t)registry->port, "GET", REGISTRY_PATH "/subjects", NULL, NULL);
    free(answer.body);
    return answer.status == 200;
}

void registry_real_start(struct registry_real *registry)
{
    const char *const argv[] = {
        "java",
        weir_test_format("-Dquarkus.http.port=%d", registry->port),
        "-Dapicurio.storage.kind=kafkasql",
        weir_test_format("-Dapicurio.kafkasql.bootstrap.servers=%s", registry->bootstrap),
        weir_test_format("@%s/registry.args", registry->folder),
        NULL};
    registry->process = weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = registry->log});
    for (int waited_ms = 0; !is_ready(registry); waited_ms += 100) {
        if (waited_ms > WAIT_MS || !weir_test_process_is_running(registry->process)) {
            WEIR_TEST_FAIL("the registry does not start, see %s", registry->log);
        }
        weir_test_sleep_ms(100);
    }
}

void registry_real_kill(struct registry_real *registry)
{
    weir_test_process_destroy(registry->process); // kills it
    registry->process = NULL;
}

bool registry_real_create(struct registry_real *registry, const struct sql_job *job)
{
    *registry = (struct registry_real){.folder = fetch(job), .bootstrap = job->bootstrap};
    if (registry->folder == NULL) {
        return false;
    }
    registry->holder = weir_test_port_reserve(&registry->port);
    registry->log = weir_test_format("%s/registry.log", job->dir);
    registry_real_start(registry);
    return true;
}

void registry_real_destroy(struct registry_real *registry)
{
    registry_real_kill(registry);
    close(registry->holder);
}

const char *registry_real_setting(const struct registry_real *registry)
{
    return weir_test_format("WEIR_SCHEMA_REGISTRY=http://127.0.0.1:%d" REGISTRY_PATH,
                            registry->port);
}

uint32_t registry_real_register(const struct registry_real *registry, const char *subject,
                                const char *schema)
{
    char *body = malloc(2 * strlen(schema) + 16);
    assert_non_null(body);
    char *at = stpcpy(body, "{\"schema\":\"");
    for (; *schema != '\0'; schema++) {
        if (*schema == '"') {
            *at++ = '\\';
        }
        *at++ = *schema;
    }
    strcpy(at, "\"}");
    struct http_answer answer =
        http_ask((uint16_t)registry->port, "POST",
                 weir_test_format(REGISTRY_PATH "/subjects/%s/versions", subject), body, NULL);
    const char *id = answer.body != NULL ? strstr(answer.body, "\"id\":") : NULL;
    if (answer.status != 200 || id == NULL) {
        WEIR_TEST_FAIL("registering a schema: %d %s", answer.status, answer.body);
    }
    uint32_t number = (uint32_t)strtoul(id + 5, NULL, 10);
    free(body);
    free(answer.body);
    return number;
}

// --- records by hand -------------------------------------------------------------------------

void avro_begin(struct avro_bytes *to, uint32_t id)
{
    uint32_t big_endian = __builtin_bswap32(id);
    to->data[0] = 0;
    memcpy(to->data + 1, &big_endian, sizeof big_endian);
    to->count = 5;
}

void avro_put_long(struct avro_bytes *to, int64_t value)
{
    uint64_t zigzag = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    for (; zigzag >= 0x80; zigzag >>= 7) {
        to->data[to->count++] = (char)(zigzag | 0x80);
    }
    to->data[to->count++] = (char)zigzag;
}

void avro_put_text(struct avro_bytes *to, const char *text)
{
    avro_put_long(to, (int64_t)strlen(text));
    memcpy(to->data + to->count, text, strlen(text));
    to->count += strlen(text);
}

int64_t avro_take_long(const unsigned char **at)
{
    uint64_t zigzag = 0;
    int shift = 0;
    do {
        zigzag |= (uint64_t)(**at & 0x7f) << shift;
        shift += 7;
    } while (*(*at)++ >= 0x80);
    return (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
}

// --- certificates ----------------------------------------------------------------------------

const char *registry_certificates(const struct sql_job *job)
{
    static const char script[] =
        "set -e; mkdir -p \"$1\"; cd \"$1\"\n"
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 "
        "-subj /CN=weir-test-ca 2>/dev/null\n"
        "for name in server client; do\n"
        "  openssl req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj /CN=$name "
        "2>/dev/null\n"
        "  echo subjectAltName=IP:127.0.0.1 >$name.ext\n"
        "  openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 "
        "-extfile $name.ext -out $name.crt 2>/dev/null\n"
        "  cat $name.crt $name.key >$name.pem\n"
        "done\n"
        "echo made\n";
    const char *folder = weir_test_format("%s/certificates", job->dir);
    const char *const argv[] = {"bash", "-c", script, "bash", folder, NULL};
    struct weir_test_process *process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .log_path = weir_test_format("%s/certificates.log", job->dir)});
    if (!weir_test_process_wait_text(process, "made", WAIT_MS, NULL)) {
        WEIR_TEST_FAIL("openssl makes no certificates");
    }
    weir_test_process_destroy(process);
    return folder;
}
