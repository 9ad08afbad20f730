-- Transfers of each unik. The asset of a transfer begins with the name of the token and its id, and a quotation mark in a name is
-- escaped: the first member `tokenId` is the id.
CREATE INDEX transactions_token
  ON transactions (substr(asset, instr(asset, '"tokenId":"') + 11, 64), height, sequence)
  WHERE type_group = 2000 AND type = 2 OR type_group = 2001 AND type = 6;
