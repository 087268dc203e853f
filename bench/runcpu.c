// SPDX-License-Identifier: Apache-2.0
//
// Runs a command and says what it cost: CPU of the process and its waited-for children by wait4(),
// wall clock, peak resident memory. One JSON line, to the file of -o or to standard error.
//
//   runcpu [-o FILE] COMMAND ARGUMENT…       ends with the exit code of the command
#include "measure.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    int first = 1;
    if (argc > 3 && strcmp(argv[1], "-o") == 0) {
        path = argv[2];
        first = 3;
    }
    if (first >= argc) {
        weir_bench_die("[-o FILE] COMMAND wanted");
    }
    int64_t start_us = weir_bench_monotonic_us();
    pid_t child = fork();
    if (child < 0) {
        weir_bench_die("fork: %s", strerror(errno));
    }
    if (child == 0) {
        execvp(argv[first], argv + first);
        fprintf(stderr, "runcpu: %s: %s\n", argv[first], strerror(errno));
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0) {
        if (errno != EINTR) {
            weir_bench_die("wait4: %s", strerror(errno));
        }
    }
    double wall_s = (double)(weir_bench_monotonic_us() - start_us) / 1e6;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    FILE *out = path != NULL ? fopen(path, "w") : stderr;
    if (out == NULL) {
        weir_bench_die("%s: %s", path, strerror(errno));
    }
    fprintf(out,
            "{\"exit\":%d,\"wall_s\":%.3f,\"user_s\":%.3f,\"system_s\":%.3f,\"cpu_s\":%.3f,"
            "\"peak_rss_kib\":%ld}\n",
            code, wall_s, seconds(usage.ru_utime), seconds(usage.ru_stime),
            seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
    if (path != NULL) {
        fclose(out);
    }
    return code;
}
