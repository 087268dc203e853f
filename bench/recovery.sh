#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures how long a reader waits after SIGKILL: a keyed count with K keys in its state is killed at
# random moments under a steady input and started again at once, and what went on until the first new
# committed row could be read is told by phase.
#
#   bench/recovery.sh --weir FILE [OPTIONS]
#
#   --bin DIR           where the measuring programs are (build/bench)
#   --keys K            in the state, of the query count1m (1000000)
#   --per-second R      events, each of another key, before, during and after the kills (5000)
#   --rounds N          kills (10)
#   --interval TIME     WEIR_CHECKPOINT_INTERVAL (1s, weir's default)
#   --partitions P      of input and output (4)
#   --tasks T           WEIR_PARALLELISM (2)
#   --dir DIR           broker, logs, state (a new one below /tmp; taken away unless given)
#   --brokers LIST      a running broker instead of one of its own
#
# Prints median, 90th percentile and maximum of each phase in milliseconds, from the start of the
# process to the first row, wall clock: on a machine with other work they are upper bounds. Two phases
# wait for the broker, which has to abort what the dead process left open: "fencing" and "positions".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"
bin=$here/../build/bench weir='' keys=1000000 per_second=5000 rounds=10 interval=1s partitions=4 tasks=2
dir='' brokers=''
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || die "$1 lacks its value"
    case $1 in
    --bin) bin=$2 ;;
    --weir) weir=$2 ;;
    --keys) keys=$2 ;;
    --per-second) per_second=$2 ;;
    --rounds) rounds=$2 ;;
    --interval) interval=$2 ;;
    --partitions) partitions=$2 ;;
    --tasks) tasks=$2 ;;
    --dir) dir=$2 ;;
    --brokers) brokers=$2 ;;
    *) usage ;;
    esac
    shift 2
done
need_programs firstrow
begin_keyed_job recovery
start_keyed_job "$dir/weir-0.log"
fill
"${generate[@]}" --per-second "$per_second" paced $((per_second * (rounds + 1) * 20)) \
    >"$dir/nexgen.log" 2>&1 &
feeder=$!
sleep 5

# One line a round: name and milliseconds of each phase.
clock_ms() { date -ud "$1" +%s%3N; } # of a line of weir's log
first_line() { grep -m1 -- "$1" "$log" | cut -d' ' -f1; }
: >"$dir/phases.tsv"
note() { printf '%s\t%s\n' "$1" "$2" >>"$dir/phases.tsv"; }
for round in $(seq "$rounds"); do
    sleep "$((RANDOM % 4 + 2)).$((RANDOM % 1000))"
    kill -0 "$feeder" 2>/dev/null || die "the input is over: fewer rounds"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || true
    "$bin/firstrow" --brokers "$brokers" --topic "$output" >"$dir/firstrow.out" &
    reader=$!
    until grep -q ready "$dir/firstrow.out"; do sleep 0.05; done
    began_ms=$(date +%s%3N)
    start_keyed_job "$dir/weir-$round.log"
    wait "$reader" || die "no row came: $log"
    ticks=$(cpu_ticks "$pid")
    row_ms=$(sed -n 's/.*"first_row_ms":\([0-9]*\).*/\1/p' "$dir/firstrow.out")
    running_ms=$(clock_ms "$(first_line ' is running: ')")
    batch_ms=$(clock_ms "$(first_line ' has its first records')")
    committed_ms=$(clock_ms "$(first_line 'checkpoint [0-9]* committed: ')")
    took=$(sed -n 's/.*recovered within \([0-9]*\) ms.*/\1/p' "$log")
    trigger_to_commit=$(sed -n 's/.*checkpoint [0-9]* committed: \([0-9]*\) ms.*/\1/p' "$log" | head -1)
    waited=0
    note '1 process to first broker' $((running_ms - took - began_ms))
    number=2
    while IFS=, read -r -d, phase; do
        name=${phase% *}
        note "$number ${name# }" "${phase##* }"
        number=$((number + 1))
        case $name in *fencing | *positions) waited=$((waited + ${phase##* })) ;; esac
    done < <(sed -n 's/.*recovered within [0-9]* ms: \(.*\)/\1,/p' "$log")
    note '91 running to first records' $((batch_ms - running_ms))
    note '92 first records to trigger' $((committed_ms - trigger_to_commit - batch_ms))
    note '93 trigger to commit' "$trigger_to_commit"
    note '94 commit to a reader' $((row_ms - committed_ms))
    note '95 all' $((row_ms - began_ms))
    note '96 all, without the waits for the broker' $((row_ms - began_ms - waited))
    note '97 CPU of the process until then' $((ticks * 1000 / $(getconf CLK_TCK)))
done
stop_keyed_job

echo "$keys keys, $per_second events a second, a checkpoint each $interval, $rounds kills, $tasks tasks," \
    "$partitions partitions; load $(cut -d' ' -f1 /proc/loadavg)"
sort -t"$(printf '\t')" -k1,1V -k2,2n "$dir/phases.tsv" | awk -F'\t' '
    function q(p, i) { i = int(p * n + 0.9999); return v[i < 1 ? 1 : i] }
    function tell() { if (n) printf "%-44s p50 %6d  p90 %6d  max %6d ms\n", last, q(0.5), q(0.9), v[n] }
    $1 != last { tell(); last = $1; n = 0 }
    { v[++n] = $2 }
    END { tell() }' | sed 's/^[0-9]* //'
