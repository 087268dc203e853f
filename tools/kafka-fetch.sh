#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fetches a Kafka broker with Maven and prints the folder that it lies in. Done before: prints it at once.
#
#   tools/kafka-fetch.sh [VERSION]    default: the first line of tools/kafka-version
#
# The folder is ${WEIR_KAFKA_CACHE:-~/.cache/weir/kafka}/VERSION and holds
#   libs/                  the jars
#   kafka.args             java argument file: class path and logging to the console
#   light.args             the same with a small heap and the class data archive: starts fast (tests)
#   bench.args             the same with G1 and 1 GB: steady speed (benchmarks)
#   formatted/             what formatting puts into a log directory, but for meta.properties (which names
#                          the cluster and the node): copying it saves a Java start for each broker
# Any number of these scripts may run at once: one works, the others wait for it. A script that was
# killed leaves nothing that counts: the next one goes on where it stopped.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"
version=${1:-$(head -n 1 "$here/kafka-version")}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "not a version: $version"
begin_fetch "${WEIR_KAFKA_CACHE:-$HOME/.cache/weir/kafka}/$version"

dependency() {
    echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>"
}

fetch_jars() {
    {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        echo '<groupId>weir</groupId><artifactId>broker</artifactId><version>1</version>'
        echo '<packaging>pom</packaging><dependencies>'
        dependency org.apache.kafka kafka_2.13 "$version"
        dependency org.apache.kafka kafka-tools "$version"
        # Brokers before 4.0 log through reload4j, later ones through Log4j 2. Neither brings the bridge.
        case $version in
        [0-3].*) dependency org.slf4j slf4j-reload4j 1.7.36 ;;
        *) dependency org.apache.logging.log4j log4j-slf4j-impl 2.24.3 ;;
        esac
        echo '</dependencies></project>'
    } >"$scratch/pom.xml"
    maven "Kafka $version" -f "$scratch/pom.xml" dependency:copy-dependencies \
        -DoutputDirectory="$scratch/libs" -DincludeScope=runtime
    mkdir -p "$folder"
    mv "$scratch/libs" "$folder/libs"
}

write_settings() {
    case $version in
    [0-3].*)
        cat >"$folder/logging.properties" <<'E'
log4j.rootLogger=WARN, console
log4j.logger.kafka.server.KafkaRaftServer=INFO
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %m (%c)%n
E
        logging=-Dlog4j.configuration=file:$folder/logging.properties
        ;;
    *)
        cat >"$folder/logging.properties" <<'E'
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
E
        logging=-Dlog4j2.configurationFile=$folder/logging.properties
        ;;
    esac
    local jars
    # The archive of class data is valid only for the same jars in the same order.
    jars=$(find "$folder/libs" -name '*.jar' | LC_ALL=C sort | tr '\n' ':')
    printf -- '-cp "%s"\n"%s"\n' "${jars%:}" "$logging" >"$folder/kafka.args"
    {
        cat "$folder/kafka.args"
        printf -- '-Xms64m\n-Xmx256m\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n-Xss512k\n'
    } >"$scratch/plain.args"
    {
        cat "$folder/kafka.args"
        printf -- '-Xms1g\n-Xmx1g\n-XX:+UseG1GC\n'
    } >"$folder/bench.args"
}

# Formats a log directory and runs a broker once, which writes the archive when it ends.
write_archive() {
    local port properties=$scratch/server.properties
    port=$(free_port)
    cat >"$properties" <<E
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$scratch/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
E
    java "@$scratch/plain.args" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c "$properties" \
        >"$scratch/format.log" 2>&1 || {
        cat "$scratch/format.log" >&2
        die "the broker's storage tool failed"
    }
    rm -rf "$folder/formatted"
    cp -R "$scratch/data" "$folder/formatted"
    rm "$folder/formatted/meta.properties"
    java "@$scratch/plain.args" -XX:ArchiveClassesAtExit="$folder/classes.jsa" -Xlog:cds=off \
        -Xlog:cds+dynamic=off kafka.Kafka "$properties" >"$scratch/broker.log" 2>&1 9>&- &
    child=$!
    for _ in $(seq 300); do
        ! grep -q 'Kafka Server started' "$scratch/broker.log" || break
        kill -0 "$child" 2>/dev/null || break
        sleep 0.1
    done
    kill -TERM "$child" 2>/dev/null || true
    wait "$child" || true
    child=
    [ -s "$folder/classes.jsa" ] || {
        tail -n 20 "$scratch/broker.log" >&2
        die "the broker did not start"
    }
    {
        cat "$scratch/plain.args"
        printf -- '-XX:SharedArchiveFile="%s"\n-Xshare:auto\n' "$folder/classes.jsa"
        printf -- '-Xlog:cds=off\n-Xlog:cds+dynamic=off\n'
    } >"$folder/light.args"
}

[ -d "$folder/libs" ] || fetch_jars
write_settings
write_archive
finish_fetch
