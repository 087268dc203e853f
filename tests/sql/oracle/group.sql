-- All aggregates by an integer with NULLs.
-- key: i4
SELECT i4, count(*) AS a, count(t) AS b, sum(i2) AS c, sum(i8) AS d, sum(n) AS e, sum(m) AS f,
    avg(i2) AS g, avg(m) AS h, min(m) AS i, max(m) AS j, min(t) AS k, max(t) AS l, min(ts) AS m,
    max(tz) AS n, min(d) AS o, sum(f8) AS p, avg(i8) AS q, max(f8) AS r, avg(n) AS s, min(i2) AS t
FROM input WHERE i4 IS NOT NULL GROUP BY i4;

-- Filters, DISTINCT, by a text.
-- key: u
SELECT u, count(DISTINCT i4) AS a, count(DISTINCT t) AS b, sum(DISTINCT i2) AS c,
    count(*) FILTER (WHERE i4 > 0) AS d, sum(m) FILTER (WHERE b) AS e,
    avg(m) FILTER (WHERE i2 < 0) AS f, max(t) FILTER (WHERE NOT b) AS g,
    count(DISTINCT m) FILTER (WHERE m > 0) AS h, avg(DISTINCT i4) AS i
FROM input WHERE u IS NOT NULL GROUP BY u;

-- Expressions as keys and over aggregates, HAVING.
-- key: r, w
SELECT i4 % 4 AS r, coalesce(u, 'none') AS w, sum(m) * 2 + count(*) AS a, max(i4) - min(i4) AS b,
    CASE WHEN count(t) > 3 THEN 'many' ELSE min(t) END AS c, round(avg(m), 3) AS d
FROM input WHERE i4 IS NOT NULL GROUP BY i4 % 4, coalesce(u, 'none')
HAVING count(*) > 5 AND sum(m) > -2000;

-- By times and booleans.
-- key: day, b
SELECT date_trunc('day', ts) AS day, b, count(*) AS n, min(at) AS first, max(id) AS last
FROM input WHERE ts IS NOT NULL AND b IS NOT NULL GROUP BY 1, 2;

-- One group of all.
-- key: one
SELECT 1 AS one, count(*) AS a, sum(i4) AS b, max(t) AS c, avg(m) AS d, count(DISTINCT u) AS e FROM input;

-- Groups of groups.
-- key: n
SELECT n, count(*) AS groups, sum(total) AS total, max(word) AS word
FROM (SELECT i4, count(*) AS n, sum(m) AS total, max(t) AS word FROM input GROUP BY i4) AS s
GROUP BY n;
