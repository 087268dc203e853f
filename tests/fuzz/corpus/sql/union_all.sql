-- Branches meet in the sink, or in the WHERE behind them; their columns take one type.
CREATE TABLE a (id int, v numeric, extra text);
CREATE TABLE b (id bigint, v int, extra text);
CREATE TABLE out (id numeric, v double precision);
CREATE TABLE filtered (id bigint) WITH (topic = 'filtered');
INSERT INTO out
SELECT id, v FROM a UNION ALL SELECT id, v FROM b UNION ALL (SELECT 7, NULL FROM a WHERE v > 1);
INSERT INTO filtered
SELECT u.id FROM (SELECT id, extra FROM a UNION ALL SELECT id, 'none' FROM b) u
WHERE u.extra <> '';
