-- Earlier states of records, for nodes with `--history full` (docs/decisions/0069-earlier-versions-of-records.md). Each row is a
-- record as it was before a block that changed it. The state after block h is therefore the first row above h, or the present record.

-- The recorded heights. The lowest one is the block at which recording began.
CREATE TABLE history_blocks (
  height INTEGER PRIMARY KEY,
  coins INTEGER NOT NULL                      -- sum of all balances and open locks after the block
) STRICT;

CREATE TABLE history_wallets (
  address TEXT NOT NULL,
  height INTEGER NOT NULL,                    -- block that changed the other columns
  balance INTEGER,                            -- before the block, as the other columns; NULL: no wallet
  nonce INTEGER,
  has_public_key INTEGER,                     -- 1: the node knew the public key, which never changes
  PRIMARY KEY (address, height)
) STRICT, WITHOUT ROWID;

-- Attributes of wallets, tokens and properties.
CREATE TABLE history_records (
  kind INTEGER NOT NULL,                      -- 0 attributes, 1 token, 2 property
  key TEXT NOT NULL,
  height INTEGER NOT NULL,
  step INTEGER NOT NULL,                      -- 0: the record is whole; other steps: it is a difference (store/history/delta.ts)
  prefix INTEGER NOT NULL,
  suffix INTEGER NOT NULL,
  record TEXT,                                -- NULL: no record
  PRIMARY KEY (kind, key, height)
) STRICT, WITHOUT ROWID;
