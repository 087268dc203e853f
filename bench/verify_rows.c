// SPDX-License-Identifier: Apache-2.0
//
// Expected output rows (see verify_rows.h).
#include "verify_rows.h"

#include "options.h"
#include "text.h"

#include <string.h>

struct verify_filter verify_filter_parse(const char *text)
{
    static const struct {
        const char *prefix;
        size_t offset;
    } fields[] = {
        {"auction%", offsetof(struct weir_nexmark_bid, auction)},
        {"bidder%", offsetof(struct weir_nexmark_bid, bidder)},
        {"price%", offsetof(struct weir_nexmark_bid, price)},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        size_t prefix_bytes = strlen(fields[i].prefix);
        if (strncmp(text, fields[i].prefix, prefix_bytes) == 0) {
            int64_t modulus = weir_bench_parse_number(text + prefix_bytes, "--filter");
            if (modulus > 0) {
                return (struct verify_filter){fields[i].offset, modulus};
            }
        }
    }
    weir_bench_die("--filter %s: auction%%N, bidder%%N or price%%N wanted", text);
}

bool verify_rows_has(const struct verify_rows *rows, const struct weir_nexmark_event *event)
{
    if (rows->shape == VERIFY_EVENTS) {
        return true;
    }
    if (event->kind != WEIR_NEXMARK_BID) {
        return false;
    }
    if (rows->filter.modulus == 0) {
        return true;
    }
    int64_t value = 0;
    memcpy(&value, (const char *)&event->bid + rows->filter.field_offset, sizeof(value));
    return value % rows->filter.modulus == 0;
}

static size_t write_event(const struct verify_rows *rows, const struct weir_nexmark_event *event,
                          char *out)
{
    size_t length = weir_nexmark_write_json(event, out);
    return rows->cut_bytes != 0 && length > rows->cut_bytes ? rows->cut_bytes : length;
}

static char *put_q0(char *out, const struct weir_nexmark_event *event)
{
    out = weir_text_put(out, "{\"auction\":");
    out = weir_text_put_int(out, event->bid.auction);
    out = weir_text_put(out, ",\"bidder\":");
    out = weir_text_put_int(out, event->bid.bidder);
    out = weir_text_put(out, ",\"price\":");
    out = weir_text_put_int(out, event->bid.price);
    out = weir_text_put(out, ",\"dateTime\":\"");
    out = weir_text_put_json_time(out, event->time_ms);
    out = weir_text_put(out, "\",\"extra\":\"");
    out = weir_text_put_bytes(out, event->extra, event->extra_bytes);
    return weir_text_put(out, "\"}");
}

static char *put_q2(char *out, const struct weir_nexmark_event *event)
{
    out = weir_text_put(out, "{\"auction\":");
    out = weir_text_put_int(out, event->bid.auction);
    out = weir_text_put(out, ",\"price\":");
    out = weir_text_put_int(out, event->bid.price);
    return weir_text_put(out, "}");
}

size_t verify_rows_write(const struct verify_rows *rows, const struct weir_nexmark_event *event,
                         char *out)
{
    switch (rows->shape) {
    case VERIFY_EVENTS:
        return write_event(rows, event, out);
    case VERIFY_Q0:
        return (size_t)(put_q0(out, event) - out);
    case VERIFY_Q2:
        return (size_t)(put_q2(out, event) - out);
    }
    return 0;
}
