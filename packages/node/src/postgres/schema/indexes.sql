-- Created when the tables have been filled, in one pass each.
CREATE UNIQUE INDEX IF NOT EXISTS blocks_key ON blocks (height);
CREATE UNIQUE INDEX IF NOT EXISTS blocks_id ON blocks (id);
CREATE INDEX IF NOT EXISTS blocks_timestamp ON blocks (timestamp);
CREATE INDEX IF NOT EXISTS blocks_generator ON blocks (generator, height);
CREATE UNIQUE INDEX IF NOT EXISTS transactions_key ON transactions (height, sequence);
CREATE UNIQUE INDEX IF NOT EXISTS transactions_id ON transactions (id);
CREATE INDEX IF NOT EXISTS transactions_sender ON transactions (sender, height, sequence);
CREATE INDEX IF NOT EXISTS transactions_recipient ON transactions (recipient, height, sequence) WHERE recipient IS NOT NULL;
CREATE INDEX IF NOT EXISTS transactions_own ON transactions (sender, height, sequence) WHERE recipient IS NULL;
CREATE INDEX IF NOT EXISTS transactions_type ON transactions (type_group, type, height, sequence);
CREATE INDEX IF NOT EXISTS transactions_alive ON transactions (height, sequence) WHERE is_alive = 1;
CREATE UNIQUE INDEX IF NOT EXISTS payees_key ON payees (address, height, sequence);
CREATE INDEX IF NOT EXISTS payees_height ON payees (height);
CREATE UNIQUE INDEX IF NOT EXISTS wallets_key ON wallets (address);
CREATE INDEX IF NOT EXISTS wallets_public_key ON wallets (public_key) WHERE public_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS wallets_balance ON wallets (balance, address);
CREATE INDEX IF NOT EXISTS wallets_nonce ON wallets (nonce, address);
CREATE INDEX IF NOT EXISTS wallets_vote ON wallets (vote) WHERE vote IS NOT NULL;
CREATE INDEX IF NOT EXISTS wallets_username ON wallets (username) WHERE username IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS tokens_key ON tokens (id);
CREATE INDEX IF NOT EXISTS tokens_owner ON tokens (owner, id);
CREATE UNIQUE INDEX IF NOT EXISTS properties_key ON properties (token, key);
CREATE INDEX IF NOT EXISTS properties_type ON properties (value) WHERE key = 'type'::bytea;
CREATE UNIQUE INDEX IF NOT EXISTS entries_key ON entries (space, key);
CREATE UNIQUE INDEX IF NOT EXISTS rounds_key ON rounds (round);
CREATE INDEX IF NOT EXISTS undo_height ON undo (height);
-- The planner would guess until the server gathers statistics by itself.
ANALYZE blocks, transactions, payees, wallets, tokens, properties, entries;
