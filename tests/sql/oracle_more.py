# SPDX-License-Identifier: Apache-2.0
"""Texts and requests for intervals, times, uuids and arrays: part of oracle_types.py."""


class MoreTexts:
    """Needs what oracle_types.Maker has: r, digits, maybe_mutate, date_text, time_text, …"""

    # --- intervals and times

    UNITS = ["us", "usec", "microsecond", "microseconds", "ms", "msec", "milliseconds", "s", "sec", "secs",
             "second", "SECONDS", "m", "min", "mins", "minute", "minutes", "h", "hr", "hour", "hours", "d",
             "day", "days", "w", "week", "weeks", "mon", "mons", "month", "months", "y", "yr", "year",
             "years", "decade", "decades", "century", "centuries", "c", "mil", "millennium", "millennia",
             "quarter", "dow", "epoch", "fortnight", "timezone", "ago"]

    def count_text(self):
        r = self.r
        return r.choice([
            str(r.randint(0, 100)), str(r.randint(-100, 100)), "+%d" % r.randint(0, 99),
            "%d.%s" % (r.randint(-20, 20), self.digits(7)), ".%s" % self.digits(3), "-.5", "1.", "1e3",
            str(r.choice([2147483647, 2147483648, -2147483648, 9223372036854775807, 178956970, 178956971,
                          -178956970, 1000000000, 106751991, 2562047788, 2562047789, 10 ** 19])),
            "%d-%d" % (r.randint(-3, 30), r.randint(0, 13)), "-%d-%d" % (r.randint(0, 30), r.randint(0,
            12)),
        ])

    def clock_text(self):
        r = self.r
        fraction = r.choice(["", "", ".5", ".%s" % self.digits(8), ".999999", ".9999999", "."])
        return r.choice(["", "", "-", "+"]) + r.choice([
            "%02d:%02d:%02d%s" % (r.randint(0, 30), r.randint(0, 61), r.randint(0, 61), fraction),
            "%d:%02d" % (r.randint(0, 1000), r.randint(0, 60)),
            "%d:%02d%s" % (r.randint(0, 90), r.randint(0, 61), fraction),
            "%d:00:00" % r.choice([2562047788, 2562047789, 9223372036854775807, 2147483648]),
        ])

    def iso_interval(self):
        r = self.r

        def part(letter):
            return self.r.choice([str(r.randint(0, 40)), str(r.randint(-40, 40)),
                                  "%d.%s" % (r.randint(-9, 9), self.digits(4)), "1e2", ".5"]) + letter
        text = "P" + "".join(part(c) for c in "YMWD" if r.random() < 0.5)
        if r.random() < 0.6:
            text += "T" + "".join(part(c) for c in "HMS" if r.random() < 0.6)
        return r.choice([text, text, text, "P%04d-%02d-%02d" % (r.randint(0, 30), r.randint(0, 13),
                         r.randint(0, 40)),
                         "P%04d-%02d-%02dT%02d:%02d:%02d" % tuple(r.randint(0, 30) for _ in range(6)),
                         "P%04d%02d%02dT%02d%02d%02d" % tuple(r.randint(0, 30) for _ in range(6)),
                         "P%04d%02d%02d" % tuple(r.randint(0, 30) for _ in range(3)),
                         "PT%02d:%02d" % (5, 30),
                         "P1-2", "PT1:2:3.5", "P", "PT", "P1", "PT1", "P1T2", "p1d", "P1D2", "P1.5-1",
                         "P1-2D"])

    def interval_text(self):
        r = self.r
        kind = r.random()
        if kind < 0.06:
            return r.choice(["", " ", "ago", "1", "-1", "1.5", "@ 1 day", "infinity", "1 day ago ago",
                             "day", "1 1",
                             "1-2 3 4:05:06", "1 2 3", "1 day 2 days", "1:2:3 4:5:6", "-1-2 +3 -4:05:06",
                             "1 mon -1 day", "1 year 2 months 3 days 4 hours 5 minutes 6 seconds ago",
                             "@ 1 minute ago", "2147483647 days 2147483647 days", "1 hour 90 min 1.5 sec",
                             "-2147483648 mons", "-178956970 years -8 mons", "-178956970 years -9 mons",
                             "9223372036854775807 us", "9223372036854775808 us", "-9223372036854775808 us",
                             "0 days", "00:00:00", "-00:00:01", "1 day -00:00:01", "-1 day +00:00:01",
                             "1.5 months", "-1.5 years", "0.1 weeks", "1.23456789 s", "1 week ago"])
        if kind < 0.3:
            text = self.iso_interval()
        else:
            parts = ["%s%s%s" % (self.count_text(), r.choice([" ", " ", "", "  "]), r.choice(self.UNITS))
                     for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4]))]
            if r.random() < 0.4:
                parts.append(self.clock_text())
            if r.random() < 0.1:
                parts.append(self.count_text())
            text = r.choice(["", "", "@ "]) + " ".join(parts) + r.choice(["", "", "", " ago"])
        return self.maybe_mutate(text, "0123456789:-+. PTdhms", 0.15)

    def simple_interval(self):
        r = self.r
        return r.choice([
            "%d years %d mons %d days %d us" % (r.randint(-3, 3), r.randint(-14, 14), r.randint(-70, 70),
                                                r.randint(-10 ** 12, 10 ** 12)),
            "%d days %d us" % (r.randint(-3, 3), r.choice([0, 1, -1, 86400000000, -86400000000,
            172800000000])),
            "%d mons %d days" % (r.randint(-2, 2), r.choice([0, 30, -30, 60, 1])), "48:00:00",
            "2 days", "1 mon",
            "30 days", "720:00:00", "2147483647 mons", "-2147483648 mons", "2147483647 days",
            "-2147483648 days", "9223372036854775807 us", "-9223372036854775808 us", "0",
        ])

    def time_of_day_text(self):
        r = self.r
        kind = r.random()
        if kind < 0.06:
            return r.choice(["", " ", "allballs", "today", "24:00:00", "24:00:01", "23:59:60", "25:00",
                             "04",
                             "0405", "040506", "040506.7", "04:05 PM", "13:00 PM", "12:00 AM",
                             "T040506", "t04:05",
                             "04:05:06+02", "04:05:06 UTC", "2003-04-12 04:05:06", "20030412 040506",
                             "infinity",
                             "040506+08", "040506-08", "04:05-08:00", "j2451187", "04:05:06 BC",
                             "epoch", "monday",
                             "23:59:59.9999999", "04:05:06.789 z", "2003.102 04:05", "4:5:6"])
        text = self.time_text() + self.zone_text()
        if r.random() < 0.2:
            text = self.date_text() + r.choice([" ", "T"]) + text
        return self.maybe_mutate(text, "0123456789:-+. TZapmz", 0.15)

    def uuid_text(self):
        r = self.r
        digits = "%032x" % r.getrandbits(128)
        text = r.choice([
            "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]]), digits,
            digits.upper(), "{%s}" % digits, "-".join(digits[i:i + 4] for i in range(0, 32, 4)),
            "0" * 32, "f" * 32, "{%s" % digits, " " + digits, digits + " ", digits[:31], digits + "0", ""])
        return self.maybe_mutate(text, "0123456789abcdefABCDEFg-{}", 0.2)

    def usual_timestamp(self):
        r = self.r
        return "%04d-%02d-%02d %02d:%02d:%02d.%s%s" % (
            r.randint(1, 3000), r.randint(1, 12), r.choice([1, 15, 28, 29, 30, 31]), r.randint(0, 23),
            r.randint(0, 59), r.randint(0, 59), self.digits(6), r.choice(["", "", "", " BC"]))

    # --- arrays

    def array_text(self, element, depth=None):
        r = self.r
        depth = r.choice([1, 1, 1, 2, 2, 3]) if depth is None else depth
        width = r.choice([0, 1, 2, 2, 3])

        def one(level):
            if level == 0:
                text = element()
                if r.random() < 0.15:
                    return r.choice(["NULL", "null", '"NULL"', "Null", '""', "\\N"])
                if r.random() < 0.3 or any(c in text for c in '{},"\\ \t\n\r\v\f') or text == "":
                    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
                return text
            return "{" + r.choice([",", ", ", " ,"]).join(
                one(level - 1) for _ in range(width if r.random() < 0.97 else 4)) + "}"
        text = one(depth)
        if r.random() < 0.1:
            text = "".join("[%d:%d]" % (lower, lower + width - 1)
                           for lower in (r.randint(-2, 3) for _ in range(depth))) + "=" + text
        return self.maybe_mutate(text, '{}[],:="\\ 01aN', 0.1)


def make(maker, each, fields):
    """name of fixture -> requests"""
    r = maker.r
    sets = {}

    def interval_field(kind):
        known = [f for f in fields[:13] + (["epoch"] if kind != "date_trunc" else []) if f != "week"]
        form = "extract(%s from $a::interval)" if kind == "extract" else kind + "('%s', $a::interval)"
        return ("expr", form % r.choice(known), maker.simple_interval(), "")

    sets["interval"] = (
        each(2.5, lambda: ("in", "interval", maker.interval_text(), ""))
        + each(1.0, lambda: ("cmp", "interval", maker.simple_interval(), maker.simple_interval()))
        + each(0.4, lambda: interval_field("extract"))
        + each(0.4, lambda: interval_field("date_part"))
        + each(0.4, lambda: interval_field("date_trunc"))
        + each(0.5, lambda: ("expr", "$a::interval %s $b::interval" % r.choice("+-"),
               maker.simple_interval(),
                             maker.simple_interval()))
        + each(0.5, lambda: ("expr", "$a::interval %s $b::double precision" % r.choice("*/"),
                             maker.simple_interval(), r.choice(["0", "1.5", "-0.1", "3", "1e10", "NaN",
                             "0.333333"])))
        + each(0.3, lambda: ("expr", "%s($a::interval)" % r.choice(
            ["-", "justify_hours", "justify_days", "justify_interval"]), maker.simple_interval(), ""))
        # PostgreSQL lets differences of the farthest ones overflow, and takes infinities for numbers.
        + each(0.4, lambda: ("expr", "$a::timestamp - $b::timestamp", maker.usual_timestamp(),
                             maker.usual_timestamp()))
        + each(0.4, lambda: ("expr", "age($a::timestamp, $b::timestamp)", maker.usual_timestamp(),
                             maker.usual_timestamp()))
    )
    sets["time"] = (
        each(1.5, lambda: ("in", "time", maker.time_of_day_text(), ""))
        + each(0.3, lambda: ("cmp", "time", maker.time_text(), maker.time_text()))
        # PostgreSQL lets the sum with the longest intervals overflow.
        + each(0.3, lambda: ("expr", "$a::time %s $b::interval" % r.choice("+-"), maker.time_text(),
                             "%d mons %d us" % (r.randint(-2, 2), r.randint(-10 ** 12, 10 ** 12))))
        + each(0.2, lambda: ("expr", "extract(%s from $a::time)" % r.choice(fields[:5] + ["epoch"]),
                             maker.time_text(), ""))
        + each(0.5, lambda: ("in", "uuid", maker.uuid_text(), ""))
        + each(0.2, lambda: ("cmp", "uuid", maker.uuid_text(), maker.uuid_text()))
        + each(0.4, lambda: ("in", r.choice(["character(3)", "character(1)", "character(20)"]),
               maker.text(), ""))
        + each(0.2, lambda: ("cmp", "character(5)", maker.text()[:3] + " " * r.randint(0, 2),
                             maker.text()[:3] + " " * r.randint(0, 2)))
        # weir lets no half of a surrogate pair in.
        + [("in", "json", text, "") for text in each(0.5, maker.json_text) if "\\u" not in text]
    )
    scalars = {
        "integer": lambda: str(r.choice([0, 1, -1, 7, 2147483647, r.randint(-99, 99)])), "text": maker.text,
        "numeric": maker.numeric, "date": lambda: "2025-01-0%d" % r.randint(1, 9),
        "boolean": lambda: r.choice("tf"),
        "interval": maker.simple_interval, "uuid": lambda: "%032x" % r.getrandbits(128),
        "bytea": maker.bytea,
        "double precision": maker.double, "timestamptz": lambda: "2025-01-02 03:04:05.6+00",
        "jsonb": lambda: maker.json_value(1), "pg_temp.pair": lambda: "(%d,%s)" % (r.randint(-9, 9),
        r.choice("abc")),
    }

    def array(op):
        name = r.choice(list(scalars))
        return (op, name + "[]", maker.array_text(scalars[name]),
                maker.array_text(scalars[name]) if op == "cmp" else "")

    sets["array"] = each(1.5, lambda: array("in")) + each(0.8, lambda: array("cmp"))
    return sets
