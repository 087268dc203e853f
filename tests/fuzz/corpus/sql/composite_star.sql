-- (column).* gives the fields; a composite used as a whole is decoded as a whole.
CREATE TYPE bid AS (auction bigint, bidder bigint, price bigint);
CREATE TABLE events (kind int, bid bid);
CREATE TABLE bids (auction bigint, bidder bigint, price bigint);
CREATE TABLE copies (kind int, bid bid) WITH (topic = 'copies');
INSERT INTO bids SELECT (bid).* FROM events WHERE kind = 2;
INSERT INTO copies SELECT * FROM events WHERE bid IS NOT NULL;
