# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2086,SC2154 # variables and names of run.sh
#
# Tests of run.sh with three brokers. Sourced by run.sh after cases.sh, never run.

cluster_starts() {
    sed 's/replicas = 1/replicas = 3/' "$root/docker/job.sql" >"$CLUSTER_SQL"
    chmod 644 "$CLUSTER_SQL"
    compose up -d
    await has_logged $project-weir-1 'job orders is running'
    feed 2000
    outputs_are_right
}

address_of() { # CONTAINER
    docker inspect -f "{{(index .NetworkSettings.Networks \"${project}_default\").IPAddress}}" "$1"
}

# The broker leads a part of every topic and goes on serving everybody else. It comes back under another
# address, which its name has to be asked for again.
one_broker_cut_off_from_weir_loses_nothing() {
    local before
    before=$(address_of $project-kafka2-1)
    for _ in 1 2 3 4; do
        feed 2000
        sleep 1
    done &
    sleep 1
    docker network disconnect ${project}_default $project-kafka2-1
    docker run -d --name $project-squatter --label $label --network ${project}_default "$CLIENT_IMAGE"
    wait $!
    sleep 15
    docker network connect --alias kafka2 ${project}_default $project-kafka2-1
    echo "address before: $before, now: $(address_of $project-kafka2-1)"
    [ "$(address_of $project-kafka2-1)" != "$before" ]
    feed 1000
    outputs_are_right
    docker logs $project-weir-1 2>&1 | tail -n 12
    [ "$(state_of $project-weir-1 Running)" = true ]
}

is_replicated() {
    [ -z "$(docker exec $project-kafka1-1 /opt/kafka/bin/kafka-topics.sh \
        --bootstrap-server kafka1:9092,kafka3:9092 --describe --under-replicated-partitions)" ]
}

brokers_restarted_one_after_the_other_lose_nothing() {
    local broker
    while [ ! -e "$work/rolled" ]; do
        feed 500
    done &
    for broker in 1 2 3; do
        compose restart kafka$broker
        await is_healthy $project-kafka$broker-1
        await is_replicated
    done
    touch "$work/rolled"
    wait $!
    echo "$(orders) orders"
    outputs_are_right
    docker logs $project-weir-1 2>&1 | tail -n 12
    [ "$(state_of $project-weir-1 Running)" = true ]
}
