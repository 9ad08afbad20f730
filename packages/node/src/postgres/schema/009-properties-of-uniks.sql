-- Version 3 of the tree of final facts (facts.md 10): the properties of each unik are a Merkle map of their own.
DROP TABLE unik_values;
DROP TABLE unik_pages;
-- Owners, properties and pages of the maps after the round of unik_map, by kind and unik (facts/uniks/rows.ts).
CREATE TABLE unik_rows (
  key text COLLATE "C" PRIMARY KEY,           -- hexadecimal
  value bytea NOT NULL
);
-- The tree is built again.
DELETE FROM unik_map;
DELETE FROM facts;
