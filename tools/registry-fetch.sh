#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fetches a schema registry (Apicurio's, which speaks Confluent's API under /apis/ccompat/v7) with Maven and
# prints the folder that it lies in. Done before: prints it at once.
#
#   tools/registry-fetch.sh
#
# The folder is ${WEIR_REGISTRY_CACHE:-~/.cache/weir/registry}/VERSION and holds
#   app/             the server
#   registry.args    java argument file: a small heap, the class data archive, the server. What a run needs
#                    besides stands before it: -Dquarkus.http.port=…
# Any number of these scripts may run at once: one works, the others wait for it. A script that was killed
# leaves nothing that counts.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"
version=3.0.9
begin_fetch "${WEIR_REGISTRY_CACHE:-$HOME/.cache/weir/registry}/$version"

fetch_app() {
    local artifact=io.apicurio:apicurio-registry-app:$version:tar.gz:all
    maven "the registry $version" dependency:get -Dtransitive=false -Dartifact="$artifact"
    maven "the registry $version" dependency:copy -Dartifact="$artifact" -DoutputDirectory="$scratch"
    mkdir "$scratch/app"
    tar -xzf "$scratch"/*.tar.gz -C "$scratch/app"
    mkdir -p "$folder"
    rm -rf "$folder/app"
    mv "$scratch/app" "$folder/app"
}

# Runs the server once, which writes the archive when it ends.
write_archive() {
    local port jars
    port=$(free_port)
    jars=("$folder"/app/*-runner.jar)
    local options=(-Xms64m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:cds=off
        -Xlog:cds+dynamic=off -Dquarkus.http.access-log.enabled=false -Dquarkus.http.host=127.0.0.1)
    rm -f "$folder/classes.jsa"
    java "${options[@]}" -XX:ArchiveClassesAtExit="$folder/classes.jsa" -Dquarkus.http.port="$port" \
        -jar "${jars[0]}" >"$scratch/registry.log" 2>&1 9>&- &
    child=$!
    for _ in $(seq 600); do
        ! port_answers "$port" || break
        kill -0 "$child" 2>/dev/null || break
        sleep 0.1
    done
    sleep 1
    kill -TERM "$child" 2>/dev/null || true
    wait "$child" || true
    child=
    [ -s "$folder/classes.jsa" ] || {
        tail -n 20 "$scratch/registry.log" >&2
        die "the registry did not start"
    }
    {
        printf '%s\n' "${options[@]}"
        printf -- '-XX:SharedArchiveFile="%s"\n-Xshare:auto\n-jar\n"%s"\n' "$folder/classes.jsa" "${jars[0]}"
    } >"$folder/registry.args"
}

[ -d "$folder/app" ] || fetch_app
write_archive
finish_fetch
