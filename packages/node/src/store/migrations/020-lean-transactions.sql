-- Transactions as their signed bytes: other columns exist only for filters and orders of the API.

DROP INDEX transactions_id;
DROP INDEX transactions_sender;
DROP INDEX transactions_recipient;
DROP INDEX transactions_own;
DROP INDEX transactions_type;
DROP INDEX transactions_alive;
ALTER TABLE transactions RENAME TO text_transactions;

-- Parties of transactions, by the numbers that the transactions contain instead of them. Rows are never removed.
CREATE TABLE senders (
  number INTEGER PRIMARY KEY,
  public_key BLOB NOT NULL UNIQUE
) STRICT;
CREATE TABLE recipients (
  number INTEGER PRIMARY KEY,
  address TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE transactions (
  height INTEGER NOT NULL,
  sequence INTEGER NOT NULL,                  -- index in the block
  id BLOB NOT NULL,                           -- 32 bytes
  version INTEGER NOT NULL,
  type_group INTEGER NOT NULL,
  type INTEGER NOT NULL,
  sender INTEGER NOT NULL,                    -- number in senders
  recipient INTEGER,                          -- number in recipients
  nonce INTEGER NOT NULL,                     -- position among the sender's transactions
  amount INTEGER NOT NULL,
  fee INTEGER NOT NULL,
  vendor_field TEXT,                          -- absent rather than empty
  is_alive INTEGER,                           -- 1: declares a unik alive, and is an update or pays with a voucher
  signatures INTEGER NOT NULL,                -- at the end of the bytes, 64 bytes each: 1 or 2; 0: in another form
  asset TEXT,                                 -- JSON
  bytes BLOB NOT NULL,                        -- canonical encoding with signatures
  id_text TEXT AS (lower(hex(id))) VIRTUAL,
  id_prefix BLOB AS (substr(id, 1, 6)) VIRTUAL,
  PRIMARY KEY (height, sequence)
) STRICT, WITHOUT ROWID;

INSERT INTO senders (public_key)
  SELECT unhex(sender) FROM text_transactions GROUP BY sender ORDER BY min(height * 1048576 + sequence);
INSERT INTO recipients (address)
  SELECT recipient FROM text_transactions WHERE recipient IS NOT NULL
  GROUP BY recipient ORDER BY min(height * 1048576 + sequence);
INSERT INTO transactions
  SELECT height, sequence, unhex(id), version, type_group, type, senders.number, recipients.number, nonce, amount, fee,
    vendor_field, is_alive,
    CASE signatures
      WHEN '"signature":"' || lower(hex(substr(bytes, -64))) || '"' THEN 1
      WHEN '"signature":"' || lower(hex(substr(bytes, -128, 64)))
        || '","signSignature":"' || lower(hex(substr(bytes, -64))) || '"' THEN 2
      ELSE 0
    END,
    asset, bytes
  FROM text_transactions
    CROSS JOIN senders ON public_key = unhex(sender)
    LEFT JOIN recipients ON address = recipient
  ORDER BY height, sequence;
DROP TABLE text_transactions;

-- A whole id in the index would triple its size. Lookups compare the whole id of each row that the prefix finds.
CREATE INDEX transactions_id ON transactions (id_prefix);
CREATE INDEX transactions_sender ON transactions (sender, height, sequence);
CREATE INDEX transactions_recipient ON transactions (recipient, height, sequence) WHERE recipient IS NOT NULL;
CREATE INDEX transactions_own ON transactions (sender, height, sequence) WHERE recipient IS NULL;
CREATE INDEX transactions_type ON transactions (type_group, type, height, sequence);
CREATE INDEX transactions_alive ON transactions (height, sequence) WHERE is_alive = 1;

-- As in 001-chain.sql: what an empty table cannot show the query planner.
DELETE FROM sqlite_stat1 WHERE tbl IN ('transactions', 'text_transactions');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('transactions', 'transactions', '1000000 2 1'),
  ('transactions', 'transactions_id', '1000000 1'),
  ('transactions', 'transactions_sender', '1000000 20 2 1'),
  ('transactions', 'transactions_recipient', '600000 20 2 1'),
  ('transactions', 'transactions_own', '400000 20 2 1'),
  ('transactions', 'transactions_type', '1000000 250000 100000 2 1'),
  ('transactions', 'transactions_alive', '10000 2 1');
