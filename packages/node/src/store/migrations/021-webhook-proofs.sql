-- Webhooks whose deliveries contain proofs.
ALTER TABLE webhooks ADD COLUMN with_proof INTEGER NOT NULL DEFAULT 0 CHECK (with_proof IN (0, 1));
