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

# For a script that fetches something into a folder, once for each Java: an archive of class data serves
# only the one that wrote it. What is complete ends the script here, with the folder printed. Otherwise its
# lock is held until the script ends (descriptor 9), $scratch is a folder that goes with the script, and so
# does the process $child. finish_fetch comes last. A script that was killed leaves nothing that counts.
begin_fetch() { # FOLDER
    folder=$1 child=''
    java=$(readlink -f "$(command -v java)") || die "no java: run tools/install-deps.sh"
    end_if_complete
    mkdir -p "${folder%/*}"
    exec 9>"${folder%/*}/.lock-${folder##*/}"
    flock 9
    end_if_complete
    scratch=$(mktemp -d "${folder%/*}/.work-${folder##*/}-XXXXXX")
    trap clean_up_fetch EXIT
}
end_if_complete() {
    [ "$(cat "$folder/complete" 2>/dev/null)" = "$java" ] || return 0
    echo "$folder"
    exit 0
}
clean_up_fetch() {
    [ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true
    rm -rf "$scratch"
}
finish_fetch() {
    echo "$java" >"$scratch/complete"
    mv "$scratch/complete" "$folder/complete"
    echo "$folder"
}

# Between begin_fetch and finish_fetch. Maven's own store is not made for two writers at once: one lock.
maven() { # WHAT ARGUMENT…: what is fetched, for the message
    local what=$1
    shift
    command -v mvn >/dev/null || die "no mvn: run tools/install-deps.sh"
    mkdir -p "$HOME/.cache/weir"
    flock "$HOME/.cache/weir/.lock-maven" mvn -q -B "$@" >"$scratch/maven.log" 2>&1 || {
        tail -n 20 "$scratch/maven.log" >&2
        die "Maven could not fetch $what"
    }
}
