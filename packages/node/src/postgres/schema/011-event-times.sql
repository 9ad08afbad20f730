-- Time of the block that caused an event, as in the node's database (store/migrations).
ALTER TABLE events ADD COLUMN time_ms bigint;
ALTER TABLE unconfirmed_events ADD COLUMN time_ms bigint;
ALTER TABLE contents ADD COLUMN time_ms bigint;
