-- Bids and the highest of them, by auction and 10 s of event time: keyed windows; little output.
CREATE TYPE nexmark_person AS (id bigint, name text, "emailAddress" text, "creditCard" text,
    city text, state text, "dateTime" timestamp, extra text);
CREATE TYPE nexmark_auction AS (id bigint, "itemName" text, description text, "initialBid" bigint,
    reserve bigint, "dateTime" timestamp, expires timestamp, seller bigint, category bigint,
    extra text);
CREATE TYPE nexmark_bid AS (auction bigint, bidder bigint, price bigint, channel text, url text,
    "dateTime" timestamp, extra text);

-- Windows wait 4 s for stragglers, as NEXMark says.
CREATE TABLE nexmark (event_type int, person nexmark_person, auction nexmark_auction,
    bid nexmark_bid, at timestamptz GENERATED ALWAYS AS (kafka_timestamp()) STORED)
    WITH (connector = 'kafka', topic = 'nexmark', format = 'json', event_time = 'at',
    watermark_delay = '4 seconds');

CREATE TABLE result (auction bigint, window_end timestamptz, bids bigint, price bigint)
    WITH (connector = 'kafka', topic = 'result', format = 'json');

CREATE VIEW bids AS
SELECT (bid).auction AS auction, (bid).price AS price, at FROM nexmark WHERE event_type = 2;

INSERT INTO result
SELECT auction, window_end, count(*), max(price)
FROM tumble(bids, at, interval '10 seconds')
GROUP BY auction, window_end;
