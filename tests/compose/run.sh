#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The image of weir and docker/docker-compose.yml, as a user runs them: started, killed in the middle,
# started again, stopped, misconfigured, doubled, robbed of its volume, paused, without room on its disk,
# with little memory, cut off from one broker of three. What is committed is compared row by row with what
# rows.sh computes without weir.
#
#   tests/compose/run.sh            everything but --memory. Closes with a line N passed, N failed. Ends
#                                   with 77 where no docker engine can be had: nothing was tested then.
#   tests/compose/run.sh --short    what needs one broker and no long waiting: part of tools/test.sh
#   tests/compose/run.sh --memory   half an hour in 512 MiB: 5 million keys of state, 100 partitions, lz4,
#                                   savepoints; prints the resident size as a curve. WEIR_MEMORY_KEYS,
#                                   WEIR_MEMORY_SECONDS and WEIR_MEMORY_LIMIT (MiB) change the figures
#   tests/compose/run.sh --keep     leaves containers and volumes, and the engine, for a look around; goes
#                                   with each of the others
#
# Containers, networks and volumes have the prefix weir-test; they are removed before and after.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/env.sh"
is_kept=0 part=all
for argument; do
    case $argument in
    --keep) is_kept=1 ;;
    --short | --memory) part=${argument#--} ;;
    *) die "usage: run.sh [--short|--memory] [--keep]" ;;
    esac
done

label=weir-test
project=$label
timeout_s=120
passed=0 failed=0
work=$(mktemp -d)

# One run at a time: the names are the same.
exec 9>"$cache/lock"
flock 9

compose() {
    docker compose --ansi never --progress quiet -p "$project" "${files[@]}" "$@"
}

# What the tests that follow speak to: the compose file of the user with its one broker, or three brokers.
use_one_broker() {
    project=$label
    files=(-f "$root/docker/docker-compose.yml" -f "$here/docker-compose.test.yml")
    brokers=kafka:9092
}

use_three_brokers() {
    project=$label-cluster
    files=(-f "$here/docker-compose.cluster.yml")
    brokers=kafka1:9092,kafka2:9092,kafka3:9092
    export CLUSTER_SQL=$work/cluster.sql
}

clean() {
    local containers
    containers=$(docker ps -aq --filter label=$label)
    # shellcheck disable=SC2086 # words
    [ -z "$containers" ] || docker rm -fv $containers
    use_three_brokers
    compose down -v --remove-orphans --timeout 2
    use_one_broker
    compose down -v --remove-orphans --timeout 2
    docker volume rm -f $label-pair $label-disk
}

# shellcheck disable=SC2317 # called through trap
finish() {
    local code=$?
    trap - EXIT
    if [ "$is_kept" = 0 ]; then
        clean >/dev/null 2>&1 || true
        "$here/engine.sh" stop 9>&- || true
    fi
    rm -rf "$work"
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

close() {
    echo "$passed passed, $failed failed"
    [ $failed = 0 ]
    exit
}

# Runs FUNCTION as one test: it passes if every command of it succeeds.
check() { # FUNCTION
    local code=0 began=$SECONDS
    set +e
    (
        set -e
        "$1"
    ) 3>&1 >"$work/$1.log" 2>&1
    code=$?
    set -e
    if [ $code = 0 ]; then
        passed=$((passed + 1))
        printf 'passed  %s (%d s)\n' "$1" $((SECONDS - began))
    else
        failed=$((failed + 1))
        printf 'FAILED  %s (%d s)\n' "$1" $((SECONDS - began))
        sed 's/^/    /' "$work/$1.log" | tail -n 40
        compose logs --no-log-prefix --tail 20 weir 2>&1 | sed 's/^/    weir: /'
    fi
}

# A test without which the others make no sense.
need() { # FUNCTION
    local before=$failed
    check "$1"
    [ "$failed" = "$before" ] || close
}

# shellcheck source-path=SCRIPTDIR
. "$here/cases.sh"
# shellcheck source-path=SCRIPTDIR
. "$here/limits.sh"
# shellcheck source-path=SCRIPTDIR
. "$here/cluster.sh"

code=0
"$here/engine.sh" start 9>&- || code=$?
if [ $code = 77 ]; then
    echo "skipped compose: no docker engine can be had here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
[ $code = 0 ] || die "the docker engine does not start"
images=$("$here/images.sh" 9>&-) || die "the images could not be built"
eval "$images"
# shellcheck source-path=SCRIPTDIR
. "$here/env.sh" # the plugins are there now
clean >/dev/null 2>&1

one_broker() {
    check image_is_small
    check image_holds_no_shell_and_no_root
    check image_lists_its_packages
    check image_is_labelled_with_the_version
    check wrong_configuration_ends_with_2_and_names_every_fault
    check wrong_sql_ends_with_2_and_shows_the_place
    check limits_of_the_container_are_seen
    need compose_file_starts
    check kills_in_the_middle_lose_and_double_nothing
    check a_process_that_dies_is_started_again
    check schema_is_registered_and_rows_are_read_by_it
    check a_registry_that_is_away_disturbs_nobody
    # The second process waits for half a minute before it gives up: other tests run meanwhile.
    begin_second_process_on_the_same_volume
    check brokers_are_reached_by_tls
    check an_unknown_authority_is_refused
    check secrets_come_from_files_and_are_never_shown
    check a_newer_owner_fences_the_older_one
    check a_second_process_on_the_same_volume_is_refused
    check a_full_disk_fails_checkpoints_until_there_is_room
    if [ "$part" = all ]; then
        check a_small_limit_of_memory_is_kept
        check a_pause_longer_than_transactions_live_loses_nothing
    fi
    check a_broker_that_comes_back_finds_the_job_going_on
    check stop_makes_a_final_checkpoint_and_ends_with_0
    check nothing_changes_after_the_stop
    check a_lost_volume_is_refused
}

three_brokers() {
    need cluster_starts
    check one_broker_cut_off_from_weir_loses_nothing
    check brokers_restarted_one_after_the_other_lose_nothing
    check stop_makes_a_final_checkpoint_and_ends_with_0
}

case $part in
memory)
    need compose_file_starts
    check many_keys_fit_into_little_memory
    ;;
short) one_broker ;;
all)
    one_broker
    compose down -v --timeout 2 >/dev/null 2>&1
    use_three_brokers
    three_brokers
    ;;
esac
close
