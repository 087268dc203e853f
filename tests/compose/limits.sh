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

# One turn: each of KEYS keys once, a row {"k":K,"v":K * 7 + TURN}. After turn n the row of each key is
# {"k":K,"n":n,"s":K * 7 * n + n * (n + 1) / 2}.
feed_keys() { # KEYS TURN
    awk -v keys="$1" -v turn="$2" 'BEGIN {
        for (k = 0; k < keys; k++) printf "%d\t{\"k\":%d,\"v\":%d}\n", k, k, k * 7 + turn
    }' /dev/null | docker exec -i $project-client-1 kcat -q -P -b kafka:9092 -t keys -K '\t' \
        -z lz4 -X enable.idempotence=true -X queue.buffering.max.messages=1000000
}

make_keys() { # PARTITIONS
    docker exec $project-kafka-1 /opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka:9092 --create \
        --topic keys --partitions "$1"
}

keys_sql="CREATE TABLE keys (k bigint NOT NULL, v bigint NOT NULL) WITH (topic = 'keys');
CREATE TABLE sums (k bigint PRIMARY KEY, n bigint, s numeric)
    WITH (topic = 'sums', partitions = 8, replicas = 1);
INSERT INTO sums SELECT k, count(*), sum(v) FROM keys GROUP BY k;"

# Every row right, and every key once with its last row: none twice (sum, and sum of squares, of the keys).
sums_are_right() { # KEYS TURNS
    consume sums | cut -f 2 | awk -F '[:,}]' -v keys="$1" -v turns="$2" '
        $4 > turns || $6 != 7 * $4 * $2 + $4 * ($4 + 1) / 2 { print "wrong: " $0; bad = 1; exit }
        $4 == turns {
            count++
            sum += $2
            squares = (squares + $2 % 65521 * ($2 % 65521)) % 1000000007
        }
        END {
            for (k = 0; k < keys; k++) expected = (expected + k % 65521 * (k % 65521)) % 1000000007
            print count + 0 " of " keys " after " NR " rows"
            exit bad || !(count == keys && sum == keys * (keys - 1) / 2 && squares == expected)
        }' | tee "$work/sums"
}

# As long as rows come it is waited for them: how long they take is the machine's affair.
await_sums() { # KEYS TURNS
    local before=
    until sums_are_right "$1" "$2"; do
        [ "$(cat "$work/sums")" != "$before" ] || fail "no row more since the last look"
        before=$(cat "$work/sums")
        sleep 15
    done
}

memory_of() { # CONTAINER VmRSS|VmHWM: MiB
    awk -v name="$2:" '$1 == name {print int($2 / 1024)}' "/proc/$(state_of "$1" Pid)/status"
}

run_keys() { # LIMIT-MIB
    weir -d --name $project-keys -m "$1m" --memory-swap "$1m" -e WEIR_JOB_ID=keys \
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
    make_keys 8
    feed_keys 300000 1
    feed_keys 300000 2
    run_keys 256
    await_sums 300000 2
    was_never_killed $project-keys 256
    docker stop --time 35 $project-keys
    [ "$(state_of $project-keys ExitCode)" = 0 ]
    docker rm -fv $project-keys
}

# The resident size, as long as weir and FILE are there.
print_curve() { # FILE
    local began=$SECONDS next=0 resident
    while [ -e "$1" ] && resident=$(memory_of $project-keys VmRSS); do
        if [ $((SECONDS - began)) -ge $next ]; then
            echo "$next s: $resident MiB resident" >&3
            next=$((next + 30))
        fi
        sleep 1
    done
}

# More state than memory could hold, all of it changed again every few minutes, and copied meanwhile.
many_keys_fit_into_little_memory() {
    local keys=${WEIR_MEMORY_KEYS:-5000000} seconds=${WEIR_MEMORY_SECONDS:-1800}
    local limit=${WEIR_MEMORY_LIMIT:-512} pause=300 began=$SECONDS turn turns
    turns=$(((seconds + pause - 1) / pause))
    make_keys 100
    run_keys "$limit"
    await has_logged $project-keys 'job keys is running'
    touch "$work/curve"
    print_curve "$work/curve" &
    for turn in $(seq $turns); do
        feed_keys "$keys" "$turn" &
        sleep 10
        # In the middle of it.
        docker exec $project-keys weir savepoint "/var/lib/weir/savepoint-$turn"
        wait $!
        echo "turn $turn of $turns is fed after $((SECONDS - began)) s" >&3
        while [ $((SECONDS - began)) -lt $((turn * pause)) ]; do
            [ "$(state_of $project-keys Running)" = true ]
            sleep 1
        done
    done
    await_sums "$keys" "$turns"
    rm "$work/curve"
    wait
    was_never_killed $project-keys "$limit"
    echo "largest: $(memory_of $project-keys VmHWM) MiB in $limit MiB, $((SECONDS - began)) s" >&3
}
