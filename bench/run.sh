#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures weir against bare reading and bare passing through, on one broker, in one session.
#
#   bench/run.sh [OPTIONS]
#
#   --bin DIR           where the measuring programs are (build/bench)
#   --weir FILE         the weir to measure; without it only the raw programs are
#   --query NAME        of bench/sql: q0, q2, filter100, tumble; with --keys count1m; may be
#                       repeated (q0)
#   --keys K            keyed events of some 100 bytes over K keys instead of NEXMark's
#   --events N          in the input topic (1000000)
#   --partitions P      of input and output (8)
#   --rounds R          each runs everything once, in turn A B and B A (5)
#   --tasks T           consumer handles of the raw programs, WEIR_PARALLELISM of weir (2)
#   --interval-ms MS    between two commits (1000)
#   --tps N             events per second of event time (100000)
#   --group N           event times out of order in groups of so many (1)
#   --dir DIR           broker, logs, results (a new one below /tmp; taken away unless given)
#   --brokers LIST      a running broker instead of one of its own
#   --no-verify         outputs are not checked
#
# CPU is user + system of the measured process alone, as wait4() tells it; the broker's is told beside
# it. Foreign CPU is what everything else on the machine burnt meanwhile: a run with much of it is not
# to be believed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"

bin=$here/../build/bench weir='' queries=() events=1000000 partitions=8 rounds=5 tasks=2
interval_ms=1000 tps=100000 group=1 dir='' brokers='' is_verified=1
keys=0 rows_out=0
while [ $# -gt 0 ]; do
    case $1 in
    --no-verify)
        is_verified=0
        shift
        continue
        ;;
    -*) [ $# -ge 2 ] || usage ;;
    *) usage ;;
    esac
    case $1 in
    --bin) bin=$2 ;;
    --weir) weir=$2 ;;
    --query) queries+=("$2") ;;
    --events) events=$2 ;;
    --partitions) partitions=$2 ;;
    --rounds) rounds=$2 ;;
    --tasks) tasks=$2 ;;
    --interval-ms) interval_ms=$2 ;;
    --tps) tps=$2 ;;
    --group) group=$2 ;;
    --keys) keys=$2 ;;
    --dir) dir=$2 ;;
    --brokers) brokers=$2 ;;
    *) usage ;;
    esac
    shift 2
done
if [ ${#queries[@]} = 0 ]; then
    queries=(q0)
    [ "$keys" = 0 ] || queries=(count1m)
fi
for query in "${queries[@]}"; do
    [ -f "$here/sql/$query.sql" ] || die "no bench/sql/$query.sql"
done
[ -x "$bin/rawpass" ] || die "no $bin/rawpass: build bench first, or say --bin"
[ -z "$weir" ] || [ -x "$weir" ] || die "no $weir"
is_kept=1
if [ -z "$dir" ]; then
    dir=$(mktemp -d)
    is_kept=0
fi
mkdir -p "$dir/logs"
results=$dir/results.tsv
: >"$results"

broker_pid='' is_own_broker=0
finish() {
    local code=$?
    [ $is_own_broker = 0 ] || "$here/../tools/broker.sh" stop "$dir/broker" || true
    if [ $is_kept = 0 ] && [ $code = 0 ]; then
        rm -rf "$dir"
    else
        echo "run: logs and results are in $dir" >&2
    fi
}
trap finish EXIT
if [ -z "$brokers" ]; then
    brokers=$("$here/../tools/broker.sh" --bench start "$dir/broker")
    is_own_broker=1
    broker_pid=$(cat "$dir/broker/pid")
fi

# CPU of a process and of the whole machine so far, in ticks.
process_ticks() {
    [ -n "$broker_pid" ] || {
        echo 0
        return
    }
    cpu_ticks "$broker_pid"
}
machine_ticks() {
    awk '/^cpu /{print $2 + $3 + $4 + $7 + $8 + $9; exit}' /proc/stat
}
field() { # FILE NAME: the value of a field of a flat JSON line, or 0
    sed -n "s/.*\"$2\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$1" | tail -n 1 | grep . || echo 0
}

input=nexmark-$events-$partitions-$tps-$group
declare -i run_number=0
seeds=(--tps "$tps" --group "$group")
filling=("${seeds[@]}")
if [ "$keys" != 0 ]; then
    input=keyed-$events-$partitions-$tps-$keys
    filling=(--tps "$tps" --keys "$keys")
fi

# Runs a command under runcpu and leaves a line in the results.
#   measure NAME OUTPUT-TOPIC VERIFY-ARGUMENTS -- COMMAND…
measure() {
    local name=$1 output=$2
    shift 2
    local checks=()
    while [ "$1" != -- ]; do
        checks+=("$1")
        shift
    done
    shift
    local log=$dir/logs/$run_number-$name
    [ -z "$output" ] || "$bin/topics" --brokers "$brokers" create "$output" "$partitions"
    local broker_before machine_before broker_after machine_after code=0 verdict=-
    broker_before=$(process_ticks) machine_before=$(machine_ticks)
    "$bin/runcpu" -o "$log.cpu" "$@" >"$log.out" 2>"$log.err" || code=$?
    broker_after=$(process_ticks) machine_after=$(machine_ticks)
    if [ $code != 0 ]; then
        tail -n 20 "$log.err" >&2
        die "$name ended with $code"
    fi
    if [ "${checks[0]:-}" = tally ]; then
        # Also without --no-verify: the raw pass-through has to write as many rows.
        "$bin/tally" --brokers "$brokers" --topic "$output" "${checks[@]:2}" >"$log.verify"
        rows_out=$(field "$log.verify" rows)
        verdict=good
        [ "$(field "$log.verify" sum)" = "${checks[1]}" ] || verdict=BAD
    elif [ $is_verified = 1 ] && [ ${#checks[@]} -gt 0 ]; then
        verdict=good
        "$bin/verify" --brokers "$brokers" --topic "$output" --events "$events" \
            --partitions "$partitions" "${seeds[@]}" "${checks[@]}" \
            >"$log.verify" 2>&1 || verdict=BAD
    fi
    [ -z "$output" ] || "$bin/topics" --brokers "$brokers" delete "$output"
    awk -v name="$name" -v events="$events" -v cpu="$(field "$log.cpu" cpu_s)" \
        -v user="$(field "$log.cpu" user_s)" -v wall="$(field "$log.cpu" wall_s)" \
        -v rss="$(field "$log.cpu" peak_rss_kib)" -v hz="$(getconf CLK_TCK)" \
        -v broker=$((broker_after - broker_before)) -v verdict="$verdict" \
        -v machine=$((machine_after - machine_before)) 'BEGIN {
            foreign = (machine - broker) / hz - cpu
            printf "%s\t%.0f\t%.3f\t%.3f\t%.3f\t%.0f\t%.2f\t%.2f\t%s\n", name, events / cpu, cpu,
                user, wall, rss / 1024, broker / hz, (foreign > 0 ? foreign : 0), verdict }' |
        tee -a "$results" >&2
}

run_rawread() {
    measure rawread '' -- "$bin/rawread" --brokers "$brokers" --topic "$input" --tasks "$tasks"
}
run_rawpass() { # NAME VERIFY-ARGUMENTS -- ARGUMENTS
    local name=$1 checks=()
    shift
    while [ "$1" != -- ]; do
        checks+=("$1")
        shift
    done
    measure "$name" "out-$$-$run_number-$name" "${checks[@]}" "$@" "$bin/rawpass" --brokers "$brokers" \
        --input "$input" --output "out-$$-$run_number-$name" --id "$name-$$-$run_number" \
        --tasks "$tasks" --interval-ms "$interval_ms" "${raw_options[@]}"
}
run_weir() { # QUERY
    local query=$1 output=out-$$-$run_number-weir checks=(--timestamps --rows q0)
    case $query in
    q2) checks=(--timestamps --rows q2) ;;
    filter100) checks+=(--filter price%100) ;;
    count1m) checks=(tally "$events" --field n --key k --keys "$keys") ;;
    tumble) checks=(tally "$((events * 46 / 50))" --field bids) ;; # if 50 divides the events
    esac
    local sql
    sql=$(query_sql "$query" "$input" "$output")
    measure "weir-$query" "$output" "${checks[@]}" -- env \
        WEIR_JOB_ID="bench-$$-$run_number" WEIR_KAFKA_BOOTSTRAP_SERVERS="$brokers" WEIR_SQL="$sql" \
        WEIR_BOUNDED=true WEIR_STATE_DIR="$dir/state-$run_number" WEIR_HTTP_LISTEN= \
        WEIR_CHECKPOINT_INTERVAL="${interval_ms}ms" WEIR_PARALLELISM="$tasks" "$weir" run
    rm -rf "$dir/state-$run_number"
}

# What is measured, by name; `run_one` knows how.
kinds=(rawread rawpass rawpass-ts)
[ "$keys" = 0 ] || kinds=(rawread)
for query in "${queries[@]}"; do
    case $query in
    q0) kinds+=(rawpass-ts-q0size) ;;
    count1m) kinds+=(rawpass-ts-count) ;;
    tumble) ;;
    *) kinds+=(rawpass-ts-1in100) ;;
    esac
    [ -z "$weir" ] || kinds+=("weir-$query")
done
mapfile -t kinds < <(printf '%s\n' "${kinds[@]}" | awk '!seen[$0]++')

run_one() {
    run_number+=1
    raw_options=()
    case $1 in
    rawread) run_rawread ;;
    rawpass) run_rawpass "$1" --rows events -- ;;
    rawpass-ts)
        raw_options=(--timestamps)
        run_rawpass "$1" --rows events --timestamps --
        ;;
    rawpass-ts-q0size)
        raw_options=(--timestamps --cut 160)
        run_rawpass "$1" --rows events --cut 160 --timestamps --
        ;;
    rawpass-ts-1in100)
        raw_options=(--timestamps --keep-per-mille 10)
        run_rawpass "$1" --
        ;;
    rawpass-ts-count)
        # As many rows, and as large, as the last run of weir wrote.
        raw_options=(--timestamps --cut 32 --keep-per-mille $((rows_out * 1000 / events)))
        run_rawpass "$1" --
        ;;
    weir-*) run_weir "${1#weir-}" ;;
    esac
}

"$bin/topics" --brokers "$brokers" show "$input" 2>/dev/null | grep -q "\"offsets\":$events}" || {
    "$bin/topics" --brokers "$brokers" delete "$input" 2>/dev/null || true
    sleep 1
    "$bin/topics" --brokers "$brokers" create "$input" "$partitions"
    "$bin/nexgen" --brokers "$brokers" --topic "$input" "${filling[@]}" preload "$events" >&2
}
echo "run: one throw-away run of each raw program, then $rounds rounds" >&2
run_one rawread
run_one rawpass-ts
if [ "$keys" != 0 ] && [ -n "$weir" ]; then
    run_one weir-count1m
fi
: >"$results"
for ((round = 0; round < rounds; round++)); do
    order=("${kinds[@]}")
    if ((round % 2 == 1)); then
        mapfile -t order < <(printf '%s\n' "${kinds[@]}" | tac)
    fi
    for kind in "${order[@]}"; do
        run_one "$kind"
    done
done

librdkafka=$(field "$dir/logs/1-rawread.out" librdkafka)
weir_version=none
[ -z "$weir" ] || weir_version=$("$weir" version 2>/dev/null | head -n 1 || echo unknown)
broker=$brokers
[ $is_own_broker = 0 ] || broker="Kafka $(head -n 1 "$here/../tools/kafka-version")"
cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
what=NEXMark
[ "$keys" = 0 ] || what="Keyed, $keys keys"
span_s=$(awk -v events="$events" -v tps="$tps" 'BEGIN { print events / tps }')
cat <<E

$what: $events events in JSON, $partitions partitions
$span_s s of event time (tps $tps, group $group, seed 42)
$(date -u +%Y-%m-%dT%H:%MZ), $(nproc) CPUs ($cpu), load $(cut -d' ' -f1 /proc/loadavg)
weir $weir_version, librdkafka $librdkafka, broker $broker
exactly once, commit every $interval_ms ms, $tasks tasks, $rounds rounds; medians (least to greatest)

E
awk -F'\t' -f "$here/table.awk" "$results"
if grep -q BAD "$results"; then
    die "an output is wrong: see $dir/logs/*.verify"
fi
