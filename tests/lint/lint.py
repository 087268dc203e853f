#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of this tree that a machine can hold, each with its reason (`--list` prints them).

  tests/lint/lint.py [--root DIR] [--archives DIR] [--weir FILE] [--cc CC] [--list] [RULE…]

Prints "file:line: rule: what is wrong" for each fault and ends with 1 if there was one. Without RULE
all rules run; `exports` needs --archives, where libweir_*.a lie, and `configuration` needs --weir.
What may break a rule is said in allow.txt, with the reason. A new rule is a function below marked
with @rule, and a fixture in test_lint.py that it must find fault with.
"""
import argparse
import os
import sys

import allow
import rules_build
import rules_c
import rules_text
import tree


def all_rules():
    return {rule.name: rule
            for module in (rules_text, rules_c, rules_build) for rule in module.RULES}


def run(context, names):
    """Faults of the named rules, those that allow.txt allows left out, in the order of places."""
    rules = all_rules()
    faults = []
    for name in names:
        for fault in rules[name].check(context):
            faults.append((fault.path, fault.line, name, fault.text, fault.subject))
    allowed = allow.read(context.root)
    kept = [fault for fault in faults if not allowed.allows(fault[2], fault[0], fault[4])]
    # An exception that nothing needs any more would hide the next fault.
    for entry in allowed.unused(names):
        kept.append((allow.PATH, entry.line, "allow", f"nothing needs this exception: {entry}", ""))
    return sorted(kept, key=lambda fault: (fault[0], fault[1], fault[2]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    parser.add_argument("--archives", help="build folder with libweir_*.a")
    parser.add_argument("--weir", help="the program, for docs/configuration.md")
    parser.add_argument("--cc", default="cc", help="C compiler, for the headers")
    parser.add_argument("--list", action="store_true", help="print the rules and their reasons")
    parser.add_argument("rules", nargs="*", metavar="RULE")
    arguments = parser.parse_args()
    rules = all_rules()
    if arguments.list:
        for rule in rules.values():
            print(f"{rule.name}: {rule.reason}")
        return 0
    unknown = [name for name in arguments.rules if name not in rules]
    if unknown:
        parser.error(f"no such rule: {', '.join(unknown)}; known: {', '.join(rules)}")
    context = tree.Context(os.path.abspath(arguments.root), archives=arguments.archives,
                           weir=arguments.weir, compiler=arguments.cc)
    names = arguments.rules or list(rules)
    faults = run(context, names)
    for path, line, name, text, _ in faults:
        print(f"{path}:{line}: {name}: {text}")
    if faults:
        print(f"lint: {len(faults)} faults; the reasons of the rules: tests/lint/lint.py --list",
              file=sys.stderr)
        return 1
    print(f"lint: {len(context.paths)} files are clean under {len(names)} rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
