// SPDX-License-Identifier: Apache-2.0
// Failing, waiting, temporary folders, ports: see the header. Owns the one exit handler of the
// harness: it ends all child processes first and then removes (or keeps) the folders, so that no
// broker writes into a folder that is being removed.
// Thread: all of it may be called from any thread, but folders only from the thread of the tests.
#include "tests/harness/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/harness/process.h"

enum { DIR_COUNT_MAX = 256 };

static char *dir_paths[DIR_COUNT_MAX];
static int dir_count;

_Noreturn void weir_test_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
    }
    va_end(args);
    fprintf(stderr, "%s:%d: harness: %s\n", file, line, text != NULL ? text : format);
    fflush(NULL);
    free(text);
    if (gettid() != getpid()) {
        abort(); // cmocka's jump is valid on its own stack only
    }
    _fail(file, line);
    abort();
}

int64_t weir_test_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void weir_test_sleep_ms(int duration_ms)
{
    struct timespec left = {.tv_sec = duration_ms / 1000,
                            .tv_nsec = (long)(duration_ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

void *weir_test_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void *weir_test_realloc(void *memory, size_t bytes)
{
    void *grown = realloc(memory, bytes > 0 ? bytes : 1);
    if (grown == NULL) {
        abort();
    }
    return grown;
}

char *weir_test_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        abort();
    }
    return text;
}

char *weir_test_read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    size_t size = 0;
    size_t capacity = 1 << 16;
    char *text = weir_test_alloc(capacity);
    for (;;) {
        size_t count = fread(text + size, 1, capacity - size - 1, file);
        if (count == 0) {
            break;
        }
        size += count;
        if (capacity - size < 2) {
            capacity *= 2;
            text = weir_test_realloc(text, capacity);
        }
    }
    fclose(file);
    text[size] = '\0';
    if (bytes != NULL) {
        *bytes = size;
    }
    return text;
}

void weir_test_write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        WEIR_TEST_FAIL("cannot write %s: %s", path, strerror(errno));
    }
    size_t written = fwrite(text, 1, strlen(text), file);
    if (fclose(file) != 0 || written != strlen(text)) {
        WEIR_TEST_FAIL("cannot write %s: %s", path, strerror(errno));
    }
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void clean_up(int exit_code, void *unused)
{
    (void)unused;
    weir_test_process_kill_all();
    bool is_kept = exit_code != 0 || getenv("WEIR_TEST_KEEP") != NULL;
    for (int i = 0; i < dir_count; i++) {
        if (is_kept) {
            fprintf(stderr, "harness: kept %s\n", dir_paths[i]);
        } else {
            nftw(dir_paths[i], remove_entry, 32, FTW_DEPTH | FTW_PHYS);
        }
        free(dir_paths[i]);
    }
    dir_count = 0;
}

const char *weir_test_dir_create(const char *name)
{
    if (dir_count == 0) {
        on_exit(clean_up, NULL);
    }
    if (dir_count == DIR_COUNT_MAX) {
        WEIR_TEST_FAIL("more than %d temporary folders", DIR_COUNT_MAX);
    }
    const char *parent = getenv("TMPDIR");
    char *path = weir_test_format("%s/weir-%s-XXXXXX",
                                  parent != NULL && parent[0] != '\0' ? parent : "/tmp", name);
    if (mkdtemp(path) == NULL) {
        WEIR_TEST_FAIL("cannot make the folder %s: %s", path, strerror(errno));
    }
    dir_paths[dir_count++] = path;
    return path;
}

static struct sockaddr_in local_address(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int weir_test_port_reserve(int *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    struct sockaddr_in address = local_address(0);
    socklen_t address_bytes = sizeof(address);
    // The option comes after the bind: before it the kernel could hand out a port that another
    // reservation holds, as both allow it to be shared.
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &address_bytes) != 0) {
        WEIR_TEST_FAIL("cannot reserve a port: %s", strerror(errno));
    }
    *port = ntohs(address.sin_port);
    return fd;
}

bool weir_test_port_answers(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = local_address(port);
    bool is_open = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return is_open;
}
