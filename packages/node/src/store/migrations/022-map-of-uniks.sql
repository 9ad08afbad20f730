-- The Merkle map of uniks (docs/spec/facts.md 10) after the last round whose facts are in the tree of final facts.

CREATE TABLE unik_map (
  is_single INTEGER PRIMARY KEY CHECK (is_single = 1),
  height INTEGER NOT NULL,                    -- last block of the round
  leaf INTEGER,                               -- index of its root in the tree of facts; NULL while the map is built again
  index_in_block INTEGER                      -- index of this leaf among those of its block
) STRICT;

-- Values of the map. A unik that was disclosed but not minted has no owner, and is not in the map.
CREATE TABLE unik_values (
  unik BLOB PRIMARY KEY,                      -- 32 bytes
  value TEXT NOT NULL                         -- canonical JSON: owner, properties
) STRICT, WITHOUT ROWID;

-- Pages of the tree: 16 subtrees below a prefix of keys (facts/uniks/map.ts).
CREATE TABLE unik_pages (
  path TEXT PRIMARY KEY,                      -- hexadecimal digits
  nodes BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Roots after the rounds that changed the map.
CREATE TABLE unik_roots (
  height INTEGER PRIMARY KEY,                 -- last block of the round
  root TEXT NOT NULL,
  uniks INTEGER NOT NULL                      -- number of leaves of the map
) STRICT;

-- The tree is built again in the background: its leaves include the roots of the map from now on.
DELETE FROM fact_tiles;
DELETE FROM fact_sizes;
