-- Names fold to lower case unless they are quoted.
CREATE TABLE Flights ("dateTime" timestamp, Carrier TEXT, "user" text, "größe" int, "a ""b""" int)
    WITH (topic = 'flights');
CREATE TABLE OUT (d timestamp, c text, u text, g int, q int) WITH (topic = 'out');
INSERT INTO out
SELECT F."dateTime", f.CARRIER AS "C", "user", "größe", "a ""b""" FROM flights AS F;
