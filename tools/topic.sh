#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Topics by hand, with the broker's own tools. BOOTSTRAP is host:port.
#
#   tools/topic.sh BOOTSTRAP create TOPIC [PARTITIONS [KEY=VALUE...]]   exists already: no error
#   tools/topic.sh BOOTSTRAP describe [TOPIC]
#   tools/topic.sh BOOTSTRAP list
#   tools/topic.sh BOOTSTRAP delete TOPIC
#   tools/topic.sh BOOTSTRAP end TOPIC              topic:partition:end offset
#   tools/topic.sh BOOTSTRAP produce TOPIC          lines of standard input, key<TAB>value
#   tools/topic.sh BOOTSTRAP consume TOPIC [COUNT]  read_committed, from the beginning, partition<TAB>
#                                                   key<TAB>value; without COUNT until interrupted
#   tools/topic.sh BOOTSTRAP group GROUP            committed offsets of a group
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR
. "$here/common.sh"

usage() {
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}

[ $# -ge 2 ] || usage
bootstrap=$1 action=$2
shift 2
kafka=$("$here/kafka-fetch.sh")

tool() {
    local class=$1
    shift
    java "@$kafka/light.args" "org.apache.kafka.tools.$class" --bootstrap-server "$bootstrap" "$@"
}

case $action in
create)
    [ $# -ge 1 ] || usage
    arguments=(--create --if-not-exists --topic "$1" --partitions "${2:-1}")
    for setting in "${@:3}"; do
        arguments+=(--config "$setting")
    done
    tool TopicCommand "${arguments[@]}"
    ;;
describe) tool TopicCommand --describe ${1:+--topic "$1"} ;;
list) tool TopicCommand --list ;;
delete)
    [ $# = 1 ] || usage
    tool TopicCommand --delete --topic "$1"
    ;;
end)
    [ $# = 1 ] || usage
    tool GetOffsetShell --topic "$1"
    ;;
produce)
    [ $# = 1 ] || usage
    tool ConsoleProducer --topic "$1" --property parse.key=true
    ;;
consume)
    [ $# -ge 1 ] || usage
    tool consumer.ConsoleConsumer --topic "$1" --from-beginning --isolation-level read_committed \
        --property print.key=true --property print.partition=true ${2:+--max-messages "$2"}
    ;;
group)
    [ $# = 1 ] || usage
    tool consumer.group.ConsumerGroupCommand --describe --group "$1"
    ;;
*) usage ;;
esac
