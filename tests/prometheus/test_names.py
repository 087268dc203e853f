#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alert rules and the Grafana dashboard ask for metrics and labels that docs/metrics.md has.

That page is held to the program by a unit test, so a metric that is renamed cannot leave an alert behind
that never fires.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the scraper itself adds.
SCRAPED = {"instance", "job"}


def families():
    """Name to (kind, labels), from the table of the page; histograms under the names of their series."""
    found = {}
    row = re.compile(r"^\| `(weir_\w+)` \| (\w+) \| (.*?) \|")
    for line in (ROOT / "docs/metrics.md").read_text(encoding="utf-8").splitlines():
        match = row.match(line)
        if match:
            name, kind, labels = match.groups()
            known = set(re.findall(r"`(\w+)`", labels))
            for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
                found[name + suffix] = (kind, known | ({"le"} if suffix == "_bucket" else set()))
    return found


def expressions():
    """Where it stands, the expression, and may it show a counter as it is."""
    rules = (ROOT / "docker/prometheus/alerts.yml").read_text(encoding="utf-8")
    for block in re.split(r"(?m)^      - alert: ", rules)[1:]:
        name = block.split("\n", 1)[0]
        text = re.search(r"(?ms)^        expr: (.*?)(?=^        \w+:)", block)
        yield f"alert {name}", text.group(1), False
    for panel in json.loads((ROOT / "docker/grafana/weir.json").read_text(encoding="utf-8"))["panels"]:
        for target in panel.get("targets", []):
            yield f"panel {panel['title']}", target["expr"], panel["type"] == "stat"


def faults_of(place, expression, known, is_total=False):
    """What the expression asks for and nothing has."""
    names = set(re.findall(r"\bweir_\w+", re.sub(r'"[^"]*"', '""', expression)))
    if not names and "up{" not in expression:
        yield f"{place}: no metric of weir in {expression!r}"
    labels = set(SCRAPED)
    for name in sorted(names):
        if name not in known:
            yield f"{place}: there is no metric {name}"
            return
        labels |= known[name][1]
        is_rate = re.search(r"(rate|increase)\(" + name, expression)
        if known[name][0] == "counter" and not is_rate and not is_total:
            yield f"{place}: the counter {name} is taken without rate or increase"
    asked = set(re.findall(r"(\w+)(?:=~|=|!=|!~)\"", expression))
    for group in re.findall(r"(?:by|on|without|ignoring) ?\(([^)]*)\)", expression):
        asked |= {label.strip() for label in group.split(",")}
    for label in sorted(asked - labels):
        yield f"{place}: none of {', '.join(sorted(names))} has a label {label}"


def main():
    """Prints what is wrong; 1: something is."""
    known = families()
    faults = []
    count = 0
    for place, expression, is_total in expressions():
        count += 1
        faults += faults_of(place, expression, known, is_total)
    assert list(faults_of("x", "sum by (tabel) (weir_source_lag_records)", known))
    assert list(faults_of("x", "weir_sauce_lag_records > 1", known))
    for fault in faults:
        print(fault)
    print(f"{count} expressions, {len(known)} names of series: {len(faults)} faults")
    return 1 if faults or count < 30 or len(known) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
