-- Bytes of the contents of an event and of all earlier events that were in the copy when it was written.
ALTER TABLE events ADD COLUMN total_bytes bigint NOT NULL DEFAULT 0;
