-- Results that change, into keyed tables.
CREATE TYPE place AS (city text, zip text);
CREATE TABLE t (k int, v bigint, at place, ok boolean, unused text);
CREATE VIEW sums AS SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k;

-- Expressions over keys and aggregates; equal aggregates are one.
CREATE TABLE o1 (n numeric, k bigint PRIMARY KEY, city text);
INSERT INTO o1
SELECT sum(v) / count(v) + count(v), k, substr(min((at).city), k)
FROM t WHERE ok GROUP BY k HAVING count(v) > 0 AND k + 1 > 7;

-- Keys by alias, by position, as expressions; the key columns in another order.
CREATE TABLE o2 (b text, a bigint, n bigint, PRIMARY KEY (a, b));
INSERT INTO o2 SELECT (at).zip AS b, v % 10, count(*) FROM t GROUP BY b, 2;

-- One row.
CREATE TABLE o3 (name text PRIMARY KEY, n bigint, distinct_n bigint, a numeric);
INSERT INTO o3 SELECT 'all', count(*), count(DISTINCT v), avg(v) FROM t;

-- A group over groups: what nobody reads of the inner one is not computed.
CREATE TABLE o4 (s numeric, n bigint, PRIMARY KEY (s));
INSERT INTO o4 SELECT s, count(*) FROM sums GROUP BY s;

-- Distinct over groups, and over what has its key already.
CREATE TABLE o5 (s numeric PRIMARY KEY);
INSERT INTO o5 SELECT DISTINCT s FROM sums;
CREATE TABLE o6 (k int PRIMARY KEY, s numeric);
INSERT INTO o6 SELECT DISTINCT k, s FROM sums;
