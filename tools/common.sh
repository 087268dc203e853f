# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What several of the scripts in this folder need. Sourced, never run.

die() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

port_answers() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Prints a port P such that neither P nor P+1 answers: a broker and its controller. Below the range that
# the kernel takes for outgoing connections, so that none of those sits on it when the broker binds.
free_port() {
    local port
    for _ in $(seq 50); do
        port=$((20000 + RANDOM % 5000 * 2))
        if ! port_answers "$port" && ! port_answers "$((port + 1))"; then
            echo "$port"
            return 0
        fi
    done
    die "found no free port"
}
