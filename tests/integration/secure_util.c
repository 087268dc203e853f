// SPDX-License-Identifier: Apache-2.0
// See secure_util.h. Rights are changed by hand-made requests: librdkafka of Debian 12 knows no
// rights on transactional ids, and Kafka's own tool takes a second for each.
#include "tests/integration/secure_util.h"

#include "kafka/client.h"
#include "tests/harness/proxy_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CERTIFICATES_TIMEOUT_MS = 30000, APPLIED_TIMEOUT_MS = 10000 };

static const char *folder; // of certificates and passwords

// --- certificates --------------------------------------------------------------------------------

static const char certificates_script[] =
    "set -e; cd \"$1\"; touch index.txt\n"
    "printf '%s\\n' [ca] default_ca=it [it] database=index.txt new_certs_dir=. rand_serial=yes \\\n"
    "  default_md=sha256 policy=any unique_subject=no [any] commonName=supplied >ca.cnf\n"
    "new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \"$@\"; }\n"
    "sign() { # NAME CA END EXTENSION OPTION…\n"
    "  local name=$1 ca=$2 end=$3; echo $4 >$name.ext; shift 4\n"
    "  openssl ca -config ca.cnf -batch -notext -in $name.csr -cert $ca.pem -keyfile $ca.key \\\n"
    "    -startdate 20200101000000Z -enddate $end -extfile $name.ext -out $name.pem \"$@\"\n"
    "}\n"
    "future=20990101000000Z; past=20200201000000Z; ip=subjectAltName=IP:127.0.0.1,DNS:127.0.0.1\n"
    "for ca in ca other-ca; do\n"
    "  new_key -out $ca.key\n"
    "  openssl req -x509 -key $ca.key -days 30 -subj /CN=weir-test-$ca -out $ca.pem\n"
    "done\n"
    "openssl req -new -key ca.key -subj /CN=weir-test-ca -out expired-ca.csr\n"
    "sign expired-ca ca $past basicConstraints=critical,CA:TRUE -selfsign\n"
    "new_key -out server.key; openssl req -new -key server.key -subj /CN=127.0.0.1 -out "
    "server.csr\n"
    "sign server ca $future $ip\n"
    "cat server.key server.pem >server-both.pem\n"
    "new_key -aes256 -pass file:key-password -out client.key\n"
    "openssl req -new -key client.key -passin file:key-password -subj /CN=weir-tls "
    "-out client.csr\n"
    "cp client.csr old-client.csr; cp client.csr other-client.csr\n"
    "sign client ca $future $ip; sign old-client ca $past $ip\n"
    "sign other-client other-ca $future $ip\n"
    "echo made\n";

static void make_certificates(void)
{
    const char *const argv[] = {"bash", "-c", certificates_script, "bash", folder, NULL};
    struct weir_test_process *process = weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .log_path = weir_test_format("%s/openssl.log", folder)});
    if (!weir_test_process_wait_text(process, "made\n", CERTIFICATES_TIMEOUT_MS, NULL)) {
        WEIR_TEST_FAIL("openssl makes no certificates:\n%s", weir_test_process_output(process));
    }
    weir_test_process_destroy(process);
}

const char *secure_file(const char *name)
{
    return weir_test_format("%s/%s", folder, name);
}

// --- the cluster ---------------------------------------------------------------------------------

enum { LISTENER_SASL, LISTENER_TLS };

// A string of JAAS, within a value of Java's properties: each has a backslash of its own.
static const char *quoted(const char *text)
{
    char *out = weir_test_alloc(4 * strlen(text) + 1);
    size_t used = 0;
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            used += (size_t)sprintf(out + used, "\\\\\"");
        } else if (*text == '\\') {
            used += (size_t)sprintf(out + used, "\\\\\\\\");
        } else {
            out[used++] = *text;
        }
    }
    return out;
}

static const char *cluster_properties(void)
{
    return weir_test_format(
        "listener.security.protocol.map=CLIENTS:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
        "SASL:SASL_SSL,TLS:SSL\n"
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
        "super.users=User:ANONYMOUS\n"
        "allow.everyone.if.no.acl.found=false\n"
        "ssl.keystore.type=PEM\nssl.keystore.location=%s\n"
        "ssl.truststore.type=PEM\nssl.truststore.location=%s\n"
        "listener.name.tls.ssl.client.auth=required\n"
        "listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER\n"
        "listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain."
        "PlainLoginModule required user_weir-plain=\"%s\";\n"
        "listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram."
        "ScramLoginModule required;\n"
        "listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram."
        "ScramLoginModule required;\n"
        "listener.name.sasl.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security."
        "oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";\n",
        secure_file("server-both.pem"), secure_file("ca.pem"), quoted(SECURE_PLAIN_PASSWORD));
}

// The broker refuses two mechanisms of one user in one request.
static void add_scram(const char *mechanism)
{
    bool is_old = weir_test_cluster_version(cluster)[0] == '3';
    const char *const words[] = {
        is_old ? "kafka.admin.ConfigCommand" : "org.apache.kafka.tools.ConfigCommand",
        "--bootstrap-server",
        weir_test_cluster_direct_bootstrap(cluster),
        "--alter",
        "--entity-type",
        "users",
        "--entity-name",
        "weir-scram",
        "--add-config",
        weir_test_format("%s=[password=%s]", mechanism, SECURE_SCRAM_PASSWORD),
        NULL};
    weir_test_cluster_run_tool(cluster, words);
}

static void start(const char *version)
{
    folder = weir_test_dir_create("secure");
    weir_test_write_file(secure_file("plain-password"), SECURE_PLAIN_PASSWORD "\n");
    weir_test_write_file(secure_file("scram-password"), SECURE_SCRAM_PASSWORD "\n");
    weir_test_write_file(secure_file("key-password"), SECURE_KEY_PASSWORD "\n");
    make_certificates();
    static const char *const listeners[] = {[LISTENER_SASL] = "SASL", [LISTENER_TLS] = "TLS", NULL};
    cluster = weir_test_cluster_start(&(struct weir_test_cluster_options){
        .properties = cluster_properties(), .version = version, .listeners = listeners});
}

int secure_cluster_start(void **state)
{
    (void)state;
    start(NULL);
    return 0;
}

int secure_cluster_start_for_scram(void **state)
{
    (void)state;
    int major = 0;
    int minor = 0;
    int patch = 0;
    sscanf(weir_rdkafka_version(), "%d.%d.%d", &major, &minor, &patch);
    bool is_fit = major * 10000 + minor * 100 + patch >= 20601;
    start(is_fit ? NULL : "3.9.2");
    add_scram("SCRAM-SHA-512");
    add_scram("SCRAM-SHA-256");
    return 0;
}

// --- logging in ----------------------------------------------------------------------------------

static const char *const principals[] = {
    [SECURE_PLAIN] = "User:weir-plain",     [SECURE_SCRAM_256] = "User:weir-scram",
    [SECURE_SCRAM_512] = "User:weir-scram", [SECURE_TLS] = "User:CN=weir-tls",
    [SECURE_OAUTH] = "User:weir-oauth",
};

enum { SETTINGS_MAX = 24 };

struct settings {
    const char *list[SETTINGS_MAX + 1];
    size_t count;
};

// Takes the place of one of the same name.
static void set(struct settings *settings, const char *setting)
{
    size_t name_size = strcspn(setting, "=") + 1;
    for (size_t i = 0; i < settings->count; i++) {
        if (strncmp(settings->list[i], setting, name_size) == 0) {
            settings->list[i] = setting;
            return;
        }
    }
    assert_true(settings->count < SETTINGS_MAX);
    settings->list[settings->count++] = setting;
}

static void set_password(struct settings *settings, const char *mechanism, const char *user,
                         const char *file)
{
    set(settings, weir_test_format("WEIR_KAFKA_SASL_MECHANISMS=%s", mechanism));
    set(settings, weir_test_format("WEIR_KAFKA_SASL_USERNAME=%s", user));
    set(settings, weir_test_format("WEIR_KAFKA_SASL_PASSWORD_FILE=%s", secure_file(file)));
}

const char *const *secure_settings(enum secure_login login, const char *const *extra)
{
    struct settings *settings = weir_test_alloc(sizeof *settings);
    bool is_tls = login == SECURE_TLS;
    set(settings, weir_test_format(
                      "WEIR_KAFKA_BOOTSTRAP_SERVERS=%s",
                      weir_test_cluster_listener(cluster, is_tls ? LISTENER_TLS : LISTENER_SASL)));
    set(settings,
        is_tls ? "WEIR_KAFKA_SECURITY_PROTOCOL=ssl" : "WEIR_KAFKA_SECURITY_PROTOCOL=sasl_ssl");
    set(settings, weir_test_format("WEIR_KAFKA_SSL_CA_LOCATION=%s", secure_file("ca.pem")));
    switch (login) {
    case SECURE_PLAIN:
        set_password(settings, "PLAIN", "weir-plain", "plain-password");
        break;
    case SECURE_SCRAM_256:
        set_password(settings, "SCRAM-SHA-256", "weir-scram", "scram-password");
        break;
    case SECURE_SCRAM_512:
        set_password(settings, "SCRAM-SHA-512", "weir-scram", "scram-password");
        break;
    case SECURE_TLS:
        set(settings,
            weir_test_format("WEIR_KAFKA_SSL_CERTIFICATE_LOCATION=%s", secure_file("client.pem")));
        set(settings,
            weir_test_format("WEIR_KAFKA_SSL_KEY_LOCATION=%s", secure_file("client.key")));
        set(settings,
            weir_test_format("WEIR_KAFKA_SSL_KEY_PASSWORD_FILE=%s", secure_file("key-password")));
        break;
    case SECURE_OAUTH:
        set(settings, "WEIR_KAFKA_SASL_MECHANISMS=OAUTHBEARER");
        set(settings, "WEIR_KAFKA_ENABLE_SASL_OAUTHBEARER_UNSECURE_JWT=true");
        set(settings, "WEIR_KAFKA_SASL_OAUTHBEARER_CONFIG=principal=weir-oauth");
        break;
    case SECURE_LOGIN_COUNT:
        assert_true(false);
    }
    for (size_t i = 0; extra != NULL && extra[i] != NULL; i++) {
        set(settings, extra[i]);
    }
    return settings->list;
}

// --- rights --------------------------------------------------------------------------------------

enum {
    API_DESCRIBE_ACLS = 29,
    API_CREATE_ACLS = 30,
    API_DELETE_ACLS = 31,
    API_VERSION = 1, // the last one whose lengths are of a fixed size
    PATTERN_LITERAL = 3,
    PATTERN_PREFIXED = 4,
    PERMISSION_ALLOW = 3,
};

// Behind an answer's length, its number, and the time that clients are held back for.
enum { ANSWER_AT = 12 };

struct bytes {
    uint8_t data[1024];
    size_t count;
};

static void put(struct bytes *to, size_t width, uint32_t number)
{
    for (size_t i = width; i > 0; i--) {
        to->data[to->count++] = (uint8_t)(number >> (8 * (i - 1)));
    }
}

static void put_text(struct bytes *to, const char *text)
{
    put(to, 2, (uint32_t)strlen(text));
    memcpy(to->data + to->count, text, strlen(text));
    to->count += strlen(text);
}

static uint32_t take(const struct weir_test_frame *answer, size_t at, size_t width)
{
    assert_true(ANSWER_AT + at + width <= answer->count);
    uint32_t number = 0;
    for (size_t i = 0; i < width; i++) {
        number = number << 8 | answer->bytes[ANSWER_AT + at + i];
    }
    return number;
}

static struct weir_test_frame ask(const struct bytes *request)
{
    const char *direct = weir_test_cluster_direct_bootstrap(cluster);
    int descriptor = weir_test_frame_dial(atoi(strchr(direct, ':') + 1));
    struct bytes length = {.count = 0};
    put(&length, 4, (uint32_t)request->count);
    struct weir_test_frame answer = {0};
    if (descriptor < 0 || !weir_test_frame_send_bytes(descriptor, length.data, length.count) ||
        !weir_test_frame_send_bytes(descriptor, request->data, request->count) ||
        !weir_test_frame_receive(descriptor, &answer)) {
        WEIR_TEST_FAIL("the broker at %s hangs up on a request for rights", direct);
    }
    close(descriptor);
    return answer;
}

// The three requests hold the same fields in the same order. free() the answer's bytes.
static struct weir_test_frame ask_right(int api_key, const struct sql_job *job,
                                        enum secure_login login, const struct secure_right *right)
{
    struct bytes request = {.count = 0};
    put(&request, 2, (uint32_t)api_key);
    put(&request, 2, API_VERSION);
    put(&request, 4, 1); // correlation id
    put_text(&request, "weir-test");
    if (api_key != API_DESCRIBE_ACLS) {
        put(&request, 4, 1); // so many
    }
    put(&request, 1, right->resource);
    const char *rest = right->name[0] == '$' ? right->name + 1 : right->name;
    put_text(&request, weir_test_format("%s%s", right->name[0] == '$' ? job->name : "", rest));
    put(&request, 1, right->is_prefix ? PATTERN_PREFIXED : PATTERN_LITERAL);
    put_text(&request, principals[login]);
    put_text(&request, "*");
    put(&request, 1, right->operation);
    put(&request, 1, PERMISSION_ALLOW);
    return ask(&request);
}

// By what the authorizer itself tells: an error code, a text (-1: none), the rights.
static bool has_right(const struct sql_job *job, enum secure_login login,
                      const struct secure_right *right)
{
    struct weir_test_frame answer = ask_right(API_DESCRIBE_ACLS, job, login, right);
    assert_int_equal(take(&answer, 0, 2), 0);
    uint32_t text_size = take(&answer, 2, 2);
    uint32_t count = take(&answer, 4 + (text_size == 0xffff ? 0 : text_size), 4);
    free(answer.bytes);
    return count > 0;
}

static void change_right(int api_key, const struct sql_job *job, enum secure_login login,
                         const struct secure_right *right)
{
    struct weir_test_frame answer = ask_right(api_key, job, login, right);
    assert_int_equal(take(&answer, 0, 4), 1); // result
    assert_int_equal(take(&answer, 4, 2), 0); // error
    free(answer.bytes);
    bool is_allowed = api_key == API_CREATE_ACLS;
    WEIR_TEST_WAIT_UNTIL(has_right(job, login, right) == is_allowed, APPLIED_TIMEOUT_MS);
}

void secure_allow(const struct sql_job *job, enum secure_login login,
                  const struct secure_right *right)
{
    change_right(API_CREATE_ACLS, job, login, right);
}

void secure_forbid(const struct sql_job *job, enum secure_login login,
                   const struct secure_right *right)
{
    change_right(API_DELETE_ACLS, job, login, right);
}
