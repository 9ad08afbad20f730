-- The database of a node. Amounts are signed 64-bit integers of the smallest unit; times whose names end in `_ms` are milliseconds since
-- 1970. The numbers up to 034 were those of development versions (docs/decisions/0078-remove-what-no-user-has.md).

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- The chain. Signed bytes are stored once: other columns exist only for filters, orders and totals of the API.

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
  id_text TEXT AS (iif(typeof(id) = 'blob', lower(hex(id)), id)) VIRTUAL
) STRICT;
CREATE INDEX blocks_partial_id ON blocks (id) WHERE typeof(id) = 'text';
CREATE INDEX blocks_generator ON blocks (generator);

-- Index of the full ids of blocks, in levels (store/chain/id-levels.ts). A whole id would triple its size: lookups compare the
-- whole id of each row that the prefix finds.
CREATE TABLE block_ids (
  level INTEGER NOT NULL,                     -- 0: the latest entries; 1; 2
  prefix BLOB NOT NULL,                       -- the first 6 bytes of the id
  height INTEGER NOT NULL,
  PRIMARY KEY (level, prefix, height)
) STRICT, WITHOUT ROWID;

-- Public keys and addresses, by the numbers that transactions contain instead of them. Rows are never removed.
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
  signatures INTEGER NOT NULL,                -- number at the end of the bytes, 64 bytes each: 1 or 2; 0: other forms
  asset TEXT,                                 -- JSON
  bytes BLOB NOT NULL,                        -- canonical encoding with signatures
  id_text TEXT AS (lower(hex(id))) VIRTUAL,
  PRIMARY KEY (height, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX transactions_sender ON transactions (sender, height, sequence);
CREATE INDEX transactions_recipient ON transactions (recipient, height, sequence) WHERE recipient IS NOT NULL;
CREATE INDEX transactions_own ON transactions (sender, height, sequence) WHERE recipient IS NULL;
CREATE INDEX transactions_type ON transactions (type_group, type, height, sequence);
CREATE INDEX transactions_alive ON transactions (height, sequence) WHERE is_alive = 1;

-- Index of the ids of transactions, as that of blocks.
CREATE TABLE transaction_ids (
  level INTEGER NOT NULL,
  prefix BLOB NOT NULL,
  height INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (level, prefix, height, sequence)
) STRICT, WITHOUT ROWID;

-- Statistics for the query planner, which an empty table does not have: many transactions have one type, few have one sender. The
-- numbers are the rows of an index, then the rows with one value of its first column, with one value of its first two columns, ...
ANALYZE transactions;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('transactions', 'transactions', '1000000 2 1'),
  ('transactions', 'transactions_sender', '1000000 20 2 1'),
  ('transactions', 'transactions_recipient', '600000 20 2 1'),
  ('transactions', 'transactions_own', '400000 20 2 1'),
  ('transactions', 'transactions_type', '1000000 250000 100000 2 1'),
  ('transactions', 'transactions_alive', '10000 2 1');

-- Transfers of each unik. The asset of a transfer begins with the name of the token and its id, and a quotation mark in a name is
-- escaped: the first member `tokenId` is the id.
CREATE INDEX transactions_token
  ON transactions (substr(asset, instr(asset, '"tokenId":"') + 11, 64), height, sequence)
  WHERE type_group = 2000 AND type = 2 OR type_group = 2001 AND type = 6;

-- Number of transactions of each type: the time of a list must not grow with the chain.
CREATE TABLE type_totals (
  type_group INTEGER NOT NULL,
  type INTEGER NOT NULL,
  transactions INTEGER NOT NULL,
  PRIMARY KEY (type_group, type)
) STRICT, WITHOUT ROWID;

-- Recipients of multipayments; other transactions have no row.
CREATE TABLE payees (
  payee INTEGER NOT NULL,                     -- number in recipients
  height INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (payee, height, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX payees_height ON payees (height);

-- The state at the head of the chain.

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
CREATE INDEX wallets_nonce ON wallets (nonce);

-- What wallets hold in any number, a row each (docs/spec/state.md 2.4): attributes have the number, the first and the last one of each kind.
CREATE TABLE holdings (
  address TEXT NOT NULL,
  kind TEXT NOT NULL,                         -- tokens, ipfs, locks, bridgechains, bridgechainNames or entities
  id TEXT NOT NULL,
  previous TEXT,                              -- ids of the neighbours in order of acquisition
  next TEXT,
  value TEXT NOT NULL,                        -- JSON, amounts as decimal text
  PRIMARY KEY (address, kind, id)
) STRICT, WITHOUT ROWID;
-- Locks and entities are found by their id.
CREATE INDEX holdings_id ON holdings (kind, id) WHERE kind IN ('locks', 'entities');

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
CREATE INDEX properties_type ON properties (value) WHERE key = 'type';

-- Parts of the properties of each token in the order of keys, and their numbers of properties: a page finds its first property, and the number of
-- all, by the parts. A part of level 1 has up to 512. If a token has several, those of level 2 have up to 32,768. Statements that add or remove
-- properties update them; a part from which all were removed stays.
CREATE TABLE property_parts (
  token TEXT NOT NULL,
  level INTEGER NOT NULL,
  first TEXT NOT NULL,                        -- the part has the keys from this one up to the next part of its level; '' in the first part
  number INTEGER NOT NULL,                    -- of properties
  PRIMARY KEY (token, level, first)
) STRICT, WITHOUT ROWID;

-- A statement with OR REPLACE would add a property without removing the earlier one: values are changed with ON CONFLICT DO UPDATE.
CREATE TRIGGER properties_inserted AFTER INSERT ON properties BEGIN
  UPDATE property_parts SET number = number + 1 WHERE token = new.token AND level = 1
    AND first = (SELECT max(first) FROM property_parts WHERE token = new.token AND level = 1 AND first <= new.key);
  INSERT INTO property_parts SELECT new.token, 1, '', 1 WHERE changes() = 0;
  UPDATE property_parts SET number = number + 1 WHERE token = new.token AND level = 2
    AND first = (SELECT max(first) FROM property_parts WHERE token = new.token AND level = 2 AND first <= new.key);
END;

CREATE TRIGGER properties_deleted AFTER DELETE ON properties BEGIN
  UPDATE property_parts SET number = number - 1 WHERE token = old.token AND level = 1
    AND first = (SELECT max(first) FROM property_parts WHERE token = old.token AND level = 1 AND first <= old.key);
  UPDATE property_parts SET number = number - 1 WHERE token = old.token AND level = 2
    AND first = (SELECT max(first) FROM property_parts WHERE token = old.token AND level = 2 AND first <= old.key);
END;

-- The new property is counted in level 2 after this.
CREATE TRIGGER property_part_full AFTER UPDATE OF number ON property_parts WHEN new.level = 1 AND new.number > 512 BEGIN
  INSERT INTO property_parts SELECT new.token, 2, '', new.number - 1
  WHERE NOT EXISTS (SELECT 1 FROM property_parts WHERE token = new.token AND level = 2 AND first = '');
  INSERT INTO property_parts SELECT token, 1, key, new.number - 256 FROM properties
  WHERE token = new.token AND key >= new.first ORDER BY key LIMIT 1 OFFSET 256;
  UPDATE property_parts SET number = 256 WHERE token = new.token AND level = 1 AND first = new.first;
END;

-- It has 64 parts of level 1 or more, and leaves those from the 48th on to a new part.
CREATE TRIGGER property_parts_full AFTER UPDATE OF number ON property_parts WHEN new.level = 2 AND new.number > 32768 BEGIN
  UPDATE property_parts SET number = (
    SELECT sum(number) FROM (
      SELECT number FROM property_parts WHERE token = new.token AND level = 1 AND first >= new.first ORDER BY first LIMIT 48
    )
  ) WHERE token = new.token AND level = 2 AND first = new.first;
  INSERT INTO property_parts SELECT token, 2, first, new.number - (
    SELECT number FROM property_parts WHERE token = new.token AND level = 2 AND first = new.first
  ) FROM property_parts
  WHERE token = new.token AND level = 1 AND first >= new.first ORDER BY first LIMIT 1 OFFSET 48;
END;

-- The text-to-text tables of the ledger: usernames, locks, ipfs, entities, vouchers, disclosures.
CREATE TABLE entries (
  space TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

-- Totals of the state, maintained instead of counted: the time of a request for them must not grow with the state.
CREATE TABLE state_totals (
  name TEXT PRIMARY KEY,                      -- store/state/totals.ts
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- 13 bytes for each delegate (store/state/packed-round.ts).
CREATE TABLE rounds (
  round INTEGER PRIMARY KEY,
  height INTEGER NOT NULL,                    -- first height of the round
  delegates BLOB NOT NULL                     -- by rank: number of the public key, vote balance, item of the forging order
) STRICT;

-- Changes of the last blocks, for reverting them; earlier ones are pruned.
CREATE TABLE undo (height INTEGER PRIMARY KEY, changes BLOB NOT NULL) STRICT;

-- Earlier states of records, for nodes with `--history full` (docs/decisions/0069-earlier-versions-of-records.md). Each row is a
-- record as it was before a block that changed it. The state after block h is therefore the first row above h, or the present record.

-- The recorded heights. The lowest one is the block at which recording began.
CREATE TABLE history_blocks (
  height INTEGER PRIMARY KEY,
  coins INTEGER NOT NULL                      -- sum of all balances and open locks after the block
) STRICT;

CREATE TABLE history_wallets (
  address TEXT NOT NULL,
  height INTEGER NOT NULL,                    -- block that changed the other columns
  balance INTEGER,                            -- before the block, as the other columns; NULL: no wallet
  nonce INTEGER,
  has_public_key INTEGER,                     -- 1: the node knew the public key, which never changes
  PRIMARY KEY (address, height)
) STRICT, WITHOUT ROWID;

-- Attributes of wallets, tokens and properties.
CREATE TABLE history_records (
  kind INTEGER NOT NULL,                      -- 0 attributes, 1 token, 2 property
  key TEXT NOT NULL,
  height INTEGER NOT NULL,
  step INTEGER NOT NULL,                      -- 0, as prefix and suffix: remains of a development version
  prefix INTEGER NOT NULL,
  suffix INTEGER NOT NULL,
  record TEXT,                                -- NULL: no record
  PRIMARY KEY (kind, key, height)
) STRICT, WITHOUT ROWID;

-- Records that each of the last blocks wrote, for mirrors; empty unless the feed is enabled.
CREATE TABLE feed_changes (
  height INTEGER PRIMARY KEY,
  changes TEXT NOT NULL                       -- JSON: rows of table, key and members; no members: removed
) STRICT;

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

-- The Merkle map of uniks (docs/spec/facts.md 10) after the last round whose facts are in the tree of final facts. The properties of each unik
-- are a map of their own.
CREATE TABLE unik_map (
  is_single INTEGER PRIMARY KEY CHECK (is_single = 1),
  height INTEGER NOT NULL,                    -- last block of the last complete round, whose state readers see
  leaf INTEGER,                               -- index of its root in the tree of facts; NULL while the map is built again
  index_in_block INTEGER,                     -- index of this leaf among those of its block
  round_id TEXT,                              -- id of the last block of the round that is being added; NULL: none is
  next_height INTEGER NOT NULL,               -- the first change that the map lacks: block, transaction, property
  next_sequence INTEGER NOT NULL,
  next_change INTEGER NOT NULL,
  uniks INTEGER NOT NULL,                     -- number of leaves, with those of the round that is being added
  removes TEXT CHECK (removes IN ('round', 'all')) -- what a revert left to remove; NULL: nothing
) STRICT;

-- Owners, properties and pages of the maps, by kind and unik (facts/uniks/rows.ts). Without rowids, most pages would overflow.
CREATE TABLE unik_rows (
  key BLOB PRIMARY KEY NOT NULL,
  value BLOB NOT NULL
) STRICT;

-- Rows as they were after a round, which the next round has changed.
CREATE TABLE unik_before (
  height INTEGER NOT NULL,                    -- last block of the round
  key BLOB NOT NULL,
  value BLOB,                                 -- NULL: no row
  PRIMARY KEY (height, key)
) STRICT;

-- Roots after the rounds that changed the map.
CREATE TABLE unik_roots (
  height INTEGER PRIMARY KEY,                 -- last block of the round
  root TEXT NOT NULL,
  uniks INTEGER NOT NULL                      -- number of leaves of the map
) STRICT;

-- The node: its pool, its delegates and its peers.

-- Pending transactions, in the order of arrival.
CREATE TABLE pool (
  arrival INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  bytes BLOB NOT NULL
) STRICT;

-- The last slot forged by each delegate of this node. Never decreases, not even when blocks are reverted.
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

-- Verified peers: a node that starts again needs no seeds.
CREATE TABLE peers (
  ip TEXT PRIMARY KEY,
  seen_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bans (
  ip TEXT PRIMARY KEY,
  until_ms INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The event log and the positions of its readers.

-- Append-only. `id` is the stable name of the fact: the same fact always has the same id.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  height INTEGER,                             -- of the block that caused it, if a block did
  block_id TEXT,
  created_ms INTEGER NOT NULL,
  reverts TEXT,                               -- id of the fact that it retracts, if it does
  data TEXT                                   -- JSON; absent for events without content
) STRICT;
-- Time of the block that caused the event, if a block did: the same in every copy of the data.
ALTER TABLE events ADD COLUMN time_ms INTEGER;

-- Last sequence handled, by reader.
CREATE TABLE cursors (reader TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Events that live streams subscribe to: the log contains each of them without a gap after a sequence.
CREATE TABLE subscribed_events (name TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Events that the webhooks of another database subscribe to.
CREATE TABLE remote_names (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Webhooks.

CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event TEXT,                                 -- absent if `events` has all names
  events TEXT NOT NULL,                       -- JSON: further names and patterns
  target TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  conditions TEXT NOT NULL,                   -- JSON as given
  match_all INTEGER NOT NULL,                 -- 1: all conditions must be met, not one of them
  strict INTEGER NOT NULL,                    -- 1: a delivery waits for the end of the previous one
  confirmations INTEGER NOT NULL,             -- blocks above that of a fact before it is delivered
  token TEXT NOT NULL,                        -- 64 hexadecimal digits, 32 of an imported one; may be encrypted
  previous_token TEXT,                        -- the one before a rotation
  previous_until_ms INTEGER,                  -- until then it is valid
  active_after INTEGER NOT NULL,              -- sequence of the last event before it was registered or enabled
  target_number INTEGER NOT NULL DEFAULT 1,   -- grows with every change of the target
  failures INTEGER NOT NULL DEFAULT 0,        -- consecutive failed attempts
  failing_since_ms INTEGER,                   -- time of the first of them
  suspended TEXT,                             -- the reason, if it is suspended
  suspended_ms INTEGER,                       -- time of the suspension
  name TEXT                                   -- given by its user
) STRICT;
-- 1: its deliveries contain proofs. Columns that development versions added: the schema of their databases and snapshots is the same.
ALTER TABLE webhooks ADD COLUMN with_proof INTEGER NOT NULL DEFAULT 0 CHECK (with_proof IN (0, 1));
-- Questions about all webhooks read no conditions.
CREATE INDEX webhooks_state ON webhooks (enabled, suspended);
CREATE INDEX webhooks_subscriptions ON webhooks (event, events, confirmations) WHERE enabled = 1 AND suspended IS NULL;

-- Other names of webhooks: ids of the reference node were UUIDs.
CREATE TABLE webhook_aliases (
  alias TEXT PRIMARY KEY,
  webhook INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_aliases_webhook ON webhook_aliases (webhook);

-- Removed webhooks with deliveries that are not removed yet.
CREATE TABLE removed_webhooks (id INTEGER PRIMARY KEY) STRICT;

-- One row. The version grows with every change of a webhook or its events.
CREATE TABLE webhook_register (version INTEGER NOT NULL) STRICT;
INSERT INTO webhook_register VALUES (0);
CREATE TRIGGER webhook_changed AFTER UPDATE OF active_after, suspended ON webhooks
  BEGIN UPDATE webhook_register SET version = version + 1; END;
CREATE TRIGGER webhook_removed AFTER DELETE ON webhooks
  BEGIN UPDATE webhook_register SET version = version + 1; END;

-- Contents of deliveries, each once for all webhooks that get it at the same time. Large ones are stored as they are sent:
-- without most of their members.
CREATE TABLE contents (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  data TEXT,                                  -- JSON; absent for events without content
  truncated INTEGER,                          -- 1: some members are left out
  link TEXT                                   -- path of the complete content below the URL of the node
) STRICT;
-- Of an event without a block, the time at which it was logged; otherwise the deliveries have the time.
ALTER TABLE contents ADD COLUMN time_ms INTEGER;

-- Bodies are made of these rows for every attempt, and are the same each time: the members that a row contributes never change.
CREATE TABLE deliveries (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- order of a webhook's queue
  webhook INTEGER NOT NULL,                   -- rows of a removed one are not shown, and removed later
  id TEXT NOT NULL UNIQUE,                    -- webhook-id header: fact and webhook, the same for all attempts
  sequence INTEGER,                           -- among those of the webhook, without gaps; absent for a ping
  event TEXT NOT NULL,
  height INTEGER,                             -- of the block that caused the event, if a block did
  block_id TEXT,
  is_retracted INTEGER,                       -- of a fact of that block: 1 if the block was reverted; absent for others
  reverts TEXT,                               -- id of the delivery that it retracts, if it does
  target_number INTEGER NOT NULL,             -- of the webhook when it was last put into the queue
  replay INTEGER,                             -- position in the queue of a replay, if it waits there
  content INTEGER NOT NULL,                   -- number in contents
  state TEXT NOT NULL,                        -- pending, delivered, failed, cancelled
  attempts INTEGER NOT NULL DEFAULT 0,        -- since it was last put into the queue
  next_attempt_ms INTEGER,                    -- of a retry; absent for a first attempt
  created_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  reason TEXT                                 -- why it is not delivered (yet)
) STRICT;
-- The queues of a webhook: first attempts in the order of events, retries by their time, and replays.
CREATE INDEX deliveries_first ON deliveries (webhook, number)
  WHERE state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL;
CREATE INDEX deliveries_retry ON deliveries (webhook, next_attempt_ms)
  WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL;
CREATE INDEX deliveries_replay ON deliveries (webhook, replay)
  WHERE state = 'pending' AND replay IS NOT NULL;
CREATE INDEX deliveries_retractions ON deliveries (webhook)
  WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND reverts IS NOT NULL;
-- The oldest retry of a webhook; the oldest first attempt is in deliveries_first.
CREATE INDEX deliveries_retry_oldest ON deliveries (webhook, number)
  WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL;
-- The log of a webhook, its failed deliveries, and the blocks whose facts may be retracted.
CREATE INDEX deliveries_webhook ON deliveries (webhook, number);
CREATE INDEX deliveries_failed ON deliveries (webhook, number) WHERE state = 'failed';
CREATE INDEX deliveries_height ON deliveries (height, webhook) WHERE height IS NOT NULL;
CREATE INDEX deliveries_content ON deliveries (content);

-- A content is removed with its last delivery.
CREATE TRIGGER content_unused AFTER DELETE ON deliveries
  WHEN NOT EXISTS (SELECT 1 FROM deliveries WHERE content = OLD.content)
  BEGIN DELETE FROM contents WHERE number = OLD.content; END;

-- Totals of the webhooks' queues: the time of a request for them must not grow with the queues.
CREATE TABLE queues (
  webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
  last_sequence INTEGER NOT NULL DEFAULT 0,   -- sequence of its last delivery
  waiting INTEGER NOT NULL DEFAULT 0,         -- pending deliveries without an attempt
  retrying INTEGER NOT NULL DEFAULT 0,        -- pending deliveries with a failed attempt
  replaying INTEGER NOT NULL DEFAULT 0        -- pending deliveries of a replay, with or without an attempt
) STRICT;
CREATE TRIGGER webhook_queue AFTER INSERT ON webhooks
  BEGIN INSERT INTO queues (webhook) VALUES (NEW.id); END;
CREATE TRIGGER delivery_queued AFTER INSERT ON deliveries WHEN NEW.state = 'pending' BEGIN
  UPDATE queues SET
    waiting = waiting + (NEW.replay IS NULL AND NEW.next_attempt_ms IS NULL),
    retrying = retrying + (NEW.replay IS NULL AND NEW.next_attempt_ms IS NOT NULL),
    replaying = replaying + (NEW.replay IS NOT NULL)
    WHERE webhook = NEW.webhook;
END;
CREATE TRIGGER delivery_moved AFTER UPDATE OF state, next_attempt_ms, replay ON deliveries
  WHEN OLD.state = 'pending' OR NEW.state = 'pending' BEGIN
  UPDATE queues SET
    waiting = waiting
      + (NEW.state = 'pending' AND NEW.replay IS NULL AND NEW.next_attempt_ms IS NULL)
      - (OLD.state = 'pending' AND OLD.replay IS NULL AND OLD.next_attempt_ms IS NULL),
    retrying = retrying
      + (NEW.state = 'pending' AND NEW.replay IS NULL AND NEW.next_attempt_ms IS NOT NULL)
      - (OLD.state = 'pending' AND OLD.replay IS NULL AND OLD.next_attempt_ms IS NOT NULL),
    replaying = replaying
      + (NEW.state = 'pending' AND NEW.replay IS NOT NULL)
      - (OLD.state = 'pending' AND OLD.replay IS NOT NULL)
    WHERE webhook = NEW.webhook;
END;
CREATE TRIGGER delivery_removed AFTER DELETE ON deliveries WHEN OLD.state = 'pending' BEGIN
  UPDATE queues SET
    waiting = waiting - (OLD.replay IS NULL AND OLD.next_attempt_ms IS NULL),
    retrying = retrying - (OLD.replay IS NULL AND OLD.next_attempt_ms IS NOT NULL),
    replaying = replaying - (OLD.replay IS NOT NULL)
    WHERE webhook = OLD.webhook;
END;

CREATE TABLE attempts (
  delivery INTEGER NOT NULL REFERENCES deliveries (number) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,                   -- from 1
  started_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,                             -- of the response, if there was one
  response TEXT,                              -- the beginning of its body
  error TEXT,                                 -- code of the failure, if there was no response
  PRIMARY KEY (delivery, attempt)
) STRICT, WITHOUT ROWID;

-- Attempts of each webhook in the last hour, by the minute of their end: the health of its target.
CREATE TABLE attempt_counts (
  webhook INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  minute INTEGER NOT NULL,                    -- since 1970
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (webhook, minute)
) STRICT, WITHOUT ROWID;
-- Attempts at an earlier target, or before a pause, say nothing about the present.
CREATE TRIGGER attempt_counts_reset AFTER UPDATE OF target_number, enabled, suspended ON webhooks
  WHEN NEW.target_number <> OLD.target_number OR NEW.enabled > OLD.enabled
    OR (NEW.suspended IS NULL AND OLD.suspended IS NOT NULL)
  BEGIN DELETE FROM attempt_counts WHERE webhook = NEW.id; END;

-- Reverted blocks, each with the sequence of the event that reports it.
CREATE TABLE block_reverts (
  block_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (block_id, sequence)
) STRICT, WITHOUT ROWID;

-- Facts that wait for the number of confirmations that their webhook requires.
CREATE TABLE unconfirmed_events (
  webhook INTEGER NOT NULL,                   -- rows of a removed one are removed later, as those of deliveries
  sequence INTEGER NOT NULL,                  -- of the event
  name TEXT NOT NULL,                         -- as the webhook names it
  event_id TEXT NOT NULL,
  event_name TEXT NOT NULL,
  height INTEGER NOT NULL,
  block_id TEXT NOT NULL,
  data TEXT,                                  -- JSON, as in the event
  PRIMARY KEY (webhook, sequence)
) STRICT, WITHOUT ROWID;
-- As in the event.
ALTER TABLE unconfirmed_events ADD COLUMN time_ms INTEGER;
CREATE INDEX unconfirmed_events_height ON unconfirmed_events (height);

-- Queues of which a part is finished in steps, while nothing is sent.
CREATE TABLE finishing_queues (
  webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
  up_to INTEGER NOT NULL,                     -- last row of deliveries
  unconfirmed_up_to INTEGER NOT NULL,         -- last sequence of unconfirmed_events
  state TEXT NOT NULL,                        -- of the deliveries afterwards: failed, cancelled
  reason TEXT NOT NULL,
  with_retractions INTEGER NOT NULL           -- 1: also deliveries that retract another one
) STRICT;

-- Queues whose retries become first attempts again, in steps, because their webhook was resumed or has another target. Nothing is
-- sent meanwhile.
CREATE TABLE restarting_queues (webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE) STRICT;

-- Heights that are delivered to a webhook again; the last replay of each.
CREATE TABLE replays (
  webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  next_height INTEGER NOT NULL,               -- of the next event
  next_index INTEGER NOT NULL,                -- of the next event in its block
  events INTEGER NOT NULL,                    -- put into the queue so far
  last_delivery INTEGER NOT NULL,             -- last row of deliveries when it began
  state TEXT NOT NULL,                        -- running, finished, cancelled
  reason TEXT,                                -- why it was cancelled
  started_ms INTEGER NOT NULL,
  finished_ms INTEGER
) STRICT;
CREATE VIEW running_replays AS
  SELECT webhook, from_height, to_height, next_height FROM replays WHERE state = 'running';
