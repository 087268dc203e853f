// SPDX-License-Identifier: Apache-2.0
// See mailbox.h. A ring under a mutex and an eventfd. The eventfd is written after the ring, and
// the owner reads it before it looks into the ring: no mail can be missed between looking and
// sleeping.
#include "runtime/mailbox.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct weir_mailbox {
    pthread_mutex_t lock;
    struct weir_mail *ring; // guarded by lock, as the three below
    uint32_t capacity;
    uint32_t head_idx;
    uint32_t count;
    int descriptor;
};

struct weir_mailbox *weir_mailbox_create(void)
{
    struct weir_mailbox *mailbox = weir_alloc_zero(sizeof *mailbox);
    pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->capacity = 16;
    mailbox->ring = weir_alloc(mailbox->capacity * sizeof *mailbox->ring);
    mailbox->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    WEIR_ASSERT(mailbox->descriptor >= 0);
    return mailbox;
}

void weir_mailbox_destroy(struct weir_mailbox *mailbox, void (*drop)(struct weir_mail *mail))
{
    if (mailbox == NULL) {
        return;
    }
    struct weir_mail mail;
    while (weir_mailbox_take(mailbox, &mail)) {
        if (drop != NULL) {
            drop(&mail);
        }
    }
    close(mailbox->descriptor);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox->ring);
    free(mailbox);
}

static void grow(struct weir_mailbox *mailbox)
{
    uint32_t capacity = mailbox->capacity * 2;
    struct weir_mail *ring = weir_alloc(capacity * sizeof *ring);
    for (uint32_t i = 0; i < mailbox->count; i++) {
        ring[i] = mailbox->ring[(mailbox->head_idx + i) % mailbox->capacity];
    }
    free(mailbox->ring);
    mailbox->ring = ring;
    mailbox->capacity = capacity;
    mailbox->head_idx = 0;
}

void weir_mailbox_post(struct weir_mailbox *mailbox, const struct weir_mail *mail)
{
    pthread_mutex_lock(&mailbox->lock);
    if (mailbox->count == mailbox->capacity) {
        grow(mailbox);
    }
    mailbox->ring[(mailbox->head_idx + mailbox->count) % mailbox->capacity] = *mail;
    mailbox->count++;
    pthread_mutex_unlock(&mailbox->lock);
    weir_mailbox_wake(mailbox);
}

void weir_mailbox_wake(struct weir_mailbox *mailbox)
{
    uint64_t one = 1;
    ssize_t written = write(mailbox->descriptor, &one, sizeof one);
    (void)written; // a full counter is as readable as any
}

int weir_mailbox_descriptor(const struct weir_mailbox *mailbox)
{
    return mailbox->descriptor;
}

bool weir_mailbox_take(struct weir_mailbox *mailbox, struct weir_mail *mail)
{
    pthread_mutex_lock(&mailbox->lock);
    bool has_mail = mailbox->count > 0;
    if (has_mail) {
        *mail = mailbox->ring[mailbox->head_idx];
        mailbox->head_idx = (mailbox->head_idx + 1) % mailbox->capacity;
        mailbox->count--;
    }
    pthread_mutex_unlock(&mailbox->lock);
    return has_mail;
}

void weir_mailbox_wait(struct weir_mailbox *mailbox, int64_t timeout_ms)
{
    if (timeout_ms > INT32_MAX) {
        timeout_ms = INT32_MAX;
    }
    struct pollfd wait = {.fd = mailbox->descriptor, .events = POLLIN};
    if (poll(&wait, 1, timeout_ms < 0 ? -1 : (int)timeout_ms) > 0) {
        uint64_t ignored;
        ssize_t got = read(mailbox->descriptor, &ignored, sizeof ignored);
        (void)got;
    }
}
