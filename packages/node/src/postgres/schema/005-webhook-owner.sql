-- The owner of the webhooks: only while it is `workers`, delivery workers send.
ALTER TABLE webhook_register ADD COLUMN owner text NOT NULL DEFAULT 'node'
  CHECK (owner IN ('node', 'to workers', 'workers', 'to node'));
ALTER TABLE webhook_register ADD COLUMN transfer text;  -- id of the last hand-over
