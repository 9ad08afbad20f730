-- Retractions without an attempt: a delivery that is sent now does not overtake them.
CREATE INDEX deliveries_first_retractions ON deliveries (webhook, number)
  WHERE state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL AND reverts IS NOT NULL;
