#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random writer's and reader's schemas with random records, by fastavro and by weir (avro_rows.c):
  in:  fastavro writes a record by the writer's schema; weir decodes it into columns that stand for the
       reader's schema; the row must be what fastavro reads with both schemas.
  out: weir encodes the row by the schema of its columns; fastavro must read the same row from it.
A difference prints the case and ends with 1. Without fastavro: 77, skipped."""
import argparse
import datetime
import decimal
import io
import json
import os
import random
import struct
import subprocess
import sys
import uuid

try:
    import fastavro
except ImportError:
    # tools/install-deps.sh --test puts it into a Python of its own.
    python = os.path.join(os.environ.get("WEIR_PYTHON_CACHE", os.path.expanduser("~/.cache/weir/python")),
                          "bin/python3")
    if os.path.exists(python) and os.path.abspath(sys.executable) != os.path.abspath(python):
        os.execv(python, [python, "-B", *sys.argv])
    print("differential: fastavro is not there (tools/install-deps.sh --test): skipped")
    sys.exit(77)

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
decimal.getcontext().prec = 60


class Generator:
    def __init__(self, rng):
        self.rng, self.count = rng, 0

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    # A type is (schema of the writer, schema of the reader, column type, value maker).
    def scalar(self):
        rng = self.rng
        kind = rng.choice(["boolean", "int", "long", "float", "double", "string", "bytes", "enum", "fixed",
                           "decimal", "fixeddecimal", "date", "timems", "timeus", "tsms", "tsus", "ltsms",
                           "ltsus", "uuid", "promote"])
        if kind == "boolean":
            return "boolean", "boolean", "boolean", lambda: rng.random() < 0.5
        if kind == "int":
            return "int", "int", "integer", lambda: self.integer(31)
        if kind == "long":
            return "long", "long", "bigint", lambda: self.integer(63)
        if kind == "float":
            return "float", "float", "real", lambda: self.single()
        if kind == "double":
            return "double", "double", "double", lambda: self.double()
        if kind == "string":
            return "string", "string", "text", self.text
        if kind == "bytes":
            return "bytes", "bytes", "bytea", lambda: rng.randbytes(rng.choice([0, 1, 3, 20]))
        if kind == "enum":
            return self.enum()
        if kind == "fixed":
            size = rng.choice([1, 4, 17])
            schema = {"type": "fixed", "name": self.name("fixed"), "size": size}
            return schema, schema, "bytea", lambda: rng.randbytes(size)
        if kind in ("decimal", "fixeddecimal"):
            return self.decimal(kind == "fixeddecimal")
        if kind == "promote":
            return self.promoted()
        return self.time(kind)

    def integer(self, bits):
        return self.rng.choice([0, -1, 1, 2 ** bits - 1, -2 ** bits,
                                self.rng.randrange(-2 ** bits, 2 ** bits),
                                self.rng.randrange(-1000, 1000)])

    def double(self):
        return self.rng.choice([0.0, -0.0, 1.5, 1e300, -1e-300, float("inf"), float("nan"),
                                self.rng.uniform(-1e6, 1e6)])

    def single(self):
        return struct.unpack("<f", struct.pack("<f", self.rng.choice(
            [0.0, 1.5, float("-inf"), float("nan"), self.rng.uniform(-1e6, 1e6)])))[0]

    def text(self):
        return "".join(self.rng.choice("abc \"\\\n\u00e4\u20ac\U0001f600")
                       for _ in range(self.rng.choice([0, 1, 7, 8, 15, 16, 17, 40])))

    def enum(self):
        symbols = [f"S{i}" for i in range(self.rng.randint(1, 5))]
        name = self.name("enum")
        writer = {"type": "enum", "name": name, "symbols": symbols}
        reader = dict(writer)
        if self.rng.random() < 0.4:  # the reader knows others, and has a default
            known = self.rng.sample(symbols, self.rng.randint(0, len(symbols))) + ["OTHER"]
            self.rng.shuffle(known)
            reader = {"type": "enum", "name": name, "symbols": known, "default": "OTHER"}
        return writer, reader, "text", lambda: self.rng.choice(symbols)

    def decimal(self, is_fixed):
        precision = self.rng.choice([1, 5, 18, 19, 38])
        scale = self.rng.randint(0, precision)
        schema = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        if is_fixed:
            schema.update({"type": "fixed", "name": self.name("fixed"), "size": 17})
        limit = 10 ** precision - 1
        return schema, schema, f"numeric({precision},{scale})", lambda: decimal.Decimal(
            self.rng.choice([0, 1, -1, limit, -limit, self.rng.randint(-limit, limit)])).scaleb(-scale)

    def time(self, kind):
        rng = self.rng
        kinds = {"date": ("int", "date", "date"), "timems": ("int", "time-millis", "time"),
                 "timeus": ("long", "time-micros", "time"),
                 "tsms": ("long", "timestamp-millis", "timestamptz"),
                 "tsus": ("long", "timestamp-micros", "timestamptz"),
                 "ltsms": ("long", "local-timestamp-millis", "timestamp"),
                 "ltsus": ("long", "local-timestamp-micros", "timestamp"),
                 "uuid": ("string", "uuid", "uuid")}
        base, logical, column = kinds[kind]
        schema = {"type": base, "logicalType": logical}
        step = 1000 if kind.endswith("ms") else 1

        def make():
            if kind == "uuid":
                return uuid.UUID(int=rng.getrandbits(128))
            if kind == "date":
                return datetime.date(1970, 1, 1) + datetime.timedelta(days=rng.randrange(-500000, 500000))
            if kind.startswith("time"):
                us = rng.randrange(0, 86400 * 10 ** 6) // step * step
                return (datetime.datetime.min + datetime.timedelta(microseconds=us)).time()
            us = rng.randrange(-4 * 10 ** 15, 4 * 10 ** 15) // step * step
            at = EPOCH + datetime.timedelta(microseconds=us)
            return at if kind.startswith("ts") else at.replace(tzinfo=None)
        return schema, schema, column, make

    def promoted(self):
        writer, reader, column, bits = self.rng.choice(
            [("int", "long", "bigint", 31), ("int", "double", "double", 31),
             ("long", "double", "double", 53), ("float", "double", "double", 0),
             ("string", "bytes", "bytea", -1), ("bytes", "string", "text", -2)])
        if bits == -1:
            return writer, reader, column, self.text
        if bits == -2:
            return writer, reader, column, lambda: self.text().encode()
        return writer, reader, column, lambda: self.integer(bits) if bits else self.single()

    def any(self, depth):
        rng = self.rng
        roll = rng.random()
        if depth > 0 and roll < 0.15:
            return self.record(depth - 1, False)
        if depth > 0 and roll < 0.3:
            return self.array(depth - 1)
        if depth > 0 and roll < 0.4:
            return self.as_json(depth - 1)
        writer, reader, column, make = self.scalar()
        if rng.random() < 0.4 and roll < 0.9:
            return self.nullable(writer, reader, column, make)
        return writer, reader, column, make

    def nullable(self, writer, reader, column, make):
        flip = self.rng.random() < 0.5
        return ([writer, "null"] if flip else ["null", writer], ["null", reader], column,
                lambda: None if self.rng.random() < 0.3 else make())

    def array(self, depth):
        writer, reader, column, make = self.any(0) if self.rng.random() < 0.7 else self.record(depth, False)
        return ({"type": "array", "items": writer}, {"type": "array", "items": reader}, {"array": column},
                lambda: [make() for _ in range(self.rng.choice([0, 1, 3]))])

    def as_json(self, depth):
        """Maps, arrays of arrays and mixed unions, of types whose JSON can be told from Python."""
        simple = self.rng.choice(["int", "string", "boolean"])
        makers = {"int": lambda: self.integer(31), "string": self.text,
                  "boolean": lambda: self.rng.random() < 0.5}
        make = makers[simple]
        kind = self.rng.choice(["map", "nested", "union"])
        if kind == "map":
            schema = {"type": "map", "values": ["null", simple]}
            return schema, schema, "jsonb", lambda: {
                f"k{i}": self.rng.choice([None, make()]) for i in range(self.rng.choice([0, 1, 4]))}
        if kind == "nested":
            schema = {"type": "array", "items": {"type": "array", "items": simple}}
            return schema, schema, "jsonb", lambda: [
                [make() for _ in range(self.rng.choice([0, 2]))] for _ in range(self.rng.choice([0, 3]))]
        schema = ["null", "int", "string", "boolean"]
        return schema, schema, "jsonb", lambda: self.rng.choice([lambda: None, *makers.values()])()

    def record(self, depth, is_top):
        rng = self.rng
        name = self.name("record")
        writer_fields, reader_fields, columns, makers = [], [], [], {}
        for _ in range(rng.randint(1, 6)):
            field = self.name("f")
            writer, reader, column, make = self.any(depth)
            roll = rng.random()
            if roll < 0.12:  # the writer does not know it
                default = self.default_of(reader)
                if default is not None:
                    reader_fields.append({"name": field, "type": default[0], "default": default[1]})
                    columns.append([field, column])
                    continue
            makers[field] = make
            writer_fields.append({"name": field, "type": writer})
            if roll > 0.88:  # the reader does not know it
                continue
            if roll > 0.8 and is_top:  # the reader calls it otherwise
                reader_fields.append({"name": field + "x", "aliases": [field], "type": reader})
                columns.append([field + "x", column])
            else:
                reader_fields.append({"name": field, "type": reader})
                columns.append([field, column])
        if not reader_fields:
            writer_fields.append({"name": name + "z", "type": "int"})
            reader_fields.append({"name": name + "z", "type": "int"})
            columns.append([name + "z", "integer"])
            makers[name + "z"] = lambda: 1
        rng.shuffle(writer_fields)
        order = list(range(len(columns)))
        rng.shuffle(order)
        return ({"type": "record", "name": name, "fields": writer_fields},
                {"type": "record", "name": name, "fields": reader_fields},
                {"record": [columns[i] for i in order]},
                lambda: {key: make() for key, make in makers.items()})

    def default_of(self, schema):
        """The schema with which a field can have the default, and the default; None: no simple one.
        (fastavro gives defaults of bytes and logical types as they stand in the schema.)"""
        if schema in ("int", "long"):
            return schema, self.integer(31)
        if schema == "string":
            return schema, "d\u00e9"
        if schema == "double":
            return schema, 2.5
        if isinstance(schema, list) and schema[0] == "null":
            return schema, None
        return None


def plain(value):
    """A value as fastavro gives it, as weir writes it in JSON (numbers as Decimal)."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return decimal.Decimal(value)
    if isinstance(value, float):
        return value
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, datetime.datetime):
        text = value.replace(tzinfo=None).isoformat(timespec="microseconds").rstrip("0").rstrip(".")
        text = text if "." in text else text[:19].ljust(19, "0")
        return text + ("+00:00" if value.tzinfo else "")
    if isinstance(value, datetime.time):
        text = value.isoformat(timespec="microseconds")
        return (text.rstrip("0").rstrip(".") if "." in text else text).ljust(8, "0")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def is_same(expected, got):
    if isinstance(expected, float):
        if got in ("NaN", "Infinity", "-Infinity"):
            return str(expected) == {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}[got]
        # A real has as many digits as tell it from its neighbours.
        return isinstance(got, decimal.Decimal) and (
            float(got) == expected or struct.pack("<f", float(got)) == struct.pack("<f", expected))
    if isinstance(expected, dict):
        return isinstance(got, dict) and expected.keys() == got.keys() and all(
            is_same(expected[key], got[key]) for key in expected)
    if isinstance(expected, list):
        return isinstance(got, list) and len(expected) == len(got) and all(map(is_same, expected, got))
    if isinstance(expected, decimal.Decimal):
        return isinstance(got, decimal.Decimal) and expected == got
    return type(expected) is type(got) and expected == got


def json_columns(columns, row):
    """jsonb leaves weir as a string that holds JSON: read it, as the row has it."""
    out = {}
    for name, kind in columns:
        value = row[name]
        if value is not None and kind == "jsonb":
            value = plain(json.loads(value, parse_int=decimal.Decimal, parse_float=decimal.Decimal))
        elif value is not None and isinstance(kind, dict) and "record" in kind:
            value = json_columns(kind["record"], value)
        elif value is not None and isinstance(kind, dict):
            inner = [["x", kind["array"]]]
            value = [None if item is None else json_columns(inner, {"x": item})["x"] for item in value]
        out[name] = value
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases, lines = [], []
    for number in range(options.cases):
        generator = Generator(random.Random(options.seed * 1000003 + number))
        writer, reader, columns, make = generator.record(2, True)
        record = make()
        written = io.BytesIO()
        fastavro.schemaless_writer(written, fastavro.parse_schema(writer), record)
        written.seek(0)
        expected = fastavro.schemaless_reader(written, fastavro.parse_schema(writer),
                                              fastavro.parse_schema(reader))
        cases.append((number, writer, reader, columns["record"], expected))
        lines.append(json.dumps({"writer": json.dumps(writer), "reader": json.dumps(reader),
                                 "columns": columns["record"], "hex": written.getvalue().hex()}))
    done = subprocess.run([options.program], input="\n".join(lines) + "\n", text=True, encoding="utf-8",
                          stdout=subprocess.PIPE, check=False)
    answers = done.stdout.split("\n")[:-1]
    fault_count = 0
    for (number, writer, reader, columns, expected), line in zip(cases, answers):
        answer = json.loads(line, parse_int=decimal.Decimal, parse_float=decimal.Decimal)
        wanted = plain(expected)
        fault = None
        if "bad" in answer:
            fault = answer["bad"]
        elif not is_same(wanted, answer["row"]):
            fault = f"read\n  {answer['row']}\ninstead of\n  {wanted}"
        else:
            schema = fastavro.parse_schema(json.loads(answer["schema"]))
            source = io.BytesIO(bytes.fromhex(answer["hex"]))
            again = plain(fastavro.schemaless_reader(source, schema, None))
            if source.read():
                fault = "bytes are left behind what weir wrote"
            elif not is_same(json_columns(columns, again), answer["row"]) and \
                    not is_same(wanted, json_columns(columns, again)):
                fault = f"wrote\n  {again}\ninstead of\n  {answer['row']}"
        if fault is not None:
            fault_count += 1
            if fault_count <= 3:
                print(f"case {number} of seed {options.seed}: {fault}\nwriter {json.dumps(writer)}\n"
                      f"reader {json.dumps(reader)}\ncolumns {columns}")
    if done.returncode != 0 or len(answers) != len(cases):
        print(f"avro_rows ended with {done.returncode} after {len(answers)} of {len(cases)} cases")
        return 1
    print(f"{len(cases)} cases, {fault_count} differ")
    return 1 if fault_count else 0


if __name__ == "__main__":
    sys.exit(main())
