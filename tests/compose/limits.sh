# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2086,SC2154 # variables and names of run.sh
#
# Tests of run.sh in which something is short: room on the disk, memory, time. Sourced by run.sh after
# cases.sh, never run.

# What the job answers to GET /readyz: 0 if it is ready.
is_ready() { # HOST
    # shellcheck disable=SC2016 # of the shell in the container
    docker exec "$project-client-1" bash -c \
        'exec 3<>"/dev/tcp/$1/8080"; printf "GET /readyz HTTP/1.0\r\n\r\n" >&3; cat <&3' _ "$1" \
        >"$work/readyz"
    head -n 1 "$work/readyz" | grep -q ' 200 '
}

is_not_ready() { # HOST
    ! is_ready "$1" && head -n 1 "$work/readyz" | grep -q ' 503 '
}

# ---- Disk.

# A job like the totals of the compose file's, under another name.
disk_sql="CREATE TABLE orders (id bigint NOT NULL, customer text NOT NULL, items int NOT NULL,
    amount numeric(12,2) NOT NULL) WITH (topic = 'orders', on_error = 'skip');
CREATE TABLE totals (customer text PRIMARY KEY, orders bigint, amount numeric(12,2))
    WITH (topic = 'disk_totals', partitions = 4, replicas = 1);
INSERT INTO totals SELECT customer, count(*), sum(amount) FROM orders GROUP BY customer;"

# The volume holds 48 MiB; another container fills it up. The job fails its checkpoints with the reason,
# loses nothing, and goes on by itself once there is room.
a_full_disk_fails_checkpoints_until_there_is_room() {
    docker volume create --label $label -o type=tmpfs -o device=tmpfs \
        -o o=size=48m,uid=10001,gid=10001,mode=0755 $label-disk
    # Without a container such a volume loses what it holds.
    docker run -d --name $project-filler --label $label -v $label-disk:/disk "$CLIENT_IMAGE"
    weir -d --name $project-disk --network-alias disk -v $label-disk:/var/lib/weir -e WEIR_JOB_ID=disk \
        -e WEIR_SQL="$disk_sql" -e WEIR_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 -e WEIR_CHECKPOINT_TIMEOUT=5s \
        -e WEIR_RESTART_BACKOFF_MAX=2s -e WEIR_RESTART_ATTEMPTS=1000 --
    await has_totals disk_totals
    docker exec $project-filler bash -c '! dd if=/dev/zero of=/disk/filler bs=64k 2>/dev/null'
    feed 2000
    await has_logged $project-disk 'No space left on device'
    await is_not_ready disk
    cat "$work/readyz"
    feed 1000
    docker exec $project-filler rm /disk/filler
    await has_totals disk_totals
    await is_ready disk
    docker stop --time 35 $project-disk
    docker logs $project-disk 2>&1 | tail -n 12
    [ "$(state_of $project-disk ExitCode)" = 0 ]
    has_totals disk_totals
    docker rm -fv $project-disk $project-filler
}

# ---- Time.

# Paused for longer than the broker lets its transactions live: what was open is aborted meanwhile, and
# done again.
a_pause_longer_than_transactions_live_loses_nothing() {
    TRANSACTION_TIMEOUT_MS=12000 compose up -d --no-deps weir
    await has_logged $project-weir-1 'goes on from checkpoint'
    for _ in 1 2 3 4 5 6; do
        feed 2000
    done &
    sleep 2
    docker pause $project-weir-1
    wait $!
    sleep 20
    docker unpause $project-weir-1
    outputs_are_right
    docker logs $project-weir-1 2>&1 | tail -n 12
    [ "$(state_of $project-weir-1 Running)" = true ]
    [ "$(docker inspect -f '{{.RestartCount}}' $project-weir-1)" = 0 ]
}

# ---- Memory.

# KEYS keys, each twice, into a topic of PARTITIONS partitions: a row {"k":K,"v":K * 7 + turn} in turn 1
# and in turn 2. What must come out for each is count 2 and the sum of both.
feed_keys() { # KEYS PARTITIONS
    docker exec $project-kafka-1 /opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka:9092 --create \
        --if-not-exists --topic keys --partitions "$2"
    local turn
    for turn in 1 2; do
        awk -v keys="$1" -v turn="$turn" 'BEGIN {
            for (k = 0; k < keys; k++) printf "%d\t{\"k\":%d,\"v\":%d}\n", k, k, k * 7 + turn
        }' /dev/null | docker exec -i $project-client-1 kcat -q -P -b kafka:9092 -t keys -K '\t' \
            -z lz4 -X enable.idempotence=true -X queue.buffering.max.messages=1000000
    done
}

keys_sql="CREATE TABLE keys (k bigint NOT NULL, v bigint NOT NULL) WITH (topic = 'keys');
CREATE TABLE sums (k bigint PRIMARY KEY, n bigint, s numeric)
    WITH (topic = 'sums', partitions = 8, replicas = 1);
INSERT INTO sums SELECT k, count(*), sum(v) FROM keys GROUP BY k;"

# Every key once with its final row: none twice (sum, and sum of squares, of the keys), none wrong.
sums_are_right() { # KEYS
    consume sums | cut -f 2 | awk -F '[:,}]' -v keys="$1" '
        $4 == 2 {
            if ($6 != 14 * $2 + 3) { print "wrong: " $0; bad = 1; exit }
            count++
            sum += $2
            squares = (squares + $2 % 65521 * ($2 % 65521)) % 1000000007
        }
        $4 > 2 { print "counted twice: " $0; bad = 1; exit }
        END {
            for (k = 0; k < keys; k++) expected = (expected + k % 65521 * (k % 65521)) % 1000000007
            print count + 0 " of " keys
            exit bad || !(count == keys && sum == keys * (keys - 1) / 2 && squares == expected)
        }'
}

memory_of() { # CONTAINER VmRSS|VmHWM: MiB
    awk -v name="$2:" '$1 == name {print int($2 / 1024)}' "/proc/$(state_of "$1" Pid)/status"
}

run_keys() { # LIMIT
    weir -d --name $project-keys -m "$1" --memory-swap "$1" -e WEIR_JOB_ID=keys \
        -e WEIR_SQL="$keys_sql" -e WEIR_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 --
}

# Not once killed for memory, not even restarted.
was_never_killed() { # CONTAINER LIMIT-MIB
    docker inspect -f '{{.State.OOMKilled}} {{.State.ExitCode}} {{.State.Running}}' "$1"
    docker logs "$1" 2>&1 | tail -n 12
    [ "$(state_of "$1" OOMKilled)" = false ]
    [ "$(state_of "$1" Running)" = true ]
    local peak
    peak=$(memory_of "$1" VmHWM)
    echo "largest resident size: $peak MiB in $2 MiB"
    [ "$peak" -lt "$2" ]
}

a_small_limit_of_memory_is_kept() {
    feed_keys 300000 8
    run_keys 256m
    await sums_are_right 300000
    was_never_killed $project-keys 256
    docker stop --time 35 $project-keys
    [ "$(state_of $project-keys ExitCode)" = 0 ]
    docker rm -fv $project-keys
}

# More state than memory could hold.
many_keys_fit_into_512_mib() {
    local keys=${WEIR_MEMORY_KEYS:-5000000} seconds=${WEIR_MEMORY_SECONDS:-1800} began=$SECONDS next=0
    feed_keys "$keys" 100 &
    await is_topic keys
    run_keys 512m
    while [ $((SECONDS - began)) -lt "$seconds" ]; do
        [ "$(state_of $project-keys Running)" = true ] || break
        if [ $((SECONDS - began)) -ge $next ]; then
            echo "$next s: $(memory_of $project-keys VmRSS) MiB resident" >&3
            next=$((next + 30))
        fi
        sleep 1
    done
    wait
    timeout_s=600
    await sums_are_right "$keys"
    was_never_killed $project-keys 512
}

is_topic() { # TOPIC
    docker exec $project-client-1 kcat -q -L -b kafka:9092 -t "$1" | grep -q 'with [1-9][0-9]* partitions'
}
