-- Generated columns of what is read: only those that a query names are computed.
CREATE TABLE lines (
    line bytea,
    topic_name text GENERATED ALWAYS AS (kafka_topic()) STORED,
    part int GENERATED ALWAYS AS (kafka_partition()) STORED,
    "offset" bigint GENERATED ALWAYS AS (kafka_offset()) STORED,
    at timestamptz GENERATED ALWAYS AS (kafka_timestamp()) STORED,
    key bytea GENERATED ALWAYS AS (kafka_key()) STORED,
    trace bytea GENERATED ALWAYS AS (kafka_header('trace')) STORED
) WITH (format = 'raw');
CREATE TABLE positions (part int, "offset" bigint, trace bytea);
INSERT INTO positions SELECT part, "offset", trace FROM lines WHERE part < 3;
