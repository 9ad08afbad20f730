-- Webhooks whose deliveries contain proofs.
ALTER TABLE webhooks ADD COLUMN with_proof boolean NOT NULL DEFAULT false;
