-- The tree of final facts (docs/spec/facts.md). Its tiles: 256 hashes of 32 bytes, fewer in the last tile of each level.
CREATE TABLE fact_tiles (
  position INTEGER PRIMARY KEY,               -- number of the tile * 8 + level
  hashes BLOB NOT NULL
) STRICT;

-- Number of leaves up to a block, for the last block of each step in which the tree grew.
CREATE TABLE fact_sizes (
  height INTEGER PRIMARY KEY,
  block_id TEXT NOT NULL,
  size INTEGER NOT NULL
) STRICT;
CREATE INDEX fact_sizes_size ON fact_sizes (size, height);
