-- All constraints of a table that is written hold, behind the assignment casts.
CREATE TABLE t (a bigint, b text, c numeric);
CREATE TABLE out (
    id int NOT NULL,
    name varchar(5),
    amount numeric(6, 2) CHECK (amount >= 0),
    double_amount numeric GENERATED ALWAYS AS (amount * 2) STORED CHECK (double_amount < 1000),
    CHECK (id > 0 OR name IS NULL),
    CHECK (amount <> 13)
);
INSERT INTO out (amount, id, name) SELECT c, a, b FROM t;
INSERT INTO out (id) SELECT a FROM t WHERE b IS NULL;
