-- One bid in 100, with q0's columns. By the price: auction numbers that 100 divides are NEXMark's hot
-- ones, which half of all bids name.
CREATE TYPE nexmark_person AS (id bigint, name text, "emailAddress" text, "creditCard" text,
    city text, state text, "dateTime" timestamp, extra text);
CREATE TYPE nexmark_auction AS (id bigint, "itemName" text, description text, "initialBid" bigint,
    reserve bigint, "dateTime" timestamp, expires timestamp, seller bigint, category bigint,
    extra text);
CREATE TYPE nexmark_bid AS (auction bigint, bidder bigint, price bigint, channel text, url text,
    "dateTime" timestamp, extra text);

-- The record's timestamp is the event time, so that none needs to be named.
CREATE TABLE nexmark (event_type int, person nexmark_person, auction nexmark_auction,
    bid nexmark_bid) WITH (connector = 'kafka', topic = 'nexmark', format = 'json');

CREATE TABLE result (auction bigint, bidder bigint, price bigint, "dateTime" timestamp,
    extra text) WITH (connector = 'kafka', topic = 'result', format = 'json');

INSERT INTO result
SELECT (bid).auction, (bid).bidder, (bid).price, (bid)."dateTime", (bid).extra
FROM nexmark
WHERE event_type = 2 AND (bid).price % 100 = 0;
