// SPDX-License-Identifier: Apache-2.0
// Who may change something.
#include "app/http/access.h"

#include "tests/unit/cmocka_all.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static void test_token_is_equal_only_to_itself(void **state)
{
    (void)state;
    assert_true(weir_http_token_equal("abc", "abc"));
    const char *const others[] = {"", "a", "ab", "abcd", "abcabc", "abC", "xbc", "abc ", " abc"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(weir_http_token_equal("abc", others[i]));
    }
}

static bool is_loopback(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        return weir_http_is_loopback((const struct sockaddr *)&v4);
    }
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return weir_http_is_loopback((const struct sockaddr *)&v6);
}

static void test_loopback_is_told_from_other_addresses(void **state)
{
    (void)state;
    assert_true(is_loopback("127.0.0.1"));
    assert_true(is_loopback("127.3.2.1"));
    assert_true(is_loopback("::1"));
    assert_true(is_loopback("::ffff:127.0.0.1"));
    assert_false(is_loopback("128.0.0.1"));
    assert_false(is_loopback("10.127.0.1"));
    assert_false(is_loopback("0.0.0.0"));
    assert_false(is_loopback("::"));
    assert_false(is_loopback("::ffff:10.0.0.1"));
    assert_false(is_loopback("::7f00:1"));
    assert_false(is_loopback("fe80::1"));
}

struct access_case {
    const char *token;
    const char *authorization;
    bool is_remote;
    bool is_forwarded;
    const char *host;
    const char *origin;
    enum weir_http_access access;
};

static void test_access(void **state)
{
    (void)state;
    enum weir_http_access yes = WEIR_HTTP_ACCESS_GRANTED;
    enum weir_http_access no_token = WEIR_HTTP_ACCESS_NO_TOKEN;
    enum weir_http_access no = WEIR_HTTP_ACCESS_NOT_ALLOWED;
    const char *own = "localhost:8080";
    const struct access_case cases[] = {
        {NULL, NULL, false, false, own, NULL, yes},
        {NULL, NULL, true, false, own, NULL, no},
        {NULL, "Bearer x", true, false, own, NULL, no},
        {NULL, NULL, false, true, own, NULL, no}, // a proxy on this machine
        // The dashboard in a browser of this machine, and a page of somebody else in it.
        {NULL, NULL, false, false, own, "http://localhost:8080", yes},
        {NULL, NULL, false, false, "[::1]:8080", "http://[::1]:8080", yes},
        {NULL, NULL, false, false, own, "http://evil.example", no},
        {NULL, NULL, false, false, own, "http://localhost:8081", no},
        {NULL, NULL, false, false, own, "null", no},
        {NULL, NULL, false, false, "evil.example:8080", "http://evil.example:8080", no},
        {NULL, NULL, false, false, "localhost.evil.example", "http://localhost.evil.example", no},
        // With a token the machine needs it, too.
        {"s3cret", NULL, false, false, own, NULL, no_token},
        {"s3cret", "Bearer s3cret", false, false, own, NULL, yes},
        {"s3cret", "bearer  s3cret", true, false, own, NULL, yes},
        {"s3cret", "Bearer s3cre", true, false, own, NULL, no_token},
        {"s3cret", "Bearer ", true, false, own, NULL, no_token},
        {"s3cret", "Basic s3cret", true, false, own, NULL, no_token},
        {"s3cret", "s3cret", true, false, own, NULL, no_token},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct access_case *c = &cases[i];
        struct weir_http_request request = {.authorization = c->authorization,
                                            .host = c->host,
                                            .origin = c->origin,
                                            .is_loopback = !c->is_remote,
                                            .is_forwarded = c->is_forwarded};
        if (weir_http_access(c->token, &request) != c->access) {
            fail_msg("case %zu", i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_is_equal_only_to_itself),
        cmocka_unit_test(test_loopback_is_told_from_other_addresses),
        cmocka_unit_test(test_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
