-- Nothing of the message is looked at but that it is one.
CREATE TABLE t (a int, b text);
CREATE TABLE ones (one int);
INSERT INTO ones SELECT 1 FROM t;
