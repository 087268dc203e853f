-- Keyed tables: read as changes, written as upserts.
CREATE TABLE c (id int, country text, name text NOT NULL, unused text,
    loud text GENERATED ALWAYS AS (upper(name)) STORED,
    PRIMARY KEY (country, id)) WITH (start = 'earliest');
CREATE TABLE e (id int, country text, v int);

-- The same key, passed on.
CREATE TABLE o1 (a text, b int, loud text, PRIMARY KEY (b, a));
INSERT INTO o1 SELECT country, id, loud FROM c WHERE name > '';

-- A group over a table that changes.
CREATE TABLE o2 (country text PRIMARY KEY, n bigint, longest int) WITH (repartition = 'refuse');
INSERT INTO o2 SELECT country, count(*), max(length(name)) FROM c GROUP BY country;

-- Rows of a stream as upserts: each goes to the task that owns its key.
CREATE TABLE o3 (country text, id int CHECK (id > 0), v int, PRIMARY KEY (id));
INSERT INTO o3 SELECT country, id, v FROM e UNION ALL SELECT country, id, 2 * v FROM e;
