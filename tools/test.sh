#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# All tests of weir, from a fresh checkout on. Installs what is missing, builds, and closes with one line
#   N passed, N failed, N skipped
# which counts test cases (of cmocka programs each case, of everything else each program). Ends with 1 if
# anything failed, also when nothing was run.
#
#   tools/test.sh                 everything: build with gcc and clang, lint, unit tests, real brokers,
#                                 the image with compose, the demo
#   tools/test.sh --unit          lint and unit tests: what needs no broker
#   tools/test.sh --integration   what starts brokers
#   tools/test.sh --sanitize address|thread   the same tests in a build with that sanitizer; without the
#                                 second compiler, image and demo
#   tools/test.sh --only REGEX    only the tests whose name matches (ctest -R)
#
# Options may be combined. Builds lie in build/dev, build/asan, build/tsan.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"

usage() {
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}

preset=dev is_whole=1 only=() wants_unit=0 wants_integration=0
while [ $# -gt 0 ]; do
    case $1 in
    --unit) wants_unit=1 ;;
    --integration) wants_integration=1 ;;
    --sanitize)
        case ${2:-} in
        address) preset=asan ;;
        thread) preset=tsan ;;
        *) usage ;;
        esac
        shift
        ;;
    --only)
        [ $# -ge 2 ] || usage
        only=(-R "$2")
        shift
        ;;
    *) usage ;;
    esac
    is_whole=0
    shift
done
[ $wants_unit = 1 ] || [ $wants_integration = 1 ] || wants_unit=1 wants_integration=1

cd "$root"
work=build/test
rm -rf "$work"
mkdir -p "$work"
results=$work/results # a line a test: passed, failed or skipped, then its name

note() {
    printf '%s %s\n' "$1" "$2" >>"$results"
}
say() {
    printf '\n== %s  (%d s)\n' "$*" "$SECONDS"
}

close() {
    local passed failed skipped
    touch "$results"
    passed=$(grep -c '^passed ' "$results" || true)
    failed=$(grep -c '^failed ' "$results" || true)
    skipped=$(grep -c '^skipped ' "$results" || true)
    [ "$((passed + failed))" != 0 ] || failed=1
    say "Done"
    sed -n 's/^failed /failed: /p; s/^skipped /skipped: /p
        s/^again \(.*\)/passed only the second time, look into it: \1/p' "$results"
    printf '%d passed, %d failed' "$passed" "$failed"
    [ "$skipped" = 0 ] || printf ', %d skipped' "$skipped"
    printf '\n'
    [ "$failed" = 0 ]
    exit
}

# What everything after it needs: its failure is a failed test, and the end.
need() { # NAME COMMAND…
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 || {
        tail -n 60 "$work/$name.log"
        note failed "$name"
        close
    }
}

# A test that is a program of its own, and counts as its cases where it names them: "passed  NAME",
# "FAILED  NAME". 77: it could not be run here.
check() { # NAME COMMAND…
    local name=$1 code=0 cases reason
    shift
    "$@" >"$work/$name.log" 2>&1 || code=$?
    cases=$(sed -nE "s/^passed  (\w+).*/passed $name: \1/p; s/^FAILED  (\w+).*/failed $name: \1/p" \
        "$work/$name.log")
    [ -z "$cases" ] || echo "$cases" >>"$results"
    case $code in
    0) [ -n "$cases" ] || note passed "$name" ;;
    77)
        reason=$(sed -n 's/^skipped [^:]*: //p;T;q' "$work/$name.log")
        note skipped "$name: ${reason:-cannot be run here}"
        ;;
    *)
        tail -n 60 "$work/$name.log"
        grep -q '^failed ' <<<"$cases" || note failed "$name"
        ;;
    esac
}

launcher=()
# shellcheck disable=SC2317 # called through need and check
build() { # FOLDER CONFIGURE-ARGUMENTS…
    local folder=$1
    shift
    cmake -B "$folder" "$@" "${launcher[@]}" && cmake --build "$folder"
}

run_ctest() { # FOLDER
    local labels=()
    if [ $wants_integration = 0 ]; then
        labels=(-L '^unit$')
    elif [ $wants_unit = 0 ]; then
        labels=(-LE '^unit$')
    fi
    local options=(--test-dir "$1" --output-on-failure --timeout 900
        --test-output-size-passed 10000000 --test-output-size-failed 10000000)
    local files=("$work/ctest.xml")
    # What failed on a busy machine runs once more, alone; that it had to is told at the end.
    if ! ctest "${options[@]}" -j "$(nproc)" --no-tests=error \
        --output-junit "$root/$work/ctest.xml" "${labels[@]}" "${only[@]}"; then
        ctest "${options[@]}" --rerun-failed --output-junit "$root/$work/again.xml" || true
        [ ! -s "$work/again.xml" ] || files+=("$work/again.xml")
    fi
    python3 "$here/count_tests.py" "${files[@]}" >>"$results" || note failed ctest
}

say "Installing what is missing"
need install "$here/install-deps.sh" --test
command -v ccache >/dev/null && launcher=(-D CMAKE_C_COMPILER_LAUNCHER=ccache)
say "Building build/$preset"
need build build "build/$preset" --preset "$preset" -D WEIR_WERROR=ON
if [ $wants_integration = 1 ]; then
    say "Fetching the brokers"
    need kafka "$here/kafka-fetch.sh"
    "$here/registry-fetch.sh" >"$work/registry.log" 2>&1 ||
        echo "no registry (see $work/registry.log): its tests will be skipped"
fi
say "Running the tests of build/$preset"
run_ctest "build/$preset"

if [ $is_whole = 1 ]; then
    say "Building with clang"
    check build-with-clang build build/clang --preset dev -D CMAKE_C_COMPILER=clang \
        -D CMAKE_CXX_COMPILER=clang++
    if [ -x tests/compose/run.sh ]; then
        say "Running the image with compose"
        check compose tests/compose/run.sh --short
    fi
    say "Running the demo"
    check demo "$here/demo.sh" --check
fi
close
