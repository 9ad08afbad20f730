-- Events that the webhooks of another database subscribe to.
CREATE TABLE remote_names (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
