// SPDX-License-Identifier: Apache-2.0
// See worker.h. A chain of items under a mutex; the thread waits on a condition while it is empty.
#include "rocksdb_backend/worker.h"

#include "runtime/base/assert.h"
#include "runtime/base/memory.h"

#include <pthread.h>

struct node {
    struct node *next;
    void *item;
};

struct weir_worker {
    struct weir_worker_config config;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct node *first; // guarded by lock, as the two below
    struct node **end;
    bool is_stopping;
};

static struct node *take(struct weir_worker *worker)
{
    struct node *node = worker->first;
    if (node != NULL) {
        worker->first = node->next;
        if (worker->first == NULL) {
            worker->end = &worker->first;
        }
    }
    return node;
}

static void run(struct weir_worker *worker, struct node *node)
{
    void *item = node->item;
    free(node);
    worker->config.run(worker->config.context, item);
}

static void *loop(void *argument)
{
    struct weir_worker *worker = argument;
    for (;;) {
        pthread_mutex_lock(&worker->lock);
        while (worker->first == NULL && !worker->is_stopping) {
            pthread_cond_wait(&worker->changed, &worker->lock);
        }
        struct node *node = worker->is_stopping ? NULL : take(worker);
        pthread_mutex_unlock(&worker->lock);
        if (node == NULL) {
            return NULL;
        }
        run(worker, node);
    }
}

struct weir_worker *weir_worker_create(const struct weir_worker_config *config)
{
    struct weir_worker *worker = weir_alloc_zero(sizeof *worker);
    worker->config = *config;
    worker->end = &worker->first;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    if (!config->is_stepped) {
        WEIR_ASSERT(pthread_create(&worker->thread, NULL, loop, worker) == 0);
        pthread_setname_np(worker->thread, config->name);
    }
    return worker;
}

void weir_worker_push(struct weir_worker *worker, void *item)
{
    pthread_mutex_lock(&worker->lock);
    bool is_taken = !worker->is_stopping;
    if (is_taken) {
        struct node *node = weir_alloc(sizeof *node);
        *node = (struct node){.item = item};
        *worker->end = node;
        worker->end = &node->next;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    if (!is_taken) {
        worker->config.drop(worker->config.context, item);
    }
}

bool weir_worker_step(struct weir_worker *worker)
{
    WEIR_ASSERT(worker->config.is_stepped);
    pthread_mutex_lock(&worker->lock);
    struct node *node = take(worker);
    pthread_mutex_unlock(&worker->lock);
    if (node == NULL) {
        return false;
    }
    run(worker, node);
    return true;
}

void weir_worker_stop(struct weir_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->is_stopping = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    if (!worker->config.is_stepped) {
        pthread_join(worker->thread, NULL);
    }
    for (struct node *node = take(worker); node != NULL; node = take(worker)) {
        worker->config.drop(worker->config.context, node->item);
        free(node);
    }
}

void weir_worker_destroy(struct weir_worker *worker)
{
    if (worker != NULL) {
        WEIR_ASSERT(worker->is_stopping && worker->first == NULL);
        pthread_mutex_destroy(&worker->lock);
        pthread_cond_destroy(&worker->changed);
        free(worker);
    }
}
