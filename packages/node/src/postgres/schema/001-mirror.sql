-- The chain and its state as a mirror writes them. The tables have the columns of the node's database
-- (store/migrations), so that both are read in the same way. Text is ordered by bytes, as in SQLite; JSON is
-- text, because its members have an order; amounts are 64-bit integers. Texts that any transaction can carry are bytes:
-- PostgreSQL text cannot contain U+0000.

-- One row: the block after which all other rows are the state.
CREATE TABLE head (
  is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single),
  nethash text NOT NULL,
  height bigint NOT NULL,                     -- 0: no block yet
  id text NOT NULL,                           -- '0': no block yet
  transactions bigint NOT NULL,               -- number of transactions up to and including this block
  phase text NOT NULL,                        -- blocks, ready: see mirror/head.ts
  epoch bigint NOT NULL,                      -- incremented by each mirror that takes over
  owner text NOT NULL,                        -- name of the mirror that writes
  lease_until timestamptz NOT NULL
);

CREATE TABLE blocks (
  height bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  timestamp bigint NOT NULL,                  -- seconds since the network epoch
  number_of_transactions integer NOT NULL,
  total_amount bigint NOT NULL,
  total_fee bigint NOT NULL,
  reward bigint NOT NULL,
  generator text COLLATE "C" NOT NULL,        -- public key
  previous text COLLATE "C" NOT NULL,         -- id
  payload_length bigint NOT NULL,
  payload_hash text COLLATE "C" NOT NULL,
  signature text COLLATE "C" NOT NULL,
  header bytea NOT NULL,
  transactions_up_to bigint NOT NULL          -- number of transactions up to and including this block
);

CREATE TABLE transactions (
  height bigint NOT NULL,
  sequence integer NOT NULL,                  -- index in the block
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  type_group bigint NOT NULL,
  type integer NOT NULL,
  sender text COLLATE "C" NOT NULL,           -- public key
  recipient text COLLATE "C",                 -- address
  nonce bigint NOT NULL,
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  timestamp bigint NOT NULL,                  -- of the block
  vendor_field bytea,                         -- UTF-8
  is_alive integer,
  signatures text NOT NULL,                   -- JSON members of responses that show them
  asset text,                                 -- JSON
  bytes bytea NOT NULL
);

CREATE TABLE payees (
  address text COLLATE "C" NOT NULL,
  height bigint NOT NULL,
  sequence integer NOT NULL
);

CREATE TABLE wallets (
  address text COLLATE "C" NOT NULL,
  public_key text COLLATE "C",
  balance bigint NOT NULL,
  nonce bigint NOT NULL,
  vote text COLLATE "C",
  username text COLLATE "C",
  second_public_key text COLLATE "C",
  attributes text NOT NULL                    -- JSON, amounts as decimal text
);

CREATE TABLE tokens (
  id text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  first_transaction text COLLATE "C" NOT NULL,
  last_transaction text COLLATE "C" NOT NULL
);

CREATE TABLE properties (
  token text COLLATE "C" NOT NULL,
  key bytea NOT NULL,                         -- UTF-8
  value bytea NOT NULL                        -- UTF-8
);

CREATE TABLE entries (
  space text COLLATE "C" NOT NULL,
  key bytea NOT NULL,                         -- UTF-8
  value bytea NOT NULL                        -- UTF-8
);

CREATE TABLE rounds (
  round bigint NOT NULL,
  height bigint NOT NULL,
  record text NOT NULL                        -- JSON
);

CREATE TABLE type_totals (
  type_group bigint NOT NULL,
  type integer NOT NULL,
  transactions bigint NOT NULL,
  PRIMARY KEY (type_group, type)
);

-- Records as they were before each of the last blocks: a JSON row of table, key and members.
CREATE TABLE undo (
  height bigint NOT NULL,
  record text NOT NULL
);
