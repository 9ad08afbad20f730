-- Transfers of each unik, as in the node's database. Few transactions are transfers: the index is cheap while a mirror is filled.
CREATE INDEX transactions_token
  ON transactions ((substr(asset, strpos(asset, '"tokenId":"') + 11, 64) COLLATE "C"), height, sequence)
  WHERE type_group = 2000 AND type = 2 OR type_group = 2001 AND type = 6;
