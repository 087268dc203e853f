-- What is kept is forgotten after some time, by the event time of the rows.
CREATE TABLE t (k int, v bigint, ts timestamptz) WITH (event_time = 'ts', watermark_delay = '5 s');
-- The record's timestamp, and no delay: only windows insist on one.
CREATE TABLE r (k int, v bigint);
CREATE TABLE plain (k int);
CREATE TABLE pairs (k int, v bigint, PRIMARY KEY (k, v));
CREATE TABLE counts (k int PRIMARY KEY, n bigint);
CREATE TABLE longer (k int PRIMARY KEY, n bigint);
CREATE TABLE forever (k int PRIMARY KEY, n bigint);
CREATE TABLE windows (k int, n bigint);

SET weir.state_ttl = '1 day';
INSERT INTO plain SELECT k FROM r;
INSERT INTO pairs SELECT DISTINCT k, v FROM r WHERE v > 0;
INSERT INTO counts SELECT k, count(*) FROM t GROUP BY k;
INSERT INTO windows SELECT k, count(*) FROM tumble(t, ts, '1 min') GROUP BY k, window_end;
SET weir.state_ttl = '2 days';
INSERT INTO longer SELECT k, count(*) FROM t GROUP BY k;
SET weir.state_ttl = 'infinity';
INSERT INTO forever SELECT k, count(*) FROM t GROUP BY k;
