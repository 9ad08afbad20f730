-- Blocks as their signed bytes: other columns exist only for filters, orders and totals of the API.

DROP TRIGGER blocks_end;
DROP TRIGGER blocks_no_end;
DROP INDEX blocks_generator;
ALTER TABLE blocks RENAME TO text_blocks;

-- Public keys of delegates, by the numbers that other rows contain instead of them. Rows are never removed.
CREATE TABLE generators (
  number INTEGER PRIMARY KEY,
  public_key BLOB NOT NULL UNIQUE
) STRICT;

CREATE TABLE blocks (
  height INTEGER PRIMARY KEY,
  id ANY NOT NULL,                            -- 32 bytes; a partial id is its decimal text
  version INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,                 -- seconds since the network epoch
  number_of_transactions INTEGER NOT NULL,
  transactions_up_to INTEGER NOT NULL,        -- number of transactions up to and including this block
  total_amount INTEGER NOT NULL,
  total_fee INTEGER NOT NULL,
  reward INTEGER NOT NULL,
  payload_length INTEGER NOT NULL,
  generator INTEGER NOT NULL,                 -- number in generators
  header BLOB NOT NULL,                       -- header bytes with signature (blocks.md section 1)
  id_text TEXT AS (iif(typeof(id) = 'blob', lower(hex(id)), id)) VIRTUAL,
  id_prefix ANY AS (substr(id, 1, 6)) VIRTUAL
) STRICT;

INSERT INTO generators (public_key) SELECT unhex(generator) FROM text_blocks GROUP BY generator ORDER BY min(height);
INSERT INTO blocks
  SELECT height, iif(length(id) = 64, unhex(id), id), version, timestamp, number_of_transactions, transactions,
    total_amount, total_fee, reward, payload_length, number, header
  FROM text_blocks JOIN block_ends USING (height) JOIN generators ON public_key = unhex(generator)
  ORDER BY height;

DROP TABLE text_blocks;
DROP TABLE block_ends;

-- A whole id in the index would triple its size. Lookups compare the whole id of each row that the prefix finds.
CREATE INDEX blocks_id ON blocks (id_prefix);
CREATE INDEX blocks_generator ON blocks (generator);
