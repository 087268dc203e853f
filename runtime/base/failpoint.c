// SPDX-License-Identifier: Apache-2.0
// See failpoint.h. The table is written once at start and only counters change afterwards.
#include "runtime/base/failpoint.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FAILPOINTS_MAX = 32, NAME_BYTES_MAX = 64 };

enum action {
    ACTION_KILL,
    ACTION_ERROR,
    ACTION_SLEEP,
};

struct failpoint {
    char name[NAME_BYTES_MAX];
    enum action action;
    long sleep_ms;
    long at_hit;
    atomic_long hit_count;
};

bool weir_failpoints_are_set;
static struct failpoint failpoints[FAILPOINTS_MAX];
static int failpoint_count;

static bool parse_one(const char *item, size_t size, struct failpoint *point)
{
    char text[160];
    if (size >= sizeof text) {
        return false;
    }
    memcpy(text, item, size);
    text[size] = '\0';
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof point->name) {
        return false;
    }
    memcpy(point->name, text, (size_t)(equals - text));
    point->name[equals - text] = '\0';
    char *at = strchr(equals, '@');
    point->at_hit = at != NULL ? strtol(at + 1, NULL, 10) : 1;
    if (at != NULL) {
        *at = '\0';
    }
    if (strcmp(equals + 1, "kill") == 0) {
        point->action = ACTION_KILL;
    } else if (strcmp(equals + 1, "error") == 0) {
        point->action = ACTION_ERROR;
    } else if (strncmp(equals + 1, "sleep:", 6) == 0) {
        point->action = ACTION_SLEEP;
        point->sleep_ms = strtol(equals + 7, NULL, 10);
    } else {
        return false;
    }
    return point->at_hit >= 0;
}

enum weir_status weir_failpoints_init(const char *list, struct weir_error *error)
{
    const char *item = list;
    while (item != NULL && *item != '\0') {
        size_t size = strcspn(item, ",");
        if (failpoint_count == FAILPOINTS_MAX ||
            !parse_one(item, size, &failpoints[failpoint_count])) {
            return weir_error_set(error, WEIR_DOMAIN_CONFIG, WEIR_ACTION_REFUSE,
                                  "WEIR_FAILPOINTS: cannot read \"%.*s\" "
                                  "(want name=kill|error|sleep:<ms>[@hit])",
                                  (int)size, item);
        }
        failpoint_count++;
        item += size;
        item += *item == ',' ? 1 : 0;
    }
    weir_failpoints_are_set = failpoint_count > 0;
    return WEIR_OK;
}

bool weir_failpoint_hit(const char *name)
{
    for (int i = 0; i < failpoint_count; i++) {
        struct failpoint *point = &failpoints[i];
        if (strcmp(point->name, name) != 0) {
            continue;
        }
        long hit = atomic_fetch_add(&point->hit_count, 1) + 1;
        if (point->at_hit != 0 && hit != point->at_hit) {
            continue;
        }
        switch (point->action) {
        case ACTION_KILL:
            fprintf(stderr, "failpoint %s: kill\n", name);
            kill(getpid(), SIGKILL);
            pause();
            break;
        case ACTION_ERROR:
            return true;
        case ACTION_SLEEP: {
            fprintf(stderr, "failpoint %s: sleep\n", name);
            struct timespec wait = {.tv_sec = point->sleep_ms / 1000,
                                    .tv_nsec = point->sleep_ms % 1000 * 1000000};
            nanosleep(&wait, NULL);
            break;
        }
        }
    }
    return false;
}
