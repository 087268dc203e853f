#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""consume_avro.py BROKERS REGISTRY TOPIC: all that is committed, one line a record, in the order of each
partition: partition<TAB>value as JSON<TAB>key. Decoded by Apache's Avro, with the schema that the registry
has for the id in front of the record."""
import decimal
import io
import json
import subprocess
import sys
import urllib.request

import avro.io
import avro.schema


def text(value):
    """JSON; a decimal with all its digits."""
    return str(value) if isinstance(value, decimal.Decimal) else json.dumps(value)


def records(brokers, topic):
    """Partition, key and value of each record: lengths stand in front, values may hold anything."""
    command = ["kcat", "-q", "-C", "-b", brokers, "-t", topic, "-o", "beginning", "-e"]
    command += ["-X", "isolation.level=read_committed", "-f", "%p %K %S\n%k%s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as kcat:
        while line := kcat.stdout.readline():
            partition, key_length, length = map(int, line.split())
            key = kcat.stdout.read(max(key_length, 0))
            yield partition, key, kcat.stdout.read(max(length, 0))
    if kcat.returncode != 0:
        sys.exit(kcat.returncode)


def main(brokers, registry, topic):
    readers = {}
    for partition, key, value in records(brokers, topic):
        if len(value) < 5 or value[0] != 0:
            sys.exit(f"consume_avro: no schema id in front of {value!r}")
        schema_id = int.from_bytes(value[1:5], "big")
        if schema_id not in readers:
            with urllib.request.urlopen(f"{registry}/schemas/ids/{schema_id}", timeout=20) as answer:
                schema = avro.schema.parse(json.load(answer)["schema"])
            readers[schema_id] = avro.io.DatumReader(schema)
        body = io.BytesIO(value[5:])
        row = readers[schema_id].read(avro.io.BinaryDecoder(body))
        if body.read(1):
            sys.exit(f"consume_avro: more than a record: {value!r}")
        fields = ",".join(f'"{name}":{text(field)}' for name, field in row.items())
        print(partition, "{" + fields + "}", key.decode(), sep="\t")


main(*sys.argv[1:])
