# SPDX-License-Identifier: Apache-2.0
"""allow.txt: what may break a rule. A line is RULE PATH[:SUBJECT] REASON; # begins a comment."""
import os

PATH = "tests/lint/allow.txt"


class Entry:
    def __init__(self, line, rule, path, subject, reason):
        self.line, self.rule, self.path, self.subject = line, rule, path, subject
        self.reason, self.is_used = reason, False

    def __str__(self):
        return f"{self.rule} {self.path}{':' if self.subject else ''}{self.subject}"


class Allowed:
    def __init__(self, entries):
        self.entries = entries

    def allows(self, rule, path, subject):
        for entry in self.entries:
            if (entry.rule, entry.path) == (rule, path) and entry.subject in ("", subject):
                entry.is_used = True
                return True
        return False

    def unused(self, rules):
        return [entry for entry in self.entries if entry.rule in rules and not entry.is_used]


def read(root):
    entries = []
    name = os.path.join(root, PATH)
    if os.path.exists(name):
        with open(name, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if text.strip() and not text.startswith("#"):
                    parts = text.split(None, 2)
                    if len(parts) < 3:
                        raise SystemExit(f"{PATH}:{number}: an exception needs a reason")
                    path, _, subject = parts[1].partition(":")
                    entries.append(Entry(number, parts[0], path, subject, parts[2].strip()))
    return Allowed(entries)
