-- Figures of the webhooks' queues, kept instead of counted: the time of a look at them must not grow with what waits.
CREATE TABLE queues (
  webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
  last_sequence INTEGER NOT NULL DEFAULT 0,   -- number of its last delivery
  waiting INTEGER NOT NULL DEFAULT 0,         -- pending deliveries that were never tried
  retrying INTEGER NOT NULL DEFAULT 0,        -- those of which an attempt failed
  replaying INTEGER NOT NULL DEFAULT 0        -- those of a replay, tried or not
) STRICT;
INSERT INTO queues SELECT id, last_sequence,
  (SELECT count(*) FROM deliveries INDEXED BY deliveries_first
    WHERE webhook = webhooks.id AND state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL),
  (SELECT count(*) FROM deliveries INDEXED BY deliveries_retry
    WHERE webhook = webhooks.id AND state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL),
  (SELECT count(*) FROM deliveries INDEXED BY deliveries_replay
    WHERE webhook = webhooks.id AND state = 'pending' AND replay IS NOT NULL)
  FROM webhooks;
-- Rows of webhooks are as large as their conditions: what changes with every delivery is not kept in them.
ALTER TABLE webhooks DROP COLUMN last_sequence;

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
CREATE TRIGGER delivery_dropped AFTER DELETE ON deliveries WHEN OLD.state = 'pending' BEGIN
  UPDATE queues SET
    waiting = waiting - (OLD.replay IS NULL AND OLD.next_attempt_ms IS NULL),
    retrying = retrying - (OLD.replay IS NULL AND OLD.next_attempt_ms IS NOT NULL),
    replaying = replaying - (OLD.replay IS NOT NULL)
    WHERE webhook = OLD.webhook;
END;

-- The oldest retry of a webhook; that of first attempts is in deliveries_first.
CREATE INDEX deliveries_retry_oldest ON deliveries (webhook, number)
  WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL;
-- What is asked about all webhooks at once, without reading their conditions.
CREATE INDEX webhooks_state ON webhooks (enabled, suspended);
CREATE INDEX webhooks_heard ON webhooks (event, events, confirmations) WHERE enabled = 1 AND suspended IS NULL;
