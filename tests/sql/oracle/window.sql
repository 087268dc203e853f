-- Sums of minutes, by key.
-- weir:
SELECT i4, window_start, window_end, count(*) AS n, sum(m) AS total, max(t) AS word
FROM tumble(input, at, interval '1 minute') GROUP BY i4, window_start, window_end;
-- postgresql:
SELECT i4, date_bin('1 minute', at, '1970-01-01 00:00:00+00') AS window_start,
    date_bin('1 minute', at, '1970-01-01 00:00:00+00') + interval '1 minute' AS window_end, count(*) AS n,
    sum(m) AS total, max(t) AS word
FROM input GROUP BY 1, 2, 3;

-- One group for a window, with an origin, filters and HAVING.
-- weir:
SELECT window_start, count(*) AS n, count(DISTINCT u) AS words, sum(m) FILTER (WHERE b) AS total,
    avg(i4) AS mean
FROM tumble(input, at, interval '90 seconds', timestamptz '2024-01-01 00:00:10+00') WHERE i4 > -15
GROUP BY window_start HAVING count(*) > 3;
-- postgresql:
SELECT date_bin('90 seconds', at, '2024-01-01 00:00:10+00') AS window_start, count(*) AS n,
    count(DISTINCT u) AS words,
    sum(m) FILTER (WHERE b) AS total, avg(i4) AS mean
FROM input WHERE i4 > -15 GROUP BY 1 HAVING count(*) > 3;

-- Windows of windows.
-- weir:
SELECT window_end, max(n) AS most, count(*) AS keys
FROM (SELECT u, window_end, count(*) AS n FROM tumble(input, at, interval '5 minutes')
    GROUP BY u, window_end) AS s
GROUP BY window_end;
-- postgresql:
SELECT window_end, max(n) AS most, count(*) AS keys
FROM (SELECT u, date_bin('5 minutes', at, '1970-01-01 00:00:00+00') + interval '5 minutes' AS window_end,
    count(*) AS n
    FROM input GROUP BY 1, 2) AS s
GROUP BY window_end;

-- Different rows of a window.
-- weir:
SELECT DISTINCT b, i2, window_start FROM tumble(input, at, interval '10 minutes');
-- postgresql:
SELECT DISTINCT b, i2, date_bin('10 minutes', at, '1970-01-01 00:00:00+00') AS window_start FROM input;

-- Only the end, keys computed, rows from a view that renames.
-- weir:
SELECT window_end, word, count(*) AS n, min(at) AS first, max(at) AS last
FROM tumble(words, at, interval '7 minutes') GROUP BY window_end, word;
-- postgresql:
SELECT date_bin('7 minutes', at, '1970-01-01 00:00:00+00') + interval '7 minutes' AS window_end, word,
    count(*) AS n, min(at) AS first, max(at) AS last
FROM words GROUP BY 1, 2;
