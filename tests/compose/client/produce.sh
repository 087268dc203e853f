#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# produce.sh BROKERS TOPIC: lines of standard input, partition<TAB>value, in order into that partition.
set -eu
work=$(mktemp -d)
awk -F '\t' -v work="$work" '{print substr($0, length($1) + 2) >(work "/partition-" $1)}'
cd "$work"
for file in *; do
    {
        kcat -q -P -b "$1" -t "$2" -p "${file#partition-}" -X enable.idempotence=true <"$file"
        rm "$file"
    } &
done
wait
# A file that is still there was not written to the topic.
rmdir "$work"
