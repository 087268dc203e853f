-- Columns pass through subqueries; what is computed twice outside stays a step of its own, what is
-- used once is put in; what nobody uses is not computed.
CREATE TABLE t (a int, b int, c text);
CREATE TABLE once (x int, y text);
CREATE TABLE twice (x int, y int);
INSERT INTO once
SELECT s.twice_a + 1, s.c FROM (SELECT a * 2 AS twice_a, b / 0 AS never, c FROM t) s;
INSERT INTO twice
SELECT s.p + 1, s.p + 2 FROM (SELECT a * b AS p, c || 'x' AS never FROM t WHERE a > 0) AS s
WHERE s.p < 100;
