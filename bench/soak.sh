#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Hours of weir at a moderate rate, killed (SIGKILL) again and again: a plain query and a keyed count over
# the same NEXMark events. Each kill comes at a random moment. In the end every row is compared with the
# generator's, and the counts must add up to the same rows.
#
#   bench/soak.sh --weir FILE [OPTIONS]
#
#   --bin DIR           where the measuring programs are (build/bench)
#   --seconds S         how long (36000: ten hours)
#   --per-second R      events (1000: about 12 GB of input in ten hours)
#   --partitions P      of input and outputs (8)
#   --kill-every S      seconds, on average (60); 0: never
#   --memory SIZE       WEIR_MEMORY (256MiB)
#   --dir DIR           broker, logs, state (a new one below /tmp; taken away if all is well)
#
# Prints a line a minute: resident size, CPU, threads, open files, size of the state on disk, how many
# events the job is behind. Ends with 0 if no row is missing, doubled or wrong.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"
bin=$here/../build/bench weir='' seconds=36000 per_second=1000 partitions=8 kill_every=60 memory=256MiB dir=''
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || die "$1 lacks its value"
    case $1 in
    --bin) bin=$2 ;;
    --weir) weir=$2 ;;
    --seconds) seconds=$2 ;;
    --per-second) per_second=$2 ;;
    --partitions) partitions=$2 ;;
    --kill-every) kill_every=$2 ;;
    --memory) memory=$2 ;;
    --dir) dir=$2 ;;
    *) usage ;;
    esac
    shift 2
done
need_programs nexgen
dir=${dir:-$(mktemp -d)}
mkdir -p "$dir"
pid='' generator='' is_good=0
finish() {
    for process in $pid $generator; do
        kill -9 "$process" 2>/dev/null || true
    done
    "$here/../tools/broker.sh" stop "$dir/broker" || true
    if [ $is_good = 1 ]; then rm -rf "$dir"; else echo "soak: all of it is in $dir" >&2; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

brokers=$("$here/../tools/broker.sh" --light start "$dir/broker")
for topic in in out counts; do
    "$bin/topics" --brokers "$brokers" create $topic "$partitions"
done
keys=1000
sql=$(query_sql q0 in out)
sql+="
CREATE TABLE counts (k bigint PRIMARY KEY, n bigint) WITH (topic = 'counts');
INSERT INTO counts SELECT (bid).auction % $keys, count(*) FROM nexmark WHERE event_type = 2
GROUP BY (bid).auction % $keys;"

start_weir() {
    WEIR_SQL=$sql WEIR_JOB_ID=soak WEIR_KAFKA_BOOTSTRAP_SERVERS=$brokers WEIR_STATE_DIR=$dir/state \
        WEIR_HTTP_LISTEN='' WEIR_MEMORY=$memory WEIR_RESTORE=auto "$weir" run 2>>"$dir/weir.log" &
    pid=$!
}
look() {
    local cpu_before cpu_after
    cpu_before=$(cpu_ticks "$pid")
    sleep 5
    cpu_after=$(cpu_ticks "$pid")
    awk -v elapsed="$SECONDS" -v kills=$kills -v files="$(find "/proc/$pid/fd" | wc -l)" \
        -v disk="$(du -sm "$dir/state" 2>/dev/null | cut -f 1)" -v in_count="$(offsets in)" \
        -v cpu=$(((cpu_after - cpu_before) * 100 / $(getconf CLK_TCK) / 5)) \
        '/^VmRSS/ {rss = $2 / 1024} /^Threads/ {threads = $2}
        END {printf "%6d s  %4d kills  %4d MiB resident  %3d %% of a core  %3d threads  %3d files" \
            "  %5d MiB of state  %d events\n", elapsed, kills, rss, cpu, threads, files, disk, in_count}' \
        "/proc/$pid/status"
}

events=$((per_second * seconds)) base_ms=$((($(date +%s) + 5) * 1000)) kills=0
echo "$events events, $per_second a second, on $brokers; logs in $dir"
start_weir
"$bin/nexgen" --brokers "$brokers" --topic in --per-second "$per_second" --base-ms "$base_ms" \
    paced "$events" >"$dir/generator.log" 2>&1 &
generator=$!
next_kill=$((SECONDS + kill_every)) next_look=30
while kill -0 $generator 2>/dev/null; do
    sleep 0.$((RANDOM % 10))
    kill -0 "$pid" 2>/dev/null || die "weir has ended by itself: $(tail -n 3 "$dir/weir.log")"
    if [ "$kill_every" != 0 ] && [ $SECONDS -ge $next_kill ]; then
        kill -9 "$pid"
        wait "$pid" 2>/dev/null || true
        kills=$((kills + 1)) next_kill=$((SECONDS + kill_every / 2 + RANDOM % (kill_every + 1)))
        start_weir
    elif [ $SECONDS -ge $next_look ]; then
        next_look=$((SECONDS + 60))
        look
    fi
done
wait $generator || die "the generator failed: $(cat "$dir/generator.log")"
generator=''

verify() {
    "$bin/verify" --brokers "$brokers" --topic out --events "$events" --partitions "$partitions" \
        --rows q0 --base-ms "$base_ms" --tps "$per_second"
}
for _ in $(seq 60); do
    ! verify >"$dir/verified" 2>"$dir/faults" || break
    sleep 2
done
cat "$dir/verified"
[ ! -s "$dir/faults" ] || { head -n 10 "$dir/faults" >&2; die "the rows are not right"; }
kill -TERM "$pid"
wait "$pid" || die "weir ended with $?: $(tail -n 3 "$dir/weir.log")"
pid=''
bids=$(sed 's/.*"rows":\([0-9]*\).*/\1/' "$dir/verified")
counted=$("$bin/tally" --brokers "$brokers" --topic counts --field n --key k --keys $keys |
    sed 's/.*"sum":\([0-9]*\).*/\1/')
echo "$kills kills; $bids rows, every one there, once; counts of keys add up to $counted"
[ "$bids" = "$counted" ] || die "the counts do not add up"
is_good=1
