-- Counts the whole state.
DELETE FROM state_totals;
INSERT INTO state_totals SELECT * FROM (
  SELECT 'wallets' AS name, count(*) AS value FROM wallets
  UNION ALL SELECT 'balances', coalesce(sum(balance), 0) FROM wallets
  UNION ALL SELECT 'locked', coalesce(sum(CAST(attributes ->> '$.htlc.lockedBalance' AS INTEGER)), 0) FROM wallets
    WHERE attributes LIKE '%"lockedBalance"%'
  UNION ALL SELECT 'tokens', count(*) FROM tokens
  UNION ALL SELECT 'type ' || value, count(*) FROM properties WHERE key = 'type' GROUP BY value
) WHERE value <> 0;
