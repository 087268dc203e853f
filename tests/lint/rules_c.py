# SPDX-License-Identifier: Apache-2.0
"""Rules for C."""
import fnmatch
import re

from tree import Fault, functions, line_of, matching_brace, matching_paren, rule_list

RULES, rule = rule_list()

FUNCTION_LINES_MAX = 80

# The layer table of ARCHITECTURE.md: what a folder may include of the others. Itself always. app/ and
# tests/ may include everything, which is said by not naming them.
LAYERS = {
    "runtime": set(),
    "operators": {"runtime"},
    "kafka": {"runtime"},
    "rocksdb_backend": {"runtime"},
    "sql": {"runtime", "operators"},
}
ABOVE = {"app": {"runtime", "operators", "kafka", "rocksdb_backend", "sql"}}

# The owner of each outside library, as patterns of files. Tests may use all of them: they hold our
# results against others'. So may bench/, which measures librdkafka bare.
FOREIGN = {
    "librdkafka/": ["kafka/rdkafka_*", "tools/flights.c"],
    "yyjson": ["runtime/manifest.c", "runtime/types/json*", "kafka/json_*", "kafka/rdkafka_stats.c",
               "kafka/avro_*", "kafka/registry_*", "sql/parse*",
               "app/http/*", "app/*_json.c"],
    "microhttpd": ["app/http/server.c"],
    "curl/": ["app/http/client.c", "kafka/registry_*"],
    "pg_query": ["sql/parse*"],
    "gmp": ["runtime/types/numeric*", "runtime/types/shortest.c"],
    "utf8proc": ["operators/kernel_text_form.c"],
    "xxhash": ["runtime/*", "sql/finish.c", "rocksdb_backend/*"],
    "zlib": ["kafka/*"],
    "avro": ["kafka/avro_*"],
    "rocksdb/": ["rocksdb_backend/*"],
    "cmocka": [],
    "jansson": [],
}
FOREIGN_FREE = ("tests/", "bench/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)


def includes(context, path):
    """Line number, bracket and name of each #include. Names of literals are blank in code(), so
    places come from there and texts from the file."""
    text = context.read(path)
    for match in INCLUDE.finditer(text):
        yield line_of(text, match.start(1)), match.group(1), match.group(2)


def folder_of(path):
    return path.split("/", 1)[0]


@rule("layers")
def layers(context):
    """Arrows between folders go one way only, so that each folder can be read, tested and replaced
    without those above it."""
    for path in context.c_files():
        folder = folder_of(path)
        allowed = LAYERS.get(folder, ABOVE.get(folder))
        if allowed is None:
            continue
        for line, bracket, name in includes(context, path):
            target = folder_of(name)
            is_ours = target in LAYERS or target in ("app", "tests", "bench", "tools")
            if bracket == '"' and is_ours and target != folder and target not in allowed:
                yield Fault(path, line, f"{folder}/ may not include {target}/ ({name})")


@rule("foreign")
def foreign(context):
    """The types of an outside library stay with the files that own it: replacing or fixing the
    library then touches those files only."""
    for path in context.c_files():
        if path.startswith(FOREIGN_FREE):
            continue
        for line, _, name in includes(context, path):
            for library, owners in FOREIGN.items():
                if name.startswith(library) and not any(
                        fnmatch.fnmatch(path, owner) for owner in owners):
                    yield Fault(path, line, f"<{name}> belongs to {', '.join(owners) or 'tests'}")


@rule("include-names")
def include_names(context):
    """Includes are written from the root ("folder/x.h"), so that a file can be found, and moved,
    by searching for its name. Tests and measuring programs may name a neighbour."""
    for path in context.c_files():
        if folder_of(path) not in LAYERS and folder_of(path) != "app":
            continue
        for line, bracket, name in includes(context, path):
            if bracket == '"' and (name.startswith(".") or "/" not in name):
                yield Fault(path, line, f'"{name}" is not written from the root')


@rule("guards")
def guards(context):
    """A guard made from the path cannot collide with another one."""
    for path in context.matching(".h"):
        name = "WEIR_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper()
        text = context.read(path)
        if not re.search(rf"^#ifndef {name}\n#define {name}\n", text, re.MULTILINE):
            yield Fault(path, 1, f"no include guard {name}")


@rule("purpose")
def purpose(context):
    """The block behind the SPDX line says what a file owns and promises: a reader decides by it
    whether to read on. (A unit test is named after what it tests.)"""
    for path in context.c_files():
        if path.startswith("tests/unit/"):
            continue
        lines = context.lines(path)
        if len(lines) < 2 or not re.match(r"//( \S|$)", lines[1]):
            yield Fault(path, 2, "no comment that says what this file owns")


@rule("function-length")
def function_length(context):
    """A function that does not fit on a screen is not seen as a whole. Tables inside it (the cases
    of a test) do not count."""
    for path in context.matching(".c"):
        code = context.code(path)
        for function in functions(code):
            count = function.line_count - table_lines(code, function)
            if count > FUNCTION_LINES_MAX:
                yield Fault(path, function.line, f"{function.name} has {count} lines, at most "
                            f"{FUNCTION_LINES_MAX}", function.name)


def table_lines(code, function):
    """Lines within the braces of initialisers of a function."""
    count, end = 0, 0
    body = "\n".join(code.split("\n")[function.line - 1:function.end_line])
    for match in re.finditer(r"=\s*\{", body):
        if match.start() >= end:
            end = matching_brace(body, match.end() - 1)
            count += body.count("\n", match.end(), end)
    return count


@rule("typedef")
def typedef(context):
    """struct and enum are part of a type's name, so that a reader sees what is copied. Types of
    callbacks (…_fn) are the exception."""
    for path in context.c_files():
        code = context.code(path)
        for match in re.finditer(r"\btypedef\s+(struct|enum|union)\b[^;(]*[;{]", code):
            yield Fault(path, line_of(code, match.start()), f"typedef {match.group(1)}")


@rule("default")
def default(context):
    """A switch over an enum of ours without default: makes the compiler name every place that a new
    member needs. (Taken for one: cases that are single WEIR_ names; masks are none.)"""
    for path in context.c_files():
        code = context.code(path)
        for match in re.finditer(r"\bswitch\s*\(", code):
            close = matching_paren(code, match.end() - 1)
            brace = code.find("{", close)
            body = code[brace:matching_brace(code, brace) + 1]
            is_mask = re.search(r"\bcase\s[^:;]*\|", body) is not None
            if not is_mask and re.search(r"\bcase\s+WEIR_\w+\s*:", body):
                found = re.search(r"\bdefault\s*:", body)
                if found is not None:
                    yield Fault(path, line_of(code, brace + found.start()),
                                "default: in a switch over an enum of ours")


@rule("braces")
def braces(context):
    """A line added to a body without braces lands outside of it."""
    for path in context.c_files():
        code = context.code(path)
        for match in re.finditer(r"\b(if|for|while)\s*\(|\belse\b", code):
            if match.group(1) is None:
                rest = code[match.end():]
                is_good = re.match(r"\s*(\{|if\b)", rest) is not None
            else:
                close = matching_paren(code, match.end() - 1)
                rest = code[close + 1:]
                # do { } while (…); ends in a semicolon, and so would an empty loop: write {}.
                is_do = match.group(1) == "while" and code[:match.start()].rstrip().endswith("}")
                is_good = re.match(r"\s*(\\\n\s*)?\{", rest) is not None or (
                    is_do and re.match(r"\s*(;|\\?\n)", rest) is not None)
            if not is_good and not is_preprocessor(code, match.start()):
                yield Fault(path, line_of(code, match.start()),
                            f"{match.group(1) or 'else'} without braces")


def is_preprocessor(code, place):
    start = code.rfind("\n", 0, place) + 1
    return code[start:place].lstrip().startswith("#")


@rule("banned")
def banned(context):
    """Calls that overrun, hide errors, keep hidden state between threads, or depend on a locale that
    the process never sets: each has a better one beside it."""
    calls = {
        "strcpy": "snprintf or memcpy", "strcat": "struct weir_buffer", "sprintf": "snprintf",
        "vsprintf": "vsnprintf", "gets": "getline", "atoi": "weir_text_integer_parse",
        "atol": "weir_text_integer_parse", "atof": "strtod", "strtok": "strtok_r",
        "gmtime": "gmtime_r", "localtime": "gmtime_r", "rand": "a seeded generator",
        "setlocale": "nothing: the point is a point", "strerror_r": "strerror (thread-safe in glibc)",
        "alloca": "an arena",
    }
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(calls) + r")\s*\(")
    for path in context.c_files():
        if path.startswith("tests/"):
            continue
        code = context.code(path)
        for match in pattern.finditer(code):
            yield Fault(path, line_of(code, match.start()),
                        f"{match.group(1)}(): use {calls[match.group(1)]}", match.group(1))


@rule("sleeps")
def sleeps(context):
    """A unit test that sleeps is slow on a fast machine and fails on a slow one; time is a fake clock
    there, and threads are stepped."""
    pattern = re.compile(r"\b(sleep|usleep|nanosleep|clock_nanosleep)\s*\(")
    for path in context.c_files():
        if path.startswith("tests/unit/"):
            code = context.code(path)
            for match in pattern.finditer(code):
                yield Fault(path, line_of(code, match.start()), f"{match.group(1)}() in a unit test")


@rule("test-names")
def test_names(context):
    """tests/unit/ mirrors the sources, so that the test of a file is found by its name."""
    for path in context.matching(".c"):
        match = re.fullmatch(r"tests/unit/(\w+)/(?:.*/)?(\w+)\.c", path)
        if match is None:
            continue
        if not match.group(2).startswith("test_"):
            yield Fault(path, 1, "a file of tests/unit/ is not named test_….c")
        elif not any(candidate.startswith(match.group(1) + "/") for candidate in context.paths):
            yield Fault(path, 1, f"there is no folder {match.group(1)}/")


@rule("exit")
def exits(context):
    """A library that ends the process takes the decision away from its caller; errors are returned.
    Only a failed assertion and a failed small allocation may end it, and what app/ says."""
    pattern = re.compile(r"(?<![\w.>])(exit|_exit|_Exit|quick_exit)\s*\(")
    for path in context.c_files():
        if folder_of(path) in LAYERS:
            code = context.code(path)
            for match in pattern.finditer(code):
                yield Fault(path, line_of(code, match.start()), f"{match.group(1)}()",
                            match.group(1))
