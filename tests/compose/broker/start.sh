#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Process 1 of the broker's stand-in: settings from KAFKA_ variables, storage formatted once, the broker.
#
#   run           starts the broker
#   run archive   writes the archive of class data (once, when the image is built)
set -euo pipefail
home=/opt/kafka
light=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:cds=off -Xlog:cds+dynamic=off)
if [ "${1:-}" = archive ]; then
    data=(-XX:ArchiveClassesAtExit="$home/broker.jsa")
else
    data=(-XX:SharedArchiveFile="$home/broker.jsa" -Xshare:auto)
fi

export CLUSTER_ID=${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}
setup=$(java "${light[@]}" -Dlog4j2.configurationFile=/etc/kafka/docker/tools-log4j2.yaml \
    -cp "$home/libs/*" kafka.docker.KafkaDockerWrapper setup --default-configs-dir /etc/kafka/docker \
    --mounted-configs-dir /mnt/shared/config --final-configs-dir "$home/config" 2>&1) ||
    grep -qi 'already formatted' <<<"$setup" || {
    printf '%s\n' "$setup" >&2
    exit 1
}
command=(java -Xms128m -Xmx512m "${light[@]}" "${data[@]}" -Dkafka.logs.dir="$home/logs"
    -Dlog4j2.configurationFile="$home/config/log4j2.yaml" -cp "$home/libs/*"
    kafka.Kafka "$home/config/server.properties")
[ "${1:-}" = archive ] || exec "${command[@]}"

"${command[@]}" >/tmp/archive.log 2>&1 &
for _ in $(seq 300); do
    ! grep -q 'Kafka Server started' /tmp/archive.log || break
    sleep 0.2
done
kill $!
wait $! || true
rm -rf /tmp/kraft-combined-logs "$home"/config/*
[ -s "$home/broker.jsa" ] || {
    tail -n 20 /tmp/archive.log >&2
    exit 1
}
rm /tmp/archive.log
