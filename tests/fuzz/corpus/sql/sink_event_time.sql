-- One definition serves the job that writes the topic as well as those that read it.
CREATE TABLE t (a int, at timestamptz) WITH (event_time = 'at');
CREATE TABLE out (a int, at timestamptz) WITH (event_time = 'at', watermark_delay = '1 s');
INSERT INTO out TABLE t;
SET weir.state_ttl = '1 day';
SET weir.state_ttl TO 'infinity';
