-- Append-only results of windows in keyed tables, and distinct rows of windows.
CREATE TABLE t (k int, ts timestamp) WITH (event_time = 'ts', watermark_delay = '0 seconds');
CREATE TABLE o1 (k int, w timestamptz, n bigint, PRIMARY KEY (w, k));
INSERT INTO o1 SELECT k, window_end, count(*) FROM tumble(t, ts, interval '1 hour')
GROUP BY window_end, k;
CREATE TABLE o2 (k int, source text, w timestamptz, n bigint, PRIMARY KEY (k, w, source));
INSERT INTO o2 SELECT k, 'b', window_end, count(*) FROM tumble(t, ts, interval '1 hour')
GROUP BY window_end, k;
CREATE TABLE o3 (k int, w timestamptz);
INSERT INTO o3 SELECT DISTINCT k, window_start FROM tumble(t, ts, interval '1 hour');
SET weir.state_ttl = 'infinity';
CREATE TABLE o4 (k int PRIMARY KEY);
INSERT INTO o4 SELECT DISTINCT k FROM t;
