-- Of nested composites only the fields that are named are decoded.
CREATE TYPE place AS (city text, zip text, lat double precision, lon double precision);
CREATE TYPE person AS (id bigint, name text, home place, work place);
CREATE TYPE order_line AS (item text, price numeric, buyer person);
CREATE TABLE orders (id bigint, line order_line, "dateTime" timestamp);
CREATE TABLE cities (id bigint, city text, zip text, buyer bigint);
CREATE TABLE homes (id bigint, home place);
INSERT INTO cities
SELECT id, ((line).buyer).home.city, (o.line).buyer.work.zip, ((o.line).buyer).id
FROM orders o WHERE (line).price > 10 AND (((line).buyer).work).city <> 'Bonn';
INSERT INTO homes SELECT id, (line).buyer.home FROM orders;
