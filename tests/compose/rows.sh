#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What goes into the job docker/job.sql, and what must come out of it: made from the number of the order
# alone, without weir. Order n is record n / 4 of partition n mod 4.
#
#   rows.sh input FROM TO        partition<TAB>value, of the orders FROM to TO - 1
#   rows.sh item_prices TO       what must be there after the orders 0 to TO - 1: partition<TAB>value in
#                                the order of each partition
#   rows.sh large_orders TO      value
#   rows.sh customer_totals TO   value: the latest row of each customer
#   rows.sh orders_dead TO       reason<TAB>partition<TAB>offset<TAB>value
set -euo pipefail
what=$1
if [ "$what" = input ]; then
    from=$2 to=$3
else
    from=0 to=$2
fi
# Three in a hundred cannot be used: no JSON, no items (the price divides by them), no customer.
awk -v what="$what" -v from="$from" -v to="$to" '
function money(cents) {
    return sprintf("%d.%02d", cents / 100, cents % 100)
}
BEGIN {
    OFS = "\t"
    for (n = from; n < to; n++) {
        partition = n % 4
        items = 1 + n % 7
        price = 1 + n * 37 % 20000
        amount = price * items
        customer = sprintf(",\"customer\":\"c%d\"", n % 50)
        reason = ""
        if (n % 100 == 13) {
            reason = "expression"
            items = 0
            amount = price
        } else if (n % 100 == 21) {
            reason = "constraint"
            customer = ""
        }
        value = sprintf("{\"id\":%d%s,\"items\":%d,\"amount\":%s}", n, customer, items, money(amount))
        if (n % 100 == 7) {
            reason = "decode"
            value = sprintf("{\"id\":%d, rubbish", n)
        }
        if (reason != "decode" && reason != "constraint") {
            count[n % 50]++
            total[n % 50] += amount
        }
        if (what == "input") {
            print partition, value
        } else if (what == "orders_dead" && reason != "") {
            print reason, partition, int(n / 4), value
        } else if (what == "item_prices" && reason == "") {
            print partition, sprintf("{\"id\":%d,\"price\":%s}", n, money(price))
        } else if (what == "large_orders" && reason == "" && amount >= 100000) {
            print sprintf("{\"id\":%d%s,\"amount\":%s}", n, customer, money(amount))
        }
    }
    for (n = 0; what == "customer_totals" && n < 50; n++) {
        if (count[n] > 0) {
            print sprintf("{\"customer\":\"c%d\",\"orders\":%d,\"amount\":%s}", n, count[n],
                money(total[n]))
        }
    }
}' /dev/null | if [ "$what" = item_prices ]; then sort -s -k 1,1n; else cat; fi
