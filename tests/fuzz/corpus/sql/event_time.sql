-- The event time is read even where no query names it, also when it is computed.
CREATE TABLE readings (
    device text,
    day date,
    seconds int,
    unused text,
    at timestamp GENERATED ALWAYS AS (day::timestamp) STORED
) WITH (event_time = 'at', watermark_delay = '0 s');
CREATE TABLE devices (device text);
INSERT INTO devices SELECT device FROM readings;
