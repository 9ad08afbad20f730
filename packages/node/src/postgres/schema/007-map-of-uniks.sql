-- The Merkle map of uniks (facts.md 10) after the last round whose facts are in the tree. Without the row, the map is empty.
CREATE TABLE unik_map (
  is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single),
  height bigint NOT NULL,                     -- last block of the round
  root text COLLATE "C" NOT NULL,
  uniks bigint NOT NULL                       -- number of leaves
);
CREATE TABLE unik_values (
  unik text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL                        -- canonical JSON
);
CREATE TABLE unik_pages (
  path text COLLATE "C" PRIMARY KEY,          -- hexadecimal digits of keys
  nodes bytea NOT NULL                        -- see facts/uniks/map.ts
);
-- The tree is built again: its leaves include the roots of the map from now on.
DELETE FROM facts;
