// SPDX-License-Identifier: Apache-2.0
// The keyed kill test with HTTP on, under rude clients (tests/harness/http_fuzz.py) and, where wrk
// is installed, a thousand connections of it: weir is killed now and then while they go on.
// Nothing is lost or double, a client that behaves is answered all the time, and once they are gone
// the process holds what it held before. WEIR_TEST_HTTP_SECONDS (12 by default) says how long,
// WEIR_TEST_SEED what the rude ones do.
#include "tests/integration/cluster_util.h"
#include "tests/integration/footprint_util.h"
#include "tests/integration/http_job_util.h"
#include "tests/integration/numbered_util.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SECONDS_DEFAULT = 12,
    KEYS = 500,
    FED_AT_A_TIME = 200,
    FEED_PAUSE_MS = 200,
    LIFE_MS_MAX = 8000,
    ANSWER_MS_MAX = 20000,
    CONNECTIONS = 1000,
    START_MS_MAX = 60000,
    SETTLE_MS_MAX = 60000,
    FILES_MORE_MAX = 8, // of RocksDB
    // What the heap keeps of answers and connections, and the state that grows meanwhile.
    RESIDENT_MIB_MORE_MAX = 64,
};

#define TOKEN "s3cret"

struct load {
    struct numbered numbered;
    struct sql_job *job; // that of `numbered`
    int port;
    int holder; // of the port
    struct weir_test_process *fuzzer;
    struct weir_test_process *wrk; // NULL: not installed
    int kill_count;
    int64_t longest_ms; // that a client which behaves has waited
};

static const char *file_of(const struct load *load, const char *name)
{
    return weir_test_format("%s/%s", load->job->dir, name);
}

static struct weir_test_process *start_weir(struct load *load)
{
    char *listen = weir_test_format("WEIR_HTTP_LISTEN=127.0.0.1:%d", load->port);
    char *parallelism = weir_test_format("WEIR_PARALLELISM=%d", 1 + rand() % 3);
    struct weir_test_process *process =
        sql_job_start(load->job, SQL_JOB_EXTRA(listen, parallelism, "WEIR_HTTP_TOKEN=" TOKEN));
    sql_job_wait_running(process);
    free(listen);
    free(parallelism);
    return process;
}

static void start_fuzzer(struct load *load)
{
    const char *const argv[] = {"python3",   WEIR_TEST_HTTP_FUZZ,
                                "--port",    weir_test_format("%d", load->port),
                                "--seed",    weir_test_format("%d", rand()),
                                "--token",   TOKEN,
                                "--seconds", "1000000",
                                NULL};
    load->fuzzer = weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = file_of(load, "fuzzer.log")});
}

// wrk ends where nobody listens at its start, so each life has its own.
static void start_wrk(struct load *load)
{
    if (access("/usr/bin/wrk", X_OK) != 0) {
        print_message("wrk is not installed: without a thousand connections\n");
        return;
    }
    const char *const argv[] = {
        "nice",      "wrk",
        "-t1",       weir_test_format("-c%d", CONNECTIONS),
        "-d1000000", weir_test_format("http://127.0.0.1:%d/metrics", load->port),
        NULL};
    load->wrk = weir_test_process_start(
        &(struct weir_test_process_options){.argv = argv, .log_path = file_of(load, "wrk.log")});
}

static void stop_wrk(struct load *load)
{
    weir_test_process_destroy(load->wrk);
    load->wrk = NULL;
}

// In between the rude ones a client that behaves. It may be pushed out, but not for long.
static void expect_answer(struct load *load)
{
    int64_t begin_ms = weir_test_now_ms();
    for (;;) {
        char answer[64] = "";
        int peer = http_dial((uint16_t)load->port);
        static const char request[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
        struct timeval patience = {.tv_sec = 2};
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (send(peer, request, sizeof request - 1, MSG_NOSIGNAL) > 0) {
            ssize_t got = recv(peer, answer, sizeof answer - 1, 0);
            answer[got > 0 ? got : 0] = '\0';
        }
        close(peer);
        int64_t waited_ms = weir_test_now_ms() - begin_ms;
        if (strncmp(answer, "HTTP/1.1 200 ", 13) == 0) {
            load->longest_ms = waited_ms > load->longest_ms ? waited_ms : load->longest_ms;
            return;
        }
        if (waited_ms > ANSWER_MS_MAX) {
            WEIR_TEST_FAIL("a client that behaves is not answered, but: %s", answer);
        }
    }
}

// One life under load: fed, asked, and killed in the end unless it is the last one.
static void live(struct load *load, struct weir_test_process *process, int64_t life_ms)
{
    start_wrk(load);
    for (int64_t deadline_ms = weir_test_now_ms() + life_ms; weir_test_now_ms() < deadline_ms;) {
        numbered_feed(&load->numbered, FED_AT_A_TIME);
        expect_answer(load);
        weir_test_sleep_ms(FEED_PAUSE_MS);
        if (!weir_test_process_is_running(load->fuzzer)) {
            WEIR_TEST_FAIL("%s", weir_test_process_output(load->fuzzer));
        }
        if (!weir_test_process_is_running(process)) {
            WEIR_TEST_FAIL("weir has ended:\n%s", weir_test_process_output(process));
        }
    }
}

static void stop_load(struct load *load)
{
    stop_wrk(load);
    weir_test_process_signal(load->fuzzer, SIGTERM);
    struct weir_test_exit how;
    bool is_over = weir_test_process_wait(load->fuzzer, ANSWER_MS_MAX, &how);
    char *said = weir_test_process_output(load->fuzzer);
    if (!is_over || how.is_signalled || how.code != 0) {
        WEIR_TEST_FAIL("the fuzzer ends with %d: %s", is_over ? how.code : -1, said);
    }
    print_message("%s", said);
    free(said);
    weir_test_process_destroy(load->fuzzer);
}

// A sanitizer keeps what was freed for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_memory_ours = false;
#else
static const bool is_memory_ours = true;
#endif

static bool is_level(const struct footprint *before, const struct footprint *now)
{
    return now->threads <= before->threads && now->files <= before->files + FILES_MORE_MAX &&
           (!is_memory_ours || now->resident_mib <= before->resident_mib + RESIDENT_MIB_MORE_MAX);
}

static void expect_level(const struct footprint *before, struct weir_test_process *process)
{
    int64_t deadline_ms = weir_test_now_ms() + SETTLE_MS_MAX;
    for (;;) {
        struct footprint now = footprint_look(process);
        if (is_level(before, &now)) {
            return;
        }
        if (weir_test_now_ms() > deadline_ms) {
            WEIR_TEST_FAIL("%d threads, %d files, %d MiB were %d, %d, %d before the load",
                           now.threads, now.files, now.resident_mib, before->threads, before->files,
                           before->resident_mib);
        }
        weir_test_sleep_ms(1000);
    }
}

static void check(struct load *load)
{
    struct numbered_found found = {0};
    sql_job_run_bounded(load->job);
    numbered_check_counts(&load->numbered, &found);
    numbered_check_windows(&load->numbered, &found);
    if (found.fault != NULL) {
        WEIR_TEST_FAIL("%s; %" PRId64 " lost, %" PRId64 " double", found.fault, found.lost_count,
                       found.double_count);
    }
    print_message("%d kills, %" PRId64 " records: nothing lost, nothing double; a client that "
                  "behaves has waited for %" PRId64 " ms at most\n",
                  load->kill_count, load->numbered.count, load->longest_ms);
}

static void test_http_under_load_and_kills_loses_nothing(void **state)
{
    (void)state;
    struct sql_job *job = sql_job_create(weir_test_cluster_bootstrap(cluster), "load",
                                         NUMBERED_INPUT NUMBERED_COUNTS NUMBERED_WINDOWS);
    struct load load = {.numbered = {.job = job, .key_count = KEYS}, .job = job};
    sql_job_topic_create(job, "in", NUMBERED_PARTITIONS);
    sql_job_topic_create(job, "counts", 3);
    sql_job_topic_create(job, "windows", 2);
    load.holder = weir_test_port_reserve(&load.port);
    int64_t end_ms =
        weir_test_now_ms() + 1000 * (int64_t)number_from("WEIR_TEST_HTTP_SECONDS", SECONDS_DEFAULT);
    struct weir_test_process *process = start_weir(&load);
    start_fuzzer(&load);
    do {
        live(&load, process, 500 + rand() % (LIFE_MS_MAX / 2));
        stop_wrk(&load);
        sql_job_kill(process);
        load.kill_count++;
        process = start_weir(&load);
    } while (weir_test_now_ms() + LIFE_MS_MAX < end_ms);
    // The last life: how much it holds before and behind the load.
    weir_test_process_signal(load.fuzzer, SIGSTOP);
    numbered_feed(&load.numbered, 2 * KEYS);
    sql_job_kill(process);
    load.kill_count++;
    process = start_weir(&load);
    expect_answer(&load);
    struct footprint before = footprint_look(process);
    weir_test_process_signal(load.fuzzer, SIGCONT);
    live(&load, process, LIFE_MS_MAX / 2);
    stop_load(&load);
    expect_level(&before, process);
    sql_job_stop(process);
    check(&load);
    close(load.holder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_under_load_and_kills_loses_nothing),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("integration/test_http_load", tests, cluster_start_seeded,
                                       cluster_stop);
}
