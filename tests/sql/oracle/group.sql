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

-- Different rows.
-- key: a, b
SELECT DISTINCT coalesce(i2, 0) AS a, coalesce(b, false) AS b FROM input;

-- Aggregates that are used in several places, keys that are not selected alone.
-- key: u
SELECT upper(u) AS big, u, sum(i4) AS s, sum(i4) + 1 AS t, -sum(i4) AS v, count(*) AS n,
    sum(i4) FILTER (WHERE i4 > 0) / nullif(count(*) FILTER (WHERE i4 > 0), 0) AS mean,
    sum(CASE WHEN b THEN 1 ELSE 0 END) AS yes, max(upper(t)) AS most, count(DISTINCT i4 % 5) AS few
FROM input WHERE u IS NOT NULL GROUP BY u;

-- By a date, a timestamp with time zone and a numeric.
-- key: d, tz, r
SELECT d, tz, round(m, -3) AS r, count(*) AS n, sum(m) AS s, max(m) AS x FROM input
WHERE d IS NOT NULL AND tz IS NOT NULL AND m IS NOT NULL GROUP BY d, tz, round(m, -3);

-- Put together, then grouped.
-- key: w
SELECT w, count(*) AS n, sum(x) AS x FROM (
    SELECT coalesce(t, '') AS w, i4 AS x FROM input UNION ALL SELECT coalesce(u, ''), i2 FROM input) AS s
GROUP BY w;

-- Booleans of groups of all NULLs.
-- key: i2
SELECT i2, sum(i4) FILTER (WHERE false) AS a, count(nullif(i2, i2)) AS b, max(nullif(t, t)) AS c,
    avg(nullif(m, m)) AS d, min(nullif(at, at)) AS e
FROM input WHERE i2 IS NOT NULL GROUP BY i2;

-- By bytes and JSON types; extremes and sums of what may be NaN.
-- key: y, kind
SELECT y, coalesce(jsonb_typeof(j), 'none') AS kind, count(*) AS n, count(DISTINCT j) AS different,
    sum(x) AS s, max(x) AS high, min(x) AS low, avg(x) AS mean, sum(DISTINCT x) AS sd
FROM input WHERE y IS NOT NULL GROUP BY 1, 2;
