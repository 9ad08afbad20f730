-- The event log and what its readers keep.

-- Append-only. `id` is the stable name of the fact: the same fact has the same id for ever.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  height INTEGER,                             -- of the block that caused it, if a block did
  block_id TEXT,
  created_ms INTEGER NOT NULL,                -- milliseconds since 1970
  data TEXT                                   -- JSON; absent for events without content
) STRICT;

-- Last sequence handled, by reader.
CREATE TABLE cursors (reader TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event TEXT NOT NULL,
  target TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  conditions TEXT NOT NULL,                   -- JSON as given
  token TEXT NOT NULL,                        -- 64 hexadecimal digits
  active_after INTEGER NOT NULL,              -- last event sequence it does not see
  failures INTEGER NOT NULL DEFAULT 0,        -- consecutive failed attempts
  failing_since_ms INTEGER,                   -- time of the first of them
  suspended TEXT                              -- why deliveries are held back, if they are
) STRICT;
CREATE INDEX webhooks_event ON webhooks (event);

CREATE TABLE deliveries (
  number INTEGER PRIMARY KEY AUTOINCREMENT,   -- order of a webhook's queue
  webhook INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  id TEXT NOT NULL,                           -- webhook-id header: fact and webhook, constant over retries
  sequence INTEGER NOT NULL,                  -- of the event
  event TEXT NOT NULL,
  body TEXT NOT NULL,                         -- the exact bytes sent and signed
  state TEXT NOT NULL,                        -- pending, delivered, failed, cancelled
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_ms INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  status INTEGER,                             -- of the last answer
  reason TEXT,                                -- of the last failure
  UNIQUE (webhook, id)
) STRICT;
-- The two queues of a webhook: first attempts in the order of events, and retries by their time.
CREATE INDEX deliveries_first ON deliveries (webhook, number) WHERE state = 'pending' AND attempts = 0;
CREATE INDEX deliveries_retry ON deliveries (webhook, next_attempt_ms) WHERE state = 'pending' AND attempts > 0;
CREATE INDEX deliveries_finished ON deliveries (finished_ms) WHERE finished_ms IS NOT NULL;
