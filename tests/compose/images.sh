#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The images of the tests: weir, a broker, a schema registry, a client. Prints the variables that name
# them. Needs an engine (engine.sh). What has been built before is kept; weir itself is built anew where its
# sources changed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/env.sh"
version=$(head -n 1 "$root/tools/kafka-version")
registry_version=$(sed -n 's/^version=//p' "$root/tools/registry-fetch.sh")
standin=weir-test/debian:trixie-slim

log() { # NAME COMMAND…: quiet unless it fails
    local name=$1 began=$SECONDS
    shift
    # A job of its own, because a function that is asked for its success goes on after errors.
    ("$@") >"$cache/$name.log" 2>&1 &
    wait $! || {
        tail -n 40 "$cache/$name.log" >&2
        die "$name failed; all of it is in $cache/$name.log"
    }
    echo "images: $name: $((SECONDS - began)) s" >&2
}

log plugins "$here/plugins.sh"
# shellcheck source-path=SCRIPTDIR
. "$here/env.sh" # plugins may have been put there just now

base=debian:trixie-slim
if ! has_image "$base" && { has_image $standin || ! docker pull -q "$base" >/dev/null 2>&1; }; then
    base=$standin
    has_image $standin || log base-image "$here/base-image.sh" $standin
fi

build() { # TAG ARGUMENTS-OF-DOCKER…
    docker build --progress plain --build-arg BASE_IMAGE="$base" -t "$@"
}

kafka=${KAFKA_IMAGE:-apache/kafka:$version}
# shellcheck disable=SC2317 # called through log
broker() {
    if [ "$base" != $standin ]; then
        docker pull -q "$kafka"
        return
    fi
    local jars
    jars=$("$root/tools/kafka-fetch.sh" "$version")
    tar -c -C "$here/broker" . -C "$jars" libs | build "$kafka" -
}

registry=${REGISTRY_IMAGE:-apicurio/apicurio-registry:$registry_version}
# shellcheck disable=SC2317 # called through log
registry() {
    if [ "$base" != $standin ]; then
        docker pull -q "$registry"
        return
    fi
    local server
    server=$("$root/tools/registry-fetch.sh")
    tar -c -C "$here/registry" . -C "$server" app | build "$registry" -
}

# shellcheck disable=SC2317 # called through log
client() {
    build weir-test/client "$here/client"
}

# shellcheck disable=SC2317 # called through log
weir() {
    local before revision
    before=$(docker image inspect -f '{{.Id}}' weir-test/weir 2>/dev/null || true)
    revision=$(git -C "$root" rev-parse HEAD 2>/dev/null || true)
    build weir-test/weir --build-arg WEIR_REVISION="$revision" -f "$root/docker/Dockerfile" "$root"
    # An older image would stay behind without a name.
    [ "$before" = "$(docker image inspect -f '{{.Id}}' weir-test/weir)" ] || [ -z "$before" ] ||
        docker rmi "$before" || true
}

# Another tag for another recipe.
recipe() { # FOLDER
    find "$here/$1" -type f -print0 | sort -z | xargs -0 sha256sum | sed "s|$here||" | sha256sum |
        cut -c 1-12
}

if [ "$base" = $standin ]; then
    [ -n "${KAFKA_IMAGE:-}" ] || kafka=weir-test/kafka:$version-$(recipe broker)
    [ -n "${REGISTRY_IMAGE:-}" ] || registry=weir-test/registry:$registry_version-$(recipe registry)
fi
# Side by side: most of the time of each goes by while packages come.
pids=()
if ! has_image "$kafka"; then
    log broker broker &
    pids+=($!)
fi
if ! has_image "$registry"; then
    log registry registry &
    pids+=($!)
fi
log client client &
pids+=($!)
log weir weir &
pids+=($!)
for pid in "${pids[@]}"; do
    wait "$pid" || exit 1
done

echo "export KAFKA_IMAGE=$kafka REGISTRY_IMAGE=$registry WEIR_IMAGE=weir-test/weir" \
    "CLIENT_IMAGE=weir-test/client"
