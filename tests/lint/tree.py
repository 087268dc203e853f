# SPDX-License-Identifier: Apache-2.0
"""The files of the tree and C text without comments and strings: what all rules work on."""
import functools
import os
import re
import subprocess


class Fault:
    """One fault. subject names what is at fault where a file is too coarse: a function."""

    def __init__(self, path, line, text, subject=""):
        self.path, self.line, self.text, self.subject = path, line, text, subject


class Rule:
    def __init__(self, name, reason, check):
        self.name, self.reason, self.check = name, reason, check


def rule_list():
    """A list of rules, and the decorator that fills it. The docstring of a rule is its reason."""
    rules = []

    def rule(name):
        def add(function):
            rules.append(Rule(name, " ".join(function.__doc__.split()), function))
            return function
        return add
    return rules, rule


class Context:
    def __init__(self, root, archives=None, weir=None, compiler="cc"):
        self.root, self.archives, self.weir, self.compiler = root, archives, weir, compiler
        self.paths = sorted(list_files(root))

    @functools.lru_cache(maxsize=None)
    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="surrogateescape") as file:
            return file.read()

    def lines(self, path):
        return self.read(path).split("\n")

    def matching(self, *suffixes):
        return [path for path in self.paths if path.endswith(suffixes)]

    def c_files(self):
        return self.matching(".c", ".h")

    @functools.lru_cache(maxsize=None)
    def code(self, path):
        """The C text of a file with the insides of comments and literals blanked, same places."""
        return blank(self.read(path))


def list_files(root):
    """What belongs to the tree: tracked, or new and not ignored. In an archive without git, all."""
    if os.path.exists(os.path.join(root, ".git")):
        out = subprocess.run(
            ["git", "-c", f"safe.directory={root}", "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], cwd=root, stdout=subprocess.PIPE, check=True).stdout
        names = out.decode().split("\0")
    else:
        names = (os.path.relpath(os.path.join(folder, name), root)
                 for folder, folders, files in os.walk(root) for name in files
                 if not os.path.relpath(folder, root).startswith("build"))
    return {name for name in names
            if name and os.path.isfile(os.path.join(root, name)) and not name.endswith(".pyc")}


# Comments, string and character literals; in this order, so that a quote in a comment is none.
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def blank(text):
    def hide(match):
        token = match.group()
        if token[0] in "\"'":
            return token[0] + " " * (len(token) - 2) + token[0]
        return re.sub(r"[^\n]", " ", token)
    return TOKEN.sub(hide, text)


def line_of(text, place):
    return text.count("\n", 0, place) + 1


class Function:
    def __init__(self, name, line, end_line):
        self.name, self.line, self.end_line = name, line, end_line

    @property
    def line_count(self):
        return self.end_line - self.line + 1


# The head of a definition: from the end of what came before to the brace, at file level.
HEAD = re.compile(r"([A-Za-z_]\w*)\s*\(")


def functions(code):
    """The function definitions of blanked C text. Preprocessor lines are skipped, so both branches
    of an #if must be balanced, which they are in readable code."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), code,
                  flags=re.MULTILINE)
    found, depth, head_start, opened = [], 0, 0, None
    for match in re.finditer(r"[{};]", code):
        character, place = match.group(), match.start()
        if character == "{":
            if depth == 0:
                head = code[head_start:place]
                name = HEAD.search(re.sub(r"__attribute__\s*\(\(.*?\)\)",
                                          lambda m: " " * len(m.group()), head, flags=re.DOTALL))
                if name is not None and head.rstrip().endswith(")"):
                    start = head_start + len(head) - len(head.lstrip())
                    opened = (name.group(1), line_of(code, start))
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                if opened is not None:
                    found.append(Function(*opened, line_of(code, place)))
                    opened = None
                head_start = match.end()
        elif depth == 0:
            head_start = match.end()
    return found


def matching_paren(code, place):
    """The place of the parenthesis that closes the one at `place`, or -1."""
    depth = 0
    for match in re.compile(r"[()]").finditer(code, place):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return match.start()
    return -1


def matching_brace(code, place):
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, place):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return -1
