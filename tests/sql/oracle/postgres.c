// SPDX-License-Identifier: Apache-2.0
// See postgres.h. A server refuses to run as root: then it runs as the user "postgres".
#include "tests/sql/oracle/postgres.h"

#include "tests/harness/base.h"
#include "tests/harness/process.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STEP_TIMEOUT_MS = 60000,
    ARGUMENTS_MAX = 32,
};

static const char *const folders[] = {"/usr/lib/postgresql/15/bin", "/usr/pgsql-15/bin"};

static const char *find_folder(void)
{
    const char *given = getenv("WEIR_TEST_POSTGRES_BIN");
    if (given != NULL) {
        return given;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (access(weir_test_format("%s/initdb", folders[i]), X_OK) == 0) {
            return folders[i];
        }
    }
    return NULL;
}

const char *oracle_postgres_missing(void)
{
    const char *folder = find_folder();
    if (folder == NULL) {
        return "no PostgreSQL 15 is installed";
    }
    if (access(weir_test_format("%s/initdb", folder), X_OK) != 0 ||
        access(weir_test_format("%s/psql", folder), X_OK) != 0) {
        return weir_test_format("no initdb or psql in %s", folder);
    }
    if (geteuid() == 0 && getpwnam("postgres") == NULL) {
        return "PostgreSQL does not run as root, and there is no user \"postgres\"";
    }
    return NULL;
}

// The program of PostgreSQL with these arguments; the server's programs not as root.
static struct weir_test_process *start(const char *program, bool is_server, const char *log_path,
                                       const char *const *arguments)
{
    const char *argv[ARGUMENTS_MAX] = {0};
    size_t count = 0;
    if (is_server && geteuid() == 0) {
        // Another user does not inherit that the kernel ends it with the test program.
        static const char *const as_postgres[] = {"setpriv", "--reuid=postgres", "--regid=postgres",
                                                  "--clear-groups", "--pdeathsig=KILL"};
        memcpy(argv, as_postgres, sizeof as_postgres);
        count = sizeof as_postgres / sizeof as_postgres[0];
    }
    argv[count++] = weir_test_format("%s/%s", find_folder(), program);
    for (size_t i = 0; arguments[i] != NULL && count + 1 < ARGUMENTS_MAX; i++) {
        argv[count++] = arguments[i];
    }
    static const char *const environment[] = {"PGTZ=UTC", "PGOPTIONS", "LC_ALL=C.UTF-8", NULL};
    return weir_test_process_start(&(struct weir_test_process_options){
        .argv = argv, .environment = environment, .directory = "/", .log_path = log_path});
}

static void run(const char *program, bool is_server, const char *log_path,
                const char *const *arguments)
{
    struct weir_test_process *process = start(program, is_server, log_path, arguments);
    struct weir_test_exit how;
    if (!weir_test_process_wait(process, STEP_TIMEOUT_MS, &how) || how.is_signalled ||
        how.code != 0) {
        WEIR_TEST_FAIL("%s:\n%s", program, weir_test_process_output(process));
    }
    weir_test_process_destroy(process);
}

const char *oracle_postgres_start(void)
{
    const char *dir = weir_test_dir_create("postgres");
    const char *home = weir_test_format("%s/home", dir);
    const char *data = weir_test_format("%s/data", home);
    if (mkdir(home, 0700) != 0) {
        WEIR_TEST_FAIL("cannot make %s", home);
    }
    struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    if (user != NULL && (chmod(dir, 0711) != 0 || chown(home, user->pw_uid, user->pw_gid) != 0)) {
        WEIR_TEST_FAIL("cannot give %s away", home);
    }
    run("initdb", true, weir_test_format("%s/initdb.log", dir),
        (const char *const[]){"-D", data, "-U", "weir", "-A", "trust", "-N", "-E", "UTF8",
                              "--locale=C.UTF-8", "--lc-collate=C", NULL});
    struct weir_test_process *server =
        start("postgres", true, weir_test_format("%s/server.log", dir),
              (const char *const[]){"-D", data, "-k", home, "-c", "listen_addresses=", "-c",
                                    "fsync=off", "-c", "shared_buffers=32MB", NULL});
    if (!weir_test_process_wait_text(server, "ready to accept connections", STEP_TIMEOUT_MS,
                                     NULL)) {
        WEIR_TEST_FAIL("postgres does not start:\n%s", weir_test_process_output(server));
    }
    return home; // the server ends with the program
}

void oracle_postgres_run(const char *host, const char *script_path)
{
    run("psql", false, weir_test_format("%s.log", script_path),
        (const char *const[]){"-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", host, "-U",
                              "weir", "-d", "postgres", "-f", script_path, NULL});
}
