-- The event log and what its readers keep.

-- Append-only. `id` is the stable name of the fact: the same fact has the same id for ever.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  height INTEGER,                             -- of the block that caused it, if a block did
  block_id TEXT,
  created_ms INTEGER NOT NULL,                -- milliseconds since 1970
  reverts TEXT,                               -- id of the fact that it takes back, if it does
  data TEXT                                   -- JSON; absent for events without content
) STRICT;

-- Last sequence handled, by reader.
CREATE TABLE cursors (reader TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event TEXT,                                 -- absent when the list says it all
  events TEXT NOT NULL,                       -- JSON: further names and patterns
  target TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  conditions TEXT NOT NULL,                   -- JSON as given
  match_all INTEGER NOT NULL,                 -- 1: all conditions must hold, not one of them
  strict INTEGER NOT NULL,                    -- 1: a delivery waits for the end of the one before
  confirmations INTEGER NOT NULL,             -- blocks above that of a fact before it is told
  token TEXT NOT NULL,                        -- 64 hexadecimal digits, 32 of an imported one; perhaps sealed
  previous_token TEXT,                        -- the one before a rotation
  previous_until_ms INTEGER,                  -- until then it is honoured
  active_after INTEGER NOT NULL,              -- last event sequence it does not see
  last_sequence INTEGER NOT NULL DEFAULT 0,   -- number of its last delivery
  target_number INTEGER NOT NULL DEFAULT 1,   -- grows with every other target
  failures INTEGER NOT NULL DEFAULT 0,        -- consecutive failed attempts
  failing_since_ms INTEGER,                   -- time of the first of them
  suspended TEXT,                             -- why nothing is delivered at present, if so
  suspended_ms INTEGER                        -- since when
) STRICT;

-- One row: grows with every change of what the webhooks are or see, whoever makes it.
CREATE TABLE register (version INTEGER NOT NULL) STRICT;
INSERT INTO register VALUES (0);
CREATE TRIGGER webhook_changed AFTER UPDATE OF active_after, suspended ON webhooks
  BEGIN UPDATE register SET version = version + 1; END;
CREATE TRIGGER webhook_removed AFTER DELETE ON webhooks
  BEGIN UPDATE register SET version = version + 1; END;

-- What deliveries tell, each content once for all webhooks that are told of an event together. Large ones are written as
-- they are sent: without most of what they hold.
CREATE TABLE contents (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  data TEXT,                                  -- JSON; absent for events without content
  truncated INTEGER,                          -- 1: the rest was left out
  link TEXT                                   -- path below the node's address where all of it stands
) STRICT;

-- Bodies are made of these rows whenever they are sent, always the same: a row must not change in what it tells.
CREATE TABLE deliveries (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- order of a webhook's queue
  webhook INTEGER NOT NULL,                   -- rows of a removed one are seen by nobody, and dropped in time
  id TEXT NOT NULL UNIQUE,                    -- webhook-id header: fact and webhook, constant over retries
  sequence INTEGER,                           -- among those of the webhook, without gaps; a ping has none
  event TEXT NOT NULL,
  height INTEGER,                             -- of the block that caused the event, if a block did
  block_id TEXT,
  stands INTEGER,                             -- tells a fact of that block: 1 true, 0 undone; absent: no such fact
  reverts TEXT,                               -- id of the delivery that it takes back, if it does
  target_number INTEGER NOT NULL,             -- of the webhook when it was last put into the queue
  replay INTEGER,                             -- place in the queue of what is told again, if it waits there
  content INTEGER NOT NULL,                   -- in contents
  state TEXT NOT NULL,                        -- pending, delivered, failed, cancelled
  attempts INTEGER NOT NULL DEFAULT 0,        -- since it was last put into the queue
  next_attempt_ms INTEGER,                    -- of a retry; absent: a first attempt, made when its turn comes
  created_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  reason TEXT                                 -- why it is not delivered (yet)
) STRICT;
-- The queues of a webhook: first attempts in the order of events, retries by their time, and what is told again.
CREATE INDEX deliveries_first ON deliveries (webhook, number)
  WHERE state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL;
CREATE INDEX deliveries_retry ON deliveries (webhook, next_attempt_ms)
  WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL;
CREATE INDEX deliveries_replay ON deliveries (webhook, replay)
  WHERE state = 'pending' AND replay IS NOT NULL;
CREATE INDEX deliveries_reverting ON deliveries (webhook)
  WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND reverts IS NOT NULL;
-- The log of a webhook, the part of it that one looks for, and the blocks whose facts may have to be taken back.
CREATE INDEX deliveries_webhook ON deliveries (webhook, number);
CREATE INDEX deliveries_failed ON deliveries (webhook, number) WHERE state = 'failed';
CREATE INDEX deliveries_height ON deliveries (height, webhook) WHERE height IS NOT NULL;
-- Contents go with the last delivery that tells them.
CREATE INDEX deliveries_content ON deliveries (content);

CREATE TRIGGER content_told_last AFTER DELETE ON deliveries
  WHEN NOT EXISTS (SELECT 1 FROM deliveries WHERE content = OLD.content)
  BEGIN DELETE FROM contents WHERE number = OLD.content; END;

-- Every call that was made for a delivery.
CREATE TABLE attempts (
  delivery INTEGER NOT NULL REFERENCES deliveries (number) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,                   -- from 1
  started_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,                             -- of the answer, if there was one
  answer TEXT,                                -- the beginning of its body
  error TEXT,                                 -- code of the failure, if there was no answer
  PRIMARY KEY (delivery, attempt)
) STRICT, WITHOUT ROWID;

-- Blocks that were undone, each with the place in the event log that says so.
CREATE TABLE reversals (
  block_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (block_id, sequence)
) STRICT, WITHOUT ROWID;

-- Facts that wait until their blocks are deep enough.
CREATE TABLE held (
  webhook INTEGER NOT NULL,                   -- rows of a removed one are dropped in time, as those of deliveries
  sequence INTEGER NOT NULL,                  -- of the event
  name TEXT NOT NULL,                         -- as the webhook calls it
  event_id TEXT NOT NULL,
  event_name TEXT NOT NULL,
  height INTEGER NOT NULL,
  due_height INTEGER NOT NULL,                -- when the chain is so high, it is told
  block_id TEXT NOT NULL,
  data TEXT,                                  -- JSON, as in the event
  PRIMARY KEY (webhook, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_height ON held (height);
CREATE INDEX held_due ON held (due_height, webhook);

-- Queues of which a part is given up: rows up to these are ended little by little, and nothing is sent meanwhile.
CREATE TABLE endings (
  webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
  up_to INTEGER NOT NULL,                     -- last row of deliveries
  held_up_to INTEGER NOT NULL,                -- last sequence of held
  state TEXT NOT NULL,                        -- of the deliveries then: failed, cancelled
  reason TEXT NOT NULL,
  with_reversals INTEGER NOT NULL             -- 1: also what takes back another delivery
) STRICT;

-- Parts of the chain that are told to a webhook again; the last one of each.
CREATE TABLE replays (
  webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
  from_height INTEGER NOT NULL,
  to_height INTEGER NOT NULL,
  next_height INTEGER NOT NULL,               -- the block to go on with
  next_index INTEGER NOT NULL,                -- and the event of it
  events INTEGER NOT NULL,                    -- put into the queue so far
  told_before INTEGER NOT NULL,               -- last row of deliveries when it began
  state TEXT NOT NULL,                        -- running, finished, cancelled
  reason TEXT,                                -- why it was cancelled
  started_ms INTEGER NOT NULL,
  finished_ms INTEGER
) STRICT;

CREATE VIEW running_replays AS
  SELECT webhook, from_height, to_height, next_height FROM replays WHERE state = 'running';

-- Webhooks that were removed while their deliveries are still being dropped.
CREATE TABLE removed_webhooks (id INTEGER PRIMARY KEY) STRICT;
