# SPDX-License-Identifier: Apache-2.0
"""Renders the chart for tests, where helm is not at hand: values, quote, nindent, toYaml, sha256sum, if.
Whatever else a template says is an error, which keeps the templates as simple as that."""
import hashlib
import os
import re

import yaml

ACTION = re.compile(r"(?:\n[ \t]*)?\{\{-\s*(.*?)\s*\}\}|\{\{\s*(.*?)\s*\}\}")
FUNCTIONS = {
    "quote": lambda value: '"%s"' % str(value).replace("\\", "\\\\").replace('"', '\\"'),
    "sha256sum": lambda value: hashlib.sha256(value.encode()).hexdigest(),
}


def look_up(scope, path):
    value = scope
    for name in path.strip(".").split("."):
        value = value[name]
    return value


def evaluate(scope, expression):
    first, *rest = [part.strip() for part in expression.split("|")]
    if first.startswith("toYaml "):
        value = yaml.safe_dump(look_up(scope, first.split()[1])).rstrip("\n")
    else:
        assert re.fullmatch(r"\.[\w.]+", first), f"not that simple: {expression}"
        value = look_up(scope, first)
    for function in rest:
        if function.startswith("nindent "):
            blanks = " " * int(function.split()[1])
            value = "".join("\n" + (blanks + line if line else "") for line in value.split("\n"))
        else:
            value = FUNCTIONS[function](value)
    return str(value)


def render_text(scope, text):
    out, taken, place = [], [True], 0
    for match in ACTION.finditer(text):
        if all(taken):
            out.append(text[place:match.start()])
        place = match.end()
        expression = match.group(1) or match.group(2)
        if expression.startswith("if "):
            taken.append(bool(look_up(scope, expression[3:])))
        elif expression == "end":
            taken.pop()
        elif all(taken):
            out.append(evaluate(scope, expression))
    assert taken == [True], "an if without its end"
    out.append(text[place:])
    return "".join(out)


def merge(values, others):
    for name, value in others.items():
        values[name] = merge(values[name], value) if isinstance(value, dict) else value
    return values


def render(folder, release, others=None):
    """Every object that the chart makes, with values.yaml changed by `others`."""
    with open(os.path.join(folder, "values.yaml"), encoding="utf-8") as file:
        values = merge(yaml.safe_load(file), others or {})
    objects = []
    for name in sorted(os.listdir(os.path.join(folder, "templates"))):
        with open(os.path.join(folder, "templates", name), encoding="utf-8") as file:
            text = render_text({"Values": values, "Release": {"Name": release}}, file.read())
        objects += [each for each in yaml.safe_load_all(text) if each is not None]
    return objects
