-- The newest row of each key.
-- key: k
SELECT k, g, v, t FROM latest;

-- Some of them, computed.
-- key: k
SELECT k, v * 2 AS doubled, upper(t) AS word, coalesce(t,
    'none') AS t FROM latest WHERE v > 3 AND g <> 2;

-- Groups that rows come to, leave, and change within.
-- key: g
SELECT g, count(*) AS n, count(v) AS with_v, sum(v) AS s, avg(v) AS a, min(v) AS low, max(v) AS high,
    min(t) AS first, max(t) AS last, count(DISTINCT t) AS words, sum(k) AS keys, sum(DISTINCT v) AS sd
FROM latest GROUP BY g;

-- Groups that come and go.
-- key: v, t
SELECT v, t, count(*) AS n, max(k) AS k FROM latest WHERE v IS NOT NULL AND t IS NOT NULL GROUP BY v, t
HAVING count(*) > 1;

-- One row of all.
-- key: one
SELECT 'all' AS one, count(*) AS n, sum(v) AS s, max(v) FILTER (WHERE t = 'red') AS red FROM latest;

-- How many groups have how many.
-- key: n
SELECT n, count(*) AS groups, min(g) AS g FROM (SELECT g, count(*) AS n FROM latest
    GROUP BY g) AS s GROUP BY n;

-- Different values.
-- key: t, g
SELECT DISTINCT t, g FROM latest WHERE t IS NOT NULL;

-- Computed keys, groups over a filter that rows pass and do not pass in turn.
-- key: half, word
SELECT floor(v / 2) AS half, coalesce(t, 'none') AS word, count(*) AS n, sum(v) AS s, min(k) AS low,
    max(k) AS high
FROM latest WHERE v > 2 AND k % 7 <> 3 GROUP BY 1, 2;

-- The most of the sums.
-- key: one
SELECT 1 AS one, max(s) AS most, min(s) AS least, count(*) AS groups, sum(n) AS n
FROM (SELECT t, sum(v) AS s, count(*) AS n FROM latest GROUP BY t) AS s;

-- Texts that come and go.
-- key: t
SELECT t, count(*) FILTER (WHERE g > 1) AS n, max(v) FILTER (WHERE g = 0) AS high,
    min(k) FILTER (WHERE v > 5) AS low,
    avg(v) AS mean, sum(g) AS s, count(DISTINCT v) FILTER (WHERE g < 3) AS few, max(DISTINCT g) AS most
FROM latest WHERE t IS NOT NULL GROUP BY t HAVING count(*) <> 9;

-- Rows that pass by their group alone.
-- key: k
SELECT k, 'kept' AS kind, g * 10 AS g FROM latest WHERE g IN (1, 3) OR v IS NULL;
