-- What wallets hold in any number, a row each (docs/spec/state.md 2.4).
CREATE TABLE holdings (
  address text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  previous text COLLATE "C",                  -- ids of the neighbours in order of acquisition
  next text COLLATE "C",
  value text NOT NULL                         -- JSON, amounts as decimal text
);
-- Attributes of wallets contained the holdings: the mirror fetches the state again, and keeps the blocks.
UPDATE head SET phase = 'blocks';
DELETE FROM undo;
