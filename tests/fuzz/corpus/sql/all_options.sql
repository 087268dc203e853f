-- Options may be strings, numbers and bare words; `end` needs no quotes as an option.
CREATE TABLE source (at timestamptz, device text, "Value" numeric(8, 2)) WITH (
    connector = kafka, topic = 'in.topic_1', format = json, event_time = 'at',
    watermark_delay = '4 seconds', idle_timeout = '00:01:00', event_time_max_ahead = '1 hour',
    close_after = '1 min', start = '2024-05-01 12:00:00+00', end = 1714651200000,
    timestamp_unit = 'us', on_error = 'dead_letter', on_error_max_ratio = 0.25,
    dead_letter_topic = 'in.dead', on_missing = 'continue', partitions = 4, replicas = 1);
CREATE TABLE sink (device text, value numeric(8, 2)) WITH (
    topic = 'out', key = 'device', key_format = 'raw', timestamp = 'now', partitions = 8);
INSERT INTO sink SELECT device, "Value" FROM source;
