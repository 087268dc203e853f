CREATE TABLE t (a int, b text, c numeric(10, 2));
CREATE TABLE copy WITH (topic = 'copy', key = 'a') AS
SELECT a1 AS a, b AS "B", c * 2 AS c2, 'x' AS tag, NULL AS nothing, a2::bigint FROM
    (SELECT a AS a1, * FROM t) s (a1, a2);
