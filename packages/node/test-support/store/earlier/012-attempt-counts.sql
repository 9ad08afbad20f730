-- Attempts of each webhook by the minute of their end, of the last hour: how its target does now.
CREATE TABLE attempt_counts (
  webhook INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  minute INTEGER NOT NULL,                    -- since 1970
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (webhook, minute)
) STRICT, WITHOUT ROWID;
-- Attempts at a former target, or before a pause, say nothing about the present.
CREATE TRIGGER webhook_moved AFTER UPDATE OF target_number, enabled, suspended ON webhooks
  WHEN NEW.target_number <> OLD.target_number OR NEW.enabled > OLD.enabled
    OR (NEW.suspended IS NULL AND OLD.suspended IS NOT NULL)
  BEGIN DELETE FROM attempt_counts WHERE webhook = NEW.id; END;
