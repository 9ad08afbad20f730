-- The chain, the consensus state at its head, and the undo of its last blocks.
-- Ids and keys are text as the API shows them; amounts are signed 64-bit integers of the smallest unit.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
  height INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,                 -- seconds since the network epoch
  number_of_transactions INTEGER NOT NULL,
  total_amount INTEGER NOT NULL,
  total_fee INTEGER NOT NULL,
  reward INTEGER NOT NULL,
  generator TEXT NOT NULL,                    -- public key
  previous TEXT NOT NULL,                     -- id
  payload_length INTEGER NOT NULL,
  payload_hash TEXT NOT NULL,
  signature TEXT NOT NULL,
  header BLOB NOT NULL                        -- header bytes with signature (blocks.md section 1)
) STRICT;
CREATE INDEX blocks_generator ON blocks (generator, height);

CREATE TABLE transactions (
  height INTEGER NOT NULL,
  sequence INTEGER NOT NULL,                  -- index in the block
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  type_group INTEGER NOT NULL,
  type INTEGER NOT NULL,
  sender TEXT NOT NULL,                       -- public key
  recipient TEXT,                             -- address
  nonce INTEGER NOT NULL,                     -- position among the sender's transactions
  amount INTEGER NOT NULL,
  fee INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,                 -- of the block
  vendor_field TEXT,                          -- absent rather than empty
  is_alive INTEGER,                           -- 1: declares a unik alive, and is an update or pays with a voucher
  signatures TEXT NOT NULL,                   -- JSON members of answers that show them
  asset TEXT,                                 -- JSON
  bytes BLOB NOT NULL,                        -- canonical encoding with signatures
  PRIMARY KEY (height, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX transactions_id ON transactions (id);
CREATE INDEX transactions_sender ON transactions (sender, height, sequence);
CREATE INDEX transactions_recipient ON transactions (recipient, height, sequence) WHERE recipient IS NOT NULL;
CREATE INDEX transactions_own ON transactions (sender, height, sequence) WHERE recipient IS NULL;
CREATE INDEX transactions_type ON transactions (type_group, type, height, sequence);
CREATE INDEX transactions_alive ON transactions (height, sequence) WHERE is_alive = 1;

-- What an empty table cannot tell the query planner: many transactions have one type, few have one sender. Rows of an
-- index, and how many of them agree in the first column, the first two, ...
ANALYZE transactions;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('transactions', 'transactions', '1000000 2 1'),
  ('transactions', 'transactions_id', '1000000 1'),
  ('transactions', 'transactions_sender', '1000000 20 2 1'),
  ('transactions', 'transactions_recipient', '600000 20 2 1'),
  ('transactions', 'transactions_own', '400000 20 2 1'),
  ('transactions', 'transactions_type', '1000000 250000 100000 2 1'),
  ('transactions', 'transactions_alive', '10000 2 1');

-- Whom multi payments pay: other transactions have no row.
CREATE TABLE payees (
  address TEXT NOT NULL,
  height INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (address, height, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX payees_height ON payees (height);

CREATE TABLE wallets (
  address TEXT PRIMARY KEY,
  public_key TEXT,
  balance INTEGER NOT NULL,
  nonce INTEGER NOT NULL,
  vote TEXT,                                  -- copy of attributes.vote, for the voters of a delegate
  username TEXT,                              -- copy of attributes.delegate.username
  second_public_key TEXT,                     -- copy of attributes.secondPublicKey
  attributes TEXT NOT NULL                    -- JSON, amounts as decimal text
) STRICT, WITHOUT ROWID;
CREATE INDEX wallets_public_key ON wallets (public_key) WHERE public_key IS NOT NULL;
CREATE INDEX wallets_balance ON wallets (balance);
CREATE INDEX wallets_vote ON wallets (vote) WHERE vote IS NOT NULL;
CREATE INDEX wallets_username ON wallets (username) WHERE username IS NOT NULL;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,                        -- address
  first_transaction TEXT NOT NULL,
  last_transaction TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_owner ON tokens (owner);

CREATE TABLE properties (
  token TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (token, key)
) STRICT, WITHOUT ROWID;

-- The text-to-text tables of the ledger: usernames, locks, ipfs, entities, vouchers, disclosures.
CREATE TABLE entries (
  space TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE rounds (
  round INTEGER PRIMARY KEY,
  height INTEGER NOT NULL,
  record TEXT NOT NULL                        -- JSON of the ledger's Round; order is given as positions in delegates
) STRICT;

-- Changes of the last blocks, for reverting them; older ones are pruned.
CREATE TABLE undo (height INTEGER PRIMARY KEY, changes BLOB NOT NULL) STRICT;

-- Pending transactions, in order of arrival.
CREATE TABLE pool (
  arrival INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  bytes BLOB NOT NULL
) STRICT;

-- The last slot forged by each delegate of this node. Never goes back, not even with the chain.
CREATE TABLE forged_slots (
  public_key TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  block_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE missed_slots (
  slot INTEGER NOT NULL,
  public_key TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (slot, public_key)
) STRICT, WITHOUT ROWID;
