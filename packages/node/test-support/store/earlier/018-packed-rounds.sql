-- Rounds as bytes instead of JSON (store/state/packed-round.ts): 13 bytes for each delegate.
INSERT OR IGNORE INTO generators (public_key)
  SELECT DISTINCT unhex(delegate.value ->> 'publicKey') FROM rounds, json_each(record, '$.delegates') AS delegate;

ALTER TABLE rounds RENAME TO rounds_as_json;
CREATE TABLE rounds (
  round INTEGER PRIMARY KEY,
  height INTEGER NOT NULL,                    -- first height of the round
  delegates BLOB NOT NULL                     -- by rank: number of the public key, vote balance, item of the forging order
) STRICT;
INSERT INTO rounds
  SELECT round, height, unhex(group_concat(
    printf('%06x%016x%04x', number, CAST(delegate.value ->> 'voteBalance' AS INTEGER), item.value), '' ORDER BY delegate.key
  ))
  FROM rounds_as_json
    CROSS JOIN json_each(record, '$.delegates') AS delegate
    CROSS JOIN json_each(record, '$.order') AS item ON item.key = delegate.key
    CROSS JOIN generators ON public_key = unhex(delegate.value ->> 'publicKey')
  GROUP BY round;
DROP TABLE rounds_as_json;
