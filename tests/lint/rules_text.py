# SPDX-License-Identifier: Apache-2.0
"""Rules that hold for text of any kind."""
import fnmatch
import os
import re

from tree import Fault, rule_list

RULES, rule = rule_list()

LINE_COLUMNS_MAX = 100
SCRIPT_COLUMNS_MAX = 110
FILE_LINES_MAX = 600

# Kinds of files that have comments, and that people write by hand.
COMMENTED = (".c", ".h", ".sh", ".py", ".awk", ".cmake", ".yml", ".yaml", ".supp")
COMMENTED_NAMES = ("CMakeLists.txt", "Dockerfile", "run")
BINARY = (".png", ".bin", ".gz", ".zip")


def is_commented(path):
    return path.endswith(COMMENTED) or os.path.basename(path) in COMMENTED_NAMES


def is_text(path):
    # Corpora of the fuzzers hold what is wrong on purpose, stores what weir and RocksDB once wrote.
    is_kept = "/corpus/" in path or "/fixtures/store-" in path
    return not path.endswith(BINARY) and not is_kept and path != "LICENSE"


def is_code(path):
    return is_text(path) and (is_commented(path) or path.endswith(".sql"))


def each_line(context, is_wanted):
    for path in context.paths:
        if is_wanted(path):
            for number, text in enumerate(context.lines(path), 1):
                yield path, number, text


@rule("spdx")
def spdx(context):
    """The licence of a file that is copied out of the tree must be seen in its first line."""
    for path in context.paths:
        if not is_commented(path):
            continue
        lines = context.lines(path)
        place = 1 if lines[0].startswith("#!") and len(lines) > 1 else 0
        if not re.fullmatch(r"(//|#) SPDX-License-Identifier: Apache-2\.0", lines[place]):
            yield Fault(path, place + 1, "the first line is not the SPDX line")


@rule("tabs")
def tabs(context):
    """A tab is as wide as each editor likes, so aligned text falls apart. Four spaces."""
    for path, number, text in each_line(context, is_code):
        if "\t" in text:
            yield Fault(path, number, "a tab")


@rule("blanks")
def blanks(context):
    """Blanks at the end of a line, and a file without a newline at its end, show up in later diffs
    as changes that nobody made."""
    for path, number, text in each_line(context, is_text):
        if text != text.rstrip() and not (path.endswith(".md") and text.endswith("  ")):
            yield Fault(path, number, "blanks at the end of the line")
    for path in context.paths:
        text = context.read(path) if is_text(path) else ""
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Fault(path, len(context.lines(path)), "does not end in exactly one newline")


@rule("columns")
def columns(context):
    """100 columns leave room for two files side by side. Scripts, whose commands are made of long
    words, have 110; the lists of cases in tests/sql, one a line, have no limit."""
    for path, number, text in each_line(context, is_code):
        if path.startswith("tests/sql/") and path.endswith(".sql"):
            continue
        limit = LINE_COLUMNS_MAX if path.endswith((".c", ".h")) else SCRIPT_COLUMNS_MAX
        if len(text) > limit:
            yield Fault(path, number, f"{len(text)} columns, at most {limit}")


@rule("length")
def length(context):
    """A file of more than 600 lines owns more than one thing; one that must be so long says why in
    allow.txt."""
    for path in context.paths:
        if is_code(path):
            count = context.read(path).count("\n")
            if count > FILE_LINES_MAX:
                yield Fault(path, 1, f"{count} lines, at most {FILE_LINES_MAX}")


@rule("todo")
def todo(context):
    """What is not done is an issue, or a sentence in the docs; a note in the code is found by
    nobody."""
    words = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    for path, number, text in each_line(context, is_text):
        match = words.search(text)
        if match is not None:
            yield Fault(path, number, match.group())


@rule("paths")
def machine_paths(context):
    """A folder or a host that exists on one machine breaks the next checkout; packages are fetched
    by name, through the clients' own configuration."""
    # Written as classes of one character so that this file does not find itself.
    pattern = re.compile(
        r"(?<![\w.}/$-])(/[w]ork/|/[r]oot/|/[h]ome/\w|/[t]mp/build)|\.\./[s]hared|"
        r"\b([p]ypi\.org|[f]iles\.pythonhosted|[d]eb\.debian\.org|[r]epo1?\.maven|[r]egistry\.npmjs|"
        r"[c]rates\.io|[p]roxy\.golang)")
    for path, number, text in each_line(context, is_text):
        match = pattern.search(text)
        if match is not None:
            yield Fault(path, number, f"names a place of one machine: {match.group()}")


@rule("links")
def links(context):
    """A page, or a comment, that points at a page that is gone sends its reader nowhere."""
    pattern = re.compile(r"\]\(([^)#:\s]+)(#[^)]*)?\)")
    known = set(context.paths)
    folders = {os.path.dirname(path) for path in known}
    for path, number, text in each_line(context, lambda path: path.endswith(".md")):
        for match in pattern.finditer(text):
            target = os.path.normpath(os.path.join(os.path.dirname(path), match.group(1)))
            if target not in known and not any(
                    folder == target or folder.startswith(target + "/") for folder in folders):
                yield Fault(path, number, f"{match.group(1)} does not exist")
    named = re.compile(r"(?<![\w/])(docs/[\w-]+\.md|[A-Z]+\.md)\b")
    for path, number, text in each_line(context, is_code):
        for match in named.finditer(text):
            if match.group(1) not in known and os.path.basename(path) not in ("lint.py",
                                                                              "test_lint.py"):
                yield Fault(path, number, f"{match.group(1)} does not exist")


FOLDERS = ("app", "kafka", "operators", "rocksdb_backend", "runtime", "runtime/types", "sql")


@rule("readme")
def readme(context):
    """Whoever opens a folder first wants to know its duty and where to begin to read."""
    for folder in FOLDERS + ("bench", "docs", "tests", "."):
        prefix = "" if folder == "." else folder + "/"
        if any(path.startswith(prefix) for path in context.paths) and (
                prefix + "README.md") not in context.paths:
            yield Fault(prefix + "README.md", 1, "this folder has no README.md")


@rule("map")
def file_map(context):
    """A map that leaves out a file sends its reader past it: a folder's README.md names each of its
    sources, with or without ending, or by a pattern such as `kernel_*.c`."""
    for folder in FOLDERS:
        page = folder + "/README.md"
        if page not in context.paths:
            continue
        quoted = " ".join(re.findall(r"`([^`]+)`", context.read(page)))
        names = [os.path.splitext(word)[0] for word in re.findall(r"[\w*]+(?:\.[ch])?\b|[\w*]+\*",
                                                                 quoted)]
        for path in context.matching(".c"):
            stem = os.path.splitext(os.path.basename(path))[0]
            if os.path.dirname(path) == folder and not any(
                    fnmatch.fnmatch(stem, name) for name in names):
                yield Fault(page, 1, f"does not name {os.path.basename(path)}", stem)


FAILPOINT = re.compile(r'\bweir_failpoint\("([^"]+)"\)')


@rule("failpoints")
def failpoints(context):
    """A place to die at that no list names is one at which nobody ever killed the job. A name may
    stand with what it begins with, as in kafka.sent.<request>."""
    lists = ("docs/testing.md", "tests/integration/test_kill_matrix.c")
    for path in context.matching(".c"):
        if os.path.dirname(path).startswith("tests"):
            continue
        for number, text in enumerate(context.lines(path), 1):
            for name in FAILPOINT.findall(text):
                group = name.rsplit(".", 1)[0] + ".<"
                for page in lists:
                    known = context.read(page) if page in context.paths else ""
                    if group not in known and not re.search(re.escape(name) + r"(?![\w.])", known):
                        yield Fault(path, number, f"{page} does not name {name}")


METRIC = re.compile(r"(?<![\w/.\-])weir_[a-z0-9_]+")


@rule("metrics")
def metrics(context):
    """Alerts and dashboards that name a metric which is not there never fire and show nothing; the
    table of families is the one place that says which there are."""
    table = "runtime/base/metrics_table.c"
    if table not in context.paths:
        return
    families = set(re.findall(r'\{"(weir_\w+)"', context.read(table)))
    for path, number, text in each_line(
            context, lambda path: path.startswith(("docker/prometheus/", "docker/grafana/"))):
        for name in METRIC.findall(text):
            if name not in families and re.sub("_(bucket|sum|count)$", "", name) not in families:
                yield Fault(path, number, f"there is no metric {name}")
