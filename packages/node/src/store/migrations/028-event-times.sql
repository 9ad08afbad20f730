-- Time of the block that caused an event, in bodies of deliveries: the same in every copy of the data. NULL: no block caused it, or an
-- earlier version wrote the row.
ALTER TABLE events ADD COLUMN time_ms INTEGER;
ALTER TABLE unconfirmed_events ADD COLUMN time_ms INTEGER;
-- Of an event without a block, the time at which it was logged. NULL: the time of the delivery.
ALTER TABLE contents ADD COLUMN time_ms INTEGER;
