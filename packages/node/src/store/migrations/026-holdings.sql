-- What wallets hold in any number, a row each (docs/spec/state.md 2.4): attributes have the number, the first and the last one of each kind.

CREATE TABLE holdings (
  address TEXT NOT NULL,
  kind TEXT NOT NULL,                         -- tokens, ipfs, locks, bridgechains, bridgechainNames or entities
  id TEXT NOT NULL,
  previous TEXT,                              -- ids of the neighbours in order of acquisition
  next TEXT,
  value TEXT NOT NULL,                        -- JSON, amounts as decimal text
  PRIMARY KEY (address, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX holdings_kind ON holdings (kind, address) WHERE kind IN ('locks', 'entities');
