-- Locks and entities are found by their id.
DROP INDEX holdings_kind;
CREATE INDEX holdings_id ON holdings (kind, id) WHERE kind IN ('locks', 'entities');
