-- NEXMark q2: auction and price of one bid in 123. Parsing and filtering; hardly any output.
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

CREATE TABLE result (auction bigint, price bigint) WITH (connector = 'kafka', topic = 'result',
    format = 'json');

INSERT INTO result
SELECT (bid).auction, (bid).price
FROM nexmark
WHERE event_type = 2 AND (bid).auction % 123 = 0;
