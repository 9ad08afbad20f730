-- Version 3 of the tree of final facts (docs/spec/facts.md 10): the properties of each unik are a Merkle map of their own, so that a
-- change costs the changed properties, not all. The tree and the maps are built again in the background.

DROP TABLE unik_map;
DROP TABLE unik_values;
DROP TABLE unik_pages;
DELETE FROM unik_roots;
DELETE FROM fact_tiles;
DELETE FROM fact_sizes;

CREATE TABLE unik_map (
  is_single INTEGER PRIMARY KEY CHECK (is_single = 1),
  height INTEGER NOT NULL,                    -- last block of the last complete round, whose state readers see
  leaf INTEGER,                               -- index of its root in the tree of facts; NULL while the map is built again
  index_in_block INTEGER,                     -- index of this leaf among those of its block
  round_id TEXT,                              -- id of the last block of the round that is being added; NULL: none is
  next_height INTEGER NOT NULL,               -- the first change that the map lacks: block, transaction, property
  next_sequence INTEGER NOT NULL,
  next_change INTEGER NOT NULL,
  uniks INTEGER NOT NULL,                     -- number of leaves, with those of the round that is being added
  removes TEXT CHECK (removes IN ('round', 'all')) -- what a revert left to remove; NULL: nothing
) STRICT;

-- Owners, properties and pages of the maps, by kind and unik (facts/uniks/rows.ts). Without rowids, most pages would overflow.
CREATE TABLE unik_rows (
  key BLOB PRIMARY KEY NOT NULL,
  value BLOB NOT NULL
) STRICT;

-- Rows as they were after a round, which the next round has changed.
CREATE TABLE unik_before (
  height INTEGER NOT NULL,                    -- last block of the round
  key BLOB NOT NULL,
  value BLOB,                                 -- NULL: no row
  PRIMARY KEY (height, key)
) STRICT;
