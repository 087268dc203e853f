-- Many conditions.
SELECT id, t FROM input WHERE i4 > 0 AND (b OR n > 1) AND t IS NOT NULL;

-- NULL is not true.
SELECT id, i4 FROM input WHERE NOT (i4 = 3 OR i2 < 0);

-- Over a subquery and a view of expressions.
SELECT id, doubled, upper(word) AS word
FROM (SELECT id, i4 * 2 AS doubled, coalesce(t, u) AS word FROM input WHERE i4 IS NOT NULL) AS s
WHERE doubled > 6 AND word LIKE '%a%';

-- Two halves put together.
SELECT id, 'low' AS part, m FROM input WHERE m < 0
UNION ALL
SELECT id, 'high', m * 10 FROM input WHERE m >= 0;

-- Several uses of one query.
WITH s AS (SELECT id, i4 % 3 AS r, t FROM input WHERE i4 IS NOT NULL)
SELECT id, r, t FROM s WHERE r = 0 UNION ALL SELECT id + 10000, r, u FROM (SELECT id, r, t AS u
    FROM s) AS v WHERE r < 0;

-- Nothing passes.
SELECT id FROM input WHERE i4 > 5 AND i4 < 5;

-- What is not reached does not fail.
SELECT id, i4 FROM input WHERE i4 <> 0 AND CASE WHEN i4 = 0 THEN false ELSE 100 / i4 > 10 END;

-- By text patterns and times.
SELECT id, t, at FROM input
WHERE (t ILIKE '%A%' OR u LIKE '____%') AND at >= '2024-03-01 00:10:00+00' AND at::date = date '2024-03-01';
