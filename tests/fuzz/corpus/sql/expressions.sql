-- Every kind of expression that the grammar has and weir takes.
CREATE TABLE t (
    i int, l bigint, s smallint, f double precision, r real, n numeric, b boolean, t text,
    v varchar(20), y bytea, d date, ts timestamp, tz timestamptz, j jsonb);
CREATE TABLE numbers (
    a bigint, b numeric, c double precision, d int, e numeric, f bigint, g int, h int, i numeric);
CREATE TABLE conditions (
    a boolean, b boolean, c boolean, d boolean, e boolean, f boolean, g boolean, h boolean,
    i boolean, j boolean, k boolean, l boolean, m boolean, n boolean, o boolean);
CREATE TABLE choices (a text, b int, c text, d bigint, e int, f int, g numeric);
CREATE TABLE texts (a text, b text, c int, d text, e text, f text, g text, h text, i text, j text);
CREATE TABLE times (a numeric, b timestamp, c timestamptz, d timestamptz, e date, f boolean);
INSERT INTO numbers
SELECT i + l * 2, n / 3 - 1.50, -f, -5, - - 7.25, -9223372036854775808, i % 3, abs(i), 1e3 FROM t;
INSERT INTO conditions
SELECT i < 5 AND l >= 3 OR NOT b, i IS NULL, t IS NOT NULL, b IS TRUE, b IS NOT FALSE,
    b IS UNKNOWN, i IS DISTINCT FROM l, t IS NOT DISTINCT FROM 'x', i BETWEEN 1 AND 10,
    i NOT BETWEEN SYMMETRIC 10 AND 1, i IN (1, 2, 3), t NOT IN ('a', 'b'), t LIKE 'a%',
    t NOT ILIKE '_b', true FROM t;
INSERT INTO choices
SELECT CASE WHEN i > 0 THEN 'pos' WHEN i < 0 THEN 'neg' ELSE t END, CASE i WHEN 1 THEN 10 END,
    COALESCE(v, t, 'none'), NULLIF(l, 0), GREATEST(i, 3), LEAST(i, s), coalesce(i, n) FROM t;
INSERT INTO texts
SELECT upper(t) || '!', substring(t FROM 2 FOR 3), position('b' IN t),
    overlay(t PLACING 'xx' FROM 1 FOR 2), trim(BOTH ' ' FROM t), CAST(i AS text), n::text,
    v::varchar(3), ts::text, j::text FROM t;
INSERT INTO times
SELECT extract(year FROM ts), timestamp '2013-01-01 05:00', tz, now(), date '2013-01-01',
    current_timestamp > tz FROM t;
