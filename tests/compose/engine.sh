#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A docker engine for the tests.
#
#   tests/compose/engine.sh start    makes one answer: where none does, Debian's is installed (if missing)
#                                    and started in the background. Ends with 77 where none can be had.
#   tests/compose/engine.sh stop     ends the engine that `start` started; leaves any other one alone
#
# Installing and starting need root. The engine keeps its images where it always does.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/env.sh"
pid_file=$cache/dockerd.pid
log=$cache/dockerd.log

answers() {
    timeout 20 docker info >/dev/null 2>&1
}

cannot() {
    echo "engine: $*" >&2
    exit 77
}

is_ours() {
    [ -f "$pid_file" ] || return 1
    case $(readlink "/proc/$(cat "$pid_file")/exe" 2>/dev/null) in
    */dockerd) return 0 ;;
    esac
    return 1
}

start() {
    answers && return 0
    [ "$(id -u)" = 0 ] || cannot "no docker engine answers, and starting one needs root"
    if ! command -v dockerd >/dev/null; then
        "$root/tools/install-deps.sh" --docker >"$cache/install.log" 2>&1 || {
            tail -n 5 "$cache/install.log" >&2
            cannot "no docker engine answers, and none could be installed"
        }
    fi
    # Left over from an engine that was killed; the numbers may belong to other processes by now.
    local file
    for file in /var/run/docker.pid /var/run/docker/containerd/containerd.pid; do
        [ -f "$file" ] || continue
        case $(readlink "/proc/$(cat "$file")/exe" 2>/dev/null) in
        */dockerd | */containerd) ;;
        *) rm -f "$file" ;;
        esac
    done
    setsid nohup dockerd >"$log" 2>&1 </dev/null &
    echo $! >"$pid_file"
    for _ in $(seq 300); do
        ! answers || return 0
        is_ours || break
        sleep 0.1
    done
    tail -n 5 "$log" >&2
    stop
    cannot "dockerd does not run on this machine"
}

stop() {
    is_ours || return 0
    local pid
    pid=$(cat "$pid_file")
    kill -TERM "$pid"
    for _ in $(seq 300); do
        [ -d "/proc/$pid" ] || break
        sleep 0.1
    done
    rm -f "$pid_file"
}

case "$#:${1:-}" in
1:start) start ;;
1:stop) stop ;;
*) die "usage: engine.sh start|stop" ;;
esac
