-- The smallest job that does something: only the columns that it names are decoded.
CREATE TABLE flights (
    carrier text,
    flight int,
    dep_delay int,
    distance double precision,
    tailnum text
) WITH (connector = 'kafka', topic = 'flights', format = 'json');

CREATE TABLE late_flights (carrier text, flight int, delay bigint) WITH (topic = 'late-flights');

INSERT INTO late_flights
SELECT carrier, flight, dep_delay FROM flights WHERE dep_delay > 15;
