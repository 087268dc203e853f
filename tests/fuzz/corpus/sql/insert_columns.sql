-- Columns by name in any order; those that are left out are NULL.
CREATE TABLE t (a int, b text);
CREATE TABLE out (k bigint, v text, w jsonb, "When" timestamptz);
INSERT INTO out (v, k) SELECT b, a FROM t;
INSERT INTO out SELECT a FROM t WHERE b = 'short';
INSERT INTO out ("When", k) SELECT '2024-05-01 12:00:00+02', 42 FROM t;
