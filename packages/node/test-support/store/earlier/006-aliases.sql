-- Names under which webhooks are known beside their ids: those of the old node were UUIDs.
CREATE TABLE webhook_aliases (
  alias TEXT PRIMARY KEY,
  webhook INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_aliases_webhook ON webhook_aliases (webhook);
