-- A constraint of a table that is read holds for the columns that are read: NOT NULL of `unread` and
-- the CHECK on it do not; the CHECK on a and b also reads b.
CREATE TABLE t (
    a int NOT NULL CHECK (a > 0),
    b int,
    unread int NOT NULL CHECK (unread < 5),
    sum int GENERATED ALWAYS AS (a + 1) STORED NOT NULL,
    CONSTRAINT ordered CHECK (a < b),
    CHECK (sum > 2)
);
CREATE TABLE out (a int);
INSERT INTO out SELECT a FROM t;
