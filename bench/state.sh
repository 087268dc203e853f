#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures a keyed job at a steady rate of change: how long its tasks pause at a barrier, how long a
# checkpoint takes from trigger to commit and where, and its memory, with K keys in its state.
#
#   bench/state.sh --weir FILE [OPTIONS]
#
#   --bin DIR           where the measuring programs are (build/bench)
#   --keys K            in the state, of the query count1m (1000000)
#   --per-second R      keys that change, each once in K / R seconds (20000)
#   --seconds S         at that rate, at one checkpoint a second (30)
#   --partitions P      of input and output (4)
#   --tasks T           WEIR_PARALLELISM (2)
#   --memory SIZE       WEIR_MEMORY (weir's default)
#   --dir DIR           broker, logs, state (a new one below /tmp; taken away unless given)
#   --brokers LIST      a running broker instead of one of its own
#
# Prints the 50th, 90th and 99th percentile and the maximum of each figure. The figures are wall clock,
# but for the CPU of a pause: on a machine with other work they are upper bounds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

die() {
    echo "state: $*" >&2
    exit 1
}
bin=$here/../build/bench weir='' keys=1000000 per_second=20000 seconds=30 partitions=4 tasks=2
memory='' dir='' brokers=''
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || die "$1 lacks its value"
    case $1 in
    --bin) bin=$2 ;;
    --weir) weir=$2 ;;
    --keys) keys=$2 ;;
    --per-second) per_second=$2 ;;
    --seconds) seconds=$2 ;;
    --partitions) partitions=$2 ;;
    --tasks) tasks=$2 ;;
    --memory) memory=$2 ;;
    --dir) dir=$2 ;;
    --brokers) brokers=$2 ;;
    *) sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
    esac
    shift 2
done
[ -x "$weir" ] || die "no weir: say --weir"
[ -x "$bin/nexgen" ] || die "no $bin/nexgen: build bench first, or say --bin"
is_kept=1
[ -n "$dir" ] || { dir=$(mktemp -d) is_kept=0; }
mkdir -p "$dir"
is_own_broker=0 pid=''
finish() {
    [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
    [ $is_own_broker = 0 ] || "$here/../tools/broker.sh" stop "$dir/broker" || true
    rm -rf "$dir/state"
    [ $is_kept = 1 ] || rm -rf "$dir"
}
trap finish EXIT
if [ -z "$brokers" ]; then
    brokers=$("$here/../tools/broker.sh" --bench start "$dir/broker")
    is_own_broker=1
fi
run=$(date +%s)-$$ input=state-in-$$ output=state-out-$$
for topic in "$input" "$output"; do
    "$bin/topics" --brokers "$brokers" create "$topic" "$partitions"
done
records() { "$bin/topics" --brokers "$brokers" show "$output" | sed 's/.*"offsets":\([0-9]*\).*/\1/'; }
generate() { "$bin/nexgen" --brokers "$brokers" --topic "$input" --keys "$keys" --in-turn "$@" >&2; }

export WEIR_SQL WEIR_JOB_ID=state-$run WEIR_KAFKA_BOOTSTRAP_SERVERS=$brokers WEIR_STATE_DIR=$dir/state
export WEIR_HTTP_LISTEN='' WEIR_CHECKPOINT_INTERVAL=1s WEIR_PARALLELISM=$tasks WEIR_LOG_LEVEL=debug
[ -z "$memory" ] || export WEIR_MEMORY=$memory
WEIR_SQL=$(sed -e "s/topic = 'nexmark'/topic = '$input'/" -e "s/topic = 'result'/topic = '$output'/" \
    "$here/sql/count1m.sql")
"$weir" run >"$dir/weir.log" 2>&1 &
pid=$!

# All keys once; then until every one of them is out.
start_s=$(date +%s)
generate preload "$keys"
while [ "$(records)" -lt "$keys" ]; do
    kill -0 $pid 2>/dev/null || die "weir has ended: $dir/weir.log"
    sleep 1
done
filled_s=$(($(date +%s) - start_s))
sleep 5
mark=$(wc -l <"$dir/weir.log")
cpu_ticks() { sed 's/.*) //' /proc/$pid/stat | awk '{print $12 + $13}'; }
cpu_before=$(cpu_ticks)
generate --per-second "$per_second" paced $((per_second * seconds))
cpu_after=$(cpu_ticks)
memory_line=$(awk '/^VmHWM|^VmRSS/{printf "%s %d MiB ", $1, $2 / 1024}' /proc/$pid/status)
kill -TERM $pid
wait $pid || die "weir ended with $?"
pid=''

# Names and numbers of the phase at the steady rate; its first and last epochs are not whole.
tail -n "+$((mark + 1))" "$dir/weir.log" >"$dir/steady.log"
quantiles() { # NAME UNIT: of the numbers that come in
    sort -n | awk -v name="$1" -v unit="$2" '{v[NR] = $1} function q(p, i) {
            i = int(p * NR + 0.9999); return v[i < 1 ? 1 : i] }
        END { if (NR) printf "%-34s p50 %8.2f  p90 %8.2f  p99 %8.2f  max %8.2f %s (%d)\n", name,
            q(0.5), q(0.9), q(0.99), v[NR], unit, NR }'
}
echo "$keys keys, $per_second changes a second for $seconds s, $tasks tasks, $partitions partitions," \
    "memory ${memory:-as by default}; filled within $filled_s s; $memory_line;" \
    "$(((cpu_after - cpu_before) * 100 / $(getconf CLK_TCK) / seconds)) % of a core;" \
    "load $(cut -d' ' -f1 /proc/loadavg)"
pause='s/.*task \(.*\)\/[0-9]*: barrier [0-9]* took \([0-9]*\) us, of these [0-9]* us in the state;'
pause+=' \([0-9]*\) us of CPU.*/\1\t\2\t\3/p'
sed -n "$pause" "$dir/steady.log" >"$dir/pauses.tsv"
cut -f1 "$dir/pauses.tsv" | sort -u | while read -r stage; do
    awk -F'\t' -v s="$stage" '$1 == s {print $2 / 1000}' "$dir/pauses.tsv" |
        quantiles "pause of $stage" ms
    awk -F'\t' -v s="$stage" '$1 == s {print $3 / 1000}' "$dir/pauses.tsv" |
        quantiles "CPU of it" ms
done
committed='s/.*committed: \([0-9]*\) ms, of these \([0-9]*\) ms at the committer, before that'
committed+=' \([0-9]*\) ms in the tasks, \([0-9]*\) ms for.*'
for part in '1 trigger to commit' '3 in the tasks' '4 manifest' '2 commit'; do
    sed -n "$committed/\\${part%% *}/p" "$dir/steady.log" | quantiles "${part#* }" ms
done
