#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that every rule of lint.py can fail, where it must, and that it keeps still where it must.

A fixture is a small tree: file names and texts. A line that ends in the mark "//! rule" or "#! rule"
must be found fault with by that rule; nothing else may be. Faults without a line to mark (a missing
file) are listed beside the files.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import lint
import rules_build
import tree

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEAD = SPDX + "// What it owns.\n"


def tree_of(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


class RuleTest(unittest.TestCase):
    """One method a rule: test_<rule>, with - written _."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def faults(self, rule, files, **context):
        tree_of(self.folder, files)
        found = lint.run(tree.Context(self.folder, **context), [rule])
        return [(path, line) for path, line, _, _, _ in found]

    def check(self, rule, files, others=(), **context):
        """Marked lines, and `others`, are the faults; no others are."""
        expected = list(others)
        clean = {}
        for name, text in files.items():
            lines = text.split("\n")
            for number, line in enumerate(lines, 1):
                if line.endswith("//!") or line.endswith("#!"):
                    expected.append((name, number))
                    lines[number - 1] = line[:-3].rstrip(" ")
            clean[name] = "\n".join(lines)
        self.assertNotEqual(expected, [], "a fixture without a fault proves nothing")
        self.assertEqual(sorted(self.faults(rule, clean, **context)), sorted(expected))

    def test_spdx(self):
        self.check("spdx", {"a.c": "int a;  //!\n", "b.c": SPDX, "c.sh": "#!/bin/sh\necho  #!\n",
                            "d.sh": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
                            "e.md": "text\n", "CMakeLists.txt": "project(x)  #!\n"})

    def test_tabs(self):
        self.check("tabs", {"a.c": "int a;\n\tint b;  //!\n", "a.md": "\tcode\n"})

    def test_blanks(self):
        self.check("blanks", {"a.c": "int a;\n", "b.c": "int a; \nint b;\n", "c.c": "int a;",
                              "d.c": "int a;\n\n", "e.md": "broken  \nline\n"},
                   [("b.c", 1), ("c.c", 1), ("d.c", 3)])

    def test_columns(self):
        wide = "// " + "é" * 97 + "\n"
        self.check("columns", {"a.c": wide + wide[:-1] + "x\n", "a.py": "#" * 110 + "\n" + "#" * 111,
                               "tests/sql/a.sql": "-" * 200, "b.sql": "-" * 111},
                   [("a.c", 2), ("a.py", 2), ("b.sql", 1)])

    def test_length(self):
        self.check("length", {"a.c": "//\n" * 600, "b.c": "//\n" * 601}, [("b.c", 1)])

    def test_todo(self):
        self.check("todo", {"a.c": "// FIX" + "ME  //!\n// TO" + "DOS, and a todo\n",
                            "a.md": "TO" + "DO: this  #!\n"})

    def test_paths(self):
        work, host = "/wo" + "rk/main", "py" + "pi.org"
        self.check("paths", {"a.sh": f"cd {work}  #!\ncd build/{work}\n", "a.md": f"see {host}  #!\n",
                             "b.md": "cat .." + "/shared/x  #!\nthe /work" + "flow/\n"})

    def test_links(self):
        self.check("links", {"a.md": "[b](docs/b.md#x) [c](docs) [web](https://example.org)\n"
                                     "[gone](docs/c.md)  #!\n", "docs/b.md": "[a](../a.md)\n",
                             "a.c": "// docs/b.md tells, and sql/README.md\n// docs/c.md  //!\n"})

    def test_readme(self):
        self.check("readme", {"sql/a.c": "", "kafka/README.md": "", "README.md": "", "other/a.c": ""},
                   [("sql/README.md", 1)])

    def test_map(self):
        files = {"sql/README.md": "`a.c`, `b`, `k*.c` and c.c\n", "sql/a.c": "", "sql/b.c": "",
                 "sql/ka.c": "", "sql/c.c": "", "sql/deep/d.c": ""}
        self.check("map", files, [("sql/README.md", 1)])

    def test_metrics(self):
        self.check("metrics", {
            "runtime/base/metrics_table.c": '{"weir_a_total", X},\n{"weir_b_seconds", X},\n',
            "docker/prometheus/alerts.yml": "expr: rate(weir_a_total[1m]) > weir_b_seconds_bucket\n"
                                            "expr: weir_c_total > 0 #!\n",
            "docker/grafana/a.json": '{"expr": "weir_a"}  #!\n'})

    def test_failpoints(self):
        self.check("failpoints", {
            "docs/testing.md": "`a.write`, `b.written`, `kafka.sent.<request>`\n",
            "tests/integration/test_kill_matrix.c": '"a.write" "b.written" "kafka.sent.End"\n',
            "kafka/a.c": 'weir_failpoint("a.write");\nweir_failpoint("kafka.sent.End");\n'
                         'if (weir_failpoint("b.write")) {  //!\n',
            "tests/a.c": 'weir_failpoint("x");\n'}, [("kafka/a.c", 3)])

    def test_layers(self):
        self.check("layers", {
            "runtime/a.c": '#include "runtime/a.h"\n#include "kafka/client.h"  //!\n',
            "operators/a.c": '#include "runtime/a.h"\n#include "sql/plan.h"  //!\n',
            "kafka/a.h": '#include "operators/expr.h"  //!\n#include <runtime/x.h>\n',
            "sql/a.c": '#include "operators/expr.h"\n#include "app/config.h"  //!\n',
            "app/a.c": '#include "sql/plan.h"\n#include "tests/harness/base.h"  //!\n',
            "tests/a.c": '#include "app/config.h"\n'})

    def test_foreign(self):
        self.check("foreign", {
            "kafka/rdkafka_x.c": "#include <librdkafka/rdkafka.h>\n#include <gmp.h>  //!\n",
            "kafka/client.h": "#include <librdkafka/rdkafka.h>  //!\n",
            "sql/plan.c": "#include <pg_query.h>  //!\n", "sql/parse.c": "#include <pg_query.h>\n",
            "app/x.c": "#include <cmocka.h>  //!\n", "tests/x.c": "#include <cmocka.h>\n"})

    def test_include_names(self):
        self.check("include-names", {"sql/a.c": '#include "sql/a.h"\n#include "a.h"  //!\n'
                                                '#include "../runtime/b.h"  //!\n',
                                     "bench/a.c": '#include "a.h"\n'})

    def test_guards(self):
        self.check("guards", {"sql/a.h": "#ifndef WEIR_SQL_A_H\n#define WEIR_SQL_A_H\n#endif\n",
                              "sql/b.h": "#ifndef WEIR_SQL_A_H\n#define WEIR_SQL_A_H\n#endif\n",
                              "sql/c.h": "#pragma once\n"}, [("sql/b.h", 1), ("sql/c.h", 1)])

    def test_purpose(self):
        self.check("purpose", {"a.c": HEAD, "b.c": SPDX + "#include <x.h>  //!\n",
                               "c.c": SPDX + "//\n// Owns.\n"})

    def test_function_length(self):
        long = "static int f(int a,\n             int b)\n{\n" + "    a++;\n" * 76 + "}\n"
        table = "static int g(void)\n{\n    struct x y[] = {\n" + "        {1},\n" * 90 + "    };\n}\n"
        longer = long.replace("    a++;\n", "    a++;\n    b++;\n", 1)
        self.check("function-length", {"a.c": long + table + "int x;\n" + longer},
                   [("a.c", 80 + 95 + 1 + 1)])

    def test_typedef(self):
        self.check("typedef", {"a.h": "typedef struct a { int x; } a;  //!\n"
                                      "typedef enum b b;  //!\n"
                                      "typedef enum c (*d_fn)(void);\ntypedef int (*e_fn)(void);\n"
                                      "// typedef struct in a comment\n"})

    def test_default(self):
        switch = "    switch (x) {\n    case %s:\n        break;\n    default:%s\n        break;\n    }\n"
        self.check("default", {"a.c": "int f(void)\n{\n" + switch % ("WEIR_A", "  //!")
                               + switch % ("'a'", "") + switch % ("WEIR_A | WEIR_B", "") + "}\n"})

    def test_braces(self):
        self.check("braces", {
            "a.c": "    if (a(b)) {\n    } else if (c) {\n    } else {\n    }\n"
                   "    if (a)  //!\n        b();\n    for (;;)  //!\n        c();\n"
                   "    do {\n    } while (0);\n    while (x);  //!\n"
                   "    if (a) {\n    } else  //!\n        d();\n#if (X)\n#endif\n"
                   "    char *s = \"if (a) b\"; // if (a) b\n"})

    def test_banned(self):
        self.check("banned", {"a.c": "    strcpy(a, b);  //!\n    weir_strcpy(a, b);\n"
                                     "    ops->rand(x);\n    x = atoi(y);  //!\n",
                              "tests/a.c": "    x = atoi(y);\n"})

    def test_sleeps(self):
        self.check("sleeps", {"tests/unit/sql/test_a.c": "    usleep(1);  //!\n",
                              "tests/integration/test_b.c": "    usleep(1);\n"})

    def test_test_names(self):
        self.check("test-names", {"tests/unit/sql/a.c": "", "tests/unit/nosuch/test_a.c": "",
                                  "tests/unit/sql/test_b.c": "", "sql/b.c": ""},
                   [("tests/unit/sql/a.c", 1), ("tests/unit/nosuch/test_a.c", 1)])

    def test_exit(self):
        self.check("exit", {"kafka/a.c": "    exit(1);  //!\n    thread_exit(1);\n",
                            "app/a.c": "    exit(1);\n"})

    def test_version(self):
        files = {"CMakeLists.txt": "project(weir VERSION 0.2.0 LANGUAGES C)\n",
                 "runtime/version.h": '#define WEIR_VERSION "0.1.0"\n'}
        self.check("version", files, [("runtime/version.h", 1)])
        files["runtime/version.h"] = '#define WEIR_VERSION "0.2.0"\n'
        self.assertEqual(self.faults("version", files), [])

    def test_headers(self):
        self.check("headers", {"a.h": "struct a {\n    int x;\n};\n", "b.h": "size_t f(void);\n",
                               "c.h": '#include "a.h"\nstruct c {\n    struct a a;\n};\n'},
                   [("b.h", 1)])

    def test_exports(self):
        source = "int weir_good(void) { return 0; }\nstatic int hidden;\n" \
                 "int *bad(void) { return &hidden; }\n"
        tree_of(self.folder, {"a.c": source})
        run = {"cwd": self.folder, "check": True}
        subprocess.run(["cc", "-c", "a.c"], **run)
        subprocess.run(["ar", "rc", "libweir_a.a", "a.o"], **run)
        found = list(rules_build.exports(tree.Context(self.folder, archives=self.folder)))
        self.assertEqual([fault.subject for fault in found], ["bad"])
        os.remove(os.path.join(self.folder, "libweir_a.a"))
        found = list(rules_build.exports(tree.Context(self.folder, archives=self.folder)))
        self.assertEqual(len(found), 1, "a folder without archives must not pass")

    def test_configuration(self):
        program = os.path.join(self.folder, "weir")
        tree_of(self.folder, {"docs/configuration.md": "old\n",
                              "weir": "#!/bin/sh\necho \"$1 $2\"\n"})
        os.chmod(program, 0o755)
        context = tree.Context(self.folder, weir=program)
        self.assertEqual(len(list(rules_build.configuration(context))), 1)
        tree_of(self.folder, {"docs/configuration.md": "config --markdown\n"})
        context = tree.Context(self.folder, weir=program)
        self.assertEqual(list(rules_build.configuration(context)), [])

    def test_examples(self):
        tree_of(self.folder, {"README.md": "# x\n\n```sql\nSELECT 1;\n```\n\n```sql\nSELECT 2;\n```\n",
                              "weir": '#!/bin/sh\ngrep -q 2 "$WEIR_SQL_FILE"\n'})
        program = os.path.join(self.folder, "weir")
        os.chmod(program, 0o755)
        found = list(rules_build.examples(tree.Context(self.folder, weir=program)))
        self.assertEqual([(fault.path, fault.line) for fault in found], [("README.md", 3)])

    def test_every_rule_has_its_test(self):
        for name in lint.all_rules():
            self.assertTrue(hasattr(self, "test_" + name.replace("-", "_")), name)

    def test_exceptions(self):
        allowed = "# comment\nbanned a.c:strcpy checked before\ntodo b.c nobody needs this\n"
        files = {"a.c": "    strcpy(a, b);\n    sprintf(a, b);\n", "tests/lint/allow.txt": allowed}
        self.assertEqual(self.faults("banned", files), [("a.c", 2)])
        self.assertEqual(self.faults("todo", files), [("tests/lint/allow.txt", 3)])
        files["tests/lint/allow.txt"] = "banned a.c:strcpy\n"
        with self.assertRaises(SystemExit):
            self.faults("banned", files)


class TreeTest(unittest.TestCase):
    def test_blank_keeps_places(self):
        text = 'a = "x // y"; // "z"\n/* b\n{ */ c = \'"\';\n'
        code = tree.blank(text)
        self.assertEqual(len(code), len(text))
        self.assertEqual(code.split(), ["a", "=", '"', '";', "c", "=", "'", "';"])

    def test_functions(self):
        code = ("struct a {\n    int b;\n};\nstatic const int t[] = {\n    1,\n};\n"
                "#define M(x) \\\n    do { \\\n    } while (0)\n"
                "__attribute__((format(printf, 1, 2))) void f(int a)\n{\n    if (a) {\n    }\n}\n"
                "struct a *g(void)\n{\n}\nint h(void);\n")
        found = [(function.name, function.line, function.end_line)
                 for function in tree.functions(code)]
        self.assertEqual(found, [("f", 10, 14), ("g", 15, 17)])


if __name__ == "__main__":
    sys.exit(unittest.main())
