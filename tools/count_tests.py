#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test cases for tools/test.sh.

  tools/count_tests.py JUNIT-XML [JUNIT-XML of the programs that failed, run once more]

prints a line a test case, "passed NAME", "failed NAME" or "skipped NAME", from what ctest wrote with
--output-junit. The cases of a cmocka program are taken from its own output; any other program is one
case. A program that failed without a failed case (it crashed, hung, is not there, or a sanitizer spoke)
is one failed case more.
"""
import re
import sys
import xml.etree.ElementTree

CASE = re.compile(r"^\[ *(OK|FAILED|ERROR|SKIPPED) *\] ([A-Za-z_]\w*)\s*$", re.MULTILINE)
WORD = {"OK": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped"}


def cases(output):
    """Word by case. cmocka lists failed and skipped cases again at its end, so a name counts once;
    the harness tests cmocka programs by running them, whose cases look the same and count, too."""
    found = {}
    for word, name in CASE.findall(output):
        if found.get(name) != "failed":
            found[name] = WORD[word]
    return found


def program(testcase):
    """Lines of one ctest entry."""
    name = testcase.get("name")
    found = cases(testcase.findtext("system-out") or "")
    lines = [(word, f"{name}: {case}") for case, word in found.items()]
    skipped = testcase.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        lines.append(("skipped", name))
    elif testcase.get("status") != "run":
        if "failed" not in found.values():
            lines.append(("failed", f"{name} (the program as a whole)"))
    elif not lines:
        lines.append(("passed", name))
    return lines


def programs(path):
    """Lines by program."""
    root = xml.etree.ElementTree.parse(path).getroot()
    return {case.get("name"): program(case) for case in root.iter("testcase")}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    first = programs(sys.argv[1])
    again = programs(sys.argv[2]) if len(sys.argv) == 3 else {}
    for name, lines in {**first, **again}.items():
        for word, case in lines:
            print(word, case)
    for name, lines in again.items():
        if all(word != "failed" for word, _ in lines):
            print("again", name)


if __name__ == "__main__":
    main()
