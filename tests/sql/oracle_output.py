#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks PostgreSQL 15 what messages of every type leave as, and writes the answers down.

Where: psql's own environment (PGHOST, PGUSER, …) names a server with encoding UTF8 and collation C.
tests/integration/fixtures/output_types.tsv holds a message a line: what comes in, a tab, and what
json_to_record and row_to_json make of it with TimeZone = 'UTC'. The left sides are kept, the right
ones made anew. test_output.c sends the left sides through weir. The columns are those of its job.
"""
import pathlib
import subprocess

PATH = pathlib.Path(__file__).parent.parent / "integration" / "fixtures" / "output_types.tsv"

SQL = """
SET client_min_messages = error;
SET timezone = 'UTC';
CREATE TYPE pg_temp.inner_pair AS (a int, b text);
CREATE TYPE pg_temp.pair AS (x numeric(6,2), p pg_temp.inner_pair, ok boolean);
CREATE TEMP TABLE messages (id serial, line json);
COPY messages (line) FROM STDIN (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02');
%s\\.
SELECT row_to_json(r) FROM (
    SELECT q.* FROM messages, json_to_record(line) AS q(
        b boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, nu numeric,
        n2 numeric(12,2), t text, vc varchar(5), by bytea, d date, ts timestamp, tz timestamptz,
        jb jsonb, c pg_temp.pair) ORDER BY id) r;
"""


def main():
    messages = [line.split("\t")[0] for line in PATH.read_text().rstrip("\n").split("\n")]
    script = SQL % "".join(message + "\n" for message in messages)
    answer = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], check=True,
                            input=script, stdout=subprocess.PIPE, encoding="utf-8").stdout
    rows = answer.rstrip("\n").split("\n")
    assert len(rows) == len(messages), f"{len(rows)} rows of {len(messages)} messages"
    PATH.write_text("".join(f"{message}\t{row}\n" for message, row in zip(messages, rows)))


if __name__ == "__main__":
    main()
