// SPDX-License-Identifier: Apache-2.0
//
// What an output row must look like: each shape that verify knows, made from an event.
// Thread: any.
#ifndef WEIR_BENCH_VERIFY_ROWS_H
#define WEIR_BENCH_VERIFY_ROWS_H

#include "nexmark.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verify_shape {
    VERIFY_EVENTS, // the input itself: every event's envelope, perhaps cut (rawpass)
    VERIFY_Q0,     // NEXMark q0: auction, bidder, price, dateTime, extra of every bid
    VERIFY_Q2,     // NEXMark q2: auction, price of the bids that pass the filter
};

// `field % modulus = 0` over a bid's auction, bidder or price; modulus 0: every bid passes.
struct verify_filter {
    size_t field_offset; // in struct weir_nexmark_bid
    int64_t modulus;
};

struct verify_rows {
    enum verify_shape shape;
    struct verify_filter filter;
    size_t cut_bytes; // of VERIFY_EVENTS; 0: not cut
};

// Reads "auction%123" and the like. Ends the process on anything else.
struct verify_filter verify_filter_parse(const char *text);

// Whether the event has a row in the output.
bool verify_rows_has(const struct verify_rows *rows, const struct weir_nexmark_event *event);

// The row's value, byte for byte as PostgreSQL's row_to_json spells it. `out` has room for
// WEIR_NEXMARK_JSON_BYTES_MAX. Returns the length.
size_t verify_rows_write(const struct verify_rows *rows, const struct weir_nexmark_event *event,
                         char *out);

#endif
