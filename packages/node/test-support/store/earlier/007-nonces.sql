-- Wallets by how much they have sent: most are alike in it, and to sort all of them takes longest.
CREATE INDEX wallets_nonce ON wallets (nonce);
