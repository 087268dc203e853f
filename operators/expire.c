// SPDX-License-Identifier: Apache-2.0
// See expire.h. A batch in which a key is over goes on in pieces: what comes before that row, then,
// with the key forgotten, the rest.
#include "operators/expire.h"

#include "runtime/row_key.h"
#include "runtime/state_scan.h"

#include <stdlib.h>

enum { SWEEP_AT_ONCE = 1024 }; // keys that are looked at between two batches: a millisecond

struct expire {
    struct weir_operator op; // first: the interface
    struct weir_expire_config config;
    struct weir_state *forgotten;
    struct weir_state **details;
    struct weir_buffer behind; // the first key that does not begin with the one to be forgotten
    struct weir_state_scan found;
    struct weir_state_ttl *ttl;
    int64_t watermark_us;
    struct weir_row_key key;
    struct weir_state_key keys[WEIR_BATCH_ROWS_MAX]; // of the batch under way
    int64_t times_us[WEIR_BATCH_ROWS_MAX];
    bool is_expired[WEIR_BATCH_ROWS_MAX];
};

static void forget_details(struct expire *expire, struct weir_state *details,
                           const struct weir_state_key *key)
{
    expire->behind.size_bytes = 0;
    weir_buffer_append(&expire->behind, key->bytes.data, key->bytes.size_bytes);
    weir_state_scan_run(&expire->found, details, key->key_group, key->bytes,
                        weir_state_step_behind(&expire->behind), 0);
    weir_state_scan_remove(&expire->found, details);
}

static void forget(void *context, const struct weir_state_key *key)
{
    struct expire *expire = context;
    expire->forgotten->ops->remove(expire->forgotten, key);
    for (uint32_t i = 0; i < expire->config.detail_count; i++) {
        forget_details(expire, expire->details[i], key);
    }
}

static enum weir_status push(struct expire *expire, const struct weir_batch *batch,
                             const uint16_t *rows, uint32_t count, struct weir_error *error)
{
    struct weir_batch piece = *batch;
    piece.selected = rows;
    piece.selected_count = count;
    return count != 0 ? weir_operator_push(&expire->op, &piece, error) : WEIR_OK;
}

static enum weir_status process(struct weir_operator *op, struct weir_batch *batch,
                                struct weir_error *error)
{
    struct expire *expire = (struct expire *)op;
    uint32_t count = batch->selected_count;
    uint16_t *rows = weir_arena_alloc(batch->arena, (count + 1) * sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (uint16_t)weir_batch_row(batch, i);
        expire->times_us[i] = batch->event_time_us[rows[i]];
    }
    weir_row_key_make(&expire->key, batch, expire->keys);
    weir_state_ttl_touch(expire->ttl, count, expire->keys, expire->times_us, expire->is_expired);
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (expire->is_expired[i]) {
            if (push(expire, batch, rows + first, i - first, error) != WEIR_OK) {
                return WEIR_ERROR;
            }
            forget(expire, &expire->keys[i]);
            first = i;
        }
    }
    return push(expire, batch, rows + first, count - first, error);
}

static enum weir_status time_passed(struct weir_operator *op, const struct weir_time *time,
                                    struct weir_error *error)
{
    struct expire *expire = (struct expire *)op;
    // The end of the input, of a part of it too, makes nothing older.
    if (time->watermark_us != INT64_MAX && !time->has_ended) {
        expire->watermark_us = time->watermark_us;
    }
    return weir_operator_push_time(op, time, error);
}

// Between any two batches.
static enum weir_status resume(struct weir_operator *op, struct weir_error *error)
{
    (void)error;
    struct expire *expire = (struct expire *)op;
    weir_state_ttl_sweep(expire->ttl, expire->watermark_us, SWEEP_AT_ONCE, forget, expire);
    return WEIR_OK;
}

static enum weir_status barrier(struct weir_operator *op, const struct weir_barrier *at,
                                struct weir_snapshot *snapshot, struct weir_error *error)
{
    (void)snapshot;
    (void)error;
    weir_state_ttl_barrier(((struct expire *)op)->ttl, at->number);
    return WEIR_OK;
}

static void destroy(struct weir_operator *op)
{
    struct expire *expire = (struct expire *)op;
    weir_state_ttl_destroy(expire->ttl);
    weir_row_key_deinit(&expire->key);
    weir_buffer_deinit(&expire->behind);
    weir_state_scan_deinit(&expire->found);
    free(expire->details);
    free(expire);
}

struct weir_operator *weir_expire_create(const char *id, const char *name,
                                         const struct weir_expire_config *config)
{
    static const struct weir_operator_ops OPS = {.kind = "ttl",
                                                 .process = process,
                                                 .time_passed = time_passed,
                                                 .barrier = barrier,
                                                 .resume = resume,
                                                 .destroy = destroy};
    struct expire *expire = weir_alloc_zero(sizeof *expire);
    expire->op.ops = &OPS;
    expire->op.id = id;
    expire->op.name = name;
    expire->config = *config;
    expire->watermark_us = INT64_MIN;
    weir_row_key_init(&expire->key, config->key_count, config->key_columns);
    expire->forgotten = config->store->ops->open_state(config->store, id, config->forgotten);
    expire->details = weir_alloc((config->detail_count + 1) * sizeof(struct weir_state *));
    for (uint32_t i = 0; i < config->detail_count; i++) {
        expire->details[i] = config->store->ops->open_state(config->store, id, config->details[i]);
    }
    expire->ttl =
        weir_state_ttl_create(&(struct weir_state_ttl_config){.store = config->store,
                                                              .operator_id = id,
                                                              .key_groups = config->key_groups,
                                                              .ttl_us = config->ttl_us,
                                                              .first_epoch = config->first_epoch});
    return &expire->op;
}
