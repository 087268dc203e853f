#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes expressions.txt and overloads.txt for test_expr_fixture.c: asks a PostgreSQL 15 what it
gives for the cases of cases.txt and for random expressions.

    make_expressions.py [--seed N] [--count N] [--out DIR] psql [arguments of psql]

The server must be one that can be thrown away (it gets a table and functions), with encoding UTF8,
collation C.UTF-8 and TimeZone UTC. Format: see test_expr_fixture.c.
"""
import argparse
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

COLUMNS = [
    ("b", "boolean"), ("c", "boolean"),
    ("i2", "smallint"), ("j2", "smallint"),
    ("i4", "integer"), ("j4", "integer"),
    ("i8", "bigint"), ("j8", "bigint"),
    ("f4", "real"), ("g4", "real"),
    ("f8", "double precision"), ("g8", "double precision"),
    ("n", "numeric"), ("m", "numeric"),
    ("s", "text"), ("u", "text"),
    ("v", "varchar"),
    ("y", "bytea"), ("z", "bytea"),
    ("d", "date"), ("e", "date"),
    ("ts", "timestamp"), ("tt", "timestamp"),
    ("tz", "timestamptz"), ("tu", "timestamptz"),
    ("js", "jsonb"),
]

VALUES = {
    "boolean": ["t", "f", None],
    "smallint": ["0", "1", "-1", "2", "7", "-7", "100", "32767", "-32768", None],
    "integer": ["0", "1", "-1", "2", "3", "10", "123", "-250", "65536", "2147483647",
                "-2147483648", None],
    "bigint": ["0", "1", "-1", "5", "-9", "1000", "123456789012", "9007199254740993",
               "9223372036854775807", "-9223372036854775808", None],
    "real": ["0", "-0", "1", "-1.5", "0.1", "2.5", "3.5", "16777217", "1e30", "3.4e38", "1e-40",
             "NaN", "Infinity", "-Infinity", None],
    "double precision": ["0", "-0", "1", "-1.5", "0.1", "0.5", "1.5", "2.5", "-2.5", "4.5", "1e15",
                         "123456.789", "1e300", "1.7e308", "5e-324", "NaN", "Infinity",
                         "-Infinity", None],
    "numeric": ["0", "0.00", "1", "-1", "0.5", "-0.5", "2.5", "-2.5", "2.345", "3", "0.908",
                "100.10", "-99.999", "12345678901234567890.123456789", "0.000000000000000001",
                "999999999999999999", "1000000000000000000", "9223372036854775808", "NaN",
                "Infinity", None],
    "text": ["", "a", "A", "abc", "abcd", "row_id", "rowXid", "5%off", "a\\b", "  padded ",
             "Zoë", "ÀÉÎ straße", "猫犬鳥", "x😀y", "o\u0308", "one,two,,four", "12", "-7.50",
             "true", "2024-02-29", "hello world-wide web", "line\nbreak", "tab\tbed", None],
    "varchar": ["", "abc", "Hello", "ß", "a_b", "42", None],
    "bytea": ["\\x", "\\x00", "\\x01ff", "\\x616263", "\\xdeadbeef", None],
    "date": ["2000-01-01", "1999-12-31", "2024-02-29", "1970-01-01", "0044-03-15 BC",
             "5874897-12-31", "4714-11-24 BC", "2013-07-04", "infinity", "-infinity", None],
    "timestamp": ["2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2024-02-29 12:34:56.789",
                  "1969-12-31 23:59:59.5", "0044-03-15 12:00:00 BC", "294276-12-31 23:59:59",
                  "2013-07-04 00:00:00", "infinity", "-infinity", None],
    "timestamptz": ["2000-01-01 00:00:00+00", "2001-09-09 01:46:40+00",
                    "2024-02-29 12:34:56.000001+00", "1969-07-20 20:17:40+00",
                    "2013-07-04 00:00:00+00", "infinity", "-infinity", None],
    "jsonb": ["null", "true", "1", "-2.50", "1e3", '"text"', '"with \\"quote\\" \\n and ë"', "[]",
              "{}", '[1, "two", null, [3], {"a": 4}]',
              '{"a": 1, "b": {"c": [1, 2]}, "key": "value", "long key": null, "ë": "ö"}', None],
}


# --- prefix form ------------------------------------------------------------------------------

def tokenize(text):
    at = 0
    while at < len(text):
        c = text[at]
        if c == " ":
            at += 1
        elif c in "()":
            yield c
            at += 1
        elif c == "'":
            end = at + 1
            while text[end] != "'" or text[end + 1:end + 2] == "'":
                end += 2 if text[end] == "'" else 1
            yield text[at:end + 1]
            at = end + 1
        elif c == '"':
            end = text.index('"', at + 1)
            yield text[at:end + 1]
            at = end + 1
        else:
            end = at
            while end < len(text) and text[end] not in " ()":
                end += 1
            yield text[at:end]
            at = end


def parse(tokens):
    token = next(tokens)
    if token != "(":
        return token
    items = []
    while True:
        item = parse(tokens)
        if item == ")":
            return items
        items.append(item)


TESTS = {"is-null": "IS NULL", "is-not-null": "IS NOT NULL", "is-true": "IS TRUE",
         "is-not-true": "IS NOT TRUE", "is-false": "IS FALSE", "is-not-false": "IS NOT FALSE"}


def sql_of(node):
    if isinstance(node, str):
        if node.startswith("$"):
            return node[1:]
        return f"({node})" if node.startswith("-") else node
    head = node[0]
    if head == "call":
        name, args = node[1].strip('"'), [sql_of(arg) for arg in node[2:]]
        if not name[0].isalpha():
            return f"({name} {args[0]})" if len(args) == 1 else f"({args[0]} {name} {args[1]})"
        return f'"{name}"({", ".join(args)})'
    if head == "cast":
        return f"CAST({sql_of(node[2])} AS {node[1].strip(chr(34))})"
    if head in ("any", "all"):
        return f"({sql_of(node[2])} {node[1]} {head.upper()} ({sql_of(node[3])}))"
    args = [sql_of(arg) for arg in node[1:]]
    if head in ("and", "or"):
        return f"({args[0]} {head.upper()} {args[1]})"
    if head == "not":
        return f"(NOT {args[0]})"
    if head in TESTS:
        return f"({args[0]} {TESTS[head]})"
    if head == "distinct":
        return f"({args[0]} IS DISTINCT FROM {args[1]})"
    if head == "same":
        return f"({args[0]} IS NOT DISTINCT FROM {args[1]})"
    if head == "case":
        text = "CASE"
        for i in range(0, len(args) - 1, 2):
            text += f" WHEN {args[i]} THEN {args[i + 1]}"
        return text + (f" ELSE {args[-1]}" if len(args) % 2 == 1 else "") + " END"
    if head in ("coalesce", "nullif", "greatest", "least"):
        return f"{head.upper()}({', '.join(args)})"
    if head == "array":
        return f"ARRAY[{', '.join(args)}]"
    if head == "at":
        return f"({args[0]})" + "".join(f"[{arg}]" for arg in args[1:])
    if head in ("in", "not-in"):
        return f"({args[0]} {'NOT ' if head == 'not-in' else ''}IN ({', '.join(args[1:])}))"
    raise ValueError(head)


def to_sql(prefix):
    return sql_of(parse(tokenize(prefix)))


# --- random expressions -----------------------------------------------------------------------

INTS = ["smallint", "integer", "bigint"]
FLOATS = ["real", "double precision"]
COMPARED = [(a, b) for a in INTS for b in INTS] + [(a, b) for a in FLOATS for b in FLOATS] + [
    ("numeric", "numeric"), ("numeric", "integer"), ("bigint", "numeric"),
    ("numeric", "double precision"), ("integer", "double precision"), ("text", "text"),
    ("varchar", "text"), ("varchar", "varchar"), ("bytea", "bytea"), ("boolean", "boolean"),
    ("date", "date"), ("date", "timestamp"), ("timestamp", "date"), ("date", "timestamptz"),
    ("timestamptz", "date"), ("timestamp", "timestamp"), ("timestamp", "timestamptz"),
    ("timestamptz", "timestamptz"), ("jsonb", "jsonb")]
PATTERNS = ["'a%'", "'%b'", "'%o%'", "'_'", "'a_c'", "'%\\_%'", "'row\\_id'", "'%'", "''", "'%%'",
            "'%a_%'", "'Z_ë'", "'__'", "'%\\'", "'abc\\'", "'5\\%%'", "'%w%w%'", "'_%_'"]
FIELDS = ("year month day quarter week dow isodow doy isoyear decade century millennium epoch"
          " julian").split()
CLOCK = ["hour", "minute", "second", "milliseconds", "microseconds"]
UNITS = CLOCK[::-1] + ["day", "week", "month", "quarter", "year", "decade", "century", "millennium"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, items):
        return self.random.choice(items)

    def column(self, kind):
        return "$" + self.pick([name for name, its_kind in COLUMNS if its_kind == kind])

    def literal(self, kind):
        value = self.pick([value for value in VALUES[kind] if value is not None])
        if kind == "integer" and value not in ("2147483647", "-2147483648"):
            return value
        if kind == "numeric" and value[0].isdigit() and "." in value:
            return value
        quoted = value.replace("'", "''")
        return f"(cast \"{kind}\" '{quoted}')"

    # At least one column in it, or PostgreSQL computes it once and for all rows alike.
    def make(self, kind, depth):
        if depth <= 0 or self.random.random() < 0.15:
            return self.column(kind)
        forms = getattr(self, "make_" + kind.replace(" ", "_"))(depth - 1)
        if self.random.random() < 0.15:
            forms = self.choices(kind, depth - 1)
        return self.pick(forms)()

    def arg(self, kind, depth):
        return self.literal(kind) if self.random.random() < 0.2 else self.make(kind, depth)

    def choices(self, kind, depth):
        def a():
            return self.make(kind, depth)
        forms = [
            lambda: f"(case {self.make('boolean', depth)} {a()} {self.arg(kind, depth)})",
            lambda: f"(case {self.make('boolean', depth)} {a()} {self.make('boolean', depth)}"
                    f" {a()} null)",
            lambda: f"(coalesce {a()} {self.arg(kind, depth)})",
        ]
        if kind != "jsonb":
            forms += [lambda: f"(greatest {a()} {self.arg(kind, depth)})",
                      lambda: f"(least {a()} {a()} {a()})"]
        return forms + [lambda: f"(nullif {a()} {self.arg(kind, depth)})"]

    def cast_from(self, kind, kinds, depth):
        def form():
            return f'(cast "{kind}" {self.make(self.pick(kinds), depth)})'
        return form

    def ints(self, kind, depth):
        def a():
            return self.make(kind, depth)
        narrower = {"smallint": ["smallint"], "integer": INTS[:2], "bigint": INTS}[kind]

        def mixed():
            other = self.arg(self.pick(narrower), depth)
            pair = [a(), other]
            self.random.shuffle(pair)
            if "$" not in pair[0] + pair[1]:
                pair[0] = self.column(kind)
            return f"(call {self.pick('+-*/')} {pair[0]} {pair[1]})"
        return [
            mixed, mixed,
            lambda: f"(call {self.pick(['%', 'mod', '&', '|', '#'])} {a()} {self.arg(kind, depth)})",
            lambda: f"(call {self.pick(['-', 'abs', '@', '~', '+'])} {a()})",
            lambda: f"(call {self.pick(['<<', '>>'])} {a()} {self.random.randrange(12)})",
            self.cast_from(kind, [k for k in INTS + FLOATS + ["numeric", "jsonb"] if k != kind],
                           depth),
        ]

    def make_smallint(self, depth): return self.ints("smallint", depth)
    def make_bigint(self, depth): return self.ints("bigint", depth)

    def make_integer(self, depth):
        def text(): return self.make("text", depth)
        return self.ints("integer", depth) + [
            lambda: f"(call {self.pick(['length', 'octet_length', 'char_length', 'ascii'])} {text()})",
            lambda: f"(call {self.pick(['strpos', 'position'])} {text()} {self.arg('text', depth)})",
            lambda: f"(call - {self.make('date', depth)} {self.arg('date', depth)})",
            self.cast_from("integer", ["boolean", "text"], depth),
            lambda: f"(call length {self.make('bytea', depth)})",
        ]

    def floats(self, kind, depth):
        def a():
            return self.make(kind, depth)
        other = "real" if kind == "double precision" else kind
        return [
            lambda: f"(call {self.pick('+-*/')} {a()} {self.arg(kind, depth)})",
            lambda: f"(call {self.pick('+-*/')} {self.arg(other, depth)} {a()})",
            lambda: f"(call {self.pick(['-', 'abs', '@', '+'])} {a()})",
            self.cast_from(kind, INTS + ["numeric", "text", "jsonb"] +
                           [k for k in FLOATS if k != kind], depth),
        ]

    def make_real(self, depth): return self.floats("real", depth)

    def make_double_precision(self, depth):
        functions = ["round", "trunc", "ceil", "ceiling", "floor", "sign", "sqrt", "cbrt"]

        def a():
            return self.make("double precision", depth)
        return self.floats("double precision", depth) + [
            lambda: f"(call {self.pick(functions)} {a()})",
            lambda: f"(call {self.pick(functions)} {a()})",
            lambda: f"(call {self.pick(['exp', 'ln', 'log10'])} {self.column('double precision')})",
            lambda: f"(call power {self.column('double precision')} {self.pick(['2', '-1', '0.5'])})",
            lambda: f"(call date_part '{self.pick(FIELDS + CLOCK)}'"
                    f" {self.make(self.pick(['date', 'timestamp', 'timestamptz']), depth)})",
        ]

    def make_numeric(self, depth):
        def a():
            return self.make("numeric", depth)
        return [
            lambda: f"(call {self.pick('+-*')} {a()} {self.arg('numeric', depth)})",
            lambda: f"(call {self.pick(['+', '-', '*', '/'])} {self.make(self.pick(INTS), depth)}"
                    f" {a()})",
            lambda: f"(call {self.pick(['/', '%', 'mod', 'div'])} {a()}"
                    f" {self.arg('numeric', depth)})",
            lambda: f"(call {self.pick(['-', 'abs', 'sign', 'round', 'trunc', 'ceil', 'floor'])}"
                    f" {a()})",
            lambda: f"(call {self.pick(['round', 'trunc'])} {a()} {self.random.randrange(-3, 6)})",
            lambda: f'(cast "numeric({self.pick(["10,2", "20,6", "5,0", "38,10"])})" {a()})',
            self.cast_from("numeric", INTS + FLOATS + ["text", "jsonb"], depth),
            lambda: f"(call extract '{self.pick(FIELDS)}' {self.make('date', depth)})",
            lambda: f"(call extract '{self.pick(FIELDS + CLOCK)}'"
                    f" {self.make(self.pick(['timestamp', 'timestamptz']), depth)})",
        ]

    def make_text(self, depth):
        def a():
            return self.make("text", depth)

        def small(): return str(self.random.randrange(-4, 9))
        anything = [kind for _, kind in COLUMNS]
        return [
            lambda: f"(call || {a()} {self.arg('text', depth)})",
            lambda: f"(call || {a()} {self.make(self.pick(anything), depth)})",
            lambda: f"(call || {self.make(self.pick(anything), depth)} {a()})",
            lambda: f"(call {self.pick(['upper', 'lower', 'initcap', 'reverse'])} {a()})",
            lambda: f"(call {self.pick(['btrim', 'ltrim', 'rtrim'])} {a()})",
            lambda: f"(call {self.pick(['btrim', 'ltrim', 'rtrim'])} {a()} {self.arg('text', 0)})",
            lambda: f"(call {self.pick(['substr', 'substring'])} {a()} {small()})",
            lambda: f"(call substr {a()} {small()} {small()})",
            lambda: f"(call {self.pick(['left', 'right'])} {a()} {small()})",
            lambda: f"(call {self.pick(['lpad', 'rpad'])} {a()} {small()})",
            lambda: f"(call {self.pick(['lpad', 'rpad'])} {a()} {small()} {self.arg('text', 0)})",
            lambda: f"(call replace {a()} {self.arg('text', 0)} {self.arg('text', 0)})",
            lambda: f"(call translate {a()} {self.arg('text', 0)} {self.arg('text', 0)})",
            lambda: f"(call overlay {a()} {self.arg('text', 0)} {small()})",
            lambda: f"(call overlay {a()} {self.arg('text', 0)} {small()} {small()})",
            lambda: f"(call split_part {a()} {self.pick([chr(39) + ',' + chr(39), '$u'])} {small()})",
            lambda: f"(call repeat {a()} {small()})",
            lambda: f"(call concat {a()} {self.make(self.pick(anything), depth)} null)",
            lambda: f"(call concat_ws {self.arg('text', 0)} {a()} {self.make('integer', depth)}"
                    f" {self.make('boolean', depth)})",
            lambda: f"(call chr {self.column('integer')})",
            lambda: f"(call ->> {self.make('jsonb', depth)} {self.pick(['$s', '0', '1', '-1'])})",
            lambda: f"(call jsonb_typeof {self.make('jsonb', depth)})",
            self.cast_from("text", anything, depth),
        ]

    def make_varchar(self, depth):
        def form():
            length = self.pick(["", "(1)", "(3)", "(10)"])
            return f'(cast "varchar{length}" {self.make(self.pick([k for _, k in COLUMNS]), depth)})'
        return [form]

    def make_boolean(self, depth):
        def compare():
            a, b = self.pick(COMPARED)
            symbol = self.pick(["=", "<>", "<", "<=", ">", ">="])
            return f"(call {symbol} {self.make(a, depth)} {self.arg(b, depth)})"

        def distinct():
            a, b = self.pick(COMPARED)
            return f"({self.pick(['distinct', 'same'])} {self.make(a, depth)} {self.make(b, depth)})"

        def among():
            kind = self.pick(["integer", "bigint", "text", "numeric", "date"])
            items = [self.literal(kind) for _ in range(self.random.randrange(1, 4))]
            if self.random.random() < 0.3:
                items.append("null")
            return f"({self.pick(['in', 'not-in'])} {self.make(kind, depth)} {' '.join(items)})"

        def a(): return self.make("boolean", depth)
        likes = ["~~", "!~~", "~~*", "!~~*"]
        return [
            compare, compare, compare, distinct, among,
            lambda: f"(and {a()} {a()})",
            lambda: f"(or {a()} {a()})",
            lambda: f"(not {a()})",
            lambda: f"({self.pick(list(TESTS))} {a()})",
            lambda: f"({self.pick(['is-null', 'is-not-null'])}"
                    f" {self.make(self.pick([k for _, k in COLUMNS]), depth)})",
            lambda: f"(call {self.pick(likes)} {self.make('text', depth)} {self.pick(PATTERNS)})",
            lambda: f"(call {self.pick(likes)} {self.make('text', depth)} {self.column('text')})",
            lambda: f"(call starts_with {self.make('text', depth)} {self.arg('text', 0)})",
            lambda: f"(call isfinite {self.make(self.pick(['date', 'timestamp']), depth)})",
            self.cast_from("boolean", ["integer", "text", "jsonb"], depth),
        ]

    def make_bytea(self, depth):
        def a(): return self.make("bytea", depth)
        return [lambda: f"(call || {a()} {self.arg('bytea', depth)})",
                lambda: f"(call substr {a()} {self.random.randrange(-2, 4)})",
                lambda: f"(call substring {a()} 1 {self.random.randrange(-1, 4)})",
                self.cast_from("bytea", ["text"], depth)]

    def make_date(self, depth):
        def a(): return self.make("date", depth)
        return [lambda: f"(call {self.pick('+-')} {a()} {self.arg('integer', depth)})",
                # Its right side is evaluated first: with errors in both it shows.
                lambda: f"(call + {self.column('integer')} {a()})",
                lambda: f"(call make_date {self.column('integer')} {self.random.randrange(14)}"
                        f" {self.random.randrange(33)})",
                self.cast_from("date", ["timestamp", "timestamptz", "text"], depth)]

    def make_timestamp(self, depth):
        return [lambda: f"(call date_trunc '{self.pick(UNITS)}' {self.make('timestamp', depth)})",
                lambda: f"(call timezone 'UTC' {self.make('timestamptz', depth)})",
                self.cast_from("timestamp", ["date", "timestamptz"], depth)]

    def make_timestamptz(self, depth):
        kinds = ["timestamptz", "date"]
        return [lambda: f"(call date_trunc '{self.pick(UNITS)}' {self.make(self.pick(kinds), depth)})",
                lambda: f"(call to_timestamp {self.make('double precision', depth)})",
                self.cast_from("timestamptz", ["date", "timestamp"], depth)]

    def make_jsonb(self, depth):
        keys = ["'a'", "'b'", "'key'", "'ë'", "'long key'", "$s", "0", "3", "-1", "-2", "9"]
        return [lambda: f"(call -> {self.make('jsonb', depth)} {self.pick(keys)})",
                self.cast_from("jsonb", ["text"], depth)]


def make_random(seed, count):
    generator = Generator(seed)
    kinds = sorted({kind for _, kind in COLUMNS} - {"varchar"})
    result = []
    while len(result) < count:
        prefix = generator.make(generator.pick(kinds), generator.random.randrange(1, 4))
        if len(prefix) < 300 and prefix.startswith("("):
            result.append(prefix)
    return result


# --- overloads --------------------------------------------------------------------------------

OPERATORS = ["+", "-", "*", "/", "%", "=", "<>", "<", ">=", "||", "~~", "~~*", "->", "->>", "&",
             "<<", "^"]
UNARY = ["-", "+", "~", "@", "|/"]
FUNCTIONS_1 = ["abs", "round", "trunc", "ceil", "floor", "sign", "sqrt", "exp", "ln", "length",
               "octet_length", "upper", "reverse", "btrim", "ascii", "chr", "jsonb_typeof",
               "to_timestamp", "date", "float8", "int4", "text", "isfinite", "concat"]
FUNCTIONS_2 = ["round", "mod", "power", "substr", "left", "strpos", "repeat", "split_part",
               "date_trunc", "extract", "date_part", "starts_with", "concat", "concat_ws", "lpad"]


def make_overloads():
    first_of_kind = {kind: "$" + name for name, kind in reversed(COLUMNS)}
    args = [first_of_kind[kind] for kind in dict.fromkeys(kind for _, kind in COLUMNS)]
    args += ["'1'", "null"]
    for symbol in OPERATORS:
        for a in args:
            for b in args:
                yield f"(call {symbol} {a} {b})"
    for symbol in UNARY:
        for a in args:
            yield f"(call {symbol} {a})"
    for name in FUNCTIONS_1:
        for a in args:
            yield f"(call {name} {a})"
    for name in FUNCTIONS_2:
        has_unit = name in ("date_trunc", "extract", "date_part")
        for a in ["'day'", "$s", "$i4", "null"] if has_unit else args:
            for b in args:
                yield f"(call {name} {a} {b})"
    for a in args:
        for b in args:
            yield f"(coalesce {a} {b})"
            yield f"(case $b {a} {b})"
    for kind in sorted(VALUES):
        for a in args:
            yield f'(cast "{kind}" {a})'


# --- PostgreSQL -------------------------------------------------------------------------------

def quote(text):
    return "'" + text.replace("'", "''") + "'"


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


SETUP = """
\\set QUIET on
\\set ON_ERROR_STOP on
set client_min_messages = error;
set timezone = 'UTC'; set datestyle = 'ISO, MDY'; set extra_float_digits = 1;
set bytea_output = 'hex';
create or replace function pg_temp.escaped(x text) returns text language sql as
$$ select replace(replace(replace(x, '\\', '\\\\'), E'\\t', '\\t'), E'\\n', '\\n') $$;
create or replace function pg_temp.type_of(expr text) returns text language plpgsql as $$
declare name text;
begin
  execute format('create temp view one as select (%s) as x from t', expr);
  select format_type(atttypid, -1) into name from pg_attribute
   where attrelid = 'one'::regclass and attname = 'x';
  drop view one;
  return name;
exception when others then
  return '!' || sqlerrm;
end $$;
create or replace function pg_temp.value_of(expr text, row_id int) returns text
language plpgsql as $$
declare result text;
begin
  execute format('select case when x is null then ''~'' else ''='' || format(''%%s'', x) end'
                 ' from (select (%s) as x from t where id = $1 offset 0) s', expr)
     into result using row_id;
  return result;
exception when others then
  return '!' || sqlerrm;
end $$;
"""


def run(psql, script):
    result = subprocess.run(psql + ["-X", "-A", "-t", "-q"], input=script.encode(),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0 or result.stderr:
        sys.exit(result.stderr.decode())
    return result.stdout.decode()


def make_rows(seed):
    generator = random.Random(seed)
    row_count = max(len(values) for values in VALUES.values())
    columns = []
    for _, kind in COLUMNS:
        values = VALUES[kind][:]
        while len(values) < row_count:
            values.append(generator.choice(VALUES[kind]))
        generator.shuffle(values)
        columns.append(values)
    return list(zip(*columns))


def table_script(rows):
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS)
    script = f"create temp table t (id int, {columns});\n"
    for idx, row in enumerate(rows):
        values = ", ".join("null" if value is None else quote(value) for value in row)
        script += f"insert into t values ({idx}, {values});\n"
    return script


def ask(psql, rows, prefixes, with_values):
    """A line of the fixture for each prefix form."""
    script = SETUP + table_script(rows)
    for prefix in prefixes:
        expr = quote(to_sql(prefix))
        values = ""
        if with_values:
            values = (f" || E'\\t' || (select string_agg(pg_temp.escaped(pg_temp.value_of({expr},"
                      f" i)), E'\\t' order by i) from generate_series(0, {len(rows) - 1}) i)")
        script += f"select pg_temp.escaped(pg_temp.type_of({expr})){values};\n"
    lines = run(psql, script).split("\n")[:-1]
    if len(lines) != len(prefixes):
        sys.exit(f"{len(prefixes)} expressions, {len(lines)} answers")
    return [f"expr\t{escape(prefix)}\t{shorten(line)}" for prefix, line in zip(prefixes, lines)]


def shorten(line):
    """The same result in all rows is written once, behind a *."""
    cells = line.split("\t")
    if len(cells) > 2 and len(set(cells[1:])) == 1:
        return f"{cells[0]}\t*\t{cells[1]}"
    return line


def read_back(psql, rows):
    """The rows as PostgreSQL holds them."""
    names = ", ".join(f"case when {name} is null then '~' else"
                      f" pg_temp.escaped('=' || format('%s', {name})) end" for name, _ in COLUMNS)
    script = SETUP + table_script(rows) + f"\\pset fieldsep '\\t'\nselect {names} from t order by id;\n"
    return ["row\t" + line for line in run(psql, script).split("\n")[:-1]]


def write(path, head, lines):
    open(path, "w", encoding="utf-8").write("\n".join(head + lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=700)
    parser.add_argument("--out", default=HERE)
    parser.add_argument("--only-random", action="store_true")
    parser.add_argument("psql", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    rows = make_rows(1)
    columns = "columns\t" + "\t".join(f"{name}:{kind}" for name, kind in COLUMNS)
    cases = open(os.path.join(HERE, "cases.txt"), encoding="utf-8").read().split("\n")
    prefixes = [] if options.only_random else [line for line in cases if line and line[0] != "#"]
    prefixes += make_random(options.seed, options.count)
    head = [columns] + read_back(options.psql, rows)
    write(os.path.join(options.out, "expressions.txt"), head,
          ask(options.psql, rows, prefixes, True))
    if not options.only_random:
        write(os.path.join(options.out, "overloads.txt"), [columns],
              ask(options.psql, rows, list(make_overloads()), False))


if __name__ == "__main__":
    main()
