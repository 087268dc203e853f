-- Windows: all queries read behind one watermark; filters stay in front of the window.
CREATE TABLE t (k int, v bigint, name text, ts timestamptz)
    WITH (event_time = 'ts', watermark_delay = '5 seconds', late_topic = 'late');
CREATE VIEW big AS SELECT k AS id, v, ts AS at, upper(name) AS name FROM t WHERE v > 100;

-- The end of the window comes along though nobody selects it.
CREATE TABLE o1 (k int, since timestamptz, n bigint, s numeric);
INSERT INTO o1
SELECT k, window_start, count(*), sum(v) FILTER (WHERE name > 'x')
FROM tumble(t, ts, interval '1 minute')
WHERE v > 0
GROUP BY k, window_start
HAVING count(*) > 1;

-- Through a view, with an origin; no filter may come before the watermark.
CREATE TABLE o2 (till timestamptz, n bigint, m bigint);
INSERT INTO o2
SELECT window_end, count(DISTINCT id), max(v)
FROM tumble(big, at, interval '90' minute, timestamptz '2024-01-01 00:30:00+00') w
GROUP BY 1;

-- Windows of windows: the most of every window.
CREATE TABLE o3 (window_end timestamptz, most bigint);
INSERT INTO o3
SELECT window_end, max(n) FROM (
    SELECT k, window_end, count(*) AS n, min(v) FROM tumble(t, ts, '10 seconds') GROUP BY k, window_end
) AS counts
GROUP BY window_end;

-- Time is nothing to it.
CREATE TABLE o4 (k int);
INSERT INTO o4 SELECT k FROM t;
