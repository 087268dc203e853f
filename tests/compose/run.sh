#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The image of weir and docker/docker-compose.yml, as a user runs them: started, killed in the middle,
# started again, stopped, misconfigured, doubled, robbed of its volume. What is committed is compared row
# by row with what rows.sh computes without weir.
#
#   tests/compose/run.sh           closes with a line N passed, N failed. Ends with 77 where no docker
#                                  engine can be had: nothing was tested then.
#   tests/compose/run.sh --keep    leaves containers and volumes, and the engine, for a look around
#
# Containers, networks and volumes have the prefix weir-test; they are removed before and after.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/env.sh"
is_kept=0
case "$#:${1:-}" in
0:) ;;
1:--keep) is_kept=1 ;;
*) die "usage: run.sh [--keep]" ;;
esac

project=weir-test
timeout_s=120
passed=0 failed=0
work=$(mktemp -d)

# One run at a time: the names are the same.
exec 9>"$cache/lock"
flock 9

compose() {
    docker compose --ansi never --progress quiet -p $project -f "$root/docker/docker-compose.yml" \
        -f "$here/docker-compose.test.yml" "$@"
}

clean() {
    local containers
    containers=$(docker ps -aq --filter label=$project)
    # shellcheck disable=SC2086 # words
    [ -z "$containers" ] || docker rm -fv $containers
    compose down -v --remove-orphans --timeout 2
    docker volume rm -f $project-pair
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
    ) >"$work/$1.log" 2>&1
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

check image_is_small
check image_holds_no_shell_and_no_root
check image_is_labelled_with_the_version
check wrong_configuration_ends_with_2_and_names_every_fault
check wrong_sql_ends_with_2_and_shows_the_place
check limits_of_the_container_are_seen
need compose_file_starts
check kills_in_the_middle_lose_and_double_nothing
check a_process_that_dies_is_started_again
# The second process waits for half a minute before it gives up: other tests run meanwhile.
begin_second_process_on_the_same_volume
check brokers_are_reached_by_tls
check an_unknown_authority_is_refused
check a_newer_owner_fences_the_older_one
check a_second_process_on_the_same_volume_is_refused
check a_broker_that_comes_back_finds_the_job_going_on
check stop_makes_a_final_checkpoint_and_ends_with_0
check nothing_changes_after_the_stop
check a_lost_volume_is_refused
close
