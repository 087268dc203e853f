# SPDX-License-Identifier: Apache-2.0
# The table of bench/run.sh: medians over the rounds, and ratios to the raw pass-throughs.
# Fields: name, events per CPU-second, CPU, user, wall, RSS, broker CPU, foreign CPU, verdict.
function sorted(name, column, out, n, i, j, value) {
    n = count[name]
    for (i = 1; i <= n; i++) {
        value = values[name, column, i]
        for (j = i; j > 1 && out[j - 1] > value; j--) {
            out[j] = out[j - 1]
        }
        out[j] = value
    }
    return n
}
function median(name, column, out, n) {
    n = sorted(name, column, out)
    return n % 2 ? out[(n + 1) / 2] : (out[n / 2] + out[n / 2 + 1]) / 2
}
function ratio(name, to) {
    return to in count ? sprintf("%.2f", median(name, 2) / median(to, 2)) : "-"
}
# What weir could at best reach with an output of this size.
function floor_of(name) {
    if (name == "weir-q0") {
        return "rawpass-ts-q0size"
    }
    if (name == "weir-count1m") {
        return "rawpass-ts-count"
    }
    if (name == "weir-tumble") {
        return "rawread"
    }
    return name ~ /^weir-/ ? "rawpass-ts-1in100" : "none"
}
{
    if (!($1 in count)) {
        names[++name_count] = $1
        verdicts[$1] = $9
    }
    n = ++count[$1]
    for (column = 2; column <= 8; column++) {
        values[$1, column, n] = $column + 0
    }
    if ($9 == "BAD") {
        verdicts[$1] = $9
    }
}
END {
    printf "%-20s %28s %8s %8s %8s %7s %8s %7s %7s %8s %9s %6s\n", "", "events per CPU-second",
        "/rawpass", "/-ts", "/floor", "CPU s", "system s", "wall s", "RSS MiB", "broker s",
        "foreign s", "output"
    for (k = 1; k <= name_count; k++) {
        name = names[k]
        n = sorted(name, 2, out)
        range = sprintf("%d (%d to %d)", median(name, 2), out[1], out[n])
        printf "%-20s %28s %8s %8s %8s %7.2f %8.2f %7.2f %7.0f %8.2f %9.2f %6s\n", name, range,
            ratio(name, "rawpass"), ratio(name, "rawpass-ts"), ratio(name, floor_of(name)),
            median(name, 3),
            median(name, 3) - median(name, 4), median(name, 5), median(name, 6), median(name, 7),
            median(name, 8), verdicts[name]
    }
}
