# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2086,SC2154 # variables and names of run.sh
#
# The tests of run.sh, a function each, and what they are made of. Sourced by run.sh, never run. A test
# runs in a subshell, so what must outlive it lies in files of $work.

fail() {
    echo "$*" >&2
    exit 1
}

# Runs COMMAND again and again until it succeeds.
await() { # COMMAND…
    local deadline=$((SECONDS + timeout_s))
    until "$@"; do
        [ $SECONDS -lt $deadline ] || fail "in vain for $timeout_s s: $*"
        sleep 0.2
    done
}

# weir alone, with the network of the compose file, as it is to be run: nothing writable but the volume.
weir() { # OPTIONS-OF-DOCKER… -- ARGUMENTS-OF-WEIR…
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    docker run --label $label --network ${project}_default --read-only --cap-drop ALL \
        --security-opt no-new-privileges:true "${options[@]}" "$WEIR_IMAGE" "$@"
}

# The job of the compose file, for `weir`.
registry=http://registry:8080/apis/ccompat/v7
job=(-v "$root/docker/job.sql:/etc/weir/job.sql:ro" -e WEIR_KAFKA_BOOTSTRAP_SERVERS=kafka:9092
    -e "WEIR_SCHEMA_REGISTRY=$registry")

exit_code_of() { # COMMAND…
    local code=0
    "$@" || code=$?
    echo "exit code $code"
}

state_of() { # CONTAINER FORMAT
    docker inspect -f "{{.State.$2}}" "$1"
}

has_logged() { # CONTAINER PATTERN
    grep -q -- "$2" <<<"$(docker logs "$1" 2>&1)"
}

produce() { # FROM TO
    "$here/rows.sh" input "$1" "$2" | docker exec -i "$project-client-1" produce.sh "$brokers" orders
}

consume() { # TOPIC
    case $1 in
    large_orders) docker exec "$project-client-1" consume_avro.py "$brokers" $registry "$1" ;;
    *) docker exec "$project-client-1" consume.sh "$brokers" "$1" ;;
    esac
}

# How many rows of the topic are committed.
count() { # TOPIC
    docker exec "$project-client-1" kcat -q -C -b "$brokers" -t "$1" -o beginning -e \
        -X isolation.level=read_committed -f '%p\n' | wc -l
}

has_rows() { # TOPIC ROWS
    [ "$(count "$1")" -ge "$2" ]
}

has_all() { # TOPIC ORDERS
    has_rows "$1" "$("$here/rows.sh" "$1" "$2" | wc -l)"
}

# ---- The image.

image_is_small() {
    local bytes
    bytes=$(docker image inspect -f '{{.Size}}' "$WEIR_IMAGE")
    echo "$bytes bytes"
    [ "$bytes" -lt 60000000 ]
}

image_holds_no_shell_and_no_root() {
    local files
    docker create --name $project-files --label $label "$WEIR_IMAGE"
    files=$(docker export $project-files | tar -t)
    docker rm -v $project-files
    if grep -E '(^|/)(sh|bash|dash|busybox|perl|apt|dpkg)$' <<<"$files"; then
        fail "has no business in the image"
    fi
    grep -qx usr/local/bin/weir <<<"$files"
    [ "$(docker image inspect -f '{{.Config.User}}' "$WEIR_IMAGE")" = 10001:10001 ]
    # shellcheck disable=SC2016 # Go's
    [ "$(docker image inspect -f '{{len .Config.Volumes}} {{.Config.StopSignal}}' "$WEIR_IMAGE")" = \
        '1 SIGTERM' ]
}

# The list for scanners: SPDX, with a package and its version for each that files were taken from.
image_lists_its_packages() {
    docker create --name $project-files --label $label "$WEIR_IMAGE"
    docker cp $project-files:/usr/share/doc/weir/sbom.spdx.json "$work/sbom.json"
    docker cp $project-files:/var/lib/dpkg/status.d "$work/status.d"
    docker rm -v $project-files
    python3 -B "$here/sbom_check.py" "$work/sbom.json" "$work/status.d"
}

image_is_labelled_with_the_version() {
    local told
    told=$(docker image inspect -f '{{index .Config.Labels "org.opencontainers.image.version"}}' \
        "$WEIR_IMAGE")
    docker run --rm "$WEIR_IMAGE" version | tee /dev/stderr | grep -qx "weir $told"
}

wrong_configuration_ends_with_2_and_names_every_fault() {
    local out
    out=$(exit_code_of docker run --rm --read-only -e WEIR_JOB_ID='no good' \
        -e WEIR_CHECKPOINT_INTERVAL=10 -e WEIR_KAFKA_GROUP_ID=mine -e WEIR_PARALELISM=2 \
        "$WEIR_IMAGE" 2>&1)
    echo "$out"
    local name
    for name in WEIR_JOB_ID WEIR_CHECKPOINT_INTERVAL WEIR_KAFKA_GROUP_ID WEIR_PARALELISM \
        WEIR_KAFKA_BOOTSTRAP_SERVERS WEIR_SQL; do
        grep -q "^weir: $name: " <<<"$out"
    done
    grep -qx 'exit code 2' <<<"$out"
}

wrong_sql_ends_with_2_and_shows_the_place() {
    local out
    out=$(exit_code_of docker run --rm --read-only -e WEIR_JOB_ID=wrong \
        -e WEIR_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 -e WEIR_SQL='CREATE TABLE a (n int);
CREATE TABLE b (n int);
INSERT INTO b SELECT m FROM a;' "$WEIR_IMAGE" 2>&1)
    echo "$out"
    grep -q 'line 3' <<<"$out"
    grep -q '\^' <<<"$out"
    grep -qx 'exit code 2' <<<"$out"
}

limits_of_the_container_are_seen() {
    local out
    out=$(docker run --rm -m 512m --cpus 1 "$WEIR_IMAGE" config 2>/dev/null || true)
    echo "$out"
    grep -Eq '^WEIR_MEMORY +409MiB ' <<<"$out"
    grep -Eq '^WEIR_PARALLELISM +1 ' <<<"$out"
}

# ---- The compose file.

compose_file_starts() {
    compose up -d
    await has_logged $project-weir-1 'job orders is running'
    # shellcheck disable=SC2016 # Go's
    [ "$(docker inspect -f '{{.HostConfig.ReadonlyRootfs}} {{.Config.User}}' $project-weir-1)" = \
        'true 10001:10001' ]
}

# How many orders there are so far.
orders() {
    cat "$work/orders-of-$project" 2>/dev/null || echo 0
}

feed() { # COUNT
    local from
    from=$(orders)
    produce "$from" $((from + $1))
    echo $((from + $1)) >"$work/orders-of-$project"
}

# Records keep coming while weir dies three times; where it stood when it died is left to chance.
kills_in_the_middle_lose_and_double_nothing() {
    local round dead all
    feed 4000
    await has_all item_prices 4000
    for round in 1 2 3; do
        for _ in 1 2 3 4; do
            feed 2500
        done &
        sleep 0.$((RANDOM % 9 + 1))
        docker kill $project-weir-1
        wait $!
        [ "$(state_of $project-weir-1 ExitCode)" = 137 ]
        dead=$(count item_prices)
        all=$("$here/rows.sh" item_prices "$(orders)" | wc -l)
        echo "round $round: dead with $dead rows of $all"
        [ "$dead" -gt 0 ]
        [ "$dead" -lt "$all" ]
        docker start $project-weir-1
        feed 1000
    done
    outputs_are_right
}

# The latest row of each customer, as a reader of the changes has it.
totals() { # TOPIC
    consume "$1" | cut -f 2 |
        awk -F '"' '{latest[$4] = $0} END {for (customer in latest) print latest[customer]}' |
        LC_ALL=C sort >"$work/customer_totals"
}

has_totals() { # TOPIC
    totals "$1"
    "$here/rows.sh" customer_totals "$(orders)" | LC_ALL=C sort | diff - "$work/customer_totals" |
        head -n 4
}

outputs_are_right() {
    local topic
    await has_totals customer_totals
    for topic in item_prices large_orders orders_dead; do
        await has_all $topic "$(orders)"
        "$here/rows.sh" $topic "$(orders)" | LC_ALL=C sort >"$work/expected"
        consume $topic >"$work/$topic"
        wc -l "$work/expected" "$work/$topic"
        case $topic in
        item_prices) cut -f 1,2 "$work/$topic" ;;
        large_orders) cut -f 2 "$work/$topic" ;;
        orders_dead)
            sed -E 's/^[0-9]+\t(.*)\tweir\.error=([a-z_]+),.*,weir\.topic=orders,'`
                `'weir\.partition=([0-9]+),weir\.offset=([0-9]+),.*,weir\.job=orders$/\2\t\3\t\4\t\1/' \
                "$work/$topic"
            ;;
        esac | LC_ALL=C sort | diff "$work/expected" -
    done
    # Rows without a key stay in the order of their source partition.
    "$here/rows.sh" item_prices "$(orders)" >"$work/expected"
    cut -f 1,2 "$work/item_prices" | sort -s -k 1,1n | diff "$work/expected" -
    # Rows of one key: all in one partition, and those of one source partition in their order.
    awk -F '\t' '{
        split($2, part, /[:,"]+/)
        id = part[3]
        customer = part[5]
        if ($3 != customer) { print "another key: " $0; bad = 1 }
        if (customer in home && home[customer] != $1) { print "two partitions: " customer; bad = 1 }
        home[customer] = $1
        if ((customer, id % 4) in last && last[customer, id % 4] >= id) { print "order: " $2; bad = 1 }
        last[customer, id % 4] = id
    } END { exit bad }' "$work/large_orders"
}

# Killed from outside, not through docker: then the restart policy of the compose file counts.
a_process_that_dies_is_started_again() {
    local pid
    await has_logged $project-weir-1 'goes on from checkpoint'
    pid=$(state_of $project-weir-1 Pid)
    feed 1000
    docker run --rm --label $label --pid host --cap-add KILL "$CLIENT_IMAGE" bash -c "kill -9 $pid"
    feed 1000
    await is_restarted
    outputs_are_right
}

is_restarted() {
    [ "$(docker inspect -f '{{.RestartCount}}' $project-weir-1)" -ge 1 ]
}

# ---- Schemas.

schema_of() { # SUBJECT
    docker exec "$project-client-1" python3 -c '
import json, sys, urllib.request
answer = json.load(urllib.request.urlopen(sys.argv[1], timeout=20))
print(json.dumps(json.loads(answer["schema"]), sort_keys=True))' "$registry/subjects/$1/versions/latest"
}

# What must be registered for large_orders of job.sql.
large_orders_schema='{"doc": "Rows of table large_orders", '`
    `'"fields": [{"name": "id", "type": "long"}, {"name": "customer", "type": "string"}, '`
    `'{"default": null, "name": "amount", "type": ["null", '`
    `'{"logicalType": "decimal", "precision": 12, "scale": 2, "type": "bytes"}]}], '`
    `'"name": "large_orders", "namespace": "weir", "type": "record"}'

# outputs_are_right decodes what is in Avro; here is what was registered, and what reads it without knowing
# more than the topic's name.
schema_is_registered_and_rows_are_read_by_it() {
    schema_of large_orders-value | tee "$work/schema"
    diff - "$work/schema" <<<"$large_orders_schema"
    weir --rm -e WEIR_JOB_ID=read_back -e WEIR_BOUNDED=true "${job[@]}" -e WEIR_SQL="
        CREATE TABLE large_orders () WITH (topic = 'large_orders', format = 'avro');
        CREATE TABLE read_back (id bigint, customer text, amount numeric(12,2))
            WITH (topic = 'read_back', partitions = 1, replicas = 1);
        INSERT INTO read_back SELECT id, customer, amount FROM large_orders;" --
    consume read_back | cut -f 2 | LC_ALL=C sort >"$work/read_back"
    wc -l "$work/read_back"
    "$here/rows.sh" large_orders "$(orders)" | LC_ALL=C sort | diff - "$work/read_back"
}

# weir goes on without the registry, and starts without it. The registry comes back with what it knew.
a_registry_that_is_away_disturbs_nobody() {
    local before
    before=$(count large_orders)
    docker stop --time 5 $project-registry-1
    feed 1000
    await has_all item_prices "$(orders)"
    docker restart --time 35 $project-weir-1
    feed 1000
    await has_all item_prices "$(orders)"
    [ "$(state_of $project-registry-1 Running)" = false ]
    [ "$(count large_orders)" -gt "$before" ]
    docker start $project-registry-1
    await is_healthy $project-registry-1
    feed 1000
    outputs_are_right
    diff - <(schema_of large_orders-value) <<<"$large_orders_schema"
    await is_healthy $project-weir-1
}

# ---- Mistakes.

begin_second_process_on_the_same_volume() {
    weir -d --name $project-second -v ${project}_weir:/var/lib/weir -e WEIR_JOB_ID=orders \
        "${job[@]}" -- >/dev/null
}

a_second_process_on_the_same_volume_is_refused() {
    [ "$(timeout 60 docker wait $project-second)" = 1 ]
    docker logs $project-second
    has_logged $project-second 'state directory /var/lib/weir is in use by another process'
    docker rm -v $project-second
    [ "$(state_of $project-weir-1 Running)" = true ]
}

# The orders of customer 1, copied to TOPIC: the job, a bounded run of it, what must be there.
copy_sql() { # TOPIC
    echo "CREATE TABLE orders (id bigint NOT NULL, customer text NOT NULL)
    WITH (topic = 'orders', on_error = 'skip');
CREATE TABLE copy (id bigint) WITH (topic = '$1', partitions = 1, replicas = 1);
INSERT INTO copy SELECT id FROM orders WHERE customer = 'c1';"
}

copy() { # TOPIC PORT OPTIONS-OF-DOCKER…
    local topic=$1 port=$2
    shift 2
    weir --rm -e WEIR_CONNECT_TIMEOUT=20s -e WEIR_JOB_ID="$topic" -e WEIR_SQL="$(copy_sql "$topic")" \
        -e WEIR_BOUNDED=true -e WEIR_KAFKA_BOOTSTRAP_SERVERS="kafka:$port" "$@" --
}

copy_is_right() { # TOPIC
    consume "$1" | cut -f 2 | sort >"$work/copy"
    wc -l "$work/copy"
    [ -s "$work/copy" ]
    "$here/rows.sh" input 0 "$(orders)" | grep '"customer":"c1",' |
        sed -E 's/.*"id":([0-9]+),.*/{"id":\1}/' | sort | diff - "$work/copy"
}

tls() { # OPTIONS-OF-DOCKER…
    copy encrypted 9094 -e WEIR_KAFKA_SECURITY_PROTOCOL=ssl "$@"
}

# The certificate of the authority lies where the image has its own: the default place is looked at.
brokers_are_reached_by_tls() {
    tls -v ${project}_certificates:/etc/ssl/certs:ro
    copy_is_right encrypted
}

an_unknown_authority_is_refused() {
    local out
    out=$(exit_code_of tls -e WEIR_CONNECT_TIMEOUT=8s 2>&1)
    echo "$out"
    grep -qi 'certificate' <<<"$out"
    grep -qx 'exit code 1' <<<"$out"
}

login() { # PASSWORD-FILE OPTIONS-OF-DOCKER…
    local file=$1
    shift
    copy logged_in 9095 -e WEIR_KAFKA_SECURITY_PROTOCOL=sasl_plaintext -e WEIR_KAFKA_SASL_MECHANISMS=PLAIN \
        -e WEIR_KAFKA_SASL_USERNAME=weir -e WEIR_KAFKA_SASL_PASSWORD_FILE=/run/secrets/kafka \
        -e WEIR_LOG_LEVEL=debug -e WEIR_HTTP_TOKEN_FILE=/run/secrets/token \
        -v "$file:/run/secrets/kafka:ro" -v "$work/token:/run/secrets/token:ro" "$@"
}

# Fails if a planted secret is in TEXT.
shows_no_secret() { # TEXT
    if grep -F Zx9- <<<"$1"; then
        fail "a secret is shown"
    fi
}

# The right password opens the broker, a wrong one does not; neither is seen in any line at any level.
secrets_come_from_files_and_are_never_shown() {
    local out
    echo Zx9-broker >"$work/password"
    echo Zx9-wrong >"$work/wrong-password"
    echo Zx9-token >"$work/token"
    chmod 644 "$work/password" "$work/wrong-password" "$work/token"
    out=$(login "$work/password" 2>&1) || fail "$out"
    copy_is_right logged_in
    shows_no_secret "$out"
    out=$(exit_code_of login "$work/wrong-password" -e WEIR_CONNECT_TIMEOUT=8s 2>&1)
    tail -n 5 <<<"$out"
    shows_no_secret "$out"
    grep -qi 'authentication' <<<"$out"
    grep -qx 'exit code 1' <<<"$out"
    out=$(docker run --rm -e WEIR_JOB_ID=shown -e WEIR_KAFKA_SASL_PASSWORD=Zx9-broker \
        -e WEIR_KAFKA_SSL_KEY_PASSWORD=Zx9-key -e WEIR_HTTP_TOKEN=Zx9-http "$WEIR_IMAGE" config 2>&1 || true)
    grep WEIR_KAFKA_SASL_PASSWORD <<<"$out"
    shows_no_secret "$out"
    # The file and the value at once are a contradiction.
    out=$(exit_code_of login "$work/password" -e WEIR_KAFKA_SASL_PASSWORD=Zx9-broker 2>&1)
    echo "$out"
    shows_no_secret "$out"
    grep -q WEIR_KAFKA_SASL_PASSWORD_FILE <<<"$out"
    grep -qx 'exit code 2' <<<"$out"
}

# Two owners that see the same checkpoints, each with a working state of its own.
a_newer_owner_fences_the_older_one() {
    local name
    for name in older newer; do
        weir -d --name $project-$name -v $label-pair:/var/lib/weir -e WEIR_JOB_ID=pair \
            -e WEIR_STATE_DIR=/var/lib/weir/$name -e WEIR_CHECKPOINT_DIR=/var/lib/weir/checkpoints \
            -e WEIR_SQL="$(copy_sql pair)" "${job[@]}" --
        await has_logged $project-$name 'job pair is running'
    done
    feed 1000
    [ "$(timeout 60 docker wait $project-older)" = 3 ]
    docker logs $project-older
    "$here/rows.sh" input 0 "$(orders)" | grep '"customer":"c1",' >"$work/pair"
    await has_rows pair "$(wc -l <"$work/pair")"
    docker stop $project-newer
    docker logs $project-newer
    [ "$(state_of $project-newer ExitCode)" = 0 ]
    [ "$(count pair)" = "$(wc -l <"$work/pair")" ]
}

a_lost_volume_is_refused() {
    local out
    compose rm -f weir
    docker volume rm ${project}_weir
    out=$(exit_code_of compose run --rm --no-deps weir 2>&1)
    echo "$out"
    grep -q 'points at checkpoint .* which is not in /var/lib/weir/checkpoints' <<<"$out"
    grep -qx 'exit code 2' <<<"$out"
}

# ---- The end.

is_healthy() { # CONTAINER
    [ "$(state_of "$1" Health.Status)" = healthy ]
}

a_broker_that_comes_back_finds_the_job_going_on() {
    feed 1000
    compose restart kafka
    await is_healthy $project-kafka-1
    feed 1000
    outputs_are_right
    await is_healthy $project-weir-1
}

stop_makes_a_final_checkpoint_and_ends_with_0() {
    feed 1000
    local began=$SECONDS
    docker stop --time 35 $project-weir-1
    echo "stopped after $((SECONDS - began)) s"
    [ $((SECONDS - began)) -lt 30 ]
    [ "$(state_of $project-weir-1 ExitCode)" = 0 ]
    has_logged $project-weir-1 'stopped after a final checkpoint'
}

# The restart policy leaves what was stopped alone; the outputs are whole or will be after a start.
nothing_changes_after_the_stop() {
    docker start $project-weir-1
    outputs_are_right
    docker stop --time 35 $project-weir-1
    [ "$(state_of $project-weir-1 ExitCode)" = 0 ]
}
