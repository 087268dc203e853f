#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Process 1 of the registry's stand-in.
#
#   registry           starts the server
#   registry archive   writes the archive of class data (once, when the image is built)
set -euo pipefail
archive=/opt/registry/registry.jsa
jars=(/opt/registry/*-runner.jar)
if [ "${1:-}" = archive ]; then
    data=(-XX:ArchiveClassesAtExit="$archive")
else
    data=(-XX:SharedArchiveFile="$archive" -Xshare:auto)
fi
command=(java -Xms64m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:cds=off
    -Xlog:cds+dynamic=off "${data[@]}" -Dquarkus.http.access-log.enabled=false -jar "${jars[0]}")
[ "${1:-}" = archive ] || exec "${command[@]}"

"${command[@]}" >/tmp/archive.log 2>&1 &
for _ in $(seq 600); do
    # shellcheck disable=SC2188 # whether it opens
    ! (</dev/tcp/localhost/8080) 2>/dev/null || break
    sleep 0.2
done
kill $!
wait $! || true
[ -s "$archive" ] || {
    tail -n 20 /tmp/archive.log >&2
    exit 1
}
rm /tmp/archive.log
