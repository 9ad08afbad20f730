-- A name that its user gave to a webhook.
ALTER TABLE webhooks ADD COLUMN name TEXT;
