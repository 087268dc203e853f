-- Rows that are asked for twice come twice: equal branches and equal INSERTs are not made one.
CREATE TABLE t (a int);
CREATE TABLE out (a int);
INSERT INTO out SELECT a FROM t UNION ALL SELECT a FROM t;
INSERT INTO out SELECT a FROM t;
