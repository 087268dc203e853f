-- WITH in front of INSERT and of SELECT; names shadow tables; later ones see earlier ones.
CREATE TABLE t (a int, b text);
CREATE TABLE out (x int, y text);
WITH big AS (SELECT * FROM t WHERE a > 100), t AS (SELECT a - 100 AS a, b FROM big)
INSERT INTO out
WITH renamed (x, y) AS MATERIALIZED (SELECT a, b FROM t)
SELECT x, upper(y) FROM renamed WHERE x <> 7;
