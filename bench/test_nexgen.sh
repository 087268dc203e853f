#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The data set must not change: published figures and stored topics rest on it.
#
#   bench/test_nexgen.sh NEXGEN
set -euo pipefail
nexgen=$1

expect() { # DIGEST ARGUMENTS: of what nexgen prints
    local found
    found=$("$nexgen" "${@:2}" | sha256sum | cut -d' ' -f1)
    [ "$found" = "$1" ] || {
        echo "nexgen ${*:2}: other events than ever before ($found)" >&2
        exit 1
    }
}

expect e1eb355e06c277a90b13c9deb55f7b792c0bcfe9e4a5cf88bfc4ff5bda11c1cc print 0 20000
expect 89aceccb98e2bb025bd4cfd974ce1613754c1178fe3843636dacd8615123b9cd --group 1000 --seed 7 print 0 20000
# A range by itself is the same as that range of a longer one.
[ "$("$nexgen" print 19990 20000)" = "$("$nexgen" print 0 20000 | tail -n 10)" ]
# 1 person, 3 auctions and 46 bids in 50; 331 to 333 bytes each on average.
"$nexgen" check 0 100000 | grep -q '"persons":2000,"auctions":6000,"bids":92000,"bytes_per_event":33[0-3]\.'
