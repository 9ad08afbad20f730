-- Bytes of the contents of an event and of all earlier events that were in the log when it was written.
ALTER TABLE events ADD COLUMN total_bytes INTEGER NOT NULL DEFAULT 0;
