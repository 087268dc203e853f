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
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"
bin=$here/../build/bench weir='' keys=1000000 per_second=20000 seconds=30 partitions=4 tasks=2
memory='' dir='' brokers='' interval=1s
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
    *) usage ;;
    esac
    shift 2
done
need_programs nexgen
begin_keyed_job state
[ -z "$memory" ] || export WEIR_MEMORY=$memory
start_keyed_job "$dir/weir.log"
start_s=$(date +%s)
fill
filled_s=$(($(date +%s) - start_s))
sleep 5
mark=$(wc -l <"$log")
cpu_before=$(cpu_ticks "$pid")
"${generate[@]}" --per-second "$per_second" paced $((per_second * seconds)) >&2
cpu_after=$(cpu_ticks "$pid")
memory_line=$(awk '/^VmHWM|^VmRSS/{printf "%s %d MiB ", $1, $2 / 1024}' "/proc/$pid/status")
stop_keyed_job

# Names and numbers of the phase at the steady rate; its first and last epochs are not whole.
tail -n "+$((mark + 1))" "$log" >"$dir/steady.log"
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
