#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A broker of one node on 127.0.0.1 for the demo and for benchmarks.
#
#   tools/broker.sh [OPTIONS] start DIR [PORT]   prints the bootstrap address once the broker serves
#   tools/broker.sh stop DIR                     ends it in an orderly way
#   tools/broker.sh status DIR                   prints the address, or fails if it does not run
#
#   --light          small heap, starts in about 2 s (default)
#   --bench          1 GB of heap and G1
#   --heap SIZE      another heap, e.g. 2g
#   --version V      another Kafka than the first line of tools/kafka-version
#   --set KEY=VALUE  one more line of server.properties, may be repeated
#   --foreground     becomes the broker; prints nothing but its log
#
# Everything of the broker lies in DIR: data, server.properties, log, port, pid. A second start finds its
# data and its port again. Without PORT a free one is taken. Where it runs already, its address is printed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"

usage() {
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}

profile=light heap='' version='' settings='' is_foreground=0
while [ $# -gt 0 ]; do
    case $1 in
    --light | --bench) profile=${1#--} ;;
    --heap) heap=$2 && shift ;;
    --version) version=$2 && shift ;;
    --set) settings+=$2$'\n' && shift ;;
    --foreground) is_foreground=1 ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
case $# in
2 | 3) ;;
*) usage ;;
esac
action=$1 dir=$2 port=${3:-}

# The pid alone is not enough: after a crash it may belong to somebody else.
is_running() {
    [ -f "$dir/pid" ] || return 1
    local command
    command=$(tr '\0' ' ' <"/proc/$(cat "$dir/pid")/cmdline" 2>/dev/null) || return 1
    [[ $command == *"kafka.Kafka $dir/server.properties"* ]]
}

is_serving() {
    grep -q 'Kafka Server started' "$dir/log" 2>/dev/null
}

stop() {
    is_running || {
        rm -f "$dir/pid"
        return 0
    }
    local pid
    pid=$(cat "$dir/pid")
    kill -TERM "$pid" 2>/dev/null || true
    for _ in $(seq 300); do
        is_running || break
        sleep 0.1
    done
    if is_running; then
        echo "broker: $pid does not end, killing it" >&2
        kill -KILL "$pid"
    fi
    rm -f "$dir/pid"
}

write_properties() {
    cat >"$dir/server.properties" <<E
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$dir/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.retention.hours=-1
log.cleaner.dedupe.buffer.size=4194304
$settings
E
}

format() {
    mkdir -p "$dir/data"
    cp -R "$kafka/formatted/." "$dir/data/"
    local id
    id=$(head -c 16 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')
    # A leading dash would be taken for an option by the tools.
    printf 'version=1\ncluster.id=%s\nnode.id=1\n' "${id/#-/A}" >"$dir/data/meta.properties"
}

start() {
    if is_running && is_serving; then
        echo "127.0.0.1:$(cat "$dir/port")"
        return 0
    fi
    stop
    mkdir -p "$dir"
    [ -n "$port" ] || port=$(cat "$dir/port" 2>/dev/null || free_port)
    for busy in "$port" $((port + 1)); do
        ! port_answers "$busy" || die "port $busy is taken by another program"
    done
    local fetch=("$here/kafka-fetch.sh")
    [ -z "$version" ] || fetch+=("$version")
    kafka=$("${fetch[@]}")
    echo "$port" >"$dir/port"
    write_properties
    [ -f "$dir/data/meta.properties" ] || format
    local command=(java "@$kafka/$profile.args")
    [ -z "$heap" ] || command+=("-Xms$heap" "-Xmx$heap")
    command+=(kafka.Kafka "$dir/server.properties")
    if [ $is_foreground = 1 ]; then
        echo $$ >"$dir/pid"
        exec "${command[@]}"
    fi
    : >"$dir/log"
    setsid nohup "${command[@]}" >"$dir/log" 2>&1 </dev/null &
    local pid=$!
    echo "$pid" >"$dir/pid"
    for _ in $(seq 600); do
        if is_serving; then
            echo "127.0.0.1:$port"
            return 0
        fi
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 20 "$dir/log" >&2
    stop
    die "the broker did not start"
}

case $action in
start)
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    start
    ;;
stop)
    [ -d "$dir" ] || exit 0
    dir=$(cd "$dir" && pwd)
    stop
    ;;
status)
    [ -d "$dir" ] || die "not running"
    dir=$(cd "$dir" && pwd)
    is_running || die "not running"
    echo "127.0.0.1:$(cat "$dir/port")"
    ;;
*) usage ;;
esac
