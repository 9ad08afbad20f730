-- Counts the properties of a database whose properties were written without the triggers of property_parts.

DELETE FROM property_parts;

INSERT INTO property_parts
SELECT token, 1, iif(part = 0, '', min(key)), count(*)
FROM (SELECT token, key, (row_number() OVER (PARTITION BY token ORDER BY key) - 1) / 256 AS part FROM properties)
GROUP BY token, part;

INSERT INTO property_parts
SELECT token, 2, min(first), sum(number)
FROM (SELECT token, first, number, (row_number() OVER (PARTITION BY token ORDER BY first) - 1) / 64 AS part FROM property_parts)
WHERE token IN (SELECT token FROM property_parts WHERE first <> '')
GROUP BY token, part;
