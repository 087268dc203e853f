// SPDX-License-Identifier: Apache-2.0
//
// The NEXMark event generator: the workload of every published figure.
//
// Promise: event number n is a pure function of (seed, rate, base time, group size, n). Any range
// can be made again, in any order, on any thread, so that a reader of an output topic can check
// every single row. Distributions, proportions (1 person, 3 auctions, 46 bids in 50) and names of
// fields are those of the Flink edition of NEXMark. On purpose different: the random numbers are
// seeded for each event, and 1,000 is added to bidder ids once (Flink adds it twice), so that
// bidders are persons.
//
// Thread: any; a generator is read-only after weir_nexmark_create().
#ifndef WEIR_BENCH_NEXMARK_H
#define WEIR_BENCH_NEXMARK_H

#include <stddef.h>
#include <stdint.h>

enum {
    // The longest possible event is an auction of some 1,000 bytes; tested by `nexgen check`.
    WEIR_NEXMARK_JSON_BYTES_MAX = 2048,
    WEIR_NEXMARK_EXTRA_BYTES_MAX = 640,
};

enum weir_nexmark_kind {
    WEIR_NEXMARK_PERSON = 0,
    WEIR_NEXMARK_AUCTION = 1,
    WEIR_NEXMARK_BID = 2,
};

struct weir_nexmark_config {
    uint64_t seed;
    int64_t events_per_s; // of event time; sets how many events a window holds
    int64_t base_ms;      // event time of event 0, milliseconds since the epoch
    int64_t group_events; // outOfOrderGroupSize: event times are shuffled inside groups of so many
};

// 2026-01-01 00:00:00 UTC, 100,000 events per second, in order.
struct weir_nexmark_config weir_nexmark_config_default(void);

struct weir_nexmark_person {
    int64_t id;
    char name[32];
    char email[32];
    char credit_card[24];
    const char *city;
    const char *state;
};

struct weir_nexmark_auction {
    int64_t id;
    char item_name[24];
    char description[104];
    int64_t initial_bid;
    int64_t reserve;
    int64_t expires_ms;
    int64_t seller;
    int64_t category;
};

struct weir_nexmark_bid {
    int64_t auction;
    int64_t bidder;
    int64_t price;
    const char *channel; // owned by the generator
    const char *url;     // owned by the generator
};

struct weir_nexmark_event {
    enum weir_nexmark_kind kind;
    int64_t number;
    int64_t time_ms;
    union {
        struct weir_nexmark_person person;
        struct weir_nexmark_auction auction;
        struct weir_nexmark_bid bid;
    };
    size_t extra_bytes;
    char extra[WEIR_NEXMARK_EXTRA_BYTES_MAX];
};

struct weir_nexmark;

// Never fails: ends the process if memory is out. The caller owns the generator.
struct weir_nexmark *weir_nexmark_create(const struct weir_nexmark_config *config);
void weir_nexmark_destroy(struct weir_nexmark *generator);

// What kind event `number` is, without making it.
enum weir_nexmark_kind weir_nexmark_kind_of(const struct weir_nexmark *generator, int64_t number);

// Makes event `number` (from 0).
void weir_nexmark_make(const struct weir_nexmark *generator, int64_t number,
                       struct weir_nexmark_event *event);

// Writes the event as the JSON envelope of the input topic into `out`, which has room for
// WEIR_NEXMARK_JSON_BYTES_MAX; not terminated. Returns the length.
size_t weir_nexmark_write_json(const struct weir_nexmark_event *event, char *out);

#endif
