#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Kafka's own tools under the names that they have in apache/kafka.
case $(basename "$0") in
kafka-topics.sh) class=TopicCommand ;;
kafka-console-producer.sh) class=ConsoleProducer ;;
kafka-console-consumer.sh) class=consumer.ConsoleConsumer ;;
kafka-consumer-groups.sh) class=consumer.group.ConsumerGroupCommand ;;
esac
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:cds=off -Xlog:cds+dynamic=off \
    -XX:SharedArchiveFile=/opt/kafka/broker.jsa -Xshare:auto \
    -Dlog4j2.configurationFile=/etc/kafka/docker/tools-log4j2.yaml \
    -cp '/opt/kafka/libs/*' "org.apache.kafka.tools.$class" "$@"
