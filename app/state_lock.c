// SPDX-License-Identifier: Apache-2.0
// See state_lock.h.
#include "app/state_lock.h"

#include "app/retry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES_MAX = 4096, POLL_MS = 100 };

static enum weir_status refuse(struct weir_error *error, const char *what, const char *path)
{
    return weir_error_set(error, WEIR_DOMAIN_STORE, WEIR_ACTION_REFUSE,
                          "state directory: cannot %s %s: %s (WEIR_STATE_DIR)", what, path,
                          strerror(errno));
}

enum weir_status weir_state_lock(const char *state_dir, int64_t timeout_ms,
                                 const atomic_int *stop_requests, int *descriptor,
                                 struct weir_error *error)
{
    char path[PATH_BYTES_MAX];
    if (mkdir(state_dir, 0750) != 0 && errno != EEXIST) {
        return refuse(error, "make", state_dir);
    }
    snprintf(path, sizeof path, "%s/lock", state_dir);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (file < 0) {
        return refuse(error, "open", path);
    }
    int64_t deadline_ms = weir_now_ms(&weir_system_clock) + timeout_ms;
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            enum weir_status status = refuse(error, "lock", path);
            close(file);
            return status;
        }
        if (*stop_requests > 0 || weir_now_ms(&weir_system_clock) >= deadline_ms) {
            close(file);
            return weir_error_set(
                error, WEIR_DOMAIN_STORE, WEIR_ACTION_FAIL,
                "state directory %s is in use by another process: stop it, or give "
                "this one its own WEIR_STATE_DIR",
                state_dir);
        }
        weir_pause_ms(POLL_MS);
    }
    *descriptor = file;
    return WEIR_OK;
}
