-- A view is written out where it is named; what two INSERTs have in common is one operator.
CREATE TABLE t (a int, b text, c boolean);
CREATE VIEW ok AS SELECT a, b FROM t WHERE c;
CREATE VIEW named (number, label) AS SELECT a, lower(b) FROM ok;
CREATE TABLE one (n int, l text);
CREATE TABLE two (n int);
INSERT INTO one SELECT * FROM named;
INSERT INTO two SELECT number FROM named v WHERE v.number > 3;
