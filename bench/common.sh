# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts in this folder share. Sourced, never run; they set $here, and what their options say.
# shellcheck disable=SC2154

# shellcheck source-path=SCRIPTDIR
. "$here/../tools/common.sh"

# Prints the script's head.
usage() {
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}
need_programs() { # ONE: of the measuring programs
    [ -x "$weir" ] || die "no weir: say --weir"
    [ -x "$bin/$1" ] || die "no $bin/$1: build bench first, or say --bin"
}
query_sql() { # QUERY INPUT OUTPUT: its text, with these topics
    sed -e "s/topic = 'nexmark'/topic = '$2'/" -e "s/topic = 'result'/topic = '$3'/" "$here/sql/$1.sql"
}
offsets() { # TOPIC: of all partitions, added up
    "$bin/topics" --brokers "$brokers" show "$1" | sed 's/.*"offsets":\([0-9]*\).*/\1/'
}
cpu_ticks() { # PID
    sed 's/.*) //' "/proc/$1/stat" | awk '{print $12 + $13}'
}

# --- a count over many keys that goes on for a while -------------------------------------------------

# A folder and a broker where none are given (both go with the script, and so do its children); topics
# $input and $output; what weir is told; ${generate[@]} makes events, each of another key.
begin_keyed_job() { # NAME
    is_kept=1 is_own_broker=0
    [ -n "$dir" ] || { dir=$(mktemp -d) is_kept=0; }
    mkdir -p "$dir"
    trap end_keyed_job EXIT
    if [ -z "$brokers" ]; then
        brokers=$("$here/../tools/broker.sh" --bench start "$dir/broker")
        is_own_broker=1
    fi
    local run topic
    run=$1-$(date +%s)-$$
    input=$run-in output=$run-out
    for topic in "$input" "$output"; do
        "$bin/topics" --brokers "$brokers" create "$topic" "$partitions"
    done
    generate=("$bin/nexgen" --brokers "$brokers" --topic "$input" --keys "$keys" --in-turn)
    export WEIR_SQL WEIR_JOB_ID=$run WEIR_KAFKA_BOOTSTRAP_SERVERS=$brokers WEIR_STATE_DIR=$dir/state
    export WEIR_HTTP_LISTEN='' WEIR_CHECKPOINT_INTERVAL=$interval WEIR_PARALLELISM=$tasks
    export WEIR_LOG_LEVEL=debug
    WEIR_SQL=$(query_sql count1m "$input" "$output")
}
end_keyed_job() {
    local child
    for child in $(jobs -p); do
        kill -9 "$child" 2>/dev/null || true
    done
    [ "$is_own_broker" = 0 ] || "$here/../tools/broker.sh" stop "$dir/broker" || true
    rm -rf "$dir/state"
    [ "$is_kept" = 1 ] || rm -rf "$dir"
}
start_keyed_job() { # LOG
    log=$1
    "$weir" run >"$log" 2>&1 &
    pid=$!
}
stop_keyed_job() {
    kill -TERM "$pid"
    wait "$pid" || die "weir ended with $?: $log"
}
# All keys once; then until every one of them is out.
fill() {
    "${generate[@]}" preload "$keys" >&2
    while [ "$(offsets "$output")" -lt "$keys" ]; do
        kill -0 "$pid" 2>/dev/null || die "weir has ended: $log"
        sleep 1
    done
}
