// SPDX-License-Identifier: Apache-2.0
// Rows for the tests of what crosses from task to task: columns of several layouts, keys that are
// equal though spelt differently.
#ifndef WEIR_TESTS_UNIT_RUNTIME_EXCHANGE_ROWS_H
#define WEIR_TESTS_UNIT_RUNTIME_EXCHANGE_ROWS_H

#include "runtime/exchange.h"
#include "runtime/gather.h"
#include "runtime/state.h"
#include "runtime/types/key.h"
#include "runtime/types/text_io.h"

#include "tests/unit/cmocka_all.h"

#include <stdio.h>

#define PLAIN(kind)                                                                                \
    {                                                                                              \
        WEIR_TYPE_##kind, -1, NULL                                                                 \
    }

static const struct weir_field pair_fields[] = {{"x", PLAIN(NUMERIC)}, {"y", PLAIN(TEXT)}};
static const struct weir_composite pair_type = {"pair", 2, pair_fields};
static const struct weir_field fields[] = {{"k", PLAIN(NUMERIC)},
                                           {"seq", PLAIN(BIGINT)},
                                           {"epoch", PLAIN(INTEGER)},
                                           {"t", PLAIN(TEXT)},
                                           {"c", {WEIR_TYPE_COMPOSITE, -1, &pair_type}}};
enum { K, SEQ, EPOCH, T, C, COLUMN_COUNT, SENDER_SHIFT = 32 };
static const struct weir_schema schema = {COLUMN_COUNT, fields};
static const uint32_t key_columns[] = {K};

// Keys 0 to key_count - 1, spelt with 0 to 2 digits behind the point; seq goes up from first_seq.
static inline struct weir_batch make_batch(struct weir_arena *arena, uint32_t row_count,
                                           uint32_t key_count, int64_t first_seq, int32_t epoch)
{
    struct weir_batch batch = {
        .schema = &schema,
        .row_count = row_count,
        .selected_count = row_count,
        .columns = weir_arena_alloc(arena, COLUMN_COUNT * sizeof *batch.columns),
        .event_time_us = weir_arena_alloc(arena, row_count * sizeof(int64_t)),
        .arena = arena,
    };
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        weir_column_init(&batch.columns[c], &fields[c].type, row_count, c == T || c == C, arena);
    }
    uint8_t *change = weir_arena_alloc(arena, row_count);
    batch.change = change;
    for (uint32_t row = 0; row < row_count; row++) {
        int64_t seq = first_seq + row;
        uint16_t scale = (uint16_t)(seq % 3);
        static const int64_t TENS[] = {1, 10, 100};
        batch.columns[K].numeric[row] =
            weir_numeric_small((int64_t)((uint64_t)seq * 7 % key_count) * TENS[scale], scale);
        batch.columns[SEQ].i64[row] = seq;
        batch.columns[EPOCH].i32[row] = epoch;
        batch.event_time_us[row] = seq * 1000;
        change[row] = (uint8_t)(seq % 4);
        if (seq % 5 != 0) {
            char text[32];
            size_t size = (size_t)snprintf(text, sizeof text, "text %lld", (long long)seq);
            weir_bitmap_set(batch.columns[T].validity, row);
            batch.columns[T].view[row] = weir_arena_copy(arena, (struct weir_view){text, size});
        }
        if (seq % 7 != 0) {
            struct weir_column *pair = batch.columns[C].children;
            weir_bitmap_set(batch.columns[C].validity, row);
            weir_bitmap_set(pair[0].validity, row);
            pair[0].numeric[row] = weir_numeric_from_int128(
                (__int128)seq * WEIR_NUMERIC_SMALL_LIMIT * 10 + 5, 1, arena);
        }
    }
    return batch;
}

// As text, with event time and change.
static inline void append_row(struct weir_buffer *out, const struct weir_batch *batch, uint32_t row)
{
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        if (weir_column_is_valid(&batch->columns[c], row)) {
            weir_text_append(out, &batch->columns[c], row);
        }
        weir_buffer_append_char(out, '|');
    }
    weir_buffer_printf(out, "%lld %u\n", (long long)batch->event_time_us[row], batch->change[row]);
}

// The task that owns the row.
static inline uint32_t owner_of(const struct weir_batch *batch, uint32_t row, uint32_t task_count)
{
    struct weir_buffer key = {0};
    weir_key_encode(&batch->columns[K], 1, row, &key);
    uint16_t key_group = weir_key_group((struct weir_view){key.data, key.size_bytes});
    weir_buffer_deinit(&key);
    return weir_key_group_owner(key_group, task_count);
}

#endif
