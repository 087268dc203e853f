# SPDX-License-Identifier: Apache-2.0
"""Rules that need a compiler, a build, or a file of the build."""
import concurrent.futures
import glob
import os
import re
import subprocess
import tempfile

from tree import Fault, rule_list

RULES, rule = rule_list()


@rule("version")
def version(context):
    """`weir version`, the manifests and the image must not tell two versions."""
    project = re.search(r"project\(weir VERSION (\S+)", context.read("CMakeLists.txt"))
    header = re.search(r'#define WEIR_VERSION "([^"]*)"', context.read("runtime/version.h"))
    if project is None or header is None or project.group(1) != header.group(1):
        yield Fault("runtime/version.h", 1, "is not the version of project() in CMakeLists.txt")


@rule("headers")
def headers(context):
    """A header that leans on what its includer happened to include before breaks the next one."""
    def compile_one(path):
        command = [context.compiler, "-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", "-x", "c",
                   "-I", context.root, "-include", os.path.join(context.root, path), os.devnull]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              check=False)
        return path, done.returncode, done.stderr.decode(errors="replace")

    # cmocka.h itself is not self-contained, so whoever includes it cannot be.
    paths = [path for path in context.matching(".h") if "<cmocka.h>" not in context.read(path)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, code, errors in pool.map(compile_one, paths):
            if code != 0:
                first = next((line for line in errors.split("\n") if "error:" in line), errors)
                yield Fault(path, 1, "does not compile alone: " + first.split("error: ")[-1])


@rule("exports")
def exports(context):
    """Every symbol of a static library that another file can see is in one name space with all
    linked libraries (libpg_query exports palloc): the prefix keeps ours apart."""
    if context.archives is None:
        return
    archives = sorted(glob.glob(os.path.join(context.archives, "**", "libweir_*.a"), recursive=True))
    if not archives:
        yield Fault("CMakeLists.txt", 1, f"no libweir_*.a below {context.archives}")
    for archive in archives:
        done = subprocess.run(["nm", "--extern-only", "--defined-only", archive],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        member = ""
        for line in done.stdout.decode().split("\n"):
            if line.endswith(":"):
                member = line[:-1]
            elif line:
                symbol = line.split()[-1]
                # Sanitizers and coverage put symbols of their own beside ours: __asan…, __gcov….
                if not symbol.startswith(("weir_", "__")):
                    yield Fault(os.path.basename(archive), 1, f"{member}: {symbol}", symbol)


@rule("configuration")
def configuration(context):
    """docs/configuration.md is made from the table of variables: a stale page tells operators of
    variables that are not there."""
    if context.weir is None:
        return
    done = subprocess.run([context.weir, "config", "--markdown"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, env={"PATH": os.defpath})
    if done.returncode != 0:
        yield Fault("docs/configuration.md", 1, "weir config --markdown failed: "
                    + done.stderr.decode(errors="replace").strip())
    elif done.stdout.decode() != context.read("docs/configuration.md"):
        yield Fault("docs/configuration.md", 1,
                    "is stale: weir config --markdown > docs/configuration.md")


@rule("examples")
def examples(context):
    """A job that stands in a README.md is the first that a newcomer runs: `weir check` must take it."""
    if context.weir is None:
        return
    for path in context.matching("README.md"):
        text = context.read(path)
        for match in re.finditer(r"^```sql\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            with tempfile.NamedTemporaryFile("w", suffix=".sql", encoding="utf-8") as file:
                file.write(match.group(1))
                file.flush()
                done = subprocess.run(
                    [context.weir, "check"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    check=False, env={"PATH": os.defpath, "WEIR_SQL_FILE": file.name,
                                      "WEIR_JOB_ID": "lint", "WEIR_HTTP_LISTEN": "",
                                      "WEIR_KAFKA_BOOTSTRAP_SERVERS": "localhost:9092"})
            if done.returncode != 0:
                yield Fault(path, text.count("\n", 0, match.start()) + 1,
                            "weir check: " + done.stderr.decode(errors="replace").split("\n")[0])
