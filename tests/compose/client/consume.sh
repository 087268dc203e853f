#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# consume.sh BROKERS TOPIC: all that is committed, one line a record, in the order of each partition:
# partition<TAB>value<TAB>headers
set -eu
kcat -q -C -b "$1" -t "$2" -o beginning -e -X isolation.level=read_committed -f '%p\t%s\t%h\n'
