#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks PostgreSQL 15 what values, texts and results are, and writes the answers down as fixtures.

Where: psql's own environment (PGHOST, PGUSER, …) names a server with encoding UTF8 and collation C.
The answers go to tests/unit/runtime/fixtures/types_*.tsv, which test_types_oracle.c reads, or with
--out to any other folder: `unit_runtime_test_types_oracle FILE…` compares such files too.

    oracle_types.py                     the checked-in fixtures
    oracle_types.py --count 50000 --seed 7 --out /some/folder    a wide search for differences

A line: operation, type, a, b, "=" or "!", result…; fields are separated by tabs, and within them
tab, line feed, carriage return and backslash are written \\t, \\n, \\r, \\\\.
"""

import argparse
import json
import os
import pathlib
import random
import struct
import subprocess

import oracle_more

FUNCTION = r"""
SET client_min_messages = error;
SET timezone = 'UTC';
CREATE TYPE pg_temp.pair AS (a integer, b text);
CREATE TYPE pg_temp.mixed AS (n numeric, t text, d date, p pg_temp.pair, f double precision);
CREATE FUNCTION pg_temp.oracle(op text, t text, a text, b text) RETURNS text[] AS $body$
DECLARE
  r text[];
  one text;
BEGIN
  IF op = 'in' AND t LIKE '%(%' AND t NOT LIKE '%]' THEN
    EXECUTE format('SELECT array[format(''%%s'', x), to_json(x)::text] '
                   'FROM json_to_record(json_build_object(''x'', %L::text)) AS q(x %s)', a, t) INTO r;
  ELSIF op = 'in' THEN
    EXECUTE format('SELECT array[format(''%%s'', x), to_json(x)::text] FROM (SELECT %L::%s AS x) q', a, t)
      INTO r;
  ELSIF op = 'cmp' THEN
    EXECUTE format('SELECT CASE WHEN x < y THEN ''-1'' WHEN x > y THEN ''1'' WHEN x = y THEN ''0'' '
                   'END FROM (SELECT %L::%s AS x, %L::%s AS y) q', a, t, b, t) INTO one;
    r := array[one];
  ELSIF op = 'expr' THEN
    EXECUTE replace(replace('SELECT (' || t || ')::text', '$a', quote_literal(a)),
                    '$b', quote_literal(b)) INTO one;
    r := array[coalesce(one, 'NULL')];
  END IF;
  RETURN array['='] || r;
EXCEPTION WHEN OTHERS THEN
  RETURN array['!', SQLERRM];
END
$body$ LANGUAGE plpgsql;
CREATE TEMP TABLE requests (id serial, line json);
"""


def ask(requests):
    """requests: (op, type, a, b). Returns the answers in order."""
    lines = [FUNCTION, "COPY requests (line) FROM STDIN;\n"]
    for request in requests:
        text = json.dumps(request).replace("\\", "\\\\")
        lines.append(text + "\n")
    lines.append("\\.\n")
    lines.append(
        "COPY (SELECT to_json(pg_temp.oracle(line->>0, line->>1, line->>2, line->>3)) "
        "FROM requests ORDER BY id) TO STDOUT;\n"
    )
    out = subprocess.run(
        ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-"],
        input="".join(lines), capture_output=True, text=True, check=False,
    )
    if out.returncode != 0:
        raise SystemExit(out.stderr)
    answers = [json.loads(unescape_copy(line)) for line in out.stdout.split("\n") if line]
    assert len(answers) == len(requests), (len(answers), len(requests))
    return answers


def unescape_copy(line):
    return line.replace("\\\\", "\\")


def escape(field):
    return (field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
            .replace("\r", "\\r"))


class Maker(oracle_more.MoreTexts):
    def __init__(self, seed):
        self.r = random.Random(seed)

    def digits(self, n_max):
        r = self.r
        n = r.randint(1, n_max)
        kind = r.random()
        if kind < 0.15:
            return "0" * n
        if kind < 0.3:
            return "9" * n
        if kind < 0.45:
            return str(r.randint(1, 9)) + "0" * (n - 1)
        return "".join(r.choice("0123456789") for _ in range(n))

    def mutate(self, text, alphabet):
        r = self.r
        for _ in range(r.randint(1, 2)):
            i = r.randint(0, len(text))
            kind = r.random()
            if kind < 0.35:
                text = text[:i] + r.choice(alphabet) + text[i:]
            elif kind < 0.7:
                text = text[:i] + text[i + 1:]
            else:
                text = text[:i] + r.choice(alphabet) + text[i + 1:]
        return text

    def maybe_mutate(self, text, alphabet, share=0.2):
        return self.mutate(text, alphabet) if self.r.random() < share else text

    # --- integers and booleans

    def integer(self, bits):
        r = self.r
        kind = r.random()
        if kind < 0.3:
            n = (1 << (bits - 1)) * r.choice([1, -1]) + r.randint(-3, 3)
        elif kind < 0.7:
            n = r.randint(-(1 << r.randint(1, bits)), 1 << r.randint(1, bits))
        else:
            n = r.choice([0, 1, -1, 9, 10, 99, 100, 10 ** r.randint(1, 20)])
        text = str(n)
        if r.random() < 0.2:
            text = r.choice([" ", "\t", "\n ", "+", "00", "", "0x"]) + text + r.choice(["", " ", " \t"])
        return self.maybe_mutate(text, "0123456789+- .eEx", 0.15)

    def boolean(self):
        r = self.r
        word = r.choice(["true", "false", "yes", "no", "on", "off", "1", "0", "t", "f", "y", "n", "o",
                         "tr", "of", "TRUE", "False", " yes ", "10", "", "truee", "null"])
        return self.maybe_mutate(word, "truefalsyno 01\t", 0.2)

    # --- floats

    def double(self):
        r = self.r
        kind = r.random()
        if kind < 0.25:
            value = struct.unpack("<d", struct.pack("<Q", r.getrandbits(64)))[0]
            text = repr(value)
        elif kind < 0.4:  # a power of two and its neighbours
            bits = (r.randint(0, 2046) << 52) + r.choice([-1, 0, 0, 0, 1, 2])
            value = struct.unpack("<d", struct.pack("<Q", max(bits, 0)))[0]
            text = "%.17g" % value
        elif kind < 0.5:
            text = "%s%de%d" % (r.choice(["", "-"]), r.randint(1, 99), r.randint(-330, 310))
        elif kind < 0.7:
            text = "%s%s.%s" % (r.choice(["", "-", "+"]), self.digits(10), self.digits(12))
            if r.random() < 0.3:
                text += "%s%s%d" % (r.choice("eE"), r.choice(["", "+", "-"]), r.randint(0, 40))
        elif kind < 0.8:
            text = str(r.randint(-10 ** r.randint(1, 25), 10 ** r.randint(1, 25)))
        elif kind < 0.9:
            text = r.choice(["NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "+inf", "0", "-0",
                             "1e400", "-1e400", "1e-400", "4.9e-324", "2e-324", "2.5e-324",
                             "1.7976931348623157e308", "1.7976931348623159e308", "0x1p3", "1e23",
                             "9007199254740993", "123456789012345", "999999999999999.9",
                             "1000000000000000", "0.0001", "0.00001", "1e15", "1e14", " 1 ", "", ".5",
                             "5.", ".", "1e", "1e+", "infinityx", "-nan", "iNfInItY"])
        else:
            bits = r.getrandbits(52) >> r.randint(0, 51)  # denormal
            text = "%.17g" % struct.unpack("<d", struct.pack("<Q", bits))[0]
        return self.maybe_mutate(text, "0123456789+-.eE ", 0.1)

    def real(self):
        r = self.r
        kind = r.random()
        if kind < 0.4:
            value = struct.unpack("<f", struct.pack("<I", r.getrandbits(32)))[0]
            text = "%.9g" % value
        elif kind < 0.6:
            bits = (r.randint(0, 254) << 23) + r.choice([-1, 0, 0, 0, 1, 2])
            text = "%.9g" % struct.unpack("<f", struct.pack("<I", max(bits, 0)))[0]
        elif kind < 0.7:
            text = "%.9g" % struct.unpack("<f", struct.pack("<I", r.getrandbits(23) >> r.randint(0, 22)))[0]
        elif kind < 0.8:
            text = r.choice(["16777216", "16777217", "1e39", "1e-46", "3.4028235e38", "3.4028236e38",
                             "1.4e-45", "7e-46", "NaN", "-Infinity", "-0", "100000", "1000000",
                             "999999", "1234567", "0.0001", "0.00001"])
        else:
            return self.double()
        return self.maybe_mutate(text, "0123456789+-.eE ", 0.1)

    # --- numerics

    def numeric(self, n_max=25):
        r = self.r
        kind = r.random()
        if kind < 0.08:
            return r.choice(["NaN", "nan", "Infinity", "-Infinity", "inf", "+inf", "-inf", "0", "0.0",
                             "-0.00", "0.000000000000000000000", "1e0"])
        text = r.choice(["", "", "-", "+"]) if kind < 0.9 else ""
        text += self.digits(r.choice([1, 2, 4, 8, n_max]))
        if r.random() < 0.6:
            text += "." + self.digits(r.choice([1, 2, 4, 8, n_max]))
        if r.random() < 0.12:
            text += "%s%s%d" % (r.choice("eE"), r.choice(["", "+", "-"]),
                                r.choice([0, 1, 2, 5, 10, 20, 30, 100]))
        return text

    def numeric_text(self):
        r = self.r
        if r.random() < 0.15:
            return r.choice([".5", "5.", ".", "-", "", " ", " 1.5 ", "1e", "1e+", "1 e5", "1e 5", "1..2",
                             "1.2.3", "--1", "1e5.5", "0x10", "1_000", "1,5", "infinit", "nanx", "NaN ",
                             "1e131071", "1e131072", "1e-16383", "1e-16384", "0e-16384", "0e200000",
                             "1e2000000000", "1e-2000000000", "1e99999999999999999999", "-.5e-3",
                             "0.1e131072", "10e131071"])
        return self.maybe_mutate(self.numeric(), "0123456789+-.eE ", 0.12)

    # --- text and bytes

    def text(self):
        r = self.r
        alphabet = r.choice(["abc ", 'ab"\\/', "é€𝄞a", "\b\f\n\r\t\x01\x1f\x7f a", "0123456789",
                             '(),"\\ a', "\u2028\u00ff"])
        return "".join(r.choice(alphabet) for _ in range(r.choice([0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 40])))

    def bytea(self):
        r = self.r
        kind = r.random()
        if kind < 0.5:
            text = "\\x" + "".join("%02x" % r.getrandbits(8) for _ in range(r.randint(0, 12)))
            if r.random() < 0.3:
                text = text[:2] + text[2:].upper()
            return self.maybe_mutate(text, "0123456789abcdefABCDEFgx \n\t", 0.3)
        text = "".join(r.choice(["a", "é", "\\\\", "\\001", "\\377", "\\000", " ", "\\141"])
                       for _ in range(r.randint(0, 8)))
        return self.maybe_mutate(text, "01234567\\ab", 0.3)

    # --- dates

    MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
              "January", "February", "March", "April", "June", "July", "August", "Sept", "September",
              "October", "November", "December"]

    def year(self):
        r = self.r
        kind = r.random()
        if kind < 0.7:
            return "%04d" % r.randint(1900, 2100)
        return r.choice(["%04d" % r.randint(0, 9999), "%d" % r.randint(0, 300000), "%02d" % r.randint(0, 99),
                         "294276", "294277", "4713", "4714", "5874897", "5874898", "0001", "0000", "10000",
                         "70", "69", "100"])

    def date_text(self):
        r = self.r
        y, m, d = self.year(), r.choice([r.randint(1, 12), r.randint(0, 14)]), r.choice(
            [r.randint(1, 28), r.randint(28, 33), 29])
        name = r.choice(self.MONTHS)
        return r.choice([
            "%s-%02d-%02d" % (y, m, d), "%s-%02d-%02d" % (y, m, d), "%s-%02d-%02d" % (y, m, d),
            "%s-%d-%d" % (y, m, d), "%s/%d/%d" % (y, m, d), "%d/%d/%s" % (m, d, y), "%d-%d-%s" % (m, d, y),
            "%d.%d.%s" % (m, d, y), "%s%02d%02d" % (y, m, d), "%s %d, %s" % (name, d, y),
            "%d %s %s" % (d, name, y), "%s-%s-%d" % (y, name, d), "%d-%s-%s" % (d, name, y),
            "%s %s %d" % (y, name, d), "%s-%d" % (y, m), "%s.%03d" % (y, r.randint(0, 370)),
            "%s %03d" % (y, r.randint(0, 370)), "J%d" % r.choice([0, 1, 2451187, r.randint(0, 3000000)]),
            "%s %s %d %s" % (r.choice(["Mon", "tuesday", "Sat"]), name, d, y), "y%s m%d d%d" % (y, m, d),
            "%s%02d%02d" % (y[-2:], m, d), "%s-%s" % (y, name), "j 2451187.%s" % self.digits(4),
        ])

    def time_text(self):
        r = self.r
        h = r.choice([r.randint(0, 23), r.randint(0, 26)])
        m = r.choice([r.randint(0, 59), r.randint(0, 61)])
        s = r.choice([r.randint(0, 59), r.randint(0, 61)])
        fraction = r.choice(["", "", ".%s" % self.digits(6), ".%s" % self.digits(12), ".9999999", ".0000005",
                             ".0000015", ".5", "."])
        return r.choice([
            "%02d:%02d:%02d%s" % (h, m, s, fraction), "%02d:%02d:%02d%s" % (h, m, s, fraction),
            "%02d:%02d:%02d%s" % (h, m, s, fraction), "%02d:%02d" % (h, m), "%d:%d" % (h, m),
            "%02d%02d%02d%s" % (h, m, s, fraction), "%02d%02d" % (h, m),
            "%d:%02d:%02d %s" % (h, m, s, r.choice(["AM", "PM", "am", "pm"])), "24:00:00", "23:59:60",
            "%02d:%02d%s" % (m, s, fraction), "24:00:00.1", "allballs", "%02d:%02d:%02d" % (h, m, s),
        ])

    def zone_text(self):
        r = self.r
        return r.choice([
            "", "", "", "Z", "z", " UTC", " utc", " GMT", "+00", "-00", "+02", "-08", "+05:30",
            "+0530", "-0330",
            "+14", "+15:59", "+15:59:59", "+16", "-15:59:59", "+1", "+01:00:30", " +02", "+2:3", " zulu",
            "+05:60", "+5:30:60", "-00:30",
        ])

    def timestamp_text(self):
        r = self.r
        kind = r.random()
        if kind < 0.05:
            return r.choice(["infinity", "-infinity", "Infinity", "epoch", " epoch ", "+infinity", "inf",
                             "infinity BC", "", " ", "epoch 10:00", "t", "1", "12", "123", "1234", "12345",
                             "123456", "1234567", "12345678", "20250102T000000Z", "20250102T000000-08",
                             "20250102 000000", "20250102000000", "2025-01-02T00:00:00,5Z", "10:00",
                             "4714-11-23 23:59:59.999999 BC", "4714-11-24 00:00:00 BC",
                             "4714-11-24 00:00:00+01 BC", "294276-12-31 23:59:59.999999",
                             "294276-12-31 23:59:59.9999999", "294276-12-31 23:59:59-01",
                             "2025-03-04T05:06:07.123456789+02:00", "2025-03-04T05:06:07.9999999Z",
                             "2025-03-04T05:06:07+0530", "2024-12-31 23:59:60", "2025-01-02 24:00:00",
                             "2025-02-29"])
        text = self.date_text()
        if kind < 0.9:
            text += r.choice([" ", " ", "T", "t", "  ", " at ", ":", ", "]) + self.time_text()
            text += (" " if text[-1].isalpha() else "") + self.zone_text()
        if r.random() < 0.1:
            text += r.choice([" BC", " AD", " bc"])
        if r.random() < 0.05:
            text = " " + text + " "
        return self.maybe_mutate(text, "0123456789:-+/. TZtz,jy\n", 0.15)

    # --- json

    def json_value(self, depth):
        r = self.r
        kind = r.random()
        if depth > 0 and kind < 0.25:
            return "[" + r.choice([",", ", ", " ,\n"]).join(
                self.json_value(depth - 1) for _ in range(r.randint(0, 4))) + "]"
        if depth > 0 and kind < 0.55:
            keys = [r.choice(['"a"', '"b"', '"aa"', '"ab"', '"\\u0061"', '"é"', '""', '"B"', '"a\\n"',
                              '"abc"', '"\\""', '"z"']) for _ in range(r.randint(0, 5))]
            return "{" + ",".join("%s:%s%s" % (k, r.choice(["", " "]), self.json_value(depth - 1))
                                  for k in keys) + "}"
        if kind < 0.75:
            return r.choice(["0", "-0", "1", "1.0", "1.50", "-0.00", "1e3", "1E-3", "12.5e2", "-1e-2",
                             "123456789012345678901234567890", "0.1e1", "-12", "10", "2", "100e-2", "01",
                             "1.", ".5", "+1", "1e400", "0e5", "-0e-3", "1.10"])
        if kind < 0.9:
            return '"' + "".join(r.choice(["a", "b", "\\n", "\\u00e9", "é", "\\ud834\\udd1e", "\\/", "\\\\",
                                           '\\"', "\\u0001", "\x7f", "𝄞", "\\b", "\\f", " ", "\\u001f"])
                                 for _ in range(r.randint(0, 5))) + '"'
        return r.choice(["true", "false", "null", "[]", "{}"])

    def json_text(self):
        r = self.r
        if r.random() < 0.06:
            return r.choice(["", " ", "nul", '"\\u0000"', '"\\ud834"', '"\\udd1e"', '{"a":1,}', "[1,]",
                             "[1 2]",
                             '{"a" 1}', "{1:2}", '"a', "\t[ ]\r\n", '{"\\u0000":1}', '"\n"', "'a'", "NaN",
                             "Infinity", "1e131072", "1e-16384", "tru", "[[[]]]", '"\\x"',
                             '"\\u12g4"', "1 2"])
        return self.maybe_mutate(self.json_value(3), '0123456789"{}[],: \\aetu', 0.12)

    # --- composites

    def composite(self):
        r = self.r

        def field(text):
            if r.random() < 0.3 or any(c in text for c in '(),"\\ \t\n'):
                return '"' + text.replace("\\", "\\\\").replace('"', r.choice(['""', '\\"'])) + '"'
            return text

        pair = "(%s,%s)" % (r.choice(["", "1", "-5", "x"]), field(self.text()))
        text = "(%s,%s,%s,%s,%s)" % (
            r.choice(["", "1.50", "NaN", "1e3"]), field(self.text()),
            r.choice(["", "2025-01-02", '"2025-01-02"']), r.choice(["", field(pair)]),
            r.choice(["", "0.1", "1e23", "Infinity"]))
        return self.maybe_mutate(text, '(),"\\ a1', 0.15)


FIELDS = ["microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter",
          "year", "decade", "century", "millennium", "dow", "isodow", "doy", "isoyear", "epoch", "julian"]
TRUNCATING = FIELDS[:13]
MODIFIERS = ["(5,2)", "(10,2)", "(3,0)", "(12,4)", "(18,2)", "(38,18)", "(1000,10)", "(2,5)", "(5,-2)",
             "(3,-3)", "(1,1)", "(19,0)", "(20,10)"]
BINARY = ["$a::numeric + $b::numeric", "$a::numeric - $b::numeric", "$a::numeric * $b::numeric",
          "$a::numeric / $b::numeric", "$a::numeric % $b::numeric", "div($a::numeric, $b::numeric)"]
UNARY = ["- $a::numeric", "abs($a::numeric)", "ceil($a::numeric)", "floor($a::numeric)",
         "$a::numeric::smallint", "$a::numeric::integer", "$a::numeric::bigint",
         "$a::numeric::double precision", "$a::numeric::real", "trim_scale($a::numeric)",
         "sign($a::numeric)"]
ROUNDING = ["round($a::numeric, $b::integer)", "trunc($a::numeric, $b::integer)"]


def make(maker, count):
    """name of fixture -> requests"""
    r = maker.r
    sets = {}

    def each(share, function):
        return [function() for _ in range(max(1, int(count * share)))]

    sets["scalar"] = (
        each(0.5, lambda: ("in", "smallint", maker.integer(16), ""))
        + each(0.5, lambda: ("in", "integer", maker.integer(32), ""))
        + each(0.7, lambda: ("in", "bigint", maker.integer(64), ""))
        + each(0.3, lambda: ("in", "boolean", maker.boolean(), ""))
        + each(0.5, lambda: ("in", "text", maker.text(), ""))
        + each(0.4, lambda: ("in", "varchar(3)", maker.text(), ""))
        + each(0.5, lambda: ("in", "bytea", maker.bytea(), ""))
        + each(0.2, lambda: ("cmp", "text", maker.text(), maker.text()))
        + each(0.4, lambda: ("in", "pg_temp.mixed", maker.composite(), ""))
    )
    sets["float"] = (
        each(2.0, lambda: ("in", "double precision", maker.double(), ""))
        + each(1.5, lambda: ("in", "real", maker.real(), ""))
        + each(0.2, lambda: ("cmp", "double precision", maker.double(), maker.double()))
        + each(0.3, lambda: ("expr", "$a::double precision::numeric", maker.double(), ""))
        + each(0.2, lambda: ("expr", "$a::real::numeric", maker.real(), ""))
    )
    sets["numeric"] = (
        each(1.0, lambda: ("in", "numeric", maker.numeric_text(), ""))
        + each(1.0, lambda: ("in", "numeric" + r.choice(MODIFIERS), maker.numeric_text(), ""))
        + each(0.5, lambda: ("cmp", "numeric", maker.numeric(), maker.numeric()))
        + each(1.5, lambda: ("expr", r.choice(BINARY), maker.numeric(), maker.numeric()))
        + each(0.4, lambda: ("expr", r.choice(BINARY), maker.numeric(90), maker.numeric(90)))
        + each(0.7, lambda: ("expr", r.choice(UNARY), maker.numeric(), ""))
        + each(0.5, lambda: ("expr", r.choice(ROUNDING), maker.numeric(),
                             str(r.choice([0, 1, 2, 5, -1, -2, -5, 20, 30, r.randint(-30, 50)]))))
    )

    def time_field(fields, kind, source):
        return ("expr", "%s('%s', $a::%s)" % (kind, r.choice(fields), source), maker.timestamp_text(), "")

    sets["datetime"] = (
        each(0.8, lambda: ("in", "date", maker.timestamp_text(), ""))
        + each(1.2, lambda: ("in", "timestamp", maker.timestamp_text(), ""))
        + each(1.2, lambda: ("in", "timestamptz", maker.timestamp_text(), ""))
    )
    sets["datetime_field"] = (
        each(0.7, lambda: ("expr", "extract(%s from $a::timestamptz)" % r.choice(FIELDS),
                           maker.timestamp_text(), ""))
        + each(0.3, lambda: ("expr", "extract(%s from $a::date)" % r.choice(FIELDS[5:]),
                             maker.timestamp_text(), ""))
        + each(0.7, lambda: time_field(TRUNCATING, "date_trunc", "timestamp"))
        + each(0.4, lambda: ("expr", "$a::timestamp + $b::interval", maker.timestamp_text(),
                             "%d months %d days %d microseconds" % (
                                 r.randint(-30, 30), r.randint(-400, 400), r.randint(-10 ** 12, 10 ** 12))))
        + each(0.1, lambda: ("expr", "$a::timestamp + $b::interval", maker.timestamp_text(),
                             "%d months %d days %d microseconds" % (
                                 r.randint(-2 ** 31, 2 ** 31 - 1), r.randint(-2 ** 31, 2 ** 31 - 1), 0)))
        + each(0.2, lambda: ("expr", "$a::timestamp::date", maker.timestamp_text(), ""))
        + each(0.2, lambda: ("expr", "$a::date::timestamp", maker.timestamp_text(), ""))
    )
    sets["jsonb"] = (
        each(1.5, lambda: ("in", "jsonb", maker.json_text(), ""))
        + each(1.0, lambda: ("cmp", "jsonb", maker.json_value(2), maker.json_value(2)))
        + each(0.5, lambda: ("cmp", "jsonb", maker.json_value(1), maker.json_value(1)))
    )

    sets.update(oracle_more.make(maker, each, FIELDS))
    return sets


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--count", type=int, default=350)
    parser.add_argument("--seed", type=int, default=20250304)
    parser.add_argument("--out", default=str(here.parent / "unit" / "runtime" / "fixtures"))
    args = parser.parse_args()
    for name, requests in make(Maker(args.seed), args.count).items():
        requests = [q for q in dict.fromkeys(requests) if all("\0" not in field for field in q)]
        answers = ask(requests)
        path = os.path.join(args.out, "types_%s.tsv" % name)
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            for request, answer in zip(requests, answers):
                if sum(len(field) for field in answer) > 3000 and args.count < 2000:
                    continue  # keeps the checked-in files small
                out.write("\t".join(escape(field) for field in (*request, *answer)) + "\n")
        print(path, len(requests))


if __name__ == "__main__":
    main()
