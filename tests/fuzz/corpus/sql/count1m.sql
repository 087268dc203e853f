-- Events by key, over a million keys: every epoch sends each key that it changed.
CREATE TABLE events (k bigint, v bigint, pad text)
    WITH (connector = 'kafka', topic = 'nexmark', format = 'json');

CREATE TABLE result (k bigint PRIMARY KEY, n bigint)
    WITH (connector = 'kafka', topic = 'result', format = 'json');

INSERT INTO result SELECT k, count(*) FROM events GROUP BY k;
