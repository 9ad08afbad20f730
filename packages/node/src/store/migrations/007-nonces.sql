-- Wallets by how much they have sent: the only order in which most wallets had to be sorted.
CREATE INDEX wallets_nonce ON wallets (nonce);
