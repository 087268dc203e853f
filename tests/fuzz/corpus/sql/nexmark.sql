-- The stateless queries of the benchmark over its one topic.
CREATE TYPE person AS (id bigint, name text, "emailAddress" text, "creditCard" text, city text,
    state text, "dateTime" timestamp, extra text);
CREATE TYPE auction AS (id bigint, "itemName" text, description text, "initialBid" bigint,
    reserve bigint, "dateTime" timestamp, expires timestamp, seller bigint, category bigint,
    extra text);
CREATE TYPE bid AS (auction bigint, bidder bigint, price bigint, channel text, url text,
    "dateTime" timestamp, extra text);
CREATE TABLE nexmark (
    event_type int,
    person person,
    auction auction,
    bid bid,
    "dateTime" timestamp GENERATED ALWAYS AS (
        CASE event_type WHEN 0 THEN (person)."dateTime" WHEN 1 THEN (auction)."dateTime"
            ELSE (bid)."dateTime" END) STORED
) WITH (event_time = 'dateTime', watermark_delay = '4 seconds');
CREATE VIEW bids AS SELECT (bid).* FROM nexmark WHERE event_type = 2;

CREATE TABLE q0 (auction bigint, bidder bigint, price bigint, "dateTime" timestamp, extra text);
INSERT INTO q0 SELECT auction, bidder, price, "dateTime", extra FROM bids;

CREATE TABLE q1 (auction bigint, bidder bigint, price numeric(23, 3), "dateTime" timestamp,
    extra text);
INSERT INTO q1 SELECT auction, bidder, 0.908 * price, "dateTime", extra FROM bids;

CREATE TABLE q2 (auction bigint, price bigint);
INSERT INTO q2 SELECT auction, price FROM bids WHERE auction % 123 = 0;

CREATE TABLE q14 (auction bigint, bidder bigint, price numeric(23, 3), "bidTimeType" text,
    "dateTime" timestamp, extra text);
INSERT INTO q14
SELECT auction, bidder, 0.908 * price,
    CASE
        WHEN extract(hour FROM "dateTime") BETWEEN 8 AND 18 THEN 'dayTime'
        WHEN extract(hour FROM "dateTime") <= 6 OR extract(hour FROM "dateTime") >= 20
            THEN 'nightTime'
        ELSE 'otherTime'
    END,
    "dateTime", extra
FROM bids
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;
