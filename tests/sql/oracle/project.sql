-- Columns as they are.
SELECT * FROM input;

-- Numbers.
SELECT id, i4 + i2 AS a, i4 * 3 - 1 AS b, i4 / 7 AS c, i4 % 7 AS d, -i8 AS e, i8 / 1000 AS f,
    abs(i4) AS g, n * 2 AS h, n + m AS i, n - 0.10 AS j, n * n AS k, m / 3 AS l, m % 7 AS m,
    round(m) AS n, round(m, 1) AS o, trunc(n, 2) AS p, ceil(n) AS q, floor(n) AS r, sign(m) AS s,
    f8 * 2 AS t, f8 / 4 AS u, f8 + i4 AS v, sqrt(abs(f8)) AS w, i2 + i8 % 10 AS x,
    div(m, 7) AS y, mod(i4, 5) AS z, power(i4, 2) AS aa, i4 / 2.0 AS ab
FROM input;

-- Comparisons and logic, with NULL.
SELECT id, i4 < 5 AS a, i4 >= i2 AS b, n = m AS c, n > 0.5 AS d, t = u AS e, t < 'b' AS f,
    b AND i4 > 0 AS g,
    b OR i4 > 0 AS h, NOT b AS i, b IS NULL AS j, b IS NOT TRUE AS k, i4 IS DISTINCT FROM i2 AS l,
    i4 BETWEEN -5 AND 5 AS m, i4 IN (1, 2, NULL) AS n, t NOT IN ('a', 'abc') AS o,
    d > date '2000-01-01' AS p,
    ts <= timestamp '2000-01-01' AS q, tz <> timestamptz '1969-07-20 20:17:40+00' AS r, i8 = f8 AS s,
    n < f8 AS t
FROM input;

-- Choices.
SELECT id, CASE WHEN i4 > 10 THEN 'big' WHEN i4 > 0 THEN 'small' WHEN i4 IS NULL THEN 'none' END AS a,
    CASE i2 WHEN 0 THEN 'zero' WHEN 1 THEN t ELSE u END AS b, coalesce(i4, i8, 0) AS c,
    coalesce(t, u, '?') AS d, nullif(i4, 0) AS e, 100 / nullif(i4, 0) AS f, greatest(i4, i2, 3) AS g,
    least(m, i4) AS h, greatest(t, u) AS i, least(d, date '2000-01-01') AS j,
    CASE WHEN i4 <> 0 THEN 1000 / i4 END AS k, coalesce(n, m) AS l
FROM input;

-- Casts.
SELECT id, i4::text AS a, n::text AS b, m::int AS c, f8::int8 AS d, f8::numeric AS e, f8::text AS f,
    b::text AS g, b::int AS h, d::text AS i, ts::text AS j, tz::text AS k, ts::date AS l,
    d::timestamp AS m, ts::timestamptz AS n, tz::timestamp AS o, n::numeric(30,1) AS p,
    t::varchar(3) AS q, m::double precision AS r, i2::smallint::bigint AS s, '12'::int + i4 AS t,
    i8::double precision AS u, m::real AS v, i4::boolean AS w
FROM input;

-- Texts.
SELECT id, upper(t) AS a, lower(t) AS b, initcap(u) AS c, length(t) AS d, octet_length(t) AS e,
    t || '-' || u AS f, substring(t FROM 2 FOR 3) AS g, substr(t, 3) AS h, left(t, 2) AS i,
    right(t, -1) AS j, position('o' IN t) AS k, strpos(t, 'b') AS l, replace(t, 'o', '00') AS m,
    split_part(t, ',', 2) AS n, trim(t) AS o, ltrim(t, 'a ') AS p, rtrim(u) AS q, btrim(t, '" ') AS r,
    lpad(u, 6, '*') AS s, rpad(t, 4) AS t, reverse(t) AS u, repeat(u, 2) AS v, translate(t, 'abc',
    'xy') AS w,
    overlay(t PLACING 'ZZ' FROM 2) AS x, starts_with(t, 'a') AS y, ascii(t) AS z, concat(t, i4, b,
    d) AS aa,
    concat_ws('|', u, i4, t) AS ab, chr(64 + abs(i4)) AS ac, t LIKE '%o%' AS ad, t LIKE 'row\_id' AS ae,
    t ILIKE 'zO_' AS af, u NOT LIKE '_b%' AS ag, bit_length(u) AS ah
FROM input;

-- Dates and times.
SELECT id, extract(year FROM ts) AS a, extract(month FROM d) AS b, extract(epoch FROM tz) AS c,
    extract(dow FROM ts) AS d, extract(doy FROM d) AS e, extract(second FROM ts) AS f,
    extract(isoyear FROM d) AS g, extract(week FROM ts) AS h, extract(quarter FROM tz) AS i,
    extract(microseconds FROM ts) AS j, extract(century FROM d) AS k, date_trunc('month', ts) AS l,
    date_trunc('hour', tz) AS m, date_trunc('week', ts) AS n, date_trunc('quarter', at) AS o,
    date_trunc('decade', ts) AS p, d + 30 AS q, d - date '2000-01-01' AS r, date_part('hour', ts) AS s,
    isfinite(ts) AS t, to_timestamp(i4 * 1000) AS u, tz AT TIME ZONE 'UTC' AS v, at::date AS w,
    make_date(2024, abs(i4) % 12 + 1, 28) AS x
FROM input;

-- Names, quoted and not.
SELECT id AS "Id", i4 AS "two words", t AS "größe", u AS "a""b", m AS SHOUTED FROM input;

-- Nothing but constants.
SELECT 1 AS one, 'x' AS x, NULL AS nothing, 1.50 AS n, true AS yes, date '2024-02-29' AS d,
    timestamp '2024-02-29 01:02:03.4' AS ts, 1e3 AS e, 'it''s' AS q, E'tab\t' AS e2, -5 AS m
FROM input WHERE id <= 3;

-- Operators in and over each other.
SELECT id, - i4 ^ 2 AS a, 2 + 3 * i4 - i4 / 2 % 3 AS b, NOT i4 = 3 AND b AS c,
    i4 + 1 > i2 OR b IS TRUE AS d,
    i4 - i2 - 1 AS e, 7 / 2 * i4 AS f, 7.0 / 2 * i4 AS g, -m AS h, - (-i4) AS i, i4 * i4 % 7 = 2 AS j,
    t || i4 AS k, i4 || t AS l, (t || u) || 'z' = t || u || 'z' AS m
FROM input;

-- Types of mixed arithmetic, rounding of casts.
SELECT id, i2 + 1::bigint AS a, i2 * 1.5 AS b, i4 + 1.0::real AS c, m::numeric(6,0) AS d,
    (m / 10)::int AS e,
    (f8 / 4)::int8 AS f, m::real AS g, (m::double precision * 1.1) AS h, m::numeric(12,4) AS i,
    round(m::double precision) AS j, (i4 / 3.0)::numeric(10,3) AS k, i8 * 1.0 AS l, i4 / 3::real AS m,
    round(m, -2) AS n, trunc(m) AS o, round(i4 / 8.0, 2) AS p, exp(i4 / 10::float8) AS q,
    ln(abs(f8) + 1) AS r,
    power(f8, 2) AS s, sqrt(abs(f8)) AS t, log(abs(i4) + 1) AS u, cbrt(i4) AS v
FROM input;

-- Times taken apart at their edges.
SELECT id, extract(epoch FROM ts) AS a, extract(epoch FROM d) AS b, extract(julian FROM d) AS c,
    extract(millennium FROM ts) AS d, extract(decade FROM ts) AS e, extract(isodow FROM d) AS f,
    extract(milliseconds FROM tz) AS g, extract(hour FROM at) AS h, extract(minute FROM at) AS i,
    extract(second FROM at) AS j, date_part('epoch', at) AS k, date_trunc('second', at) AS l,
    date_trunc('year', d) AS m, date_trunc('century', ts) AS n, date_trunc('millennium', tz) AS o,
    date_trunc('day', tz) AS p, date_trunc('minute', ts) AS q, at > ts AS r, d = ts::date AS s,
    ts::text || '!' AS t, coalesce(d, ts::date) AS u, greatest(at, tz) AS v
FROM input;

-- JSON and bytes.
SELECT id, j, y, j -> 'a' AS a, j ->> 'b' AS b, j -> 1 AS c, j ->> 'key' AS d, jsonb_typeof(j) AS e,
    j = '1' AS f, j::text AS g, j -> 'a' ->> 'c' AS h, y || '\x7a' AS i, length(y) AS k, y > '\x01' AS l,
    octet_length(y) AS m, y::text AS n, j IS NULL AS o, j <> 'null' AS p, substring(y FROM 2) AS q
FROM input;

-- Numerics that are none.
SELECT id, x, x + 1 AS a, x > 5 AS b, x = 'NaN' AS c, x * m AS d, abs(x) AS e, round(x, 1) AS f,
    x::float8 AS g,
    -x AS h, greatest(x, m) AS i, x::text AS k, least(x, 0) AS l, x::numeric(40,3) AS m
FROM input;
