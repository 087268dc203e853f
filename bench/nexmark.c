// SPDX-License-Identifier: Apache-2.0
//
// NEXMark events by number (see nexmark.h). Place: makes what nexgen puts into the input topic,
// and, in verify, what every output row is compared with.
//
// Invariant: the order in which random numbers are drawn is part of the data set. A draw that is
// added, dropped or moved changes every event of its kind, and with it all published figures.
#include "nexmark.h"

#include "text.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CYCLE_EVENTS = 50, // 1 person, 3 auctions, 46 bids
    CYCLE_PERSONS = 1,
    CYCLE_AUCTIONS = 3,
    FIRST_ID = 1000,
    FIRST_CATEGORY = 10,
    CATEGORY_COUNT = 5,
    ACTIVE_PERSONS = 1000,
    IN_FLIGHT_AUCTIONS = 100,
    ID_LEAD = 10, // ids not yet created that may already be referred to
    HOT_BATCH = 100,
    HOT_AUCTION_RATIO = 2,
    HOT_SELLER_RATIO = 4,
    HOT_BIDDER_RATIO = 4,
    HOT_CHANNEL_COUNT = 4,
    COLD_CHANNEL_COUNT = 10000,
    PERSON_BYTES = 200, // average sizes aimed at, as NEXMark counts them
    AUCTION_BYTES = 500,
    BID_BYTES = 100,
    GROUP_STRIDE = 953, // prime: n -> 953 n mod g visits a group of g once
};

// One stream of random numbers for each purpose.
enum stream { STREAM_EVENT = 1, STREAM_HOT_URL = 2, STREAM_COLD_URL = 3 };

struct channel {
    char name[16];
    char url[112];
};

struct weir_nexmark {
    struct weir_nexmark_config config;
    struct channel hot[HOT_CHANNEL_COUNT];
    struct channel cold[COLD_CHANNEL_COUNT];
};

struct random {
    uint64_t state;
};

static const char *const first_names[] = {"Peter", "Paul",  "Luke",  "John",   "Saul",  "Vicky",
                                          "Kate",  "Julie", "Sarah", "Deiter", "Walter"};
static const char *const last_names[] = {"Shultz", "Abrams", "Spencer", "White", "Bartels",
                                         "Walton", "Smith",  "Jones",   "Noris"};
static const char *const cities[] = {"Phoenix",  "Los Angeles", "San Francisco", "Boise",
                                     "Portland", "Bend",        "Redmond",       "Seattle",
                                     "Kent",     "Cheyenne"};
static const char *const states[] = {"AZ", "CA", "ID", "OR", "WA", "WY"};
static const char *const hot_channels[HOT_CHANNEL_COUNT] = {"Google", "Facebook", "Baidu", "Apple"};

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

static struct random random_for(uint64_t seed, enum stream stream, uint64_t number)
{
    uint64_t of_stream = mix(seed * 0x9e3779b97f4a7c15U + (uint64_t)stream * 0xd1342543de82ef95U);
    return (struct random){of_stream ^ mix(number + 0x632be59bd9b4e019U)};
}

static uint64_t draw(struct random *random)
{
    random->state += 0x9e3779b97f4a7c15U;
    return mix(random->state);
}

static int64_t draw_below(struct random *random, int64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)(((wide)draw(random) * (uint64_t)bound) >> 64);
}

static double draw_unit(struct random *random)
{
    return (double)(draw(random) >> 11) * 0x1p-53;
}

// 3 to max-1 characters, one in 13 of them `special`, the others small letters.
static size_t draw_string(struct random *random, char *out, int64_t max, char special, bool trim)
{
    size_t length = (size_t)(3 + draw_below(random, max - 3));
    for (size_t i = 0; i < length; i++) {
        bool is_special = draw_below(random, 13) == 0;
        out[i] = is_special ? special : (char)('a' + draw_below(random, 26));
    }
    size_t start = 0;
    while (trim && start < length && out[start] == ' ') {
        start++;
    }
    while (trim && length > start && out[length - 1] == ' ') {
        length--;
    }
    length -= start;
    memmove(out, out + start, length);
    out[length] = '\0';
    return length;
}

// Pads an event to about its average size; several letters from each draw, for speed.
static void draw_extra(struct random *random, struct weir_nexmark_event *event, int64_t size,
                       int64_t average)
{
    event->extra_bytes = 0;
    event->extra[0] = '\0';
    if (size > average) {
        return;
    }
    int64_t want = average - size;
    int64_t spread = (int64_t)lround((double)want * 0.2);
    int64_t jitter = spread > 0 ? draw_below(random, 2 * spread) : 0;
    size_t length = (size_t)(want - spread + jitter);
    assert(length < sizeof(event->extra));
    for (size_t i = 0; i < length;) {
        uint64_t letters = draw(random);
        for (int k = 0; k < 10 && i < length; k++, i++) {
            event->extra[i] = (char)('a' + letters % 26);
            letters /= 26;
        }
    }
    event->extra[length] = '\0';
    event->extra_bytes = length;
}

static int64_t draw_price(struct random *random)
{
    return llround(pow(10.0, draw_unit(random) * 6.0) * 100.0);
}

static int64_t last_person(int64_t id)
{
    return id / CYCLE_EVENTS;
}

static int64_t last_auction(int64_t id)
{
    int64_t cycle = id / CYCLE_EVENTS;
    int64_t rest = id % CYCLE_EVENTS;
    if (rest < CYCLE_PERSONS) {
        return (cycle - 1) * CYCLE_AUCTIONS + CYCLE_AUCTIONS - 1;
    }
    if (rest <= CYCLE_AUCTIONS) {
        return cycle * CYCLE_AUCTIONS + rest - 1;
    }
    return cycle * CYCLE_AUCTIONS + CYCLE_AUCTIONS - 1;
}

static int64_t draw_person(struct random *random, int64_t id)
{
    int64_t count = last_person(id) + 1;
    int64_t active = count < ACTIVE_PERSONS ? count : ACTIVE_PERSONS;
    return count - active + draw_below(random, active + ID_LEAD);
}

static int64_t draw_auction(struct random *random, int64_t id)
{
    int64_t last = last_auction(id);
    int64_t low = last > IN_FLIGHT_AUCTIONS ? last - IN_FLIGHT_AUCTIONS : 0;
    last = last > 0 ? last : 0;
    return low + draw_below(random, last - low + 1 + ID_LEAD);
}

static int64_t event_id(const struct weir_nexmark *generator, int64_t number)
{
    int64_t group = generator->config.group_events;
    return number / group * group + (number % group * GROUP_STRIDE) % group;
}

static int64_t event_time_ms(const struct weir_nexmark *generator, int64_t id)
{
    __extension__ typedef __int128 wide;
    int64_t rate = generator->config.events_per_s;
    return generator->config.base_ms + (int64_t)((wide)id * 1000 / rate);
}

static void make_person(int64_t id, struct random *random, struct weir_nexmark_event *event)
{
    struct weir_nexmark_person *person = &event->person;
    event->kind = WEIR_NEXMARK_PERSON;
    person->id = last_person(id) + FIRST_ID;
    const char *last = last_names[draw_below(random, 9)];
    const char *first = first_names[draw_below(random, 11)];
    snprintf(person->name, sizeof(person->name), "%s %s", first, last);
    char mailbox[8];
    char host[8];
    draw_string(random, mailbox, 7, ' ', true);
    draw_string(random, host, 5, ' ', true);
    snprintf(person->email, sizeof(person->email), "%s@%s.com", mailbox, host);
    int card[4];
    for (int i = 3; i >= 0; i--) {
        card[i] = (int)draw_below(random, 10000);
    }
    snprintf(person->credit_card, sizeof(person->credit_card), "%04d %04d %04d %04d", card[0],
             card[1], card[2], card[3]);
    person->city = cities[draw_below(random, 10)];
    person->state = states[draw_below(random, 6)];
    size_t size = 8 + strlen(person->name) + strlen(person->email) + strlen(person->credit_card) +
                  strlen(person->city) + strlen(person->state);
    draw_extra(random, event, (int64_t)size, PERSON_BYTES);
}

static void make_auction(const struct weir_nexmark *generator, int64_t id, struct random *random,
                         struct weir_nexmark_event *event)
{
    struct weir_nexmark_auction *auction = &event->auction;
    event->kind = WEIR_NEXMARK_AUCTION;
    auction->id = last_auction(id) + FIRST_ID;
    bool is_hot = draw_below(random, HOT_SELLER_RATIO) > 0;
    int64_t seller = is_hot ? last_person(id) / HOT_BATCH * HOT_BATCH : draw_person(random, id);
    auction->seller = seller + FIRST_ID;
    auction->category = FIRST_CATEGORY + draw_below(random, CATEGORY_COUNT);
    auction->initial_bid = draw_price(random);
    auction->reserve = auction->initial_bid + draw_price(random);
    size_t size = 48 + draw_string(random, auction->item_name, 20, ' ', true);
    size += draw_string(random, auction->description, 100, ' ', true);
    // An auction lives about as long as it takes to make the bids of the auctions in flight.
    int64_t ahead = IN_FLIGHT_AUCTIONS * CYCLE_EVENTS / CYCLE_AUCTIONS;
    int64_t horizon_ms = event_time_ms(generator, id + ahead) - event->time_ms;
    int64_t bound_ms = horizon_ms > 0 ? 2 * horizon_ms : 1;
    auction->expires_ms = event->time_ms + 1 + draw_below(random, bound_ms);
    draw_extra(random, event, (int64_t)size, AUCTION_BYTES);
}

static void make_bid(const struct weir_nexmark *generator, int64_t id, struct random *random,
                     struct weir_nexmark_event *event)
{
    struct weir_nexmark_bid *bid = &event->bid;
    event->kind = WEIR_NEXMARK_BID;
    bool is_hot = draw_below(random, HOT_AUCTION_RATIO) > 0;
    int64_t auction = is_hot ? last_auction(id) / HOT_BATCH * HOT_BATCH : draw_auction(random, id);
    bid->auction = auction + FIRST_ID;
    is_hot = draw_below(random, HOT_BIDDER_RATIO) > 0;
    // The second of the batch: hot bidders are not the hot sellers.
    int64_t bidder = is_hot ? last_person(id) / HOT_BATCH * HOT_BATCH + 1 : draw_person(random, id);
    bid->bidder = bidder + FIRST_ID;
    bid->price = draw_price(random);
    const struct channel *channel = draw_below(random, 2) > 0
                                        ? &generator->hot[draw_below(random, HOT_CHANNEL_COUNT)]
                                        : &generator->cold[draw_below(random, COLD_CHANNEL_COUNT)];
    bid->channel = channel->name;
    bid->url = channel->url;
    draw_extra(random, event, 32, BID_BYTES); // 32: channel and url are not counted, as in Flink
}

void weir_nexmark_make(const struct weir_nexmark *generator, int64_t number,
                       struct weir_nexmark_event *event)
{
    int64_t id = event_id(generator, number);
    struct random random = random_for(generator->config.seed, STREAM_EVENT, (uint64_t)id);
    event->number = number;
    event->time_ms = event_time_ms(generator, id);
    switch (weir_nexmark_kind_of(generator, number)) {
    case WEIR_NEXMARK_PERSON:
        make_person(id, &random, event);
        break;
    case WEIR_NEXMARK_AUCTION:
        make_auction(generator, id, &random, event);
        break;
    case WEIR_NEXMARK_BID:
        make_bid(generator, id, &random, event);
        break;
    }
}

enum weir_nexmark_kind weir_nexmark_kind_of(const struct weir_nexmark *generator, int64_t number)
{
    int64_t rest = event_id(generator, number) % CYCLE_EVENTS;
    if (rest < CYCLE_PERSONS) {
        return WEIR_NEXMARK_PERSON;
    }
    return rest < CYCLE_PERSONS + CYCLE_AUCTIONS ? WEIR_NEXMARK_AUCTION : WEIR_NEXMARK_BID;
}

static void make_url(struct random *random, char *out, size_t out_bytes)
{
    char part[3][8];
    for (int i = 0; i < 3; i++) {
        draw_string(random, part[i], 5, '_', false);
    }
    snprintf(out, out_bytes, "https://www.nexmark.com/%s/%s/%s/item.htm?query=1", part[0], part[1],
             part[2]);
}

static uint32_t reverse_bits(uint32_t value)
{
    uint32_t reversed = 0;
    for (int i = 0; i < 32; i++) {
        reversed = (reversed << 1) | (value & 1);
        value >>= 1;
    }
    return reversed;
}

struct weir_nexmark_config weir_nexmark_config_default(void)
{
    return (struct weir_nexmark_config){
        .seed = 42, .events_per_s = 100000, .base_ms = 1767225600000, .group_events = 1};
}

struct weir_nexmark *weir_nexmark_create(const struct weir_nexmark_config *config)
{
    struct weir_nexmark *generator = calloc(1, sizeof(*generator));
    if (generator == NULL || config->events_per_s < 1 || config->group_events < 1) {
        fprintf(stderr, "nexmark: no memory, or rate or group below 1\n");
        abort();
    }
    generator->config = *config;
    for (uint64_t i = 0; i < HOT_CHANNEL_COUNT; i++) {
        struct channel *channel = &generator->hot[i];
        struct random random = random_for(config->seed, STREAM_HOT_URL, i);
        snprintf(channel->name, sizeof(channel->name), "%s", hot_channels[i]);
        make_url(&random, channel->url, sizeof(channel->url));
    }
    for (uint32_t i = 0; i < COLD_CHANNEL_COUNT; i++) {
        struct channel *channel = &generator->cold[i];
        struct random random = random_for(config->seed, STREAM_COLD_URL, i);
        snprintf(channel->name, sizeof(channel->name), "channel-%u", i);
        make_url(&random, channel->url, sizeof(channel->url));
        if (draw_below(&random, 10) > 0) {
            // The absolute value of a signed 32-bit number, as Java computes it.
            int64_t id = llabs((int64_t)(int32_t)reverse_bits(i));
            size_t used = strlen(channel->url);
            snprintf(channel->url + used, sizeof(channel->url) - used, "&channel_id=%lld",
                     (long long)id);
        }
    }
    return generator;
}

void weir_nexmark_destroy(struct weir_nexmark *generator)
{
    free(generator);
}

static char *put_person(char *out, const struct weir_nexmark_event *event)
{
    const struct weir_nexmark_person *person = &event->person;
    out = weir_text_put(out, "{\"event_type\":0,\"person\":{\"id\":");
    out = weir_text_put_int(out, person->id);
    out = weir_text_put(out, ",\"name\":\"");
    out = weir_text_put(out, person->name);
    out = weir_text_put(out, "\",\"emailAddress\":\"");
    out = weir_text_put(out, person->email);
    out = weir_text_put(out, "\",\"creditCard\":\"");
    out = weir_text_put(out, person->credit_card);
    out = weir_text_put(out, "\",\"city\":\"");
    out = weir_text_put(out, person->city);
    out = weir_text_put(out, "\",\"state\":\"");
    out = weir_text_put(out, person->state);
    out = weir_text_put(out, "\",\"dateTime\":\"");
    out = weir_text_put_time(out, event->time_ms);
    out = weir_text_put(out, "\",\"extra\":\"");
    out = weir_text_put_bytes(out, event->extra, event->extra_bytes);
    return weir_text_put(out, "\"},\"auction\":null,\"bid\":null}");
}

static char *put_auction(char *out, const struct weir_nexmark_event *event)
{
    const struct weir_nexmark_auction *auction = &event->auction;
    out = weir_text_put(out, "{\"event_type\":1,\"person\":null,\"auction\":{\"id\":");
    out = weir_text_put_int(out, auction->id);
    out = weir_text_put(out, ",\"itemName\":\"");
    out = weir_text_put(out, auction->item_name);
    out = weir_text_put(out, "\",\"description\":\"");
    out = weir_text_put(out, auction->description);
    out = weir_text_put(out, "\",\"initialBid\":");
    out = weir_text_put_int(out, auction->initial_bid);
    out = weir_text_put(out, ",\"reserve\":");
    out = weir_text_put_int(out, auction->reserve);
    out = weir_text_put(out, ",\"dateTime\":\"");
    out = weir_text_put_time(out, event->time_ms);
    out = weir_text_put(out, "\",\"expires\":\"");
    out = weir_text_put_time(out, auction->expires_ms);
    out = weir_text_put(out, "\",\"seller\":");
    out = weir_text_put_int(out, auction->seller);
    out = weir_text_put(out, ",\"category\":");
    out = weir_text_put_int(out, auction->category);
    out = weir_text_put(out, ",\"extra\":\"");
    out = weir_text_put_bytes(out, event->extra, event->extra_bytes);
    return weir_text_put(out, "\"},\"bid\":null}");
}

static char *put_bid(char *out, const struct weir_nexmark_event *event)
{
    const struct weir_nexmark_bid *bid = &event->bid;
    out = weir_text_put(out,
                        "{\"event_type\":2,\"person\":null,\"auction\":null,\"bid\":{\"auction\":");
    out = weir_text_put_int(out, bid->auction);
    out = weir_text_put(out, ",\"bidder\":");
    out = weir_text_put_int(out, bid->bidder);
    out = weir_text_put(out, ",\"price\":");
    out = weir_text_put_int(out, bid->price);
    out = weir_text_put(out, ",\"channel\":\"");
    out = weir_text_put(out, bid->channel);
    out = weir_text_put(out, "\",\"url\":\"");
    out = weir_text_put(out, bid->url);
    out = weir_text_put(out, "\",\"dateTime\":\"");
    out = weir_text_put_time(out, event->time_ms);
    out = weir_text_put(out, "\",\"extra\":\"");
    out = weir_text_put_bytes(out, event->extra, event->extra_bytes);
    return weir_text_put(out, "\"}}");
}

size_t weir_nexmark_write_json(const struct weir_nexmark_event *event, char *out)
{
    char *end = out;
    switch (event->kind) {
    case WEIR_NEXMARK_PERSON:
        end = put_person(out, event);
        break;
    case WEIR_NEXMARK_AUCTION:
        end = put_auction(out, event);
        break;
    case WEIR_NEXMARK_BID:
        end = put_bid(out, event);
        break;
    }
    assert(end - out < WEIR_NEXMARK_JSON_BYTES_MAX);
    return (size_t)(end - out);
}
