-- One row: the right edge of the Merkle tree of final facts (facts.md 3), which the mirror computes from its own rows.
-- Without the row, the tree is empty.
CREATE TABLE facts (
  is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single),
  height bigint NOT NULL,                     -- of the last block whose facts are in the tree
  id text COLLATE "C" NOT NULL,               -- of this block
  size bigint NOT NULL,                       -- number of leaves
  edge bytea NOT NULL                         -- hashes of the largest complete subtrees, from the left
);
