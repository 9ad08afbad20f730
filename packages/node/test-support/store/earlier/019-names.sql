-- Names of tables, columns, indexes and triggers, as the same things are called in PostgreSQL.
ALTER TABLE register RENAME TO webhook_register;
ALTER TABLE wanted RENAME TO subscribed_events;
ALTER TABLE reversals RENAME TO block_reverts;
ALTER TABLE restarts RENAME TO restarting_queues;

ALTER TABLE held RENAME TO unconfirmed_events;
DROP INDEX held_height;
CREATE INDEX unconfirmed_events_height ON unconfirmed_events (height);

ALTER TABLE endings RENAME TO finishing_queues;
ALTER TABLE finishing_queues RENAME COLUMN held_up_to TO unconfirmed_up_to;
ALTER TABLE finishing_queues RENAME COLUMN with_reversals TO with_retractions;

ALTER TABLE replays RENAME COLUMN told_before TO last_delivery;
ALTER TABLE attempts RENAME COLUMN answer TO response;

-- 1 instead of 0 for a retracted fact, and 0 instead of 1 for others.
ALTER TABLE deliveries RENAME COLUMN stands TO is_retracted;
UPDATE deliveries SET is_retracted = 1 - is_retracted WHERE is_retracted IS NOT NULL;
DROP INDEX deliveries_reverting;
CREATE INDEX deliveries_retractions ON deliveries (webhook)
  WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND reverts IS NOT NULL;

DROP INDEX webhooks_heard;
CREATE INDEX webhooks_subscriptions ON webhooks (event, events, confirmations) WHERE enabled = 1 AND suspended IS NULL;

-- A content is removed with its last delivery.
DROP TRIGGER content_told_last;
CREATE TRIGGER content_unused AFTER DELETE ON deliveries
  WHEN NOT EXISTS (SELECT 1 FROM deliveries WHERE content = OLD.content)
  BEGIN DELETE FROM contents WHERE number = OLD.content; END;

-- Attempts at an earlier target, or before a pause, say nothing about the present.
DROP TRIGGER webhook_moved;
CREATE TRIGGER attempt_counts_reset AFTER UPDATE OF target_number, enabled, suspended ON webhooks
  WHEN NEW.target_number <> OLD.target_number OR NEW.enabled > OLD.enabled
    OR (NEW.suspended IS NULL AND OLD.suspended IS NOT NULL)
  BEGIN DELETE FROM attempt_counts WHERE webhook = NEW.id; END;
