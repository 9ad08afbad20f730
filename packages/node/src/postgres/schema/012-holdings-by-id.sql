-- Locks and entities are found by their id.
DROP INDEX IF EXISTS holdings_kind;
CREATE INDEX IF NOT EXISTS holdings_id ON holdings (kind, id) WHERE kind IN ('locks', 'entities');
