-- Moves what wallets hold from their attributes, where earlier versions had maps, to rows. Changes nothing if they are rows.

INSERT INTO holdings
SELECT address, kind, entry, lag(entry) OVER acquired, lead(entry) OVER acquired, value
FROM (
  SELECT address, kind, entries.key AS entry, entries.id AS position,
    iif(entries.type = 'true', 'true', entries.value) AS value
  FROM wallets,
    (SELECT 'tokens' AS kind, '$.tokens' AS place UNION ALL SELECT 'ipfs', '$.ipfs.hashes' UNION ALL SELECT 'locks', '$.htlc.locks'
      UNION ALL SELECT 'bridgechains', '$.business.bridgechains' UNION ALL SELECT 'entities', '$.entities'),
    json_each(attributes, place) AS entries
  WHERE attributes <> '{}' AND json_type(attributes, place || '.size') IS NOT 'integer'
)
WINDOW acquired AS (PARTITION BY address, kind ORDER BY position);

INSERT OR IGNORE INTO holdings
SELECT address, 'bridgechainNames', lower(value ->> '$.bridgechainAsset.name'), NULL, NULL, json_quote(id)
FROM holdings WHERE kind = 'bridgechains';

UPDATE wallets SET attributes = json_set(attributes, '$.tokens', json(collection)) FROM (
  SELECT address, json_object('size', count(*), 'first', max(id) FILTER (WHERE previous IS NULL),
    'last', max(id) FILTER (WHERE next IS NULL)) AS collection
  FROM holdings WHERE kind = 'tokens' GROUP BY address
) AS held WHERE held.address = wallets.address;
UPDATE wallets SET attributes = json_set(attributes, '$.ipfs.hashes', json(collection)) FROM (
  SELECT address, json_object('size', count(*), 'first', max(id) FILTER (WHERE previous IS NULL),
    'last', max(id) FILTER (WHERE next IS NULL)) AS collection
  FROM holdings WHERE kind = 'ipfs' GROUP BY address
) AS held WHERE held.address = wallets.address;
UPDATE wallets SET attributes = json_set(attributes, '$.htlc.locks', json(collection)) FROM (
  SELECT address, json_object('size', count(*), 'first', max(id) FILTER (WHERE previous IS NULL),
    'last', max(id) FILTER (WHERE next IS NULL)) AS collection
  FROM holdings WHERE kind = 'locks' GROUP BY address
) AS held WHERE held.address = wallets.address;
UPDATE wallets SET attributes = json_set(attributes, '$.htlc.locks', json('{"size":0}'))
WHERE attributes ->> '$.htlc.locks' = '{}';
UPDATE wallets SET attributes = json_set(attributes, '$.business.bridgechains', json(collection)) FROM (
  SELECT address, json_object('size', count(*), 'first', max(id) FILTER (WHERE previous IS NULL),
    'last', max(id) FILTER (WHERE next IS NULL),
    'active', count(*) FILTER (WHERE value ->> '$.resigned' IS NULL)) AS collection
  FROM holdings WHERE kind = 'bridgechains' GROUP BY address
) AS held WHERE held.address = wallets.address;
UPDATE wallets SET attributes = json_set(attributes, '$.entities', json(collection)) FROM (
  SELECT address, json_object('size', count(*), 'first', max(id) FILTER (WHERE previous IS NULL),
    'last', max(id) FILTER (WHERE next IS NULL)) AS collection
  FROM holdings WHERE kind = 'entities' GROUP BY address
) AS held WHERE held.address = wallets.address;

-- Mirrors that have not copied these blocks fetch the state again: the changes have the earlier form.
DELETE FROM feed_changes;
